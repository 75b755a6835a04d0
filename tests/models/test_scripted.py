"""Promise: a scripted model answers what was written down, in order, and says when it cannot."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saywhy.errors import CallerError, OutsideError
from saywhy.models.provider import question
from saywhy.models.scripted import ScriptedModel
from saywhy.testing import FakeClock


def answers(model: ScriptedModel, *tasks: str) -> list[str]:
    async def ask() -> list[str]:
        return [(await model.ask(question(task, "", ""))).text for task in tasks]

    return asyncio.run(ask())


def test_each_question_takes_the_first_entry_that_fits() -> None:
    """Entries for other tasks are passed over, and one without `for` fits any."""
    model = ScriptedModel(
        [{"for": "voice", "reply": "yes"}, {"reply": {"flowName": "Pay"}}, {"reply": "last"}]
    )
    assert answers(model, "detect_flow", "voice", "language") == [
        '{"flowName":"Pay"}',
        "yes",
        "last",
    ]
    assert model.tasks == ["detect_flow", "voice", "language"]
    assert model.left == 0


def test_it_raises_as_told_and_when_nothing_is_left() -> None:
    """Both are failures of the outside world."""
    model = ScriptedModel([{"for": "voice", "raise": "line down"}])
    with pytest.raises(OutsideError, match="line down"):
        answers(model, "voice")
    with pytest.raises(OutsideError, match="no answer left for voice"):
        answers(model, "voice")


def test_what_is_left_is_told() -> None:
    """So a task that was misspelt in the script stands beside the one that was asked."""
    model = ScriptedModel([{"for": "detect_flw", "reply": "x"}, {"for": "voice", "reply": "y"}])
    with pytest.raises(
        OutsideError, match="left for detect_flow; those left are for detect_flw, v"
    ):
        answers(model, "detect_flow")
    answers(model, "voice")
    with pytest.raises(OutsideError, match=r"left for voice; those left are for detect_flw$"):
        answers(model, "voice")


def test_it_takes_its_time_on_the_clock_it_was_given() -> None:
    """`delay_ms` passes on that clock."""
    clock = FakeClock()
    before = clock.now()
    answers(ScriptedModel([{"reply": "x", "delay_ms": 400}], clock), "voice")
    assert clock.now() - before == 400


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("yes", "entry 0 of the model's script is an object, not str"),
        ({"answer": "x"}, 'has an unknown key "answer"'),
        ({"for": "voice"}, "needs either reply or raise"),
        ({"reply": "x", "raise": "y"}, "needs either reply or raise"),
    ],
)
def test_a_script_that_cannot_be_played_is_refused(entry: Any, message: str) -> None:
    """At once, and not in the middle of a conversation."""
    with pytest.raises(CallerError, match=message):
        ScriptedModel([entry])


@pytest.mark.parametrize("script", [{"for": "voice", "reply": "x"}, "yes"])
def test_a_script_is_a_list(script: Any) -> None:
    """One entry without its list is told as that, with an example."""
    kind = type(script).__name__
    with pytest.raises(CallerError, match=f"the model's script is a list, not {kind}") as caught:
        ScriptedModel(script)
    assert caught.value.hint.startswith('[{"for": "detect_flow", "reply": ')
