"""One turn, from a message to the next rest."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saywhy.clock import SystemClock
from saywhy.errors import FlowExecutionError, TooManySteps
from saywhy.testing import FakeClock
from tests.flows.conftest import (
    NOW,
    Lines,
    ask,
    engine_of,
    flow,
    local_tool,
    put,
    run,
    say,
    talk,
    use,
)


async def test_an_error_says_where_and_holds_the_repaired_session() -> None:
    """Flow, step, place, what to try; its cause is the exception itself."""
    engine = engine_of(flow(say("lost"), {"type": "CASE", "branches": {}}))
    with pytest.raises(FlowExecutionError) as caught:
        await talk(engine, "Main")
    error = caught.value
    assert (error.name, error.flow, error.step) == ("JSFEExecutionError", "Main", "/steps/1")
    assert error.place is not None
    assert error.place.pointer == "/0/steps/1"
    assert error.hint == "add a `default` branch"
    assert error.__cause__ is not None
    session = error.session
    assert (session.response, session.frame, session.pending_messages) == (None, None, [])
    assert session.messages[-1].text == "Main"
    assert session.commits[-1].phase == "closed"


async def test_tool_calls_before_an_error_are_told() -> None:
    """The host may not throw such a turn away."""
    engine = engine_of(
        flow(use("t"), {"type": "SET"}), tools=[local_tool("t")], functions={"t": lambda a: 1}
    )
    with pytest.raises(FlowExecutionError) as caught:
        await talk(engine, "Main")
    assert len(caught.value.session.last_turn_tool_calls) == 1


async def test_the_step_limit_holds_for_the_whole_turn() -> None:
    """However often the flow stopped to call something, or to be routed anew."""
    loop = [use("t"), run("Main", callType="replace")]
    engine = engine_of(
        flow(*loop), tools=[local_tool("t")], functions={"t": lambda a: 1}, max_steps=50
    )
    with pytest.raises(TooManySteps, match="more than 50 steps") as caught:
        await talk(engine, "Main")
    assert "callType replace" in caught.value.hint
    assert caught.value.session.flow_stacks == []


async def test_the_step_limit_is_of_one_turn() -> None:
    """The next message has all of it again."""
    engine = engine_of(flow(*[say("a")] * 20, ask("x"), *[say("b")] * 20), max_steps=40)
    session = await talk(engine, "Main", "1")
    assert session.response is not None
    assert session.response.startswith("b")


async def test_turns_and_messages_are_numbered() -> None:
    """Each turn by itself, messages through all of them; commits know both."""
    engine = engine_of(flow(ask("x"), say("{{x}}")))
    session = await talk(engine, "Main", "1")
    assert [(one.turn, one.role, one.text) for one in session.messages] == [
        (1, "user", "Main"),
        (1, "assistant", "?"),
        (2, "user", "1"),
        (2, "assistant", "1"),
    ]
    assert {one.turn for one in session.commits} == {1, 2}
    assert [one.seq for one in session.commits] == list(range(1, len(session.commits) + 1))


async def test_every_word_of_a_reply_knows_its_step() -> None:
    """Stretches of the message point at the commits that wrote them."""
    engine = engine_of(flow(say("Hello."), ask("x", "Who?")), guidance={"enabled": True})
    session = await talk(engine, "Main")
    message = session.messages[-1]
    by_seq = {one.seq: one for one in session.commits}
    said = [(message.text[s.start : s.end], by_seq[s.commit].node) for s in message.spans]
    assert said == [("Hello.", "/steps/0"), ("Who?", "/steps/1")]


async def test_a_pause_waits_on_the_engines_clock() -> None:
    """A retry delay of an hour takes no time in a test."""
    clock = FakeClock(NOW)
    tries: list[int] = []

    def fail_once(args: dict[str, Any]) -> str:
        tries.append(1)
        if len(tries) == 1:
            raise RuntimeError("timeout")
        return "ok"

    engine = engine_of(
        flow(use("t", variable="r", maxRetries=1, retryDelay=3_600_000), say("{{r}}")),
        tools=[local_tool("t")],
        functions={"t": fail_once},
        clock=clock,
    )
    assert (await talk(engine, "Main")).response == "ok"
    assert clock.now() == NOW + 3_600_000


async def test_async_functions_are_awaited_wherever_they_stand() -> None:
    """In texts, values, conditions, names of flows, outcomes, validators and failure texts."""

    async def up(value: Any) -> str:
        await asyncio.sleep(0)
        return str(value).upper()

    async def fits(variables: dict[str, Any], frame: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(0)
        return {"isValid": variables["n"] == "ok", "errors": ["no"]}

    def fail(args: dict[str, Any]) -> None:
        raise ValueError("broken")

    shouting = {"condition: up('a') === 'A'": {"id": "b", **say("case {{up('b')}}")}}
    shouted = {"id": "f", **say("{{up(r)}}", outcome="{{up('o')}}", reason="{{up('r')}}")}
    engine = engine_of(
        flow(
            ask("n", "{{up('q')}}", inputValidation={"customValidator": "fits"}),
            {"type": "CASE", "branches": shouting},
            use("t", variable="r", onFail=shouted),
            run("{{up('main') === 'MAIN' ? 'Sub' : ''}}", parameters={"k": "{{n}}"}),
            put("z", "up('z')", requireTrue=False),
            {"type": "RETURN", "value": "up(z) + k", "keepSay": True},
        ),
        flow(say("sub {{up(k)}}"), name="Sub"),
        functions={"up": up, "fits": fits, "t": fail},
        tools=[local_tool("t")],
    )
    session = await talk(engine, "Main")
    assert session.response == "Q"
    session = await talk(engine, "bad", "ok", session=session)
    assert session.response == "case B\n\nBROKEN\n\nsub OK\n\nZok"
    assert session.last_flow_outcome is not None
    assert (session.last_flow_outcome["outcome"], session.last_flow_outcome["reason"]) == ("O", "R")


async def test_an_async_function_that_raises_is_an_expression_that_fails() -> None:
    """With a warning, like any other."""
    log = Lines()

    async def bad() -> None:
        raise LookupError("gone")

    engine = engine_of(flow(say("a {{bad()}} b")), functions={"bad": bad}, logger=log)
    assert (await talk(engine, "Main")).response == "a {{bad()}} b"
    assert log.lines[0] == "W approved function bad raised LookupError: gone"


async def test_a_step_that_waits_for_functions_writes_once() -> None:
    """Run again with each answer, it counts as one step and changes things once."""

    async def later(value: Any) -> Any:
        return value

    engine = engine_of(
        flow(
            put("l", []),
            put("y", "l.push(later(1) + later(2)), cargo.n = (cargo.n || 0) + 1"),
            ask("x", "{{l}} {{cargo.n}}"),
        ),
        functions={"later": later},
    )
    session = await talk(engine, "Main")
    assert session.response == "[3] 1"
    assert sum(one.node == "/steps/1" for one in session.commits) == 1


async def test_many_conversations_run_on_one_engine() -> None:
    """Each knows its own words, variables and cargo, while all of them wait."""

    async def slow(args: dict[str, Any]) -> str:
        await asyncio.sleep(0.001)
        return args["n"]

    engine = engine_of(
        flow(
            ask("n"),
            put("y", "cargo.n = n"),
            use("t", variable="r", args={"n": "{{n}}"}),
            say("{{userId}} {{n}} {{r}} {{cargo.n}}"),
        ),
        tools=[local_tool("t")],
        functions={"t": slow},
        clock=SystemClock(),
    )

    async def one(number: int) -> str | None:
        session = engine.init_session(f"user-{number}")
        session = await talk(engine, "Main", f"n{number}", session=session)
        return session.response

    replies = await asyncio.gather(*(one(number) for number in range(64)))
    assert replies == [f"user-{n} n{n} n{n} n{n}" for n in range(64)]


async def test_a_cancelled_turn_leaves_the_session_alone() -> None:
    """What was handed in can be handed in again."""
    reached = asyncio.Event()

    async def hang(args: dict[str, Any]) -> None:
        reached.set()
        await asyncio.sleep(3600)

    engine = engine_of(
        flow(ask("x"), use("t")),
        tools=[local_tool("t")],
        functions={"t": hang},
        clock=SystemClock(),
    )
    session = await talk(engine, "Main")
    before = session.to_json()
    turn = asyncio.create_task(engine.update_activity("1", session))
    await reached.wait()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert session.to_json() == before
