"""Conversations on SQLite while processes freeze, turns are cancelled and messages come in crowds.

That processes are killed and race is tried by the proofs (`tests/testing/test_prove_*`), that a
disk is full by `tests/runtime/test_turn_ends.py`, and a store alone by `tests/stores/test_faults`.
"""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from saywhy.runtime.engine import Engine
from saywhy.stores.sqlite import SqliteStore
from saywhy.testing.faults import Fault, Faults
from saywhy.testing.prove.child import engine_of
from saywhy.testing.prove.place import Place
from tests.amount import examples

pytestmark = pytest.mark.slow

FROZEN = """
import asyncio, os, sys, msgspec
from saywhy.stores.sqlite import SqliteStore
from saywhy.testing.faults import Faults
from saywhy.testing.ledger import Ledger
from saywhy.testing.prove.child import Job, engine_of

job = msgspec.json.decode(sys.argv[1], type=Job)
at, number = sys.argv[2], int(sys.argv[3])

class Freezing(Faults):
    seen = 0
    def reach(self, place):
        if place == at:
            self.seen += 1
            if self.seen == number:
                print("here", flush=True)
                sys.stdin.readline()
        return super().reach(place)

async def main():
    engine = engine_of(job, SqliteStore(job.store), Ledger(job.ledger), Freezing())
    async with engine:
        for number, text in enumerate(("Prove repeatable", "yes"), start=1):
            reply = await engine.take_turn("repeatable-1", text, message_id=f"m{number}")
            print(reply.response, flush=True)

asyncio.run(main())
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A store's file and the ledger beside it."""
    return Place(tmp_path / "s.db")


def engine_at(place: Place, faults: Faults | None = None, **options: Any) -> Engine:
    """An engine on the store, with the service that notes in the ledger."""
    job = msgspec.structs.replace(place.job([]), **options)
    return engine_of(job, SqliteStore(place.store), place.ledger, faults or Faults())


@pytest.mark.parametrize(
    ("at", "number"),
    [("accept_and_claim", 2), ("intent", 1), ("call", 1), ("effect", 1), ("finish", 2)],
)
def test_frozen_beyond_its_lease(place: Place, at: str, number: int) -> None:
    """A process that was frozen while another took its turn over saves nothing when it comes back,
    and tells its user what the other said."""
    # Long enough that it is not frozen while it renews: a file that it had locked stays locked.
    job = msgspec.json.encode(msgspec.structs.replace(place.job([]), lease_seconds=1.0)).decode()
    command = [sys.executable, "-c", FROZEN, job, at, str(number)]
    frozen = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert frozen.stdout is not None
        assert frozen.stdout.readline() == "Ready?\n"
        assert frozen.stdout.readline() == "here\n"
        frozen.send_signal(signal.SIGSTOP)

        async def take_over() -> str | None:
            async with engine_at(place) as engine:
                return (await engine.take_turn("repeatable-1", "yes", message_id="m2")).response

        assert asyncio.run(take_over()) == "Paid R-7.\n\nMore?"
        frozen.send_signal(signal.SIGCONT)
        told, _ = frozen.communicate("\n", timeout=60)
    finally:
        frozen.kill()
        frozen.communicate()
    assert (frozen.returncode, told) == (0, "Paid R-7.\n\nMore?\n")
    assert asyncio.run(turns(place)) == [("m1", "done"), ("m2", "done")]
    assert len({entry.key for entry in place.ledger.entries("call")}) == 1


async def turns(place: Place) -> list[tuple[str, str]]:
    async with SqliteStore(place.store) as store:
        session = await store.session("repeatable-1")
        found = await store.turns("repeatable-1")
        assert session is not None
        assert session.version == len(found)
        return [(turn.message_id, turn.status) for turn in found]


async def test_one_message_fifty_times_at_once(place: Place) -> None:
    """Two engines get the same message in a crowd: one turn, one charge, the same reply to all."""
    async with engine_at(place, lease_seconds=5) as one, engine_at(place, lease_seconds=5) as two:
        await one.take_turn("repeatable-1", "Prove repeatable", message_id="m1")
        crowd = examples(50, 500)
        replies = await asyncio.gather(
            *(
                (one, two)[number % 2].take_turn("repeatable-1", "yes", message_id="m2")
                for number in range(crowd)
            )
        )
    assert {reply.response for reply in replies} == {"Paid R-7.\n\nMore?"}
    assert [reply.repeated for reply in replies].count(False) == 1
    assert len(place.ledger.entries("call")) == 1
    assert await turns(place) == [("m1", "done"), ("m2", "done")]


async def test_cancelled_in_a_call(place: Place) -> None:
    """Nobody waits for a function in a thread any more, so it is openly unknown what became of it:
    the call is listed, not made again, and goes on when it is settled."""
    late = Faults([Fault(action="drop", at="call", seconds=0.2)])
    async with engine_at(place, late, lease_seconds=5) as engine:
        await engine.take_turn("once-1", "Prove once", message_id="m1")
        turn = asyncio.create_task(engine.take_turn("once-1", "yes", message_id="m2"))
        while not place.ledger.entries("effect"):
            await asyncio.sleep(0.005)
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        again = await engine.take_turn("once-1", "yes", message_id="m2")
        assert "it is not known yet whether it happened" in str(again.response)
        (call,) = await engine.unknown("once-1")
        (made,) = place.ledger.entries("call")
        assert call["id"] == made.key
        settled = await engine.settle("once-1", done={"receipt": "R-10"}, by="Ann")
    assert settled is not None
    assert settled.response == "Paid R-10.\n\nMore?"
    assert len(place.ledger.entries("call")) == 1


async def test_a_message_during_a_turn(place: Place) -> None:
    """It waits for the turn before it, whichever engine it came to, and is answered after it."""
    late = Faults([Fault(action="drop", at="call", seconds=0.2)])
    async with engine_at(place, late, lease_seconds=5) as one, engine_at(place) as two:
        await one.take_turn("once-1", "Prove once", message_id="m1")
        first = asyncio.create_task(one.take_turn("once-1", "yes", message_id="m2"))
        while not place.ledger.entries("call"):
            await asyncio.sleep(0.005)
        second = await two.take_turn("once-1", "no", message_id="m3")
        assert first.done()
        assert (await first).response == "Paid R-10.\n\nMore?"
        assert (first.result().turn_no, second.turn_no) == (2, 3)
    assert second.response == "Over, no."
    assert len(place.ledger.entries("call")) == 1
