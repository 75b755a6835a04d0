"""Calls that an agent makes in a conversation: as durable and guarded as those of flows."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saywhy import MemoryStore, tool
from saywhy.agent.tools import define_tool
from saywhy.errors import DefinitionError
from saywhy.runtime.agents.agent import Agent
from saywhy.runtime.engine import Engine
from saywhy.tools.tool_result import ToolResult
from tests.flows.agents.conftest import agent_of, ask_agent, asked, last, replies, wants
from tests.flows.conftest import ask, engine_of, flow, local_tool, say, talk, use

MAIN = flow(ask("wish", "What?"), ask_agent(), ask("more", "More?"), primary=True)


class Till:
    """A tool that pays, and what it paid."""

    def __init__(self, fails: Exception | None = None, **keys: Any) -> None:
        self.paid: list[Any] = []
        self.contexts: list[Any] = []
        self.fails = fails
        self.tool = define_tool(
            "pay",
            "Pays",
            {
                "type": "object",
                "properties": {"amount": {"type": "number"}},
                "required": ["amount"],
            },
            self.pay,
            **keys,
        )

    def pay(self, arguments: Any, context: Any) -> Any:
        self.paid.append(arguments["amount"])
        self.contexts.append(context)
        if self.fails is not None:
            raise self.fails
        return {"ok": True}


def engine_with(agent: Agent, **options: Any) -> Engine:
    return engine_of(MAIN, agents=agent, **options)


async def test_a_call() -> None:
    """It is made once, under a key, for the user and session, and listed with those of flows."""
    till = Till()
    agent = agent_of(wants("pay", amount=5), "Paid.", tools=[till.tool])
    session = await talk(engine_with(agent), "Main", "pay 5")
    assert session.response == "Paid.\n\nMore?"
    assert till.paid == [5]
    (context,) = till.contexts
    assert (context.user_id, context.session_id, context.tool) == ("user-1", "c1", "pay")
    assert context.key
    assert context.transaction_id
    assert [one["tool"] for one in session.last_turn_tool_calls] == ["pay"]
    assert last(agent)["content"] == '{"ok":true}'


async def test_arguments_that_do_not_fit() -> None:
    """They are told to the model, and nothing is called."""
    till = Till()
    agent = agent_of(wants("pay"), wants("pay", amount="much"), "Sorry.", tools=[till.tool])
    session = await talk(engine_with(agent), "Main", "pay")
    assert session.response == "Sorry.\n\nMore?"
    assert till.paid == []
    told = [one["content"] for one in asked(agent) if one["role"] == "tool"]
    assert all("amount" in one for one in told)
    assert len(told) == 2


async def test_a_tool_that_raises() -> None:
    """Its error is what the model reads; a failure is an answer, and is not tried again."""
    till = Till(ValueError("no money"))
    agent = agent_of(wants("pay", amount=5), "Sorry.", tools=[till.tool])
    session = await talk(engine_with(agent), "Main", "pay")
    assert session.response == "Sorry.\n\nMore?"
    assert till.paid == [5]
    assert last(agent)["content"] == '{"error":true,"message":"no money"}'


async def test_an_approval() -> None:
    """A call that has to be approved rests; approved, it is made and the agent goes on."""
    till = Till(approval=True)
    agent = agent_of(wants("pay", amount=5), "Paid.", tools=[till.tool])
    async with engine_with(agent, store=MemoryStore()) as engine:
        await engine.take_turn("c", "Main")
        rests = await engine.take_turn("c", "pay")
        assert rests.response == "pay has to be approved first. I am waiting for that."
        assert till.paid == []
        (call,) = await engine.approvals("c")
        assert (call["tool"], call["args"]) == ("pay", {"amount": 5})
        done = await engine.approve("c", call["id"], by="the boss")
    assert done is not None
    assert done.response == "Paid.\n\nMore?"
    assert till.paid == [5]


async def test_a_refusal() -> None:
    """Denied, the call is not made, and the model is told by what words."""
    till = Till(approval=True)
    agent = agent_of(wants("pay", amount=5), "Not allowed.", tools=[till.tool])
    async with engine_with(agent, store=MemoryStore()) as engine:
        await engine.take_turn("c", "Main")
        await engine.take_turn("c", "pay")
        (call,) = await engine.approvals("c")
        done = await engine.deny("c", call["id"], by="the boss", reason="too much")
    assert done is not None
    assert done.response == "Not allowed.\n\nMore?"
    assert till.paid == []
    assert last(agent)["content"] == '{"error":true,"message":"not approved: too much"}'


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ({"done": {"ok": "settled"}}, '{"ok":"settled"}'),
        ({"failed": "it bounced"}, '{"error":true,"message":"it bounced"}'),
    ],
)
async def test_an_unknown_outcome_is_settled(said: dict[str, Any], read: str) -> None:
    """A call that timed out rests until somebody says what became of it; the model is told that."""

    async def hangs(arguments: Any) -> Any:
        await asyncio.sleep(60)

    pay = define_tool("pay", "Pays", {}, hangs, timeout_ms=20)
    agent = agent_of(wants("pay"), "I see.", tools=[pay])
    engine = Engine(
        flows=[MAIN],
        agents=agent,
        store=MemoryStore(),
        guidance={"enabled": False},
        validate_on_init=False,
    )
    async with engine:
        await engine.take_turn("c", "Main")
        rests = await engine.take_turn("c", "pay")
        assert "it is not known yet whether it happened" in (rests.response or "")
        (call,) = await engine.unknown("c")
        done = await engine.settle("c", call["id"], by="the clerk", **said)
    assert done is not None
    assert done.response == "I see.\n\nMore?"
    assert last(agent)["content"] == read


async def test_a_call_that_is_not_done_is_made_after_all() -> None:
    """Settled as not done, it is made again under its key."""
    keys: list[str] = []

    async def hangs_once(arguments: Any, context: Any) -> Any:
        keys.append(context.key)
        if len(keys) == 1:
            await asyncio.sleep(60)
        return "paid"

    pay = define_tool("pay", "Pays", {}, hangs_once, timeout_ms=50)
    agent = agent_of(wants("pay"), "Paid.", tools=[pay])
    engine = Engine(
        flows=[MAIN],
        agents=agent,
        store=MemoryStore(),
        guidance={"enabled": False},
        validate_on_init=False,
    )
    async with engine:
        await engine.take_turn("c", "Main")
        await engine.take_turn("c", "pay")
        (call,) = await engine.unknown("c")
        done = await engine.settle("c", call["id"], not_done=True, by="the clerk")
    assert done is not None
    assert done.response == "Paid.\n\nMore?"
    assert keys == [keys[0]] * 2


async def test_reconcile() -> None:
    """A tool's own function says what became of a call; then nobody has to be asked."""

    async def hangs(arguments: Any) -> Any:
        await asyncio.sleep(60)

    def found(arguments: Any, context: Any) -> Any:
        return {"status": "done", "result": {"receipt": "R-1"}}

    pay = define_tool("pay", "Pays", {}, hangs, timeout_ms=20, reconcile="found")
    agent = agent_of(wants("pay"), "Paid.", tools=[pay])
    engine = Engine(
        flows=[MAIN],
        agents=agent,
        functions={"found": found},
        guidance={"enabled": False},
        validate_on_init=False,
    )
    session = engine.init_session("u")
    for words in ("Main", "pay"):
        session = await engine.update_activity(words, session)
    assert session.response == "Paid.\n\nMore?"
    assert last(agent)["content"] == '{"receipt":"R-1"}'


async def test_a_tool_result_with_instructions_and_follow_ups() -> None:
    """What a handler says beside its content reaches the model, and goes through the journal."""

    def look(arguments: Any) -> ToolResult:
        return ToolResult(
            content={"state": "denied"},
            instructions=("Be kind.",),
            follow_ups=(
                {"tool_id": "explain", "params": {"id": "7"}, "description": "Explain it"},
            ),
        )

    tools = [define_tool("look", "Looks", {}, look), define_tool("explain", "Explains", {}, look)]
    agent = agent_of(wants("look"), "I am sorry.", tools=tools)
    async with engine_with(agent, store=MemoryStore()) as engine:
        await engine.take_turn("c", "Main")
        await engine.take_turn("c", "why?")
    read = last(agent)["content"]
    assert '"denied"' in read
    assert "Be kind." in read
    assert "explain" in read


async def test_several_calls_with_concurrency() -> None:
    """In a conversation the calls of a reply are made one after the other, in order."""
    till = Till(approval=True)
    two = {
        "for": "chat",
        "tool_calls": [
            {"name": "pay", "arguments": {"amount": 1}},
            {"name": "pay", "arguments": {"amount": 2}},
        ],
    }
    agent = agent_of(two, "Paid both.", tools=[till.tool], tool_concurrency=4)
    async with engine_with(agent, store=MemoryStore()) as engine:
        await engine.take_turn("c", "Main")
        await engine.take_turn("c", "pay")
        done = None
        for _ in range(2):
            (call,) = await engine.approvals("c")
            done = await engine.approve("c", call["id"], by="the boss")
    assert done is not None
    assert done.response == "Paid both.\n\nMore?"
    assert till.paid == [1, 2]


async def test_a_rate_limit() -> None:
    """It holds for agents and flows together; a call too many is told to the model."""
    till = Till(security={"rateLimit": {"requests": 1, "window": 60_000}})
    agent = agent_of(wants("pay", amount=1), wants("pay", amount=2), "Enough.", tools=[till.tool])
    session = await talk(engine_with(agent), "Main", "pay twice")
    assert session.response == "Enough.\n\nMore?"
    assert till.paid == [1]
    assert "limit" in last(agent)["content"].lower()


async def test_an_audited_tool() -> None:
    """Its calls leave the record that an audit looks for."""
    till = Till(security={"auditLevel": "full"})
    agent = agent_of(wants("pay", amount=1), "Paid.", tools=[till.tool])
    session = await talk(engine_with(agent), "Main", "pay")
    (audit,) = [
        one.answered.facts["audit"]
        for one in session.trace
        if one.answered is not None and "audit" in one.answered.facts
    ]
    assert (audit["tool"], audit["user"], audit["outcome"]) == ("pay", "user-1", "done")
    assert audit["arguments"] == {"amount": 1}


async def test_an_identifier_nobody_named() -> None:
    """`x-known` refuses an identifier that the model made up; one the user named is taken."""
    seen: list[str] = []

    def cancel(arguments: Any) -> str:
        seen.append(arguments["order"])
        return "cancelled"

    schema = {
        "type": "object",
        "properties": {"order": {"type": "string", "x-known": "or-said"}},
        "required": ["order"],
    }
    made = define_tool("cancel", "Cancels", schema, cancel, strict=True)
    agent = agent_of(
        wants("cancel", order="A-99"), wants("cancel", order="A-17"), "Done.", tools=[made]
    )
    session = await talk(engine_with(agent), "Main", "cancel A-17 please")
    assert session.response == "Done.\n\nMore?"
    assert seen == ["A-17"]


async def test_a_tool_of_a_provider() -> None:
    """Tools that a provider makes for the moment are called as well, and journaled."""
    calls: list[str] = []

    class Provider:
        """Makes its tools for the moment, and carries them out itself."""

        async def resolve(self, context: Any) -> Any:
            return [{"name": "now", "description": "Tells the time", "input_schema": {}}]

        async def execute(self, name: str, arguments: Any, context: Any) -> str:
            calls.append(context.key)
            return "noon"

    agent = Agent(replies(wants("now"), "It is noon."), name="desk", tool_provider=Provider())
    async with engine_with(agent, store=MemoryStore()) as engine:
        await engine.take_turn("c", "Main")
        done = await engine.take_turn("c", "when?")
    assert done is not None
    assert done.response == "It is noon.\n\nMore?"
    assert last(agent)["content"] == "noon"
    assert len(calls) == 1


async def test_tools_that_clash() -> None:
    """Two tools with one id are told apart before anything runs."""
    one, other = Till().tool, Till().tool
    agents = [agent_of("x", tools=[one]), agent_of("y", name="clerk", tools=[other])]
    with pytest.raises(DefinitionError, match='two agents have different tools with the id "pay"'):
        engine_of(MAIN, agents=agents)

    @tool
    def pay(amount: float) -> str:
        "Pay."
        return "paid"

    with pytest.raises(DefinitionError, match="agent desk and the engine have different tools"):
        engine_of(MAIN, agents=agent_of("x", tools=[one]), tools=[pay])


async def test_a_tool_of_the_engine() -> None:
    """One function for a flow's step and an agent's call: the same tool, one limit for both."""
    calls: list[float] = []

    @tool(effect="once")
    def pay(amount: float) -> dict[str, bool]:
        "Pay."
        calls.append(amount)
        return {"ok": True}

    agent = agent_of(wants("pay", amount=2), "Paid.", tools=[pay])
    main = flow(use("pay", args={"amount": 1}, variable="r"), ask_agent(value="go"), say("End."))
    session = await talk(engine_of(main, agents=agent, tools=[pay]), "Main")
    assert session.response == "Paid.\n\nEnd."
    assert calls == [1, 2]


async def test_async_strategies_run_as_tasks() -> None:
    """Prompts, messages and tools that are awaited are, in a conversation too."""

    class Prompt:
        async def resolve(self, context: Any) -> str:
            await asyncio.sleep(0)
            return "Be brief."

    agent = Agent(replies("Hi."), name="desk", prompt_provider=Prompt())
    async with engine_with(agent, store=MemoryStore()) as engine:
        await engine.take_turn("c", "Main")
        done = await engine.take_turn("c", "hello")
    assert done is not None
    assert done.response == "Hi.\n\nMore?"
    model: Any = agent.model
    assert model.asked[0].system == "Be brief."


def test_local_tools_of_flows_are_no_agents() -> None:
    """An engine with agents still finds the tools of its flows by their functions."""
    engine = engine_of(MAIN, agents=agent_of("x"), tools=[local_tool("print")])
    assert engine.tools.find("print") is not None
