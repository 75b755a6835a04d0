"""What arguments a tool takes: one JSON schema, whichever way the author wrote it down.

Two forms exist. A schema of type object describes the one object a function is called with. The
older flat form maps each parameter to its own schema, and its function is called with the values
one after the other. Checking given arguments against the schema is `arguments`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, Final, Literal, Protocol, TypeAlias

from saywhy.values import freeze, thaw

Style: TypeAlias = Literal["object", "positional"]

BACKTRACK_LIMIT: Final = 100_000
"""Times the search for a pattern may go back; plain patterns never do."""


REFUSED: Final = "Tool argument validation failed"
"""How every refusal for wrong arguments begins; such a call was never made."""


class SchemaError(Protocol):
    """One finding of the schema library, as far as we look at it."""

    @property
    def instance_path(self) -> list[Any]: ...
    @property
    def kind(self) -> Any: ...
    @property
    def instance(self) -> Any: ...


class SchemaCheck(Protocol):
    """A compiled schema."""

    def is_valid(self, instance: Any) -> bool: ...
    def iter_errors(self, instance: Any) -> Iterable[SchemaError]: ...


def is_object_form(parameters: Mapping[str, Any]) -> bool:
    """Whether `parameters` is one schema of an object, rather than a map of parameters.

    A schema whose author left out `type` is told from a parameter that happens to be called
    "properties" by its content: only the former maps names to schemas.
    """
    if not parameters or parameters.get("type") == "object":
        return True
    properties = parameters.get("properties")
    return (
        "type" not in parameters
        and isinstance(properties, Mapping)
        and all(isinstance(schema, Mapping) for schema in properties.values())
    )


def normalise(definition: Mapping[str, Any]) -> tuple[dict[str, Any], Style, tuple[str, ...]]:
    """The schema of a tool definition, how its function is called, and in which order.

    The order is what the definition requires first, then the other parameters as written; it is
    empty for the object style.
    """
    parameters = definition.get("parameters") or definition.get("schema") or {}
    tree: dict[str, Any] = thaw(freeze(parameters))
    if is_object_form(tree):
        return {"type": "object", "properties": {}, **tree}, "object", ()
    listed = definition.get("required")
    names = listed if isinstance(listed, list | tuple) else ()
    required = [name for name in names if isinstance(name, str) and name in tree]
    order = tuple(dict.fromkeys((*required, *tree)))
    schema: dict[str, Any] = {"type": "object", "properties": tree}
    if required:
        schema["required"] = required
    if "additionalProperties" in definition:
        schema["additionalProperties"] = thaw(freeze(definition["additionalProperties"]))
    return schema, "positional", order


def compile_schema(schema: Mapping[str, Any]) -> SchemaCheck:
    """The schema, ready to check with. Raises `ValueError` saying what is wrong with the schema.

    References are followed inside the schema only: nothing is fetched.
    """
    import jsonschema_rs

    tree = thaw(freeze(schema))
    with suppress(ValueError):  # its patterns need a search that can go back
        linear = jsonschema_rs.RegexOptions()
        return jsonschema_rs.validator_for(tree, offline=True, pattern_options=linear)
    careful = jsonschema_rs.FancyRegexOptions(backtrack_limit=BACKTRACK_LIMIT)
    return jsonschema_rs.validator_for(tree, offline=True, pattern_options=careful)


def explain(error: Any) -> str:
    """Why a schema does not compile: what is wrong, then where inside the schema."""
    path = path_text(getattr(error, "instance_path", ()))
    message = first_line(str(error))
    return f"{message} (at {path})" if path != "root" else message


def first_line(text: str) -> str:
    """The first line of a text, without surrounding space."""
    return text.strip().partition("\n")[0].strip()


def path_text(path: Iterable[Any]) -> str:
    """`items[0].name`, or `root` for the whole."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text or "root"


def refusal(errors: Iterable[str]) -> str:
    """The text of a call that was refused for its arguments."""
    return f"{REFUSED}: {', '.join(errors)}"


def describe(error: SchemaError) -> str:
    """One error as `<path> <message>`. The value itself is left out: it may be a secret."""
    rule = _RULES.get(error.kind.name)
    where = path_text(error.instance_path)
    if error.kind.name == "type":
        return f"{where} must be {_one_of_types(error.kind.value)}, not {_kind_of(error.instance)}"
    if type(error.kind).__name__ == "BacktrackLimitExceeded":
        return f"{where} takes too long to be compared with its pattern"
    if rule is None:
        return f"{where} breaks the rule `{error.kind.name}`"
    return f"{where} {rule(error.kind.value)}"


def _quoted(names: Iterable[Any]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _listed(values: Iterable[Any]) -> str:
    from saywhy.values import dumps

    return ", ".join(dumps(value).decode() for value in values)


_TYPE_WORDS: Final = {
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def _one_of_types(types: Iterable[str]) -> str:
    return " or ".join(_TYPE_WORDS.get(kind, kind) for kind in types)


def _kind_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "text" if value else "empty text"
    return "a list" if isinstance(value, list) else "an object"


def _counted(number: Any, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


_RULES: Final[dict[str, Callable[[Any], str]]] = {
    "required": lambda name: f'must have the property "{name}"',
    "additionalProperties": lambda names: f"must not have the property {_quoted(names)}",
    "unevaluatedProperties": lambda names: f"must not have the property {_quoted(names)}",
    "minimum": lambda limit: f"must be at least {limit}",
    "maximum": lambda limit: f"must be at most {limit}",
    "exclusiveMinimum": lambda limit: f"must be more than {limit}",
    "exclusiveMaximum": lambda limit: f"must be less than {limit}",
    "multipleOf": lambda factor: f"must be a multiple of {factor}",
    "minLength": lambda n: f"must have at least {_counted(n, 'character', 'characters')}",
    "maxLength": lambda n: f"must have at most {_counted(n, 'character', 'characters')}",
    "minItems": lambda n: f"must have at least {_counted(n, 'item', 'items')}",
    "maxItems": lambda n: f"must have at most {_counted(n, 'item', 'items')}",
    "minProperties": lambda n: f"must have at least {_counted(n, 'property', 'properties')}",
    "maxProperties": lambda n: f"must have at most {_counted(n, 'property', 'properties')}",
    "uniqueItems": lambda _: "must not have the same item twice",
    "contains": lambda _: "must have an item of the described kind",
    "pattern": lambda pattern: f"must match the pattern {pattern}",
    "format": lambda name: f"must be written as {name}",
    "enum": lambda options: f"must be one of {_listed(options)}",
    "const": lambda value: f"must be {_listed([value])}",
    "propertyNames": lambda _: "has a property name that is not allowed",
    "anyOf": lambda _: "must fit at least one of the described shapes",
    "oneOf": lambda _: "must fit exactly one of the described shapes",
    "not": lambda _: "must not have the excluded shape",
    "falseSchema": lambda _: "must not be given",
}
