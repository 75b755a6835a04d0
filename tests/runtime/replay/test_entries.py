"""Promise: what came in with a turn is made out from its record."""

from __future__ import annotations

from saywhy.runtime.replay.entries import recorded_turns
from saywhy.trace.trace import Trace
from tests.runtime.replay.conftest import Outside, ask, engine_of, flow_of, talk


async def test_a_message_with_all_that_came_along() -> None:
    """Words, content, time, metadata, cargo that was set and taken away."""
    engine = engine_of(Outside(), [flow_of(ask("x", "?"))])
    session = engine.init_session("ann", "c1")
    session.cargo.update({"a": 1, "b": 2})
    entry = {"content": {"text": "Pay"}, "timestamp": 5.0, "metadata": {"from": "web"}}
    session = await engine.update_activity(entry, session)
    del session.cargo["b"]
    session = await engine.update_activity("Pay", session)
    first, second = recorded_turns(session.trace)
    assert first.entry is not None
    assert first.entry.timestamp == 5.0
    assert dict(first.entry.metadata) == {"from": "web"}
    assert dict(first.entry.cargo) == {"a": 1, "b": 2}
    assert second.entry is not None
    assert (second.entry.text, second.gone) == ("Pay", ("b",))


async def test_what_the_host_says_of_a_session_is_noted_where_it_is_new() -> None:
    """Not again in every turn."""
    engine = engine_of(Outside(), [flow_of(ask("x", "?"))])
    session = engine.init_session("ann", "c1", "es")
    for _ in range(2):
        session = await engine.update_activity("Pay", session)
    session.authenticated = True
    session = await engine.update_activity("Pay", session)
    told = [dict(turn.host) for turn in recorded_turns(session.trace)]
    assert told == [{"language": "es"}, {}, {"authenticated": True}]


async def test_a_moment_that_came() -> None:
    """A turn that silence began, and one that came too early."""
    flow = flow_of(ask("x", "?", timeout={"seconds": 5, "then": "ask again"}))
    engine = engine_of(Outside(), [{**flow, "inactivity": 60}])
    session = await talk(engine, "Pay")
    assert session.due_at is not None
    early = await engine.update_activity({"role": "timer"}, session)
    late = await engine.update_activity({"role": "timer", "timestamp": early.due_at}, early)
    turns = list(recorded_turns(late.trace))
    assert [turn.entry.timer is not None for turn in turns if turn.entry] == [False, True, True]
    assert (await engine.replay(late)).same


async def test_what_the_host_itself_said() -> None:
    """A turn without a step."""
    engine = engine_of(Outside(), [flow_of(ask("x", "?"))])
    session = await talk(engine, {"role": "assistant", "content": "Good day."}, "Pay")
    first, second = recorded_turns(session.trace)
    assert first.entry is not None
    assert (first.entry.role, first.entry.text, first.commits) == ("assistant", "Good day.", ())
    assert second.reply == "?"


def test_a_turn_whose_beginning_is_missing() -> None:
    """Nothing is made up."""
    assert list(recorded_turns(Trace())) == []
