"""What an expression is given, and how its evaluation can end."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal, Protocol, TypeAlias

import msgspec

from saywhy.expr.chains import Path
from saywhy.expr.changes import Change
from saywhy.values import UNDEFINED, Value, get_path


class Names(Protocol):
    """The variables and functions an expression may use."""

    @property
    def functions(self) -> Collection[str]:
        """Names of approved functions. They win over variables of the same name."""
        ...

    def has(self, name: str) -> bool:
        """Whether `name` is a variable, even one that is undefined."""
        ...

    def get(self, path: Path) -> Value:
        """The frozen value at `path`, `UNDEFINED` where nothing is."""
        ...


class Given:
    """Names that stand for given values, and no functions."""

    __slots__ = ("_values",)

    functions: Collection[str] = ()

    def __init__(self, values: Mapping[str, Value]) -> None:
        self._values = values

    def has(self, name: str) -> bool:
        """Whether there is such a value."""
        return name in self._values

    def get(self, path: Path) -> Value:
        """The value there."""
        return get_path(self._values.get(str(path[0]), UNDEFINED), path[1:])


class FunctionAnswer(msgspec.Struct, frozen=True):
    """What an approved function gave back, or how it failed."""

    name: str
    args: list[Any]
    value: Value = UNDEFINED
    error: str | None = None
    args_after: list[Any] | None = None
    """The arguments after the call, where the function changed one of them."""
    error_name: str = "Error"
    """What the error is called: one of JavaScript's own makes an error of that kind."""


class Evaluated(msgspec.Struct, frozen=True):
    """The expression has a value."""

    value: Value
    reads: tuple[Path, ...] = ()
    exact: bool = True
    changes: tuple[Change, ...] = ()
    calls: tuple[FunctionAnswer, ...] = ()
    foreign: str = ""
    """Kind of the first thing in `value` that a conversation cannot hold, such as `function`."""


class Raised(msgspec.Struct, frozen=True):
    """The expression threw an error, or is none.

    `kind` is the name of the JavaScript constructor, or `TimeLimit` or `MemoryLimit`.
    """

    kind: str
    message: str
    reads: tuple[Path, ...] = ()
    calls: tuple[FunctionAnswer, ...] = ()
    phase: Literal["parse", "run"] = "run"
    span: tuple[int, int] | None = None
    hint: str = ""


class Suspended(msgspec.Struct, frozen=True):
    """The expression called an approved function that has not been run yet."""

    name: str
    args: list[Any]
    index: int
    """How many calls were answered before."""
    seconds: float = 0.0
    """Processor time of this round, after the first: the caller bounds the sum."""


Outcome: TypeAlias = Evaluated | Raised | Suspended


class Direct(Protocol):
    """An expression that needs no engine."""

    def evaluated(self, names: Names, as_text: bool) -> Evaluated | None:
        """Its value, or its text; None where the engine has to be asked after all.

        Raises `Refused` of `handed`.
        """
        ...
