"""Promise: a scripted model answers what was written down, in order, and says when it cannot."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saywhy.errors import CallerError, ModelError, OutsideError
from saywhy.models.chat import assistant_message, tool_message, user_message
from saywhy.models.provider import Ask, ModelReply, ToolCallPiece, question, reply_of
from saywhy.models.scripted import ScriptedModel
from saywhy.testing import FakeClock
from saywhy.values import freeze


def answers(model: ScriptedModel, *tasks: str) -> list[str]:
    async def ask() -> list[str]:
        return [(await reply_of(model, question(task, "", ""))).text for task in tasks]

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


def test_who_took_what_was_for_everybody_is_told() -> None:
    """One script for an engine and its agents: entries without `for` go to whoever asks first."""
    model = ScriptedModel([{"reply": {"flowName": None}}, {"reply": "x"}, {"reply": "y"}])
    answers(model, "detect_flow", "chat", "detect_flow")
    wanted = 'left for chat; of those without a "for", detect_flow took 2$'
    with pytest.raises(OutsideError, match=wanted):
        answers(model, "chat")


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
        ({"reply": "x", "hang": True}, "needs either reply or raise"),
        ({"reply": "x", "chunks": ["x"]}, "has reply and chunks"),
        ({"raise": "x", "cut": True}, "has raise and cut"),
        ({"chunks": "text"}, "has chunks that are no list of texts"),
        ({"tool_calls": [{"arguments": {}}]}, "has tool_calls that are no list of calls"),
        ({"tool_calls": {"name": "now"}}, "has tool_calls that are no list of calls"),
        (
            {"tool_calls": [{"name": "now", "args": {}}]},
            'has a tool call with the unknown key "args"',
        ),
        ({"reply": "x", "usage": 3}, "has a usage that is no object"),
        ({"raise": "x", "code": "slow"}, "has the unknown code 'slow'"),
        ({"reply": "x", "finish_reason": "done"}, "has the unknown finish_reason 'done'"),
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


async def test_an_entry_may_say_all_that_a_model_can() -> None:
    """Thoughts, text, calls with ids of their own where the script has none, usage and the rest."""
    calls = [{"name": "now"}, {"id": "c", "name": "f", "arguments": {"a": [1]}, "raw": "{"}]
    entry = {
        "thinking": "hm",
        "reply": "yes",
        "tool_calls": calls,
        "model": "m",
        "usage": {"input_tokens": 3, "output_tokens": 4},
    }
    cut = {"chunks": ["Once", " upon"], "finish_reason": "length"}
    model = ScriptedModel([entry, cut, {"tool_calls": calls[:1]}])
    first, second, third = [await reply_of(model, question("chat", "", "")) for _ in range(3)]
    assert first == ModelReply(
        "yes",
        "m",
        3,
        4,
        (ToolCallPiece("call-1", "now", {}), ToolCallPiece("c", "f", freeze({"a": [1]}), "{")),
        "tool_calls",
        "hm",
    )
    assert (second.text, second.stop) == ("Once upon", "length")
    assert [call.id for call in third.tool_calls] == ["call-3"]


async def test_what_goes_wrong_may_do_so_midway() -> None:
    """What had come by then was told."""
    heard: list[str] = []

    def listen(piece: Any) -> None:
        heard.append(piece.text)

    raised = {"chunks": ["Hel"], "raise": "slow down", "code": "rate_limit", "retry_after": 2}
    model = ScriptedModel(
        [raised, {"chunks": ["lo"], "cut": True}, {"chunks": ["!"], "hang": True}]
    )
    with pytest.raises(ModelError, match="slow down") as caught:
        await reply_of(model, question("chat", "", ""), listen)
    assert (caught.value.code, caught.value.retryable, caught.value.retry_after) == (
        *("rate_limit", True),
        2,
    )
    with pytest.raises(ModelError, match="broke off before it was complete") as caught:
        await reply_of(model, question("chat", "", ""), listen)
    assert caught.value.code == "network"
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await reply_of(model, question("chat", "", ""), listen)
    assert heard == ["Hel", "lo", "!"]


def handed(model: ScriptedModel, ask: Ask) -> str:
    return asyncio.run(reply_of(model, ask)).text


def test_a_rule_answers_whatever_has_its_texts_and_stays() -> None:
    """The same model, handed a piece less, answers otherwise."""
    rules = [{"when": ["Be kind", "lost"], "reply": "So sorry!"}, {"when": {}, "reply": "Lost."}]
    model = ScriptedModel(rules)
    told = [user_message("Where is it?"), tool_message('{"state":"lost"}', "c1")]
    for _ in range(2):
        assert handed(model, Ask("chat", "Be kind.", told)) == "So sorry!"
        assert handed(model, Ask("chat", "Be brief.", told)) == "Lost."
    assert model.left == 0


def test_a_rule_looks_at_one_part_of_the_request() -> None:
    """Each place by its name; `lacks` wants texts to stand nowhere."""
    call = {"id": "c1", "name": "track", "arguments": {"parcel": "7"}}
    tools = [{"name": "find", "description": "Finds a parcel", "input_schema": {}}]
    told = [user_message("old words"), assistant_message("", [call]), tool_message("held", "c1")]
    ask = Ask("chat", "Be kind.", told, tools)
    for condition, fits in [
        ({"system": "kind"}, True),
        ({"system": "held"}, False),
        ({"messages": 'track({"parcel":"7"})'}, True),
        ({"last": "held"}, True),
        ({"last": "old"}, False),
        ({"user": "old words"}, True),
        ({"tools": "Finds a parcel"}, True),
        ({"anywhere": ["kind", "held", "Finds"]}, True),
        ({"lacks": ["Be rude", "lost"]}, True),
        ({"lacks": ["Be rude", "held"]}, False),
    ]:
        model = ScriptedModel([{"when": condition, "reply": "yes"}, {"reply": "no"}])
        assert handed(model, ask) == ("yes" if fits else "no"), condition


def test_rules_that_do_not_hold_are_told() -> None:
    """Where nothing answers, the error says that there were rules for it."""
    model = ScriptedModel([{"when": "kind", "reply": "yes"}, {"for": "voice", "reply": "no"}])
    with pytest.raises(
        OutsideError,
        match=r"left for chat; those left are for voice; 1 with a when that does not hold$",
    ):
        handed(model, Ask("chat", "Be brief."))


@pytest.mark.parametrize(
    ("condition", "message", "hint"),
    [
        ({"systen": "x"}, 'looks with when at the unknown "systen"', 'did you mean "system"?'),
        ("", 'has a when whose "anywhere" is no text', '"when": "Be kind"'),
        ({"last": 7}, 'has a when whose "last" is no text and no list', '"when": "Be kind"'),
        ([], 'has a when whose "anywhere" is no text', '"when": "Be kind"'),
    ],
)
def test_a_rule_that_can_never_be_looked_for_is_refused(
    condition: Any, message: str, hint: str
) -> None:
    """A misspelt place would make a rule that holds for everything."""
    with pytest.raises(CallerError) as caught:
        ScriptedModel([{"when": condition, "reply": "x"}])
    assert f"entry 0 of the model's script {message}" in str(caught.value)
    assert hint in (caught.value.hint or "")
