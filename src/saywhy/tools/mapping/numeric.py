"""Transforms that calculate. What is no number, or has no finite result, gives the fallback or 0.

`precision` rounds the result to so many decimals, halves upwards, as `round` itself does.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

from saywhy.tools.mapping.fallback import fallback_or
from saywhy.tools.mapping.paths import PathProblem, Reader, parse_path, reader_of
from saywhy.tools.mapping.run import Failed, Run
from saywhy.tools.mapping.texts import BLANKS, decimal, number_of, spelt, text_of, whole
from saywhy.values import UNDEFINED, raw

Transform: TypeAlias = Callable[[Run, Any], Any]
"""From a value to another. Raises `Failed`, for which the mapping has a fallback."""
Maker: TypeAlias = Callable[[Mapping[str, Any]], Transform]

MAX_PRECISION: Final = 300

_INTEGER: Final = re.compile(r"[+-]?\d+", re.ASCII)
_FLOAT: Final = re.compile(r"[+-]?(?:Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)", re.ASCII)


# ------------------------------------------------------------------ rounding


def round_half_up(number: float) -> float:
    """The nearest whole number; a half goes up, also below zero."""
    lower = math.floor(number)
    return float(lower + 1) if number - lower >= 0.5 else float(lower)


def rounded(number: float, precision: int, to_whole: Callable[[float], float]) -> float:
    """`number` with so many decimals; a negative precision rounds to tens, hundreds, …"""
    scale = 10.0 ** abs(precision)
    scaled = number * scale if precision >= 0 else number / scale
    if not math.isfinite(scaled) or abs(scaled) >= 2**53:
        return number  # there is nothing left to round
    result = to_whole(scaled)
    return result / scale if precision >= 0 else result * scale


def _precision(config: Mapping[str, Any]) -> int | None:
    value = number_of(config.get("precision"))
    if value is None or not math.isfinite(value) or isinstance(config["precision"], bool):
        return None
    return int(max(-MAX_PRECISION, min(MAX_PRECISION, value)))


def _finisher(config: Mapping[str, Any]) -> Callable[[Run, float | None], Any]:
    """Rounds a result and makes a value of it."""
    precision = _precision(config)
    instead = fallback_or(config, 0)

    def finish(run: Run, number: float | None) -> Any:
        if number is None or not math.isfinite(number):
            return instead(run)
        if precision is not None:
            number = rounded(number, precision, round_half_up)
        return whole(number)

    return finish


def _float(value: Any) -> float | None:
    if type(value) is str:
        return spelt(value)
    number = number_of(value)
    if number is None:
        return None
    try:
        return float(number)
    except OverflowError:
        return math.inf


def _or_zero(value: Any) -> float | None:
    if type(value) is str:
        return spelt(value)
    return 0.0 if value is None or value is UNDEFINED else _float(value)


# ------------------------------------------------------------------ one number


def parse_int(config: Mapping[str, Any]) -> Transform:
    """The whole number a text begins with, all its digits kept."""
    instead = fallback_or(config, 0)

    def transform(run: Run, value: Any) -> Any:
        hit = _INTEGER.match(text_of(value).lstrip(BLANKS))
        if hit is None:
            return instead(run)
        try:
            return int(hit[0])
        except ValueError:  # more digits than Python reads
            return instead(run)

    return transform


def parse_float(config: Mapping[str, Any]) -> Transform:
    """The number a text begins with."""
    instead = fallback_or(config, 0)

    def transform(run: Run, value: Any) -> Any:
        number = decimal(value) if type(value) is str else None
        if number is None:
            hit = _FLOAT.match(text_of(value).lstrip(BLANKS))
            if hit is None:
                return instead(run)
            number = float(hit[0])
        return whole(number)

    return transform


def _of_one(to_whole: Callable[[float], float]) -> Maker:
    """abs, round, floor, ceil: with `precision` the decimals are what is rounded."""

    def make(config: Mapping[str, Any]) -> Transform:
        instead = fallback_or(config, 0)
        precision = _precision(config) or 0

        def transform(run: Run, value: Any) -> Any:
            number = _or_zero(value)
            if number is None or not math.isfinite(number):
                return instead(run)
            return whole(rounded(number, precision, to_whole))

        return transform

    return make


def absolute(config: Mapping[str, Any]) -> Transform:
    """The number without its sign."""
    finish = _finisher(config)

    def transform(run: Run, value: Any) -> Any:
        number = _or_zero(value)
        return finish(run, None if number is None else abs(number))

    return transform


def _with(
    name: str, default: float | None, operate: Callable[[float, float], float | None]
) -> Maker:
    """An operation with a second number from the configuration."""

    def make(config: Mapping[str, Any]) -> Transform:
        given = config.get(name)
        other = default if given is None else _float(given)
        finish = _finisher(config)
        is_bare = _precision(config) is None

        def transform(run: Run, value: Any) -> Any:
            number = _or_zero(value)
            if number is None or other is None:
                return finish(run, None)
            result = operate(number, other)
            if is_bare and result is not None and result - result == 0:
                return whole(result)
            return finish(run, result)

        return transform

    return make


def _divided(number: float, divisor: float) -> float | None:
    return number / divisor if divisor else None


def _share(number: float, whole_: float) -> float | None:
    return number / whole_ * 100 if whole_ else None


# ------------------------------------------------------------------ many numbers


def _field_reader(config: Mapping[str, Any]) -> Reader:
    field = config.get("field")
    if not isinstance(field, str):
        return lambda run, item: item
    try:
        return reader_of(parse_path(field))
    except PathProblem:
        return lambda run, item: UNDEFINED


def _of_list(calculate: Callable[[list[Any]], float | None]) -> Maker:
    """A calculation over the items of a list, or over one `field` of each."""

    def make(config: Mapping[str, Any]) -> Transform:
        read = _field_reader(config)
        finish = _finisher(config)

        def transform(run: Run, value: Any) -> Any:
            items = raw(value)
            if not isinstance(items, list):
                return finish(run, None)
            run.take(len(items))
            return finish(run, calculate([read(run, item) for item in items]))

        return transform

    return make


def _numbers(values: list[Any]) -> Iterator[float]:
    """Those of the values that are numbers, or texts that spell one."""
    for value in values:
        number = _float(value)
        if number is not None:
            yield number


def _average(values: list[Any]) -> float | None:
    numbers = list(_numbers(values))
    return sum(numbers) / len(numbers) if numbers else None


def _count(values: list[Any]) -> float:
    return float(sum(value is not None and value is not UNDEFINED for value in values))


# ------------------------------------------------------------------ years


def current_year(config: Mapping[str, Any]) -> Transform:
    """The year it is, in UTC."""
    return lambda run, value: _year(run)


def year_difference(config: Mapping[str, Any]) -> Transform:
    """How many years ago `fromYear` was, else the year that is the value."""
    fixed = _float(config.get("fromYear"))
    finish = _finisher(config)

    def transform(run: Run, value: Any) -> Any:
        year = fixed or _float(value)
        return finish(run, None if year is None else _year(run) - year)

    return transform


def _year(run: Run) -> int:
    try:
        return datetime.fromtimestamp(run.now_ms / 1000, UTC).year
    except (ValueError, OverflowError, OSError):
        raise Failed(f"the clock shows {run.now_ms}, which is no date") from None


NUMERIC: Final[dict[str, Maker]] = {
    "parseInt": parse_int,
    "parseFloat": parse_float,
    "abs": absolute,
    "round": _of_one(round_half_up),
    "floor": _of_one(lambda number: float(math.floor(number))),
    "ceil": _of_one(lambda number: float(math.ceil(number))),
    "multiply": _with("multiplier", 1.0, lambda number, other: number * other),
    "add": _with("addend", 0.0, lambda number, other: number + other),
    "subtract": _with("subtrahend", 0.0, lambda number, other: number - other),
    "divide": _with("divisor", None, _divided),
    "percentage": _with("divisor", None, _share),
    "sum": _of_list(lambda values: sum(_numbers(values), 0.0)),
    "average": _of_list(_average),
    "count": _of_list(_count),
    "min": _of_list(lambda values: min(_numbers(values), default=None)),
    "max": _of_list(lambda values: max(_numbers(values), default=None)),
    "currentYear": current_year,
    "yearDifference": year_difference,
}
