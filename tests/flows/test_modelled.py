"""How a step asks a model, and what becomes of an answer that is none."""

from __future__ import annotations

import pytest

from saywhy.chart.outcome import Answer, Need
from saywhy.errors import FlowExecutionError
from saywhy.flows.modelled import ModelFailed, ask_model, model_failed, newest_words, text_of
from saywhy.values import FrozenDict


def test_a_question_is_its_task_and_small_facts() -> None:
    """They are frozen like all that is recorded; asking again does no harm."""
    need = ask_model("voice", question="How?", said=["a"])
    assert (need.kind, need.name, need.effect) == ("model", "voice", "reads")
    assert isinstance(need.args, FrozenDict)
    assert need == Need("model", "voice", need.args, "reads")
    assert need.args["said"] == ["a"]


def test_the_text_of_an_answer() -> None:
    """Nothing is an empty text; a failure is the error that the whole turn fails with."""
    assert text_of(Answer("yes")) == "yes"
    assert text_of(Answer(None)) == ""
    with pytest.raises(ModelFailed) as caught:
        text_of(Answer(error="AI communication failed: line down"))
    assert str(caught.value) == "AI task processing failed: AI communication failed: line down"
    assert caught.value.hint == "send the message again, or answer without the model"
    assert isinstance(caught.value, FlowExecutionError)
    assert str(model_failed("x")) == "AI task processing failed: x"


def test_the_newest_words_and_what_came_before() -> None:
    """What an assistant said afterwards is no part of either."""
    user, model = {"role": "user", "content": "hi"}, {"role": "assistant", "content": "Yes?"}
    again = {"role": "user", "content": "pay"}
    assert newest_words({"conversation": [user, model, again]}) == ("pay", [user, model])
    assert newest_words({"conversation": [user, model]}) == ("hi", [])
    assert newest_words({"conversation": [model]}) == ("", [model])
    assert newest_words({}) == ("", [])
