"""Promise: what an async stage did comes back as data, which can wait in a journal."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from saywhy.chart.build import Builder
from saywhy.chart.built import Built
from saywhy.chart.commit import Commit
from saywhy.chart.cursor import Cursor
from saywhy.chart.failure import StepFailed
from saywhy.chart.machine import advance, open_frame
from saywhy.chart.model import Charts
from saywhy.chart.outcome import Answer, Call, Need
from saywhy.chart.task import run_task
from saywhy.errors import CallerError
from saywhy.values import dumps, loads_raw


class Hand:
    """Runs a built chart by hand, as a host with a journal would."""

    def __init__(self, built: Built) -> None:
        self.built = built
        self.charts = Charts(built.charts)
        self.stages = built.stages()
        self.cursor = Cursor()
        self.commits: list[Commit] = []
        open_frame(self.cursor, built.chart, Call(built.chart.digest, "state"))

    def go(self, answer: Answer | None = None) -> Need | None:
        language = self.stages.language()
        return advance(self.charts, language, self.cursor, answer, record=self.commits.append)

    async def task(self, need: Need | None) -> Answer:
        assert need is not None
        return await run_task(self.stages, self.charts, self.cursor, need)


def chart() -> Builder:
    b = Builder("task")

    @b.stage
    async def work(s: Any) -> Any:
        s.list = [*s.get("list", []), {"n": 1}]
        s.list.append(float("inf"))
        if s.get("fail"):
            raise ValueError("broken")
        return s.list

    return b


async def test_the_work_of_a_stage_survives_json() -> None:
    """An answer that waited in a journal does the same as one that came at once."""
    results: list[Any] = []
    for journal in (False, True):
        hand = Hand(chart().build())
        need = hand.go()
        answer = await hand.task(need)
        if journal:
            answer = msgspec.convert(loads_raw(dumps(answer)), Answer)
            hand.cursor = Cursor.from_json(hand.cursor.to_json())
        assert hand.go(answer) is None
        results.append((dumps(hand.commits), hand.cursor.to_json()))
    assert results[0] == results[1]


async def test_until_it_is_answered_nothing_has_happened() -> None:
    """Running a task twice changes nothing; the second answer is as good as the first."""
    hand = Hand(chart().build())
    need = hand.go()
    before = hand.cursor.to_json()
    first = await hand.task(need)
    second = await hand.task(need)
    assert hand.cursor.to_json() == before
    assert first == second
    assert hand.go(second) is None
    assert len(hand.cursor.state.scopes["state"]["list"]) == 2


async def test_an_error_is_an_answer_with_what_was_raised() -> None:
    """The exception is in hand; through a journal its text is."""
    for journal in (False, True):
        hand = Hand(chart().build())
        hand.cursor.state.scopes["state"]["fail"] = True
        answer = await hand.task(hand.go())
        assert (answer.error, answer.error_name) == ("broken", "ValueError")
        if journal:
            answer = Answer(None, answer.error, answer.error_name, work=answer.work)
        with pytest.raises(StepFailed, match="broken") as caught:
            hand.go(answer)
        assert isinstance(caught.value.__cause__, ValueError) is not journal
        assert hand.commits[-2].reads == (("state", "list"), ("state", "fail"))
        assert hand.cursor.state.scopes["state"] == {"fail": True}


async def test_a_task_of_another_run_is_refused() -> None:
    """The cursor must be the one that rests at the need."""
    hand, other = Hand(chart().build()), Hand(chart().build())
    need = hand.go()
    assert need is not None
    with pytest.raises(CallerError, match="no frame of this run asked for work"):
        await run_task(hand.stages, hand.charts, Cursor(), need)
    with pytest.raises(CallerError, match="no frame of this run asked for user"):
        await run_task(other.stages, other.charts, other.cursor, Need("user", "user"))


async def test_a_view_kept_past_an_async_stage_raises() -> None:
    """An async stage's view is as short-lived as any."""
    kept: list[Any] = []
    b = Builder("stale")

    @b.stage
    async def work(s: Any) -> None:
        kept.append(s)

    hand = Hand(b.build())
    hand.go(await hand.task(hand.go()))
    with pytest.raises(CallerError, match="used after its stage work was over"):
        kept[0].x = 1
