"""Promise: schemas of ours can be read back, and whatever else stands there is no error."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest

from saywhy.host import (
    FlowOption,
    ParameterOption,
    build_detect_flow_request,
    build_flow_stage,
    build_parameter_stage,
    parse_schema_arg,
    schema_name,
)
from saywhy.host.schemas import MOST_NAMES

PAY = FlowOption(
    "pay",
    "Pay",
    "Pays somebody",
    (
        ParameterOption("amount", "how much", "number"),
        ParameterOption("speed", "", enum=("Normal", "Express")),
        ParameterOption("own", internal=True),
    ),
)


@pytest.mark.parametrize(
    ("schema", "parsed"),
    [
        ('{"type": "object"}', {"type": "object"}),
        ({"type": "object"}, {"type": "object"}),
        (None, None),
        ("", None),
        ("not json", None),
        ("[1]", None),
        ("null", None),
        ('{"a": NaN}', None),
        ("[" * 100_000, None),
        ('{"a": "\ud800"}', None),
    ],
)
def test_parse_schema_arg(schema: Any, parsed: dict[str, Any] | None) -> None:
    """The third argument becomes a dict where it is a JSON object, and None everywhere else."""
    assert parse_schema_arg(schema) == parsed


def test_every_call_names_its_schema() -> None:
    """The name tells the three kinds of calls apart."""
    assert schema_name(build_detect_flow_request("x", [], [PAY]).schema) == "detect_flow"
    assert schema_name(build_flow_stage("x", [], [PAY]).schema) == "select_flow"
    assert schema_name(build_parameter_stage("x", [], PAY).schema) == "extract_parameters"


@pytest.mark.parametrize(
    "schema", [None, "", "[]", "{}", '{"json_schema": 3}', '{"json_schema": {"name": 3}}', "{"]
)
def test_a_schema_without_a_name_has_an_empty_one(schema: str | None) -> None:
    """Where there is no name, the name is empty text."""
    assert schema_name(schema) == ""


def test_stage_1_allows_the_names_that_were_offered() -> None:
    """A server that keeps to the schema can name an offered flow, or None, and nothing else."""
    wrapper = json.loads(build_flow_stage("x", [], [PAY, FlowOption("h", "Hours")]).schema)
    assert wrapper["json_schema"]["strict"] is True
    valid = jsonschema_rs.validator_for(wrapper["json_schema"]["schema"])
    for name in ("Pay", "Hours", "None"):
        assert valid.is_valid({"flowName": name})
    for wrong in ({"flowName": "Other"}, {"flowName": None}, {}, {"flowName": "Pay", "more": 1}):
        assert not valid.is_valid(wrong)


def test_a_long_list_of_names_is_not_put_into_the_schema() -> None:
    """Servers limit such lists: with very many flows a name is checked when it is read."""
    few = [FlowOption(str(number), f"Flow {number}") for number in range(MOST_NAMES)]
    assert '"enum"' in build_flow_stage("x", [], few).schema
    many = build_flow_stage("x", [], [*few, PAY]).schema
    assert json.loads(many)["json_schema"]["schema"]["properties"] == {
        "flowName": {"type": "string"}
    }


def test_stage_2_wants_every_parameter_and_allows_null() -> None:
    """Each askable parameter stands in the reply, null where it was not stated."""
    wrapper = json.loads(build_parameter_stage("x", [], PAY).schema)
    assert wrapper["json_schema"]["strict"] is True
    valid = jsonschema_rs.validator_for(wrapper["json_schema"]["schema"])
    for right in ({"amount": 80, "speed": "Express"}, {"amount": None, "speed": None}):
        assert valid.is_valid({"parameters": right})
    for wrong in (
        {"amount": 80},
        {"amount": "80", "speed": None},
        {"amount": 80, "speed": "Slow"},
        {"amount": 80, "speed": None, "own": 1},
    ):
        assert not valid.is_valid({"parameters": wrong})


def test_lists_and_objects_cannot_be_enforced() -> None:
    """Where a parameter is a list or an object, the schema is advice: servers refuse open ones."""
    flow = FlowOption("a", "A", "", (ParameterOption("items", "what", "array"),))
    wrapper = json.loads(build_parameter_stage("x", [], flow).schema)
    assert wrapper["json_schema"]["strict"] is False
    (asked,) = wrapper["json_schema"]["schema"]["properties"]["parameters"]["properties"].values()
    assert asked == {"type": ["array", "null"], "description": "what"}


def test_a_type_that_json_does_not_know_is_left_open() -> None:
    """A server would refuse a schema with it; what is declared as `enum` is text in any case."""
    options = (
        ParameterOption("day", "which", "date"),
        ParameterOption("n", "", "date", ("1", "2")),
    )
    wrapper = json.loads(build_parameter_stage("x", [], FlowOption("a", "A", "", options)).schema)
    assert wrapper["json_schema"]["strict"] is False
    assert wrapper["json_schema"]["schema"]["properties"]["parameters"]["properties"] == {
        "day": {"description": "which"},
        "n": {"type": ["string", "null"], "enum": ["1", "2", None]},
    }
    listed = FlowOption("a", "A", "", options[1:])
    assert (
        json.loads(build_parameter_stage("x", [], listed).schema)["json_schema"]["strict"] is True
    )
