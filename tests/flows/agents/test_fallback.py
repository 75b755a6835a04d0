"""The agent that takes what no flow fits, and the flow by which an agent asks the user."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.agent.tools import ask_human
from saywhy.errors import CallerError
from saywhy.flows.agents.fallback import ANSWER, ASKING, FALLBACK, asking_chart, fallback_chart
from saywhy.runtime.agents.flow_tool import flow_tool
from tests.flows.agents.conftest import agent_of, asked, last, replies, wants
from tests.flows.conftest import ask, engine_of, flow, talk

PAY = flow(ask("amount", "How much?"), name="Pay", primary=True, interruptable=True)


async def test_words_that_fit_no_flow() -> None:
    """They go to the agent, which remembers the conversation; flows still start by name."""
    desk = agent_of("Hello.", "You said hi.")
    engine = engine_of(PAY, agents=desk, fallback_agent="desk")
    session = await talk(engine, "hi")
    assert session.response == "Hello."
    assert session.cursor.frames == []
    session = await talk(engine, "Pay", session=session)
    assert session.response == "How much?"
    session = await talk(engine, "5", "what did I say?", session=session)
    assert session.response == "You said hi."
    assert [one["content"] for one in asked(desk)] == ["hi", "Hello.", "what did I say?"]


async def test_without_it() -> None:
    """An engine that names no fallback handles such words as ever: not at all."""
    session = await talk(engine_of(PAY, agents=agent_of("Never.")), "hi")
    assert session.response is None


async def test_a_model_decides_first() -> None:
    """Where a model looks for flows, the agent answers what that model fits none to."""
    model = replies({"for": "detect_flow", "reply": {"flowName": None}})
    desk = agent_of("Hello.")
    engine = engine_of(PAY, agents=desk, fallback_agent="desk", model=model)
    assert (await talk(engine, "hi")).response == "Hello."
    assert model.tasks == ["detect_flow"]


async def test_it_may_start_a_flow() -> None:
    """The agent calls a flow as its tool, which asks the user before the agent goes on."""
    desk = agent_of(wants("pay"), "Paid.", tools=[flow_tool("pay", returns=["amount"])])
    engine = engine_of(PAY, agents=desk, fallback_agent="desk")
    session = await talk(engine, "I owe somebody")
    assert session.response == "How much?"
    session = await talk(engine, "5", session=session)
    assert session.response == "Paid."
    assert last(desk)["content"] == '{"status":"completed","variables":{"amount":"5"}}'


async def test_a_flow_interrupts_it() -> None:
    """While the agent waits for an answer, a flow may be asked for by name; then it goes on."""
    desk = agent_of(wants("ask_human", question="Which one?"), "That one.", tools=[ask_human()])
    engine = engine_of(PAY, agents=desk, fallback_agent="desk")
    session = await talk(engine, "hi", "Pay")
    assert (session.response or "").endswith("How much?")
    session = await talk(engine, "5", session=session)
    assert (session.response or "").endswith("Which one?")
    assert (await talk(engine, "the red", session=session)).response == "That one."
    assert last(desk)["content"] == "the red"


def test_who_may_be_the_fallback() -> None:
    """Only an agent of the engine."""
    with pytest.raises(CallerError, match='fallback_agent: there is no agent "dask"') as refused:
        engine_of(PAY, agents=agent_of("x"), fallback_agent="dask")
    assert refused.value.hint == 'did you mean "desk"?'
    with pytest.raises(CallerError, match='there is no agent "desk"') as refused:
        engine_of(PAY, fallback_agent="desk")
    desk = agent_of("x")
    with pytest.raises(CallerError, match="fallback_agent is Agent, not the name of an agent"):
        engine_of(PAY, agents=desk, fallback_agent=desk)
    assert refused.value.hint == "hand it to the engine: agents=[…]"


def test_the_charts() -> None:
    """Each is a flow of one step, and the same each time it is made."""
    assert fallback_chart("desk").digest == fallback_chart("desk").digest
    assert fallback_chart("desk").digest != fallback_chart("other").digest
    (step,) = asking_chart().nodes.values()
    assert (asking_chart().name, step.kind, step.spec["variable"]) == (ASKING, "SAY-GET", ANSWER)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"language": "en"}, "your request"),
        ({"language": "de"}, "Ihre Anfrage"),
        ({"messages": {"en": {"flow_of_agent": "our talk"}}}, "our talk"),
    ],
)
async def test_users_read_no_name_that_nobody_wrote(options: Any, name: str) -> None:
    """In guidance, help, status, offers, and where the flow is left or gone back to."""
    desk = agent_of(wants("ask_human", question="Which?"), "Fine.", tools=[ask_human()])
    settings = {"agents": desk, "fallback_agent": "desk", "guidance": {"enabled": True}, **options}
    engine = engine_of(PAY, **settings)
    session = await talk(engine, "hm")
    said = [session.response]
    for words in ("status", "help", "Pay", "5"):
        session = await talk(engine, words, session=session)
        said.append(session.response)
    session = await talk(engine, "cancel", session=session)
    said.append(session.response)
    assert not [text for text in said if any(one in text for one in (FALLBACK, ASKING))]
    assert name in said[0]
    assert name in said[3]
    assert name in said[4]
    assert name in said[5]


async def test_the_status_while_an_agent_asks() -> None:
    """How the agent asks is nothing that users know of: they are where the agent is."""
    desk = agent_of(wants("ask_human", question="Which?"), "Fine.", tools=[ask_human()])
    session = await talk(engine_of(PAY, agents=desk, fallback_agent="desk"), "hm", "status")
    assert "Stack depth: 1" in session.response
    assert "question" not in session.response


async def test_names_in_texts_of_the_hosts() -> None:
    """A template for guidance is filled with the same words."""
    desk = agent_of(wants("ask_human", question="Which?"), "Fine.", tools=[ask_human()])
    guidance = {
        "enabled": True,
        "mode": "template",
        "template": "{{flowName}}/{{flowPrompt}}: {{guidance}} {{message}}",
        "guidanceMessages": {"general": "(leave {{flowName}}?)"},
    }
    engine = engine_of(PAY, agents=desk, fallback_agent="desk", guidance=guidance)
    session = await talk(engine, "hm")
    assert session.response == "your request/your request: (leave your request?) Which?"
