"""Promise: a session tells when something falls due by itself, and a turn without words does it."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.errors import CallerError, DamagedSession
from saywhy.flows.due import MAX_SILENT
from saywhy.runtime.engine import Engine
from saywhy.runtime.session import Session
from saywhy.testing import FakeClock
from saywhy.values import dumps, loads_raw
from tests.flows.conftest import NOW, ask, engine_of, flow, local_tool, run, say, use

TIMER = {"role": "timer"}
MAIN = flow(ask("size", "Size?", timeout={"after": 5000, "max": 1}), say("{{size}}"))


def quiet(*flows: dict[str, Any], **options: Any) -> tuple[Engine, FakeClock]:
    """An engine whose clock stands still."""
    clock = FakeClock(NOW, auto=False)
    return engine_of(*flows, clock=clock, **options), clock


async def turn(engine: Engine, session: Session | None, entry: Any) -> Session:
    """One turn, behind a way through JSON."""
    session = session or engine.init_session("u", "c1")
    return await engine.update_activity(entry, engine.load_session(session.to_json()))


async def test_the_session_tells_the_moment() -> None:
    """`due_at` is the moment in milliseconds since 1970, and `dueAt` in JSON; None for none."""
    engine, clock = quiet(MAIN)
    assert engine.init_session("u").due_at is None
    session = await turn(engine, None, "Main")
    assert session.due_at == NOW + 5000
    assert loads_raw(session.to_json())["dueAt"] == NOW + 5000
    assert session.to_dict()["dueAt"] == NOW + 5000
    clock.advance(5)
    session = await turn(engine, session, TIMER)
    assert (session.response, session.due_at) == ("Size?", NOW + 10_000)
    session = await turn(engine, session, "L")
    assert (session.response, session.due_at) == ("L", None)


async def test_a_moment_that_comes_early_changes_nothing() -> None:
    """Before its time nothing happens, which is on record, and the moment stays."""
    engine, clock = quiet(MAIN)
    session = await turn(engine, None, "Main")
    clock.advance(4.9)
    early = await turn(engine, session, TIMER)
    assert (early.response, early.due_at, early.flow_stacks) == (None, NOW + 5000, [["Main"]])
    assert "A moment came before its time; nothing was done." in early.trace.narrative()
    clock.advance(0.1)
    assert (await turn(engine, early, TIMER)).response == "Size?"


async def test_a_moment_that_nothing_waits_for_changes_nothing() -> None:
    """Without an open question there is nothing to do, and that is no error."""
    engine, _ = quiet(MAIN)
    session = await turn(engine, None, TIMER)
    assert (session.response, session.due_at) == (None, None)
    assert "nothing waited for any more" in session.trace.narrative()


async def test_a_host_can_say_what_time_it_is() -> None:
    """With a `timestamp` it is that time, for the question and for what falls due next."""
    engine, _ = quiet(MAIN)
    session = await turn(engine, None, "Main")
    session = await turn(engine, session, {**TIMER, "timestamp": NOW + 6000})
    assert (session.response, session.due_at) == ("Size?", NOW + 11_000)
    with pytest.raises(CallerError, match="timestamp"):
        await turn(engine, session, {**TIMER, "timestamp": "later"})


async def test_silence_is_no_activity_and_no_message() -> None:
    """`last_activity` stays that of the user, and no message of theirs is made up."""
    engine, clock = quiet(MAIN)
    session = await turn(engine, None, "Main")
    clock.advance(5)
    session = await turn(engine, session, TIMER)
    assert session.last_activity == NOW
    assert [message.role for message in session.messages] == ["user", "assistant", "assistant"]


async def test_the_earlier_of_two_moments_counts() -> None:
    """A question's patience and the limit on inactivity both count; the first to come is due."""
    short, _ = quiet(MAIN, inactivity=2000)
    assert (await turn(short, None, "Main")).due_at == NOW + 2000
    long, clock = quiet(MAIN, inactivity=7000)
    session = await turn(long, None, "Main")
    assert session.due_at == NOW + 5000
    clock.advance(5)
    session = await turn(long, session, TIMER)
    assert (session.response, session.due_at) == ("Size?", NOW + 7000)
    clock.advance(2)
    session = await turn(long, session, TIMER)
    assert (session.response, session.flow_stacks, session.due_at) == (None, [], None)
    assert session.last_flow_outcome == {
        "flowName": "Main",
        "outcome": "abandoned",
        "reason": "nobody answered for 7 s",
        "endedBy": "silence",
    }
    (ended,) = session.completed_transactions
    assert (ended["state"], ended["failureReason"]) == ("failed", "nobody answered for 7 s")


async def test_a_flow_that_waits_for_others_loses_no_patience() -> None:
    """While somebody else must approve a call the user is not waited for: nothing is due."""
    pay = {**local_tool("pay"), "approval": True}
    main = flow(ask("n", "How many?"), use("pay", variable="p"), ask("more", "More?"))
    functions = {"pay": lambda _: "paid"}
    engine, clock = quiet(main, tools=[pay], functions=functions, inactivity=2000)
    session = await turn(engine, None, "Main")
    assert session.due_at == NOW + 2000
    session = await turn(engine, session, "5")
    assert session.pending_approval is not None
    assert session.due_at is None
    clock.advance(60)
    approved = await engine.approve(session, session.pending_approval["id"])
    assert (approved.response, approved.due_at) == ("More?", NOW + 62_000)


async def test_flows_that_talk_to_nobody_end() -> None:
    """Steps for silence that ask again for ever end after some turns without a word."""
    again = {"after": 1000, "then": run("Main", callType="replace")}
    engine, clock = quiet(flow(ask("size", "Size?", timeout=again)))
    session = await turn(engine, None, "Main")
    for _ in range(MAX_SILENT):
        clock.advance(1)
        session = await turn(engine, session, TIMER)
        assert session.response == "Size?"
    clock.advance(1)
    session = await turn(engine, session, TIMER)
    assert (session.response, session.flow_stacks) == (None, [])
    outcome = session.last_flow_outcome or {}
    assert outcome["reason"] == "50 times in a row nobody answered"


async def test_a_word_of_the_user_counts_from_nothing() -> None:
    """Silence is counted since the user last spoke."""
    again = {"after": 1000, "then": run("Main", callType="replace")}
    engine, clock = quiet(
        flow(ask("size", "Size?", timeout=again), ask("more", "More?", timeout=again))
    )
    session = await turn(engine, None, "Main")
    for _ in range(MAX_SILENT - 1):
        clock.advance(1)
        session = await turn(engine, session, TIMER)
    session = await turn(engine, session, "L")
    for _ in range(MAX_SILENT):
        clock.advance(1)
        session = await turn(engine, session, TIMER)
        assert session.response == "Size?"


async def test_words_handed_back_in_silence_are_none() -> None:
    """A DISPATCH in a flow that silence runs ends the flows; no words are routed."""
    back = {"after": 1000, "then": run("Back")}
    engine, clock = quiet(
        flow(ask("n", "?", timeout=back)), flow({"type": "DISPATCH"}, name="Back")
    )
    session = await turn(engine, None, "Main")
    clock.advance(1)
    session = await turn(engine, session, TIMER)
    assert (session.response, session.flow_stacks, session.due_at) == (None, [], None)


@pytest.mark.parametrize(
    ("scope", "name", "value"),
    [("session", "due", {"id": "x"}), ("session", "due", 5), ("frame", "silence", {"after": "x"})],
)
async def test_what_is_damaged_is_found(scope: str, name: str, value: Any) -> None:
    """A session whose moment or patience cannot be read is refused when it is loaded."""
    engine, _ = quiet(MAIN)
    tree = loads_raw((await turn(engine, None, "Main")).to_json())
    if scope == "frame":
        tree["cursor"]["frames"][0]["data"][name] = value
    else:
        tree["cursor"]["state"]["scopes"][scope][name] = value
    with pytest.raises(DamagedSession, match="cannot be read"):
        engine.load_session(dumps(tree))


async def test_questions_without_a_limit_leave_nothing() -> None:
    """A conversation that waits as long as it takes has no moment, in JSON or anywhere."""
    engine, _ = quiet(flow(ask("n", "?")))
    session = await turn(engine, None, "Main")
    assert session.due_at is None
    assert "due" not in loads_raw(session.to_json())["cursor"]["state"]["scopes"]["session"]
