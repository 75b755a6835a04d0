"""The proof that messages are processed once each and in order, however they arrive.

Two processes race for one conversation. Several clients send their messages, each message in
several copies, some to one process and some to the other.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from saywhy.stores.sqlite import SqliteStore
from saywhy.stores.store import StoredTurn
from saywhy.testing.prove.child import Race
from saywhy.testing.prove.place import Place, Processes, kept_at
from saywhy.testing.prove.seam import ORDER_PLANTS, check_plant

SESSION: Final = "order-1"
PROCESSES: Final = 2


@dataclass(slots=True)
class OrderProof:
    """What was sent, and what came of it."""

    messages: int = 0
    delivered: int = 0
    """Copies of messages."""
    turns: int = 0
    effects: int = 0
    processes: int = 0
    """How many processes had a part in the turns."""
    wrong: list[str] = field(default_factory=list[str])

    @property
    def holds(self) -> bool:
        """Whether no rule was broken."""
        return not self.wrong

    def table(self) -> list[list[str]]:
        """The numbers, with a heading."""
        names = ("messages", "delivered", "turns", "effects", "processes", "wrong")
        numbers = (self.messages, self.delivered, self.turns, self.effects, self.processes)
        return [list(names), [*map(str, numbers), str(len(self.wrong))]]


def prove_order(
    *,
    clients: int = 10,
    copies: int = 3,
    messages: int = 5,
    seed: int = 1,
    store: Path | None = None,
    plant: str = "",
) -> OrderProof:
    """Let two processes race for one conversation.

    Each of the `clients` sends `messages` messages, the next when the one before was answered, each
    in `copies`. The files lie beside `store`, or in a folder that is removed. `plant` breaks a rule
    on purpose (see `seam.ORDER_PLANTS`). Needs a system with `fork`.
    """
    check_plant(plant, ORDER_PLANTS)
    chance = random.Random(seed)
    shares = list(_shares(clients, messages, copies, chance))
    with kept_at(store) as base, ExitStack() as stack:
        place = Place(base.with_name(f"{base.stem}-order{base.suffix}")).clear()
        running: list[Processes] = []
        for share in shares:
            processes = stack.enter_context(Processes())
            processes.start(
                Race(
                    store=str(place.store),
                    ledger=str(place.ledger.path),
                    session=SESSION,
                    clients=share,
                    racers=PROCESSES,
                    plant=plant,
                )
            )
            running.append(processes)
        codes = [processes.wait().code for processes in running]
        proof = _judged(place, clients, messages, copies)
        proof.wrong += [f"a process ended with exit code {code}" for code in codes if code]
    return proof


def _shares(
    clients: int, messages: int, copies: int, chance: random.Random
) -> Iterator[list[list[tuple[str, int]]]]:
    """What each process delivers: every copy goes to one of them, and none to nobody."""
    first: list[list[tuple[str, int]]] = []
    second: list[list[tuple[str, int]]] = []
    for client in range(1, clients + 1):
        ids = [f"c{client}-{number}" for number in range(1, messages + 1)]
        split = [chance.randint(min(1, copies - 1), max(1, copies - 1)) for _ in ids]
        first.append(list(zip(ids, split, strict=True)))
        second.append([(name, copies - here) for name, here in zip(ids, split, strict=True)])
    yield first
    yield second


def _judged(place: Place, clients: int, messages: int, copies: int) -> OrderProof:
    turns = asyncio.run(_turns(place))
    effects = place.ledger.entries("effect")
    said = place.ledger.entries("said")
    proof = OrderProof(
        clients * messages,
        len(said),
        len(turns),
        len(effects),
        len({entry.pid for entry in effects}),
    )
    ids = [turn.message_id for turn in turns]
    proof.wrong += _each_once(ids, clients, messages)
    proof.wrong += _in_order(ids)
    acted = [entry.facts["what"] for entry in effects]
    proof.wrong += [f"{one} took effect {n} times" for one, n in Counter(acted).items() if n > 1]
    if acted != ids:
        proof.wrong.append(f"effects and turns stand in another order: {acted} and {ids}")
    proof.wrong += [
        f"turn {turn.turn_no} ended as {turn.status}" for turn in turns if turn.status != "done"
    ]
    for entry in said:
        if entry.facts["text"] != f"Paid {entry.key}.":
            proof.wrong.append(f"the reply to {entry.key} was {entry.facts['text']!r}")
    if len(said) != clients * messages * copies:
        proof.wrong.append(f"{len(said)} copies of messages were answered")
    return proof


def _each_once(ids: list[str], clients: int, messages: int) -> Iterator[str]:
    expected = {f"c{c}-{n}" for c in range(1, clients + 1) for n in range(1, messages + 1)}
    counts = Counter(ids)
    for name in sorted(expected | set(ids)):
        if counts[name] != 1 or name not in expected:
            yield f"{name} has {counts[name]} turns"


def _in_order(ids: list[str]) -> Iterator[str]:
    """The messages of one client have their turns in the order in which it sent them."""
    for client in sorted({name.partition("-")[0] for name in ids}):
        numbers = [int(name.split("-")[1]) for name in ids if name.startswith(f"{client}-")]
        if numbers != sorted(numbers):
            yield f"the messages of {client} have their turns in the order {numbers}"


async def _turns(place: Place) -> list[StoredTurn]:
    found: list[StoredTurn] = []
    async with SqliteStore(place.store) as store:
        while more := await store.turns(SESSION, after=len(found)):
            found += more
    return found


__all__ = ["OrderProof", "prove_order"]
