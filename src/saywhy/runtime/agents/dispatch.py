"""Tells an agent's recorders what happens, while it happens, and keeps what they do apart from it.

A recorder that raises is logged and told the next thing all the same: no run fails for it and no
other recorder notices. What an `async def` hook does goes on beside the run, one hook of a recorder
after the other; `settled` waits for it.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import traceback
from collections import deque
from collections.abc import Awaitable, Iterable
from inspect import isawaitable
from typing import Any

from saywhy.agent.hooks import HookEvent
from saywhy.agent.recorders.retold import Retelling
from saywhy.agent.recorders.watching import Listener
from saywhy.chart.commit import Commit
from saywhy.errors import CallerError


class Dispatch:
    """The recorders of one agent, for all its conversations."""

    def __init__(self, recorders: Iterable[Any] = ()) -> None:
        if not isinstance(recorders, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance] - callers
            kind = type(recorders).__name__
            raise CallerError(f"recorders are a list, not {kind}", hint="recorders=[…]")
        self._backlogs = [Backlog(recorder) for recorder in recorders]

    @property
    def recorders(self) -> tuple[Any, ...]:
        """Who is told."""
        return tuple(backlog.recorder for backlog in self._backlogs)

    def listeners(self, conversation_id: str, before: Iterable[Commit]) -> list[Listener]:
        """Those who want to hear the steps of a run themselves. `before` are those it has done."""
        found: list[Listener] = []
        for recorder in self.recorders:
            try:
                watch = getattr(recorder, "watch_run", None)
                if watch is not None:
                    found.append(watch(conversation_id, before))
            except Exception:
                name = type(recorder).__name__
                _LOG.exception("recorder %s raised in watch_run; the run goes on", name)
        return found

    def tell(self, hook: str, event: HookEvent) -> None:
        """Call the hook of every recorder that has it."""
        for backlog in self._backlogs:
            backlog.tell(hook, event)

    async def settled(self) -> None:
        """Come back once every `async def` hook that was called is done."""
        for backlog in self._backlogs:
            await backlog.settled()


class Retold:
    """Tells recorders what the record of a run holds, where something in it may be sensitive.

    It is told a step at a time, when that is on record, and so without what is masked there.
    """

    def __init__(self, dispatch: Dispatch, conversation_id: str, before: Iterable[Commit]) -> None:
        self._dispatch = dispatch
        self._conversation_id = conversation_id
        self._retelling = Retelling()
        for commit in before:
            self._retelling.take(commit)

    def __call__(self, commit: Commit) -> None:
        """The next step, masked."""
        for name, event in self._retelling.take(commit, self._conversation_id):
            self._dispatch.tell(name, event)


class Backlog:
    """One recorder and what its async hooks have still to do, in order.

    With `live` it is shown what is said as it is said, sensitive or not: of what it raises only the
    kind and the place are logged.
    """

    def __init__(self, recorder: Any, *, live: bool = False) -> None:
        self.recorder = recorder
        self._live = live
        self._waiting: deque[tuple[str, Awaitable[Any]]] = deque()
        self._task: asyncio.Task[None] | None = None

    def tell(self, hook: str, event: Any) -> None:
        """Call the hook, if the recorder has it."""
        try:
            call = getattr(self.recorder, hook, None)
            given = call(event) if call is not None else None
        except Exception:
            self._complain(hook)
            return
        if isawaitable(given):
            self._waiting.append((hook, given))
            if self._task is None or self._task.done():
                self._task = asyncio.ensure_future(self._work())

    async def settled(self) -> None:
        """Come back once nothing waits any more."""
        if self._task is not None and not self._task.done():
            # Shielded: whoever gives up waiting must not stop what the recorder does.
            await asyncio.shield(self._task)

    async def _work(self) -> None:
        try:
            while self._waiting:
                hook, work = self._waiting.popleft()
                try:
                    await work
                except Exception:
                    self._complain(hook)
        finally:
            self._drop()

    def _drop(self) -> None:
        """Let go of what will not be done any more: the loop is being shut down."""
        for _, work in self._waiting:
            close = getattr(work, "close", None)
            if close is not None:
                close()
        self._waiting.clear()

    def _complain(self, hook: str) -> None:
        name = type(self.recorder).__name__
        if not self._live:
            _LOG.exception("recorder %s raised in %s; the run goes on", name, hook)
            return
        what, where = _raised()  # its text may quote what it was shown
        _LOG.error("the listener for events raised %s, at %s; the run goes on", what, where)


def _raised() -> tuple[str, str]:
    """The kind of the error that is being handled, and the line where it was raised."""
    kind, _, trace = sys.exc_info()
    last = traceback.extract_tb(trace)[-1:]
    where = f"{last[0].filename}:{last[0].lineno}" if last else "an unknown place"
    return kind.__name__ if kind is not None else "something", where


_LOG = logging.getLogger("saywhy")
