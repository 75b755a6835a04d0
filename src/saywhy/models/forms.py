"""The form of an answer, as a vendor wants to be told of it.

A question of a flow carries it as the text of a chat-completions `response_format`; a call of an
agent as the setting `response_format`. Others take the schema alone, and only where it is strict
can a server hold an answer to it. Where a server cannot, the form is described in words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from saywhy.errors import CallerError
from saywhy.host import parse_schema_arg
from saywhy.models.chat import user_message
from saywhy.models.provider import Ask
from saywhy.values import dumps, thaw


class Form(msgspec.Struct, frozen=True):
    """What an answer of a conversation is to look like."""

    schema: dict[str, Any]
    name: str = "answer"
    injection: Literal["system", "user"] = "system"
    """Where it is described in words, if that has to be."""

    @property
    def text(self) -> str:
        """The description for a model that no server holds to it."""
        schema = dumps(self.schema).decode()
        return f"Answer with one JSON value of this schema, and with nothing else:\n{schema}"


def form_of(ask: Ask) -> Form | None:
    """The form that the settings ask for. Raises `CallerError` for one that is none."""
    found = ask.settings.get("response_format")
    if found is None:
        return None
    schema = found.get("schema") if isinstance(found, Mapping) else None
    if not isinstance(schema, Mapping) or found.get("type", "json_schema") != "json_schema":
        raise CallerError(
            "response_format has no schema of an answer",
            hint='{"type": "json_schema", "schema": {…}, "name": "answer", "injection": "system"}',
        )
    injection = found.get("injection") or "system"
    if injection not in ("system", "user"):
        raise CallerError(
            f"response_format: injection is {injection!r}", hint='it is "system" or "user"'
        )
    return Form(thaw(schema), str(found.get("name") or "answer"), injection)


def described(ask: Ask, form: Form) -> Ask:
    """The same question with the form in words: below the system text, or as a last message."""
    if form.injection == "user":
        return msgspec.structs.replace(ask, messages=(*ask.messages, user_message(form.text)))
    system = f"{ask.system}\n\n{form.text}" if ask.system else form.text
    return msgspec.structs.replace(ask, system=system)


def is_closed(schema: Any, *, complete: bool = False) -> bool:
    """Whether every object of a schema says that it has no other properties.

    Servers hold an answer only to such a schema; with `complete` all must be required as well.
    """
    if isinstance(schema, list):
        return all(is_closed(one, complete=complete) for one in schema)
    if not isinstance(schema, Mapping):
        return True
    if schema.get("type") == "object" or "properties" in schema:
        properties: Any = schema.get("properties") or {}
        if schema.get("additionalProperties") is not False or not isinstance(properties, Mapping):
            return False
        if complete and set(properties) != set(schema.get("required") or ()):
            return False
    return all(is_closed(one, complete=complete) for one in schema.values())


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
