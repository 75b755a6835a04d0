"""Promise: an agent answers, remembers, asks and follows up, and says what it was handed."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from saywhy.agent.instructions.follow_up import ResolvedFollowUp, follow
from saywhy.agent.instructions.rule import LLMInstruction
from saywhy.agent.tools import AgentTool, ask_human, define_tool
from saywhy.errors import CallerError, DefinitionError, ModelError
from saywhy.models.provider import Ask, ModelReply
from saywhy.runtime.agents.agent import Agent
from saywhy.runtime.agents.result import Usage
from saywhy.values import thaw
from tests.runtime.agents.models import Replies, call, calls

SCHEMA = {
    "type": "object",
    "properties": {"order_id": {"type": "string"}},
    "required": ["order_id"],
}


def orders(*rules: LLMInstruction) -> AgentTool:
    def look_up(arguments: dict[str, Any]) -> dict[str, Any]:
        return {"status": "denied", "trace": f"tr_{arguments['order_id']}"}

    return define_tool("get_order", "Looks up an order.", SCHEMA, look_up, instructions=rules)


def explain() -> AgentTool:
    schema = {"type": "object", "properties": {"trace": {"type": "string"}}}
    return define_tool("explain", "Explains.", schema, lambda given: f"because of {given['trace']}")


def why(*, strict: bool = False) -> LLMInstruction:
    binding = follow(
        "explain",
        lambda ctx: {"trace": ctx.content["trace"]},
        "Explain the denial",
        "User asks why",
        strict=strict,
    )
    return LLMInstruction("why", text="Denied.", follow_up=binding)


async def test_a_direct_answer() -> None:
    """The answer, the history with the system message, and what it cost."""
    model = Replies("hello")
    agent = Agent(model, system="Be brief.", new_id=lambda: "run-1")
    result = await agent.run("hi")
    assert result.content == "hello"
    assert (result.iterations, result.paused, result.stop_reason) == (0, False, "final")
    assert result.usage == Usage(10, 20, 1)
    assert result.run_id == "run-1"
    assert agent.get_messages() == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "hello"},
    ]
    assert list(result.messages) == agent.get_messages()
    assert model.asked[0].system == "Be brief."


async def test_history_goes_on() -> None:
    """The next run knows what was said; `reset_conversation` forgets it."""
    model = Replies("1", "2", "3")
    agent = Agent(model, system="S")
    await agent.run("one")
    await agent.follow_up("two")
    assert [message["content"] for message in model.messages[1]] == ["one", "1", "two"]
    agent.reset_conversation()
    assert agent.get_messages() == []
    await agent.run("three")
    assert [message["content"] for message in model.messages[2]] == ["three"]


async def test_a_failed_run_leaves_no_trace_in_the_history() -> None:
    """The error of the model comes out as it is, and the message is forgotten."""
    failure = ModelError("overloaded", code="server", provider="test")
    agent = Agent(Replies("1", failure, "back"))
    await agent.run("hi")
    before = agent.get_messages()
    with pytest.raises(ModelError) as caught:
        await agent.run("lost")
    assert str(caught.value) == "LLM call failed: [server] overloaded"
    assert caught.value.code == "server"
    assert caught.value.retryable
    assert agent.get_messages() == before
    assert agent.trace.commit(agent.trace.last).phase == "closed"
    await agent.run("again")
    assert [message["content"] for message in agent.get_messages()] == [
        "hi",
        "1",
        "again",
        "back",
    ]


async def test_tools_are_called() -> None:
    """A round of tools, its result in the history, and one more call of the model."""
    agent = Agent(Replies(calls(call("get_order", order_id="7")), "It was denied."))
    with pytest.raises(CallerError):
        agent.trace  # noqa: B018 - asking is what raises
    agent = Agent(agent.model, tools=[orders()])
    result = await agent.run("where is 7?")
    assert (result.content, result.iterations) == ("It was denied.", 1)
    assert agent.get_messages()[2] == {
        "role": "tool",
        "content": '{"status":"denied","trace":"tr_7"}',
        "tool_call_id": "1",
    }


# ------------------------------------------------------------------ follow-ups


async def test_an_offered_action_is_carried_out_exactly() -> None:
    """Its arguments are never typed again: the model only speaks about what it gave."""
    model = Replies(calls(call("get_order", order_id="7")), "Denied.", "Because.")
    agent = Agent(model, tools=[orders(why()), explain()])
    result = await agent.run("go")
    (offer,) = result.follow_ups
    assert (offer.tool_id, dict(offer.params)) == ("explain", {"trace": "tr_7"})
    told = await agent.follow_up(offer)
    assert told.content == "Because."
    assert agent.get_messages()[-4:] == [
        {"role": "user", "content": "Explain the denial"},
        {
            "role": "assistant",
            "content": "Using Explain the denial.",
            "tool_calls": [
                {"id": "auto-strict-1", "name": "explain", "arguments": {"trace": "tr_7"}}
            ],
        },
        {"role": "tool", "content": "because of tr_7", "tool_call_id": "auto-strict-1"},
        {"role": "assistant", "content": "Because."},
    ]


async def test_an_offer_can_come_back_as_json() -> None:
    """A page that shows offers as buttons sends back what it was given."""
    model = Replies(calls(call("get_order", order_id="7")), "Denied.", "Because.")
    agent = Agent(model, tools=[orders(why()), explain()])
    (offer,) = (await agent.run("go")).follow_ups
    page = json.loads(json.dumps(thaw(offer.to_value())))
    other = agent.conversation(checkpoint=agent.checkpoint())
    assert other.follow_ups == (offer,)
    told = await other.follow_up(page, message="Why was that?")
    assert told.content == "Because."
    assert other.get_messages()[-4]["content"] == "Why was that?"


async def test_a_page_cannot_make_offers_up() -> None:
    """JSON from outside is carried out only if the last run offered exactly that."""
    model = Replies(calls(call("get_order", order_id="7")), "Denied.")
    agent = Agent(model, tools=[orders(why()), explain()])
    (offer,) = (await agent.run("go")).follow_ups
    for forged in (
        {"tool_id": "explain", "params": {"trace": "tr_8"}},
        {"tool_id": "get_order", "params": {"order_id": "7"}},
    ):
        with pytest.raises(CallerError) as caught:
            await agent.follow_up(forged)
        assert str(caught.value) == (
            f'no call of "{forged["tool_id"]}" with these arguments was offered by the last run'
        )
    gone = ResolvedFollowUp("explian", offer.params)
    with pytest.raises(CallerError) as caught:
        await agent.follow_up(gone)
    assert str(caught.value) == (
        'the follow-up leads to the tool "explian", which the agent does not have'
    )
    assert caught.value.hint == 'did you mean "explain"?'


async def test_a_strict_follow_up_waits_for_the_next_words() -> None:
    """It is carried out before the model is asked, once, when the words ask for it."""
    model = Replies(calls(call("get_order", order_id="7")), "Denied.", "Because.", "Welcome.")
    agent = Agent(model, tools=[orders(why(strict=True)), explain()])
    await agent.run("go")
    result = await agent.run("why?")
    assert (result.content, result.iterations) == ("Because.", 0)
    assert [message["content"] for message in model.messages[2]][-3:] == [
        "why?",
        "Using Explain the denial.",
        "because of tr_7",
    ]
    await agent.run("why, once more")
    assert model.messages[3][-1] == {"role": "user", "content": "why, once more"}


async def test_there_must_be_something_to_follow_up() -> None:
    """Before the first words there is nothing to go on from."""
    agent = Agent(Replies("x"))
    with pytest.raises(CallerError, match=r"^there is nothing to follow up: nothing was said"):
        await agent.follow_up("more")
    with pytest.raises(CallerError, match=r"^there is nothing to follow up"):
        await agent.follow_up({"tool_id": "a", "params": {}})


# ------------------------------------------------------------------ a person is asked


def asking(*more: ModelReply | str) -> Agent:
    model = Replies(calls(call("ask_human", "h1", question="Sure?")), *more)
    return Agent(model, name="asker", tools=[ask_human()])


async def test_pause_and_resume() -> None:
    """The run rests at the question; the answer takes its place, and the loop goes on."""
    agent = asking("Done.")
    result = await agent.run("help")
    assert (result.content, result.paused, result.iterations) == ("", True, 0)
    assert result.pause_data == {"question": "Sure?", "tool_call_id": "h1"}
    assert result.stop_reason == "paused"
    waiting = '[Waiting for human response to: "Sure?"]'
    assert agent.get_messages()[-1]["content"] == waiting
    done = await agent.resume("yes")
    assert (done.content, done.iterations, done.run_id) == ("Done.", 1, result.run_id)
    assert agent.get_messages()[-2:] == [
        {"role": "tool", "content": "yes", "tool_call_id": "h1"},
        {"role": "assistant", "content": "Done."},
    ]
    assert done.usage == Usage(20, 40, 2)


async def test_resume_needs_a_pause() -> None:
    """Where nobody was asked there is nothing to answer."""
    agent = Agent(Replies("hello"))
    await agent.run("hi")
    with pytest.raises(CallerError) as caught:
        await agent.resume("x")
    assert str(caught.value) == "Cannot resume: agent is not paused. Call run() first."


async def test_another_message_leaves_the_question_open() -> None:
    """Whoever says something else instead is heard; the model reads that nobody has answered."""
    agent = asking("As you like.")
    await agent.run("help")
    result = await agent.run("never mind")
    assert (result.content, result.paused) == ("As you like.", False)
    assert [message["content"] for message in agent.get_messages()] == [
        "help",
        "",
        '[Waiting for human response to: "Sure?"]',
        "never mind",
        "As you like.",
    ]


async def test_a_resume_that_fails_waits_as_before() -> None:
    """The question is still open, and the same answer can be given again."""
    agent = asking(ModelError("down", code="server"), "Done.")  # type: ignore[arg-type]
    await agent.run("help")
    before = agent.checkpoint()
    with pytest.raises(ModelError, match=r"^LLM call failed: \[server\] down"):
        await agent.resume("yes")
    assert agent.checkpoint() == before
    assert (await agent.resume("yes")).content == "Done."


async def test_a_checkpoint_goes_on_in_another_process() -> None:
    """The JSON of a paused conversation is resumed by another agent built the same way."""
    agent = asking()
    paused = await agent.run("help")
    other = asking()
    other.model.left[:] = ["Done."]  # type: ignore[attr-defined]
    other.restore(agent.checkpoint())
    assert other.get_messages() == agent.get_messages()
    done = await other.resume("yes")
    assert (done.content, done.run_id) == ("Done.", paused.run_id)
    first, last = other.trace.first, other.trace.last
    assert first == 1
    assert last > agent.trace.last
    assert other.get_messages()[-2]["content"] == "yes"


async def test_a_conversation_of_its_own_from_a_checkpoint() -> None:
    """`conversation(checkpoint=…)` leaves the agent's own conversation alone."""
    agent = Agent(Replies("1", "2"), new_id=lambda: "r")
    await agent.run("one")
    copy = agent.conversation("u2", checkpoint=agent.checkpoint())
    await copy.run("two")
    assert copy.id == "u2"
    assert [message["content"] for message in copy.get_messages()] == ["one", "1", "two", "2"]
    assert [message["content"] for message in agent.get_messages()] == ["one", "1"]


# ------------------------------------------------------------------ many at once


class Echo:
    """Says back who spoke, after letting everybody else go first; one tool call in between."""

    async def ask(self, ask: Ask) -> ModelReply:
        await asyncio.sleep(0)
        if ask.messages[-1]["role"] == "tool":
            return ModelReply(f"{ask.messages[-1]['content']} of {len(ask.messages)}")
        return calls(call("get_order", order_id=ask.user))


async def test_two_hundred_conversations_do_not_mix() -> None:
    """One agent serves any number of users at once, each with a history of their own."""
    agent = Agent(Echo(), tools=[orders(why(strict=True)), explain()])
    users = [agent.conversation() for _ in range(200)]

    async def talk(number: int) -> list[str]:
        first = await users[number].run(f"u{number}")
        second = await users[number].run(f"again {number}")
        return [first.content, second.content]

    answers = await asyncio.gather(*map(talk, range(200)))
    for number, (first, second) in enumerate(answers):
        assert f'"trace":"tr_u{number}"' in first
        assert f'"trace":"tr_again {number}"' in second
        history = users[number].get_messages()
        assert [one["content"] for one in history if one["role"] == "user"] == [
            f"u{number}",
            f"again {number}",
        ]
    assert len({user.run_id for user in users}) == 200


async def test_one_run_at_a_time_in_one_conversation() -> None:
    """A second run in the midst of the first is refused, and the first goes on."""
    agent = Agent(Echo(), tools=[orders()])
    first = asyncio.ensure_future(agent.run("7"))
    await asyncio.sleep(0)
    with pytest.raises(CallerError) as caught:
        await agent.run("8")
    assert str(caught.value) == ("this conversation is in the midst of a run, so it cannot run now")
    with pytest.raises(CallerError, match=r"so it cannot checkpoint now"):
        agent.checkpoint()
    assert "tr_7" in (await first).content
    assert "tr_8" in (await agent.run("8")).content


# ------------------------------------------------------------------ scripts and building


def test_run_sync() -> None:
    """A script needs no event loop, and a conversation goes on from call to call."""
    agent = Agent(Replies("1", "2"))
    assert agent.run_sync("one").content == "1"
    assert agent.run_sync("two").content == "2"
    assert len(agent.get_messages()) == 4


async def test_run_sync_inside_a_loop() -> None:
    """Where a loop runs, waiting would stop it: the error says what to write."""
    with pytest.raises(CallerError, match=r"^run_sync cannot wait where an event loop runs"):
        Agent(Replies("1")).run_sync("one")


def test_fluent_builders_are_values() -> None:
    """Each step gives a new builder; what branches off does not touch the other branch."""
    base = Agent.create(Replies("x"), name="shop").system("S").tool(orders())
    one = base.tool(explain()).max_iterations(3)
    agent, plain = one.build(), base.build()
    assert [tool.id for tool in agent.definition.tools] == ["get_order", "explain"]
    assert [tool.id for tool in plain.definition.tools] == ["get_order"]
    assert (agent.name, agent.definition.max_iterations) == ("shop", 3)
    assert plain.definition.max_iterations == 10


def test_building_tells_all_problems() -> None:
    """`build()` raises one error with everything."""
    builder = Agent.create(Replies("x")).tools([orders(), orders()]).max_iterations(-1)
    with pytest.raises(DefinitionError) as caught:
        builder.build()
    assert [problem.message for problem in caught.value.problems] == [
        "max_iterations is -1",
        "ToolRegistry: tool 'get_order' already registered",
    ]


def test_a_message_is_text_or_blocks() -> None:
    """Anything else is told before anything runs."""
    with pytest.raises(CallerError, match=r"^a message is text or a list of blocks, not int"):
        Agent(Replies("x")).run_sync(5)  # type: ignore[arg-type]


async def test_a_message_of_blocks() -> None:
    """Pictures and texts go to the model as they are; later changes outside do not reach in."""
    blocks = [
        {"type": "text", "text": "What is "},
        {"type": "image", "source": {"type": "url", "url": "https://example.com/cat.png"}},
        {"type": "text", "text": "this?"},
    ]
    model = Replies("A cat.")
    agent = Agent(model)
    events: list[dict[str, Any]] = []
    result = await agent.run(blocks, on_event=lambda event: events.append(event.to_value()))
    assert result.content == "A cat."
    blocks[0]["text"] = "changed"
    assert agent.get_messages()[0]["content"][0]["text"] == "What is "
    assert model.messages[0][0]["content"][1]["source"]["url"] == "https://example.com/cat.png"
    assert events[0] == {"type": "turn_start", "user_message": "What is this?"}


async def test_answers_are_values() -> None:
    """An answer may be any JSON value; what is none is told, and the question stays open."""
    agent = asking("Done.")
    await agent.run("help")
    with pytest.raises(CallerError, match=r"^answer is a object, which a conversation cannot hold"):
        await agent.resume(object())
    await agent.resume({"approved": True})
    assert agent.get_messages()[-2]["content"] == '{"approved":true}'


async def test_a_stream_that_fails() -> None:
    """What happened is told first, then the error is raised."""
    kinds: list[str] = []
    with pytest.raises(ModelError, match=r"^down"):
        async for event in Agent(Replies(ModelError("down"))).stream("hi"):
            kinds.append(event.type)
    assert kinds == ["turn_start", "llm_start", "error"]


async def test_all_that_a_stream_gives_has_a_type() -> None:
    """Events, then the result, told apart by one field."""
    kinds = [one.type async for one in Agent(Replies("hello")).stream("hi")]
    assert kinds == ["turn_start", "llm_start", "llm_end", "turn_end", "result"]


async def test_a_strict_follow_up_survives_a_checkpoint() -> None:
    """What the next words may ask for, and the number of the next such call, are in the JSON."""

    def made(*replies: Any) -> Agent:
        return Agent(Replies(*replies), tools=[orders(why(strict=True)), explain()])

    order = calls(call("get_order", order_id="7"))
    agent = made(order, "Denied.", "Because.", order, "Denied again.")
    for words in ("go", "why?", "go on"):
        await agent.run(words)
    other = made("Because of that.")
    other.restore(agent.checkpoint())
    result = await other.run("why, really?")
    assert result.content == "Because of that."
    ids = [one["tool_call_id"] for one in other.get_messages() if one["role"] == "tool"]
    assert ids == ["1", "auto-strict-1", "1", "auto-strict-2"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"tools": orders()}, "tools are a list, not AgentTool"),
        (
            {"instructions": [why()]},
            "instructions of the agent: entry 0 is LLMInstruction, not AgentInstruction",
        ),
        ({"injections": ["Be brief."]}, "injections: entry 0 is str, not Injection"),
        ({"memory": "chats.db"}, "memory is str, not AgentMemory"),
        (
            {"instruction_overrides": {"get_order": {"suppress": ["why"]}}},
            'the override of tool "get_order" is dict, not InstructionOverride',
        ),
        ({"recorders": 5}, "recorders are a list, not int"),
    ],
)
def test_what_is_of_another_kind(given: dict[str, Any], told: str) -> None:
    """What an agent cannot be made of is refused by its name, with a way to write it."""
    with pytest.raises(CallerError, match=told) as caught:
        Agent(Replies("ok"), **given)
    assert caught.value.hint


def test_a_rule_that_could_do_nothing() -> None:
    """A field of a rule that cannot be used is told when the agent is made, not once it fires."""
    broken: Any = "denied"
    tool = orders(LLMInstruction("late", when=broken, text="Sorry."))
    told = 'when of instruction "late" of tool "get_order" is str, not a function'
    with pytest.raises(DefinitionError, match=told):
        Agent(Replies("ok"), tools=[tool])
