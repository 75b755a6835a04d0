"""What is taken away of old turns, and what stays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from saywhy.errors import CallerError
from saywhy.runtime.engine import Engine
from saywhy.stores.memory import MemoryStore
from saywhy.stores.sqlite import SqliteStore
from saywhy.stores.store import Store
from saywhy.trace.causes.why import Reply, why
from tests.flows.conftest import ask, engine_of, flow, local_tool, say, use


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "s.db")


def done(args: dict[str, Any]) -> str:
    return "done"


def engine_on(store: Store) -> Engine:
    """Asks, calls a tool, says: one conversation takes two turns for it."""
    return engine_of(
        flow(ask("x", "X?"), use("t", variable="r"), say("{{x}} {{r}}")),
        tools=[local_tool("t")],
        functions={"t": done},
        store=store,
    )


async def rows(store: Store) -> dict[str, list[int]]:
    """For each kind of row the turns that have some."""
    turns = [turn.turn_no for turn in await store.turns("c1")]
    calls = [number for number in turns if await store.journal("c1", number)]
    commits = sorted({row.turn_no for row in await store.commits("c1")})
    messages = sorted({row.turn_no for row in await store.messages("c1")})
    return {"turns": turns, "calls": calls, "commits": commits, "messages": messages}


async def test_old_turns_lose_what_explains_them(store: Store) -> None:
    """The newest finished turn stays whole, and every turn is still known."""
    async with engine_on(store) as engine:
        for number, words in enumerate(("Main", "5", "Main", "6"), start=1):
            await engine.take_turn("c1", words, message_id=f"m{number}", user_id="ann")
        assert (await rows(store))["calls"] == [2, 4]
        assert await engine.prune(older_than_days=1) == 0
        assert await store.prune(0) == 3
        assert await rows(store) == {
            "turns": [1, 2, 3, 4],
            "calls": [4],
            "commits": [4],
            "messages": [4],
        }
        assert await store.prune(0) == 0
        again = await engine.take_turn("c1", "5", message_id="m2", user_id="ann")
        assert (again.turn_no, again.response, again.repeated) == (2, None, True)
        newest = await engine.take_turn("c1", "6", message_id="m4", user_id="ann")
        assert (newest.response, newest.repeated) == ("6 done", True)


async def test_a_conversation_goes_on(store: Store) -> None:
    """In the middle of a flow, with its question, its variables and its record from here on."""
    async with engine_on(store) as engine:
        for words in ("Main", "help", "status"):
            await engine.take_turn("c1", words, user_id="ann")
        assert await store.prune(0) == 2
        session = await engine.session("c1")
        assert session is not None
        assert session.frame is not None
        assert session.frame.pending_variable_context == "X?"
        assert (await engine.take_turn("c1", "5", user_id="ann")).response == "5 done"
        trace = await engine.trace("c1")
        assert trace.turns[0] == 3
        assert "x is what the user said in turn 4" in why(trace).text(200)
        with pytest.raises(CallerError, match="no reply is recorded for turn 1"):
            why(trace, Reply(1))


async def test_calls_that_may_still_matter_stay(store: Store) -> None:
    """Of turns that were abandoned since the last finished one: the next turn is told of them."""
    async with engine_on(store) as engine:
        await engine.take_turn("c1", "Main", user_id="ann")
        for number in (2, 3):
            await store.accept("c1", f"m{number}", b"x", user_id="ann")
            claim = await store.claim("w", session_id="c1")
            assert claim is not None
            await store.fail(claim, "error", "no", commits=[(100 + number, b"commit")])
        assert await store.prune(0) == 0
        assert (await rows(store))["commits"] == [1, 2, 3]


async def test_bounded(store: Store) -> None:
    """At most so many turns a call; the oldest of a conversation first, others are not touched."""
    async with engine_on(store) as engine:
        for words in ("Main", "5", "Main", "6", "Main"):
            await engine.take_turn("c1", words, user_id="ann")
        await engine.take_turn("c2", "Main", user_id="bob")
        assert [await store.prune(0, limit=3), (await rows(store))["commits"]] == [3, [4, 5]]
        assert [await store.prune(0, limit=3), (await rows(store))["commits"]] == [1, [5]]
        assert len(await store.commits("c2")) > 0


@pytest.mark.parametrize(("age", "limit"), [(-1.0, 1), (float("nan"), 1), (1.0, 0)])
async def test_what_makes_no_sense(store: Store, age: float, limit: int) -> None:
    """Is refused before anything is looked at."""
    async with store:
        with pytest.raises(CallerError, match="makes no sense"):
            await store.prune(age, limit)
