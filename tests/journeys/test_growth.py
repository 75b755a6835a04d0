"""A conversation that goes on for long: it grows by the same each turn, and its end stays near."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from bench.growth import TALKS, size_of, words
from bench.trace_cost import Counted
from saywhy import Engine, SqliteStore
from saywhy.stores.memory import MemoryStore
from saywhy.trace.masking.redact import Policy

TURNS = 360
WINDOW = 100


@pytest.mark.parametrize("name", TALKS)
async def test_a_turn_takes_the_same_room(name: str, tmp_path: Path) -> None:
    """Early and late turns grow the file by the same, within a tenth: three times their text."""
    path = tmp_path / "s.db"
    sizes: list[int] = []
    text = 0
    store = SqliteStore(path, synchronous="NORMAL")
    async with Engine(flows=TALKS[name], store=store) as engine:
        for said in ("main", "Ann"):
            await engine.take_turn("s", said)
        for number in range(1, TURNS + 1):
            reply = await engine.take_turn("s", words(number))
            if number > TURNS - WINDOW:
                text += len(words(number)) + len(reply.response or "")
            if number in (30, 30 + WINDOW, TURNS - WINDOW, TURNS):
                sizes.append(size_of(path))
    early, late = sizes[1] - sizes[0], sizes[3] - sizes[2]
    assert 0.9 <= late / early <= 1.1
    assert late <= 3 * text


def work(flows: list[dict[str, object]], policy: Policy) -> float:
    """Seconds of processor time of some turns."""

    async def talk() -> float:
        engine = Engine(flows=flows, redact=policy)
        session = engine.init_session("ann", "s")
        for text in ("main", "Ann"):
            session = await engine.update_activity(text, session)
        start = time.thread_time()
        for number in range(30):
            session = await engine.update_activity(f"and {number}", session)
        return time.thread_time() - start

    return asyncio.run(talk())


def test_what_a_record_costs() -> None:
    """A turn that is recorded takes little longer than one that is not, measured side by side."""
    flows = TALKS["echoed"]
    pairs = [(work(flows, Policy()), work(flows, Policy(kept=False))) for _ in range(9)]
    assert min(one for one, _ in pairs) / min(other for _, other in pairs) < 1.5


async def test_a_record_adds_no_awaits() -> None:
    """A turn comes back to the event loop as often with its record as without."""
    engines = [
        Engine(flows=TALKS["echoed"], store=MemoryStore(), redact=Policy(kept=kept))
        for kept in (True, False)
    ]
    engines[0].watch(_Nobody())
    for text in ("main", "Ann", "x", "y"):
        counts = [Counted(engine.take_turn("s", text)) for engine in engines]
        for count in counts:
            await count
        assert counts[0].times == counts[1].times


class _Nobody:
    def watch_run(self, conversation_id: str, before: object = ()) -> object:
        return lambda commit: None  # pyright: ignore[reportUnknownLambdaType]
