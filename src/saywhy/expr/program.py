"""An expression as the engine runs it: which values it is handed, compiled once for each shape.

An expression gets the values at the paths it reads, not the variables they are in: `user.name` in a
session of 200 KB costs as much as in an empty one. For that the text is compiled with `user.name`
replaced by an argument. Which prefix of a path can be replaced depends on what is there (a missing
parent must still raise as JavaScript does), so a program keeps one compiled function, a `Variant`,
for each shape of its arguments seen so far.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, Final

from saywhy.expr.chains import Path
from saywhy.expr.names import CONSTANTS, RESERVED_GLOBALS, Reading
from saywhy.expr.outcome import Direct

MISSING: Final = "-"
"""The letter of a name that is no variable."""

FUNCTION: Final = "f"
"""The letter of a name that is an approved function."""

_SPEAKS: Final = re.compile(r"ocale|Intl|\\[ux]")

Shape = tuple[str, ...]
"""One entry for each parameter: the letter of `transfer.argument`, and the depth where the path
was cut short."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A path whose value the expression is handed."""

    path: Path
    root: str
    has_length: bool
    """The path ends in `.length`, which is no key of a list or text."""
    inside: tuple[Path, ...] = ()
    """Where a variable may be changed, but only at paths that are written down: those paths. Then
    an object with nothing else in it will do, however large the variable is."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One compiled function with what is known about its results."""

    function: Any
    reads: tuple[Path, ...]
    exact: bool
    written: tuple[int, ...]
    """Numbers of the parameters that are read back."""
    has_functions: bool
    has_leading: bool
    """It is handed more than what the expression reads: answers, the clock."""
    is_brief: bool
    """It needs no time limit, if its arguments are short; see `brief`."""
    inserted: tuple[tuple[int, int, int], ...]
    """Replacements in the text: start, end, length of what stands there instead."""


class Program:
    """What is known about an expression before any value is."""

    __slots__ = (
        "clocked",
        "direct",
        "guesses",
        "hidden",
        "is_harmless",
        "parameters",
        "places",
        "reading",
        "source",
        "speaks",
        "variants",
    )

    def __init__(self, source: str, reading: Reading) -> None:
        self.source = source
        self.reading = reading
        self.parameters = _parameters(reading)
        self.clocked = bool(reading.roots & {"Date", "Intl"}) or "random" in source
        # May it ask for another language? Where the text does not show it, it is found out; but
        # then no `catch` may come between. See asking.js.
        self.speaks = bool(reading.details.handlers) or _SPEAKS.search(source) is not None
        self.guesses = True  # does it go on for a while without answers?
        self.is_harmless = reading.details.is_harmless
        self.direct: Direct | None = None  # how it is evaluated without the engine
        self.variants: dict[str, Variant] = {}  # by the shape, written together, and the form
        self.places = tuple((each, each.path, each.root) for each in self.parameters)
        self.hidden = _hidden_prefix(reading, source)

    def is_lent(self, functions: Collection[str]) -> bool:
        """Whether it leaves what it is handed as it is, so that others may be handed the same.

        Approved functions may have a name of JavaScript's own, and do what they like.
        """
        if not functions or not self.is_harmless:
            return self.is_harmless
        return not any(name in functions for name in self.reading.calls)


def _parameters(reading: Reading) -> tuple[Parameter, ...]:
    """The shortest paths that together hold everything the expression uses."""
    changed = {path[0] for path in reading.writes}
    paths: dict[Path, None] = {}
    for use in reading.details.uses:
        root = str(use.path[0])
        if root not in RESERVED_GLOBALS and root not in CONSTANTS:
            paths[(root,) if use.is_called or root in reading.assigns else use.path] = None
    parameters: dict[Path, Parameter] = {}
    for path in _shortest(paths):
        root = str(path[0])
        if root in changed:
            inside = tuple(other for other in _shortest(paths) if other[0] == root)
            inside = () if (root,) in inside else inside
            parameters[(root,)] = Parameter((root,), root, False, inside)
        else:
            has_length = len(path) > 1 and path[-1] == "length"
            parameters[path] = Parameter(path, root, has_length)
    return tuple(parameters.values())


def _shortest(paths: Collection[Path]) -> list[Path]:
    """The paths that do not lie inside another one."""
    return [path for path in paths if not any(path[:n] in paths for n in range(1, len(path)))]


def sparse(tree: dict[str, Any], paths: Iterable[Path]) -> dict[str, Any]:
    """An object with nothing but what stands at `paths`, the first part of which is left out.

    Where a path leads through a list, all of the list is there.
    """
    made: dict[str, Any] = {}
    for path in paths:
        source, target = tree, made
        for depth, part in enumerate(path[1:], start=2):
            key = str(part)
            if key not in source:
                break
            inner = source[key]
            known = target.get(key)
            if depth == len(path) or type(inner) is not dict or known is inner:
                target[key] = inner
                break
            source = inner
            target = target.setdefault(key, {})
    return made


def _hidden_prefix(reading: Reading, source: str) -> str:
    """A prefix for our own names that no name in the expression starts with."""
    prefix = "$_"
    while prefix in source or any(name.startswith(prefix) for name in reading.details.spelled):
        prefix += "_"
    return prefix
