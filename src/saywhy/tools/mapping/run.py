"""One application of a mapping: what it was handed, what it may still spend, what went wrong.

A mapping is compiled once and applied many times; all that differs from one time to the next is
here. Everything that could grow without end is counted: items mapped, characters written, approved
functions and patterns that did not come to an end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from saywhy.errors import MappingError
from saywhy.expr.javascript import Placement
from saywhy.values import UNDEFINED, FrozenDict, FrozenList

MAX_SIZE: Final = 10_000_000
"""Characters and values one mapping may put into its result besides what it takes from the data."""
MAX_ITEMS: Final = 100_000
"""Items one mapping may go through, the lists in lists counted as well."""
MAX_LATE: Final = 3
"""Patterns, expressions and functions that may run out of time; then none is started any more."""
MAX_WARNINGS: Final = 20


class Run:
    """What the steps of a mapping share while it is applied."""

    __slots__ = (
        "_size_of_args",
        "args",
        "chosen",
        "engine",
        "fallbacks",
        "functions",
        "index",
        "items",
        "late",
        "names",
        "now_ms",
        "size",
        "skipped",
        "warnings",
    )

    def __init__(
        self,
        args: Any,
        *,
        now_ms: float,
        functions: Mapping[str, Callable[..., Any]],
        names: Mapping[str, Any],
        engine: Placement | None,
    ) -> None:
        self.args = args
        self.now_ms = now_ms
        self.functions = functions
        self.names = names
        self.engine = engine
        self.index = -1
        self.items = 0
        self.size = 0
        self.late = 0
        self.skipped = 0
        self.warnings: dict[str, None] = {}
        self.fallbacks: dict[str, None] = {}
        self.chosen: dict[str, None] = {}
        self._size_of_args = -1

    def argument(self, keys: tuple[str | int, ...], walk: Callable[[Any, Any], Any]) -> Any:
        """The argument at `keys`. Inside a list, `index` is the number of the item."""
        if self.index >= 0 and keys == ("index",):
            return self.index
        value = walk(self.args, keys)
        if isinstance(value, dict | list | FrozenDict | FrozenList):
            if self._size_of_args < 0:
                self._size_of_args = size_of(self.args)
            self.spend(self._size_of_args)
        elif isinstance(value, str):
            self.spend(len(value))
        return value

    def spend(self, size: int) -> None:
        """Count what goes into the result; raises `MappingError` when it is too much."""
        self.size += size
        if self.size > MAX_SIZE:
            raise TooMuch(f"the result would be larger than {MAX_SIZE} characters and values")

    def take(self, items: int) -> None:
        """Count items that are gone through; raises `MappingError` when they are too many."""
        self.items += items
        if self.items > MAX_ITEMS:
            raise TooMuch(f"the mapping would go through more than {MAX_ITEMS} items")

    def warn(self, text: str) -> None:
        """Note what did not work out; the same text once."""
        if len(self.warnings) < MAX_WARNINGS:
            self.warnings[text] = None

    def fell_back(self, path: str) -> None:
        """Note that a fallback took the place of what was not there; the same path once."""
        if len(self.fallbacks) < MAX_WARNINGS:
            self.fallbacks[path] = None

    def chose(self, text: str) -> None:
        """Note what became of the items of a list: left out, put in order; the same text once."""
        if len(self.chosen) < MAX_WARNINGS:
            self.chosen[text] = None


class Failed(Exception):
    """One step of a mapping could not be done; a fallback may take its place."""


class TooMuch(MappingError):
    """A limit was hit: nobody further inside may go on, whatever it does about other errors."""


def tree_of(value: Any) -> Any:
    """The plain tree inside a frozen value, as it may stand inside another tree.

    An object that looks like a tag (`{"$date": …}`) keeps its wrapper, which tells that it is none.
    """
    kind = type(value)
    if kind is FrozenList:
        return value.raw
    if kind is FrozenDict:
        tree = value.raw
        return value if len(tree) == 1 and next(iter(tree))[:1] == "$" else tree
    return value


def size_of(value: Any) -> int:
    """Characters and values in `value`."""
    if isinstance(value, FrozenDict | FrozenList):
        value = value.raw
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return 1 + sum(len(key) + size_of(item) for key, item in value.items())
    if isinstance(value, list):
        return 1 + sum(map(size_of, value))
    return 0 if value is UNDEFINED else 1
