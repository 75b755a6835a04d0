"""Promise: agents leave a receipt at every call, and what is rebuilt of it is what was sent."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from saywhy import Agent, Trace
from saywhy.agent.loop.build import build_agent_loop
from saywhy.agent.loop.config import AgentLoopConfig, AgentPattern
from saywhy.agent.loop.message_api import build_message_api_chart
from saywhy.agent.receipts.served import Absence, View, receipts_of, served_all, served_at
from saywhy.agent.tools import ask_human, define_tool
from saywhy.chart.built import Built, Result
from saywhy.chart.commit import Commit
from saywhy.errors import SaywhyError
from saywhy.models.provider import Ask, ModelReply, ToolCallPiece
from saywhy.values import dumps, freeze, loads
from tests.agent.receipts.conftest import hashes


class Model:
    """Asks for a tool until its last call, and keeps what it was handed."""

    def __init__(self, calls: int, tool: str = "look") -> None:
        self.calls = calls
        self.tool = tool
        self.asked: list[Ask] = []

    async def ask(self, ask: Ask) -> ModelReply:
        self.asked.append(ask)
        number = len(self.asked)
        if number >= self.calls:
            return ModelReply("done")
        piece = ToolCallPiece(f"c-{number}", self.tool, {"question": "Which one?", "n": number})
        return ModelReply("", tool_calls=(piece,))


class Broken:
    """Fails at its second call, or never comes back from it."""

    def __init__(self, hangs: bool = False) -> None:
        self.hangs = hangs
        self.inner = Model(9)
        self.waiting = asyncio.Event()

    async def ask(self, ask: Ask) -> ModelReply:
        if len(self.inner.asked) == 1:
            self.waiting.set()
            if not self.hangs:
                raise RuntimeError("no model today")
            await asyncio.Event().wait()
        return await self.inner.ask(ask)


def looked(args: Any) -> str:
    return f"at {args['n']}"


TOOLS = (define_tool("look", "Looks", {"type": "object", "properties": {}}, looked), ask_human())


def loop(model: Any, run_id: str | None = "run-1", *, api: bool = False, **fields: Any) -> Built:
    """The loop of an agent, or the form with a selector, with `run_id` as the id of each run."""
    config: dict[str, Any] = {
        "provider": model,
        "system_prompt": lambda context: f"Turn {context.turn_number}.",
        "tools": TOOLS,
        "settings": {"model": "m", "temperature": 0.5},
        "get_run_id": lambda: run_id,
        **fields,
    }
    if api:
        return build_message_api_chart(**config)
    return build_agent_loop(AgentLoopConfig(**config)).chart


def same(view: View | None, ask: Ask) -> bool:
    """Whether a view is what the provider was handed."""
    assert view is not None
    handed = (ask.system, ask.messages, ask.tools, ask.settings)
    return (view.system, view.messages, view.tools, view.params) == handed


@pytest.mark.parametrize("api", [False, True])
@pytest.mark.parametrize("pattern", list(AgentPattern))
@pytest.mark.parametrize("calls", [1, 4])
async def test_every_call_is_verified_and_is_what_the_provider_got(
    api: bool, pattern: AgentPattern, calls: int
) -> None:
    """In both forms and patterns, from the result and from its trace; the state has them too."""
    model = Model(calls)
    result = await loop(model, api=api, pattern=pattern).run({"message": "Hi"})
    for record in (result, Trace(result.commits)):
        served = served_all(record)
        assert [each.verdict for each in served] == ["verified"] * calls
        assert all(same(one.view, ask) for one, ask in zip(served, model.asked, strict=True))
    assert receipts_of(result.state) == receipts_of(result)
    assert [receipt.basis.call for receipt in receipts_of(result)] == list(range(1, calls + 1))
    assert receipts_of(result)[-1].basis.iteration == calls - 1


async def test_a_prompt_of_each_round_is_that_of_its_call() -> None:
    """What is worked out anew in every round is rebuilt as it was in that round."""
    rounds = iter(range(1, 10))
    model = Model(3)
    chart = loop(
        model, pattern=AgentPattern.DYNAMIC, system_prompt=lambda context: f"Round {next(rounds)}."
    )
    result = await chart.run({"message": "Hi"})
    views = [each.view for each in served_all(result)]
    assert [view.system for view in views if view] == ["Round 1.", "Round 2.", "Round 3."]
    assert served_at(result, 2).verdict == "verified"


async def test_a_paused_run_goes_on_with_its_receipts() -> None:
    """Through JSON, with a model of another process: the calls before are known from the state."""
    paused = await loop(Model(9, "ask_human")).run({"message": "Hi"})
    assert paused.need is not None
    assert [each.verdict for each in served_all(paused)] == ["verified"]
    later = Model(1)
    result = await loop(later).resume(paused.checkpoint(), "The red one")
    assert [receipt.basis.call for receipt in receipts_of(result)] == [1, 2]
    assert {receipt.basis.run_id for receipt in receipts_of(result)} == {"run-1"}
    whole = served_all(Trace([*paused.commits, *result.commits]))
    assert [each.verdict for each in whole] == ["verified", "verified"]
    assert same(whole[1].view, later.asked[0])


async def test_a_failed_call_has_its_receipt() -> None:
    """It was handed over, whatever came of it."""
    chart = loop(Broken())
    commits: list[Any] = []
    with pytest.raises(SaywhyError, match="no model today"):
        await chart.run({"message": "Hi"}, record=commits.append)
    assert [each.verdict for each in served_all(commits)] == ["verified", "verified"]


async def test_a_cancelled_call_has_its_receipt() -> None:
    """It is committed before the model is awaited."""
    model = Broken(hangs=True)
    commits: list[Any] = []
    task = asyncio.ensure_future(loop(model).run({"message": "Hi"}, record=commits.append))
    await model.waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [each.verdict for each in served_all(commits)] == ["verified", "verified"]


async def test_runs_side_by_side_share_nothing() -> None:
    """One chart, two runs at once, each with an id of its own: disjoint hashes."""
    chart = loop(Model(10**6), run_id=None, max_iterations=3)
    runs = [chart.run({"message": "Hi", "runId": f"run-{number}"}) for number in (1, 2)]
    results = await asyncio.gather(*runs)
    found = [set[str]().union(*map(hashes, receipts_of(result))) for result in results]
    assert all(found)
    assert found[0].isdisjoint(found[1])
    for result in results:
        assert [each.verdict for each in served_all(result)] == ["verified"] * 4


async def test_without_a_run_id_there_is_no_receipt() -> None:
    """And the view is what the provider got all the same."""
    model = Model(2)
    result = await loop(model, run_id=None).run({"message": "Hi"})
    served = served_at(result, 2)
    assert served.absence == Absence("no-receipt-on-chart", "no-receipt-committed")
    assert same(served.view, model.asked[1])
    assert "receipts" not in result.state


async def test_tampering_with_a_stored_record_is_found() -> None:
    """One character of a tool's answer in the record: that message, its slot, the root."""
    result = await loop(Model(3)).run({"message": "Hi"})
    text = dumps(list(result.commits)).replace(b'"at 1"', b'"at 7"')
    assert text.count(b'"at 7"') >= 1
    commits = msgspec.convert(loads(text).raw, list[Commit])
    assert served_at(commits, 1).verdict == "verified"
    assert served_at(commits, 2).mismatches == ("messages[2]", "slots.messages", "root")


async def test_the_options_of_receipts_are_those_of_the_loop() -> None:
    """A secret salt and strict labels are said in its configuration."""
    chart = loop(Model(2), secret_salt="hush", strict_labels=True)
    result: Result = await chart.run({"message": "Hi"})
    assert served_at(result, 2).verdict == "unverifiable"
    assert served_at(result, 2, secret_salt="hush").verdict == "verified"
    assert "look" not in receipts_of(result)[1].to_json().decode()
    assert b"hush" not in dumps(freeze(dict(result.state)))


async def test_an_agent_serves_its_last_run() -> None:
    """Paused, and gone on with by another one from a checkpoint: one run, all calls verified."""
    asking, later = Model(9, "ask_human"), Model(1)
    here = Agent(asking, system="Be brief.", tools=TOOLS)
    await here.run("Hello")
    await here.run("And again")
    there = Agent(later, system="Be brief.", tools=TOOLS)
    there.restore(here.checkpoint())
    result = await there.resume("The red one")
    served = served_all(there.get_snapshot())
    assert [each.verdict for each in served] == ["verified", "verified"]
    assert {receipt.basis.run_id for receipt in receipts_of(there.get_snapshot())} == {
        result.run_id
    }
    assert same(served[1].view, later.asked[0])
    assert [each.verdict for each in served_all(there.trace)] == ["verified", "verified"]
