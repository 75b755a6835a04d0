"""A schema of an OpenAPI description as a JSON schema that stands by itself.

References are replaced by what they lead to, since a tool file is read without the description.
Where a schema holds itself, or is very large, the inner part says nothing: any value passes. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

from saywhy.tools.openapi.document import Api

Direction: TypeAlias = Literal["request", "response"]

MAX_NODES: Final = 5_000
MAX_DEPTH: Final = 40
LOST: Final = frozenset(
    ["discriminator", "xml", "externalDocs", "example", "examples", "deprecated", "nullable"]
)
"""Words of OpenAPI that mean nothing to a JSON schema."""
_MAPS: Final = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_LISTS: Final = ("allOf", "anyOf", "oneOf", "prefixItems")
_SINGLES: Final = (
    *("items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else"),
    "unevaluatedProperties",
)


def schema_of(api: Api, raw: Any, direction: Direction) -> dict[str, Any]:
    """The schema, without what only goes the other way (`readOnly`, `writeOnly`)."""
    return _Reader(api, direction).schema(raw, (), 0)


class _Reader:
    def __init__(self, api: Api, direction: Direction) -> None:
        self._api = api
        self._hidden = "readOnly" if direction == "request" else "writeOnly"
        self._left = MAX_NODES

    def schema(self, raw: Any, seen: tuple[str, ...], depth: int) -> dict[str, Any]:
        reference = raw.get("$ref") if isinstance(raw, Mapping) else None
        if isinstance(reference, str):
            if reference in seen:
                self._api.note(f"{reference} holds itself; inside itself any value passes")
                return {}
            seen = (*seen, reference)
        found = self._api.at(raw)
        if not isinstance(found, Mapping):
            return {}
        self._left -= 1
        if self._left < 0 or depth > MAX_DEPTH:
            self._api.note("a schema is very large; its inner parts are left out")
            return {}
        made: dict[str, Any] = {}
        for key, value in found.items():
            if key not in LOST and not str(key).startswith("x-"):
                made[str(key)] = self._value(str(key), value, seen, depth + 1)
        self._hide(found, made)
        return _as_json_schema(made, found) if self._api.is_older else made

    def _value(self, key: str, value: Any, seen: tuple[str, ...], depth: int) -> Any:
        if key in _MAPS and isinstance(value, Mapping):
            return {str(name): self.schema(one, seen, depth) for name, one in value.items()}
        if key in _LISTS and isinstance(value, list):
            return [self.schema(one, seen, depth) for one in value]
        if key in _SINGLES and isinstance(value, Mapping):
            return self.schema(value, seen, depth)
        return value

    def _hide(self, found: Mapping[str, Any], made: dict[str, Any]) -> None:
        """Take out the properties that only go the other way."""
        properties = found.get("properties")
        if not isinstance(properties, Mapping):
            return
        hidden = [
            str(name)
            for name, one in properties.items()
            if self._api.object_at(one).get(self._hidden) is True
        ]
        for name in hidden:
            made["properties"].pop(name, None)
        if isinstance(made.get("required"), list):
            made["required"] = [name for name in made["required"] if name not in hidden]


def _as_json_schema(made: dict[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """What 3.0 writes in its own way: null, and limits that do not count themselves."""
    for limit, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(made.get(exclusive), bool) and made.pop(exclusive) and limit in made:
            made[exclusive] = made.pop(limit)
    if found.get("nullable") is True:
        if isinstance(made.get("type"), str):
            made["type"] = [made["type"], "null"]
            if isinstance(made.get("enum"), list) and None not in made["enum"]:
                made["enum"] = [*made["enum"], None]
        elif made:
            made = {"anyOf": [made, {"type": "null"}]}
    return made


def merged_object(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """The schema of an object with the properties of all its parts; None where it is no object.

    With `oneOf` and `anyOf` the properties of all are there, and none of them is required.
    """
    parts = [part for part in schema.get("allOf") or () if isinstance(part, Mapping)]
    choices = [*(schema.get("oneOf") or ()), *(schema.get("anyOf") or ())]
    kinds = schema.get("type")
    is_object = kinds == "object" or (isinstance(kinds, list) and "object" in kinds)
    if not (is_object or schema.get("properties") or parts or choices):
        return None
    made: dict[str, Any] = {"type": "object", "properties": {}, "required": []}
    for part in parts:
        inner = merged_object(part)
        if inner is None:
            return None
        made["properties"] |= inner["properties"]
        made["required"] += inner["required"]
        made |= {key: inner[key] for key in ("additionalProperties",) if inner.get(key)}
    for choice in choices:
        inner = merged_object(choice) if isinstance(choice, Mapping) else None
        if inner is None:
            return None
        made["properties"] |= inner["properties"]
    made["properties"] |= schema.get("properties") or {}
    made["required"] += [one for one in schema.get("required") or () if one not in made["required"]]
    if "additionalProperties" in schema:
        made["additionalProperties"] = schema["additionalProperties"]
    return made
