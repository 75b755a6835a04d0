"""Promise: what is secret in a tool is known, and taken out of every text."""

from __future__ import annotations

import pytest

from saywhy.tools.http.secrets import is_secret_spot, is_sensitive, masked, static_secrets
from tests.tools.http.conftest import http_tool


def test_secrets_of_a_tool() -> None:
    """Credentials, telling headers, keys in queries; expressions are not secrets yet."""
    tool = http_tool(
        "https://a.example/x?token=in-url&q=1",
        "POST",
        {"apiKey": "bearer-1"},
        basicAuth={"username": "ann", "password": "basic-1"},
        apiKeyHeader={"name": "X-Key", "value": "header-1"},
        hashAuth={"secret": "hmac-1", "fields": ["a"]},
        headers={"Authorization": "Token own-1", "X-Trace": "open", "X-Secret": "{{s}}"},
        customQuery="api_key=query-1&v=2",
    )
    found = static_secrets(tool)
    assert {"bearer-1", "basic-1", "header-1", "hmac-1", "own-1", "query-1", "in-url"} <= {*found}
    assert not {"ann", "open", "2", "1", "{{s}}"} & {*found}


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("Authorization", True),
        ("X-Auth-Token", True),
        ("X-API-Key", True),
        ("api_key", True),
        ("key", True),
        ("Cookie", True),
        ("keyword", False),
        ("Accept", False),
        ("X-Trace", False),
    ],
)
def test_names(name: str, secret: bool) -> None:
    """Of headers and queries."""
    assert is_sensitive(name) is secret


@pytest.mark.parametrize(
    ("pointer", "secret"),
    [
        ("/apiKey", True),
        ("/implementation/basicAuth/password", True),
        ("/implementation/headers/Authorization", True),
        ("/implementation/headers/X-Trace", False),
        ("/implementation/url", False),
    ],
)
def test_spots(pointer: str, secret: bool) -> None:
    """Where an expression's text is a secret."""
    assert is_secret_spot(pointer) is secret


def test_masking() -> None:
    """In every spelling, the longest first; a short one only as a word of its own."""
    secrets = ("abc def", "abc def ghi", "pw")
    text = "abc def ghi, abc%20def, abc+def, pw, pwned"
    assert masked(text, secrets) == "[REDACTED], [REDACTED], [REDACTED], [REDACTED], pwned"
