"""Promise: the declarative pieces of the agent corpus mean what its description says."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.agent.instructions.context import InstructionContext
from tests.conformance.agent_ops import pieces

ROOT = {"a": {"b": 3, "s": "text", "l": [1, "x"], "n": None, "t": True, "e": [], "z": ""}}
CTX = InstructionContext({"k": 1}, "tool", error={"message": "gone"})


@pytest.mark.parametrize(
    ("path", "op", "value", "holds"),
    [
        ("a.b", "eq", 3, True),
        ("a.b", "eq", 3.0, True),
        ("a.b", "eq", "3", False),
        ("a.t", "eq", 1, False),
        ("a.gone", "eq", None, False),
        ("a.gone", "ne", 1, True),
        ("a.b", "gt", 2, True),
        ("a.b", "gte", 3, True),
        ("a.b", "lt", 3, False),
        ("a.b", "lte", 3, True),
        ("a.gone", "gt", 0, False),
        ("a.s", "lt", "u", True),
        ("a.b", "in", [1, 3], True),
        ("a.gone", "in", [None], False),
        ("a.s", "contains", "ex", True),
        ("a.l", "contains", "x", True),
        ("a.b", "contains", 3, False),
        ("a.s", "truthy", None, True),
        ("a.e", "truthy", None, True),
        ("a.z", "truthy", None, False),
        ("a.gone", "truthy", None, False),
        ("a.n", "exists", None, False),
        ("a.b", "exists", None, True),
        ("a.gone", "exists", None, False),
        ("a.s.length", "exists", None, False),
        ("a.b.c", "exists", None, False),
        ("a.l.1", "eq", "x", True),
    ],
)
def test_operators(path: str, op: str, value: Any, holds: bool) -> None:
    """Each over a value, an absent one and one of another type."""
    spec = {"path": path, "op": op, "value": value}
    assert pieces.holds(spec, ROOT) is holds
    assert pieces.holds({"not": spec}, ROOT) is not holds


@pytest.mark.parametrize("path", ["a.gone.x", "a.n.x", "gone.x"])
def test_stepping_into_nothing_raises(path: str) -> None:
    """Absent and null alike; on an absent root everything raises."""
    for root in (ROOT, None):
        with pytest.raises(TypeError, match="cannot read"):
            pieces.holds({"path": path, "op": "exists"}, root)


def test_compounds() -> None:
    """`all` and `any` end early, as a condition does that raises behind them."""
    yes, no, broken = {"const": True}, {"const": False}, {"raise": "boom"}
    assert pieces.holds({"any": [yes, broken]}, ROOT)
    assert not pieces.holds({"all": [no, broken]}, ROOT)
    with pytest.raises(RuntimeError, match="boom"):
        pieces.holds({"all": [yes, broken]}, ROOT)


def test_a_context_as_root() -> None:
    """Its parts are keys; one of an error that is not there raises."""
    assert pieces.walk(CTX, "content.k") == 1
    assert pieces.walk(CTX, "error.message") == "gone"
    assert pieces.walk(CTX, "other") is pieces.ABSENT
    with pytest.raises(TypeError):
        pieces.walk(InstructionContext({}, "t"), "error.code")


def test_arguments_and_decisions() -> None:
    """A path that leads nowhere gives no argument, and takes a field of the decision away."""
    fill = pieces.params({"k": {"path": "content.k"}, "g": {"path": "content.g"}})
    assert fill(CTX) == {"k": 1}
    decision = {"g": 1}
    change = pieces.decide({"set": {"k": {"path": "content.k"}, "g": {"path": "content.g"}}})
    assert change is not None
    change(decision, CTX)
    assert decision == {"k": 1}


def test_behaviour_of_tools() -> None:
    """What a handler gives for each description; a sequence stays at its last step."""
    steps = [{"return": "a"}, {"return_json": {"é": 1}}, {"echo_args": True}, None]
    handle = pieces.behaviour({"sequence": steps})
    assert [handle({"n": 1}) for _ in range(5)] == ["a", '{"é":1}', '{"n":1}', "ok", "ok"]
    with pytest.raises(RuntimeError, match="gone"):
        pieces.behaviour({"raise": "gone"})({})
    said = pieces.behaviour({"result": {"content": "x", "error": True, "instructions": ["i"]}})({})
    assert (said.content, said.error, said.instructions) == ("x", True, ("i",))
