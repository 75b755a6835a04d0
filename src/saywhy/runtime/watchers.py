"""Who listens to the turns of an engine: recorders, and what sends spans on.

Listeners hear each step as it is kept, masked, on a thread of their own: none of them can delay a
turn, and what they raise reaches none. `delivery` says what happens when one is too slow.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextvars import Context, Token, copy_context
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from saywhy.chart.commit import Commit
from saywhy.runtime.delivery import Delivery
from saywhy.runtime.remembered import remember
from saywhy.trace.masking.current import CURRENT
from saywhy.trace.masking.redact import Policy, Redactor
from saywhy.trace.record import Recorder

if TYPE_CHECKING:
    from saywhy.agent.recorders.watching import Listener, Watching
    from saywhy.runtime.session import Session


class Watchers:
    """The listeners of one engine."""

    def __init__(self) -> None:
        self._watching: list[tuple[Watching, Delivery]] = []

    def add(self, recorder: Any) -> None:
        """Have `recorder` told of every turn from now on. Raises `CallerError` for what is none."""
        from saywhy.agent.recorders.watching import Watching

        self._watching.append((Watching(recorder), Delivery(type(recorder).__name__)))

    def recording(self, policy: Policy, session: Session) -> Recording:
        """The record of one turn, which is over in the end."""
        listeners = self._listeners(session.session_id) if self._watching else ()
        recorder = Recorder(
            policy, secrets=session.secrets, sensitive=session.sensitive, listeners=listeners
        )
        remember(recorder.redactor, session)
        return Recording(recorder, listeners)

    def _listeners(self, conversation_id: str) -> list[Heard]:
        # What is going on around the turn, such as a span of the host's, is part of what is told.
        context = copy_context()
        return [
            Heard(watching, delivery, conversation_id, context.copy())
            for watching, delivery in self._watching
        ]

    @property
    def untold(self) -> int:
        """How many steps were never told, because a listener was too slow."""
        return sum(delivery.dropped for _, delivery in self._watching)

    async def told(self, timeout_seconds: float) -> bool:
        """Wait until all listeners heard of everything so far; False when the time is over."""
        waits = (
            asyncio.to_thread(delivery.wait, timeout_seconds) for _, delivery in self._watching
        )
        return all(await asyncio.gather(*waits))


class Heard:
    """One turn as one listener hears it, later and elsewhere."""

    __slots__ = ("_begin", "_broken", "_context", "_delivery", "_listener")

    def __init__(
        self, watching: Watching, delivery: Delivery, conversation_id: str, context: Context
    ) -> None:
        self._begin = partial(watching.watch_run, conversation_id)
        self._delivery = delivery
        self._context = context
        self._listener: Listener | None = None
        self._broken = False
        delivery.hand(partial(self._hear, None))

    def __call__(self, commit: Commit) -> None:
        self._delivery.hand(partial(self._hear, commit))

    def close(self) -> None:
        """The turn is over."""
        self._delivery.hand(self._end, last=True)

    def _hear(self, commit: Commit | None) -> None:
        if self._broken:
            return
        self._broken = True  # should it raise, it hears no more of this turn
        if self._listener is None:
            self._listener = self._context.run(self._begin)
        if commit is not None:
            self._context.run(self._listener, commit)
        self._broken = False

    def _end(self) -> None:
        end = getattr(self._listener, "close", None)
        if end is not None:
            self._context.run(end)


class Recording:
    """A record while it is made; with its end, its listeners are told that the run is over."""

    __slots__ = ("_before", "_listeners", "_recorder")

    def __init__(self, recorder: Recorder, listeners: Sequence[Heard]) -> None:
        self._recorder = recorder
        self._listeners = listeners
        self._before: Token[Redactor | None] | None = None

    def __enter__(self) -> Recorder:
        if self._recorder.redactor.taint is not None:
            self._before = CURRENT.set(self._recorder.redactor)
        return self._recorder

    def __exit__(self, *ignored: object) -> None:
        if self._before is not None:
            CURRENT.reset(self._before)
        for listener in self._listeners:
            listener.close()


def close(listener: Any) -> None:
    """Tell a listener of an agent that runs alone that the run is over, if it wants to know."""
    end = getattr(listener, "close", None)
    if end is None:
        return
    try:
        end()
    except Exception:
        _LOG.exception("a listener raised at the end of a run")


_LOG: Final = logging.getLogger("saywhy")
