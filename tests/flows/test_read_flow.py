"""Promise: a flow keeps everything as written, and steps inside steps are found in order."""

from __future__ import annotations

from typing import Any

from saywhy.errors import Place
from saywhy.flows.load import load_definitions
from saywhy.flows.model import Flow, Parameter, Variable
from saywhy.flows.read_flow import kind_of, text_of
from saywhy.values import UNDEFINED


def flow_of(**keys: Any) -> Flow:
    return load_definitions([{"id": "f", "name": "F", "steps": [], **keys}]).flows[0]


def say(name: str, **keys: Any) -> dict[str, Any]:
    return {"id": name, "type": "SAY", "value": name, **keys}


def test_defaults() -> None:
    """What the author leaves out has the documented default."""
    flow = flow_of()
    assert (flow.version, flow.primary, flow.interruptable, flow.scope) == (
        "1.0",
        False,
        False,
        "shared",
    )
    assert not flow.isolated
    assert (flow.parameters, dict(flow.variables), flow.wraps) == ((), {}, "")
    assert flow.place == Place(pointer="/0")


def test_declarations() -> None:
    """Parameters and variables become values; one without a default differs from null."""
    flow = flow_of(
        scope="isolated",
        parameters=[{"name": "kind", "enum": ["A", "B"], "internal": True}, {"name": ""}, 7],
        variables={"a": {"type": "number"}, "b": {"value": None}, "c": 5},
    )
    assert flow.isolated
    assert flow.parameters == (Parameter("kind", enum=("A", "B"), internal=True),)
    assert flow.variables["a"] == Variable("a", "number", value=UNDEFINED)
    assert flow.variables["b"].value is None
    assert flow.variables["c"].value is UNDEFINED


def test_the_prompt_speaks_the_users_language() -> None:
    """Suffix first, then the plain prompt, then the name; empty labels do not count."""
    flow = flow_of(prompt="Pay", prompt_es="Pagar", prompt_fr="")
    assert flow.prompt_for("es") == "Pagar"
    assert flow.prompt_for("fr") == flow.prompt_for("de") == flow.prompt_for(None) == "Pay"
    assert flow_of().prompt_for("es") == "F"


def test_steps_inside_steps() -> None:
    """Branches, `onFail` (one or a list) and fallbacks are steps with pointers of their own."""
    step = {
        "id": "c",
        "type": "CASE",
        "branches": {"condition: a/b": say("one"), "default": say("two", onFail=say("three"))},
        "onFail": [say("four"), say("five")],
        "retryOnConditions": [{"action": "retry"}, {"fallbackStep": say("six")}],
    }
    (case,) = flow_of(steps=[step]).steps
    assert [name for name, _ in case.branches] == ["condition: a/b", "default"]
    assert case.branches[0][1].pointer == "/steps/0/branches/condition: a~1b"
    assert case.branches[1][1].on_fail[0].pointer == "/steps/0/branches/default/onFail"
    assert [inner.pointer for inner in case.on_fail] == ["/steps/0/onFail/0", "/steps/0/onFail/1"]
    assert case.fallbacks[1].pointer == "/steps/0/retryOnConditions/1/fallbackStep"
    assert [inner.id for inner in case.walk()] == [
        "c",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
    ]
    assert next(flow_of(steps=[step]).walk()).id == "c"


def test_the_order_of_branches_can_be_written_down() -> None:
    """`_branchOrder` decides where a store forgot the order; the rest follows as written."""
    branches = {"default": say("d"), "x": say("x"), "y": say("y")}
    step = {"id": "s", "type": "SWITCH", "branches": branches, "_branchOrder": ["y", "gone", "x"]}
    assert [name for name, _ in flow_of(steps=[step]).steps[0].branches] == ["y", "x", "default"]
    step = {"id": "s", "type": "SWITCH", "branches": branches, "_branchOrder": "y"}
    assert [name for name, _ in flow_of(steps=[step]).steps[0].branches] == ["default", "x", "y"]


def test_numbers_serve_as_names() -> None:
    """YAML's `id: 7` is found as "7"."""
    library = load_definitions([{"id": 7, "steps": [{"id": 1, "type": "END"}]}])
    assert library.find("7") is library.flows[0]
    assert library.flows[0].name == "7"
    assert library.flows[0].steps[0].id == "1"


def test_what_is_wrong_stays_as_written() -> None:
    """An unknown type or missing steps do not stop loading; judging is for the check."""
    library = load_definitions([{"id": "a"}, {"id": "b", "steps": [{"type": 5}]}])
    assert library.problems == ()
    assert library.flows[0].steps == ()
    assert library.flows[1].steps[0].type == ""
    assert library.flows[1].steps[0].raw == {"type": 5}


def test_words_for_values() -> None:
    """Messages say what stands there in an author's words."""
    assert [kind_of(value) for value in (None, True, 5, "x", {}, [], 1.5)] == [
        "null",
        "true",
        "the number 5",
        "a text",
        "an object",
        "a list",
        "the number 1.5",
    ]
    assert [text_of(value) for value in ("x", 7, 1.5, True, None, [])] == [
        "x",
        "7",
        "1.5",
        "",
        "",
        "",
    ]
