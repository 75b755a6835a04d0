"""Promise: a name counts as known at a step if some run can have set it by then, and only then."""

from __future__ import annotations

from typing import Any

from saywhy.flows.checks.reach import CALLER, Reaches
from saywhy.flows.load import load_definitions


def put(name: str, **keys: Any) -> dict[str, Any]:
    return {"id": name, "type": "SET", "variable": name, "value": 1, **keys}


def go(target: str, **keys: Any) -> dict[str, Any]:
    return {"id": "go", "type": "FLOW", "value": target, **keys}


def flow(name: str, *steps: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return {"id": name, "name": name, "steps": list(steps), **keys}


def before(flows: list[dict[str, Any]], name: str, index: int) -> tuple[set[str], str]:
    library = load_definitions(flows)
    found = library.find(name)
    assert found is not None
    reaches, pointer = Reaches(library), f"/steps/{index}"
    names = set(reaches.names_before(found, pointer))
    assert all(reaches.knows(found, pointer, name) for name in names)
    assert not reaches.knows(found, pointer, "nobody sets this")
    return names, reaches.open_before(found, pointer)


def test_steps_add_up() -> None:
    """What a step sets is known to the next one, not to itself."""
    flows = [flow("a", put("x"), put("y"), variables={"v": {}}, parameters=[{"name": "p"}])]
    assert before(flows, "a", 0) == ({"v", "p"}, "")
    assert before(flows, "a", 1) == ({"v", "p", "x"}, "")


def test_shared_flows_give_and_take() -> None:
    """A called flow sees its caller's variables and parameters, the caller sees what it sets."""
    flows = [
        flow("a", put("x"), go("b", parameters={"p": 1, "{{x}}": 2}), put("end"), primary=True),
        flow("b", put("y")),
    ]
    names, source = before(flows, "b", 0)
    assert names == {"x", "p"}
    assert "made up while running" in source
    assert before(flows, "a", 2)[0] == {"x", "y", "p"}


def test_isolated_flows_take_parameters_only() -> None:
    """And give nothing back."""
    flows = [
        flow("a", put("x"), go("b", parameters={"p": 1}), put("end"), primary=True),
        flow("b", put("y"), variables={"own": {}}, scope="isolated"),
    ]
    assert before(flows, "b", 0) == ({"p", "own"}, "")
    assert before(flows, "a", 2) == ({"x"}, "")


def test_all_callers_count() -> None:
    """One way on which the name is set is enough."""
    flows = [
        flow("a", put("x"), go("c"), primary=True),
        flow("b", put("y"), go("c", callType="replace"), primary=True),
        flow("d", put("z"), go("c", callType="reboot"), primary=True),
        flow("c", put("end")),
    ]
    assert before(flows, "c", 0) == ({"x", "y"}, "")


def test_a_dynamic_target_may_be_any_flow() -> None:
    """So every flow may see these variables, and any of them may set some."""
    flows = [
        flow("a", put("x"), go("{{cargo.next}}"), put("end"), primary=True),
        flow("b", put("y"), primary=True),
    ]
    assert before(flows, "b", 0)[0] == {"x"}
    assert before(flows, "a", 2)[0] == {"x", "y", "end"}  # it may have called itself


def test_what_is_not_here_leaves_the_question_open() -> None:
    """A helper nobody here calls, what it calls, and what follows a flow from another file."""
    flows = [
        flow("a", go("elsewhere"), put("x"), primary=True),
        flow("b", go("c")),
        flow("c", put("y")),
        flow("d", go("elsewhere", callType="reboot"), put("x"), primary=True),
    ]
    assert before(flows, "a", 0)[1] == ""
    assert before(flows, "a", 1)[1] == 'flow "elsewhere", which is not here,'
    assert before(flows, "b", 0)[1] == CALLER
    assert before(flows, "c", 0)[1] == CALLER
    assert before(flows, "d", 1)[1] == ""


def test_without_primaries_uncalled_flows_are_begins() -> None:
    """Then a conversation starts with them, and nobody else sets anything."""
    assert before([flow("a", put("x"))], "a", 0) == (set(), "")


def test_dynamic_targets_may_be_isolated() -> None:
    """Then only parameters reach them, and they give nothing back."""
    flows = [
        flow("a", put("x"), go("{{cargo.next}}", parameters={"p": 1}), put("end"), primary=True),
        flow("b", put("y"), scope="isolated", primary=True),
    ]
    assert before(flows, "b", 0) == ({"p"}, "")
    assert before(flows, "a", 2) == ({"x", "p", "end"}, "")


def test_a_dynamic_target_opens_no_question() -> None:
    """That a helper has unknown callers says nothing of all flows it might go to."""
    flows = [
        flow("a", put("x"), primary=True),
        flow("b", put("y"), go("{{cargo.next}}")),
    ]
    assert before(flows, "a", 0) == ({"y"}, "")
    assert before(flows, "b", 0)[1] == CALLER
