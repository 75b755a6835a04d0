"""The operators of a condition, one function each, and conditions made of them.

Nothing is converted to make things equal: 1 is not "1". Objects and lists are equal when they
hold the same. Comparisons of size take numbers and texts that spell one, null as 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import ge, gt, le, lt
from typing import Any, Final, TypeAlias

from saywhy.tools.mapping.paths import PathProblem, Reader, is_there, parse_path, reader_of
from saywhy.tools.mapping.run import Failed, Run
from saywhy.tools.mapping.scripts import MATCHES, script
from saywhy.tools.mapping.texts import number_of, text_of, utf16_length
from saywhy.values import UNDEFINED, freeze, raw

Operator: TypeAlias = Callable[[Run, Any, Any], bool]
"""From the field's value and the `value` of the condition to the verdict."""
Condition: TypeAlias = Callable[[Run, Any], bool]


def identical(one: Any, other: Any) -> bool:
    """Whether two values are of one type and equal; numbers of any sort are one type."""
    one, other = raw(one), raw(other)
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict):
        return (
            isinstance(other, dict)
            and one.keys() == other.keys()
            and all(identical(item, other[key]) for key, item in one.items())
        )
    if isinstance(one, list):
        return (
            isinstance(other, list) and len(one) == len(other) and all(map(identical, one, other))
        )
    return bool(one == other)


def is_nothing(value: Any) -> bool:
    """Null or undefined."""
    return value is None or value is UNDEFINED


def _equals(run: Run, value: Any, other: Any) -> bool:
    return identical(value, other)


def _differs(run: Run, value: Any, other: Any) -> bool:
    return not identical(value, other)


def _exists(run: Run, value: Any, other: Any) -> bool:
    return not is_nothing(value)


def _is_missing(run: Run, value: Any, other: Any) -> bool:
    return is_nothing(value)


def _of_texts(test: Callable[[str, str], bool]) -> Operator:
    def operator(run: Run, value: Any, other: Any) -> bool:
        return (
            not is_nothing(value) and not is_nothing(other) and test(text_of(value), text_of(other))
        )

    return operator


def _of_numbers(test: Callable[[Any, Any], bool]) -> Operator:
    def operator(run: Run, value: Any, other: Any) -> bool:
        one, two = _size(value), _size(other)
        return one is not None and two is not None and test(one, two)

    return operator


def _size(value: Any) -> float | None:
    return 0 if value is None else number_of(value)


def _matches(run: Run, value: Any, other: Any) -> bool:
    if is_nothing(value) or not isinstance(other, str):
        return False
    try:
        return script(run, MATCHES, pattern=other, text=text_of(value)) is True
    except Failed as error:
        run.warn(f"`matches` with {other}: {error}")
        return False


def _is_in(run: Run, value: Any, other: Any) -> bool:
    choices = raw(other)
    return isinstance(choices, list) and any(identical(value, choice) for choice in choices)


def _has_length(run: Run, value: Any, other: Any) -> bool:
    value = raw(value)
    if isinstance(value, str):
        return number_of(other) == utf16_length(value)
    return isinstance(value, list) and number_of(other) == len(value)


def _is_array(run: Run, value: Any, other: Any) -> bool:
    return isinstance(raw(value), list)


def _is_object(run: Run, value: Any, other: Any) -> bool:
    return isinstance(raw(value), dict)


def _is_string(run: Run, value: Any, other: Any) -> bool:
    return isinstance(value, str)


def _is_number(run: Run, value: Any, other: Any) -> bool:
    return (
        not isinstance(value, bool)
        and not isinstance(value, str)
        and (number_of(value) is not None)
    )


NUMBER_TESTS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "greaterThan": gt,
    "gt": gt,
    "lessThan": lt,
    "lt": lt,
    "greaterThanOrEqual": ge,
    "gte": ge,
    "lessThanOrEqual": le,
    "lte": le,
}
"""Operators that compare sizes."""


OPERATORS: Final[dict[str, Operator]] = {
    "equals": _equals,
    "eq": _equals,
    "notEquals": _differs,
    "ne": _differs,
    "contains": _of_texts(lambda text, part: part in text),
    "exists": _exists,
    "notExists": _is_missing,
    **{name: _of_numbers(test) for name, test in NUMBER_TESTS.items()},
    "startsWith": _of_texts(str.startswith),
    "endsWith": _of_texts(str.endswith),
    "matches": _matches,
    "in": _is_in,
    "hasLength": _has_length,
    "isArray": _is_array,
    "isObject": _is_object,
    "isString": _is_string,
    "isNumber": _is_number,
}

WITHOUT_VALUE: Final = frozenset(
    {"exists", "notExists", "isArray", "isObject", "isString", "isNumber"}
)
"""Operators that compare with nothing."""


# ------------------------------------------------------------------ conditions


def condition_of(config: Any, *, about_value: bool = False) -> Condition:
    """The condition as a function of the data; what is no condition never holds.

    `about_value`: the data is the value a transform was given. Then `value` and `.` name the value
    itself, and so does every name where the value has no members.
    """
    tree = raw(config)
    if not isinstance(tree, Mapping):
        return lambda run, data: False
    operator = OPERATORS.get(str(tree.get("operator")))
    field = tree.get("field")
    if operator is None or not isinstance(field, str):
        return lambda run, data: False
    read = _value_reader(field) if about_value else _field_reader(field)
    other = raw(freeze(tree["value"])) if "value" in tree else UNDEFINED
    test = NUMBER_TESTS.get(str(tree.get("operator")))
    if test is not None:
        return _number_condition(read, test, _size(other))
    return lambda run, data: operator(run, read(run, data), other)


def _number_condition(
    read: Reader, test: Callable[[Any, Any], bool], other: float | None
) -> Condition:
    """What is compared with is the same for every item, so it is looked at once."""
    if other is None:
        return lambda run, data: False

    def holds(run: Run, data: Any) -> bool:
        value = read(run, data)
        if type(value) is not int and type(value) is not float:
            value = _size(value)
        return value is not None and test(value, other)

    return holds


def _nothing(run: Run, data: Any) -> Any:
    return UNDEFINED


def _field_reader(field: str) -> Reader:
    try:
        path = parse_path(field)
    except PathProblem:
        return _nothing
    return reader_of(path)


def _value_reader(field: str) -> Reader:
    try:
        path = parse_path(field)
    except PathProblem:
        return lambda run, value: value
    read = reader_of(path)
    if not path.keys or path.from_arguments:
        return read

    def of_value(run: Run, value: Any) -> Any:
        has_members = isinstance(raw(value), dict) and path.keys != ("value",)
        return read(run, value) if has_members or is_there(value, path.keys) else value

    return of_value
