"""The store that keeps nothing: the same promises inside one process, for tests and trials.

Each method runs without a pause, so the event loop makes it a transaction; one store belongs to one
event loop. What is kept of a conversation, and how a turn changes it, is in `memory_session`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from types import TracebackType
from typing import Self

from saywhy.clock import Clock, SystemClock
from saywhy.stores.bell import Bell
from saywhy.stores.held import StoredHeld
from saywhy.stores.masked import MaskedMemory
from saywhy.stores.memory_audit import AuditedMemory, MemoryChains
from saywhy.stores.memory_parts import PartedMemory
from saywhy.stores.memory_session import MemorySession
from saywhy.stores.refusals import (
    check_prune,
    check_rate,
    fenced,
    lease_runs,
    other_mode,
    other_owner,
    turn_open,
    version_moved,
)
from saywhy.stores.searching import Searched, search_kept
from saywhy.stores.store import (
    LEASE_SECONDS,
    MAX_QUEUED,
    Accepted,
    Blank,
    Call,
    Claim,
    EndedAs,
    FailStatus,
    JournalEntry,
    Mode,
    Prior,
    Rows,
    StoredCommit,
    StoredMessage,
    StoredOutput,
    StoredSession,
    StoredTurn,
)
from saywhy.stores.timers import StoredTimer, Timer
from saywhy.stores.waiting import StoredWaiting, Waiting


class MemoryStore(PartedMemory, AuditedMemory, MaskedMemory):
    """A `Store` that lives as long as the process."""

    def __init__(self, clock: Clock | None = None, *, max_queued: int = MAX_QUEUED) -> None:
        self._clock = clock or SystemClock()
        self._max_queued = max_queued
        self._sessions: dict[str, MemorySession] = {}
        self._open: dict[str, MemorySession] = {}
        """Conversations with an unfinished turn: what a claim has to look at."""
        self._charts: dict[str, bytes] = {}
        self._rates: dict[tuple[str, str], deque[float]] = {}
        self._timers: dict[str, list[StoredTimer]] = {}
        """By conversation: what falls due in it."""
        self._outbox: dict[int, StoredOutput] = {}
        self._last_id = 0
        self._chains = MemoryChains()
        self._bell = Bell()

    async def open(self) -> None:
        """Nothing to do; here so that stores can be exchanged."""

    async def close(self) -> None:
        self._bell.ring()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def accept(
        self,
        session_id: str,
        message_id: str,
        input: bytes,
        *,
        user_id: str,
        mode: Mode = "durable",
    ) -> Accepted:
        session = self._for_user(session_id, user_id, mode)
        accepted = session.accept(message_id, input, self._clock.now(), self._max_queued)
        self._note_open(session)
        if accepted.status == "new":
            self._bell.ring()
        return accepted

    async def claim(
        self,
        worker: str,
        ttl_seconds: float = LEASE_SECONDS,
        session_id: str | None = None,
        mode: Mode | None = None,
    ) -> Claim | None:
        session = self._oldest(mode) if session_id is None else self._open.get(session_id)
        if session is None or mode not in (None, session.mode):
            return None
        return session.claim(self._clock.now(), ttl_seconds)

    async def accept_and_claim(
        self,
        session_id: str,
        message_id: str,
        input: bytes,
        *,
        user_id: str,
        worker: str,
        ttl_seconds: float = LEASE_SECONDS,
        mode: Mode = "durable",
    ) -> tuple[Accepted, Claim | None]:
        session = self._for_user(session_id, user_id, mode)
        accepted = session.accept(message_id, input, self._clock.now(), self._max_queued)
        self._note_open(session)
        if accepted.status in ("done", "ended"):
            return accepted, None
        return accepted, session.claim(self._clock.now(), ttl_seconds)

    async def renew(self, claim: Claim, ttl_seconds: float = LEASE_SECONDS) -> bool:
        session = self._sessions.get(claim.session_id)
        if session is None or session.fence != claim.fence:
            return False
        session.lease_until = self._clock.now() + ttl_seconds * 1000
        return True

    async def intent(
        self,
        claim: Claim,
        seq: int,
        call: Call,
        doc: bytes,
        commits: Rows,
        *,
        previous_result: tuple[int, bytes] | None = None,
        again: bool = False,
    ) -> Prior:
        turn = self._held(claim).turns[claim.turn_no]
        if previous_result is not None:
            turn.expect(claim, previous_result[0])
        prior = turn.ask(claim, seq, call, again)
        if prior.status != "diverged":
            turn.doc = doc
            turn.add_commits(commits)
            if previous_result is not None:
                turn.answer(claim, *previous_result)
        return prior

    async def result(self, claim: Claim, seq: int, result: bytes) -> None:
        session = self._sessions.get(claim.session_id)
        if session is not None and claim.turn_no in session.turns:
            session.turns[claim.turn_no].answer(claim, seq, result)

    async def finish(
        self,
        claim: Claim,
        doc: bytes,
        reply: bytes,
        *,
        messages: Rows,
        commits: Rows,
        previous_result: tuple[int, bytes] | None = None,
        outbox: Sequence[bytes] = (),
        timers: Sequence[Timer] | None = None,
        blank: Blank = "all",
        blank_input: bool = True,
        ended_as: EndedAs = "done",
        waiting: Sequence[Waiting] | None = None,
    ) -> None:
        session = self._held(claim)
        session.check_messages(messages)
        turn = session.turns[claim.turn_no]
        turn.end(claim, ended_as, previous_result, commits, blank, blank_input)
        turn.reply = reply
        session.done_no = claim.turn_no
        self._wait(session, claim, waiting, timers)
        self._end(session, claim, doc, messages)
        for payload in outbox:
            output_id = self._next_id()
            output = StoredOutput(output_id, claim.session_id, claim.turn_no, payload)
            self._outbox[output_id] = output

    async def fail(
        self,
        claim: Claim,
        status: FailStatus,
        why: str,
        *,
        doc: bytes | None = None,
        messages: Rows = (),
        commits: Rows = (),
        previous_result: tuple[int, bytes] | None = None,
        blank: Blank = frozenset(),
        blank_input: bool = False,
        waiting: Sequence[Waiting] | None = None,
        timers: Sequence[Timer] | None = None,
    ) -> None:
        session = self._held(claim)
        session.check_messages(messages)
        turn = session.turns[claim.turn_no]
        turn.end(claim, status, previous_result, commits, blank, blank_input)
        turn.error = why
        self._wait(session, claim, waiting, timers)
        self._end(session, claim, doc, messages)

    def _wait(
        self,
        session: MemorySession,
        claim: Claim,
        waiting: Sequence[Waiting] | None,
        timers: Sequence[Timer] | None,
    ) -> None:
        if waiting is not None:
            session.wait(claim.turn_no, waiting, self._next_id)
        if timers is not None:
            self._time(session, list(timers))

    def _time(self, session: MemorySession, wanted: list[Timer]) -> None:
        """Let exactly these run for a conversation. One that ran before keeps its id."""
        name, user = session.session_id, session.user_id
        kept: list[StoredTimer] = []
        for one in self._timers.pop(name, ()):
            known = Timer(one.due_ms, one.payload)
            if known in wanted:
                wanted.remove(known)
                kept.append(one)
        kept += [StoredTimer(self._next_id(), name, user, t.due_ms, t.payload) for t in wanted]
        if kept:
            self._timers[name] = kept

    async def waiting(
        self, session_id: str | None = None, limit: int = 100, after: int = 0
    ) -> tuple[StoredWaiting, ...]:
        found = [
            one
            for session in self._sessions.values()
            if session_id in (None, session.session_id)
            for one in session.waiting.values()
            if one.number > after
        ]
        return tuple(sorted(found, key=lambda one: one.number)[:limit])

    async def hold(self, claim: Claim, why: str) -> None:
        self._held(claim).hold(claim, why, self._clock.now())
        self._bell.ring()

    async def held(
        self, session_id: str | None = None, limit: int = 100, after: str = ""
    ) -> tuple[StoredHeld, ...]:
        wanted = self._open if session_id is None else {session_id}
        ids = sorted(one for one in wanted if session_id is not None or one > after)
        found = (self._open[one].stored_held() for one in ids if one in self._open)
        return tuple(islice((one for one in found if one is not None), limit))

    async def release(self, session_id: str, turn_no: int, note: str | None = None) -> bool:
        session = self._sessions.get(session_id)
        released = session is not None and session.release(turn_no, note, self._clock.now())
        self._bell.ring()
        return released

    async def abandon(self, session_id: str, turn_no: int, why: str) -> bool:
        if not await self.release(session_id, turn_no):
            return False
        claim = self._sessions[session_id].claim(self._clock.now(), 0)
        assert claim is not None, "it was released just now"
        await self.fail(claim, "cancelled", why)
        return True

    async def recode(self, session_id: str, change: Callable[[bytes], bytes]) -> int:
        session = self._sessions.get(session_id)
        if session is None:
            return 0
        if session.lease_runs(self._clock.now()):
            raise lease_runs(session_id)
        return session.recode(change)

    async def save(
        self, session_id: str, user_id: str, doc: bytes, version: int, mode: Mode = "durable"
    ) -> int:
        found = self._sessions.get(session_id)
        current = found.version if found else 0
        if current != version:
            raise version_moved(session_id, current, version)
        session = self._for_user(session_id, user_id, mode)
        if session.lease_until is not None:
            raise turn_open(session_id)
        session.doc = doc
        session.version += 1
        return session.version

    async def put_charts(self, docs: Mapping[str, bytes]) -> None:
        for digest, doc in docs.items():
            self._charts.setdefault(digest, doc)

    async def chart(self, digest: str) -> bytes | None:
        return self._charts.get(digest)

    async def session(self, session_id: str) -> StoredSession | None:
        session = self._sessions.get(session_id)
        return session and session.stored()

    async def sessions(
        self, user_id: str | None = None, limit: int = 100, after: str = ""
    ) -> tuple[StoredSession, ...]:
        ids = sorted(
            session_id
            for session_id, session in self._sessions.items()
            if session_id > after and user_id in (None, session.user_id)
        )
        return tuple(self._sessions[session_id].stored() for session_id in ids[:limit])

    async def turns(
        self, session_id: str, *, after: int = 0, limit: int = 100, last: int | None = None
    ) -> tuple[StoredTurn, ...]:
        session = self._sessions.get(session_id)
        if session is None:
            return ()
        numbers = list(session.turns)
        chosen = newest(numbers, last) if last is not None else numbers[max(after, 0) :][:limit]
        return tuple(session.turns[number].stored() for number in chosen)

    async def journal(self, session_id: str, turn_no: int) -> tuple[JournalEntry, ...]:
        session = self._sessions.get(session_id)
        turn = session and session.turns.get(turn_no)
        return turn.journal() if turn else ()

    async def messages(
        self,
        session_id: str,
        *,
        after: int | None = None,
        limit: int = 100,
        last: int | None = None,
    ) -> tuple[StoredMessage, ...]:
        session = self._sessions.get(session_id)
        stored = session.messages if session else {}
        numbers = sorted(seq for seq in stored if after is None or seq > after)
        chosen = numbers[:limit] if last is None else newest(sorted(stored), last)
        return tuple(stored[seq] for seq in chosen)

    async def commits(
        self, session_id: str, *, turn_no: int | None = None, last_turns: int | None = None
    ) -> tuple[StoredCommit, ...]:
        session = self._sessions.get(session_id)
        if session is None:
            return ()
        if turn_no is not None:
            numbers = [turn_no] if turn_no in session.turns else []
        else:
            numbers = list(session.turns)
            numbers = numbers if last_turns is None else newest(numbers, last_turns)
        return tuple(
            StoredCommit(number, seq, doc)
            for number in numbers
            for seq, doc in sorted(session.turns[number].commits.items())
        )

    async def allow(self, user_id: str, tool: str, requests: int, window_ms: float) -> float | None:
        check_rate(requests, window_ms)
        now = self._clock.now()
        ends = self._rates.pop((user_id, tool), None) or deque[float]()
        self._rates[user_id, tool] = ends  # at the end: the first one is the longest unused
        oldest = next(iter(self._rates))
        if self._rates[oldest] and self._rates[oldest][-1] <= now:
            del self._rates[oldest]
        while ends and ends[0] <= now:
            ends.popleft()
        if len(ends) >= requests:
            return ends[-requests] - now
        ends.append(now + window_ms)
        return None

    async def due(
        self,
        limit: int = 100,
        *,
        session_id: str | None = None,
        until_ms: float | None = None,
        mode: Mode | None = None,
    ) -> tuple[StoredTimer, ...]:
        now = self._clock.now() if until_ms is None else until_ms
        fallen = [
            timer
            for name, timers in self._timers.items()
            if session_id in (None, name) and self._rests(name, mode)
            for timer in timers
            if timer.due_ms <= now
        ]
        return tuple(sorted(fallen, key=lambda timer: (timer.due_ms, timer.timer_id))[:limit])

    def _rests(self, session_id: str, mode: Mode | None) -> bool:
        session = self._sessions.get(session_id)
        is_ours = session is None or mode in (None, session.mode)
        return is_ours and session_id not in self._open

    async def take_timer(self, timer_id: int) -> bool:
        for timers in self._timers.values():
            for timer in timers:
                if timer.timer_id == timer_id:
                    timers.remove(timer)
                    return True
        return False

    async def unsent(self, limit: int = 100) -> tuple[StoredOutput, ...]:
        return tuple(islice(self._outbox.values(), limit))

    async def mark_sent(self, output_id: int) -> bool:
        return self._outbox.pop(output_id, None) is not None

    async def forget(self, user_id: str) -> int:
        gone = {key for key, session in self._sessions.items() if session.user_id == user_id}
        for session_id in gone:
            del self._sessions[session_id]
            self._chains.forget(session_id)
            self._open.pop(session_id, None)
        self._timers = {k: v for k, v in self._timers.items() if k not in gone}
        self._outbox = {k: v for k, v in self._outbox.items() if v.session_id not in gone}
        self._rates = {key: ends for key, ends in self._rates.items() if key[0] != user_id}
        return len(gone)

    async def search(self, texts: Sequence[str]) -> tuple[Searched, ...]:
        """Everything that this store holds, with those of some texts that stand in it."""
        return (search_kept("memory", self, [self._sessions, self._charts], texts),)

    async def prune(self, older_than_seconds: float, limit: int = 1000) -> int:
        check_prune(older_than_seconds, limit)
        before = self._clock.now() - older_than_seconds * 1000
        pruned = 0
        for session in self._sessions.values():
            count, until = session.prune(before, limit - pruned)
            self._chains.prune(session.session_id, until)
            pruned += count
            if pruned == limit:
                break
        return pruned

    async def wait_work(self, timeout_seconds: float) -> None:
        await self._bell.wait(timeout_seconds)

    def _for_user(self, session_id: str, user_id: str, mode: Mode) -> MemorySession:
        session = self._sessions.get(session_id)
        if session is None:
            session = self._sessions[session_id] = MemorySession(session_id, user_id, mode)
        elif session.user_id != user_id:
            raise other_owner(session_id, user_id)
        elif session.mode != mode:
            raise other_mode(session_id, session.mode, mode)
        return session

    def _held(self, claim: Claim) -> MemorySession:
        """The conversation a claim was given for, if the claim still holds."""
        session = self._sessions.get(claim.session_id)
        if session is None or session.fence != claim.fence:
            raise fenced(claim)
        return session

    def _end(self, session: MemorySession, claim: Claim, doc: bytes | None, messages: Rows) -> None:
        session.end(claim, doc, messages, self._clock.now())
        turn = session.turns[claim.turn_no]
        ids, commits = (session.session_id, session.user_id), sorted(turn.commits.items())
        self._chains.link(ids, turn.turn_no, turn.status, sorted(messages), commits)
        self._note_open(session)
        self._bell.ring()

    def _note_open(self, session: MemorySession) -> None:
        if session.lease_until is None:
            self._open.pop(session.session_id, None)
        else:
            self._open[session.session_id] = session

    def _oldest(self, mode: Mode | None) -> MemorySession | None:
        """The conversation whose turn waited longest; one with a running lease may come out too."""
        found = (item for item in self._open.values() if mode in (None, item.mode))
        return min(found, key=lambda item: item.lease_until or 0.0, default=None)

    def _next_id(self) -> int:
        self._last_id += 1
        return self._last_id


def newest(numbers: list[int], count: int) -> list[int]:
    """The last few of a sorted list."""
    return numbers[max(len(numbers) - count, 0) :]
