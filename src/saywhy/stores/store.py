"""What a store of conversations promises, whoever keeps the rows.

A conversation is a row; a **turn** (one message taken to its reply) is what survives crashes. The
**journal** of a turn says which calls were about to be made (the intent) and which were answered. A
**lease** says who may run a conversation and until when, by the store's own clock. The **fence** is
a number raised at each claim and at each end of a turn; a write that carries an old one is refused.

Documents are bytes: what a cursor is, and when a call may be made again, is decided by whoever
calls. The values and the protocol are here; `memory` and `sqlite` keep the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from types import TracebackType
from typing import Final, Literal, Protocol, Self, TypeAlias

import msgspec

from saywhy.stores.audit import Audited
from saywhy.stores.held import StoredHeld
from saywhy.stores.timers import StoredTimer, Timer
from saywhy.stores.waiting import StoredWaiting, Waiting

LEASE_SECONDS: Final = 30.0
"""How long a claim holds unless it is renewed. Renew at a third of it."""

MAX_QUEUED: Final = 1000
"""How many messages of one conversation may wait, unless a store is told otherwise."""

MAX_EARLIER: Final = 64
"""How many facts of abandoned turns a claim brings along at most; the newest are kept."""

Effect: TypeAlias = Literal["reads", "repeatable", "once"]
TurnStatus: TypeAlias = Literal[
    "queued", "running", "held", "done", "cancelled", "unknown", "diverged", "error"
]
FailStatus: TypeAlias = Literal["cancelled", "unknown", "diverged", "error"]
EndedAs: TypeAlias = Literal["done", "unknown"]
"""How a turn with a reply ends; `unknown`: it says openly that it does not know what it did."""
StepStatus: TypeAlias = Literal["asked", "answered", "unknown"]
Mode: TypeAlias = Literal["durable", "session-only"]
"""Whether the turns of a conversation write a journal. It is kept from its first message on."""
Blank: TypeAlias = frozenset[int] | Literal["all"]
"""Which steps' arguments and results are erased when their turn ends, by `seq`."""

Rows: TypeAlias = Sequence[tuple[int, bytes]]
"""Numbered documents: messages or commits."""


class Accepted(msgspec.Struct, frozen=True):
    """What became of a message: `new`, still `running`, `done` with its reply, or `ended` without.

    `error` says why a turn ended without a reply. `held`: its turn, or one before it, is held.
    """

    status: Literal["new", "running", "done", "ended"]
    turn_no: int
    reply: bytes | None = None
    error: str | None = None
    held: bool = False


class Call(msgspec.Struct, frozen=True):
    """A call about to be made. `key` is the same for each attempt and never comes again."""

    kind: str
    name: str
    effect: Effect
    args: bytes
    key: str


class JournalEntry(msgspec.Struct, frozen=True):
    """One attempt of one call. `unknown`: its turn ended while nobody knew whether it happened.

    `args` and `result` are None once they were blanked; the hash stays.
    """

    seq: int
    attempt: int
    kind: str
    name: str
    effect: Effect
    key: str
    args_hash: bytes
    args: bytes | None
    status: StepStatus
    result: bytes | None


class Claim(msgspec.Struct, frozen=True):
    """The right to run one turn, until the lease is over and somebody else claims it.

    `doc` is the conversation after the last turn that stored one, None for a new conversation;
    `turn_doc` is what was saved with the newest intent of this turn, None if there was none: go on
    from it. `journal` has one entry a step (an answered attempt wins over the others), in order.
    `earlier` are the calls of turns that were abandoned since the last finished one.
    """

    session_id: str
    user_id: str
    turn_no: int
    message_id: str
    fence: int
    version: int
    input: bytes
    doc: bytes | None
    turn_doc: bytes | None
    journal: tuple[JournalEntry, ...]
    earlier: tuple[JournalEntry, ...]
    salt: bytes
    """Mixed into the hashes of arguments, and erased with them: a blanked secret that is short
    could be guessed from a plain hash."""
    turn_key: int = 0
    """The store's own number for the turn, never given twice; means nothing elsewhere."""
    released: str | None = None
    """What was noted when the turn, which had been held, was released."""


class Prior(msgspec.Struct, frozen=True):
    """What the journal knew of a call before this intent.

    `fresh`: nothing, make the call. `answered`: use `result`. `interrupted`: asked before, and
    nobody knows; the effect class decides. `diverged`: another call stood there; stop.
    """

    status: Literal["fresh", "answered", "interrupted", "diverged"]
    result: bytes | None = None


class StoredOutput(msgspec.Struct, frozen=True):
    """Something a finished turn wants sent."""

    output_id: int
    session_id: str
    turn_no: int
    payload: bytes


class StoredSession(msgspec.Struct, frozen=True):
    """A conversation at rest or not; `turn_no` is the newest turn, 0 before the first.

    `version` counts the documents stored. `running` is true while a turn waits or is being run, or
    is `held`.
    """

    session_id: str
    user_id: str
    version: int
    doc: bytes | None
    running: bool
    turn_no: int
    mode: Mode = "durable"
    held: bool = False


class StoredTurn(msgspec.Struct, frozen=True):
    """One turn as it stands; `input` is None once it was blanked."""

    turn_no: int
    message_id: str
    status: TurnStatus
    input: bytes | None
    reply: bytes | None
    error: str | None


class StoredMessage(msgspec.Struct, frozen=True):
    """One message of a conversation."""

    seq: int
    turn_no: int
    doc: bytes


class StoredCommit(msgspec.Struct, frozen=True):
    """The record of one step of a turn."""

    turn_no: int
    seq: int
    doc: bytes


def hash_of(args: bytes, salt: bytes) -> bytes:
    """The salted hash by which a call asked again is recognised."""
    return blake2b(args, digest_size=16, key=salt).digest()


def merged(attempts: Iterable[JournalEntry]) -> tuple[JournalEntry, ...]:
    """One entry a step, given all attempts in order: its newest answered one, else its newest."""
    chosen: dict[int, JournalEntry] = {}
    for entry in attempts:
        known = chosen.get(entry.seq)
        if known is None or entry.status == "answered" or known.status != "answered":
            chosen[entry.seq] = entry
    return tuple(chosen.values())


class Store(Audited, Protocol):
    """Conversations, their turns and what was recorded of them. Documents come back byte for byte.

    Cancelling an `await` does not take a write back: it happens or not as if nobody had left.
    """

    async def open(self) -> None:
        """Make the store ready. Every other method needs this first."""
        ...

    async def close(self) -> None:
        """Finish what was handed in, then let go of everything."""
        ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    async def accept(
        self,
        session_id: str,
        message_id: str,
        input: bytes,
        *,
        user_id: str,
        mode: Mode = "durable",
    ) -> Accepted:
        """Take a message in; from here on it will be processed to an end or reported.

        The same `message_id` again changes nothing and tells what became of the first. Raises
        `QueueFull` for a new one when too many of this conversation wait, `PersistenceMismatch`
        when the conversation has another mode; nothing is changed by either.
        """
        ...

    async def claim(
        self,
        worker: str,
        ttl_seconds: float = LEASE_SECONDS,
        session_id: str | None = None,
        mode: Mode | None = None,
    ) -> Claim | None:
        """The lowest unfinished turn of this conversation, or of the one that waited longest.

        None when there is nothing to do, the lease of somebody else still runs, or that turn is
        held. With a `mode`, conversations that have another are passed by.
        """
        ...

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
        """Take a message in and the right to run it, in one transaction.

        The claim may be for an earlier turn that a crash left behind: compare `turn_no`, run it,
        then `claim` again. Raises what `accept` does.
        """
        ...

    async def renew(self, claim: Claim, ttl_seconds: float = LEASE_SECONDS) -> bool:
        """Hold on to a claim. False: it was lost, stop soon."""
        ...

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
        """Note that a call is about to be made, with the cursor and the commits up to it.

        Make the call only after this came back. `previous_result` is the answer to the call before,
        kept in the same transaction: allowed when nothing slow lay between. A call found
        interrupted counts as a new attempt if it may be repeated; a `once` call only with `again`,
        for the caller who made sure that it did not happen. A diverged one changes nothing. Raises
        `Fenced`.
        """
        ...

    async def result(self, claim: Claim, seq: int, result: bytes) -> None:
        """Note the answer to a call. Taken from a fenced-out worker too: the effect did happen."""
        ...

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
        """End the turn: document, reply and all rows in one transaction, or none of them.

        `blank` says which steps' arguments and results are erased; the facts and hashes stay.
        `waiting` is all that the conversation waits for from now on and `timers` all that falls due
        in it, None for what there was before. Raises `Fenced` when somebody else took the
        conversation over.
        """
        ...

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
        """End the turn without a reply. What it called stays on record for the next turn.

        That is why nothing is blanked here unless asked for. With `doc`, a repaired conversation
        is stored as `finish` would. Raises `Fenced`.
        """
        ...

    async def waiting(
        self, session_id: str | None = None, limit: int = 100, after: int = 0
    ) -> tuple[StoredWaiting, ...]:
        """What one conversation or all of them wait for, behind a number."""
        ...

    async def hold(self, claim: Claim, why: str) -> None:
        """Let the turn stand still: everything on record of it stays as it is. Raises `Fenced`."""
        ...

    async def held(
        self, session_id: str | None = None, limit: int = 100, after: str = ""
    ) -> tuple[StoredHeld, ...]:
        """Held turns of one conversation or of all, in the order of their ids, after one."""
        ...

    async def release(self, session_id: str, turn_no: int, note: str | None = None) -> bool:
        """Let a held turn be claimed again; the claim brings the newest note. False: none held."""
        ...

    async def abandon(self, session_id: str, turn_no: int, why: str) -> bool:
        """End a held turn as `cancelled`, its calls kept on record. False: it is not held."""
        ...

    async def recode(self, session_id: str, change: Callable[[bytes], bytes]) -> int:
        """Put what `change` gives in the place of each document, all or none; gives how many.

        The conversation stays the same in every other respect; `change` gives the very document
        where nothing is to be written. Raises `SessionBusy` while somebody's lease runs.
        """
        ...

    async def save(
        self, session_id: str, user_id: str, doc: bytes, version: int, mode: Mode = "durable"
    ) -> int:
        """Store a conversation's document between turns; gives its new version.

        `version` is the one the document was made from, 0 for a conversation that does not exist.
        Raises `SessionBusy` while a turn is open, `CallerError` when the version moved on,
        `PersistenceMismatch` as `accept` does.
        """
        ...

    async def put_charts(self, docs: Mapping[str, bytes]) -> None:
        """Keep charts by digest; one that is known already is left alone."""
        ...

    async def chart(self, digest: str) -> bytes | None:
        """The chart kept under a digest; None when there is none."""
        ...

    async def session(self, session_id: str) -> StoredSession | None:
        """A conversation as its last turn left it, without a claim; None when there is none."""
        ...

    async def sessions(
        self, user_id: str | None = None, limit: int = 100, after: str = ""
    ) -> tuple[StoredSession, ...]:
        """Conversations in the order of their ids, beginning after one."""
        ...

    async def turns(
        self, session_id: str, *, after: int = 0, limit: int = 100, last: int | None = None
    ) -> tuple[StoredTurn, ...]:
        """Turns in order: those after a number, or the `last` few."""
        ...

    async def journal(self, session_id: str, turn_no: int) -> tuple[JournalEntry, ...]:
        """Every attempt of every call of one turn."""
        ...

    async def messages(
        self,
        session_id: str,
        *,
        after: int | None = None,
        limit: int = 100,
        last: int | None = None,
    ) -> tuple[StoredMessage, ...]:
        """Messages in order: those after a `seq`, or the `last` few."""
        ...

    async def commits(
        self, session_id: str, *, turn_no: int | None = None, last_turns: int | None = None
    ) -> tuple[StoredCommit, ...]:
        """Commits in order: of one turn, of the last few turns, or of all."""
        ...

    async def allow(self, user_id: str, tool: str, requests: int, window_ms: float) -> float | None:
        """None: one more request fits in the window and was counted. Else milliseconds to wait."""
        ...

    async def due(
        self,
        limit: int = 100,
        *,
        session_id: str | None = None,
        until_ms: float | None = None,
        mode: Mode | None = None,
    ) -> tuple[StoredTimer, ...]:
        """Timers that fell due, of one conversation or all, while it rests; the oldest first.

        They stay until taken. With `until_ms` those that are due by then, whatever the store's own
        clock says. With a `mode`, conversations that have another are passed by.
        """
        ...

    async def take_timer(self, timer_id: int) -> bool:
        """Remove a timer; True for one caller only.

        Accept what it brings first, under a message id made from the timer's: a crash between the
        two then does no harm, while a timer taken first could be lost.
        """
        ...

    async def unsent(self, limit: int = 100) -> tuple[StoredOutput, ...]:
        """What finished turns want sent, in order."""
        ...

    async def mark_sent(self, output_id: int) -> bool:
        """Note that something was sent; False when it was noted before."""
        ...

    async def forget(self, user_id: str) -> int:
        """Erase everything of a person; gives the number of conversations.

        Charts stay, and of the audit chain the digests, without their salts.
        """
        ...

    async def prune(self, older_than_seconds: float, limit: int = 1000) -> int:
        """Take away what only explains turns that ended longer ago: calls, commits, messages.

        The row of a turn stays without its reply: its message is still recognised. The newest turn
        that finished in a conversation stays whole, and so do those after it. At most `limit` turns
        a call; gives how many there were: call it until that is less.
        """
        ...

    async def wait_work(self, timeout_seconds: float) -> None:
        """Come back when this process took a message in or ended a turn, or when the time is over.

        There may be work to claim then, or a reply to read. What another process does rings no bell
        here, so look again when the time is over.
        """
        ...
