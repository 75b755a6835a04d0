"""Promise: a server is handed only what it can enforce, and a missing package is told."""

from __future__ import annotations

import subprocess
import sys

import pytest

from saywhy.models.forms import enforced_schema, wants_json

LEAVES = {
    "openai": ("OpenAIModel", "openai"),
    "anthropic": ("AnthropicModel", "anthropic"),
    "google": ("GoogleModel", "google.genai"),
}


@pytest.mark.parametrize(
    ("schema", "enforced", "json"),
    [
        (None, None, False),
        ("", None, False),
        ("{", None, False),
        ('{"type":"json_object"}', None, True),
        ('{"json_schema":{"strict":false,"schema":{}}}', None, True),
        ('{"json_schema":{"strict":true}}', None, True),
        ('{"json_schema":{"strict":true,"schema":{"type":"object"}}}', {"type": "object"}, True),
    ],
)
def test_forms(schema: str | None, enforced: object, json: bool) -> None:
    """What is strict is enforced; what can be read at all wants JSON."""
    assert enforced_schema(schema) == enforced
    assert wants_json(schema) is json


@pytest.mark.parametrize("leaf", LEAVES)
def test_a_missing_package_is_told_with_its_extra(leaf: str) -> None:
    """The error says what to install, and importing the leaf alone needs nothing."""
    name, package = LEAVES[leaf]
    program = f"""
import sys
sys.modules[{package!r}] = None
from saywhy.errors import CallerError
from saywhy.models.{leaf} import {name}
try:
    {name}("small", api_key="k")
except CallerError as error:
    print(error, error.hint, sep="|")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    said, hint = done.stdout.strip().split("|")
    assert said.endswith("is not installed, and this model is reached through it")
    assert hint == f'pip install "saywhy[{leaf}]"'
