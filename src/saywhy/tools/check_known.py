"""Where a tool definition may have `x-known`, and what it may be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from saywhy.errors import Place, Problem
from saywhy.tools.known import KEYWORD, OR_SAID
from saywhy.tools.schema import is_object_form
from saywhy.tools.wording import below, word

_FITTING: Final = frozenset({"string", "number", "integer", "null"})
_DATA: Final = frozenset({"enum", "const", "default", "examples"})
"""Keywords whose values are no schemas."""


def known_problems(raw: Mapping[str, Any], place: Place) -> Iterator[Problem]:
    """Every problem of the keyword in the parameters of a tool."""
    key = "parameters" if raw.get("parameters") else "schema"
    parameters = raw.get(key)
    if not isinstance(parameters, Mapping):
        return
    where = below(place, key)
    if is_object_form(parameters):
        yield from _in(parameters, where, "", is_seen=False, inner=True)
        return
    for name, schema in parameters.items():
        if isinstance(schema, Mapping):
            yield from _in(schema, below(where, str(name)), str(name), is_seen=True, inner=True)


def _in(
    schema: Mapping[str, Any], where: Place, name: str, *, is_seen: bool, inner: bool
) -> Iterator[Problem]:
    """Problems of a schema and those inside it. `is_seen`: the keyword counts right here."""
    if KEYWORD in schema:
        yield from _keyword(schema, where, name, is_seen)
    for key, value in schema.items():
        if key in _DATA or key == KEYWORD:
            continue
        if key == "properties" and isinstance(value, Mapping):
            for part, inside in value.items():
                if isinstance(inside, Mapping):
                    spot = below(where, key, str(part))
                    yield from _in(inside, spot, str(part), is_seen=inner, inner=inner)
            continue
        counts = inner and is_seen and key == "items"
        for spot, inside in _schemas(value, below(where, key)):
            yield from _in(inside, spot, name, is_seen=counts, inner=counts)


def _schemas(value: Any, where: Place) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    """What may be schemas in the value of a keyword that we do not follow."""
    if isinstance(value, Mapping):
        yield where, value
    elif isinstance(value, list):
        for number, item in enumerate(value):
            if isinstance(item, Mapping):
                yield below(where, str(number)), item


def _keyword(
    schema: Mapping[str, Any], where: Place, name: str, is_seen: bool
) -> Iterator[Problem]:
    value = schema[KEYWORD]
    spot = below(where, KEYWORD)
    of = f" of {name}" if name else ""
    if not isinstance(value, bool) and value != OR_SAID:
        yield Problem(
            f"`{KEYWORD}`{of} must be true or {word(OR_SAID)}, not {word(value)}",
            spot,
            hint=f"true: a tool or the host gave the value before; {word(OR_SAID)}: or the user",
        )
    elif not is_seen:
        yield Problem(
            f"`{KEYWORD}` is not looked at here",
            spot,
            hint="write it beside the `type` of a parameter, of a property inside one, or in the "
            "`items` of a list",
        )
    elif not _is_fitting(schema.get("type")):
        kind = schema.get("type")
        yield Problem(
            f"`{KEYWORD}`{of} goes with a text or a number, "
            + (f"not with {word(kind)}" if kind else "and no `type` is given"),
            spot,
            hint='write "type": "string"; in a list it belongs into `items`',
        )


def _is_fitting(kind: Any) -> bool:
    kinds = [kind] if isinstance(kind, str) else kind
    return isinstance(kinds, list) and bool(kinds) and set(map(str, kinds)) <= _FITTING
