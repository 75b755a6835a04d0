"""Recorders as listeners for commits, where nobody calls their hooks: the agents of an engine.

An object with `watch_run(conversation_id, before)` gives its own listener, as `OpenTelemetry` does;
any other with hooks is told what the commits tell.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any, Final

from saywhy.agent.hooks import HOOKS
from saywhy.agent.recorders.retold import Retelling, tell
from saywhy.chart.commit import Commit
from saywhy.errors import CallerError

Listener = Callable[[Commit], object]

MOST_CONVERSATIONS: Final = 10_000
"""Conversations whose open loops are known from one turn to the next."""


class Watching:
    """Makes the listeners of one recorder."""

    def __init__(self, recorder: Any) -> None:
        self.recorder = recorder
        self._open: OrderedDict[str, Retelling] = OrderedDict()
        if not hasattr(recorder, "watch_run") and not any(hasattr(recorder, one) for one in HOOKS):
            raise CallerError(
                f"{type(recorder).__name__} has none of the methods that are told of runs",
                hint=f"they are {', '.join(HOOKS)} and watch_run",
            )

    def watch_run(self, conversation_id: str, before: Iterable[Commit] = ()) -> Listener:
        """What takes the commits of one turn."""
        own = getattr(self.recorder, "watch_run", None)
        if own is not None:
            listener: Listener = own(conversation_id, before)
            return listener
        told = self._open.pop(conversation_id, None) or Retelling()
        self._open[conversation_id] = told
        if len(self._open) > MOST_CONVERSATIONS:
            self._open.popitem(last=False)
        for commit in before:
            told.take(commit)

        def listen(commit: Commit) -> None:
            for name, event in told.take(commit, conversation_id):
                tell(self.recorder, name, event)

        return listen
