"""Promise: what tools of an agent that runs alone declare sensitive is in none of its records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from saywhy import (
    Agent,
    Engine,
    FollowUpBinding,
    LLMInstruction,
    Policy,
    RecordingModel,
    Sequence,
    agent_as_tool,
    define_tool,
    masked_record,
)
from saywhy.agent.tools import AgentTool, ask_human
from saywhy.models.scripted import ScriptedModel
from saywhy.runtime.agents.runner import Runner
from saywhy.trace.export.file import lines_of

GIVEN = "SSN-4711-77"
GOT = "value-9911"


def look(arguments: Mapping[str, Any]) -> dict[str, Any]:
    if arguments.get("fail"):
        raise ValueError(f"no such person {arguments['ssn']}")
    return {"result": GOT, "of": arguments["ssn"], "left": 3}


def lab(*, pii: bool = True, strict: bool = False, rules: Any = ()) -> AgentTool:
    ssn = {"type": "string", **({"pii": True} if pii else {})}
    schema = {"type": "object", "properties": {"ssn": ssn, "fail": {"type": "boolean"}}}
    result = {"type": "string", **({"pii": True} if pii else {})}
    returns = {"type": "object", "properties": {"result": result}}
    return define_tool(
        "lab", "Looks up", schema, look, strict=strict, returns=returns, instructions=rules
    )


def call(name: str = "lab", **arguments: Any) -> dict[str, Any]:
    return {"tool_calls": [{"id": f"c-{name}", "name": name, "arguments": arguments}]}


def says(*replies: dict[str, Any]) -> ScriptedModel:
    return ScriptedModel(list(replies))


LOOKS = (call(ssn=GIVEN), {"reply": f"It is {GOT}."})


def record_of(runner: Runner[Any]) -> str:
    """Everything that is kept of the last run, and what is told of it."""
    return b"\n".join(lines_of(runner.trace)).decode() + runner.trace.narrative()


def assert_nothing_in(record: str) -> None:
    assert GIVEN not in record
    assert GOT not in record


@pytest.mark.parametrize("strict", [False, True])
async def test_arguments_and_answers(strict: bool) -> None:
    """The real values go to the tool and to the person; without the declaration they are kept."""
    agent = Agent(says(*LOOKS), tools=[lab(strict=strict)], name="desk")
    result = await agent.run("look up")
    assert result.content == f"It is {GOT}."
    assert_nothing_in(record_of(agent))
    agent = Agent(says(*LOOKS), tools=[lab(pii=False, strict=strict)], name="desk")
    await agent.run("look up")
    assert GIVEN in record_of(agent)
    assert GOT in record_of(agent)


async def test_errors() -> None:
    """What a tool says when it fails may quote what it was given."""
    script = says(call(ssn=GIVEN, fail=True), {"reply": f"No {GIVEN}."})
    agent = Agent(script, tools=[lab()], name="desk")
    await agent.run("look up")
    assert_nothing_in(record_of(agent))


async def test_what_a_model_is_asked(tmp_path: Path) -> None:
    """A recorder of models that asks for it masks what the run knows."""
    path = tmp_path / "talk.jsonl"
    model = RecordingModel(says(*LOOKS), path, redact=masked_record)
    agent = Agent(model, tools=[lab()], name="desk")
    await agent.run("look up")
    asked = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(asked) == 2
    assert_nothing_in(json.dumps(asked[1]))


async def test_later_runs() -> None:
    """What was found in one run of a conversation is not shown by the records of the next."""
    agent = Agent(says(*LOOKS, {"reply": f"As I said, {GOT}."}), tools=[lab()], name="desk")
    await agent.run("look up")
    result = await agent.run(f"is {GOT} good?")
    assert result.content == f"As I said, {GOT}."
    assert_nothing_in(record_of(agent))
    again = Agent(says({"reply": f"Yes, {GOT}."}), tools=[lab()], name="desk")
    again.restore(agent.checkpoint())
    await again.run("really?")
    assert_nothing_in(record_of(again))


async def test_a_run_that_rests() -> None:
    """A checkpoint is live state and has the values; what is recorded after it has not."""
    asks = call("ask_human", question="May I tell?")
    agent = Agent(says(call(ssn=GIVEN), asks), tools=[lab(), ask_human()], name="desk")
    paused = await agent.run("look up")
    assert paused.paused
    assert_nothing_in(record_of(agent))
    saved = agent.checkpoint()
    assert GOT in saved.decode()
    told = f"Person {GIVEN[::-1]}, {GOT}."
    other = Agent(says({"reply": told}), tools=[lab(), ask_human()], name="desk")
    other.restore(saved)
    result = await other.resume("yes")
    assert result.content == told
    record = record_of(other)
    assert_nothing_in(record)
    assert GIVEN[::-1] not in record, "what is made of it is as sensitive, after the rest as well"


async def test_runners_made_of_others() -> None:
    """Declarations of tools of the agents inside hold for the record of the whole."""
    inner = Agent(says(*LOOKS), tools=[lab()], name="desk")
    last = Agent(says({"reply": f"{GOT}, then."}), name="last")
    both = Sequence(inner, last, name="both")
    await both.run("look up")
    assert_nothing_in(record_of(both))
    inner = Agent(says(*LOOKS), tools=[lab()], name="desk")
    script = says(call("desk", message="look"), {"reply": GOT})
    outer = Agent(script, tools=[agent_as_tool(inner, description="Looks up")], name="outer")
    await outer.run("look up")
    assert_nothing_in(record_of(outer))


async def test_a_host_that_says_what_to_mask() -> None:
    """What tools declare holds besides what is said of the whole."""
    inner = Agent(says(*LOOKS), tools=[lab()], name="desk")
    last = Agent(says({"reply": "So."}), name="last")
    both = Sequence(inner, last, name="both", redact=Policy(names=("zip",)))
    await both.run("look up")
    assert_nothing_in(record_of(both))


async def test_follow_ups() -> None:
    """An action that is offered with what a sensitive answer holds does not tell it."""
    offered = FollowUpBinding(
        "lab", lambda found: {"ssn": found.content["result"]}, "look again", strict=True
    )
    rule = LLMInstruction("again", text="Look again.", follow_up=offered)
    agent = Agent(says(*LOOKS), tools=[lab(rules=[rule])], name="desk")
    await agent.run("look up")
    assert_nothing_in(record_of(agent))


async def test_what_tells_nothing_stays() -> None:
    """That a model wanted tools, and which, is told of a reply that is sensitive as well."""
    agent = Agent(says(call(ssn=GIVEN), *LOOKS), tools=[lab()], name="desk")
    await agent.run("look up")
    record = record_of(agent)
    assert_nothing_in(record)
    assert '"[REDACTED]":' not in record, "a name was taken for a secret"
    assert record.count("The model wants lab(") == 2


async def test_tools_that_a_host_hides() -> None:
    """Of a tool that the policy names nothing is kept but the shape, here as in flows."""
    tool = lab(pii=False)
    agent = Agent(says(*LOOKS), tools=[tool], name="desk", redact=Policy(tools=("lab",)))
    await agent.run("look up")
    assert_nothing_in(record_of(agent))


async def test_tools_that_a_host_hides_in_an_engine() -> None:
    """The steps of the agent that calls them tell no more than the call itself."""
    agent = Agent(says(*LOOKS), tools=[lab(pii=False)], name="desk")
    flow = {"id": "f", "name": "F", "steps": [{"type": "AGENT", "agent": "desk", "value": "look"}]}
    hiding = Policy(tools=("lab",))
    engine = Engine(flows=[flow], agents={"desk": agent}, redact=hiding, validate_on_init=False)
    session = await engine.update_activity("F", engine.init_session("ann", "s"))
    assert session.response == f"It is {GOT}."
    assert_nothing_in(b"\n".join(lines_of(session.trace)).decode() + session.trace.narrative())
