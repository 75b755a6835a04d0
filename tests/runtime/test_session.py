"""A conversation as a host holds it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from saywhy.errors import StateValueError
from saywhy.runtime.session import KEPT_MESSAGES, Session
from saywhy.values import Date
from tests.flows.conftest import (
    NOW,
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


async def test_a_new_conversation_is_empty() -> None:
    """It has its language from the engine, an id of its own, and nothing else."""
    engine = engine_of(language="es", new_id=lambda: "made-up")
    session = engine.init_session("ann")
    assert (session.session_id, session.user_id, session.language) == ("made-up", "ann", "es")
    assert session.created_at == session.last_activity == NOW
    assert (session.response, session.frame, session.flow_stacks) == (None, None, [])
    assert session.to_dict() == {
        "sessionId": "made-up",
        "userId": "ann",
        "language": "es",
        "createdAt": NOW,
        "lastActivity": NOW,
        "cargo": {},
        "response": None,
        "lastTurnToolCalls": [],
        "lastFlowOutcome": None,
        "lastTurnDispatch": None,
        "lastChatTurn": {},
        "flowStacks": [],
        "unknown": [],
        "pendingApproval": None,
        "dueAt": None,
        "pendingMessages": [],
        "completedTransactions": [],
        "frame": None,
    }


async def everything() -> tuple[Any, Session]:
    """A conversation that has a bit of everything in it, at rest."""
    engine = engine_of(
        flow(say("a"), ask("x", "first?", digits={"max": 3}), interruptable=True),
        flow(
            put("n", "0/0"),
            put("d", "new Date(5)"),
            put("u", "undefined"),
            put("b", "2n ** 70n"),
            put("y", "cargo.deep = {list: [1, new Date(7)]}"),
            use("t", variable="r", args={"k": "{{cargo}}"}),
            ask("secret", "code?", pii=True),
            run("Sub", outcome="called"),
            say("{{n}} {{d.getTime()}} {{u}} {{b}} {{cargo.deep.list[1].getTime()}}"),
            name="Other",
            interruptable=True,
        ),
        flow(
            ask("z", "z?", inputValidation={"patterns": [{"field": "z", "pattern": "1"}]}),
            name="Sub",
            scope="isolated",
            interruptable=True,
        ),
        tools=[local_tool("t")],
        functions={"t": lambda args: {"got": [1.5, None]}},
    )
    session = engine.init_session("ann", "c1")
    session.cargo["plan"] = {"name": "gold", "since": Date(9)}
    session = await talk(engine, "hello", "Main", "Other", "4711", "wrong", session=session)
    return engine, session


async def test_a_conversation_survives_json() -> None:
    """Twice through JSON it is the same text, and it goes on as if nothing had been."""
    engine, session = await everything()
    assert session.flow_stacks == [["Main"], ["Other", "Sub"]]
    written = session.to_json()
    again = engine.load_session(written)
    assert again.to_json() == written
    assert again.to_dict() == session.to_dict()
    assert again.version == session.version == 5
    replies = [(await talk(engine, "1", session=each)).response for each in (session, again)]
    assert replies[0] == replies[1]


async def test_values_that_json_lacks_survive_it() -> None:
    """They come out of the flow as they went in."""
    engine, session = await everything()
    session = await talk(engine, "1", session=session)
    assert session.response is not None
    assert session.response.startswith("NaN 5 undefined 1180591620717411303424 7\n\nResuming Main")
    assert session.cargo["plan"]["since"] == Date(9)


async def test_json_without_the_trace_is_smaller_and_goes_on() -> None:
    """Only `why` is lost."""
    engine, session = await everything()
    short = session.to_json(trace=False)
    assert len(short) < len(session.to_json()) / 3
    again = engine.load_session(short)
    assert again.commits == []
    assert (await talk(engine, "1", session=again)).response is not None


async def test_what_hosts_read_stands_in_the_json() -> None:
    """Under the names they know."""
    _, session = await everything()
    tree = json.loads(session.to_json())
    assert tree["sessionId"] == "c1"
    assert tree["flowStacks"] == [["Main"], ["Other", "Sub"]]
    assert tree["response"].startswith("❌")
    assert set(tree) >= {
        *("userId", "language", "createdAt", "lastActivity", "cargo", "lastChatTurn"),
        *("lastTurnToolCalls", "lastFlowOutcome", "lastTurnDispatch"),
    }


async def test_the_session_handed_in_is_a_value() -> None:
    """Two turns from one session know nothing of each other, and leave it as it was."""
    engine = engine_of(flow(ask("x"), put("y", "cargo.said = x"), ask("z", "{{cargo.said}}")))
    session = await talk(engine, "Main")
    session.cargo["mine"] = [1]
    before = session.to_json()
    one = await engine.update_activity("one", session)
    other = await engine.update_activity("two", session)
    assert (one.response, other.response) == ("one", "two")
    assert (one.cargo, other.cargo) == ({"mine": [1], "said": "one"}, {"mine": [1], "said": "two"})
    assert session.to_json() == before


async def test_cargo_is_the_hosts_to_change() -> None:
    """What is set, replaced or taken away counts from the next turn, and survives JSON before."""
    engine = engine_of(flow(ask("x", "{{JSON.stringify(cargo)}}")))
    session = engine.init_session("ann")
    session.cargo = {"a": 1, "b": [2]}
    session.cargo["b"].append(3)
    del session.cargo["a"]
    assert (await talk(engine, "Main", session=session)).response == '{"b":[2,3]}'


async def test_cargo_that_no_conversation_can_hold() -> None:
    """The host is told which key, and nothing has happened."""
    engine = engine_of(flow(say("x")))
    session = engine.init_session("ann")
    session.cargo["odd"] = {"a": object()}
    with pytest.raises(StateValueError, match=r"cargo\.odd\.a is a object"):
        await engine.update_activity("Main", session)
    assert session.version == 0


async def test_the_newest_messages_stay_and_the_asked_question_with_them() -> None:
    """However long ago it was asked."""
    engine = engine_of(flow(ask("x", "the one question?")))
    session = await talk(engine, "Main", *(["status"] * KEPT_MESSAGES))
    again = engine.load_session(session.to_json(trace=False))
    assert again.frame is not None
    assert again.frame.pending_variable_context == "the one question?"
    assert len(again.messages) == KEPT_MESSAGES


async def test_what_no_flow_handled_is_remembered_until_one_does() -> None:
    """The newest words of both sides."""
    engine = engine_of(flow(say("x")))
    session = await talk(engine, "one", {"role": "assistant", "content": "reply"}, "two")
    told = {role: turn["content"] for role, turn in session.last_chat_turn.items()}
    assert told == {"user": "two", "assistant": "reply"}
    assert (await talk(engine, "Main", session=session)).last_chat_turn == {}


async def test_a_turn_handed_back_counts_as_handled() -> None:
    """RETURN '' is an answer of a flow."""
    session = await talk(engine_of(flow({"type": "RETURN"})), "hi", "Main")
    assert (session.response, session.last_chat_turn) == ("", {})


async def test_what_the_host_set_is_noted_after_json_too() -> None:
    """Cargo that was set before a session was kept is in the record of the turn after it."""
    engine = engine_of(flow(ask("x", "{{cargo.plan}}"), ask("y", "{{cargo.plan}} {{cargo.old}}")))
    session = await talk(engine, "Main")
    assert "cargoSet" not in json.loads(session.to_json())
    session.cargo |= {"plan": "gold", "old": 1}
    loaded = engine.load_session(engine.load_session(session.to_json()).to_json())
    assert loaded.cargo == {"plan": "gold", "old": 1}
    loaded = await talk(engine, "a", session=loaded)
    assert loaded.response == "gold 1"
    noted = [op.key for commit in loaded.commits for op in commit.ops if op.key[0] == "cargo"]
    assert noted == [("cargo", "plan"), ("cargo", "old")]
    assert "cargoSet" not in json.loads(loaded.to_json())
