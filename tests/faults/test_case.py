"""Promise: a case file that says something impossible is an error, and no missing fault."""

from __future__ import annotations

from typing import Any

import pytest

from tests.faults.case import Case, case_of

BARE: dict[str, Any] = {
    "id": "x",
    "half": "held",
    "about": "…",
    "flows": {"A": {"steps": [{"id": "s", "value": "one"}, {"id": "t", "value": "two two"}]}},
    "turns": ["A"],
    "asked": "one",
    "right": "1",
    "cause": "step:A/s",
}


def repaired(*repair: dict[str, Any]) -> Any:
    case: Case = case_of({**BARE, "repair": list(repair)}, "wrong-branch")
    return case.repaired()["flows"]["A"]["steps"]


def test_a_text_is_replaced_where_it_stands() -> None:
    """As often as the case says, and the application as it was stays as it was."""
    assert repaired({"instead_of": "one", "write": "1"})[0]["value"] == "1"
    assert repaired({"instead_of": "two", "write": "2", "times": 2})[1]["value"] == "2 2"
    assert BARE["flows"]["A"]["steps"][0]["value"] == "one"


def test_a_place_is_named_by_ids() -> None:
    """It is written, removed, or moved behind another."""
    assert repaired({"at": "/flows/A/steps/t/value", "write": 2})[1]["value"] == 2
    assert repaired({"at": "/flows/A/steps/s", "remove": True}) == [{"id": "t", "value": "two two"}]
    moved = repaired({"move": "/flows/A/steps/s", "behind": "t"})
    assert [one["id"] for one in moved] == ["t", "s"]


@pytest.mark.parametrize("text", ["three", "two"])
def test_a_text_that_stands_elsewhere_is_no_repair(text: str) -> None:
    """It would be a repair that does nothing, or more than it says."""
    with pytest.raises(AssertionError, match=f"x: '{text}' stands there . times"):
        repaired({"instead_of": text, "write": "3"})


def test_an_unknown_key_is_told() -> None:
    """A misspelt one would leave something out without a word."""
    with pytest.raises(AssertionError, match=r"wrong-branch/x: unknown keys \['tols'\]"):
        case_of({**BARE, "repair": [], "tols": {}}, "wrong-branch")
