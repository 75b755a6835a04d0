"""Promise: agents in an engine run again with it, and without an instruction or tool of theirs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from saywhy import Agent, LLMInstruction, MemoryStore, ScriptedModel, define_tool
from saywhy.errors import CallerError, DefinitionError
from saywhy.runtime.engine import Engine
from saywhy.runtime.session import Session
from tests.runtime.replay.conftest import PAYING, Outside, ask, call, engine_of, flow_of, say

SCRIPT = [
    {"when": {"last": "Name the tax"}, "reply": "80, with tax"},
    {"when": {"last": "80"}, "reply": "80"},
    {"when": {"tools": "price"}, "tool_calls": [{"name": "price", "arguments": {}}]},
    {"when": {}, "reply": "no idea"},
]
FLOW = flow_of(
    ask("what", "What?"),
    {"id": "help", "type": "AGENT", "agent": "clerk", "value": "{{what}}", "variable": "told"},
    say("tell", "It is {{told}}."),
)


def desk(outside: Outside, **options: Any) -> Engine:
    """An engine whose flow asks an agent."""

    def price(arguments: Any) -> Any:
        assert not outside.gone, "nobody may be called any more"
        return {"price": 80}

    rule = LLMInstruction("tax", text="Name the tax.")
    tool = define_tool("price", "The price.", {}, price, instructions=[rule])
    clerk = Agent(ScriptedModel(SCRIPT), name="clerk", tools=[tool])
    return engine_of(outside, [FLOW], agents=[clerk], store=MemoryStore(), **options)


async def said(engine: Engine, *texts: str) -> str | None:
    response = None
    for text in texts:
        response = (await engine.take_turn("c1", text)).response
    return response


async def test_an_agent_in_a_flow_runs_again() -> None:
    """Its model and its tools answer from the record, whoever plays the agent now."""
    outside = Outside()
    async with desk(outside) as engine:
        assert await said(engine, "Pay", "a lamp") == "It is 80, with tax."
        outside.gone = True
        found = await engine.replay("c1")
    assert found.same, found.text()


async def test_without_an_instruction_of_an_agent() -> None:
    """The rule is not there, the model reads another result, the flow says it."""
    outside = Outside()
    async with desk(outside) as engine:
        await said(engine, "Pay", "a lamp")
        outside.gone = True
        model = ScriptedModel(SCRIPT)
        found = await engine.counterfactual("c1", "instruction:tax", model=model)
        again = await engine.replay("c1")
    assert (found.reply, found.reply_without) == ("It is 80, with tax.", "It is 80.")
    assert found.asked == 1
    assert found.certain
    assert again.same, "the engine's own agents stay as they are"


async def test_without_a_tool_of_an_agent() -> None:
    """The model is not offered it."""
    async with desk(Outside()) as engine:
        await said(engine, "Pay", "a lamp")
        found = await engine.counterfactual("c1", "tool:price", model=ScriptedModel(SCRIPT))
    assert found.reply_without == "It is no idea."


async def test_an_instruction_that_no_agent_has() -> None:
    """And an engine without agents, and one where nothing was answered yet."""
    async with desk(Outside()) as engine:
        await said(engine, "Pay", "a lamp")
        with pytest.raises(CallerError, match='no agent has instruction "nothing"'):
            await engine.counterfactual("c1", "instruction:nothing")
        with pytest.raises(CallerError, match='no agent has tool "nothing"'):
            await engine.counterfactual("c1", "tool:nothing")
        session = engine.init_session("ann", "c2")
        with pytest.raises(CallerError, match="nothing was answered in this conversation"):
            await engine.counterfactual(session, "message:1")


async def test_a_turn_that_is_not_on_record() -> None:
    """The turns that are come with the error."""
    async with desk(Outside()) as engine:
        await said(engine, "Pay", "a lamp")
        with pytest.raises(CallerError, match="turn 9 is not on record") as raised:
            await engine.counterfactual("c1", "message:1", turn=9)
    assert raised.value.hint == "turns 1 to 2 are"


async def _held(engine: Engine) -> Session:
    """The stored conversation as a host would hold it, with its whole record."""
    session, trace = await engine.session("c1"), await engine.trace("c1")
    assert session is not None
    session.commits, session.messages = list(trace), trace.messages()
    session.charts = trace.charts
    return session


async def test_an_agent_that_is_not_here() -> None:
    """Nothing is claimed of its conversations; one with other tools gives a difference."""
    outside = Outside()
    async with desk(outside) as engine:
        await said(engine, "Pay", "a lamp")
        store = engine.store
        assert store is not None
        other = engine_of(outside, [FLOW], agents=[Agent(ScriptedModel([]), name="clerk")])
        changed = await other.replay(await _held(engine))
        again = engine_of(outside, [FLOW], store=store, validate_on_init=False)
        found = await again.replay("c1")
        without = await again.counterfactual("c1", "message:1")
    assert changed.difference is not None
    assert changed.difference.cause == "unexplained"
    assert found.outcome == "not replayable"
    assert "of clerk is needed and is not here" in found.text()
    assert not without.certain


async def test_an_engine_that_does_something_else_is_not_sure() -> None:
    """With other globals not even the turn as it was comes out the same, and that is told."""
    flow = flow_of(ask("x", "?"), say("e", "{{bank}} {{x}}"))
    engine = engine_of(Outside(), [flow], globals={"bank": "Post"})
    session = engine.init_session("ann", "c1")
    for text in ("Pay", "1"):
        session = await engine.update_activity(text, session)
    other = engine_of(Outside(), [flow], globals={"bank": "Bank"})
    found = await other.counterfactual(session, "message:1")
    assert not found.certain
    assert "not as on record here" in found.text()


async def test_flows_that_cannot_be_read_are_no_empty_set_of_flows(tmp_path: Path) -> None:
    """A missing file and a broken one raise, with the place."""
    engine = engine_of(Outside())
    session = await engine.update_activity("Pay", engine.init_session("ann", "c1"))
    missing, broken = str(tmp_path / "nope.yaml"), tmp_path / "broken.json"
    broken.write_text("[{", encoding="utf-8")
    with pytest.raises(DefinitionError, match=r"nope\.yaml: error: cannot read this file"):
        await engine.replay(session, flows=missing)
    with pytest.raises(DefinitionError, match=r"broken\.json"):
        await engine.replay(session, flows=[str(broken)])


async def test_a_model_that_other_flows_ask_something_else() -> None:
    """Its answer on record is told to be assumed; a model that is handed over is asked."""
    was = flow_of(
        ask("what", "What?"),
        {"id": "help", "type": "AGENT", "agent": "clerk", "value": "{{what}}", "variable": "told"},
        say("tell", "It is {{told}}."),
    )
    new = {**was, "steps": [*was["steps"]]}
    new["steps"][1] = {**was["steps"][1], "value": "new {{what}}"}
    script = [{"when": {"last": "new"}, "reply": "9"}, {"when": {}, "reply": "18"}]
    clerk = Agent(ScriptedModel(script), name="clerk")
    async with engine_of(Outside(), [was], agents=[clerk], store=MemoryStore()) as engine:
        assert await said(engine, "Pay", "a lamp") == "It is 18."
        alone = await engine.replay("c1", flows=[new])
        asked = await engine.replay("c1", flows=[new], model=ScriptedModel(script))
        same = await engine.replay("c1", flows=[was], model=ScriptedModel(script))
        with pytest.raises(CallerError, match="there are no flows"):
            await engine.replay("c1", model=ScriptedModel(script))
    assert len(alone.assumed) == 1
    assert f"assumed: {alone.assumed[0]} as on record, though something else" in alone.text()
    assert asked.assumed == ()
    assert asked.difference is not None
    assert asked.difference.replies == ("It is 18.", "It is 9.")
    assert same.same, same.text()
    assert same.assumed == ()


async def test_calls_of_other_flows_are_told_and_not_made() -> None:
    """With their arguments: of the step that was there, and of one that is new."""
    outside = Outside()
    dearer = flow_of(*PAYING["steps"][:2], call("fee", amount="{{amount}}0"), PAYING["steps"][3])
    more = flow_of(*PAYING["steps"][:2], call("tax", of="{{amount}}"), *PAYING["steps"][2:])
    async with engine_of(outside, store=MemoryStore()) as engine:
        await said(engine, "Pay", "Bob", "80")
        outside.gone = True
        other = await engine.replay("c1", flows=[dearer])
        new = await engine.replay("c1", flows=[more])
        same = await engine.replay("c1", flows=[PAYING])
    assert other.would_call == ('would have called fee with {"amount":"800"}',)
    assert other.assumed == ("tool_result:10",)
    assert new.would_call == ('would have called tax with {"of":"80"}',)
    assert '  would have called tax with {"of":"80"}; it was not made' in new.text().splitlines()
    assert new.to_json()["wouldCall"] == list(new.would_call)
    assert same.would_call == ()


async def test_arguments_of_calls_that_are_told_are_masked() -> None:
    """What a new call would be handed is shown as it would be recorded."""
    more = flow_of(*PAYING["steps"][:2], call("tax", password="{{payee}}"), *PAYING["steps"][2:])
    async with engine_of(Outside(), store=MemoryStore()) as engine:
        await said(engine, "Pay", "Bob", "80")
        found = await engine.replay("c1", flows=[more])
    assert found.would_call == ('would have called tax with {"password":"[REDACTED]"}',)


async def test_a_model_that_is_needed_and_not_there() -> None:
    """The replay ends at a new request, and says that a model can be handed over."""
    was = flow_of(ask("what", "What?"), say("tell", "Thanks."))
    step = {"id": "help", "type": "AGENT", "agent": "clerk", "value": "{{what}}", "variable": "t"}
    new = flow_of(was["steps"][0], step, say("tell", "It is {{t}}."))
    clerk = Agent(ScriptedModel([{"reply": "18"}]), name="clerk")
    async with engine_of(Outside(), [was], agents=[clerk], store=MemoryStore()) as engine:
        await said(engine, "Pay", "a lamp")
        alone = await engine.replay("c1", flows=[new])
        asked = await engine.replay("c1", flows=[new], model=ScriptedModel([{"reply": "18"}]))
    assert len(alone.would_call) == 1
    assert alone.would_call[0].startswith("would have asked the model (")
    assert alone.would_call[0].endswith("would be asked: --model, or model=)")
    assert asked.would_call == ()
    assert asked.difference is not None
    assert asked.difference.replies == ("Thanks.", "It is 18.")
