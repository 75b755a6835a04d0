"""Who listens to an engine hears every turn, and can neither delay nor break one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import Any

import pytest

from saywhy.chart.commit import Commit
from saywhy.runtime.engine import Engine
from saywhy.stores.memory import MemoryStore
from saywhy.trace.masking.redact import Policy

FLOW = {
    "id": "greet",
    "name": "greet",
    "version": "1",
    "prompt": "greet",
    "description": "Greets",
    "steps": [
        {"type": "SAY-GET", "id": "ask", "variable": "name", "value": "Who?"},
        {"type": "SAY", "id": "hi", "value": "Hi {{name}}"},
    ],
}
AROUND: ContextVar[str] = ContextVar("AROUND", default="nothing")


class Listening:
    """Keeps what it hears; `at` is run with each commit."""

    def __init__(self, at: Callable[[], object] = lambda: None) -> None:
        self.heard: list[tuple[str, Any]] = []
        self.at = at

    def watch_run(self, conversation_id: str, before: Iterable[Commit] = ()) -> Any:
        self.heard.append(("begin", (conversation_id, AROUND.get())))
        listening = self

        class Run:
            def __call__(self, commit: Commit) -> None:
                listening.at()
                listening.heard.append(("commit", commit.seq))

            def close(self) -> None:
                listening.heard.append(("end", None))

        return Run()


@pytest.mark.parametrize("stored", [True, False])
async def test_hears_every_turn(stored: bool) -> None:
    """Its beginning, each step, its end; in what was going on around it."""
    listening = Listening()
    engine = Engine(flows=[FLOW], store=MemoryStore() if stored else None)
    engine.watch(listening)
    AROUND.set("a span")
    if stored:
        await engine.take_turn("c1", "greet")
        commits = list(await engine.trace("c1"))
    else:
        session = engine.init_session(user_id="ann", session_id="c1")
        commits = (await engine.update_activity("greet", session)).commits
    assert await engine.told()
    assert listening.heard == [
        ("begin", ("c1", "a span")),
        *(("commit", commit.seq) for commit in commits),
        ("end", None),
    ]
    assert engine.untold == 0


async def test_one_that_hangs_delays_no_turn() -> None:
    """The turn is over while its listener still hears of the first step; others heard all."""
    gate = threading.Event()
    hanging, other = Listening(gate.wait), Listening()
    engine = Engine(flows=[FLOW], store=MemoryStore())
    engine.watch(hanging)
    engine.watch(other)
    try:
        replies = [await engine.take_turn("c1", text) for text in ("greet", "Bob")]
        assert replies[-1].response == "Hi Bob"
        assert not await engine.told(0.01)
        assert [kind for kind, _ in hanging.heard] == ["begin"]
        assert [kind for kind, _ in other.heard].count("end") == 2
    finally:
        gate.set()
    assert await engine.told()
    assert len(hanging.heard) == len(other.heard)


async def test_one_that_raises_breaks_no_turn(caplog: pytest.LogCaptureFixture) -> None:
    """It hears no more of that turn, and is told of the next; it is logged once."""
    raising = Listening(lambda: 1 / 0)
    engine = Engine(flows=[FLOW], store=MemoryStore())
    engine.watch(raising)
    for text in ("greet", "Bob"):
        assert (await engine.take_turn("c1", text)).response
    assert await engine.told()
    assert [kind for kind, _ in raising.heard] == ["begin", "end", "begin", "end"]
    assert [one.getMessage() for one in caplog.records if one.name == "saywhy"] == [
        "Listening raised; turns go on, and this is not said again"
    ]


async def test_closing_waits_for_it() -> None:
    """Nothing that was handed in is lost when the engine is closed."""
    listening = Listening()
    async with Engine(flows=[FLOW], store=MemoryStore()) as engine:
        engine.watch(listening)
        await engine.take_turn("c1", "greet")
    assert listening.heard[-1] == ("end", None)


async def test_without_a_record() -> None:
    """Replies are the same, nothing is kept, and nobody hears anything."""
    listening = Listening()
    engines = [
        Engine(flows=[FLOW], store=MemoryStore(), redact=Policy(kept=kept))
        for kept in (True, False)
    ]
    engines[1].watch(listening)
    words = ("greet", "Bob")
    replies = [[(await one.take_turn("c1", text)).response for text in words] for one in engines]
    assert replies[0] == replies[1]
    traces = [await one.trace("c1") for one in engines]
    assert (len(traces[0]) > 0, len(traces[1])) == (True, 0)
    assert [each.text for each in traces[1].messages()][::2] == ["greet", "Bob"]
    assert await engines[1].told()
    assert [kind for kind, _ in listening.heard] == ["begin", "end", "begin", "end"]
