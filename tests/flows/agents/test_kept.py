"""What a conversation keeps of an agent: bounded, written once, and cut where nothing is parted."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.agent.instructions.context import InstructionContext
from saywhy.agent.instructions.follow_up import quick_bind
from saywhy.agent.instructions.rule import LLMInstruction
from saywhy.agent.tools import define_tool
from saywhy.flows.agents import kept
from saywhy.flows.agents.kept import given, scope_of, take
from saywhy.values import FrozenList, freeze
from tests.flows.agents.conftest import agent_of, ask_agent, asked, wants
from tests.flows.conftest import ask, engine_of, flow, put, scope_at, talk, world_of


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def test_what_a_run_is_told() -> None:
    """The number of its turn among those of this agent, and ids of run and conversation."""
    scope = scope_at(world_of(flow(put("x", "1"))))
    scope.state.scopes["session"] = {"sessionId": "c1"}
    first = given(scope, "desk")
    assert first["turnNumber"] == 1
    assert first["conversationId"] == "c1/desk"
    assert first["runId"].startswith("c1/")
    scope.state.scopes[scope_of("desk")] = {"turnNumber": 3}
    assert given(scope, "desk")["turnNumber"] == 4


def test_only_what_is_new_is_written() -> None:
    """A history that grew is appended to; one that differs is written anew."""
    scope = scope_at(world_of(flow(put("x", "1"))))
    scope.state.scopes["agent:desk"] = {"history": freeze([user("a")])}
    scope.state.scopes["v9"] = {"messages": freeze([user("a"), user("b")]), "turnNumber": 1}
    take(scope, "desk", "v9")
    assert [(op.verb, op.key) for op in scope.ops if op.key[1] == "history"] == [
        ("append", ("agent:desk", "history"))
    ]
    other = scope_at(world_of(flow(put("x", "1"))))
    other.state.scopes["agent:desk"] = {"history": freeze([user("z")])}
    other.state.scopes["v9"] = {"messages": freeze([user("a"), user("b")]), "turnNumber": 1}
    take(other, "desk", "v9")
    assert [(op.verb, op.key) for op in other.ops if op.key[1] == "history"] == [
        ("set", ("agent:desk", "history"))
    ]


def test_a_long_history_is_cut_at_a_users_message() -> None:
    """Beyond the bound the newest are kept, from a message of the user's on."""
    rounds = [
        message
        for number in range(kept.MOST_MESSAGES // 3 + 1)
        for message in (
            user(str(number)),
            {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "name": "t"}]},
            {"role": "tool", "content": "r", "tool_call_id": "1"},
        )
    ]
    scope = scope_at(world_of(flow(put("x", "1"))))
    scope.state.scopes["agent:desk"] = {}
    scope.state.scopes["v9"] = {"messages": freeze(rounds), "turnNumber": 1}
    take(scope, "desk", "v9")
    (written,) = [op.value for op in scope.ops if op.key[1] == "history"]
    assert isinstance(written, FrozenList)
    assert kept.CUT_TO - 3 < len(written) <= kept.CUT_TO
    assert written.raw[0]["role"] == "user"


async def test_a_conversation_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The session stays small however long the user talks to the agent."""
    monkeypatch.setattr(kept, "MOST_MESSAGES", 12)
    monkeypatch.setattr(kept, "CUT_TO", 6)
    desk = agent_of(*(f"Answer {number}." for number in range(20)))
    engine = engine_of(
        flow(ask_agent(), ask("a", "?"), {"type": "FLOW", "value": "Main", "callType": "replace"}),
        agents=desk,
    )
    session = await talk(engine, "Main")
    for number in range(15):
        session = await talk(engine, f"words {number}", session=session)
        assert len(session.state.scopes["agent:desk"]["history"]) <= 12
    shown = asked(desk)
    assert shown[0]["role"] == "user"
    assert shown[-1]["content"] == "words 14"


async def test_a_pending_follow_up_crosses_turns() -> None:
    """A strict follow-up is carried out by the user's yes; the model does not build the call."""
    traced: list[Any] = []

    def trace(arguments: Any) -> str:
        traced.append(arguments)
        return "the trace"

    def judge(arguments: Any) -> dict[str, str]:
        return {"status": "denied", "id": "L-7"}

    def is_denied(ctx: InstructionContext) -> bool:
        content: Any = ctx.content
        return content["status"] == "denied"

    rule = LLMInstruction(
        id="denied",
        when=is_denied,
        follow_up=quick_bind("trace", "id", "Explain it", "the user says yes", strict=True),
    )
    tools = [
        define_tool(
            "judge",
            "Judges",
            {},
            judge,
            instructions=[rule],
        ),
        define_tool("trace", "Traces", {"type": "object", "properties": {"id": {}}}, trace),
    ]
    desk = agent_of(wants("judge"), "Denied. Shall I explain?", "Because of x.", tools=tools)
    main = flow(ask_agent(), ask("a", "?"), ask_agent(), ask("b", "?"))
    session = await talk(engine_of(main, agents=desk), "Main", "yes")
    assert traced == [{"id": "L-7"}]
    assert session.response == "Because of x.\n\n?"
