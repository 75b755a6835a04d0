"""AGENT: what the agent is told, where its answer goes, and what happens when it fails."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.agent.tools import define_tool
from saywhy.errors import FlowExecutionError
from saywhy.runtime.agents.agent import Agent
from tests.flows.agents.conftest import agent_of, ask_agent, asked, last, replies, wants
from tests.flows.conftest import Lines, ask, engine_of, flow, say, talk


def main_with(**keys: Any) -> dict[str, Any]:
    return flow(ask("name", "Name?"), ask_agent(**keys), ask("more", "More?"))


async def test_it_is_handed_the_users_words() -> None:
    """Without `value` the newest words of the user are what the agent is told; it is said."""
    desk = agent_of("Hello Ann.")
    session = await talk(engine_of(main_with(), agents=desk), "Main", "Ann")
    assert last(desk) == {"role": "user", "content": "Ann"}
    assert session.response == "Hello Ann.\n\nMore?"


async def test_value_is_a_template() -> None:
    """`value` is what the agent is told, with its expressions filled in."""
    desk = agent_of("Hi.")
    await talk(engine_of(main_with(value="Greet {{name}} twice"), agents=desk), "Main", "Ann")
    assert last(desk)["content"] == "Greet Ann twice"


async def test_value_in_the_users_language() -> None:
    """`value_de` is told where the conversation is in German, `value` elsewhere."""
    desk = agent_of("Hallo.", "Hi.")
    keys = {"value": "Greet {{name}}", "value_de": "Grüße {{name}}"}
    engine = engine_of(main_with(**keys), agents=desk)
    german = engine.init_session("u", "de", language="de")
    await talk(engine, "Main", "Ann", session=german)
    assert last(desk)["content"] == "Grüße Ann"
    await talk(engine, "Main", "Ann")
    assert last(desk)["content"] == "Greet Ann"


async def test_a_variable_keeps_the_answer_silently() -> None:
    """With `variable` the answer is kept and not said, unless `say` asks for both."""
    desk = agent_of("42", "43")
    quiet = flow(ask_agent(variable="answer"), say("It is {{answer}}."), name="Quiet")
    both = flow(ask_agent(variable="answer", say=True), say("It is {{answer}}."), name="Both")
    engine = engine_of(quiet, both, agents=desk)
    assert (await talk(engine, "Quiet")).response == "It is 42."
    assert (await talk(engine, "Both")).response == "43\n\nIt is 43."


async def test_say_false_says_nothing() -> None:
    """The answer is neither said nor kept; the agent may have acted all the same."""
    desk = agent_of("secret")
    session = await talk(engine_of(flow(ask_agent(say=False), say("Done.")), agents=desk), "Main")
    assert session.response == "Done."


async def test_an_empty_answer_says_nothing() -> None:
    """An agent that says nothing leaves no empty line in the reply."""
    desk = agent_of("")
    session = await talk(engine_of(flow(ask_agent(), say("Done.")), agents=desk), "Main")
    assert session.response == "Done."


async def test_it_remembers_the_conversation() -> None:
    """A second step of the same agent knows what was said in the first."""
    desk = agent_of("One.", "Two.")
    main = flow(ask("a", "A?"), ask_agent(), ask("b", "B?"), ask_agent(), ask("c", "C?"))
    await talk(engine_of(main, agents=desk), "Main", "first", "second")
    assert [message["content"] for message in asked(desk)] == ["first", "One.", "second"]


async def test_history_none_begins_afresh() -> None:
    """With `history: none` the agent knows nothing of before, and nothing of it later."""
    desk = agent_of("One.", "Two.", "Three.")
    main = flow(
        ask("a", "A?"),
        ask_agent(),
        ask("b", "B?"),
        ask_agent(history="none"),
        ask("c", "C?"),
        ask_agent(),
    )
    await talk(engine_of(main, agents=desk), "Main", "first", "second", "third")
    assert [one["content"] for one in asked(desk, 1)] == ["second"]
    assert [one["content"] for one in asked(desk, 2)] == ["first", "One.", "third"]


async def test_two_agents_in_one_conversation() -> None:
    """Each has its own model and history; one's answer may be what the other is told."""
    desk, clerk = agent_of("Do it."), agent_of("Done it.", name="clerk")
    main = flow(
        ask_agent("desk", variable="wish", value="What now?"),
        ask_agent("clerk", value="{{wish}}"),
    )
    session = await talk(engine_of(main, agents=[desk, clerk]), "Main")
    assert asked(clerk) == [{"role": "user", "content": "Do it."}]
    assert asked(desk) == [{"role": "user", "content": "What now?"}]
    assert session.response == "Done it."


async def test_names_of_a_mapping() -> None:
    """Agents handed over by name are called by it, whatever they call themselves."""
    desk = agent_of("Hi.", name="agent")
    session = await talk(engine_of(flow(ask_agent("front")), agents={"front": desk}), "Main")
    assert session.response == "Hi."


async def test_an_unknown_agent() -> None:
    """The turn fails with the step's place, and names the agents there are."""
    engine = engine_of(flow(ask_agent("dask")), agents=agent_of("Hi."))
    with pytest.raises(FlowExecutionError, match='AGENT step: there is no agent "dask"') as caught:
        await talk(engine, "Main")
    assert caught.value.hint == 'did you mean "desk"?'
    assert caught.value.step == "/steps/0"


async def test_an_engine_without_agents() -> None:
    """Whoever has none is told how to hand one over."""
    with pytest.raises(FlowExecutionError, match='there is no agent "desk"') as caught:
        await talk(engine_of(flow(ask_agent())), "Main")
    assert caught.value.hint == "agents of this engine: none: hand them to the engine as agents=…"


DOWN = {"for": "chat", "raise": "the line is dead", "code": "network"}


async def test_a_model_that_fails_without_on_fail() -> None:
    """The flow fails as one does whose step raised; the next message begins afresh."""
    engine = engine_of(flow(ask_agent()), agents=agent_of(DOWN, "Hi."))
    with pytest.raises(FlowExecutionError, match=r"LLM call failed: \[network\] the line is dead"):
        await talk(engine, "Main")
    assert (await talk(engine, "Main")).response == "Hi."


async def test_on_fail() -> None:
    """`onFail` takes over; what the agent said before is still known to it."""
    desk = agent_of("One.", DOWN, "Three.")
    sorry = {"id": "sorry", "type": "SAY", "value": "Sorry, {{a}}."}
    main = flow(
        ask("a", "A?"),
        ask_agent(),
        ask("b", "B?"),
        ask_agent(onFail=sorry),
        ask("c", "C?"),
        ask_agent(),
    )
    engine = engine_of(main, agents=desk)
    session = await talk(engine, "Main", "first", "second")
    assert session.response == "Sorry, first.\n\nC?"
    await talk(engine, "third", session=session)
    assert [one["content"] for one in asked(desk)][:2] == ["first", "One."]
    assert last(desk)["content"] == "third"


async def test_retries() -> None:
    """`maxRetries` asks the agent again, from its beginning."""
    desk = agent_of(DOWN, DOWN, "At last.")
    session = await talk(
        engine_of(flow(ask_agent(maxRetries=3, retryDelay=5)), agents=desk), "Main"
    )
    assert session.response == "At last."


async def test_no_retry_once_it_has_acted() -> None:
    """A run that has had a tool called is not made again: that would call it again."""
    calls: list[Any] = []

    def pay(given: Any) -> str:
        calls.append(given)
        return "paid"

    desk = agent_of(wants("pay"), DOWN, "Never.", tools=[define_tool("pay", "Pays", {}, pay)])
    sorry = {"id": "sorry", "type": "SAY", "value": "Sorry."}
    main = flow(ask_agent(maxRetries=3, onFail=sorry))
    session = await talk(engine_of(main, agents=desk), "Main")
    assert session.response == "Sorry."
    assert len(calls) == 1
    failure = next(one.facts["failure"] for one in session.trace if "failure" in one.facts)
    assert failure["action"] == "give_up"
    assert failure["rule"] == "the agent has had tools called, and must not begin again"


async def test_no_retry_where_trying_again_is_of_no_use() -> None:
    """A key that the model's service refuses is refused the next time as well."""
    refused = {"for": "chat", "raise": "no such key", "code": "auth"}
    engine = engine_of(flow(ask_agent(maxRetries=3)), agents=agent_of(refused, "Never."))
    with pytest.raises(FlowExecutionError, match=r"LLM call failed: \[auth\] no such key"):
        await talk(engine, "Main")


async def test_nothing_is_left_of_a_run() -> None:
    """What a run worked with is gone when it is over; its history is kept, once."""
    desk = agent_of("One.", "Two.")
    main = flow(ask("a", "A?"), ask_agent(), ask("b", "B?"), ask_agent(), ask("c", "C?"))
    engine = engine_of(main, agents=desk)
    first = await talk(engine, "Main", "one")
    second = await talk(engine, "two", session=first)
    assert set(second.state.scopes) == set(first.state.scopes)
    assert len(second.state.scopes["agent:desk"]["history"]) == 4


async def test_it_stops_at_its_limit() -> None:
    """An agent that calls for ever is stopped; the commit says why it ended."""
    desk = Agent(
        replies(wants("nothing"), wants("nothing"), {**wants("nothing"), "reply": "Enough."}),
        name="desk",
        max_iterations=2,
    )
    session = await talk(engine_of(flow(ask_agent()), agents=desk), "Main")
    step = next(one for one in session.trace if one.kind == "AGENT" and one.answered is not None)
    assert step.facts["stopReason"] == "max_iterations"
    assert session.response == "Enough."


async def test_the_host_starts_it_without_words() -> None:
    """A flow that the host starts without words hands the agent what the flow is called by."""
    desk = agent_of("Hi.")
    engine = engine_of(flow(ask_agent(), prompt="a chat"), agents=desk)
    session = await talk(engine, {"role": "user", "content": "", "start": {"flow": "main"}})
    assert last(desk)["content"] == "a chat"
    assert session.response == "Hi."


async def test_nothing_is_warned_of() -> None:
    """A flow that calls an agent is sound, and nothing is logged while it runs."""
    lines = Lines()
    await talk(engine_of(main_with(), agents=agent_of("Hi."), logger=lines), "Main", "Ann")
    assert lines.lines == []
