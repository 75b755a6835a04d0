"""Answers what a run needs, with awaitables, until only outsiders can go on.

The one place of the core that awaits: it knows nothing of charts, only a `step` that takes an
answer and gives the next need, and one async function for each kind of need. Several open needs
of a fork are answered at the same time, and their answers are handed in in the order in which they
were asked, so that a run is the same however long each took.

Waiting is all that asyncio is imported for; clocks, journals and stores are the caller's.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from typing import Any, Final, TypeVar

import msgspec

from saywhy.cancel import CancelToken
from saywhy.chart.outcome import Answer, BranchAnswer, Need

T = TypeVar("T")

MAX_PARALLEL: Final = 16
"""Needs of one run that are answered at the same time, unless the caller says otherwise."""

Path = tuple[int, ...]
"""The branches that lead to a need, outermost first; empty outside of any fork."""


class Signal(msgspec.Struct, frozen=True):
    """Something for the screen while a need is being answered. Not kept, may be lost."""

    kind: str
    """`token`, `progress`, or a stage's own word."""
    data: Any = None
    need: Need | None = None
    """What is being answered; None for a stage that runs inside the engine."""
    path: Path = ()


Emit = Callable[[str, Any], None]
Listener = Callable[[Signal], None]
Step = Callable[[Answer | BranchAnswer | None], Need | None]
Answerer = Callable[[Need, Emit], Awaitable[Answer]]
"""Is given the need and where to send signals."""
Find = Callable[[Need], Answerer | None]
Answerers = Mapping[str, Answerer] | Find


def soon(work: Callable[[], None]) -> None:
    """Do what nobody waits for as soon as the event loop has nothing else at hand."""
    asyncio.get_running_loop().call_soon(work)


async def drive(
    step: Step,
    answer: Answer | BranchAnswer | None,
    answerers: Answerers,
    *,
    listener: Listener | None = None,
    max_parallel: int = MAX_PARALLEL,
) -> Need | None:
    """Run on until the end (None), or until nobody here can answer what is needed (the Need).

    `step` is `machine.advance` on a cursor. `answerers` are by kind of need, or a function that
    finds one for a need. What an answerer raises comes out; the run then rests
    at the need, and so it does when this is cancelled: answers that have arrived by then are
    handed in first, so that nothing that was done is forgotten.
    """
    signals = Signals(listener)
    find = answerers if callable(answerers) else _by_kind(answerers)
    need = step(answer)
    while need is not None:
        if need.kind == "fork":
            need, goes_on = await _Fork(step, find, signals, max_parallel).run(need)
            if not goes_on:
                return need
            continue
        answerer = find(need)
        if answerer is None:
            return need
        need = step(await answerer(need, signals.emitter(need)))
    return None


def _by_kind(answerers: Mapping[str, Answerer]) -> Find:
    def find(need: Need) -> Answerer | None:
        return answerers.get(need.kind)

    return find


class Stopped(Exception):
    """A step takes no more answers: somebody stopped the run, and has been told."""


async def watched(work: Awaitable[T], signal: CancelToken) -> T:
    """What `work` gives. Raises `Stopped` when `signal` is cancelled first; the work is then, too.

    It comes back only once the work is over, so that nothing goes on behind the caller's back.
    """
    task = asyncio.ensure_future(work)
    watch = asyncio.ensure_future(signal.wait())
    waits: tuple[asyncio.Future[Any], ...] = (task, watch)
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        if task.done() and not (task.cancelled() and signal.cancelled):
            return task.result()
    finally:
        for one in waits:
            one.cancel()
        await asyncio.gather(*waits, return_exceptions=True)
    raise Stopped


class Signals:
    """The listener, until it raises: what is for the screen must not break the run."""

    def __init__(self, listener: Listener | None) -> None:
        self.listener = listener

    def send(self, signal: Signal) -> None:
        """Tell the listener. One that raises is logged and told nothing more."""
        if self.listener is None:
            return
        try:
            self.listener(signal)
        except Exception:
            self.listener = None
            _LOG.exception("a listener for signals raised; it is not called any more")

    def emitter(self, need: Need | None = None, path: Path = ()) -> Emit:
        """Where whoever answers `need` sends signals."""
        if self.listener is None:  # it can only fall silent, not come later
            return _unheard

        def emit(kind: str, data: Any = None) -> None:
            if self.listener is not None:
                self.send(Signal(kind, data, need, path))

        return emit


def _unheard(kind: str, data: Any = None) -> None:
    """Where signals go when nobody listens."""


class _Fork:
    """Answers the open needs of a fork side by side, from its first rest to its join."""

    def __init__(
        self,
        step: Step,
        find: Find,
        signals: Signals,
        max_parallel: int,
    ) -> None:
        self.step = step
        self.find = find
        self.signals = signals
        self.places = asyncio.Semaphore(max_parallel)
        self.tasks: dict[Branches, asyncio.Task[Answer]] = {}
        """In the order in which they were asked."""
        self.dropped: list[asyncio.Task[Answer]] = []
        """Nobody waits for their answers any more: the fork failed without them."""

    async def run(self, need: Need) -> tuple[Need | None, bool]:
        """What is needed next, and whether `drive` goes on with it."""
        try:
            while True:
                self._start(need)
                if not self.tasks:
                    return need, False
                branches, answer = await self._next()
                following = self._hand_in(branches, answer)
                if following is None or following.kind != "fork":
                    return following, True
                need = following
        except BaseException:
            await self._stop()
            self._hand_in_arrived()
            raise
        finally:
            await self._stop()

    def _start(self, need: Need) -> None:
        """Begin what is newly open and has somebody to answer it; drop what is open no more."""
        items = dict(_branches(need))
        for branches in [branches for branches in self.tasks if branches not in items]:
            task = self.tasks.pop(branches)
            task.cancel()
            self.dropped.append(task)
        for branches, item in items.items():
            answerer = None if branches in self.tasks else self.find(item)
            if answerer is not None:
                work = self._answer(answerer, item, _path(branches))
                self.tasks[branches] = asyncio.ensure_future(work)

    async def _answer(self, answerer: Answerer, need: Need, path: Path) -> Answer:
        async with self.places:
            return await answerer(need, self.signals.emitter(need, path))

    async def _next(self) -> tuple[Branches, Answer]:
        """The answer that was asked for first, when it has come."""
        branches, task = next(iter(self.tasks.items()))
        await asyncio.wait([task])
        answer = task.result()
        return branches, answer

    def _hand_in(self, branches: Branches, answer: Answer) -> Need | None:
        """Give an answer to the run. Should the run fail on it, the others are too late."""
        del self.tasks[branches]
        path = _path(branches)
        try:
            return self.step(BranchAnswer(path[0], answer, path[1:]))
        except BaseException:
            self.dropped += self.tasks.values()
            self.tasks.clear()
            raise

    def _hand_in_arrived(self) -> None:
        for branches, task in list(self.tasks.items()):
            if branches in self.tasks and not task.cancelled() and task.exception() is None:
                try:
                    self._hand_in(branches, task.result())
                except Stopped:
                    return
                except Exception:
                    _LOG.exception("the run failed on an answer that came while it was stopped")

    async def _stop(self) -> None:
        running = [*self.tasks.values(), *self.dropped]
        for task in running:
            task.cancel()
        if running:
            await asyncio.gather(*running, return_exceptions=True)


_LOG = logging.getLogger("saywhy")

Branches = tuple[tuple[int, int], ...]
"""Number and frame of each branch that leads to a need, outermost first."""


def _branches(need: Need, outer: Branches = ()) -> Iterator[tuple[Branches, Need]]:
    """The needs that can be answered one by one."""
    if need.kind != "fork":
        yield outer, need
        return
    for (number, item), frame in zip(need.items, need.args, strict=True):
        yield from _branches(item, (*outer, (number, frame)))


def _path(branches: Branches) -> Path:
    return tuple(number for number, _ in branches)


def open_needs(need: Need) -> list[tuple[Path, Need]]:
    """The needs that can be answered one by one, each with the branches that lead to it."""
    return [(_path(branches), item) for branches, item in _branches(need)]


async def stream(work: Callable[[Callable[[Any], None]], Awaitable[Any]]) -> AsyncIterator[Any]:
    """What `work` puts out while it runs, as it comes, and in the end what it gives.

    Leaving early cancels the work.
    """
    queue: asyncio.Queue[Any] = asyncio.Queue()
    task = asyncio.ensure_future(work(queue.put_nowait))
    task.add_done_callback(lambda _: queue.put_nowait(_DONE))
    try:
        while (item := await queue.get()) is not _DONE:
            yield item
        yield task.result()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


_DONE: Final = object()
