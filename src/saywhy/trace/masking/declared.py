"""What authors and hosts have declared as sensitive, in the form in which a record is masked by it.

Values only. Reading the declarations off flows and tools is left to whoever knows those; what
follows from them while a conversation runs is answered by `taint`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from saywhy.values import Key

T = TypeVar("T")

Spot = tuple[str | int, ...]
"""A path inside a value; empty for all of it."""


@dataclass(frozen=True, slots=True)
class Declared:
    """Where sensitive values are asked for, written, handed on and answered."""

    variables: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """Flow → the variables and parameters it declares as sensitive."""
    steps: frozenset[tuple[str, str]] = frozenset()
    """Flow and node: whatever the step writes, says or is answered."""
    asking: bool = False
    """Whether some question asks for something sensitive."""
    paths: tuple[Key, ...] = ()
    """Paths in cargo and global variables."""
    arguments: Mapping[str, tuple[Spot, ...]] = field(default_factory=dict[str, tuple[Spot, ...]])
    """Tool → where in its arguments."""
    answers: Mapping[str, tuple[Spot, ...]] = field(default_factory=dict[str, tuple[Spot, ...]])
    """Tool → where in its answer."""
    harmless: Mapping[str, tuple[Spot, ...]] = field(default_factory=dict[str, tuple[Spot, ...]])
    """Tool → where in its answer nothing sensitive is, although sensitive values were handed in."""
    parts: Mapping[tuple[str, str], Mapping[str, tuple[Spot, ...]]] = field(
        default_factory=dict[tuple[str, str], Mapping[str, tuple[Spot, ...]]]
    )
    """Flow and node of a step that hands several values on → each one's name → the paths that it
    is made of. So one sensitive argument does not hide the others."""

    def __bool__(self) -> bool:
        return bool(
            self.variables
            or self.steps
            or self.asking
            or self.paths
            or self.arguments
            or self.answers
        )

    def with_paths(self, paths: tuple[Key, ...]) -> Declared:
        """The same and these paths."""
        return replace(self, paths=(*self.paths, *paths))

    def joined(self, other: Declared) -> Declared:
        """What both declare."""
        if not other:
            return self
        if not self:
            return other
        return Declared(
            _joined(self.variables, other.variables, frozenset.union),
            self.steps | other.steps,
            self.asking or other.asking,
            tuple(dict.fromkeys((*self.paths, *other.paths))),
            _joined(self.arguments, other.arguments, _both),
            _joined(self.answers, other.answers, _both),
            _joined(self.harmless, other.harmless, _both),
            {**self.parts, **other.parts},
        )


def _both(one: tuple[Spot, ...], other: tuple[Spot, ...]) -> tuple[Spot, ...]:
    return tuple(dict.fromkeys((*one, *other)))


def _joined(
    one: Mapping[str, T], other: Mapping[str, T], both: Callable[[T, T], T]
) -> dict[str, T]:
    shared = {name: both(one[name], other[name]) for name in one if name in other}
    return {**one, **other, **shared}


NOTHING = Declared()
