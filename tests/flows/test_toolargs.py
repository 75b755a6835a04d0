"""Which arguments a model fills in, and that its word is checked like any other."""

from __future__ import annotations

import json
from typing import Any

import pytest

from saywhy.chart.commit import Commit
from saywhy.errors import FlowExecutionError
from saywhy.flows.toolargs import MODELLED
from saywhy.models.scripted import ScriptedModel
from saywhy.runtime.session import Session
from tests.flows.conftest import ask, engine_of, flow, local_tool, put, say, talk, use

PROPERTIES: dict[str, Any] = {
    "to": {"type": "string", "description": "Who gets\nthe parcel"},
    "weight": {"type": "number"},
    "gift": {"type": "boolean"},
}


class Desk:
    """An engine with one tool that remembers its calls, and a scripted model."""

    def __init__(
        self,
        *steps: dict[str, Any],
        script: list[dict[str, Any]],
        properties: dict[str, Any] = PROPERTIES,
        required: tuple[str, ...] = ("to", "weight"),
        flat: bool = False,
        fails: int = 0,
        **options: Any,
    ) -> None:
        self.calls: list[dict[str, Any]] = []
        self.fails = fails
        self.model = ScriptedModel(script)
        tool = local_tool("send", description="Sends a parcel")
        schema = {"type": "object", "properties": properties, "required": list(required)}
        tool["parameters"] = {**properties} if flat else schema
        steps = steps or (ask("words", "What shall I send?"), use("send", variable="r"))
        self.engine = engine_of(
            flow(*steps, say("sent")),
            tools=[tool],
            functions={"send": self._send},
            model=self.model,
            **options,
        )

    def _send(self, *given: Any) -> str:
        self.calls.append(dict(given[0]) if len(given) == 1 else {"all": list(given)})
        if len(self.calls) <= self.fails:
            raise ConnectionError("timeout")
        return "ok"

    async def talk(self, *texts: str, session: Session | None = None) -> Session:
        return await talk(self.engine, *texts, session=session)


def asked(reply: Any) -> list[dict[str, Any]]:
    return [{"for": "tool_args", "reply": reply}]


def call_commit(session: Session) -> Commit:
    return next(one for one in session.commits if one.answered and one.answered.kind == "model")


async def test_a_model_fills_in_what_was_said() -> None:
    """What nobody declared, and null, is left out; the record tells who filled in what."""
    desk = Desk(script=asked({"to": "Ann", "weight": 3, "gift": None, "more": 1}))
    session = await desk.talk("Main", "three kilos to Ann")
    assert session.response == "sent"
    assert desk.calls == [{"to": "Ann", "weight": 3}]
    commit = call_commit(session)
    assert commit.facts[MODELLED] == ["to", "weight"]
    assert commit.asked is not None
    assert (commit.asked.kind, commit.asked.name) == ("tool", "send")


async def test_the_question_shows_the_schema_and_the_conversation() -> None:
    """The form is the schema of what is missing; the newest words stand apart from the chat."""
    desk = Desk(script=asked({"weight": 3}), required=("weight", "to"))
    await desk.talk("Main", "three kilos to Ann")
    question = desk.model.asked[0]
    form = json.loads(question.schema or "")["json_schema"]
    assert (form["name"], form["strict"]) == ("tool_args", False)
    assert form["schema"]["required"] == ["weight", "to"]
    assert form["schema"]["properties"] == PROPERTIES
    assert question.user == (
        "<chat-history>\nuser: Main\nassistant: What shall I send?\n</chat-history>\n\n"
        "<user-input>\nthree kilos to Ann\n</user-input>\n\n"
        "<arguments>\ntool send: Sends a parcel\n- to (string): Who gets the parcel\n"
        "- weight (number)\n- gift (boolean)\n</arguments>"
    )
    assert question.request is None


async def test_what_stands_in_variables_is_not_asked_for() -> None:
    """A variable of the parameter's name counts, whatever a model says of it."""
    desk = Desk(
        put("to", "'Bob'"),
        ask("words"),
        use("send"),
        script=asked({"to": "Ann", "weight": 3}),
    )
    session = await desk.talk("Main", "three kilos to Ann")
    assert desk.calls == [{"to": "Bob", "weight": 3}]
    assert "to" not in json.loads(desk.model.asked[0].schema or "")["json_schema"]["schema"]
    assert call_commit(session).facts[MODELLED] == ["weight"]


@pytest.mark.parametrize(
    ("steps", "properties", "required", "called"),
    [
        ([put("to", "'Bob'"), put("weight", "2")], PROPERTIES, ("to", "weight"), {"weight": 2}),
        ([put("to", "'Bob'")], PROPERTIES, ("to",), {"to": "Bob"}),
        ([], {"amount": {"type": "number"}}, ("amount",), {"amount": 5}),
        ([], {"note": {"type": "string"}}, ("note",), {"note": "5 to Ann"}),
        ([], {}, (), {"userInput": "5 to Ann"}),
    ],
    ids=["variables", "required-is-enough", "by-name", "one-text", "nothing-declared"],
)
async def test_no_model_is_asked_where_nothing_is_missing(
    steps: list[Any], properties: Any, required: Any, called: dict[str, Any]
) -> None:
    """Variables, then the words; only what they leave open is a question."""
    desk = Desk(
        *steps, ask("words"), use("send"), script=[], properties=properties, required=required
    )
    await desk.talk("Main", "5 to Ann")
    assert desk.model.tasks == []
    assert called.items() <= desk.calls[0].items()


async def test_arguments_that_were_written_are_the_authors() -> None:
    """A step with `args` never asks a model, though something is missing."""
    desk = Desk(ask("words"), use("send", args={"to": "{{words}}"}), script=asked({"weight": 3}))
    session = await desk.talk("Main", "Ann")
    assert desk.model.tasks == []
    assert "weight" in str(session.response)
    assert desk.calls == []


@pytest.mark.parametrize(
    "entry",
    [{"raise": "line down"}, {"reply": "I cannot tell"}, {"reply": {}}, {"reply": {"x": 1}}],
    ids=["fails", "no-json", "nothing", "only-strangers"],
)
async def test_without_an_answer_the_call_is_as_without_a_model(entry: dict[str, Any]) -> None:
    """The words go to the first text that is required; the check then says what is missing."""
    step = use("send", onFail={"id": "f", "type": "SAY", "value": "failed: {{r}}"}, variable="r")
    desk = Desk(ask("words"), step, script=[{"for": "tool_args", **entry}])
    session = await desk.talk("Main", "to Ann")
    assert desk.calls == []
    assert str(session.response).startswith("failed: Tool argument validation failed: ")
    assert "weight" in str(session.response)
    desk = Desk(script=[{"for": "tool_args", **entry}], required=())
    await desk.talk("Main", "to Ann")
    assert desk.calls == [{"userInput": "to Ann"}]


@pytest.mark.parametrize("flat", [False, True])
async def test_what_a_model_says_is_checked(flat: bool) -> None:
    """Also for flat parameters, which nobody else's arguments are held to."""
    desk = Desk(
        ask("words"),
        use("send", onFail={"id": "f", "type": "SAY", "value": "{{r}}"}, variable="r"),
        script=asked({"to": "Ann", "weight": "heavy"}),
        flat=flat,
    )
    session = await desk.talk("Main", "a heavy one to Ann")
    assert desk.calls == []
    assert "Tool argument validation failed: weight" in str(session.response)
    assert "heavy" not in str(session.response).replace("sent", "")


async def test_another_try_is_the_same_call() -> None:
    """The model is asked once a step, however often the tool is called."""
    desk = Desk(script=asked({"to": "Ann", "weight": 3}), fails=2)
    session = await desk.talk("Main", "three kilos to Ann")
    assert session.response == "sent"
    assert desk.calls == [{"to": "Ann", "weight": 3}] * 3
    assert desk.model.tasks == ["tool_args"]


async def test_each_step_asks_anew() -> None:
    """What a model said for one call is nothing to the next."""
    script = [*asked({"to": "Ann", "weight": 3}), *asked({"to": "Bob", "weight": 4})]
    desk = Desk(ask("a"), use("send"), ask("b"), use("send"), script=script)
    await desk.talk("Main", "three to Ann", "four to Bob")
    assert desk.calls == [{"to": "Ann", "weight": 3}, {"to": "Bob", "weight": 4}]


async def test_sensitive_answers_are_masked_for_the_model() -> None:
    """It gets a mark in their place, in the chat and where they are the newest words."""
    secret = "4111 1111 1111 1111"
    desk = Desk(
        ask("card", "Card?", pii=True),
        ask("words", "What?"),
        use("send"),
        script=asked({"to": "Ann", "weight": 3}),
    )
    await desk.talk("Main", secret, f"to Ann, paid with {secret}")
    assert secret not in desk.model.asked[0].user
    assert "to Ann, paid with" in desk.model.asked[0].user
    desk = Desk(
        ask("card", "Card?", pii=True), use("send"), script=asked({"to": "Ann", "weight": 3})
    )
    session = await desk.talk("Main", secret)
    assert secret not in desk.model.asked[0].user
    assert secret not in repr(session.commits)


async def test_why_says_that_the_model_filled_it_in() -> None:
    """From the reply to the result, from there to the model, and on to the words."""
    desk = Desk(
        ask("words", "What shall I send?"),
        use("send", variable="r"),
        say("result {{r}}"),
        script=asked({"to": "Ann", "weight": 3}),
    )
    session = await desk.talk("Main", "three kilos to Ann")
    chain = session.trace.why()
    told = [cause.sentence for cause in chain.causes]
    call = 'tool send({"to": "Ann", "weight": 3}), where the model filled in to and weight'
    assert f'r = "ok" is the result of {call}' in told
    assert (
        "the model was asked which arguments the words give, and answered "
        '{"to":"Ann","weight":3}' in told
    )
    assert 'the user said in turn 2: "three kilos to Ann"' in told
    assert "model" in [cause.root for cause in chain.roots]


async def test_a_flow_without_words_asks_all_the_same() -> None:
    """One that a host starts, with nothing said."""
    desk = Desk(use("send"), script=asked({"to": "Ann", "weight": 3}))
    entry: Any = {"role": "user", "content": "", "start": {"flow": "Main"}}
    await talk(desk.engine, entry)
    assert desk.calls == [{"to": "Ann", "weight": 3}]


async def test_a_model_that_takes_too_long_loses_nothing() -> None:
    """The flow goes on as without it; detection, by contrast, cannot."""
    desk = Desk(script=[], required=())
    await desk.talk("Main", "to Ann")
    assert desk.calls == [{"userInput": "to Ann"}]
    with pytest.raises(FlowExecutionError, match="no answer left for detect_flow"):
        await desk.talk("nothing by this name")
