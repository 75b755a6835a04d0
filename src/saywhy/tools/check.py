"""What is wrong with a tool definition, every problem in one go.

Checks yield problems and build nothing; `tool` builds from a definition without problems. Whether
the functions and tools that flows name exist is for `flows.check`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from saywhy.errors import Place, Problem, did_you_mean
from saywhy.tools.check_guards import guard_problems
from saywhy.tools.check_known import known_problems
from saywhy.tools.check_outside import outside_problems
from saywhy.tools.effect import EFFECTS
from saywhy.tools.schema import compile_schema, explain, is_object_form, normalise
from saywhy.tools.wording import below, word

KINDS: Final = ("local", "http", "mock", "mcp")
METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


def problems_of(raw: Any, place: Place) -> Iterator[Problem]:
    """Every problem of one tool definition, in the order of its keys."""
    if not isinstance(raw, Mapping):
        yield Problem(
            f"a tool is an object, not {word(raw)}",
            place,
            hint='write {"id": …, "name": …, "implementation": {…}}',
        )
        return
    for check in (_identity, _parameters, _implementation, _security, _effect, _returns):
        yield from check(raw, place)
    yield from outside_problems(raw, place)
    yield from guard_problems(raw, place)
    yield from known_problems(raw, place)


def _name(raw: Mapping[str, Any]) -> str:
    return str(raw.get("id") or raw.get("name") or "")


def _identity(raw: Mapping[str, Any], place: Place) -> Iterator[Problem]:
    if not (raw.get("id") or raw.get("name")):
        yield Problem(
            "the tool has neither `id` nor `name`",
            place,
            hint="give it an `id`, for example Charge",
        )
    for key in ("id", "name", "description"):
        if not isinstance(raw.get(key) or "", str):
            yield Problem(
                f"`{key}` must be text, not {word(raw[key])}",
                below(place, key),
                hint="put it in quotes",
            )


def _parameters(raw: Mapping[str, Any], place: Place) -> Iterator[Problem]:
    key = "parameters" if raw.get("parameters") else "schema"
    parameters = raw.get(key) or {}
    where = below(place, key)
    if not isinstance(parameters, Mapping):
        yield Problem(
            f"`{key}` of tool {_name(raw)} must be an object, not {word(parameters)}",
            where,
            hint='write {"type": "object", "properties": {…}}',
        )
    elif not is_object_form(parameters):
        yield from _flat_parameters(raw, parameters, where)
    else:
        yield from _schema(normalise(raw)[0], f"the parameters of tool {_name(raw)}", where)


def _flat_parameters(
    raw: Mapping[str, Any], parameters: Mapping[str, Any], where: Place
) -> Iterator[Problem]:
    required = raw.get("required")
    if not isinstance(required or [], list | tuple):
        yield Problem(
            f"`required` of tool {_name(raw)} must be a list, not {word(required)}",
            where,
            hint='write "required": ["amount"]',
        )
    for name, schema in parameters.items():
        if not isinstance(schema, Mapping):
            yield Problem(
                f"parameter {name} of tool {_name(raw)} must be a schema, not {word(schema)}",
                below(where, name),
                hint='write {"type": "string"}, or make `parameters` one schema of type object',
            )


def _schema(schema: Mapping[str, Any], what: str, where: Place) -> Iterator[Problem]:
    try:
        compile_schema(schema)
    except ValueError as error:
        yield Problem(
            f"{what} are no JSON schema: {explain(error)}",
            where,
            hint="`required` is a list beside `properties`; types are string, number, integer, "
            "boolean, array, object and null",
        )


def _implementation(raw: Mapping[str, Any], place: Place) -> Iterator[Problem]:
    implementation = raw.get("implementation")
    where = below(place, "implementation")
    if not isinstance(implementation, Mapping):
        yield Problem(
            f"tool {_name(raw)} has no `implementation`"
            if implementation is None
            else f"`implementation` of tool {_name(raw)} must be an object",
            where if implementation is not None else place,
            hint='write {"type": "local", "function": "…"}',
        )
        return
    kind = implementation.get("type")
    if kind not in KINDS:
        yield Problem(
            f"tool {_name(raw)} is of the unknown type {word(kind)}"
            if kind
            else f"the implementation of tool {_name(raw)} has no `type`",
            below(where, "type") if kind else where,
            hint=did_you_mean(str(kind), KINDS) or "a tool is local, http, mock or mcp",
            known_names=KINDS,
        )
    else:
        yield from _written_order(raw, implementation, where)
        yield from _needed_key(raw, implementation, where)
        yield from _method(implementation, where)
    yield from _figures(raw, implementation, where)
    if kind == "http":
        from saywhy.tools.http.check import http_problems  # it builds on this module

        yield from http_problems(raw, place)
    elif kind == "mcp":
        from saywhy.tools.mcp.check import mcp_problems  # likewise

        yield from mcp_problems(raw, place)


def _written_order(
    raw: Mapping[str, Any], implementation: Mapping[str, Any], where: Place
) -> Iterator[Problem]:
    """`args` here is a note that nothing reads: told where the function is called otherwise."""
    written = implementation.get("args")
    parameters = raw.get("parameters") or raw.get("schema") or {}
    if not isinstance(written, list) or not isinstance(parameters, Mapping):
        return
    _, style, order = normalise(raw)
    if style == "object":
        message = f"`args` of tool {_name(raw)} is not read: its function gets one object"
        hint = "for values by position write `parameters` flat, with `required` in their order"
        yield Problem(message, below(where, "args"), hint, "warning")
    elif list(order[: len(written)]) != written:
        message = f"`args` of tool {_name(raw)} is not read: its function gets {', '.join(order)}"
        hint = "the order is that of `required`, then that of the other parameters"
        yield Problem(message, below(where, "args"), hint, "warning")


def _needed_key(
    raw: Mapping[str, Any], implementation: Mapping[str, Any], where: Place
) -> Iterator[Problem]:
    key = {"local": "function", "http": "url"}.get(implementation["type"])
    value = implementation.get(key) if key else "given"
    if not isinstance(value, str) or not value:
        yield Problem(
            f"`{key}` of tool {_name(raw)} must be text, not {word(value)}"
            if value
            else f"the {implementation['type']} tool {_name(raw)} has no `{key}`",
            where,
            hint="name the approved function to call"
            if key == "function"
            else "give the address to call",
        )


def _method(implementation: Mapping[str, Any], where: Place) -> Iterator[Problem]:
    method = implementation.get("method")
    if implementation["type"] == "http" and method and str(method).upper() not in METHODS:
        yield Problem(
            f"the method {method} is unknown",
            below(where, "method"),
            hint=did_you_mean(str(method).upper(), METHODS)
            or "use GET, POST, PUT, PATCH or DELETE",
            known_names=METHODS,
        )


def _figures(
    raw: Mapping[str, Any], implementation: Mapping[str, Any], where: Place
) -> Iterator[Problem]:
    timeout, retries = implementation.get("timeout"), implementation.get("retries")
    if timeout is not None and not _is_number(timeout, above=0):
        yield Problem(
            f"`timeout` of tool {_name(raw)} must be a number above 0, not {word(timeout)}",
            below(where, "timeout"),
            hint="milliseconds; leave it out for 5000 (local) or 20000 (http, mcp)",
        )
    if not isinstance(implementation.get("thread", True), bool):
        yield Problem(
            f"`thread` of tool {_name(raw)} must be true or false, "
            f"not {word(implementation['thread'])}",
            below(where, "thread"),
            hint="false runs the function on the event loop, where no time limit can end it",
        )
    if retries is not None and not (_is_number(retries, above=-1) and retries == int(retries)):
        yield Problem(
            f"`retries` of tool {_name(raw)} must be a whole number from 0, not {word(retries)}",
            below(where, "retries"),
            hint="0 calls the tool once, 2 up to three times",
        )


def _is_number(value: Any, *, above: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > above


def _security(raw: Mapping[str, Any], place: Place) -> Iterator[Problem]:
    security = raw.get("security")
    if security is None:
        return
    if not isinstance(security, Mapping):
        yield Problem(
            f"`security` of tool {_name(raw)} must be an object, not {word(security)}",
            below(place, "security"),
            hint='write {"rateLimit": {"requests": 10, "window": 60000}}',
        )
        return
    limit = security.get("rateLimit")
    where = below(place, "security", "rateLimit")
    if limit is None:
        return
    if not isinstance(limit, Mapping):
        yield Problem(
            f"`rateLimit` of tool {_name(raw)} must be an object, not {word(limit)}",
            where,
            hint='write {"requests": 10, "window": 60000}',
        )
        return
    for key in ("requests", "window"):
        if not _is_number(limit.get(key), above=0) or limit[key] < 1:
            yield Problem(
                f"`{key}` of the rate limit of tool {_name(raw)} must be a number from 1, "
                f"not {word(limit.get(key))}",
                where,
                hint='write {"requests": 10, "window": 60000}; the window is in milliseconds',
            )


def _effect(raw: Mapping[str, Any], place: Place) -> Iterator[Problem]:
    effect = raw.get("effect")
    if effect is not None and effect not in EFFECTS:
        yield Problem(
            f"`effect` of tool {_name(raw)} must be reads, repeatable or once, not {word(effect)}",
            below(place, "effect"),
            hint=did_you_mean(str(effect), EFFECTS)
            or "`reads` changes nothing, `repeatable` may be repeated with its key, `once` not",
            known_names=EFFECTS,
        )


def _returns(raw: Mapping[str, Any], place: Place) -> Iterator[Problem]:
    """`returns` never changes what a tool does, so a broken one is worth a warning at most."""
    returns = raw.get("returns")
    if returns is None:
        return
    try:
        if not isinstance(returns, Mapping):
            raise ValueError(f"it is {word(returns)}")
        compile_schema(returns)
    except ValueError as error:
        yield Problem(
            f"`returns` of tool {_name(raw)} is no JSON schema: {explain(error)}",
            below(place, "returns"),
            hint="results are not checked against it",
            severity="warning",
        )
