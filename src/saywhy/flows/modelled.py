"""How a step asks a language model, and how it learns that there was no answer.

The core only says what it wants to know, and of what: who is asked, in which words and for how long
is settled when the question leaves (`prompts`, `runtime.models`). So a question is small where it
is recorded or waits, and its wording can always be made again from flows and facts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from saywhy.chart.outcome import Answer, Need
from saywhy.errors import FlowExecutionError
from saywhy.values import freeze


class Prompt(NamedTuple):
    """A question in the words in which a model is asked it."""

    system: str
    user: str
    schema: str | None = None
    """The form of the answer: JSON text of the kind that chat completions take."""
    request: Mapping[str, Any] | None = None
    """The same question for a classifier."""


class ModelFailed(FlowExecutionError):
    """A model that had to be asked gave no answer, or none that can be read."""

    name = "ModelFailed"


def ask_model(task: str, **facts: Any) -> Need:
    """The Need for a model's answer; the step is resumed with its text.

    `prompts` has, for each task, who makes the question of these facts.
    """
    return Need("model", task, freeze(facts), "reads")


def newest_words(facts: Mapping[str, Any]) -> tuple[str, list[Mapping[str, str]]]:
    """Of what was said since the message that a question names with `since`: the user's newest
    words, and all that came before them. Sensitive answers are masked in both."""
    told: list[Mapping[str, str]] = list(facts.get("conversation", ()))
    last = next((at for at in range(len(told) - 1, -1, -1) if told[at]["role"] == "user"), None)
    return ("", told) if last is None else (told[last]["content"], told[:last])


def text_of(answer: Answer) -> str:
    """What the model said. Raises `ModelFailed` where it failed. spec: flow-engine 8.5"""
    if answer.error is not None:
        raise model_failed(answer.error)
    return str(answer.value or "")


def model_failed(why: str) -> ModelFailed:
    """The error of a turn that needs an answer and has none."""
    return ModelFailed(
        f"AI task processing failed: {why}",
        hint="send the message again, or answer without the model",
    )
