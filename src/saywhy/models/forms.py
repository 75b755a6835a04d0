"""The form of an answer, as a vendor wants to be told of it.

A question carries it as the text of a chat-completions `response_format`. Others take the schema
alone, and only where it is strict can a server hold an answer to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saywhy.errors import CallerError
from saywhy.host import parse_schema_arg


def enforced_schema(schema: str | None) -> Mapping[str, Any] | None:
    """The JSON schema that a server can hold the answer to; None where there is none."""
    form = parse_schema_arg(schema) or {}
    inner = form.get("json_schema")
    if not isinstance(inner, Mapping) or inner.get("strict") is not True:
        return None
    found = inner.get("schema")
    return found if isinstance(found, Mapping) else None


def wants_json(schema: str | None) -> bool:
    """Whether the answer is to be JSON at all."""
    return parse_schema_arg(schema) is not None


def missing(package: str, extra: str) -> CallerError:
    """The error where the vendor's own package is not installed."""
    return CallerError(
        f"the package {package} is not installed, and this model is reached through it",
        hint=f'pip install "saywhy[{extra}]"',
    )
