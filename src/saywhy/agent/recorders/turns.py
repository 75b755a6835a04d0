"""The turns of conversations: what was said, what was answered, and which failed."""

from __future__ import annotations

from collections import deque
from typing import ClassVar, Final, Literal

import msgspec

from saywhy.agent.hooks import RunFailed, TurnCompleted, TurnStarted
from saywhy.agent.recorders.figures import Figures
from saywhy.agent.recorders.recorder import MOST, AgentRecorder

TURN_RECORDER: Final = "turn-recorder"


class TurnEntry(msgspec.Struct, omit_defaults=True):
    """One turn. It stays `started` while a person is asked something."""

    turn_number: int
    message: str
    status: Literal["started", "completed", "error"] = "started"
    content: str | None = None
    message_count: int | None = None
    total_loop_iterations: int | None = None
    stop_reason: str | None = None
    phase: str | None = None
    """What a failed one was about to do."""
    error: str | None = None
    run_id: str = ""


class TurnSummary(Figures, frozen=True, kw_only=True):
    """How many turns there were."""

    started: int
    completed: int
    failed: int
    entries: tuple[TurnEntry, ...] = ()
    """The newest of them."""


class TurnRecorder(AgentRecorder):
    """Keeps an entry for each turn, the newest `most` of them."""

    NAME: ClassVar[str] = "Turns"

    def __init__(self, id: str = TURN_RECORDER, *, most: int = MOST) -> None:
        super().__init__(id)
        self._entries: deque[TurnEntry] = deque(maxlen=most)
        self.clear()

    def on_turn_start(self, event: TurnStarted) -> None:
        """A turn began."""
        self._started += 1
        self._begin(event.turn_number, event.message, event.run_id)

    def on_turn_complete(self, event: TurnCompleted) -> None:
        """A turn came to its answer."""
        self._completed += 1
        entry = self._open(event.turn_number, event.run_id)
        entry.status = "completed"
        entry.content = event.content
        entry.message_count = event.message_count
        entry.total_loop_iterations = event.total_loop_iterations
        entry.stop_reason = event.stop_reason

    def on_error(self, event: RunFailed) -> None:
        """A turn failed, or was cancelled."""
        self._failed += 1
        entry = self._open(event.turn_number, event.run_id)
        entry.status, entry.phase, entry.error = "error", event.phase, str(event.error)

    def get_entries(self) -> list[TurnEntry]:
        """The turns that are kept, oldest first, as they are now."""
        return [msgspec.structs.replace(entry) for entry in self._entries]

    def get_completed_count(self) -> int:
        """How many came to an answer."""
        return self._completed

    def get_error_count(self) -> int:
        """How many failed or were cancelled."""
        return self._failed

    def get_summary(self) -> TurnSummary:
        """All of it."""
        return TurnSummary(
            started=self._started,
            completed=self._completed,
            failed=self._failed,
            entries=tuple(self.get_entries()),
        )

    def clear(self) -> None:
        """Forget everything."""
        self._entries.clear()
        self._started = self._completed = self._failed = 0

    def _begin(self, turn: int, message: str, run_id: str) -> TurnEntry:
        entry = TurnEntry(turn, message, run_id=run_id)
        self._entries.append(entry)
        return entry

    def _open(self, turn: int, run_id: str) -> TurnEntry:
        """The newest entry of the run; a new one where its beginning was not told, or is gone."""
        for entry in reversed(self._entries):
            if (entry.run_id, entry.turn_number) == (run_id, turn) and entry.status == "started":
                return entry
        return self._begin(turn, "", run_id)
