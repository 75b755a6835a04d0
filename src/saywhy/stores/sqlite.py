"""The store for one machine: an SQLite file, any number of conversations, no server.

One thread writes with group commit, a few read. A second process on the same file is kept right by
leases and fences. What the rows mean is said in `store`; the SQL is in the `sqlite_…` modules.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from saywhy.errors import CallerError
from saywhy.stores import sqlite_audit as audit
from saywhy.stores import sqlite_beside as beside
from saywhy.stores import sqlite_held as holding
from saywhy.stores import sqlite_journal as journal
from saywhy.stores import sqlite_parts, sqlite_waiting
from saywhy.stores import sqlite_reads as reads
from saywhy.stores import sqlite_timers as timing
from saywhy.stores import sqlite_turn as turn
from saywhy.stores.audit import StoredAnchor, StoredChain, StoredLink
from saywhy.stores.bell import Bell
from saywhy.stores.held import StoredHeld
from saywhy.stores.masked import MaskedTurn
from saywhy.stores.migrations import check_holds_conversations, check_migrated, migrate
from saywhy.stores.parts import Parts
from saywhy.stores.refusals import check_prune, check_rate
from saywhy.stores.searching import Searched, rows_with, search_files
from saywhy.stores.sqlite_file import (
    BUSY_SECONDS,
    FAILURES,
    Synchronous,
    connect,
    connect_to_read,
    fold_in,
    named,
)
from saywhy.stores.sqlite_masked import mask_turns
from saywhy.stores.sqlite_reads import Readers
from saywhy.stores.sqlite_writer import Writer
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

PRUNED_AT_ONCE: Final = 50
"""Turns pruned in one transaction: the turns of everybody else wait for it."""


class SqliteStore:
    """A `Store` in one file. `synchronous="NORMAL"` trades the last moments at a power cut for
    speed; nothing is lost by either when only the process dies. `read_only` leaves the file as it
    is: it may be a copy that cannot be written to, and every write is refused."""

    def __init__(
        self,
        path: str | Path,
        *,
        synchronous: Synchronous = "FULL",
        busy_seconds: float = BUSY_SECONDS,
        read_only: bool = False,
        max_queued: int = MAX_QUEUED,
    ) -> None:
        if str(path) == ":memory:":
            raise CallerError("the SQLite store needs a file", hint="MemoryStore keeps no file")
        self.path = Path(path)
        self.read_only = read_only
        self._max_queued = max_queued
        self._connect = partial(connect, self.path, synchronous, busy_seconds)
        self._connect_to_read = partial(connect_to_read, self.path, busy_seconds)
        self._opened: tuple[Writer | None, Readers] | None = None
        self._bell = Bell()

    async def open(self) -> None:
        if self._opened is None:
            self._opened = await asyncio.to_thread(self._open)

    def _open(self) -> tuple[Writer | None, Readers]:
        if self.read_only:
            with closing(self._connect_to_read()) as db:
                try:
                    check_migrated(db, self.path)
                except FAILURES as error:  # what it reads is damaged
                    raise named(error, self.path) from error
            return None, Readers(self._connect_to_read, self.path)
        db = self._connect()
        try:
            migrate(db)
        except FAILURES as error:
            db.close()
            raise named(error, self.path) from error
        except BaseException:
            db.close()
            raise
        return Writer(db, self.path), Readers(self._connect, self.path)

    async def close(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            for part in reversed(opened):  # whoever leaves last folds the log into the file
                if part is not None:
                    await asyncio.to_thread(part.close)
        self._bell.ring()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    @property
    def _writer(self) -> Writer:
        writer = self._parts()[0]
        if writer is None:
            raise CallerError(
                f"the store {self.path} was opened for reading only",
                hint="open it without read_only to write to it",
            )
        return writer

    @property
    def _readers(self) -> Readers:
        return self._parts()[1]

    def _parts(self) -> tuple[Writer | None, Readers]:
        if self._opened is None:
            raise CallerError(
                f"the store {self.path} is not open",
                hint="use it in `async with`, or await its open() first",
            )
        return self._opened

    async def accept(
        self,
        session_id: str,
        message_id: str,
        input: bytes,
        *,
        user_id: str,
        mode: Mode = "durable",
    ) -> Accepted:
        accepted = await self._writer.do(
            turn.accept, session_id, message_id, input, user_id, self._max_queued, mode
        )
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
        return await self._writer.do(turn.claim, worker, _ms(ttl_seconds), session_id, mode)

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
        return await self._writer.do(
            turn.accept_and_claim,
            session_id, message_id, input, user_id, worker, _ms(ttl_seconds), self._max_queued,
            mode,
        )  # fmt: skip

    async def renew(self, claim: Claim, ttl_seconds: float = LEASE_SECONDS) -> bool:
        key = (claim.session_id, claim.fence)
        return await self._writer.do(turn.renew, *key, _ms(ttl_seconds))

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
        return await self._writer.do(
            journal.intent, claim, seq, call, doc, commits, previous_result, again
        )

    async def result(self, claim: Claim, seq: int, result: bytes) -> None:
        await self._writer.do(journal.result, claim, seq, result)

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
        await self._writer.do(
            turn.finish,
            claim, doc, reply, messages, commits, previous_result, outbox, timers, blank,
            blank_input, ended_as, waiting,
        )  # fmt: skip
        self._bell.ring()

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
        await self._writer.do(
            turn.fail,
            claim, status, why, doc, messages, commits, previous_result, blank, blank_input,
            waiting, timers,
        )  # fmt: skip
        self._bell.ring()

    async def waiting(
        self, session_id: str | None = None, limit: int = 100, after: int = 0
    ) -> tuple[StoredWaiting, ...]:
        return await self._readers.do(sqlite_waiting.listed, session_id, limit, after)

    async def hold(self, claim: Claim, why: str) -> None:
        await self._writer.do(holding.hold, claim, why)
        self._bell.ring()

    async def held(
        self, session_id: str | None = None, limit: int = 100, after: str = ""
    ) -> tuple[StoredHeld, ...]:
        return await self._readers.do(holding.held, session_id, limit, after)

    async def release(self, session_id: str, turn_no: int, note: str | None = None) -> bool:
        released = await self._writer.do(holding.release, session_id, turn_no, note)
        self._bell.ring()
        return released

    async def abandon(self, session_id: str, turn_no: int, why: str) -> bool:
        ended = await self._writer.do(holding.abandon, session_id, turn_no, why)
        self._bell.ring()
        return ended

    async def recode(self, session_id: str, change: Callable[[bytes], bytes]) -> int:
        return await self._writer.do(holding.recode, session_id, change)

    async def save(
        self, session_id: str, user_id: str, doc: bytes, version: int, mode: Mode = "durable"
    ) -> int:
        return await self._writer.do(turn.save, session_id, user_id, doc, version, mode)

    async def put_charts(self, docs: Mapping[str, bytes]) -> None:
        await self._writer.do(beside.put_charts, tuple(docs.items()))

    async def chart(self, digest: str) -> bytes | None:
        return await self._readers.do(reads.chart, digest)

    async def parts(self, session_id: str) -> Parts | None:
        """A conversation to be read turn by turn; None when there is none."""
        found = await self._readers.do(sqlite_parts.found, session_id)
        return None if found is None else sqlite_parts.SqliteParts(self._readers.now, found)

    async def session(self, session_id: str) -> StoredSession | None:
        return await self._readers.do(reads.session, session_id)

    async def sessions(
        self, user_id: str | None = None, limit: int = 100, after: str = ""
    ) -> tuple[StoredSession, ...]:
        return await self._readers.do(reads.sessions, user_id, limit, after)

    async def turns(
        self, session_id: str, *, after: int = 0, limit: int = 100, last: int | None = None
    ) -> tuple[StoredTurn, ...]:
        return await self._readers.do(reads.turns, session_id, after, limit, last)

    async def journal(self, session_id: str, turn_no: int) -> tuple[JournalEntry, ...]:
        return await self._readers.do(reads.journal, session_id, turn_no)

    async def messages(
        self,
        session_id: str,
        *,
        after: int | None = None,
        limit: int = 100,
        last: int | None = None,
    ) -> tuple[StoredMessage, ...]:
        return await self._readers.do(reads.messages, session_id, after, limit, last)

    async def commits(
        self, session_id: str, *, turn_no: int | None = None, last_turns: int | None = None
    ) -> tuple[StoredCommit, ...]:
        return await self._readers.do(reads.commits, session_id, turn_no, last_turns)

    async def allow(self, user_id: str, tool: str, requests: int, window_ms: float) -> float | None:
        check_rate(requests, window_ms)
        return await self._writer.do(beside.allow, user_id, tool, requests, round(window_ms))

    async def due(
        self,
        limit: int = 100,
        *,
        session_id: str | None = None,
        until_ms: float | None = None,
        mode: Mode | None = None,
    ) -> tuple[StoredTimer, ...]:
        return await self._readers.do(timing.due, limit, session_id, until_ms, mode)

    async def take_timer(self, timer_id: int) -> bool:
        return await self._writer.do(timing.take, timer_id)

    async def unsent(self, limit: int = 100) -> tuple[StoredOutput, ...]:
        return await self._readers.do(reads.unsent, limit)

    async def mark_sent(self, output_id: int) -> bool:
        return await self._writer.do(beside.mark_sent, output_id)

    async def mask_turns(self, claim: Claim, turns: Sequence[MaskedTurn]) -> None:
        """Put masked rows in place of those of ended turns, and of what this one has written.

        Their links lose their salts. Raises `Fenced` when the claim is over.
        """
        await self._writer.do(mask_turns, claim, turns)

    async def forget(self, user_id: str) -> int:
        count = await self._writer.do(beside.forget, user_id)
        await asyncio.to_thread(self._empty_log)
        return count

    def _empty_log(self) -> None:
        """The write-ahead log holds what was there earlier, long after it was erased."""
        with closing(self._connect()) as db:
            fold_in(db)

    async def search(self, texts: Sequence[str]) -> tuple[Searched, ...]:
        """Every byte of the file and of what SQLite keeps beside it; see `stores.searching`.

        The write-ahead log is folded in before, as it holds what was there earlier.
        """
        return await asyncio.to_thread(self._search, tuple(texts))

    def _search(self, texts: tuple[str, ...]) -> tuple[Searched, ...]:
        path = self.path
        others = [path.with_name(f"{path.name}{end}") for end in ("-wal", "-shm", "-journal")]
        with closing(self._connect()) as db:
            fold_in(db)
            searched = search_files([path, *others], texts)
            there = list(dict.fromkeys(text for one in searched for text, _ in one.found))
            rows = rows_with(db, there) if there else frozenset[str]()
        return tuple(replace(one, rows=rows) for one in searched)

    async def prune(self, older_than_seconds: float, limit: int = 1000) -> int:
        check_prune(older_than_seconds, limit)
        writer = self._writer
        old = await self._readers.do(reads.old_turns, _ms(older_than_seconds), limit)
        for start in range(0, len(old), PRUNED_AT_ONCE):
            await writer.do(beside.prune, old[start : start + PRUNED_AT_ONCE])
        return len(old)

    async def chains(
        self,
        *,
        session_id: str | None = None,
        user_id: str | None = None,
        after: bytes = b"",
        limit: int = 100,
    ) -> tuple[StoredChain, ...]:
        return await self._readers.do(audit.chains, session_id, user_id, after, limit)

    async def links(
        self, chain_id: bytes, *, after: int = 0, limit: int = 100
    ) -> tuple[StoredLink, ...]:
        return await self._readers.do(audit.links, chain_id, after, limit)

    async def anchor(self) -> StoredAnchor:
        writer = self._writer
        return await writer.do(audit.anchor, await self._readers.do(audit.moved))

    async def anchors(self, *, after: int = 0, limit: int = 100) -> tuple[StoredAnchor, ...]:
        return await self._readers.do(audit.anchors, after, limit)

    async def wait_work(self, timeout_seconds: float) -> None:
        await self._bell.wait(timeout_seconds)


def check_is_store(path: Path) -> None:
    """Raise `CallerError` where a file holds no conversations, and leave it as it is: whoever opens
    it for writing makes a store of it. Also for a store of an earlier version, which it is."""
    with closing(connect_to_read(path, BUSY_SECONDS)) as db:
        try:
            check_holds_conversations(db, path)
        except FAILURES as error:
            raise named(error, path) from error


def _ms(seconds: float) -> int:
    return round(seconds * 1000)
