"""Each decision on the way from words to a flow, without a turn around it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from saywhy.chart.outcome import Answer, Need
from saywhy.flows import finding
from saywhy.flows.detection import offered
from saywhy.flows.modelled import ModelFailed
from saywhy.flows.world import Options, World
from tests.flows.conftest import flow, say, world_of

PAY = flow(
    say("x"),
    name="Pay",
    primary=True,
    parameters=[{"name": "n", "description": "d"}, {"name": "i", "internal": True}],
)
BARE = flow(say("x"), name="Bare", primary=True, parameters=[{"name": "i", "internal": True}])
WORKER = flow(say("x"), name="Worker")


def world(*, model: bool = True, **options: Any) -> World:
    made = world_of(PAY, BARE, WORKER, options=Options(**options))
    return replace(made, offered=offered(made.order), has_model=model)


@pytest.mark.parametrize("model", [True, False])
def test_a_name_is_found_at_once(model: bool) -> None:
    """Any flow's, whatever the case; words that are none find nothing."""
    found = finding.begin(world(model=model), " WORKER ", [])
    assert not isinstance(found, Need)
    assert found is not None
    assert (found.flow.name, found.how) == ("Worker", "exact")
    assert finding.begin(world(model=model), "  ", []) is None


def test_other_words_are_a_question_or_a_part_of_a_name() -> None:
    """To a model where there is one that has something to choose from."""
    said = [{"role": "user", "content": "hi"}]
    need = finding.begin(world(), "ork", said)
    assert isinstance(need, Need)
    assert (need.name, need.args["input"], len(need.args["conversation"])) == (
        "detect_flow",
        "ork",
        1,
    )
    found = finding.begin(world(model=False), "ork", [])
    assert found is not None
    assert not isinstance(found, Need)
    assert found.how == "partial"
    assert finding.begin(world(model=False, partial_match="safe"), "ork", []) is None
    assert finding.begin(replace(world(), offered=()), "ork", []) is None


def test_what_the_model_chose() -> None:
    """A failure and what cannot be read are errors: nobody knows what the words want."""
    choice = finding.chosen(world(), Answer('{"flowName": "pay", "parameters": {"n": 1}}'))
    assert choice.flow is not None
    assert (choice.flow.name, dict(choice.parameters)) == ("Pay", {"n": 1})
    assert finding.flow_of(world(), choice.flow).name == "Pay"
    for answer in (Answer(error="x"), Answer("?")):
        with pytest.raises(ModelFailed):
            finding.chosen(world(), answer)


def test_parameters_are_a_question_of_their_own_in_two_stages() -> None:
    """Where the flow has any that may be asked for."""
    options = {one.name: one for one in world().offered}
    two = world(intent_detection="two-stage")
    assert finding.asks_parameters(two, options["Pay"])
    assert not finding.asks_parameters(two, options["Bare"])
    assert not finding.asks_parameters(world(), options["Pay"])
    need = finding.ask_parameters(options["Pay"], "five", [])
    assert (need.name, need.args["flow"]) == ("extract_parameters", "pay")


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (Answer('{"parameters": {"n": "5", "i": "x"}}'), {"n": "5"}),
        (Answer(error="line down"), {}),
        (Answer("no idea"), {}),
    ],
)
def test_parameters_without_an_answer_are_none(answer: Answer, found: dict[str, str]) -> None:
    """The flow asks for them itself."""
    option = next(one for one in world().offered if one.name == "Pay")
    assert dict(finding.parameters(option, answer).parameters) == found
