"""What to do with a call found half made.

Before a call its intent is stored, with the cursor and the commits up to it; after it the result.
After a crash the turn goes on at the call it had asked for: an answered one is not made again, an
interrupted one by its effect class. spec: durability 1, 3
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from hashlib import blake2b
from typing import TypeVar

from saywhy.chart.outcome import Answer, Need
from saywhy.errors import SaywhyError
from saywhy.runtime.calls import NOT_DONE, interrupted_call
from saywhy.runtime.machinery import Make
from saywhy.runtime.persistence import USUAL, Persistence
from saywhy.runtime.turn import TurnRun
from saywhy.stores.store import LEASE_SECONDS, Claim, Prior, Store
from saywhy.stores.store import Call as StoredCall
from saywhy.tools.answer import ToolAnswer
from saywhy.trace.block import rows_of
from saywhy.values import dumps

T = TypeVar("T")

UNKNOWN = "OutcomeUnknown"


class Diverged(SaywhyError):
    """A resumed turn asked for another call than the one on record. It is stopped."""

    name = "Diverged"


class StoreJournal:
    """The journal of one turn, in the store."""

    def __init__(
        self,
        store: Store,
        claim: Claim,
        ttl_seconds: float = LEASE_SECONDS,
        persistence: Persistence = USUAL,
    ) -> None:
        self.store = store
        self.claim = claim
        self.persistence = persistence
        # Kept as long as the turn is open, and never told: it also hides what arguments hash to.
        self.nonce = blake2b(b"nonce", digest_size=6, key=claim.salt).hexdigest()
        """The same for each attempt at this turn, another one for every other turn: whoever was
        forgotten and comes again under the same id must not be taken for a repeat."""
        self.ttl_seconds = ttl_seconds
        self.unstored: tuple[int, bytes] | None = None
        """The newest result. It goes into the transaction of the next intent or of the turn's end:
        between the two the flow only computes, so nothing can happen that it would not precede."""
        self._newest = 0
        """The newest call that was asked."""
        self.written = 0
        """Commits of this turn that are stored already."""
        self.over = False
        """Whether the end of the turn is stored."""
        self._renew_at = asyncio.get_running_loop().time() + ttl_seconds / 3
        self._renewing: asyncio.Task[None] | None = None

    async def around(self, run: TurnRun, need: Need, seq: int, key: str, call: Make) -> ToolAnswer:
        """Store the intent, make the call unless it is answered, keep the result."""
        wanted = StoredCall(need.kind, need.name, need.effect, dumps(need.args), key)
        rows = self.rows(run)  # the document says which commits wrote what
        document = self.persistence.cursor(run)
        prior = await self.store.intent(
            self.claim, seq, wanted, document, rows, previous_result=self.unstored
        )
        self.unstored = None
        self._newest = seq
        answer = self._known(prior, need, run)
        return answer if answer is not None else await self._held(self._made(seq, call))

    async def _made(self, seq: int, call: Make) -> ToolAnswer:
        """The call, its result noted even when it comes after the turn was cancelled."""
        answer = await call()
        self.unstored = (seq, dumps(answer))
        return answer

    async def waiting(self, work: Callable[[], Awaitable[Answer]]) -> Answer:
        """What `work` gives. What the last call gave must not wait for it."""
        await self.keep()
        return await self._held(work())

    def found_out(self, answer: ToolAnswer) -> None:
        """What became of the newest call, which was cut off, is known after all."""
        self.unstored = (self._newest, dumps(answer))

    async def keep(self) -> None:
        """Store the newest result, if it is not. One that came too late to save is kept as well."""
        if self.unstored is not None:
            await self.store.result(self.claim, *self.unstored)
            self.unstored = None

    def rows(self, run: TurnRun) -> list[tuple[int, bytes]]:
        """Commits not stored yet, as rows; they count as stored from now on."""
        kept = run.recorder.kept
        fresh = kept[self.written :]
        self.written = len(kept)
        writers = run.session.writers
        links = writers.take(fresh)
        writers.only(run.session.state.scopes)
        return rows_of(fresh, run.said.messages, links)

    def _known(self, prior: Prior, need: Need, run: TurnRun) -> ToolAnswer | None:
        if prior.status == "diverged":
            raise Diverged(
                f"the turn was to go on with another call of {need.name} than the one on record"
            )
        answer = None
        if prior.status == "answered" and prior.result is not None:
            answer = ToolAnswer.from_json(prior.result)
            if answer.fault_name != NOT_DONE:
                return answer
        # One found not to have acted is still to be made: its function is asked once more.
        if (answer is not None or prior.status == "interrupted") and need.effect == "once":
            return interrupted_call(run, need, UNKNOWN)
        return None

    async def _held(self, work: Awaitable[T]) -> T:
        """What `work` gives, with the lease renewed in time for the whole turn.

        A turn that is cancelled waits until the work has come to its end: whoever takes over must
        not find it still going on.
        """
        turn, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert turn is not None, "a turn is run by a task"
        cancelled = turn.cancelling()
        # Most calls are over long before: a timer costs a tenth of a task that watches each.
        due = loop.call_at(self._renew_at, self._begin_renewing)
        try:
            answer = await work
        finally:
            due.cancel()
            self._end_renewing()
        if turn.cancelling() > cancelled:  # the work saw itself through; the turn is over
            raise asyncio.CancelledError
        if loop.time() >= self._renew_at:  # many short calls, none of which let the timer go off
            await self._renew()
        return answer

    def _begin_renewing(self) -> None:
        self._renewing = asyncio.create_task(self._keep_renewing())

    def _end_renewing(self) -> None:
        if self._renewing is not None:
            self._renewing.cancel()
            self._renewing = None

    async def _keep_renewing(self) -> None:
        while True:
            await self._renew()
            await asyncio.sleep(self.ttl_seconds / 3)

    async def _renew(self) -> None:
        with suppress(SaywhyError):  # the store fails: the call is not the worse for it
            await self.store.renew(self.claim, self.ttl_seconds)
        self._renew_at = asyncio.get_running_loop().time() + self.ttl_seconds / 3


__all__ = ["UNKNOWN", "Diverged", "StoreJournal"]
