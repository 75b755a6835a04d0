"""Who listens to the turns of an engine: recorders, and what sends spans on.

Listeners hear each step as it is kept, masked. What they raise is logged and reaches no turn.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from saywhy.runtime.remembered import remember
from saywhy.trace.masking.redact import Policy
from saywhy.trace.record import Recorder

if TYPE_CHECKING:
    from saywhy.agent.recorders.watching import Listener, Watching
    from saywhy.runtime.session import Session


class Watchers:
    """The listeners of one engine."""

    def __init__(self) -> None:
        self._watching: list[Watching] = []

    def add(self, recorder: Any) -> None:
        """Have `recorder` told of every turn from now on. Raises `CallerError` for what is none."""
        from saywhy.agent.recorders.watching import Watching

        self._watching.append(Watching(recorder))

    def recording(self, policy: Policy, session: Session) -> Recording:
        """The record of one turn, which is over in the end."""
        listeners = list(self._listeners(session.session_id)) if self._watching else ()
        recorder = Recorder(
            policy, secrets=session.secrets, sensitive=session.sensitive, listeners=listeners
        )
        remember(recorder.redactor, session)
        return Recording(recorder, listeners)

    def _listeners(self, conversation_id: str) -> Iterator[Listener]:
        for watching in self._watching:
            try:
                yield watching.watch_run(conversation_id)
            except Exception:
                name = type(watching.recorder).__name__
                _LOG.exception("%s raised at the beginning of a turn; the turn goes on", name)


class Recording:
    """A record while it is made; with its end, its listeners are told that the run is over."""

    __slots__ = ("_listeners", "_recorder")

    def __init__(self, recorder: Recorder, listeners: Sequence[Listener]) -> None:
        self._recorder = recorder
        self._listeners = listeners

    def __enter__(self) -> Recorder:
        return self._recorder

    def __exit__(self, *ignored: object) -> None:
        for listener in self._listeners:
            close(listener)


def close(listener: Any) -> None:
    """Tell a listener that the run is over, if it wants to know."""
    end = getattr(listener, "close", None)
    if end is None:
        return
    try:
        end()
    except Exception:
        _LOG.exception("a listener raised at the end of a run")


_LOG: Final = logging.getLogger("saywhy")
