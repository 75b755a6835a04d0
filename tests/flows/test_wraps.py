"""Promise: a wrapper stands in its flow's place and takes over what it does not declare itself."""

from __future__ import annotations

from typing import Any

from saywhy.flows.load import load_definitions
from saywhy.flows.model import Library

TRACK: dict[str, Any] = {
    "id": "track",
    "name": "Track",
    "prompt": "Track an order",
    "prompt_es": "Rastrear",
    "description": "Find an order",
    "primary": True,
    "parameters": [{"name": "order"}],
    "parameterInstructions": "digits only",
    "steps": [],
}


def wrapper(name: str, wraps: str, **keys: Any) -> dict[str, Any]:
    return {"id": name, "name": name.title(), "wraps": wraps, "steps": [], **keys}


def load(*flows: dict[str, Any]) -> Library:
    return load_definitions(list(flows))


def test_everything_undeclared_is_inherited() -> None:
    """Description, parameters with their rules, prompts and the primary mark."""
    library = load(wrapper("ours", "track"), TRACK)
    ours, track = library.flows
    assert (ours.description, ours.parameters) == (track.description, track.parameters)
    assert ours.parameter_instructions == "digits only"
    assert ours.prompt_for("es") == "Rastrear" and ours.prompt_for("de") == "Track an order"
    assert ours.primary and not track.primary
    assert library.find("track") is track
    assert library.problems == ()


def test_what_a_wrapper_declares_wins() -> None:
    """Key by key; rules for parameters come only with the parameters."""
    ours = load(
        wrapper("ours", "Track", description="Mine", prompt="Mine", parameters=[], primary=False),
        TRACK,
    ).flows[0]
    assert (ours.description, ours.parameters, ours.parameter_instructions) == ("Mine", (), "")
    assert (ours.prompt_for("en"), ours.prompt_for("es")) == ("Mine", "Rastrear")
    assert not ours.primary


def test_wrappers_of_wrappers() -> None:
    """The outermost one is the entry, whatever the order of the files."""
    library = load(TRACK, wrapper("outer", "inner"), wrapper("inner", "track", prompt_es="Mío"))
    assert [flow.id for flow in library.primaries()] == ["outer"]
    outer = library.flows[1]
    assert (outer.description, outer.prompt_for("es")) == ("Find an order", "Mío")


def test_a_wraps_that_leads_nowhere_is_ignored_with_a_warning() -> None:
    """The flow itself stays as it is."""
    library = load(wrapper("ours", "trak", primary=True), TRACK)
    (problem,) = library.problems
    assert problem.severity == "warning"
    assert problem.message == 'wraps "trak", but no other flow has this id or name'
    assert problem.hint == 'did you mean "track"?'
    assert problem.place.pointer == "/0/wraps"
    assert [flow.id for flow in library.primaries()] == ["ours", "track"]


def test_circles_of_wrappers_are_ignored_with_a_warning() -> None:
    """Loading ends, and every flow stays usable."""
    library = load(wrapper("a", "b"), wrapper("b", "a", description="B"))
    assert [problem.message for problem in library.problems] == ["wraps itself: a → b → a"]
    assert [flow.description for flow in library.flows] == ["", "B"]
    (problem,) = load(wrapper("a", "a")).problems
    assert problem.message == 'wraps "a", but no other flow has this id or name'
