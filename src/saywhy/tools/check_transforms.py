"""What is wrong with the transforms, conditions and paths of a response mapping."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final

from saywhy.errors import Place, Problem, did_you_mean
from saywhy.tools.mapping.operators import OPERATORS, WITHOUT_VALUE
from saywhy.tools.mapping.paths import BLOCKED, PathProblem, parse_path
from saywhy.tools.mapping.scripts import pattern_fault
from saywhy.tools.mapping.templates import template_problem
from saywhy.tools.mapping.texts import number_of
from saywhy.tools.mapping.transforms import TRANSFORMS
from saywhy.tools.wording import below, word
from saywhy.values import raw

__all__ = [
    "IN_TEMPLATES",
    "below",
    "check_condition",
    "check_path",
    "check_transform",
    "misspelt",
    "word",
]

PARAMETERS: Final[dict[str, tuple[str, ...]]] = {
    "replace": ("pattern", "flags", "replacement"),
    "concat": ("prefix", "suffix"),
    "regex": ("pattern", "flags", "group", "index"),
    "default": ("value",),
    "conditional": ("conditions", "else", "condition", "trueValue", "falseValue"),
    "substring": ("start", "end"),
    "split": ("delimiter", "index"),
    "join": ("delimiter",),
    "abs": ("precision",),
    "round": ("precision",),
    "floor": ("precision",),
    "ceil": ("precision",),
    "template": ("template",),
    "sum": ("field", "precision"),
    "average": ("field", "precision"),
    "count": ("field",),
    "min": ("field", "precision"),
    "max": ("field", "precision"),
    "multiply": ("multiplier", "precision"),
    "divide": ("divisor", "precision"),
    "percentage": ("divisor", "precision"),
    "add": ("addend", "precision"),
    "subtract": ("subtrahend", "precision"),
    "yearDifference": ("fromYear",),
    "handlebars": ("template", "dataPath"),
    "custom": ("function",),
}
"""Transform → the parameters it reads besides `type` and `fallback`."""

REQUIRED: Final[dict[str, tuple[str, ...]]] = {
    "replace": ("pattern",),
    "regex": ("pattern",),
    "default": ("value",),
    "split": ("delimiter",),
    "template": ("template",),
    "multiply": ("multiplier",),
    "divide": ("divisor",),
    "percentage": ("divisor",),
    "add": ("addend",),
    "subtract": ("subtrahend",),
    "handlebars": ("template", "dataPath"),
    "custom": ("function",),
}
"""Transform → the parameters without which it does nothing, or fails."""

NUMBERS: Final = frozenset(
    {
        "precision",
        "divisor",
        "multiplier",
        "addend",
        "subtrahend",
        "start",
        "end",
        "index",
        "fromYear",
    }
)
TEXTS: Final = frozenset(
    {"pattern", "flags", "replacement", "prefix", "suffix", "delimiter", "template", "function"}
)
PATHS: Final = frozenset({"field", "dataPath"})
IN_TEMPLATES: Final = "only paths and blocks stand in {{ }} here"
COMPARES_NUMBERS: Final = frozenset(
    {
        "greaterThan",
        "gt",
        "lessThan",
        "lt",
        "greaterThanOrEqual",
        "gte",
        "lessThanOrEqual",
        "lte",
        "hasLength",
    }
)

_QUOTED: Final = re.compile(r"""\[\s*(?:"[^"]*"|'[^']*')\s*\]""")
_ODD: Final = re.compile(r"[()|?*+=<>!&;,`'\"]")
_CLOSE: Final = 0.8


def misspelt(
    raw_keys: Mapping[str, Any], known: Collection[str], place: Place
) -> Iterator[Problem]:
    """A warning for each key that nearly is a known one that is not there."""
    free = sorted(set(known) - raw_keys.keys())
    for key in raw_keys:
        if key in known:
            continue
        close = get_close_matches(key.lower(), {one.lower(): one for one in free}, 1, _CLOSE)
        if close:
            meant = next(one for one in free if one.lower() == close[0])
            hint = f'did you mean "{meant}"?'
            yield Problem(f'unknown key "{key}"', below(place, key), hint, "warning")


# ------------------------------------------------------------------ paths


def check_path(text: str, place: Place) -> Iterator[Problem]:
    """A text that is no path, or one that leads nowhere."""
    try:
        path = parse_path(text)
    except PathProblem as problem:
        yield Problem(str(problem), place, 'a path looks like data.items[0].name or rows["a b"].x')
        return
    blocked = BLOCKED.intersection(key for key in path.keys if isinstance(key, str))
    if blocked:
        message = f"a path through {', '.join(sorted(blocked))} gives nothing"
        yield Problem(message, place, "take the value another way", "warning")
    odd = _ODD.search(_QUOTED.sub("", text))
    if odd is not None:
        yield Problem(
            f'"{text}" is looked up as a key, {odd[0]} and all: only a path may stand here',
            place,
            'write an odd key in quotes, ["a+b"]; compute in a SET step after the call',
            "warning",
        )


# ------------------------------------------------------------------ conditions


def check_condition(config: Any, place: Place) -> Iterator[Problem]:
    """What is wrong with `{field, operator, value}`."""
    condition = raw(config)
    if not isinstance(condition, Mapping):
        yield Problem(
            f"a condition is an object, not {word(condition)}",
            place,
            'write {"field": "status", "operator": "equals", "value": "open"}',
        )
        return
    yield from misspelt(condition, ("field", "operator", "value"), place)
    field = condition.get("field")
    if not isinstance(field, str):
        what = "has no `field`" if field is None else f"has {word(field)} as `field`"
        yield Problem(f"a condition {what}", place, 'write a path, or "." for the value itself')
    else:
        yield from check_path(field, below(place, "field"))
    yield from _operator(condition, place)


def _operator(condition: Mapping[str, Any], place: Place) -> Iterator[Problem]:
    operator = condition.get("operator")
    if not isinstance(operator, str) or operator not in OPERATORS:
        known = tuple(OPERATORS)
        what = "has no `operator`" if operator is None else f"has the operator {word(operator)}"
        yield Problem(
            f"a condition {what}" + ("" if operator is None else ", which is unknown"),
            below(place, "operator") if "operator" in condition else place,
            did_you_mean(operator if isinstance(operator, str) else "", known)
            or "a condition without one never holds",
            known_names=known,
        )
    elif "value" not in condition:
        if operator not in WITHOUT_VALUE:
            yield Problem(f"`{operator}` has no `value` to compare with", place, "add `value`")
    else:
        yield from _compared(operator, raw(condition["value"]), below(place, "value"))


def _compared(operator: str, value: Any, place: Place) -> Iterator[Problem]:
    if operator in COMPARES_NUMBERS and number_of(value) is None:
        yield Problem(f"`{operator}` compares numbers, not {word(value)}", place, "write a number")
    elif operator == "in" and not isinstance(value, list):
        yield Problem(f"`in` looks in a list, not in {word(value)}", place, 'write ["a", "b"]')
    elif operator == "matches":
        yield from _pattern(value, "", place)


def _pattern(pattern: Any, flags: Any, place: Place) -> Iterator[Problem]:
    if not isinstance(pattern, str):
        yield Problem(f"a pattern is text, not {word(pattern)}", place, 'write "^[A-Z]+$"')
        return
    fault = pattern_fault(pattern, flags if isinstance(flags, str) else "")
    if fault:
        shown = f"/{pattern}/{flags}"
        yield Problem(
            f"{shown} is no regular expression: {fault}",
            place,
            "patterns are JavaScript's; in JSON a backslash is written twice",
        )


# ------------------------------------------------------------------ transforms


def check_transform(
    config: Any, place: Place, functions: Collection[str] | None
) -> Iterator[Problem]:
    """What is wrong with `{type, …}` of a transform."""
    transform = raw(config)
    if not isinstance(transform, Mapping):
        message = f"a transform is an object, not {word(transform)}"
        yield Problem(message, place, 'write {"type": "trim"}')
        return
    kind = transform.get("type")
    if not isinstance(kind, str) or kind not in TRANSFORMS:
        known = tuple(TRANSFORMS)
        yield Problem(
            "a transform has no `type`" if kind is None else f"{word(kind)} is no transform",
            below(place, "type") if kind is not None else place,
            did_you_mean(kind if isinstance(kind, str) else "", known)
            or "without a known type the value stays as it is",
            known_names=known,
        )
        return
    parameters = PARAMETERS.get(kind, ())
    yield from misspelt(transform, {"type", "fallback", *parameters}, place)
    for name in REQUIRED.get(kind, ()):
        if transform.get(name) is None and not (name == "value" and name in transform):
            yield Problem(f"`{kind}` needs `{name}`", place, f"add `{name}`")
    for name in parameters:
        if transform.get(name) is not None:
            yield from _parameter(kind, name, transform, below(place, name))
    if kind == "conditional":
        yield from _cases(transform, place)
    if kind == "custom":
        yield from _function(transform, place, functions)


def _parameter(
    kind: str, name: str, transform: Mapping[str, Any], place: Place
) -> Iterator[Problem]:
    value = raw(transform[name])
    if name in NUMBERS and number_of(value) is None:
        yield Problem(f"`{name}` of `{kind}` is a number, not {word(value)}", place, "write 2")
    elif name in TEXTS and not isinstance(value, str):
        yield Problem(f"`{name}` of `{kind}` is text, not {word(value)}", place, "put it in quotes")
    elif name in PATHS:
        if isinstance(value, str):
            yield from check_path(value, place)
        else:
            yield Problem(f"`{name}` of `{kind}` is a path, not {word(value)}", place, "write one")
    elif name == "pattern":
        yield from _pattern(value, transform.get("flags") or "", place)
    elif name == "template" and (problem := template_problem(value)):
        yield Problem(problem, place, IN_TEMPLATES)
    elif name == "divisor" and not number_of(value):
        yield Problem(f"`{kind}` by 0 always gives the fallback, or 0", place, "divide by another")


def _cases(transform: Mapping[str, Any], place: Place) -> Iterator[Problem]:
    conditions = raw(transform.get("conditions"))
    if "condition" in transform:
        yield from check_condition(transform["condition"], below(place, "condition"))
        if "trueValue" not in transform and "falseValue" not in transform:
            message = "`conditional` has neither `trueValue` nor `falseValue`"
            yield Problem(message, place, "add what it is to give")
    elif not isinstance(conditions, list):
        yield Problem("`conditional` has no `conditions`", place, 'write [{"if": {…}, "then": …}]')
    where = below(place, "conditions")
    for index, each in enumerate(conditions if isinstance(conditions, list) else ()):
        case, inside = raw(each), below(where, str(index))
        if not isinstance(case, Mapping) or "if" not in case or "then" not in case:
            message = "a case of `conditional` has an `if` and a `then`"
            yield Problem(message, inside, 'write {"if": {…}, "then": …}')
        else:
            yield from check_condition(case["if"], below(inside, "if"))


def _function(
    transform: Mapping[str, Any], place: Place, functions: Iterable[str] | None
) -> Iterator[Problem]:
    name = transform.get("function")
    if not isinstance(name, str) or functions is None or name in functions:
        return
    known = tuple(sorted(functions))
    yield Problem(
        f'no approved function is called "{name}"',
        below(place, "function"),
        did_you_mean(name, known) or "hand it over as an approved function",
        known_names=known,
    )
