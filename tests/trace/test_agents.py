"""Promise: the story of an agent's run says what the model read and said, and why it ended."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.agent.agent import AgentMemory
from saywhy.agent.instructions.agent_rule import AgentInstruction
from saywhy.agent.instructions.follow_up import follow
from saywhy.agent.instructions.rule import LLMInstruction
from saywhy.agent.loop.build import build_agent_loop
from saywhy.agent.loop.config import AgentLoopConfig
from saywhy.agent.tools import define_tool
from saywhy.cancel import CancelToken
from saywhy.chart.built import RunCancelled
from saywhy.models.scripted import ScriptedModel
from saywhy.runtime.agents.agent import Agent
from saywhy.runtime.agents.sequence import Sequence
from saywhy.testing.clock import FakeClock
from saywhy.trace.narrative.story import narrative
from saywhy.trace.record import decode, encode
from saywhy.trace.trace import Trace
from tests.agent.recorders.conftest import Timed, all_runs, says, wants


def lines(record: Trace) -> list[str]:
    """The story without the heading."""
    return [line.strip() for line in narrative(record).splitlines()[1:]]


async def test_a_run_with_tools_and_rules() -> None:
    """Slots, calls, rules with their reasons, results and the end, each in a sentence."""
    (first, *_) = await all_runs([])
    assert lines(first) == [
        '1.1  The user said "Where is order 7?".',
        "1.2  Worked out the system prompt, the messages and the tools: first entry.",
        '1.2.1  System prompt: "Help." (the agent\'s system prompt).',
        "1.2.2  1 message: 1 of the user.",
        "1.2.3  Offered 4 tools: order, trace, broken, ask_human; "
        "Chose: gated (4 allowed, 1 blocked: danger).",
        '1.3  The model big said "looking" and wants order({"id": 7}), broken() '
        "(100 + 10 tokens, 200 ms).",
        '1.4  order({"id": 7}) gave "{"status":"denied","trace":"t7"}". '
        'Instruction "kind" fired (content.status = "denied"). '
        'Instruction "paid" did not fire: its condition was false (content.status = "denied"). '
        "Instruction \"odd\" was skipped: its condition raised KeyError: 'nothing' "
        '(content.nothing = "<absent>"). It offers trace({"id": "t7"}).',
        '1.5  broken() failed: "{"error":true,"message":"no line"}".',
        "1.6  Worked out the messages: messages changed.",
        "1.6.1  4 messages: 1 of the user, 1 of the model, 2 of tools.",
        '1.7  The model big said "looking" and wants trace({"id": "t7"}), order({"id": "x"}), '
        "gone() (100 + 10 tokens, 100 ms).",
        '1.8  trace({"id": "t7"}) gave "line 7". order({"id": "x"}) failed: '
        '"{"error":true,"message":"Invalid arguments for \'order\': id: Expected integer ...". '
        'gone() failed: "Permission denied: tool "gone" is not available. '
        'Available tools are listed i...".',
        "1.9  Worked out the messages: messages changed.",
        "1.9.1  8 messages: 1 of the user, 2 of the model, 5 of tools.",
        '1.10  The model small said "Denied in line 7." (50 + 5 tokens, 60 ms).',
        "1.11  The run ended after 2 rounds of tools, as the model wanted no more tools. "
        'Its answer is "Denied in line 7.".',
        'Reply: "Denied in line 7."',
    ]


async def test_failures_and_questions() -> None:
    """A model that gives no answer, and a person who does."""
    _, _, failed, paused, _ = await all_runs([])
    assert lines(failed)[-2:] == [
        "3.3  The model gave no answer: [server] down.",
        "3.4  The run of agent failed: LLM call failed: [server] down.",
    ]
    told = lines(paused)
    assert '4.4  Asked a person "Sure?".' in told
    assert '4.5  ask_human({"question": "Sure?"}) gave "yes".' in told


async def test_instructions_of_the_agent() -> None:
    """Which apply and which do not, with what their conditions looked at."""
    clock = FakeClock()
    rules = [
        AgentInstruction(id="calm", prompt="Stay calm."),
        AgentInstruction(id="vip", active_when=lambda decision: decision["vip"], prompt="Vip."),
        AgentInstruction(id="bad", active_when=lambda decision: decision["x"], safety=True,
                         prompt="Safe."),
    ]  # fmt: skip
    agent = Agent(
        Timed(clock, (1, says("hi"))), instructions=rules, decision={"vip": False}, clock=clock
    )
    await agent.run("hello")
    told = lines(agent.trace)
    assert told[1] == "1.2  Judged the instructions."
    assert told[2] == (
        '1.2.1  Instruction "calm" applies. '
        'Instruction "vip" does not apply: its condition was false (vip = false). '
        'Instruction "bad" applies all the same, being one of safety: its condition raised '
        "KeyError: 'x' (x = \"<absent>\")."
    )


async def test_the_limit_of_rounds() -> None:
    """That the limit ended the run stands there, and that calls were left."""
    clock = FakeClock()
    tool = define_tool("a", "A.", {}, lambda arguments: "ra")
    replies = [(1, wants(("c1", "a", {}))), (1, wants(("c2", "a", {})))]
    agent = Agent(
        Timed(clock, *replies), tools=[tool], max_iterations=1, tool_concurrency=2, clock=clock
    )
    await agent.run("go")
    told = lines(agent.trace)
    assert "1.4  Made the calls side by side." in told
    assert told[-3:-1] == [
        "1.8  The limit of rounds is reached, so no more calls are made.",
        "1.9  The run ended after 1 round of tools, as the limit of rounds was reached; the calls "
        'it still wanted were not made. Its answer is "looking".',
    ]


async def test_a_strict_follow_up() -> None:
    """What was carried out without the model is told as that."""
    clock = FakeClock()
    rule = LLMInstruction(
        "next", follow_up=follow("b", lambda ctx: {"id": 1}, "Look closer", "yes", strict=True)
    )
    tools = [
        define_tool("a", "A.", {}, lambda arguments: "ra", instructions=[rule]),
        define_tool("b", "B.", {}, lambda arguments: "rb"),
    ]
    replies = [(1, wants(("c1", "a", {}))), (1, says("More?")), (1, says("Here.")), (1, says("k"))]
    agent = Agent(Timed(clock, *replies), tools=tools, clock=clock)
    await agent.run("go")
    assert any('It offers b({"id": 1}), strictly.' in line for line in lines(agent.trace))
    await agent.run("yes")
    told = lines(agent.trace)
    assert 'The follow-up b({"id": 1}) is carried out without the model.' in told[0]
    assert told[1] == '2.2  b({"id": 1}) gave "rb".'


async def test_a_cancelled_run() -> None:
    """What was on its way is told, and why the run ended."""
    clock, token = FakeClock(), CancelToken()

    async def slow(arguments: Any) -> str:
        token.cancel("enough")
        await clock.sleep(100)
        return "late"

    tool = define_tool("slow", "Slow.", {}, slow)
    agent = Agent(Timed(clock, (1, wants(("c1", "slow", {})))), tools=[tool], clock=clock)
    with pytest.raises(RunCancelled, match="enough"):
        await agent.run("go", signal=token)
    told = lines(agent.trace)
    assert told[-2:] == [
        "1.4  Called slow(); no answer is recorded.",
        "1.5  The run of agent was cancelled: enough.",
    ]


async def test_the_loop_form_reads_alike() -> None:
    """The other form of the loop passes things on in more steps, and those are not told."""
    clock = FakeClock()
    tool = define_tool("a", "A.", {}, lambda arguments: "ra")
    model = Timed(clock, (1, wants(("c1", "a", {}))), (1, says("done")))
    built = build_agent_loop(AgentLoopConfig(provider=model, tools=[tool])).chart
    result = await built.run({"message": "hi"}, clock=clock)
    told = narrative(Trace(result.commits, built.charts))
    assert "Ran " not in told
    assert "Made the calls." in told
    assert told.splitlines()[-1].endswith('Its answer is "done".')


async def test_stored_records_read_alike() -> None:
    """A record that went through JSON has the same story, charts or not."""
    for record in await all_runs([]):
        stored = Trace([decode(encode(one)) for one in record], record.charts, record.messages())
        assert narrative(stored) == narrative(record)
        assert "Ran " not in narrative(Trace(list(record)))


async def test_why_an_agent_answered_so() -> None:
    """The answer leads to the model, the results it read, the rules and the prompt."""
    clock = FakeClock()
    rule = LLMInstruction("kind", text="Be kind.")
    tool = define_tool("order", "O.", {}, lambda arguments: "denied", instructions=[rule])
    replies = [(1, wants(("c1", "order", {"id": 7}))), (1, says("It was denied."))]
    agent = Agent(
        Timed(clock, *replies),
        system="Help.",
        tools=[tool],
        instructions=[AgentInstruction(id="calm", prompt="Stay calm.")],
        clock=clock,
    )
    await agent.run("Where is 7?")
    chain = agent.trace.why()
    said = chain.causes[1]
    assert said.sentence == "answered by agent agent"
    told = [line for cause in chain.causes for line in (cause.sentence, *cause.details)]
    assert any(line.endswith('wanted order({"id": 7})') for line in told)
    for line in (
        'the model small answered "It was denied."',
        'tool order({"id": 7}) gave "denied"',
        'instruction "kind" about order: it applies, and says "Be kind."',
        'instruction "calm" in the system prompt: "Stay calm." (it applies)',
        'the system prompt: "Help."',
        'tool order is declared as "O."',
        "it was offered 1 tool: order",
    ):
        assert line in told, told
    names = {name for cause in chain.causes for name in cause.names}
    assert {"instruction:kind", "instruction:calm", "slot:system-prompt", "tool:order"} <= names


async def test_a_sequence_reads_as_questions_and_answers() -> None:
    """Each part was asked something and answered something; its own story stands beneath."""
    clock = FakeClock()
    parts = [
        Agent(Timed(clock, (1, says(text))), name=text, clock=clock) for text in ("one", "two")
    ]
    runner: Any = Sequence(*parts, clock=clock)
    await runner.run("hello")
    told = lines(runner.trace)
    assert told[:3] == [
        '1.1  The user said "hello".',
        '1.2  Asked one: "hello".',
        '1.2.1  Was handed "hello".',
    ]
    assert '1.3  one answered "one".' in told
    assert '1.4  Asked two: "one".' in told
    assert told[-2:] == ['1.5  two answered "two".', 'Reply: "two"']


async def test_a_memory_and_instructions() -> None:
    """Loading and keeping a history is told in a sentence at most, and is no failure."""
    rules = [AgentInstruction("brief", prompt="Be brief.")]
    agent = Agent(
        ScriptedModel([{"tool_calls": [{"name": "a", "arguments": {}}]}, {"reply": "Done."}]),
        tools=[define_tool("a", "A tool.", {}, lambda given: "ra")],
        pattern="dynamic",
        instructions=rules,
        memory=AgentMemory(Slow()),
        clock=FakeClock(),
    )
    await agent.run("go")
    told = lines(agent.trace)
    assert told[7:11] == [
        "1.4  The model wants a().",
        '1.5  a() gave "ra".',
        "1.6  Judged the instructions.",
        '1.6.1  Instruction "brief" applies.',
    ]
    assert told[11:13] == [
        "1.7  Worked out the messages: messages changed.",
        "1.7.1  3 messages: 1 of the user, 1 of the model, 1 of tools.",
    ]
    assert told[-2:] == ["1.10  Kept 5 messages in the store.", 'Reply: "Done."']
    whole = " ".join(told)
    assert "Ran stage" not in whole
    assert "failed" not in whole


class Slow:
    """A store that has to be awaited, with nothing in it."""

    async def load(self, conversation_id: str) -> list[Any] | None:
        return None

    async def save(self, conversation_id: str, messages: list[Any]) -> None:
        return None
