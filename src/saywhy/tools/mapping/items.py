"""Lists: filter, map each item, sort, cut out a page; in this order.

An item that cannot be mapped stays as it is. Sorting looks at the mapped items. A field is compared
as numbers when some of its values are numbers (then texts that spell one count too), else as
text; what is missing comes last in either direction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any, Final

from saywhy.errors import MappingError
from saywhy.tools.mapping.fallback import Constant
from saywhy.tools.mapping.fixed import Step
from saywhy.tools.mapping.operators import condition_of
from saywhy.tools.mapping.paths import PathProblem, parse_path, reader_of
from saywhy.tools.mapping.run import Run, TooMuch, tree_of
from saywhy.tools.mapping.texts import number_of, order_key, text_of
from saywhy.values import UNDEFINED, NonFinite, raw


def array(config: Mapping[str, Any], read: Step, item: Step | None, fallback: Constant) -> Step:
    """The list at the source, worked on as the configuration says."""
    holds = condition_of(config["filter"]) if config.get("filter") is not None else None
    order = _order(raw(config.get("sort")))
    offset, limit = (_count(config.get(name)) for name in ("offset", "limit"))

    def step(run: Run, data: Any) -> Any:
        items = raw(read(run, data))
        if not isinstance(items, list):
            run.fell_back(str(config.get("source") or config.get("path") or "the list"))
            return fallback(run)
        run.take(len(items))
        if holds is not None:
            had = len(items)
            items = [one for one in items if holds(run, one if type(one) is dict else tree_of(one))]
            if len(items) < had:
                run.chose(f"kept {len(items)} of {had} items by its filter")
        if item is not None:
            items = _mapped(run, items, item)
        if order is not None:
            items = order(run, items)
            if len(items) > 1:
                run.chose(f"ordered {len(items)} items by {config['sort']['field']}")
        end = offset + limit if limit else None
        page = items[offset:end] if offset or limit else items
        if len(page) < len(items):
            run.chose(f"kept {len(page)} of {len(items)} items by its limit")
        return page

    return step


def _count(value: Any) -> int:
    """An offset or limit; 0 for one that is not above 0."""
    number = number_of(value)
    return int(number) if number is not None and 0 < number < 2**53 else 0


def _mapped(run: Run, items: list[Any], item: Step) -> list[Any]:
    outer = run.index
    result: list[Any] = []
    try:
        for index, one in enumerate(items):
            run.index = index
            try:
                result.append(item(run, one if type(one) is dict else tree_of(one)))
            except TooMuch:
                raise
            except MappingError as error:
                run.warn(f"item {index} stays as it is: {error}")
                result.append(one)
    finally:
        run.index = outer
    return result


def _order(sort: Any) -> Callable[[Run, list[Any]], list[Any]] | None:
    if not isinstance(sort, Mapping) or not isinstance(sort.get("field"), str):
        return None
    try:
        read = reader_of(parse_path(sort["field"]))
    except PathProblem:
        return None
    downwards = sort.get("order") == "desc"

    def order(run: Run, items: list[Any]) -> list[Any]:
        missing: list[Any] = []
        present: list[Any] = []
        values: list[Any] = []
        for item in items:
            value = read(run, item)
            if value is None or value is UNDEFINED or value != value:  # noqa: PLR0124 - NaN
                missing.append(item)
            else:
                present.append(item)
                values.append(value)
        ranked = sorted(
            zip(_keys(values), present, strict=True), key=itemgetter(0), reverse=downwards
        )
        return [item for _, item in ranked] + missing

    return order


_NUMBERS: Final = frozenset({float, int, NonFinite})


def _keys(values: list[Any]) -> list[Any]:
    """What the values are sorted by, all comparable with each other."""
    kinds = set(map(type, values))
    if kinds <= _NUMBERS:
        return values
    if not kinds & _NUMBERS:
        texts = list(map(text_of, values))
        return texts if all(map(str.isascii, texts)) else list(map(order_key, texts))
    return list(map(_mixed_key, values))


def _mixed_key(value: Any) -> tuple[int, Any]:
    """Numbers and what spells one first, other texts after them."""
    number = None if isinstance(value, bool) else number_of(value)
    return (1, order_key(text_of(value))) if number is None else (0, number)
