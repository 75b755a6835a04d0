"""The proof that an approval lets one call be made, once, as it was shown, and in time.

Each attack plays a conversation up to a call that waits for approval, tries to get more out of the
approval than was given, and counts in the service's ledger what took effect.
"""

from __future__ import annotations

import asyncio
import random
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from saywhy.errors import (
    AlreadyDecided,
    ApprovalExpired,
    ApprovalMismatch,
    NothingPending,
    SaywhyError,
)
from saywhy.runtime.engine import Engine
from saywhy.stores.sqlite import SqliteStore
from saywhy.testing.faults import Faults
from saywhy.testing.prove.child import Job, engine_of
from saywhy.testing.prove.place import Place, kept_at
from saywhy.testing.prove.seam import APPROVAL_PLANTS, check_plant

ENGINES: Final = 2
"""They share a store, as two processes would."""
AT_ONCE: Final = 10
EXPIRED_SECONDS: Final = 0.05
REFUSALS: Final = (AlreadyDecided, ApprovalExpired, ApprovalMismatch, NothingPending)


@dataclass(slots=True)
class Attack:
    """What one kind of attack came to."""

    name: str
    tries: int = 0
    """Attempts to get more than was approved."""
    refused: int = 0
    approved: int = 0
    """Calls that somebody really approved."""
    effects: int = 0
    wrong: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class ApprovalProof:
    """All attacks."""

    attacks: list[Attack] = field(default_factory=list[Attack])

    @property
    def wrong(self) -> list[str]:
        """What got through."""
        return [f"{attack.name}: {problem}" for attack in self.attacks for problem in attack.wrong]

    @property
    def holds(self) -> bool:
        """Whether nothing got through."""
        return not self.wrong

    def table(self) -> list[list[str]]:
        """One row an attack, with a heading."""
        heading = ["attack", "tries", "refused", "approved", "effects", "wrong"]
        rows = [heading]
        for one in self.attacks:
            numbers = (one.tries, one.refused, one.approved, one.effects, len(one.wrong))
            rows.append([one.name, *map(str, numbers)])
        return rows


def prove_approval(
    *, rounds: int = 10, seed: int = 1, store: Path | None = None, plant: str = ""
) -> ApprovalProof:
    """Try `rounds` times each to replay, to duplicate, to tamper with and to outlive an approval.

    The files lie beside `store`, or in a folder that is removed. `plant` breaks a rule on purpose
    (see `seam.APPROVAL_PLANTS`).
    """
    check_plant(plant, APPROVAL_PLANTS)
    with kept_at(store) as base:
        place = Place(base.with_name(f"{base.stem}-approval{base.suffix}")).clear()
        return asyncio.run(_prove(place, rounds, random.Random(seed), plant))


async def _prove(place: Place, rounds: int, chance: random.Random, plant: str) -> ApprovalProof:
    proof = ApprovalProof()
    async with AsyncExitStack() as stack:
        engines: list[Engine] = []
        for _ in range(ENGINES):
            job = Job(store=str(place.store), ledger=str(place.ledger.path), sessions=[])
            engine = engine_of(job, SqliteStore(place.store), place.ledger, Faults())
            engines.append(await stack.enter_async_context(engine))
        for name, work in ATTACKS.items():
            attack = Attack(name)
            for number in range(1, rounds + 1):
                stand = _Stand(place, engines, attack, f"{name}-{number}")
                stand.amount = chance.randint(1, 999)
                await work(stand)
                if plant == "careless":
                    await stand.approve_what_is_open()
                stand.count()
            proof.attacks.append(attack)
    return proof


class _Stand:
    """One conversation that waits for an approval, and what may be tried with it."""

    amount = 0

    def __init__(self, place: Place, engines: list[Engine], attack: Attack, session: str) -> None:
        self.place = place
        self.first, self.second = engines
        self.attack = attack
        self.session = session
        self.allowed: list[int] = []
        """The amounts that were approved, in order."""
        self._messages = 0

    async def say(self, text: str, session: str = "") -> str | None:
        """A message of the user, sent twice as messages are."""
        self._messages += 1
        options: dict[str, Any] = {"message_id": f"m{self._messages}"}
        options["cargo"] = {"what": session or self.session, "amount": self.amount}
        reply = await self.first.take_turn(session or self.session, text, **options)
        await self.second.take_turn(session or self.session, text, **options)
        return reply.response

    async def ask(self, flow: str = "Prove approval", session: str = "") -> dict[str, Any]:
        """Come to the call; gives what is shown to whoever approves."""
        await self.say(flow, session)
        (shown,) = await self.first.approvals(session or self.session)
        if shown["args"]["amount"] != self.amount:
            self.attack.wrong.append(f"{shown['args']} is shown, and {self.amount} is wanted")
        return shown

    async def approve(self, shown: dict[str, Any]) -> None:
        """Approve what is shown, as is meant to be."""
        self.attack.approved += 1
        self.allowed.append(shown["args"]["amount"])
        await self.first.approve(self.session, shown["id"], digest=shown["digest"], by="Ann")

    async def approve_what_is_open(self) -> None:
        """What a careless person does, and nobody counts on."""
        for shown in await self.first.approvals(self.session):
            with suppress(SaywhyError):
                await self.first.approve(self.session, shown["id"], by="Careless")

    async def tries(self, work: Awaitable[object], *kinds: type[SaywhyError]) -> None:
        """Attempt what must be refused, in one of these ways."""
        self.attack.tries += 1
        expected = kinds or REFUSALS
        try:
            await work
        except expected:
            self.attack.refused += 1
        except SaywhyError as error:
            self.attack.wrong.append(f"{self.session}: refused as {type(error).__name__}: {error}")
        else:
            self.attack.wrong.append(f"{self.session}: an attempt was not refused")

    def count(self) -> None:
        """Compare what took effect with what was approved."""
        amounts = [
            entry.facts["amount"]
            for entry in self.place.ledger.entries("effect")
            if entry.facts["session"].partition("/")[0] == self.session
        ]
        self.attack.effects += len(amounts)
        if amounts != self.allowed:
            self.attack.wrong.append(
                f"{self.session}: {amounts} took effect, and {self.allowed} was approved"
            )


async def _replay(stand: _Stand) -> None:
    """The same approval once more: at once, after the next call of the kind, and elsewhere."""
    shown = await stand.ask()
    await stand.approve(shown)
    digest = shown["digest"]
    await stand.tries(stand.second.approve(stand.session, shown["id"], digest=digest, by="Mallory"))
    other = f"{stand.session}/other"
    await stand.ask(session=other)
    await stand.tries(stand.second.approve(other, shown["id"], digest=digest, by="Mallory"))
    newer = await stand.ask()  # the same conversation asks for the same call
    await stand.tries(stand.second.approve(stand.session, shown["id"], digest=digest, by="Mallory"))
    await stand.tries(
        stand.second.approve(stand.session, newer["id"], digest=digest, by="Mallory"),
        ApprovalMismatch,
    )


async def _duplicate(stand: _Stand) -> None:
    """The same approval many times at once, through two engines on one store."""
    shown = await stand.ask()
    stand.attack.approved += 1
    stand.allowed.append(stand.amount)
    given = await asyncio.gather(
        *(
            engine.approve(stand.session, shown["id"], digest=shown["digest"], by="Ann")
            for engine in (stand.first, stand.second)
            for _ in range(AT_ONCE // ENGINES)
        ),
        return_exceptions=True,
    )
    failed = [one for one in given if isinstance(one, BaseException)]
    stand.attack.tries += len(given) - 1
    stand.attack.refused += sum(isinstance(one, AlreadyDecided | NothingPending) for one in failed)
    if len(failed) != len(given) - 1:
        stand.attack.wrong.append(f"{stand.session}: {len(given) - len(failed)} were let through")
    strange = [one for one in failed if not isinstance(one, REFUSALS)]
    stand.attack.wrong += [f"{stand.session}: {one!r}" for one in strange]


async def _tamper(stand: _Stand) -> None:
    """Other arguments than were shown: by digest, by the user, and by an edit."""
    shown = await stand.ask()
    wrong = shown["digest"][:-1] + ("0" if shown["digest"][-1] != "0" else "1")
    await stand.tries(
        stand.second.approve(stand.session, shown["id"], digest=wrong), ApprovalMismatch
    )
    meant, stand.amount = stand.amount, stand.amount + 1000
    await stand.say("make it more")  # the cargo holds another amount now
    stand.amount = meant
    edited = {"what": stand.session, "amount": meant + 1}
    await stand.first.approve(stand.session, shown["id"], args=edited, by="Ann")
    await stand.tries(stand.second.approve(stand.session, shown["id"], digest=shown["digest"]))
    (newer,) = await stand.first.approvals(stand.session)
    await stand.tries(
        stand.second.approve(stand.session, newer["id"], digest=shown["digest"]), ApprovalMismatch
    )
    await stand.approve(newer)


async def _forge(stand: _Stand) -> None:
    """The arguments are changed in the store itself, behind the back of whoever approves."""
    shown = await stand.ask()
    with closing(sqlite3.connect(stand.place.store)) as db:
        old, new = f'"amount":{stand.amount}', f'"amount":{stand.amount + 5000}'
        doc = _kept(stand.place.store, stand.session).replace(old.encode(), new.encode())
        db.execute(_PUT, (doc, stand.session))
        db.commit()
    stand.attack.tries += 1
    digest = shown["digest"]
    await stand.first.approve(stand.session, shown["id"], digest=digest, by="Ann")
    (newer,) = await stand.first.approvals(stand.session)
    if newer["id"] != shown["id"] and newer["args"]["amount"] == stand.amount + 5000:
        stand.attack.refused += 1  # it is shown as it is now, and was not made
    else:
        stand.attack.wrong.append(f"{stand.session}: what waits now is {newer}")


async def _expire(stand: _Stand) -> None:
    """An approval that comes too late, before and after the user has written again."""
    shown = await stand.ask("Prove approval in time")
    await asyncio.sleep(EXPIRED_SECONDS)
    digest = shown["digest"]
    await stand.tries(
        stand.first.approve(stand.session, shown["id"], digest=digest), ApprovalExpired
    )
    said = await stand.say("hello?")
    if "not approved in time" not in (said or ""):
        stand.attack.wrong.append(f"{stand.session}: the user was told {said!r}")
    await stand.tries(stand.first.approve(stand.session, shown["id"], digest=digest))


ATTACKS: Final[dict[str, Callable[[_Stand], Awaitable[None]]]] = {
    "replay": _replay,
    "duplicate": _duplicate,
    "tamper": _tamper,
    "forge": _forge,
    "expire": _expire,
}

_GET: Final = """SELECT doc FROM document JOIN session USING (session_key) WHERE id = ?"""
_PUT: Final = """UPDATE document SET doc = ? WHERE session_key =
(SELECT session_key FROM session WHERE id = ?)"""


def _kept(store: Path, session: str) -> bytes:
    """A conversation's document as it lies in the file."""
    with closing(sqlite3.connect(store)) as db:
        return bytes(db.execute(_GET, (session,)).fetchone()[0])


__all__ = ["ATTACKS", "ApprovalProof", "Attack", "prove_approval"]
