"""Promise: a classifier's probabilities become a flow and its parameters, and silence an error."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from saywhy.errors import ModelError, UnansweredQuestion, UnknownFlow
from saywhy.host import (
    INTENT_YES_THRESHOLD,
    FlowChoice,
    FlowOption,
    ParameterOption,
    Score,
    build_detect_flow_request,
    build_flow_stage,
    build_parameter_stage,
    decode_flow_system_one,
    decode_parameters_system_one,
    free_text_parameters,
    from_flow_answers,
    from_parameter_answers,
    has_jev_parameters,
    is_detect_flow_request,
    is_near_miss,
    merge_text_parameters,
    to_flow_request,
    to_parameter_request,
)

TRANSFER = FlowOption(
    "transfer",
    "Transfer",
    "Sends\nmoney",
    (
        ParameterOption("payee", "who gets it"),
        ParameterOption("speed", "how fast", enum=("Normal", "Express")),
        ParameterOption("own", internal=True),
        ParameterOption("urgent", "", "boolean"),
        ParameterOption("amount", "how much", "number"),
    ),
    parameter_instructions="Express is for euros only.",
)
HOURS = FlowOption("hours", "Hours", "Tells the opening hours")
CARD = FlowOption("card", "Card")
FLOWS = [TRANSFER, HOURS, CARD]
CHAT = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]


def request(flows: list[FlowOption] = FLOWS) -> Any:
    return build_detect_flow_request(" send Bo 80 ", CHAT, flows).request


# ------------------------------------------------------------------ is it a detection call


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        (request(), True),
        (build_flow_stage("x", [], FLOWS).request, True),
        (build_parameter_stage("x", [], TRANSFER).request, False),
        ({"task": "detect_flow"}, False),
        ({"task": "detect_flow", "flows": None}, False),
        ({"task": "detect_flow", "flows": []}, True),
        ({"flows": []}, False),
        (None, False),
        ("detect_flow", False),
        ([], False),
    ],
)
def test_is_detect_flow_request(given: Any, answer: bool) -> None:
    """True for the two calls that ask which flow, false for every other argument."""
    assert is_detect_flow_request(given) is answer


# ------------------------------------------------------------------ which flow


def test_one_question_for_each_flow() -> None:
    """Flows are asked for in their order by what they do, or by name where they do not say."""
    assert to_flow_request(request()) == {
        "instructions": (
            "Judge what the user's last message asks for. Answer every question with the "
            "probability that the answer is yes. The chat so far only helps to make sense of the "
            "message."
        ),
        "input": "send Bo 80",
        "conversation": CHAT,
        "questions": [
            {"id": "f0", "question": "Does the user ask for this: Sends money"},
            {"id": "f1", "question": "Does the user ask for this: Tells the opening hours"},
            {"id": "f2", "question": "Does the user ask for this: Card"},
        ],
    }


def test_the_stage_carries_the_same_questions() -> None:
    """What stage 1 carries for a classifier is what the single call is mapped to."""
    stage: Any = build_flow_stage(" send Bo 80 ", CHAT, FLOWS).request
    assert stage["systemOne"] == to_flow_request(request()) == to_flow_request(stage)


def test_questions_are_copies() -> None:
    """What a host does to the questions does not reach the request."""
    given = request()
    to_flow_request(given)["conversation"][0]["content"] = "?"
    assert given["conversation"] == CHAT


@pytest.mark.parametrize(
    ("answers", "flow"),
    [
        ((0.9, 0.2, 0.1), TRANSFER),
        ((0.2, 0.5, 0.4), HOURS),
        ((0.49, 0.499, 0.4999), None),
        ((0, 0, 0), None),
        ((0, 0, 1), CARD),
        ((0.7, 0.7, 0.7), TRANSFER),
        ((Fraction(1, 4), Fraction(3, 4), 0), HOURS),
        ((1.0000001, -1e-7, 0), TRANSFER),
    ],
)
def test_the_most_likely_flow_from_the_threshold_on(
    answers: tuple[float, float, float], flow: FlowOption | None
) -> None:
    """The threshold itself counts as yes; of equal flows the first is taken; below it none."""
    assert INTENT_YES_THRESHOLD == 0.5
    given = {f"f{number}": answer for number, answer in enumerate(answers)}
    for decode in (from_flow_answers, decode_flow_system_one):
        for flows in (FLOWS, request()):
            assert decode(flows, given).flow_name == (flow.name if flow else "None")


def test_the_three_best_scores_are_told() -> None:
    """Scores are sorted, cut to three and kept within 0 and 1, whether a flow was chosen or not."""
    flows = [FlowOption(str(number), f"F{number}") for number in range(5)]
    answers = {"f0": 0.1, "f1": 0.3, "f2": 0.2, "f3": 0.4, "f4": -1e-9}
    assert from_flow_answers(flows, answers) == FlowChoice(
        scores=(Score("F3", 0.4), Score("F1", 0.3), Score("F2", 0.2))
    )
    assert from_flow_answers(flows, answers | {"f4": 1.0000001}).scores[0] == Score("F4", 1.0)


def test_answers_nobody_asked_for_do_not_count() -> None:
    """Further keys in the answers are passed over."""
    choice = from_flow_answers([HOURS], {"f0": 0.2, "f1": 0.9, "model": "x"})
    assert choice.flow_name == "None"


@pytest.mark.parametrize(
    "answer", [None, "0.9", "yes", True, False, math.nan, math.inf, 87, -0.5, 1.01, [], {"p": 1}]
)
def test_a_question_without_a_probability_raises(answer: Any) -> None:
    """A missing answer is no "no": the host is told which question, and falls back."""
    with pytest.raises(UnansweredQuestion) as raised:
        from_flow_answers(FLOWS, {"f0": 0.9, "f1": answer, "f2": 0.1})
    found = "has no answer" if answer is None else f"was answered {answer!r}"
    assert str(raised.value) == (f'question "f1" (Hours) {found}; it wants a number from 0 to 1')
    assert (raised.value.question, raised.value.name) == ("f1", "UnansweredQuestion")
    assert "or ask a text model" in raised.value.hint
    assert isinstance(raised.value, ModelError)


def test_a_missing_answer_raises() -> None:
    """So does an answer that is not there at all, though another flow is certain."""
    with pytest.raises(UnansweredQuestion, match=r'question "f2" \(Card\) has no answer'):
        decode_flow_system_one(FLOWS, {"f0": 1, "f1": 0})


def test_without_flows_there_is_no_question_and_no_flow() -> None:
    """Nothing offered, nothing asked, nothing chosen."""
    assert to_flow_request(request([]))["questions"] == []
    assert from_flow_answers([], {}) == FlowChoice()


# ------------------------------------------------------------------ near misses


@pytest.mark.parametrize(
    ("answers", "answer"),
    [
        ((0.49, 0.0), True),
        ((0.35, 0.0), True),
        ((0.34, 0.0), False),
        ((0.0, 0.0), False),
        ((0.9, 0.75), True),
        ((0.9, 0.74), False),
        ((0.5, 0.36), True),
        ((0.5, 0.1), False),
        ((0.8, 0.8), True),
        ((1.0, 0.0), False),
    ],
)
def test_is_near_miss(answers: tuple[float, float], answer: bool) -> None:
    """Just below the threshold, or the second as close to the best: within 0.15 either way."""
    choice = from_flow_answers([TRANSFER, HOURS], {"f0": answers[0], "f1": answers[1]})
    assert is_near_miss(choice) is answer


def test_a_choice_without_scores_is_no_near_miss() -> None:
    """A text model gives no probabilities, and where nothing was offered nothing is near."""
    assert not is_near_miss(FlowChoice(TRANSFER, "Transfer"))
    assert not is_near_miss(FlowChoice())


def test_a_single_flow_is_near_only_below_the_threshold() -> None:
    """With one flow there is no second one that could compete."""
    assert not is_near_miss(from_flow_answers([HOURS], {"f0": 0.5}))
    assert is_near_miss(from_flow_answers([HOURS], {"f0": 0.45}))


# ------------------------------------------------------------------ which parameters


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("Transfer", True),
        ("transfer", True),
        ("Hours", False),
        ("None", False),
        ("Other", False),
        ("", False),
    ],
)
def test_has_jev_parameters(name: str, answer: bool) -> None:
    """True where a classifier can find something; false for none and for flows not offered."""
    assert has_jev_parameters(request(), name) is answer


def test_one_question_for_each_value_and_each_boolean() -> None:
    """Parameters are counted as they stand in the request; free text gets no question."""
    asked = to_parameter_request(request(), "transfer")
    assert asked["questions"] == [
        {"id": "p1v0", "question": 'Does the user state "Normal" for this: speed (how fast)'},
        {"id": "p1v1", "question": 'Does the user state "Express" for this: speed (how fast)'},
        {"id": "p2", "question": "Does the user state that this is so: urgent"},
    ]
    assert (asked["input"], asked["conversation"]) == ("send Bo 80", CHAT)
    assert asked["instructions"].startswith("Judge what the user's last message states.")


def test_stage_2_hands_on_the_rules_of_the_parameters() -> None:
    """The flow's own rules reach the classifier in stage 2; a single call does not carry them."""
    stage: Any = build_parameter_stage("send Bo 80", CHAT, TRANSFER).request
    rules = "\nRules of this request: Express is for euros only."
    assert stage["systemOne"]["instructions"].endswith(rules)
    assert to_parameter_request(stage, "Transfer") == stage["systemOne"]
    single = to_parameter_request(request(), "Transfer")
    assert single["questions"] == stage["systemOne"]["questions"]
    assert rules not in single["instructions"]


@pytest.mark.parametrize(
    ("answers", "parameters"),
    [
        ((0.1, 0.8, 0.9), {"speed": "Express", "urgent": True}),
        ((0.5, 0.1, 0.5), {"speed": "Normal", "urgent": True}),
        ((0.6, 0.6, 0.0), {"speed": "Normal"}),
        ((0.4, 0.49, 0.49), {}),
        ((0, 0, 0), {}),
    ],
)
def test_what_is_below_the_threshold_is_absent(
    answers: tuple[float, float, float], parameters: dict[str, Any]
) -> None:
    """The likeliest value from the threshold on; a boolean is true or absent, never false."""
    given = dict(zip(("p1v0", "p1v1", "p2"), answers, strict=True))
    assert from_parameter_answers(request(), "Transfer", given) == parameters
    assert from_parameter_answers(FLOWS, "transfer", given) == parameters
    stage: Any = build_parameter_stage("x", [], TRANSFER).request
    for flow in (TRANSFER, stage):
        assert decode_parameters_system_one(flow, given).parameters == parameters


@pytest.mark.parametrize(
    ("missing", "asks"),
    [("p1v0", "speed: Normal"), ("p1v1", "speed: Express"), ("p2", "urgent")],
)
def test_an_open_question_about_a_parameter_raises(missing: str, asks: str) -> None:
    """Even where another value is certain, the set of answers counts as a whole or not at all."""
    answers = {"p1v0": 0.1, "p1v1": 1.0, "p2": 0.9}
    del answers[missing]
    with pytest.raises(UnansweredQuestion, match=rf'question "{missing}" \({asks}\) has no answer'):
        from_parameter_answers(request(), "Transfer", answers)
    with pytest.raises(UnansweredQuestion, match=f'question "{missing}"'):
        decode_parameters_system_one(TRANSFER, answers)


def test_a_flow_without_such_parameters_needs_no_answers() -> None:
    """Nothing is asked, so nothing can be missing; an empty `enum` is free text."""
    flow = FlowOption(
        "a", "A", "", (ParameterOption("x", enum=()), ParameterOption("n", "", "number"))
    )
    assert to_parameter_request(request([flow]), "A")["questions"] == []
    assert from_parameter_answers([flow], "A", {}) == {}
    assert free_text_parameters([flow], "A") == ["x", "n"]


def test_an_unknown_flow_is_the_callers_mistake() -> None:
    """Parameters of a flow that was not offered cannot be asked for or read."""
    for ask in (
        lambda: to_parameter_request(request(), "Transfers"),
        lambda: from_parameter_answers(request(), "Transfers", {}),
    ):
        with pytest.raises(UnknownFlow, match='no flow has the id or name "Transfers"') as raised:
            ask()
        assert raised.value.hint == 'did you mean "Transfer"?'


# ------------------------------------------------------------------ beside a text model


@pytest.mark.parametrize(
    ("name", "names"),
    [("Transfer", ["payee", "amount"]), ("Hours", []), ("None", []), ("Other", [])],
)
def test_free_text_parameters(name: str, names: list[str]) -> None:
    """What only a text model can find: neither booleans nor those with an `enum`, nor internal."""
    assert free_text_parameters(request(), name) == names


CLASSIFIED = {"speed": "Express"}


@pytest.mark.parametrize(
    ("reply", "added"),
    [
        (
            '{"flowName":"Transfer","parameters":{"payee":"Bo","amount":80}}',
            {"payee": "Bo", "amount": 80},
        ),
        ('{"flowName":" TRANSFER ","parameters":{"payee":"Bo"}}', {"payee": "Bo"}),
        ('{"flowName":"transfer","parameters":{"speed":"Normal","urgent":true}}', {}),
        ('{"flowName":"Transfer","parameters":{"own":1,"more":2,"":3,"payee":null}}', {}),
        ('{"flowName":"Hours","parameters":{"payee":"Bo"}}', {}),
        ('{"flowName":"None","parameters":{"payee":"Bo"}}', {}),
        ('{"parameters":{"payee":"Bo"}}', {}),
        ("no idea", {}),
        ("", {}),
        (None, {}),
        ({"flowName": "Transfer", "parameters": {"payee": "Bo"}}, {"payee": "Bo"}),
    ],
)
def test_merge_text_parameters(reply: Any, added: dict[str, Any]) -> None:
    """Free text is taken from a text model that chose the same flow, and nothing else is."""
    for flows in (FLOWS, request()):
        merged = merge_text_parameters(flows, "Transfer", CLASSIFIED, reply)
        assert merged == CLASSIFIED | added
    assert CLASSIFIED == {"speed": "Express"}


def test_the_classifiers_values_win() -> None:
    """A value the classifier has is kept, whatever the text model says."""
    reply = '{"flowName":"Transfer","parameters":{"payee":"Al","speed":"Normal"}}'
    merged = merge_text_parameters(FLOWS, "Transfer", {"payee": "Bo", "speed": "Express"}, reply)
    assert merged == {"payee": "Bo", "speed": "Express"}


def test_a_text_model_that_means_another_flow_is_not_heard() -> None:
    """Not even for a parameter of the same name: its value was meant for the other flow."""
    flows = [FlowOption(name, name, "", (ParameterOption("payee"),)) for name in ("pay", "ask")]
    reply = '{"flowName":"ask","parameters":{"payee":"Bo"}}'
    assert merge_text_parameters(flows, "pay", {}, reply) == {}
    assert merge_text_parameters(flows, "ask", {}, reply) == {"payee": "Bo"}


def test_in_stage_2_the_flow_is_settled() -> None:
    """The reply of stage 2 names no flow: its free text is that of the flow it was asked about."""
    stage: Any = build_parameter_stage("x", [], TRANSFER).request
    merged = merge_text_parameters(stage, "Transfer", CLASSIFIED, '{"parameters":{"payee":"Bo"}}')
    assert merged == {"speed": "Express", "payee": "Bo"}


def test_nothing_is_merged_for_no_flow() -> None:
    """Where the classifier chose nothing, a text model's parameters belong to nothing."""
    reply = '{"flowName":"None","parameters":{"payee":"Bo"}}'
    assert merge_text_parameters(FLOWS, "None", {}, reply) == {}
