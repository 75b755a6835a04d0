"""Turns that cannot go on here stand still: who holds them, lists them, and lets them go on.

A turn that was interrupted in a call is looked at before anything of it runs. Where something that
it needs is missing or different, it is held: nothing is replayed, no call is made, no record of it
changes, and messages behind it wait. It goes on by itself when a runtime that fits looks at it
again, or a person decides. What is in the way is found by `identity`. spec: durability 1
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import msgspec

from saywhy.chart.model import Chart
from saywhy.chart.stages import KIND as STAGES
from saywhy.errors import CallerError, TurnHeld
from saywhy.runtime.identity import Head, Obstacle, obstacles, read_head
from saywhy.stores.encoding import decode
from saywhy.stores.held import StoredHeld
from saywhy.stores.store import Claim, JournalEntry, Store, merged
from saywhy.values import dumps, loads_raw

if TYPE_CHECKING:
    from saywhy.runtime.turn import Machinery

_PAGE: Final = 20


class HeldCall(msgspec.Struct, frozen=True, rename="camel"):
    """The call that a held turn was cut off in, or had made last.

    `is_answered`: its result is on record. Else nobody knows whether it took effect.
    """

    tool: str
    effect: str
    key: str
    is_answered: bool


class HeldTurn(msgspec.Struct, frozen=True, rename="camel"):
    """A turn that stands still, and why. `since` is in milliseconds since 1970."""

    session_id: str
    user_id: str
    turn_no: int
    message_id: str
    since: float
    reasons: tuple[str, ...]
    call: HeldCall | None = None


class Holding:
    """Who looks at interrupted turns for one engine on one store."""

    def __init__(self, machinery: Machinery, store: Store) -> None:
        self.machinery = machinery
        self.store = store

    async def check(self, claim: Claim) -> None:
        """Hold a claimed turn that cannot go on here, and raise `TurnHeld`."""
        if claim.turn_doc is None:  # it made no call: it begins anew, and nothing is done twice
            return
        found = await self.obstacles(claim.turn_doc, claim.journal)
        in_the_way = _without(found, decided_in(claim.released))
        if in_the_way:
            await self.store.hold(claim, dumps([one.text for one in in_the_way]).decode())
            raise refusal(claim.session_id, claim.turn_no, in_the_way)

    async def free(self, session_id: str) -> None:
        """Let the held turn of a conversation go on, if it can. Raises `TurnHeld`."""
        for held in await self.store.held(session_id):
            in_the_way = await self.still(held)
            if in_the_way:
                raise refusal(held.session_id, held.turn_no, in_the_way)
            await self.store.release(held.session_id, held.turn_no)

    async def free_all(self, session_id: str | None = None) -> None:
        """Let every held turn that can go on be claimed again."""
        async for held in all_held(self.store, session_id):
            if not await self.still(held):
                await self.store.release(held.session_id, held.turn_no)

    async def release(self, session_id: str, *, by: str, at_ms: float) -> HeldTurn:
        """Note a person's word for the held turn. Raises `TurnHeld` where that does not help."""
        for held in await self.store.held(session_id):
            missing = [one for one in await self.still(held) if one.is_final]
            if missing:
                raise refusal(session_id, held.turn_no, missing)
        return await release(self.store, session_id, by=by, at_ms=at_ms)

    async def still(self, held: StoredHeld) -> list[Obstacle]:
        """What is in the way of a held turn now."""
        if held.turn_doc is None:
            return []
        journal = merged(await self.store.journal(held.session_id, held.turn_no))
        found = await self.obstacles(held.turn_doc, journal)
        return _without(found, decided_in(held.released))

    async def obstacles(self, document: bytes, journal: Sequence[JournalEntry]) -> list[Obstacle]:
        """What is in the way of going on from a stored cursor.

        A damaged one is none of it: its turn fails as damaged, which can be told.
        """
        try:
            head = read_head(decode(document))
        except CallerError:
            return []
        if head is None:
            return []
        await self._know_charts(head)
        return list(obstacles(head, journal, self.machinery))

    async def _know_charts(self, head: Head) -> None:
        for frame in head.frames():
            await know_chart(self.machinery, self.store, frame.chart)


async def know_chart(machinery: Machinery, store: Store, digest: str) -> None:
    """Make the version of a flow known that the store has, if it has it."""
    if digest in machinery.charts:
        return
    take_chart(machinery, await store.chart(digest))


def take_chart(machinery: Machinery, stored: bytes | None) -> None:
    """Make a version of a flow known, as the store has it."""
    if stored is not None:
        with suppress(ValueError):  # a damaged one is not there
            chart = Chart.from_json(stored)
            if chart.kind != STAGES or machinery.charts.find(chart.id) is not None:
                machinery.charts.add_version(chart)  # an agent that is not here brings nothing


# ------------------------------------------------------------------ what people see and decide


async def held_turns(store: Store, session_id: str | None = None) -> list[HeldTurn]:
    """Every held turn of a store, or that of one conversation."""
    return [await _told(store, held) async for held in all_held(store, session_id)]


async def release(store: Store, session_id: str, *, by: str, at_ms: float) -> HeldTurn:
    """Note that a person wants the held turn to go on in spite of what differs.

    This holds for the reasons that are listed now, and not for others that come up later. What is
    missing altogether stays in the way. Raises `CallerError` where no turn is held.
    """
    held, told = await _the_one(store, session_id)
    decided = {*decided_in(held.released), *told.reasons}
    note = dumps({"by": by, "at": at_ms, "reasons": sorted(decided)}).decode()
    if not await store.release(session_id, held.turn_no, note):
        raise _none(session_id)
    return told


async def abandon(store: Store, session_id: str, *, by: str, why: str = "") -> HeldTurn:
    """End the held turn without a reply. Its calls stay on record. Raises `CallerError`."""
    held, told = await _the_one(store, session_id)
    text = "the turn was held and given up"
    message = text + (f" by {by}" if by else "") + (f": {why}" if why else "")
    error = dumps({"name": TurnHeld.name, "message": message}).decode()
    if not await store.abandon(session_id, held.turn_no, error):
        raise _none(session_id)
    return told


async def all_held(store: Store, session_id: str | None = None) -> AsyncIterator[StoredHeld]:
    """Held turns, page by page."""
    if session_id is not None:
        for held in await store.held(session_id):
            yield held
        return
    after = ""
    while page := await store.held(None, _PAGE, after):
        for held in page:
            yield held
        after = page[-1].session_id


async def _the_one(store: Store, session_id: str) -> tuple[StoredHeld, HeldTurn]:
    found = await store.held(session_id)
    if not found:
        raise _none(session_id)
    return found[0], await _told(store, found[0])


async def _told(store: Store, held: StoredHeld) -> HeldTurn:
    journal = merged(await store.journal(held.session_id, held.turn_no))
    call = None
    if journal:
        last = journal[-1]
        call = HeldCall(last.name, last.effect, last.key, last.status == "answered")
    return HeldTurn(
        held.session_id, held.user_id, held.turn_no, held.message_id, held.since_ms,
        tuple(loads_raw(held.why)), call,
    )  # fmt: skip


def _none(session_id: str) -> CallerError:
    return CallerError(
        f'no turn of conversation "{session_id}" is held', hint="saywhy held list names them all"
    )


def decided_in(note: str | None) -> frozenset[str]:
    """The reasons that a person decided to overlook."""
    return frozenset(loads_raw(note)["reasons"]) if note else frozenset()


def refusal(session_id: str, turn_no: int, in_the_way: Sequence[Obstacle]) -> TurnHeld:
    """The error for whoever waits for the turn, or for one behind it."""
    return TurnHeld(session_id, turn_no, [one.text for one in in_the_way])


def _without(found: Sequence[Obstacle], decided: frozenset[str]) -> list[Obstacle]:
    return [one for one in found if one.is_final or one.text not in decided]


__all__ = [
    "HeldCall",
    "HeldTurn",
    "Holding",
    "abandon",
    "all_held",
    "held_turns",
    "know_chart",
    "release",
]
