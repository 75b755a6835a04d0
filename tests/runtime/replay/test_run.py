"""Promise: a turn run again happens when it happened, and stops where the record has no answer."""

from __future__ import annotations

from saywhy.runtime.replay.entries import recorded_turns
from saywhy.testing.clock import FakeClock
from tests.runtime.replay.conftest import Outside, ask, engine_of, flow_of, put, say, talk


async def test_each_step_has_the_time_it_had() -> None:
    """What an expression reads of the clock is what it read."""
    clock = FakeClock()
    flow = flow_of(ask("x", "?"), put("t", "Date.now()"), say("e", "{{t}}"))
    engine = engine_of(Outside(), [flow], clock=clock)
    session = await talk(engine, "Pay")
    await clock.sleep(3600)
    session = await engine.update_activity("1", session)
    await clock.sleep(3600)
    found = await engine.replay(session)
    assert found.same, found.text()
    assert session.response == str(int(session.commits[-1].at))


async def test_a_turn_stops_at_what_is_not_on_record() -> None:
    """What it needs is known, and nothing behind it is made up."""
    engine = engine_of(Outside())
    session = await talk(engine, "Pay", "Bob", "80")
    begun = await engine._begun(session)  # pyright: ignore[reportPrivateUsage]
    *before, last = recorded_turns(begun.trace)
    for turn in before:
        assert (await begun.take(turn)).stopped is None
    begun.tape.begin(last.number)
    number = next(one.seq for one in last.commits if one.answered and one.answered.kind == "tool")
    cut = [one for one in last.commits if one.seq < number]
    lesser = await engine._begun(session)  # pyright: ignore[reportPrivateUsage]
    lesser.tape = type(lesser.tape)([*begun.trace.steps_of()][: cut[-1].seq])
    for turn in before:
        await lesser.take(turn)
    run = await lesser.take(last)
    assert run.stopped is not None
    assert (run.stopped.kind, run.stopped.name) == ("tool", "fee")
    assert run.recorder.kept[-1].seq == number - 1


async def test_the_session_that_is_asked_about_stays() -> None:
    """A replay has one of its own."""
    engine = engine_of(Outside())
    session = await talk(engine, "Pay", "Bob")
    before = session.to_json()
    await engine.replay(session)
    await engine.counterfactual(session, "message:1", turn=2)
    assert session.to_json() == before
