"""Which form the reply of a text model should have, as the JSON schemas of our calls.

A schema travels as JSON text in the wrapper that chat-completions servers take as
`response_format`. Whether a server gets it is decided in `body.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from saywhy.host.options import ParameterOption
from saywhy.values import dumps

DETECT_FLOW: Final = "detect_flow"
"""The name of the single call's schema. Its parameters are open, so no server can enforce it."""

SELECT_FLOW: Final = "select_flow"
EXTRACT_PARAMETERS: Final = "extract_parameters"

NO_FLOW: Final = "None"
"""What a reply names where no flow fits."""

MOST_NAMES: Final = 200
"""Up to so many flows a schema lists their names; servers limit how long such lists may be."""

_SCALARS: Final = frozenset({"string", "number", "integer", "boolean"})
_TYPES: Final = _SCALARS | {"array", "object"}


def wrapped(name: str, schema: Mapping[str, Any], *, strict: bool) -> str:
    """The schema as a `json_schema` response format, in JSON text."""
    inner = {"name": name, "strict": strict, "schema": schema}
    return dumps({"type": "json_schema", "json_schema": inner}).decode()


DETECT_FLOW_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {"flowName": {"type": "string"}, "parameters": {"type": "object"}},
    "required": ["flowName", "parameters"],
}
DETECT_TWO_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "flowName": {"type": "string"},
        "alternative": {"type": "string"},
        "parameters": {"type": "object"},
    },
    "required": ["flowName", "parameters"],
}
"""The same where the reply may name a second flow."""


def select_flow_schema(names: Sequence[str], *, alternative: bool = False) -> dict[str, Any]:
    """The schema of stage 1: the name of a flow, or `None`; with `alternative` of a second one."""
    name: dict[str, Any] = {"type": "string"}
    if len(names) <= MOST_NAMES:
        name["enum"] = list(dict.fromkeys([*names, NO_FLOW]))
    return closed({"flowName": name, "alternative": name} if alternative else {"flowName": name})


def extract_parameters_schema(parameters: Iterable[ParameterOption]) -> dict[str, Any]:
    """The schema of stage 2: every parameter, null where the user has not stated it."""
    return closed({"parameters": closed({option.name: _value(option) for option in parameters})})


def is_enforceable(parameters: Iterable[ParameterOption]) -> bool:
    """Whether a server can hold a reply to the schema: not where a list or an object is asked."""
    return all(option.enum or option.type in _SCALARS for option in parameters)


def closed(properties: dict[str, Any]) -> dict[str, Any]:
    """The schema of an object that has just these properties, all of them."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _value(option: ParameterOption) -> dict[str, Any]:
    # An author's own word for a type, such as `date`, would make the server refuse the schema.
    kind = "string" if option.enum else option.type
    shape: dict[str, Any] = {"type": [kind, "null"]} if kind in _TYPES else {}
    if option.description:
        shape["description"] = option.description
    if option.enum:
        shape["enum"] = [*option.enum, None]
    return shape


# ------------------------------------------------------------------ reading


def parse_schema_arg(schema: str | Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The third argument of a model call as a dict; None where it is absent or no JSON object."""
    if isinstance(schema, Mapping):
        return dict(schema)
    if not schema:
        return None
    try:
        found = msgspec.json.decode(schema)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return None
    return found if isinstance(found, dict) else None


def schema_name(schema: str | Mapping[str, Any] | None) -> str:
    """The name of the schema in the third argument; empty where it has none."""
    found = parse_schema_arg(schema) or {}
    inner = found.get("json_schema")
    name = inner.get("name") if isinstance(inner, Mapping) else None
    return name if isinstance(name, str) else ""
