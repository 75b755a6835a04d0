"""Promise: what a turn costs does not grow with the conversation, nor with what lies idle in it.

What the interpreter does is counted rather than timed: function calls, Python's and C's, are the
same on a busy machine. Work that hides in one call (copying a long list) is timed besides, with a
margin that only growth exceeds.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import pytest

from saywhy import Engine, Session, SqliteStore, quick
from saywhy.stores.store import Claim

TALK: dict[str, Any] = {
    "id": "talk",
    "name": "Talk",
    "steps": [
        {"id": "ask", "type": "SAY-GET", "variable": "word", "value": "And now?"},
        {"type": "CALL-TOOL", "tool": "look", "args": {"q": "{{word}}"}, "variable": "a"},
        {"type": "CALL-TOOL", "tool": "look", "args": {"q": "{{a.q}}"}, "variable": "b"},
        {"id": "say", "type": "SAY", "value": "Found {{b.q.toUpperCase()}}."},
        {"id": "again", "type": "FLOW", "value": "talk", "callType": "replace"},
    ],
}
LOOK: dict[str, Any] = {
    "id": "look",
    "name": "Look",
    "effect": "reads",
    "implementation": {"type": "local", "function": "look"},
}
STEADY = 60
"""Turns after which the session holds as much of its past as it ever will."""


@quick
def look(args: dict[str, Any]) -> dict[str, Any]:
    """Nothing but an answer."""
    return {"q": args["q"]}


def engine_with(**options: Any) -> Engine:
    settings = {"flows": [TALK], "tools": [LOOK], "functions": {"look": look}}
    return Engine(**settings, validate_on_init=False, **options)


async def talked(engine: Engine, turns: int, **cargo: Any) -> Session:
    """A conversation after so many turns."""
    session = engine.init_session("ann", "c1")
    session.cargo.update(cargo)
    session = await engine.update_activity("talk", session)
    for _ in range(turns):
        session = await engine.update_activity("next", session)
    return session


async def calls_of(engine: Engine, session: Session) -> int:
    """Function calls of one more turn."""
    calls = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        await engine.update_activity("next", session)
    finally:
        sys.setprofile(before)
    return calls


async def seconds_of(engine: Engine, *sessions: Session) -> list[float]:
    """Processor time of one more turn of each, best of many; taken in turns, so that what else the
    machine does is no matter of which came first."""
    best = [float("inf")] * len(sessions)
    for _ in range(60):
        for number, session in enumerate(sessions):
            start = time.thread_time()
            await engine.update_activity("next", session)
            best[number] = min(best[number], time.thread_time() - start)
    return best


async def test_turns_cost_the_same_however_long_the_conversation() -> None:
    """The five-hundredth turn is no more work than the sixtieth."""
    engine = engine_with()
    young, old = await talked(engine, STEADY), await talked(engine, 500)
    assert await calls_of(engine, old) == pytest.approx(await calls_of(engine, young), rel=0.01)
    later, before = await seconds_of(engine, old, young)
    assert later < 1.5 * before


async def test_what_lies_idle_in_cargo_costs_nothing() -> None:
    """A megabyte of it, that no step reads, is not looked at."""
    engine = engine_with()
    idle = {f"fact{n}": [{"text": "x" * 1000}] * 10 for n in range(100)}
    bare, full = await talked(engine, STEADY), await talked(engine, STEADY, **idle)
    assert await calls_of(engine, full) == pytest.approx(await calls_of(engine, bare), rel=0.01)
    heavy, light = await seconds_of(engine, full, bare)
    assert heavy < 1.5 * light


class CountingStore(SqliteStore):
    """The SQLite store, noting what each turn hands it: how often, and how many bytes."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.noted: list[tuple[str, int]] = []

    async def accept_and_claim(self, session_id: str, message_id: str, input: bytes, **more: Any):  # type: ignore[override]
        self.noted = [("accept", len(input))]
        return await super().accept_and_claim(session_id, message_id, input, **more)

    async def intent(
        self, claim: Claim, seq: int, call: Any, doc: bytes, commits: Any, **more: Any
    ):  # type: ignore[override]
        size = len(doc) + sum(len(row) for _, row in commits)
        self.noted.append(("intent", size))
        return await super().intent(claim, seq, call, doc, commits, **more)

    async def result(self, claim: Claim, seq: int, result: bytes) -> None:
        self.noted.append(("result", len(result)))
        await super().result(claim, seq, result)

    async def renew(self, claim: Claim, ttl_seconds: float = 30.0) -> bool:
        self.noted.append(("renew", 0))
        return await super().renew(claim, ttl_seconds)

    async def finish(self, claim: Claim, doc: bytes, reply: bytes, **more: Any) -> None:
        rows = [*more["messages"], *more["commits"]]
        self.noted.append(("finish", len(doc) + len(reply) + sum(len(row) for _, row in rows)))
        await super().finish(claim, doc, reply, **more)


async def test_a_turn_goes_to_the_store_as_seldom_as_it_can(tmp_path: Path) -> None:
    """Once to begin, once before each call, once at the end; and it writes no more as time goes."""
    store = CountingStore(tmp_path / "store.sqlite3")
    async with engine_with(store=store) as engine:
        noted: list[list[tuple[str, int]]] = []
        for text in ("talk", *["next"] * (STEADY + 100)):
            await engine.take_turn("c1", text, user_id="ann")
            noted.append(store.noted)
        early, late = noted[STEADY], noted[-1]
        assert [name for name, _ in early] == ["accept", "intent", "intent", "finish"]
        for (name, size), (_, once) in zip(late, early, strict=True):
            assert size < 1.05 * once, name
