"""What a model is offered and asked, and how its choice is put on record."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from saywhy.flows import detection
from saywhy.flows.modelled import ModelFailed
from saywhy.flows.world import Options, World
from saywhy.host import FlowChoice, FlowOption
from tests.flows.conftest import flow, say, world_of

PAY = flow(
    say("x"),
    name="Pay",
    primary=True,
    description="Pays a bill",
    metadata={"riskLevel": "high"},
    parameterInstructions="Amounts are in euros.",
    parameters=[
        {"name": "kind", "description": "how", "enum": ["Card", "Cash"]},
        {"name": "key", "description": "the clerk's", "internal": True},
    ],
)
BARE = flow(say("x"), name="Bare", prompt="Says x")


def world(*flows: dict[str, Any], **options: Any) -> World:
    made = world_of(*(flows or (PAY, BARE)), options=Options(**options))
    return replace(made, offered=detection.offered(made.order), has_model=True)


def test_the_primary_flows_are_offered() -> None:
    """All of them where none is primary; what has neither name nor id is none."""
    assert [one.name for one in world().offered] == ["Pay"]
    assert [one.name for one in world(BARE, {**BARE, "id": "b2", "name": "Two"}).offered] == [
        "Bare",
        "Two",
    ]


def test_an_option_says_what_the_author_said() -> None:
    """A flow without a description is told by its label."""
    pay = world().offered[0]
    assert (pay.id, pay.description, pay.risk_level) == ("pay", "Pays a bill", "high")
    assert pay.parameter_instructions == "Amounts are in euros."
    assert [one.name for one in pay.askable] == ["kind"]
    assert world(BARE).offered[0].description == "Says x"


def test_the_questions_in_words() -> None:
    """One call asks for both; in two stages each asks for one thing."""
    facts: dict[str, Any] = {"input": "five", "conversation": [], "flow": "pay"}
    single = detection.flow_prompt(world(), facts)
    assert "Pay: Pays a bill [risk: high] parameters: kind" in single.user
    assert single.request is not None
    assert "stage" not in single.request
    two = world(intent_detection="two-stage")
    first, second = detection.flow_prompt(two, facts), detection.parameters_prompt(two, facts)
    assert "kind" not in first.user
    assert 'kind (string, one of: "Card" | "Cash"): how' in second.user
    assert "Amounts are in euros." in second.system
    assert "key" not in second.user
    assert first.request is not None
    assert second.request is not None
    assert (first.request["stage"], second.request["stage"]) == (1, 2)


def test_a_second_flow_is_asked_for_where_the_user_may_choose() -> None:
    """And nowhere else."""
    facts: dict[str, Any] = {"input": "five", "conversation": []}
    for mode in ("single-call", "two-stage"):
        asks = detection.flow_prompt(world(clarify=True, intent_detection=mode), facts)
        assert "alternative" in str(asks.schema)
        usual = detection.flow_prompt(world(intent_detection=mode), facts)
        assert "alternative" not in str(usual.schema)


@pytest.mark.parametrize(
    ("reply", "code"),
    [("es", "es"), (' "ES"\n', "es"), ("pt-BR", "pt"), ("Spanish", ""), ("", ""), ("e", "")],
)
def test_the_language_in_a_reply(reply: str, code: str) -> None:
    """Two letters; a word is none."""
    assert detection.language_code(reply) == code


def test_a_choice_on_record() -> None:
    """The flow; none; a name that was not offered, cut short."""
    pay = FlowOption("pay", "Pay")
    found = detection.decision_of(FlowChoice(pay, "Pay"))
    assert (found.chosen, found.default, found.conditions[0].text) == (
        "Pay",
        False,
        "the model's choice",
    )
    none = detection.decision_of(FlowChoice())
    assert (none.chosen, none.default, none.conditions[0].result) == ("none", True, False)
    ghost = detection.decision_of(FlowChoice(None, "g" * 200))
    assert ghost.conditions[0].error == "no flow on offer"
    assert len(ghost.conditions[0].branch) == 80
    assert detection.problems_of(FlowChoice(None, "Ghost")) == [
        "intent detection named a flow that was not offered: 'Ghost'"
    ]
    both = detection.undecided(pay, FlowOption("bare", "Bare"))
    assert both.selected == ("Pay", "Bare")
    assert detection.picked("Pay").conditions[0].text == "the user's choice of two"


def test_a_reply_without_json_is_an_error_and_unreadable_parameters_are_none() -> None:
    """Without a flow nothing can begin; without parameters it can."""
    with pytest.raises(ModelFailed, match="Invalid JSON response from AI: hm"):
        detection.flow_choice(world(), "hm")
    assert not detection.parameter_choice(world().offered[0], "hm").parameters
