"""Promise: what holds of every dialogue, whatever the model wants called.

What a model is handed does not depend on the form of the loop, on how many calls are made at a
time, on whether it was written down in between, or on whether the model is real or recorded.
"""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings

from saywhy.agent.instructions.agent_rule import AgentInstruction
from saywhy.agent.instructions.rule import LLMInstruction
from saywhy.agent.loop.config import AgentPattern
from saywhy.agent.receipts.served import receipts_of, served_all
from saywhy.chart.built import Result
from saywhy.models.recorder import RecordingModel
from saywhy.models.replay import ReplayModel
from saywhy.testing.clock import FakeClock
from tests.agent.loop.conftest import Form, Model, config, talk
from tests.agent.worlds import ROUNDS, handed, script_of, through_json, tools
from tests.amount import examples

FORMS = (Form("loop"), Form("message-api"))
ALWAYS = [
    AgentInstruction(
        "kind", prompt="Be kind.", on_tool_result=[LLMInstruction("t", text="Thank.")]
    ),
    AgentInstruction("safe", prompt="Be safe.", safety=True),
]

few = settings(max_examples=examples(15, 1000))


async def made(form: Form, model: Any, **fields: Any) -> Result:
    """One run; its clock stands still, so that records can be compared."""
    fields = {"system_prompt": "Hello.", "max_iterations": 3, **fields}
    args = {"runId": "run-1"}
    clock = FakeClock(auto=False)
    return await form.run(config(model, *tools(), **fields), args=args, clock=clock)


@few
@given(ROUNDS)
def test_one_after_the_other_or_side_by_side(rounds: list[Any]) -> None:
    """The requests, the conversation and the receipts are the same."""

    async def main() -> None:
        for form in FORMS:
            one, other = Model(*script_of(rounds)), Model(*script_of(rounds))
            first = await made(form, one)
            second = await made(form, other, tool_concurrency=3)
            assert handed(one) == handed(other)
            assert talk(first) == talk(second)
            assert [one.root for one in receipts_of(first)] == [
                one.root for one in receipts_of(second)
            ]

    asyncio.run(main())


@few
@given(ROUNDS)
def test_requests_of_a_regular_run_grow(rounds: list[Any]) -> None:
    """Each begins with the whole one before; prompt, tools and settings stay."""

    async def main() -> None:
        for form in FORMS:
            model = Model(*script_of(rounds))
            await made(form, model, instructions=ALWAYS)
            requests = handed(model)
            for before, after in pairwise(requests):
                assert before[0] == after[0]
                assert after[1][: len(before[1])] == before[1]
                assert len(after[1]) > len(before[1])
                assert before[2:] == after[2:]

    asyncio.run(main())


@few
@given(ROUNDS)
def test_unconditional_instructions_make_no_difference_between_patterns(rounds: list[Any]) -> None:
    """Both patterns in both forms hand over the same requests."""

    async def main() -> None:
        found: list[Any] = []
        for form in FORMS:
            for pattern in AgentPattern:
                model = Model(*script_of(rounds))
                await made(form, model, instructions=ALWAYS, pattern=pattern)
                found.append(handed(model))
        assert all(one == found[0] for one in found)

    asyncio.run(main())


@few
@given(ROUNDS)
def test_a_recorded_run_replays(rounds: list[Any]) -> None:
    """The same requests, commits and, with the same run id, receipts: one a call, all verified."""

    async def main() -> None:
        for form in FORMS:
            records: list[Any] = []
            model = Model(*script_of(rounds))
            first = await made(form, RecordingModel(model, records))
            replayed = ReplayModel(records)
            second = await made(form, replayed)
            assert handed(replayed) == handed(model)
            assert replayed.left == 0
            receipts = receipts_of(first)
            assert receipts == receipts_of(second)
            assert first.commits == second.commits
            assert len(receipts) == len(model.asked)
            assert [one.verdict for one in served_all(first)] == ["verified"] * len(receipts)

    asyncio.run(main())


@pytest.mark.parametrize("concurrency", [1, 3])
@few
@given(ROUNDS)
def test_through_json_at_every_need(concurrency: int, rounds: list[Any]) -> None:
    """With new parts each time the record is the same as straight through."""

    async def main() -> None:
        for form in FORMS:
            straight = await made(form, Model(*script_of(rounds)), tool_concurrency=concurrency)
            model = Model(*script_of(rounds))
            fields: Any = {"system_prompt": "Hello.", "max_iterations": 3}

            def build(model: Any = model, form: Form = form, fields: Any = fields) -> Any:
                return form.build(config(model, *tools(), tool_concurrency=concurrency, **fields))

            commits = await through_json(build, {"message": "go", "runId": "run-1"})
            assert commits == list(straight.commits)

    asyncio.run(main())
