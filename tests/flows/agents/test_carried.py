"""A flow as a tool of an agent: how it ends, what is told of it, and what happens inside."""

from __future__ import annotations

import json
from typing import Any

import pytest

from saywhy.agent.tools import ask_human, define_tool
from saywhy.runtime.agents.agent_tool import agent_as_tool
from saywhy.runtime.agents.flow_tool import flow_tool
from saywhy.runtime.agents.swarm import Specialist, Swarm
from saywhy.runtime.session import Session
from saywhy.testing import FakeClock
from tests.flows.agents.conftest import agent_of, ask_agent, asked, last, names, replies, wants
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

Flow = dict[str, Any]

LOOK = define_tool("look", "Looks.", {}, lambda arguments: "seen")


class Desk:
    """A flow Main that calls an agent, which has the flow Inner run and then says "Done."."""

    def __init__(
        self,
        *inner: dict[str, Any],
        returns: tuple[str, ...] = (),
        flows: tuple[Flow, ...] = (),
        keys: dict[str, Any] | None = None,
        arguments: dict[str, Any] | None = None,
        **options: Any,
    ) -> None:
        self.agent = agent_of(
            wants("inner", **(arguments or {})),
            "Done.",
            "Again.",
            tools=[flow_tool("inner", returns=returns)],
        )
        self.engine = engine_of(
            flow(ask_agent(), ask("more", "More?"), interruptable=True, primary=True),
            flow(*inner, name="Inner", **{"interruptable": True, **(keys or {})}),
            *flows,
            agents=self.agent,
            fallback_agent=None,
            **options,
        )

    async def talk(self, *entries: Any, session: Session | None = None) -> Session:
        return await talk(self.engine, *entries, session=session)

    @property
    def told(self) -> Any:
        """What the agent was told of the flow."""
        message = last(self.agent)
        assert message["role"] == "tool"
        try:
            return json.loads(message["content"])
        except ValueError:
            return message["content"]


async def test_it_completes() -> None:
    """The agent reads that it completed, and nothing of its variables."""
    desk = Desk(put("x", "5"), say("Inside."))
    session = await desk.talk("Main")
    assert session.response == "Inside.\n\nDone.\n\nMore?"
    assert desk.told == {"status": "completed"}


async def test_returns_names_variables() -> None:
    """Those that `returns` names are told, if they are there; no other."""
    desk = Desk(put("x", "5"), put("y", "6"), returns=("x", "z"))
    await desk.talk("Main")
    assert desk.told == {"status": "completed", "variables": {"x": 5}}


async def test_arguments_are_parameters() -> None:
    """What the model says is what the flow's parameters begin with; defaults fill the rest."""
    parameters = [
        {"name": "size", "type": "number"},
        {"name": "colour", "type": "string"},
    ]
    desk = Desk(
        say("{{size}} {{colour}}"),
        keys={
            "parameters": parameters,
            "variables": {"colour": {"type": "string", "value": "red"}},
        },
        arguments={"size": 4},
    )
    assert (await desk.talk("Main")).response == "4 red\n\nDone.\n\nMore?"


async def test_it_asks_the_user() -> None:
    """The turn ends at its question, and the answer goes to it; then the agent goes on."""
    desk = Desk(ask("x", "X?"), returns=("x",))
    session = await desk.talk("Main")
    assert session.response == "X?"
    assert names(session)[0] == "Main"
    assert names(session)[-1] == "Inner"
    assert (await desk.talk("7", session=session)).response == "Done.\n\nMore?"
    assert desk.told == {"status": "completed", "variables": {"x": "7"}}


async def test_return_goes_to_the_agent() -> None:
    """RETURN ends the agent's flow alone; its value is told to the agent and not to the user."""
    desk = Desk({"type": "RETURN", "value": "1 + 1"}, say("Never."))
    session = await desk.talk("Main")
    assert session.response == "Done.\n\nMore?"
    assert desk.told == {"status": "completed", "returned": 2}


async def test_return_in_a_sub_flow_of_it() -> None:
    """RETURN in a flow that the agent's flow called ends both, down to the agent."""
    deep = flow({"type": "RETURN", "value": "'deep'"}, name="Deep")
    desk = Desk(run("Deep", callType="call"), say("Never."), flows=(deep,))
    session = await desk.talk("Main")
    assert session.response == "Done.\n\nMore?"
    assert desk.told == {"status": "completed", "returned": "deep"}


async def test_end() -> None:
    """END ends the flow with its outcome, of which the agent is told."""
    desk = Desk({"type": "END", "outcome": "refused", "reason": "too late"}, say("Never."))
    session = await desk.talk("Main")
    assert session.response == "Done.\n\nMore?"
    assert desk.told["status"] == "completed"
    assert desk.told["outcome"] == "refused"


async def test_it_fails() -> None:
    """A flow whose step raises is an error that the model reads; the conversation goes on."""
    desk = Desk({"type": "DANCE"})
    session = await desk.talk("Main")
    assert session.response == "Done.\n\nMore?"
    assert desk.told["error"] is True
    assert "there is no step of the type DANCE" in desk.told["message"]


async def test_a_tool_of_it_fails() -> None:
    """A flow that ends as its tool failed is told as failed, with the reason."""

    def broken(given: Any) -> Any:
        raise ValueError("no paper")

    desk = Desk(use("print"), tools=[local_tool("print")], functions={"print": broken})
    session = await desk.talk("Main")
    assert session.response is not None
    assert session.response.endswith("Done.\n\nMore?")
    assert desk.told["status"] == "failed"
    assert "no paper" in desk.told["reason"]


async def test_cancel_inside() -> None:
    """Cancelling ends everything, the agent included, and the next words begin afresh."""
    desk = Desk(ask("x", "X?"))
    session = await desk.talk("Main", "cancel")
    assert session.cursor.frames == []
    assert "exited Main" in (session.response or "")
    assert (await desk.talk("Main", session=session)).response == "Done.\n\nMore?"


async def test_help_and_status_inside() -> None:
    """Commands tell of flows, never of the frames of agents, and the question stays."""
    desk = Desk(
        ask(
            "x",
            "X?",
        ),
        returns=("x",),
    )
    session = await desk.talk("Main", "status")
    assert "Inner" in (session.response or "")
    assert "(flow)" not in (session.response or "")
    assert "desk" not in (session.response or "")
    session = await desk.talk("help", session=session)
    assert "(flow)" not in (session.response or "")
    assert (await desk.talk("7", session=session)).response == "Done.\n\nMore?"


async def test_interrupted_by_name() -> None:
    """Another flow may interrupt; then the question is asked again, and the agent goes on."""
    other = flow(ask("o", "Other?"), name="Other", primary=True)
    desk = Desk(ask("x", "X?"), flows=(other,), returns=("x",))
    session = await desk.talk("Main", "Other")
    assert session.response == (
        'Switched to Other\n\n(Your previous "Main" progress has been saved)\n\nOther?'
    )
    session = await desk.talk("fine", session=session)
    assert session.response is not None
    assert session.response.endswith("X?")
    assert (await desk.talk("7", session=session)).response == "Done.\n\nMore?"
    assert desk.told["variables"] == {"x": "7"}


async def test_interrupted_as_a_model_says() -> None:
    """A model may find that the words want another flow; agents are not shown to it as flows."""
    other = flow(ask("o", "Other?"), name="Other", primary=True, description="Something else")
    model = replies(
        {"for": "analyze_intent", "reply": {"action": "switch", "targetFlow": "Other"}},
    )
    desk = Desk(ask("x", "X?"), flows=(other,), model=model)
    session = await desk.talk({"role": "user", "content": "go", "start": {"flow": "main"}})
    session = await desk.talk("I want something else", session=session)
    shown = [ask.user + str(ask.system) for ask in model.asked]
    assert shown
    assert all("(flow)" not in text and "agent/desk" not in text for text in shown)


async def test_dispatch_inside() -> None:
    """DISPATCH ends every flow, the agent too, and hands the user's words on."""
    desk = Desk(ask("x", "X?"), {"type": "DISPATCH", "outcome": "not for me"})
    session = await desk.talk("Main", "something else")
    assert session.cursor.frames == []
    assert session.last_turn_dispatch is not None


async def test_corrected_inside() -> None:
    """An earlier answer in the agent's flow may be corrected; the agent reads what holds then."""
    desk = Desk(
        ask("amount", "How much?"),
        ask("payee", "Who?"),
        say("{{amount}} to {{payee}}"),
        ask("ok", "OK?"),
        returns=("amount",),
        keys={"corrections": True},
    )
    session = await desk.talk("Main", "80", "Ann", "no, the amount is 90")
    assert session.response == "90 to Ann\n\nOK?"
    session = await desk.talk("yes", session=session)
    assert desk.told == {"status": "completed", "variables": {"amount": "90"}}


async def test_corrected_behind_an_agent() -> None:
    """What an agent did and said cannot be taken back: an answer from before it stands."""
    agent, lines = agent_of("Done."), Lines()
    steps = (ask("order", "Order?"), ask_agent(value="{{order}}"), ask("a", "A?"), ask("b", "B?"))
    engine = engine_of(flow(*steps, corrections=True), agents=agent, logger=lines)
    session = await talk(engine, "Main", "7", "no, the order is 8")
    assert session.response == "That can no longer be changed here.\n\nA?"
    assert lines.lines == ["W a correction was not made: an agent has answered since"]
    session = await talk(engine, "5", "no, the a is 6", session=session)
    assert session.response == "B?"
    assert session.state.scopes[session.cursor.top.scope]["a"] == "6"


async def test_silence_inside() -> None:
    """A question of the agent's flow that nobody answers goes on as its timeout says."""
    clock = FakeClock(NOW)
    desk = Desk(
        ask("x", "X?", timeout={"after": 5000, "value": "none"}), returns=("x",), clock=clock
    )
    session = await desk.talk("Main")
    assert session.due_at == NOW + 5000
    await clock.sleep(6)
    session = await desk.talk({"role": "timer"}, session=session)
    assert session.response == "Done.\n\nMore?"
    assert desk.told["variables"] == {"x": "none"}


async def test_inactivity_inside() -> None:
    """A user who stays silent for long ends the flows, the agent's included."""
    clock = FakeClock(NOW)
    desk = Desk(ask("x", "X?"), clock=clock, inactivity=60_000)
    session = await desk.talk("Main")
    await clock.sleep(61)
    session = await desk.talk({"role": "timer"}, session=session)
    assert session.cursor.frames == []


async def test_a_sensitive_answer_stays_inside() -> None:
    """What `pii` marks reaches neither the agent's model nor the record, unless it is returned."""
    desk = Desk(ask("card", "Card?", pii=True), put("length", "card.length"), returns=("length",))
    session = await desk.talk("Main", "4111111111111111")
    assert desk.told["variables"] == {"length": 16}
    shown = str([asked(desk.agent, number) for number in range(2)])
    assert "4111" not in shown
    assert "4111" not in "".join(map(str, session.trace))
    assert "4111" not in str([message.text for message in session.messages])


async def test_a_sensitive_answer_that_is_returned() -> None:
    """Named by `returns` it is the model's to read; the record masks it all the same."""
    desk = Desk(ask("card", "Card?", pii=True), returns=("card",))
    session = await desk.talk("Main", "4111111111111111")
    assert desk.told["variables"] == {"card": "4111111111111111"}
    assert "4111111111111111" not in "".join(map(str, session.trace))


async def test_ask_human() -> None:
    """The agent's question is asked as a question of a flow, and its answer is a tool's result."""
    agent = agent_of(wants("ask_human", question="Really?"), "Good.", tools=[ask_human()])
    engine = engine_of(flow(ask_agent(), ask("more", "More?")), agents=agent)
    session = await talk(engine, "Main")
    assert session.response == "Really?"
    assert (await talk(engine, "sure", session=session)).response == "Good.\n\nMore?"
    assert last(agent)["content"] == "sure"


async def test_an_agent_in_a_flow_in_an_agent_in_a_flow() -> None:
    """As deep as one likes, each agent with its own model, in one session."""
    inner = agent_of(
        wants("ask_human", question="Deep?"), "Deepest.", name="inner", tools=[ask_human()]
    )
    outer = agent_of(wants("middle"), "Outer.", name="outer", tools=[flow_tool("middle")])
    middle = flow(ask_agent("inner", value="go"), ask("m", "Middle?"), name="Middle")
    engine = engine_of(flow(ask_agent("outer"), ask("e", "End?")), middle, agents=[outer, inner])
    session = await talk(engine, "Main")
    assert session.response == "Deep?"
    session = await talk(engine, "yes", session=session)
    assert session.response == "Deepest.\n\nMiddle?"
    assert (await talk(engine, "ok", session=session)).response == "Outer.\n\nEnd?"
    assert last(inner)["content"] == "yes"


async def test_the_same_agent_below_itself() -> None:
    """An agent whose flow calls the same agent has one history, in the order things ended."""
    agent = agent_of(wants("inner"), "Inside.", "Outside.", tools=[flow_tool("inner")])
    inner = flow(ask_agent(value="within"), name="Inner")
    engine = engine_of(flow(ask_agent(), ask("m", "More?")), inner, agents=agent)
    session = await talk(engine, "Main")
    assert session.response == "Inside.\n\nOutside.\n\nMore?"


async def test_a_flow_that_is_gone() -> None:
    """A call of an unknown tool is told to the model; an unknown flow is refused beforehand."""
    from saywhy.errors import DefinitionError

    with pytest.raises(DefinitionError) as refused:
        engine_of(flow(say("x")), agents=agent_of("x", tools=[flow_tool("mian")]))
    assert 'the tool mian of agent desk runs the flow "mian", which is not there' in str(
        refused.value
    )
    agent = agent_of(wants("nothing"), "Well.")
    session = await talk(engine_of(flow(ask_agent()), agents=agent), "Main")
    assert session.response == "Well."
    assert "nothing" in last(agent)["content"]


async def test_an_agent_inside_an_agent_asks() -> None:
    """Its question is asked as one of a flow, and everything around it waits."""
    inner = agent_of(
        wants("ask_human", question="Really?"), "Inside.", name="inner", tools=[ask_human()]
    )
    outer = agent_of(
        wants("inner", message="m"), "Done.", tools=[agent_as_tool(inner, description="Helps.")]
    )
    engine = engine_of(flow(ask_agent(), ask("more", "More?")), agents=outer)
    session = await talk(engine, "Main")
    assert session.response == "Really?"
    assert (await talk(engine, "sure", session=session)).response == "Done.\n\nMore?"
    assert last(inner)["content"] == "sure"
    assert last(outer)["content"] == "Inside."


async def test_an_agent_inside_an_agent_has_flows_and_tools() -> None:
    """The engine knows what is inside: its flows run, and its tools are those of the engine."""
    inner = agent_of(
        wants("ask"), wants("look"), "Inside.", name="inner", tools=[flow_tool("ask"), LOOK]
    )
    outer = agent_of(
        wants("inner", message="m"), "Done.", tools=[agent_as_tool(inner, description="Helps.")]
    )
    within = flow(ask("x", "X?"), name="Ask")
    engine = engine_of(flow(ask_agent(), ask("more", "More?")), within, agents=outer)
    session = await talk(engine, "Main")
    assert session.response == "X?"
    assert (await talk(engine, "7", session=session)).response == "Done.\n\nMore?"
    assert last(inner)["content"] == "seen"
    assert "look" in [tool.id for tool in engine.tools]


async def test_a_swarm_in_a_flow() -> None:
    """It is an agent like others there."""
    swarm = Swarm(
        replies(wants("helper", message="m"), "Done."),
        [Specialist("helper", lambda message: f"did {message}")],
        name="desk",
    )
    engine = engine_of(flow(ask_agent(), ask("more", "More?")), agents=swarm)
    assert (await talk(engine, "Main")).response == "Done.\n\nMore?"
    assert last(swarm)["content"] == "did m"
