"""What a stage written in Python sees: the state as attributes that note what is done with them.

Reading gives values, or cheap views of objects and lists (`nested.py`), never copies. A read is
noted as exactly as the stage looked; a write stages one operation on its path. A view is good for
its stage only.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, Final, NoReturn, TypeVar, cast

import msgspec

from saywhy.chart.nested import DictView, ListView, plain
from saywhy.chart.outcome import Need
from saywhy.chart.scope import Scope, Suspend
from saywhy.errors import CallerError, ChartError, RunError, did_you_mean
from saywhy.values import UNDEFINED, FrozenDict, FrozenList, Key, freeze, seal

T = TypeVar("T")
Emit = Callable[[str, Any], None]

RESERVED: Final = frozenset(
    {"args", "attempt", "copy", "emit", "env", "get", "keys", "once", "stop"}
)
"""What a stage reaches through its view besides variables, which cannot have these names."""


SCALARS: Final = frozenset({int, str, bool})
"""Of these a view writes no value that is there already."""


class Over:
    """Stands in for the scope of a stage that is over: whoever uses it is told so."""

    __slots__ = ("stage",)

    def __init__(self, stage: str) -> None:
        self.stage = stage

    def __getattr__(self, name: str) -> NoReturn:
        raise CallerError(
            f"a view of the state was used after its stage {self.stage} was over",
            hint="read it again from `s`; `plain(view)` gives a copy to keep",
        )


class Sight(msgspec.Struct, eq=False, gc=False):
    """What a view needs to know; apart from it, so that no variable can have its names."""

    scope: Scope
    owner: str
    """The scope id that names stand in."""
    env: Env
    emit: Emit | None = None
    allowed: frozenset[str] | None = None
    """The only names that may be written; None for any."""
    awaits: bool = False
    """The stage is an async function."""
    answers: list[Any] = []
    """Of the questions that the stage has asked so far, in order."""
    asked: int = 0
    once: dict[str, Any] | None = None
    stop: tuple[str, bool] | None = None
    args: str = ""
    """The scope id of the chart's arguments; "" for the frame's."""


class View(msgspec.Struct, eq=False, gc=False):
    """The state of one stage: `s.name` and `s["name"]` read, assignment and `del` write.

    A Struct for the same reason as `Scope`.
    """

    _sight: Sight

    # `__getattr__` would be simpler, but Python makes and drops an AttributeError before it asks
    # there: three quarters of the cost of a read.
    def __getattribute__(self, name: str) -> Any:
        if name in RESERVED or name[:1] == "_":
            return object.__getattribute__(self, name)
        sight = sight_of(self)
        scope = sight.scope
        state = scope.state
        if not scope.staged and not state.bases:  # the common case, without a further call
            value = state.scopes[sight.owner].get(name, UNDEFINED)
            if type(value) in SCALARS:
                scope.reads.append((sight.owner, name))
                return value
        value = _look(sight, name)
        if value is UNDEFINED and not scope.has(sight.owner, name):
            raise AttributeError(_missing(sight, name))
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        if name in RESERVED or name[:1] == "_":
            raise ChartError(f'"{name}" is reserved and cannot be a variable')
        _write(sight_of(self), name, value)

    def __delattr__(self, name: str) -> None:
        sight = sight_of(self)
        if not sight.scope.has(sight.owner, name):
            raise AttributeError(_missing(sight, name))
        sight.scope.delete((sight.owner, name))

    def __getitem__(self, name: str) -> Any:
        sight = sight_of(self)
        value = _look(sight, name)
        if value is UNDEFINED and not sight.scope.has(sight.owner, name):
            raise KeyError(name)
        return value

    def __setitem__(self, name: str, value: Any) -> None:
        _write(sight_of(self), name, value)

    def __delitem__(self, name: str) -> None:
        if name not in self:
            raise KeyError(name)
        sight = sight_of(self)
        sight.scope.delete((sight.owner, name))

    def __contains__(self, name: object) -> bool:
        sight = sight_of(self)
        sight.scope.touch((sight.owner, str(name)))
        return sight.scope.has(sight.owner, str(name))

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __repr__(self) -> str:
        sight = sight_of(self)
        if isinstance(sight.scope, Over):
            return "<state of a stage that is over>"
        return f"<state: {', '.join(sight.scope.names(sight.owner))}>"

    def get(self, name: str, default: Any = None) -> Any:
        """The variable, or `default` where there is none."""
        try:
            return self[name]
        except KeyError:
            return default

    def keys(self) -> list[str]:
        """Names of the variables. Asking which there are reads none of them."""
        sight = sight_of(self)
        return sight.scope.names(sight.owner)

    def copy(self) -> dict[str, Any]:
        """A plain copy of all variables, each noted as read."""
        return {name: plain(self[name]) for name in self.keys()}

    # ------------------------------------------------------------ around the state

    @property
    def args(self) -> Args:
        """What the chart was run or mounted with. Not to be written."""
        return Args(sight_of(self))

    @property
    def env(self) -> Env:
        """Live objects of the host: neither noted nor kept."""
        return sight_of(self).env

    @property
    def attempt(self) -> int:
        """How often this stage was tried before, from 0."""
        return int(memo_of(sight_of(self).scope).get("attempt", 0))

    def emit(self, kind: str, data: Any = None) -> None:
        """Show something on the screen: a token, progress. Signals are not kept."""
        sight = sight_of(self)
        if sight.emit is not None:
            sight.emit(kind, data)

    def once(self, key: str, function: Callable[[], T]) -> T:
        """What `function` gives, computed once however often the stage is run again.

        In an async stage the result is to be awaited; `function` may be async there.
        """
        sight = sight_of(self)
        if sight.awaits:
            return cast("T", _once_later(sight, key, function))
        known = _known(sight)
        if key not in known:
            known[key] = freeze(function(), ("once", key))
        return cast("T", seal(known[key]))

    def stop(self, reason: str = "", *, everything: bool = False) -> None:
        """End this chart after the stage; with `everything` the charts around it as well.

        In a branch that runs beside others, the others go on.
        """
        sight_of(self).stop = (reason, everything)


sight_of: Callable[[View], Sight] = View._sight.__get__  # type: ignore  # pyright: ignore
"""What is behind a view, for what the engine does on a stage's behalf.

The descriptor itself and no function around it: a round of an agent asks some fifty times.
"""


def _look(sight: Sight, name: str) -> Any:
    """A variable, noted as read, or the view of one."""
    key = (sight.owner, name)
    value = sight.scope.peek(key)
    kind = type(value)
    if kind is FrozenDict:
        return DictView(sight, key)
    if kind is FrozenList:
        return ListView(sight, key)
    sight.scope.touch(key)
    return value


def _write(sight: Sight, name: str, value: Any) -> None:
    key = (sight.owner, name)
    if sight.allowed is not None and name not in sight.allowed:
        hint = did_you_mean(name, sorted(sight.allowed))
        raise ChartError(f'the state of this chart has no "{name}"', hint=hint)
    scope = sight.scope
    kind = type(value)
    if kind in SCALARS:
        if key not in scope.staged:
            before = scope.state.get(sight.owner, name)
            if type(before) is kind and before == value:
                return  # nothing new: no write
    elif (kind is ListView or kind is DictView) and value.is_at(sight, key):
        return  # `s.items += [x]` has changed it in place already
    scope.set(key, value)


def key_of(sight: Sight, path: str) -> Key:
    """The key of a dotted path: `user.name`, `items.0.price`, `args.text`."""
    name, *rest = path.split(".")
    key: Key = (sight.owner, name)
    if name == "args" and rest:
        key = (args_of(sight), rest.pop(0))
    for part in rest:
        inside = part.isdecimal() and isinstance(sight.scope.peek(key), FrozenList)
        key = (*key, int(part) if inside else part)
    return key


def args_of(sight: Sight) -> str:
    """Id of the scope that holds the arguments a view shows."""
    return sight.args or args_scope(sight.scope)


def args_scope(scope: Scope) -> str:
    """Id of the scope that holds what the frame's chart was run or mounted with."""
    return str(scope.frame.data.get("args", "args"))


async def _once_later(sight: Sight, key: str, function: Callable[[], Any]) -> Any:
    known = _known(sight)
    if key not in known:
        result = function()
        if isinstance(result, Awaitable):
            result = await result
        known[key] = freeze(result, ("once", key))
    return seal(known[key])


def _known(sight: Sight) -> dict[str, Any]:
    if sight.once is None:
        sight.once = dict(memo_of(sight.scope).get("once", {}))
    return sight.once


def _missing(sight: Sight, name: str) -> str:
    hint = did_you_mean(name, sight.scope.names(sight.owner))
    text = f'the state has no "{name}" at stage {sight.scope.node.id}'
    return f"{text}; {hint}" if hint else text


def memo_of(scope: Scope) -> dict[str, Any]:
    """What a stage keeps while it is run again: attempts, answers, results computed once."""
    return scope.kept("stage") or {}


def interrupt(s: View, question: Any = None, *, kind: str = "user", name: str = "") -> Any:
    """Ask something in the middle of a stage; gives the answer's value.

    The stage stops here: nothing it wrote counts. Once answered it is run again from its top, on
    the state as it was, and this call gives the answer. Raises `RunError` for an error as answer.
    """
    sight = sight_of(s)
    number, sight.asked = sight.asked, sight.asked + 1
    if number >= len(sight.answers):
        at = sight.scope.node.id
        raise Suspend(Need(kind, name or at, freeze(question, (at,))))
    answer: Mapping[str, Any] = sight.answers[number]
    if answer.get("error") is not None:
        raise RunError(str(answer["error"]))
    return seal(answer.get("value"))


class Args:
    """What a chart was run with, by attribute or item; each look is noted as a read.

    An argument comes before a method of its name: who calls the chart chose the names.
    """

    __slots__ = ("_sight",)

    def __init__(self, sight: Sight) -> None:
        self._sight = sight

    def __getattribute__(self, name: str) -> Any:
        if name[:1] == "_":
            return object.__getattribute__(self, name)
        if name in self:
            return self[name]
        try:
            return object.__getattribute__(self, name)
        except AttributeError:
            raise AttributeError(f'the chart was not given "{name}"') from None

    def __getitem__(self, name: str) -> Any:
        sight = self._sight
        value = sight.scope.read((args_of(sight), name))
        if value is UNDEFINED and name not in self:
            raise KeyError(name)
        return value

    def __contains__(self, name: object) -> bool:
        return self._sight.scope.has(args_of(self._sight), str(name))

    def __iter__(self) -> Iterator[str]:
        return iter(self._sight.scope.names(args_of(self._sight)))

    def __len__(self) -> int:
        return len(self._sight.scope.names(args_of(self._sight)))

    def get(self, name: str, default: Any = None) -> Any:
        """The argument, or `default` where it was not given."""
        return self[name] if name in self else default  # noqa: SIM401 - this is what `get` does

    def keys(self) -> list[str]:
        """Names of what was given."""
        return list(self)

    def copy(self) -> dict[str, Any]:
        """A plain copy of all arguments."""
        return {name: plain(self[name]) for name in self}


class Env(Mapping[str, Any]):
    """The host's live objects, by item or attribute."""

    __slots__ = ("_objects",)

    def __init__(self, objects: Mapping[str, Any]) -> None:
        self._objects = objects

    def __getitem__(self, name: str) -> Any:
        return self._objects[name]

    def __getattr__(self, name: str) -> Any:
        try:
            return self._objects[name]
        except KeyError:
            raise AttributeError(
                f'the host put no "{name}" into env', name=name, obj=self
            ) from None

    def get(self, name: str, default: Any = None) -> Any:
        """The object, or `default`; without an exception on the way, as `Mapping` has it."""
        return self._objects.get(name, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._objects)

    def __len__(self) -> int:
        return len(self._objects)
