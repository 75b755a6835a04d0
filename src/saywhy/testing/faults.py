"""Planned faults: what a network, a full disk or a power cut does, at a place chosen beforehand.

A `Fault` says what goes wrong, where, and which time. `Faults` counts the places as they are passed
and lets each fault happen when its time has come: around any store (`store`), around a function
that is a tool (`tool`), and in a list of messages (`deliveries`).
"""

from __future__ import annotations

import asyncio
import inspect
import os
import signal
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import wraps
from types import TracebackType
from typing import Any, Final, Literal, NoReturn, Self, TypeAlias, TypeVar, cast

import msgspec

from saywhy.errors import CallerError, OutsideError, did_you_mean
from saywhy.stores.store import Store

T = TypeVar("T")

Action: TypeAlias = Literal["kill", "fail", "drop", "time_out", "duplicate", "reorder"]
Side: TypeAlias = Literal["before", "after"]

BOUNDARIES: Final = (
    *("accept", "claim", "accept_and_claim", "intent", "result", "finish", "fail", "save"),
)
"""The methods of a store that commit what a turn is made of."""

CALL: Final = "call"
"""The place of a tool's call, unless the tool was given a place of its own."""

MESSAGE: Final = "message"
"""The place of a message on its way in."""

_AT_A_STORE: Final = ("kill", "fail", "drop", "time_out")
_AT_A_MESSAGE: Final = ("drop", "duplicate", "reorder")
_AT_A_CALL: Final = ("kill", "fail", "drop", "time_out", "duplicate")


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """What goes wrong when a place is passed for the `number`th time.

    `kill` ends this very process (SIGKILL) on one `side` of the place; the side matters to nothing
    else. `fail`: it is not done, and raises. `drop`: it is done, and its answer is lost; a message
    is lost itself. `time_out`: it is done only after `seconds`. `duplicate`: it is done twice.
    `reorder`: a message comes after the one that follows it.
    """

    action: Action
    at: str
    side: Side = "before"
    number: int = 1
    seconds: float = 60.0
    """How long an answer that is late or lost keeps a call waiting, if its time limit allows."""

    def __str__(self) -> str:
        side = f"{self.side} " if self.action == "kill" else "at "
        return f"{self.action} {side}{self.at} {self.number}"


def kill_this_process() -> NoReturn:
    """End as in a power cut: nothing is closed, told or written any more."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("no process outlives SIGKILL")


class Faults:
    """A plan of faults, and what was passed so far. `CallerError` for what makes no sense.

    `kill` is how a process is killed: this one, unless said otherwise.
    """

    def __init__(
        self, plan: Iterable[Fault] = (), *, kill: Callable[[], object] = kill_this_process
    ) -> None:
        self.plan = tuple(plan)
        self.kill = kill
        for fault in self.plan:
            _check(fault)
        self.passed: list[str] = []
        """The places in the order they were passed: where a fault could have been planned."""
        self._counts: Counter[str] = Counter()

    def store(self, store: Store) -> Store:
        """The store, with the faults planned at its methods (see `BOUNDARIES`)."""
        return cast(Store, FaultyStore(store, self))

    def tool(self, function: Callable[..., Any], at: str = CALL) -> Callable[..., Any]:
        """A tool's function, with the faults planned at `at`.

        What is late or lost keeps the call waiting: the tool's own time limit ends that.
        """
        if not inspect.iscoroutinefunction(function):

            @wraps(function)
            def call(*args: Any, **named: Any) -> Any:
                fault = self.reach(at)
                time.sleep(_begin(fault))
                given = [function(*args, **named) for _ in range(_times(fault))]
                time.sleep(self.end(fault))
                return given[-1]

            return call

        @wraps(function)
        async def call_later(*args: Any, **named: Any) -> Any:
            fault = self.reach(at)
            await asyncio.sleep(_begin(fault))
            given = [await function(*args, **named) for _ in range(_times(fault))]
            await asyncio.sleep(self.end(fault))
            return given[-1]

        return call_later

    def deliveries(self, messages: Sequence[T]) -> list[T]:
        """The messages as they arrive: some twice, some late, some never."""
        arriving: list[T] = []
        late: list[T] = []
        for message in messages:
            fault = self.reach(MESSAGE)
            action = fault.action if fault else ""
            if action == "reorder":
                late.append(message)
            elif action != "drop":
                arriving += [message] * _times(fault) + late
                late = []
        return arriving + late

    def reach(self, at: str) -> Fault | None:
        """Count a place, and give the fault planned there; one that kills before it has killed."""
        self.passed.append(at)
        self._counts[at] += 1
        for fault in self.plan:
            if fault.at == at and fault.number == self._counts[at]:
                if fault.action == "kill" and fault.side == "before":
                    self.kill()
                return fault
        return None

    def end(self, fault: Fault | None) -> float:
        """How long to wait when a place was passed; one that kills after it kills."""
        if fault is not None and fault.action == "kill" and fault.side == "after":
            self.kill()
        return fault.seconds if fault is not None and fault.action == "drop" else 0


class FaultyStore:
    """A store with planned faults in front of it; `Faults.store` makes one."""

    def __init__(self, store: Store, faults: Faults) -> None:
        self._store = store
        self._faults = faults

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        return self._guarded(name, found) if name in BOUNDARIES else found

    async def __aenter__(self) -> Self:
        await self._store.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._store.close()

    def _guarded(
        self, name: str, method: Callable[..., Awaitable[Any]]
    ) -> Callable[..., Awaitable[Any]]:
        @wraps(method)
        async def guarded(*args: Any, **named: Any) -> Any:
            fault = self._faults.reach(name)
            if fault is not None and fault.action == "fail":
                raise OutsideError(f"the store failed before {name}, as planned", hint=_AGAIN)
            if fault is not None and fault.action == "time_out":
                await asyncio.sleep(fault.seconds)
            given = await method(*args, **named)
            if fault is not None and fault.action == "drop":
                raise OutsideError(f"the answer to {name} was lost, as planned", hint=_AGAIN)
            self._faults.end(fault)
            return given

        return guarded


_AGAIN: Final = "look what the store has, then do it again"


def _begin(fault: Fault | None) -> float:
    """How long to wait before a call; one that fails is not made."""
    if fault is None:
        return 0
    if fault.action == "fail":
        raise ConnectionError(f"network error before the call, as planned ({fault})")
    return fault.seconds if fault.action == "time_out" else 0


def _times(fault: Fault | None) -> int:
    return 2 if fault is not None and fault.action == "duplicate" else 1


def _check(fault: Fault) -> None:
    if fault.at == MESSAGE:
        possible = _AT_A_MESSAGE
    elif fault.at in BOUNDARIES:
        possible = _AT_A_STORE
    else:
        possible = _AT_A_CALL
    if fault.action not in possible:
        raise CallerError(
            f"{fault.at} cannot {fault.action}",
            hint=did_you_mean(fault.action, possible)
            or f"what can be planned: {', '.join(possible)}",
        )
    if fault.number < 1:
        raise CallerError(f"the number of a fault begins at 1, not {fault.number}")


__all__ = ["BOUNDARIES", "CALL", "MESSAGE", "Fault", "Faults", "FaultyStore", "kill_this_process"]
