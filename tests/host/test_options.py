"""Promise: flows are the same whether they come as values or out of a request."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.errors import UnknownFlow
from saywhy.host import FlowOption, ParameterOption, build_detect_flow_request
from saywhy.host.options import flows_of, known_flow, match_flow
from saywhy.values import freeze

RENT = FlowOption(
    "rent-bike",
    "RentBike",
    "Rents a bike",
    (ParameterOption("days", "how many", "number"), ParameterOption("kind", enum=("A", "B"))),
)
HOURS = FlowOption("hours", "Hours")


def test_a_request_gives_the_flows_back() -> None:
    """What a request was built of is read out of it, also after it was frozen."""
    request: Any = build_detect_flow_request("x", [], [RENT, HOURS]).request
    assert flows_of(request) == (RENT, HOURS)
    assert flows_of(freeze(request)) == (RENT, HOURS)
    assert flows_of([RENT]) == (RENT,)


@pytest.mark.parametrize("key", ["parameterInstructions", "parameter_instructions"])
def test_rules_of_parameters_are_read_in_both_spellings(key: str) -> None:
    """A host that writes its request in Python may use its own spelling."""
    (flow,) = flows_of({"flows": [{"name": "Pay", key: "In euros."}]})
    assert flow.parameter_instructions == "In euros."


@pytest.mark.parametrize(
    ("given", "flows"),
    [
        ({}, ()),
        ({"flows": None}, ()),
        ({"flows": "RentBike"}, ()),
        ({"flows": ["RentBike", 7, None]}, ()),
        ({"flows": [{}]}, (FlowOption("", ""),)),
        (
            {"flows": [{"name": "A", "parameters": [None, {"name": "p", "enum": [1, "x"]}]}]},
            (FlowOption("", "A", "", (ParameterOption("p", enum=("x",)),)),),
        ),
        (
            {"flows": [{"name": "A", "parameters": [{"name": "p", "enum": [], "internal": True}]}]},
            (FlowOption("", "A", "", (ParameterOption("p", internal=True),)),),
        ),
    ],
)
def test_what_is_no_flow_is_left_out(given: Any, flows: tuple[FlowOption, ...]) -> None:
    """A damaged request gives fewer flows, never an error of ours."""
    assert flows_of(given) == flows


@pytest.mark.parametrize(
    ("name", "flow"),
    [
        ("RentBike", RENT),
        (" rentbike ", RENT),
        ("rent-bike", RENT),
        ("Rent-Bike", None),
        ("Rent", None),
        ("", None),
        ("HOURS", HOURS),
    ],
)
def test_a_name_matches_whatever_its_case_and_an_id_exactly(
    name: str, flow: FlowOption | None
) -> None:
    """Names are matched whatever their case, ids to the letter, parts of either not at all."""
    assert match_flow(name, [RENT, HOURS]) is flow


def test_an_exact_name_comes_before_a_close_one() -> None:
    """With two names that differ in case alone, the one that was written is meant."""
    lower, upper = FlowOption("1", "pay"), FlowOption("2", "PAY")
    assert match_flow("PAY", [lower, upper]) is upper
    assert match_flow("Pay", [lower, upper]) is lower


def test_a_flow_that_was_not_offered_is_named() -> None:
    """Whoever asks for a flow that is not there is told which was probably meant."""
    with pytest.raises(UnknownFlow, match='no flow has the id or name "RentBikes"') as raised:
        known_flow([RENT, HOURS], "RentBikes")
    assert raised.value.hint == 'did you mean "RentBike"?'


def test_internal_parameters_are_not_askable() -> None:
    """An `internal` parameter is declared, and never asked for."""
    flow = FlowOption("a", "A", "", (ParameterOption("x"), ParameterOption("y", internal=True)))
    assert [option.name for option in flow.askable] == ["x"]
    assert flow.parameter("y") == ParameterOption("y", internal=True)
    assert flow.parameter("z") is None
