"""Promise: every mistake in a response mapping is reported with its place and a way out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from saywhy.errors import Place
from saywhy.tools.check_mapping import mapping_problems
from saywhy.values import freeze

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent.parent / "cases" / "mapping" / "mistakes.json").read_text("utf-8")
)
PLACE = Place(file="shop.tools.json", line=3, pointer="/0/implementation/responseMapping")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["about"])
def test_mistakes(case: dict[str, Any]) -> None:
    """Each mistake of the case is found, in order, at its pointer; and nothing else is."""
    found = list(mapping_problems(case["mapping"], PLACE, ["shout"]))
    told = [(one.severity, one.place.pointer.removeprefix(PLACE.pointer)) for one in found]
    wanted = case["problems"]
    assert told == [(severity, pointer) for severity, pointer, _, _ in wanted], [
        one.render() for one in found
    ]
    for one, (_, _, message, hint) in zip(found, wanted, strict=True):
        assert one.message.startswith(message)
        assert hint in one.hint
        assert one.hint
        assert one.place.file == PLACE.file


def test_frozen_mappings_are_checked_alike() -> None:
    """A mapping that was frozen with its tool has the problems it had before."""
    for case in CASES:
        plain = [one.render() for one in mapping_problems(case["mapping"], PLACE)]
        assert [one.render() for one in mapping_problems(freeze(case["mapping"]), PLACE)] == plain


def test_functions_that_are_not_known() -> None:
    """Without knowing the approved functions none is said to be missing."""
    config = {"path": "x", "transform": {"type": "custom", "function": "anything"}}
    assert list(mapping_problems(config, PLACE)) == []


def test_nesting_without_end() -> None:
    """A mapping that is nested too deeply is one problem, not an endless walk."""
    config: Any = "x"
    for _ in range(60):
        config = {"type": "object", "mappings": {"a": config}}
    (problem,) = mapping_problems(config, PLACE)
    assert problem.message == "mappings stand in each other deeper than 50 levels"


def test_known_names_are_listed() -> None:
    """Where a name is unknown, the known ones stand below."""
    transform = {"path": "x", "transform": {"type": "trimm"}}
    (problem,) = mapping_problems(transform, PLACE)
    assert "toUpperCase" in problem.known_names
    assert problem.render().startswith("shop.tools.json:3  /0/implementation/responseMapping/tran")
