"""Conversations in a store: accept a message, claim its turn, run it, finish it.

A message that was accepted is processed to an end, whatever crashes in between; the same message
id gives the stored reply and does nothing again. spec: durability 1
"""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import msgspec

from saywhy.chart.failure import failure_name, failure_text
from saywhy.chart.model import Charts
from saywhy.errors import (
    CallerError,
    Fenced,
    FlowExecutionError,
    OutsideError,
    SaywhyError,
    SessionBusy,
    TurnHeld,
    UnknownSession,
)
from saywhy.messages import read_message
from saywhy.runtime.entry import Entry
from saywhy.runtime.held import Holding, know_chart
from saywhy.runtime.journal import Diverged, StoreJournal
from saywhy.runtime.late import mask_stored, mask_written
from saywhy.runtime.persistence import USUAL, Persistence
from saywhy.runtime.recorded import trace_of
from saywhy.runtime.replay.setting import NAME, digest_of
from saywhy.runtime.replies import TurnReply, error_json, error_of, kept_of, reply_of
from saywhy.runtime.session import Session
from saywhy.runtime.turn import Machinery, TurnRun
from saywhy.runtime.unjournaled import SessionJournal, seen_through
from saywhy.runtime.waiting import is_unknown, outbox_of, timers_of, waiting_of
from saywhy.stores.encoding import decode as document_of
from saywhy.stores.store import LEASE_SECONDS, Accepted, Claim, Rows, Store
from saywhy.stores.timers import StoredTimer
from saywhy.trace.masking.redact import Policy
from saywhy.trace.trace import Trace
from saywhy.values import dumps, loads_raw

if TYPE_CHECKING:
    from saywhy.runtime.agents.screen import Screen

WAIT_SECONDS: Final = 30.0
"""How long a turn waits for another of the same conversation to end."""
POLL_SECONDS: Final = 0.05
MAX_RECOVERED: Final = 16
"""Turns that `recover` runs at the same time: one that takes long must not hold up the others."""
LEFT_OPEN: Final = (asyncio.CancelledError, KeyboardInterrupt, SystemExit, GeneratorExit)
"""What stops a turn without being about it: it is taken up again."""


class Conversations:
    """The turns of one engine on one store."""

    def __init__(
        self,
        machinery: Machinery,
        store: Store,
        policy: Policy,
        lease_seconds: float = LEASE_SECONDS,
        persistence: Persistence = USUAL,
        setting: Callable[[], bytes] | None = None,
    ) -> None:
        self.machinery = machinery
        self.store = store
        self.persistence = persistence
        self.holding = Holding(machinery, store)
        self.policy = policy
        self.lease_seconds = lease_seconds
        self.worker = f"{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self._charts_kept = False
        self._setting = setting
        """What gives all that conversations run with, as a document."""
        self._ran_with = ""
        self._left: dict[str, StoreJournal] = {}
        """By conversation: turns that stopped without an end, which the store was not told yet."""
        self._minded: dict[str, asyncio.Task[None]] = {}
        """By conversation: who sees to it that what was accepted is processed."""

    async def close(self) -> None:
        """Leave what is open to whoever opens the store next, and close it."""
        here = asyncio.get_running_loop()
        tasks = [task for task in self._minded.values() if task.get_loop() is here]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.store.close()

    # ------------------------------------------------------------ turns

    async def take_turn(
        self,
        session_id: str,
        entry: Entry,
        *,
        message_id: str,
        user_id: str,
        wait_seconds: float = WAIT_SECONDS,
        screen: Screen | None = None,
    ) -> TurnReply:
        """Accept a message and run its turn. See `Engine.take_turn`."""
        _check_ids(session_id=session_id, message_id=message_id, user_id=user_id)
        await self._keep_charts()
        await self._let_go(session_id)
        accepted, claim = await self.store.accept_and_claim(
            session_id,
            message_id,
            entry.to_json(),
            user_id=user_id,
            worker=self.worker,
            ttl_seconds=self.lease_seconds,
            mode=self.persistence.mode,
        )
        repeated = accepted.status != "new"
        deadline = self.machinery.clock.now() + wait_seconds * 1000
        while True:
            if accepted.status in ("done", "ended"):
                return await self._stored_reply(session_id, accepted, repeated=repeated)
            if claim is not None:
                reply = await self._run_claimed(claim, mine=accepted.turn_no, screen=screen)
                if reply is not None and claim.turn_no == accepted.turn_no:
                    return reply
            elif accepted.held:
                await self.holding.free(session_id)
            elif self.machinery.clock.now() > deadline:
                self._mind(session_id)
                raise SessionBusy(
                    f"another turn of {session_id} has been running for {wait_seconds:g} seconds",
                    hint="the message was accepted and will be processed; ask again with its id",
                )
            else:
                await self.store.wait_work(POLL_SECONDS)
            accepted = await self.store.accept(
                session_id,
                message_id,
                entry.to_json(),
                user_id=user_id,
                mode=self.persistence.mode,
            )
            claim = await self._claim(session_id) if accepted.status in ("new", "running") else None

    async def decide(
        self, session: Session, entry: Entry, message_id: str, run: bool
    ) -> TurnReply | None:
        """Take in what a person decided; run it now, or leave it to the next turn."""
        name, user = session.session_id, session.user_id
        mode = self.persistence.mode
        if not run:  # whoever runs it later is of its mode, not of ours
            stored = await self.store.session(name)
            mode = stored.mode if stored else mode
        accepted = await self.store.accept(
            name, message_id, entry.to_json(), user_id=user, mode=mode
        )
        # Whoever came first decided, whichever worker then runs the turn.
        is_first = accepted.status == "new"
        if run:
            reply = await self.take_turn(name, entry, message_id=message_id, user_id=user)
            return msgspec.structs.replace(reply, repeated=not is_first)
        if is_first:
            return None
        return TurnReply(session.session_id, accepted.turn_no, None, repeated=True)

    async def take_due(self, timer: StoredTimer, entry: Entry, message_id: str) -> bool:
        """Take in that a moment has come, and run it; False where that was done before."""
        await self._keep_charts()
        accepted, claim = await self.store.accept_and_claim(
            timer.session_id,
            message_id,
            entry.to_json(),
            user_id=timer.user_id,
            worker=self.worker,
            ttl_seconds=self.lease_seconds,
            mode=self.persistence.mode,
        )
        while claim is not None:
            await self._run_claimed(claim, mine=0)
            is_ours = claim.turn_no == accepted.turn_no
            claim = None if is_ours else await self._claim(timer.session_id)
        return accepted.status == "new"

    def _mind(self, session_id: str) -> None:
        """Nobody waits for an accepted message any more: run it when its time comes."""
        task = self._minded.get(session_id)
        if task is None or task.done():
            self._minded[session_id] = asyncio.create_task(self._until_idle(session_id))

    async def _until_idle(self, session_id: str) -> None:
        try:
            while True:
                await self.recover(session_id)
                stored = await self.store.session(session_id)
                if stored is None or not stored.running or stored.held:
                    break
                await self.store.wait_work(POLL_SECONDS)
        except SaywhyError as error:
            self.machinery.error(f"what waits in {session_id} stays for later: {error}")
        finally:
            self._minded.pop(session_id, None)

    async def recover(self, session_id: str | None = None) -> int:
        """Run every turn that was accepted and not ended; gives how many there were."""
        await self._keep_charts()
        for left in [session_id] if session_id is not None else list(self._left):
            await self._let_go(left)
        await self.holding.free_all(session_id)
        running: set[asyncio.Task[TurnReply | None]] = set()
        count = 0
        try:
            while True:
                claim = await self._claim(session_id)
                if claim is not None:
                    running.add(asyncio.create_task(self._run_claimed(claim, mine=0)))
                    count += 1
                elif not running:
                    return count
                if claim is None or len(running) >= MAX_RECOVERED:
                    # One that ends may also make room for the next of its conversation.
                    done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                    for turn in done:
                        turn.result()
        finally:
            for turn in running:
                turn.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def release_held(self, session_id: str, by: str) -> int:
        """Run a held turn because somebody says so. See `Engine.release_held`."""
        now = self.machinery.clock.now()
        await self.holding.release(session_id, by=by, at_ms=now)
        return await self.recover(session_id)

    async def _claim(self, session_id: str | None) -> Claim | None:
        return await self.store.claim(
            self.worker, self.lease_seconds, session_id, self.persistence.mode
        )

    async def _run_claimed(
        self, claim: Claim, *, mine: int, screen: Screen | None = None
    ) -> TurnReply | None:
        """Run a claimed turn; None when it did not come to its reply here.

        What a turn of somebody else's raises is stored, not raised here.
        """
        try:
            return await self._run(claim, screen if claim.turn_no == mine else None)
        except Fenced as error:  # another worker has it now, and will have its reply
            self.machinery.warn(str(error))
        except TurnHeld as error:
            self.machinery.error(str(error))
        except OutsideError:  # the store's own: the next turn would meet it again
            raise
        except Exception as error:
            if claim.turn_no == mine:
                raise
            problem = f"{failure_name(error)}: {failure_text(error)}"
            self.machinery.error(f"turn {claim.turn_no} of {claim.session_id} failed: {problem}")
        return None

    async def _run(self, claim: Claim, screen: Screen | None) -> TurnReply:
        """Run a claimed turn to an end that is stored, whatever it is.

        A cancelled turn stays open, and so does one that the store failed: it is taken up again
        where its journal ends.
        """
        kept = (self.store, claim, self.lease_seconds, self.persistence)
        is_durable = self.persistence.mode == "durable"
        journal = StoreJournal(*kept) if is_durable else SessionJournal(*kept)
        try:
            await self.holding.check(claim)
            turn = self._to_its_end(claim, journal, screen)
            if isinstance(journal, SessionJournal):
                return await seen_through(turn, journal)
            return await turn
        except TurnHeld:
            raise
        except Fenced:
            await journal.keep()
            raise
        except BaseException:
            if not journal.over:
                self._left[claim.session_id] = journal
                with suppress(SaywhyError):  # then the next turn or the end of the lease does it
                    await self._let_go(claim.session_id)
            raise

    async def _let_go(self, session_id: str) -> None:
        """Keep what the last call of a turn left open gave, and let the next worker take over."""
        if session_id in self._left:
            journal = self._left[session_id]
            await asyncio.shield(journal.keep())
            await asyncio.shield(self.store.renew(journal.claim, 0.0))
            self._left.pop(session_id, None)

    async def _to_its_end(
        self, claim: Claim, journal: StoreJournal, screen: Screen | None
    ) -> TurnReply:
        machinery = self.machinery if screen is None else screen.over(self.machinery)
        try:
            entry = Entry.from_json(claim.input)
            session = await self._open(claim)
            with self.machinery.watchers.recording(self.policy, session) as recorder:
                run = TurnRun(machinery, session, recorder, journal)
                try:
                    if entry.role == "assistant":
                        run.note_assistant(entry)
                    elif claim.turn_doc is not None:
                        await run.resume(entry)
                    else:
                        await run.take(entry)
                except FlowExecutionError as error:
                    await self._fail_repaired(claim, run, journal, error)
                    raise
                return await self._finish(claim, run, journal)
        except (Fenced, OutsideError, *LEFT_OPEN):
            raise
        except BaseException as error:
            if not journal.over:
                status = "diverged" if isinstance(error, Diverged) else "error"
                result = journal.unstored
                await self.store.fail(claim, status, error_json(error), previous_result=result)
                journal.over = True
            raise

    async def _open(self, claim: Claim) -> Session:
        data = claim.turn_doc or claim.doc
        if data is None:
            now = self.machinery.clock.now()
            session = Session(claim.session_id, claim.user_id, None, self.machinery.charts, now)
        else:
            session = await self.session_of(data)
        if claim.turn_doc is None:
            session.check(self.machinery.charts)
        if self._ran_with:
            session.state.scopes["session"][NAME] = self._ran_with
        session.version = claim.version
        session.state.turn = claim.turn_no if claim.turn_doc else claim.turn_no - 1
        return session

    async def _finish(self, claim: Claim, run: TurnRun, journal: StoreJournal) -> TurnReply:
        session = run.session
        session.version += 1
        reply = reply_of(session, claim.turn_no)
        written = journal.written
        rows = journal.rows(run)  # the document says which commits wrote what
        rows = await self._masked(claim, run, rows, written)
        await self.store.finish(
            claim,
            self.persistence.document(session),
            dumps(kept_of(reply, session.reply_message, run.recorder.redactor)),
            messages=self._messages(run),
            commits=rows,
            previous_result=journal.unstored,
            outbox=outbox_of(run, reply.response),
            ended_as="unknown" if is_unknown(session) else "done",
            waiting=waiting_of(run),
            timers=timers_of(run),
        )
        journal.over = True
        return reply

    async def _fail_repaired(
        self, claim: Claim, run: TurnRun, journal: StoreJournal, error: FlowExecutionError
    ) -> None:
        session = run.session
        session.version += 1
        written = journal.written
        rows = await self._masked(claim, run, journal.rows(run), written)
        await self.store.fail(
            claim,
            "error",
            error_json(error),
            doc=self.persistence.document(session),
            messages=self._messages(run),
            commits=rows,
            previous_result=journal.unstored,
            blank="all",
            blank_input=True,
            waiting=waiting_of(run),
            timers=timers_of(run),
        )
        journal.over = True

    async def _masked(self, claim: Claim, run: TurnRun, rows: Rows, written: int) -> Rows:
        """The rows of the turn; where it found out what earlier ones should not have told, or it
        itself before, they and those are masked."""
        if written and run.recorder.has_masked_again:
            await mask_written(self.store, claim, run)
        if not run.recorder.redactor.declared:
            return rows
        return await mask_stored(self.store, claim, run, rows)

    def _messages(self, run: TurnRun) -> list[tuple[int, bytes]]:
        return [(message.seq, dumps(message)) for message in run.said.messages]

    # ------------------------------------------------------------ reading

    async def _stored_reply(
        self, session_id: str, accepted: Accepted, *, repeated: bool
    ) -> TurnReply:
        if accepted.status == "ended":
            raise error_of(accepted.error or "")
        newest = await self._newest_reply(session_id, accepted.turn_no)
        if newest is not None:
            return msgspec.structs.replace(newest, repeated=repeated)
        stored = loads_raw(accepted.reply or b"{}")
        response = stored.get("response")
        if isinstance(response, int):
            found = await self.store.messages(session_id, after=response - 1, limit=1)
            response = read_message(found[0].doc).text if found else ""
        return TurnReply(
            session_id,
            accepted.turn_no,
            response,
            stored.get("calls") or [],
            stored.get("outcome"),
            stored.get("dispatch"),
            repeated,
        )

    async def _newest_reply(self, session_id: str, turn_no: int) -> TurnReply | None:
        """The reply as it was said, while it is the newest; then it is kept without secrets."""
        stored = await self.store.session(session_id)
        if stored is None or stored.doc is None or stored.turn_no != turn_no:
            return None
        with suppress(SaywhyError):
            return reply_of(await self.session_of(stored.doc), turn_no)
        return None

    async def session(self, session_id: str) -> Session | None:
        """A conversation as its last turn left it; None when there is none."""
        stored = await self.store.session(session_id)
        if stored is None or stored.doc is None:
            return None
        session = await self.session_of(stored.doc)
        session.version = stored.version
        return session

    async def session_of(self, data: bytes) -> Session:
        """The session in a document, with the versions of flows and routing it stands in."""
        document = document_of(data)
        session = Session.from_json(document, self.machinery.charts, self.machinery.warn)
        for frame in (*session.cursor.walk(), *session.routing.walk()):
            await self._know_chart(frame.chart)
        return session

    async def _know_chart(self, digest: str) -> None:
        await know_chart(self.machinery, self.store, digest)

    async def trace(self, session_id: str) -> Trace:
        """Everything recorded of a conversation. Raises `UnknownSession` for one never begun."""
        if await self.store.session(session_id) is None:
            # Ids that are near are not told: they may be other people's.
            raise UnknownSession(session_id, "a conversation begins with its first take_turn")
        return await trace_of(self.machinery, self.store, session_id)

    async def _keep_charts(self) -> None:
        """Store the flows once, so that a conversation can go on after they were changed."""
        if not self._charts_kept:
            charts: Charts = self.machinery.charts
            documents = {chart.digest: chart.to_json() for chart in charts}
            if self._setting is not None:
                setting = self._setting()
                self._ran_with = digest_of(setting)
                documents[self._ran_with] = setting
            await self.store.put_charts(documents)
            self._charts_kept = True


def _check_ids(**ids: Any) -> None:
    """Refuse ids that not every store would give back as they were."""
    for name, value in ids.items():
        if not isinstance(value, str):
            raise CallerError(f"{name} is text, not {type(value).__name__}", hint=f"{name}=str(…)")
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise CallerError(f"{name} holds half a character: {value!r}") from error


__all__ = ["Conversations", "TurnReply", "reply_of"]
