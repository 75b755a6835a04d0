"""Promise: what a model answers, sense or nonsense, has a defined result."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.agent.loop.calling import calls_of
from saywhy.chart.drive import Signal
from saywhy.chart.failure import StepFailed
from saywhy.errors import ModelError
from saywhy.models.chat import problems_of
from saywhy.models.provider import ModelReply, StopPiece, TextPiece, ThinkingPiece, ToolCallPiece
from tests.agent.loop.conftest import Form, Model, answers, config, talk, tool


async def test_an_answer_is_the_last_message(form: Form) -> None:
    """The text is the value of the run, and why it ended is said."""
    model = Model("Hello.")
    result = await form.run(config(model, system_prompt="Be brief."), "hi")
    assert (result.value, result.state["stopReason"]) == ("Hello.", "final")
    assert model.handed() == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "hi"},
    ]
    assert model.asked[0].tools is None
    assert talk(result)[-1] == {"role": "assistant", "content": "Hello."}


async def test_no_answer_at_all_is_an_empty_one(form: Form) -> None:
    """Nothing is raised for it."""
    result = await form.run(config(Model("")))
    assert (result.value, talk(result)[-1]) == ("", {"role": "assistant", "content": ""})


async def test_calls_without_ids_or_with_doubled_ones_are_told_apart(form: Form) -> None:
    """Every call is answered once, so a vendor takes the conversation."""
    model = Model([("a", "work", {}), ("a", "work", {}), ("", "work", {})], "done")
    result = await form.run(config(model, tool("work")))
    assert problems_of(talk(result)) == []
    assert list(answers(model.handed())) == ["a", "call-1-2", "call-1-3"]


async def test_arguments_that_are_no_object_are_told_to_the_model(form: Form) -> None:
    """The handler is not called; the message shows what stood there."""
    made: list[Any] = []
    pieces = (ToolCallPiece("1", "work", {}, raw='{"n": '),)
    model = Model(ModelReply("", tool_calls=pieces), "done")
    await form.run(config(model, tool("work", made.append)))
    assert made == []
    assert answers(model.handed())["1"] == (
        '{"error":true,"message":"Invalid arguments for \'work\': arguments: Expected a JSON '
        'object, got: {\\"n\\":"}'
    )


@pytest.mark.parametrize(
    ("given", "made"),
    [
        (None, []),
        ("nonsense", []),
        ([7], [{"id": "call-4-1", "name": "unnamed", "arguments": {}}]),
        (
            [{"id": 5, "name": None, "arguments": [1]}],
            [{"id": "call-4-1", "name": "unnamed", "arguments": {}, "raw": "[1]"}],
        ),
        (
            [{"id": "call-4-2", "name": "a"}, {"name": "b"}],
            [
                {"id": "call-4-2", "name": "a", "arguments": {}},
                {"id": "call-4-2+", "name": "b", "arguments": {}},
            ],
        ),
    ],
)
def test_calls_of_any_shape(given: Any, made: Any) -> None:
    """Whatever stands in place of calls comes out as calls."""
    assert calls_of(given, 4) == made


@pytest.mark.parametrize(
    ("raised", "text", "code"),
    [
        (RuntimeError("overloaded"), "overloaded", "unknown"),
        (
            ModelError("slow down", code="rate_limit", retry_after=3.0),
            "LLM call failed: [rate_limit] slow down",
            "rate_limit",
        ),
        (TimeoutError("late"), "LLM call failed: [timeout] late", "timeout"),
    ],
)
async def test_a_model_that_fails_fails_the_run(
    form: Form, raised: Exception, text: str, code: str
) -> None:
    """The error has the code; the conversation that was handed in is as it was."""
    history = [{"role": "user", "content": "before"}, {"role": "assistant", "content": "yes"}]
    signals: list[Signal] = []
    with pytest.raises(StepFailed) as caught:
        await form.run(config(Model(raised)), args={"history": history}, listener=signals.append)
    error = caught.value.error
    assert isinstance(error, ModelError)
    assert (str(error), error.code) == (text, code)
    if isinstance(raised, ModelError):
        assert error.retry_after == 3.0
    assert history == [
        {"role": "user", "content": "before"},
        {"role": "assistant", "content": "yes"},
    ]
    assert signals[-1].kind == "error"
    assert signals[-1].data == {"phase": "llm", "message": text}
    assert caught.value.result.commits[-1].facts["how"] == "failed"


class Streaming:
    """Gives pieces, and half of them only where it is told to."""

    def __init__(self, *, breaks: bool = False) -> None:
        self.breaks = breaks
        self.closed = False

    async def ask(self, ask: Any) -> Any:
        try:
            yield ThinkingPiece("hm")
            yield TextPiece("Hel")
            yield TextPiece("lo")
            if not self.breaks:
                yield StopPiece("stop", "m")
        finally:
            self.closed = True


async def test_pieces_are_shown_as_they_come(form: Form) -> None:
    """Tokens and thoughts are signals between the start and the end of the call."""
    signals: list[Signal] = []
    result = await form.run(config(Streaming(), streaming=True), "hi", listener=signals.append)
    assert result.value == "Hello"
    assert [(one.kind, (one.data or {}).get("content")) for one in signals] == [
        ("turn_start", None),
        ("llm_start", None),
        ("thinking", "hm"),
        ("token", "Hel"),
        ("token", "lo"),
        ("llm_end", "Hello"),
        ("turn_end", "Hello"),
    ]


async def test_half_a_stream_is_no_answer(form: Form) -> None:
    """The run fails, and the stream is closed."""
    model = Streaming(breaks=True)
    with pytest.raises(StepFailed, match=r"LLM call failed: \[network\] .*broke off"):
        await form.run(config(model))
    assert model.closed


async def test_without_a_model_the_host_is_asked(form: Form) -> None:
    """Who drives the chart finds the request in the state that the need names."""
    from saywhy.agent.loop.request import request_of
    from saywhy.values import freeze

    built = form.build(config(None, tool("work"), system_prompt="S", settings={"model": "m"}))
    paused = await built.run({"message": "hi"})
    assert paused.need is not None
    assert paused.need.kind == "model"
    ask = request_of(paused.cursor, paused.need)
    assert (ask.system, ask.settings, [one["name"] for one in ask.tools or ()]) == (
        "S",
        {"model": "m"},
        ["work"],
    )
    result = await built.resume(paused.checkpoint(), freeze({"content": "hello"}))
    assert result.value == "hello"
