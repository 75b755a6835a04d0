"""What a flow says of corrections, as its chart keeps it."""

from __future__ import annotations

from typing import Any

from saywhy.flows.compile import compile_flow
from saywhy.flows.corrections.settings import pattern_of, spaced
from saywhy.flows.load import load_definitions
from tests.flows.conftest import ask, flow


def chart(**keys: Any) -> Any:
    (loaded,) = load_definitions([flow(ask("dueDate"), **keys)]).flows
    return compile_flow(loaded)


def test_a_flow_that_says_nothing_keeps_nothing() -> None:
    """Its chart, and so its digest, is as if there were no corrections."""
    assert "corrections" not in chart().meta
    assert chart().digest == chart(corrections=False).digest != chart(corrections=True).digest


def test_names_come_from_the_declaration() -> None:
    """The variable's own name, a short description, and what is written for each language."""
    declared = {
        "type": "string",
        "description": "the date",
        "names": ["day"],
        "names_es": ["fecha"],
    }
    long = {"type": "string", "description": "a sentence that nobody would ever say"}
    made = chart(corrections=True, variables={"dueDate": declared, "other": long})
    assert made.meta["corrections"]["names"] == {
        "dueDate": {"": ["due Date", "the date", "day"], "es": ["fecha"]},
        "other": {"": ["other"]},
    }


def test_patterns_and_variables_are_kept() -> None:
    """By the usual spelling of the language; what is no pattern counts as not written."""
    written = {
        "patterns": {"pt_br": ["x", {"pattern": "y", "variable": "v"}, 5]},
        "variables": ["v"],
    }
    kept = chart(corrections=written).meta["corrections"]
    assert kept["patterns"] == {"pt-BR": [["x", ""], ["y", "v"]]}
    assert kept["only"] == ["v"]
    assert pattern_of({"variable": "v"}) is None


def test_a_name_as_somebody_says_it() -> None:
    """Capitals and underscores part words."""
    assert spaced("dueDate") == "due Date"
    assert spaced("due_date") == "due date"
