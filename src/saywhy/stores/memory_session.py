"""A conversation kept in memory: how accepting, claiming and ending turns changes it.

The rules are those of `store`; the maps of conversations, timers and the rest are in `memory`.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import cast

import msgspec

from saywhy.stores.held import HELD_UNTIL, StoredHeld
from saywhy.stores.refusals import message_taken, no_such_call, queue_full
from saywhy.stores.store import (
    MAX_EARLIER,
    Accepted,
    Blank,
    Call,
    Claim,
    JournalEntry,
    Mode,
    Prior,
    Rows,
    StepStatus,
    StoredMessage,
    StoredSession,
    StoredTurn,
    TurnStatus,
    hash_of,
    merged,
)
from saywhy.stores.waiting import StoredWaiting, Waiting


@dataclass(slots=True)
class _Attempt:
    call: Call
    args_hash: bytes
    fence: int
    status: StepStatus = "asked"
    result: bytes | None = None
    blanked: bool = False

    def entry(self, seq: int, attempt: int) -> JournalEntry:
        call = self.call
        args = None if self.blanked else call.args
        return JournalEntry(
            seq, attempt, call.kind, call.name, call.effect, call.key, self.args_hash, args,
            self.status, self.result,
        )  # fmt: skip


@dataclass(slots=True)
class MemoryTurn:
    """One turn with its journal and commits."""

    turn_no: int
    message_id: str
    input: bytes | None
    status: TurnStatus = "queued"
    salt: bytes = field(default_factory=lambda: secrets.token_bytes(16))
    reply: bytes | None = None
    error: str | None = None
    doc: bytes | None = None
    ended: float | None = None
    held_since: float | None = None
    released: str | None = None
    steps: dict[int, list[_Attempt]] = field(default_factory=dict[int, list[_Attempt]])
    commits: dict[int, bytes] = field(default_factory=dict[int, bytes])

    def stored(self) -> StoredTurn:
        return StoredTurn(
            self.turn_no, self.message_id, self.status, self.input, self.reply, self.error
        )

    def journal(self) -> tuple[JournalEntry, ...]:
        return tuple(
            attempt.entry(seq, number)
            for seq, attempts in sorted(self.steps.items())
            for number, attempt in enumerate(attempts, start=1)
        )

    def ask(self, claim: Claim, seq: int, call: Call, again: bool) -> Prior:
        args_hash = hash_of(call.args, self.salt)
        attempts = self.steps.get(seq)
        if attempts is None:
            self.steps[seq] = [_Attempt(call, args_hash, claim.fence)]
            return Prior("fresh")
        known = attempts[-1]
        if (known.call.kind, known.call.name, known.args_hash) != (call.kind, call.name, args_hash):
            return Prior("diverged")
        for attempt in reversed(attempts):
            if attempt.status == "answered":
                return Prior("answered", attempt.result)
        if again or call.effect != "once":
            attempts.append(_Attempt(known.call, args_hash, claim.fence))
        return Prior("interrupted")

    def answer(self, claim: Claim, seq: int, result: bytes) -> None:
        """The newest attempt made by this claim or before it takes the result, once."""
        self.expect(claim, seq)
        own = [attempt for attempt in self.steps[seq] if attempt.fence <= claim.fence]
        if own and own[-1].status != "answered":
            own[-1].status = "answered"
            own[-1].result = None if own[-1].blanked else result

    def expect(self, claim: Claim, seq: int) -> None:
        if seq not in self.steps:
            raise no_such_call(claim, seq)

    def prune(self) -> None:
        """Only that there was such a turn, and how it ended, is kept."""
        self.steps, self.commits, self.reply, self.input = {}, {}, None, None

    def add_commits(self, commits: Rows) -> None:
        for seq, doc in commits:
            self.commits.setdefault(seq, doc)

    def end(
        self,
        claim: Claim,
        status: TurnStatus,
        previous_result: tuple[int, bytes] | None,
        commits: Rows,
        blank: Blank,
        blank_input: bool,
    ) -> None:
        if previous_result is not None:
            self.answer(claim, *previous_result)
        self.add_commits(commits)
        self.status = status
        self.doc = None
        if blank_input:
            self.input = None
        for seq, attempts in self.steps.items():
            for attempt in attempts:
                if attempt.status == "asked":
                    attempt.status = "unknown"
                if blank == "all" or seq in blank:
                    _blank(attempt)


def _blank(attempt: _Attempt) -> None:
    attempt.blanked = True
    attempt.call = msgspec.structs.replace(attempt.call, args=b"")
    attempt.result = None


@dataclass(slots=True)
class MemorySession:
    """A conversation; `lease_until` is None when there is nothing to do."""

    session_id: str
    user_id: str
    mode: Mode = "durable"
    version: int = 0
    doc: bytes | None = None
    fence: int = 0
    done_no: int = 0
    ended_no: int = 0
    lease_until: float | None = None
    turns: dict[int, MemoryTurn] = field(default_factory=dict[int, MemoryTurn])
    by_message: dict[str, int] = field(default_factory=dict[str, int])
    messages: dict[int, StoredMessage] = field(default_factory=dict[int, StoredMessage])
    waiting: dict[str, StoredWaiting] = field(default_factory=dict[str, StoredWaiting])

    def stored(self) -> StoredSession:
        running = self.lease_until is not None
        return StoredSession(
            self.session_id, self.user_id, self.version, self.doc, running, len(self.turns),
            self.mode, self.is_held,
        )  # fmt: skip

    @property
    def is_held(self) -> bool:
        return self.lease_until == HELD_UNTIL

    def accept(self, message_id: str, input: bytes, now: float, most: int) -> Accepted:
        known = self.by_message.get(message_id)
        if known is not None:
            return self._seen(self.turns[known])
        turn_no = len(self.turns) + 1
        if turn_no - self.ended_no > most:
            raise queue_full(self.session_id, most)
        self.turns[turn_no] = MemoryTurn(turn_no, message_id, input)
        self.by_message[message_id] = turn_no
        if self.lease_until is None:
            self.lease_until = now
        return Accepted("new", turn_no, held=self.is_held)

    def _seen(self, turn: MemoryTurn) -> Accepted:
        if turn.status in ("queued", "running", "held"):
            return Accepted("running", turn.turn_no, held=self.is_held)
        if turn.status == "done" or (turn.status == "unknown" and turn.error is None):
            return Accepted("done", turn.turn_no, turn.reply)
        return Accepted("ended", turn.turn_no, error=turn.error)

    def claim(self, now: float, ttl_seconds: float) -> Claim | None:
        if self.lease_until is None or self.lease_until > now:
            return None
        self.fence += 1
        self.lease_until = now + ttl_seconds * 1000
        turn = self.turns[self.ended_no + 1]
        turn.status = "running"
        return Claim(
            self.session_id, self.user_id, turn.turn_no, turn.message_id, self.fence, self.version,
            cast(bytes, turn.input), self.doc, turn.doc, merged(turn.journal()), self._earlier(),
            turn.salt, released=turn.released,
        )  # fmt: skip

    def _earlier(self) -> tuple[JournalEntry, ...]:
        entries: list[JournalEntry] = []
        for turn_no in range(self.ended_no, self.done_no, -1):
            entries.extend(reversed(self.turns[turn_no].journal()))
            if len(entries) >= MAX_EARLIER:
                break
        return tuple(reversed(entries[:MAX_EARLIER]))

    def wait(
        self, turn_no: int, waiting: Sequence[Waiting], next_number: Callable[[], int]
    ) -> None:
        """Wait for exactly this. What was waited for before keeps its number."""
        known, self.waiting = self.waiting, {}
        for one in waiting:
            before = known.get(one.waiting_id)
            number = before.number if before else next_number()
            self.waiting[one.waiting_id] = StoredWaiting(
                number, self.session_id, self.user_id, before.turn_no if before else turn_no,
                one.waiting_id, one.kind, one.doc,
            )  # fmt: skip

    def check_messages(self, messages: Rows) -> None:
        numbers = {seq for seq, _ in messages}
        if len(numbers) < len(messages) or not numbers.isdisjoint(self.messages):
            raise message_taken(self.session_id)

    def end(self, claim: Claim, doc: bytes | None, messages: Rows, now: float) -> None:
        """Let go of the conversation. The fence rises, so that the claim is dead from here on."""
        if doc is not None:
            self.doc = doc
            self.version += 1
        for seq, message in messages:
            self.messages[seq] = StoredMessage(seq, claim.turn_no, message)
        self.fence += 1
        self.ended_no = claim.turn_no
        self.turns[claim.turn_no].ended = now
        self.lease_until = now if self.ended_no < len(self.turns) else None

    def hold(self, claim: Claim, why: str, now: float) -> None:
        turn = self.turns[claim.turn_no]
        turn.status, turn.error = "held", why
        turn.held_since = now if turn.held_since is None else turn.held_since
        self.fence += 1
        self.lease_until = HELD_UNTIL

    def release(self, turn_no: int, note: str | None, now: float) -> bool:
        turn = self.turns.get(turn_no)
        if turn is None or turn.status != "held":
            return False
        turn.status, turn.error, turn.held_since = "queued", None, None
        turn.released = note or turn.released
        self.lease_until = now
        return True

    def stored_held(self) -> StoredHeld | None:
        if not self.is_held:
            return None
        turn = self.turns[self.ended_no + 1]
        return StoredHeld(
            self.session_id, self.user_id, turn.turn_no, turn.message_id, turn.held_since or 0.0,
            turn.error or "", turn.doc, turn.released,
        )  # fmt: skip

    def lease_runs(self, now: float) -> bool:
        return self.lease_until is not None and now < self.lease_until < HELD_UNTIL

    def recode(self, change: Callable[[bytes], bytes]) -> int:
        """Both documents anew, or neither, should `change` raise."""
        turn = self.turns.get(self.ended_no + 1)
        old = (self.doc, turn and turn.doc)
        new = tuple(doc and change(doc) for doc in old)
        self.doc = new[0]
        if turn is not None:
            turn.doc = new[1]
        return sum(one != other for one, other in zip(old, new, strict=True))

    def prune(self, before: float, limit: int) -> tuple[int, int]:
        """Prune the oldest turns that ended before a moment; gives how many, and the last."""
        old = [
            turn
            for turn in self.turns.values()
            if turn.turn_no < self.done_no
            and (turn.steps or turn.commits)
            and turn.ended is not None
            and turn.ended <= before
        ][:limit]
        for turn in old:
            turn.prune()
        if old:
            newest = old[-1].turn_no
            kept = self.messages.items()
            self.messages = {seq: one for seq, one in kept if one.turn_no > newest}
        return len(old), old[-1].turn_no if old else 0
