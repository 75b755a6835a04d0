"""A conversation on a store, as the commands hold it: find it, go on with it, say something.

What is shown, and where the words come from, is answered by `chat` and the demo.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from saywhy.chart.commit import Commit
from saywhy.errors import CallerError, DamagedSession, SaywhyError, UnknownSession, did_you_mean
from saywhy.runtime.engine import Engine
from saywhy.runtime.session import Session
from saywhy.stores.encoding import decode
from saywhy.stores.sqlite import SqliteStore
from saywhy.stores.store import Store, StoredSession
from saywhy.values import loads_raw

LEASE_SECONDS: Final = 3.0
"""Short, so that a conversation whose program was killed can be taken up soon."""
RETRY_SECONDS: Final = 0.1
BEGIN: Final = "saywhy chat FILES begins one"
EMPTY: Final = "there is no conversation in this store"


@dataclass(frozen=True, slots=True)
class Said:
    """What came of one message."""

    response: str | None = None
    turn: int = 0
    repeated: bool = False
    error: SaywhyError | None = None
    hints: tuple[str, ...] = ()
    """What may help with the tools that failed in this turn, whether or not the flow tells."""


@dataclass(slots=True)
class Conversation:
    """One conversation on an engine with a store."""

    engine: Engine
    id: str
    user_id: str
    language: str | None = None
    cargo: Mapping[str, Any] | None = None
    """What a new conversation starts with; one that goes on has its own."""
    session: Session | None = field(default=None, init=False)
    """The conversation after its newest turn; None before the first."""

    async def resume(self) -> bool:
        """Take up a conversation: end the turn a crash left, if any. False: it is a new one.

        Waits until the lease of the program that crashed is over. Where another program is running
        the turn and goes on doing so, `SessionBusy` comes with the next message.
        """
        store = store_of(self.engine)
        deadline = time.monotonic() + LEASE_SECONDS + 1
        while True:
            stored = await store.session(self.id)
            if stored is None:
                return False
            if stored.running:
                await self.engine.recover(self.id)
                stored = await store.session(self.id)
            if stored is None or not stored.running or stored.held or time.monotonic() > deadline:
                break
            await store.wait_work(RETRY_SECONDS)
        self.session = await self.engine.session(self.id)
        self.cargo = None
        return True

    async def say(self, entry: str | Mapping[str, Any], message_id: str | None = None) -> Said:
        """Send a message. What its turn raises is part of the answer; the conversation goes on."""
        try:
            reply = await self.engine.take_turn(
                self.id,
                entry,
                message_id=message_id or uuid.uuid4().hex,
                user_id=self.user_id,
                cargo=self.cargo,
                language=self.language,
                wait_seconds=LEASE_SECONDS + 2,
            )
        except SaywhyError as error:
            said = Said(error=error)
        else:
            hints = () if reply.repeated else await self._hints(reply.turn_no)
            said = Said(reply.response, reply.turn_no, reply.repeated, hints=hints)
        self.session = await self.engine.session(self.id)
        if self.session is not None:  # also after a turn that failed: it had the cargo
            self.cargo = None
        return said

    async def _hints(self, turn: int) -> tuple[str, ...]:
        """The hint of each call that failed in a turn, with what failed."""
        if not len(self.engine.tools):
            return ()
        trace = await self.engine.trace(self.id)
        found = [hint_of(commit) for commit in trace.turn(turn).commits]
        return tuple(dict.fromkeys(hint for hint in found if hint))

    @property
    def quiet_seconds(self) -> float | None:
        """How long until it speaks by itself; None for as long as nobody says anything."""
        due_at = self.session.due_at if self.session else None
        return None if due_at is None else max(RETRY_SECONDS, due_at / 1000 - time.time())

    async def fall_due(self) -> list[str]:
        """Take what has fallen due by now; gives what was said."""
        before = self.session.message_seq if self.session else 0
        await self.engine.run_due(session_id=self.id)
        self.session = await self.engine.session(self.id)
        messages = self.session.messages if self.session else []
        return [one.text for one in messages if one.seq > before and one.role == "assistant"]

    @property
    def question(self) -> str:
        """The question that is open, if any."""
        frame = self.session.frame if self.session else None
        return (frame.pending_variable_context or "") if frame else ""

    @property
    def expects_secret(self) -> bool:
        """Whether the next words are sensitive and must not be shown or remembered."""
        frame = self.session.frame if self.session else None
        return frame.pending_variable_pii if frame else False

    @property
    def runs_on_older_flows(self) -> bool:
        """Whether an open flow is not the one in the files: they were changed since it began."""
        frames = self.session.cursor.frames if self.session else []
        newest = [self.engine.charts.find(frame.name) for frame in frames]
        return any(
            chart is None or chart.digest != frame.chart
            for frame, chart in zip(frames, newest, strict=True)
        )

    @property
    def last_reply(self) -> str:
        """The newest reply, if any."""
        messages = self.session.messages if self.session else []
        return next((one.text for one in reversed(messages) if one.role == "assistant"), "")


def hint_of(commit: Commit) -> str:
    """What may help with the failed call of a step: `Charge: connection refused (is it up?)`."""
    failure = commit.facts.get("failure")
    if not isinstance(failure, Mapping) or not failure.get("hint"):
        return ""
    answered = commit.answered
    tool = f"{answered.name}: " if answered is not None and answered.kind == "tool" else ""
    return f"{tool}{failure['message']} ({failure['hint']})"


def store_of(engine: Engine) -> Store:
    """The store of an engine that has one."""
    if engine.store is None:
        raise CallerError("this engine has no store")
    return engine.store


def new_id() -> str:
    """A name for a conversation that people can tell apart and type: date, time, a few letters."""
    return time.strftime("%Y%m%d-%H%M%S-") + uuid.uuid4().hex[:4]


async def all_sessions(store: Store, user_id: str | None = None) -> list[StoredSession]:
    """Every conversation of a store, in the order of their ids."""
    found: list[StoredSession] = []
    after = ""
    while page := await store.sessions(user_id, after=after):
        found.extend(page)
        after = page[-1].session_id
    return found


def newest(sessions: list[StoredSession]) -> StoredSession | None:
    """The conversation in which something happened last; one in mid-turn counts as now."""
    return max(sessions, key=_last_activity, default=None)


def _last_activity(stored: StoredSession) -> float:
    if stored.doc is None or stored.running:
        return float("inf")
    with suppress(DamagedSession):  # one that nobody can read is the last that is meant
        return float(document_of(stored.doc).get("lastActivity") or 0)
    return 0.0


def document_of(data: bytes) -> dict[str, Any]:
    """The document of a stored conversation. Raises `DamagedSession` for what is none."""
    try:
        tree = loads_raw(decode(data))
    except (ValueError, RecursionError) as error:
        raise DamagedSession(f"its document cannot be read: {error}") from error
    if not isinstance(tree, dict):
        raise DamagedSession("its document is no object")
    return tree


async def find_session(store: Store, session_id: str | None) -> StoredSession:
    """The conversation that is meant; the newest one when none is named. Raises `CallerError`."""
    if session_id is not None:
        found = await store.session(session_id)
        if found is not None:
            return found
    sessions = await all_sessions(store)
    known = [each.session_id for each in sessions]
    if session_id is not None:
        hint = did_you_mean(session_id, known) or _some(known)
        raise UnknownSession(session_id, hint)
    chosen = newest(sessions)
    if chosen is None:
        raise CallerError(EMPTY, hint=BEGIN)
    return chosen


def _some(known: list[str]) -> str:
    shown = ", ".join(known[-5:])
    return f"there are: {shown}" if shown else BEGIN


async def session_names(path: Path) -> list[str]:
    """The ids of all conversations in a store's file."""
    async with SqliteStore(path) as store:
        return [each.session_id for each in await all_sessions(store)]
