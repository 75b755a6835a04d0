"""What is wrong with a response mapping, every problem with its place.

The kinds of mapping and their paths; transforms and conditions are judged in `check_transforms`. A
mapping with problems still runs and does the least harm, so nothing here stops a tool from being
loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final, TypeAlias

from saywhy.errors import MappingError, Place, Problem, did_you_mean
from saywhy.expr.names import read_expression
from saywhy.expr.template import parse_template, path_of
from saywhy.tools.check_transforms import (
    below,
    check_condition,
    check_path,
    check_transform,
    misspelt,
    word,
)
from saywhy.tools.mapping import compile_mapping
from saywhy.tools.mapping.kinds import KINDS, NEEDS, is_mapping
from saywhy.tools.mapping.templates import template_problem
from saywhy.values import raw

Functions: TypeAlias = Collection[str] | None
"""Approved functions that may be named; None where they are not known."""

KEYS: Final[dict[str, frozenset[str]]] = {
    "jsonPath": frozenset({"type", "mappings", "strict"}),
    "object": frozenset({"type", "mappings", "strict"}),
    "array": frozenset(
        {"type", "source", "filter", "itemMapping", "sort", "offset", "limit", "fallback"}
    ),
    "template": frozenset({"type", "template", "dataPath"}),
    "conditional": frozenset({"type", "conditions", "else"}),
    "path": frozenset({"type", "path", "transform", "fallback"}),
}
"""Kind of mapping → the keys it knows."""


def mapping_problems(config: Any, place: Place, functions: Functions = None) -> Iterator[Problem]:
    """Every problem of the response mapping at `place`, in the order of its keys."""
    try:
        compile_mapping(config)
    except MappingError as error:
        yield Problem(str(error), place, "take apart what is mapped in several tools or SET steps")
        return
    yield from _mapping(config, place, functions)


def _mapping(config: Any, place: Place, functions: Functions) -> Iterator[Problem]:
    config = raw(config)
    if config is None:
        return
    if isinstance(config, str):
        yield from _path_or_text(config, place)
    elif not isinstance(config, Mapping):
        yield Problem(
            f"a response mapping is a path or an object, not {word(config)}",
            place,
            'write "data.items", or {"type": "object", "mappings": {…}}',
        )
    else:
        yield from _of_kind(config, place, functions)


def _of_kind(config: Mapping[str, Any], place: Place, functions: Functions) -> Iterator[Problem]:
    kind = config.get("type")
    if kind is None and "path" in config:
        kind = "path"
    if not isinstance(kind, str) or kind not in KEYS:
        yield _unknown_kind(config, place)
        return
    yield from misspelt(config, KEYS[kind], place)
    if not isinstance(config.get("strict", True), bool):
        message = f"`strict` is true or false, not {word(config['strict'])}"
        yield Problem(message, below(place, "strict"), "only true makes it strict")
    needed = NEEDS.get(kind)
    if needed is not None and not config.get(needed):
        yield Problem(
            f"a response mapping of type {kind} without `{needed}`",
            place,
            f"add `{needed}`, or another type",
        )
        needed_is_there = False
    else:
        needed_is_there = True
    if needed_is_there or kind == "conditional":
        yield from _CHECKS[kind](config, place, functions)


def _unknown_kind(config: Mapping[str, Any], place: Place) -> Problem:
    kind = config.get("type")
    if kind is None:
        return Problem(
            "a response mapping has neither `type` nor `path`, and gives the answer as it is",
            place,
            'write {"type": "object", "mappings": {…}} or {"path": "…"}',
            known_names=tuple(KINDS),
        )
    return Problem(
        f"{word(kind)} is no kind of response mapping",
        below(place, "type"),
        did_you_mean(str(kind), tuple(KINDS)) or "without a known type the answer stays as it is",
        known_names=tuple(KINDS),
    )


# ------------------------------------------------------------------ paths and texts


def _path_or_text(text: str, place: Place) -> Iterator[Problem]:
    if "{{" in text:
        yield from _holes(text, place)
    else:
        yield from check_path(text, place)


def _holes(text: str, place: Place) -> Iterator[Problem]:
    template = parse_template(text)
    for problem in template.problems:
        yield Problem(problem.message, place, problem.hint, "warning", text, problem.span)
    for hole in template.holes:
        if path_of(hole.source) is not None:
            continue
        reading = read_expression(hole.source)
        if reading.error is not None:
            start, end = reading.error.span
            span = (hole.at + start, hole.at + end)
            hint = reading.error.hint or "a path or an expression stands in {{ }} here, no block"
            yield Problem(reading.error.message, place, hint, "error", text, span)
        elif reading.writes or reading.assigns:
            yield Problem(
                f"{hole.source} changes something, and a mapping changes nothing",
                place,
                "change it in a SET step after the call",
                "warning",
            )


def _path(config: Mapping[str, Any], place: Place, functions: Functions) -> Iterator[Problem]:
    path = config.get("path", "")
    if isinstance(path, str):
        yield from check_path(path, below(place, "path"))
    else:
        message = f"`path` is text, not {word(path)}"
        yield Problem(message, below(place, "path"), 'write "data.items[0].name"')
    if "transform" in config:
        yield from check_transform(config["transform"], below(place, "transform"), functions)


# ------------------------------------------------------------------ jsonPath and object


def _parts(config: Mapping[str, Any], place: Place) -> Iterator[Problem]:
    """What is wrong with `mappings` as a whole, and with the names in it."""
    mappings = raw(config.get("mappings"))
    where = below(place, "mappings")
    if not isinstance(mappings, Mapping):
        message = f"`mappings` is an object of output keys, not {word(mappings)}"
        yield Problem(message, where, 'write {"name": {"path": "user.name"}}')


def _json_path(config: Mapping[str, Any], place: Place, functions: Functions) -> Iterator[Problem]:
    yield from _parts(config, place)
    mappings = raw(config.get("mappings"))
    for name, each in mappings.items() if isinstance(mappings, Mapping) else ():
        part = raw(each)
        where = below(place, "mappings", name)
        if isinstance(part, str):
            yield from _path_or_text(part, where)
        elif not isinstance(part, Mapping):
            message = f"an entry of a jsonPath mapping is an object with a `path`, not {word(part)}"
            yield Problem(message, where, 'write {"path": "user.name"}')
        elif is_mapping(part) and "path" not in part:
            yield from _mapping(part, where, functions)
        else:
            yield from misspelt(part, KEYS["path"], where)
            if "path" not in part and "transform" not in part:
                yield Problem("an entry of a jsonPath mapping has no `path`", where, "add `path`")
            yield from _path(part, where, functions)


def _object(config: Mapping[str, Any], place: Place, functions: Functions) -> Iterator[Problem]:
    yield from _parts(config, place)
    mappings = raw(config.get("mappings"))
    for name, part in mappings.items() if isinstance(mappings, Mapping) else ():
        where = below(place, "mappings", name)
        if isinstance(part, str):
            yield from _path_or_text(part, where)
        else:
            yield from _written(part, where, functions)


def _written(part: Any, place: Place, functions: Functions) -> Iterator[Problem]:
    """What is written out inside an object mapping: most of it may be anything."""
    part = raw(part)
    if isinstance(part, str):
        yield from _holes(part, place)
    elif isinstance(part, list):
        for index, item in enumerate(part):
            yield from _written(item, below(place, str(index)), functions)
    elif isinstance(part, Mapping):
        if is_mapping(part) or _is_meant_as_mapping(part):
            yield from _mapping(part, place, functions)
            return
        for name, item in part.items():
            yield from _written(item, below(place, name), functions)


def _is_meant_as_mapping(part: Mapping[str, Any]) -> bool:
    """Whether a written object looks like a mapping of a misspelt kind, or one half written."""
    kind = part.get("type")
    if not isinstance(kind, str):
        return False
    lives_on = {*NEEDS.values(), "itemMapping"}
    if kind in KINDS:
        return part.keys() <= {"type", *KEYS[kind]}
    return bool(did_you_mean(kind, tuple(KINDS))) and bool(lives_on & part.keys())


# ------------------------------------------------------------------ array, template, conditional


def _array(config: Mapping[str, Any], place: Place, functions: Functions) -> Iterator[Problem]:
    source = config.get("source")
    if source is not None and not isinstance(source, str):
        message = f"`source` is a path, not {word(source)}"
        yield Problem(message, below(place, "source"), 'write "data.items"')
    elif source is not None:
        yield from _path_or_text(source, below(place, "source"))
    if config.get("filter") is not None:
        yield from check_condition(config["filter"], below(place, "filter"))
    if "itemMapping" in config:
        yield from _mapping(config["itemMapping"], below(place, "itemMapping"), functions)
    if config.get("sort") is not None:
        yield from _sort(raw(config["sort"]), below(place, "sort"))
    for name in ("offset", "limit"):
        value = config.get(name, 0)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            message = f"`{name}` is a whole number from 0, not {word(value)}"
            yield Problem(message, below(place, name), "0 leaves it out")
    if not isinstance(raw(config.get("fallback", [])), list):
        message = f"`fallback` of an array mapping is a list, not {word(config['fallback'])}"
        yield Problem(message, below(place, "fallback"), "write []", "warning")


def _sort(sort: Any, place: Place) -> Iterator[Problem]:
    if not isinstance(sort, Mapping) or not isinstance(sort.get("field"), str):
        yield Problem("`sort` has no `field`", place, 'write {"field": "price", "order": "asc"}')
        return
    yield from misspelt(sort, frozenset({"field", "order"}), place)
    yield from check_path(sort["field"], below(place, "field"))
    if sort.get("order", "asc") not in ("asc", "desc"):
        message = f"`order` is asc or desc, not {word(sort['order'])}"
        yield Problem(message, below(place, "order"), "leave it out for asc")


def _template(config: Mapping[str, Any], place: Place, functions: Functions) -> Iterator[Problem]:
    text = config["template"]
    if not isinstance(text, str):
        message = f"`template` is text, not {word(text)}"
        yield Problem(message, below(place, "template"), 'write "{{name}}: {{total}}"')
    elif problem := template_problem(text):
        yield Problem(
            problem, below(place, "template"), "only paths and blocks stand in {{ }} here"
        )
    if isinstance(config.get("dataPath"), str):
        yield from check_path(config["dataPath"], below(place, "dataPath"))


def _conditional(
    config: Mapping[str, Any], place: Place, functions: Functions
) -> Iterator[Problem]:
    conditions = raw(config.get("conditions"))
    where = below(place, "conditions")
    if conditions and not isinstance(conditions, list):
        message = f"`conditions` is a list, not {word(conditions)}"
        yield Problem(message, where, 'write [{"if": {…}, "then": …}]')
    for index, each in enumerate(conditions if isinstance(conditions, list) else ()):
        case, inside = raw(each), below(where, str(index))
        if not isinstance(case, Mapping) or "if" not in case or "then" not in case:
            message = "a case of a conditional mapping has an `if` and a `then`"
            yield Problem(message, inside, 'write {"if": {…}, "then": …}')
            continue
        yield from misspelt(case, frozenset({"if", "then"}), inside)
        yield from check_condition(case["if"], below(inside, "if"))
        yield from _mapping(case["then"], below(inside, "then"), functions)
    if "else" in config:
        yield from _mapping(config["else"], below(place, "else"), functions)


_CHECKS: Final[dict[str, Callable[[Mapping[str, Any], Place, Functions], Iterator[Problem]]]] = {
    "jsonPath": _json_path,
    "object": _object,
    "array": _array,
    "template": _template,
    "conditional": _conditional,
    "path": _path,
}
