"""Promise: the arguments of a next call come from the result, whole or not at all."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.agent.instructions.context import InstructionContext
from saywhy.agent.instructions.follow_up import (
    FollowUpBinding,
    RuntimeFollowUp,
    follow,
    quick_bind,
    resolved_runtime,
)
from saywhy.errors import CallerError, StateValueError


def ctx(content: Any) -> InstructionContext:
    return InstructionContext(content, "t")


def test_quick_bind_takes_fields_of_the_same_name() -> None:
    """Nested values come along as plain ones; a missing field is left out."""
    made = quick_bind("get_log", ["log", "step", "gone"]).resolve(
        ctx({"log": {"id": 1}, "step": 3})
    )
    assert made.params == {"log": {"id": 1}, "step": 3}
    assert (made.description, made.condition) == (
        "Follow up with get_log",
        "User asks for more details",
    )
    assert made.strict is False


@pytest.mark.parametrize("content", [None, "text", 7, [1]])
def test_quick_bind_of_what_has_no_fields(content: Any) -> None:
    """Nothing is taken, and nothing raises."""
    assert quick_bind("g", "a").resolve(ctx(content)).params == {}


def test_words_and_strictness_can_be_given() -> None:
    """Both shorthands take them, with a matcher."""

    def is_why(message: str) -> bool:
        return message == "why"

    one = quick_bind("g", "a", "Get A", "asks why", strict=True, matcher=is_why).resolve(ctx({}))
    other = follow("g", lambda c: {}, "Get A", "asks why", strict=True, matcher=is_why)
    assert one == other.resolve(ctx({}))
    assert one.to_value() == {
        "tool_id": "g",
        "params": {},
        "description": "Get A",
        "condition": "asks why",
        "strict": True,
    }
    assert one.matcher is is_why


def test_params_that_are_no_arguments() -> None:
    """What is no mapping of JSON values is refused, naming the place."""
    with pytest.raises(TypeError, match="params gave list, not a mapping of arguments"):
        FollowUpBinding("g", lambda c: [1], "d").resolve(ctx({}))  # type: ignore[arg-type,return-value]
    with pytest.raises(StateValueError, match=r"params\.x is a object, which"):
        FollowUpBinding("g", lambda c: {"x": object()}, "d").resolve(ctx({}))


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("x", "a follow-up is a mapping, not str"),
        ({"params": {}}, "a follow-up without a tool_id"),
        ({"tool_id": "", "params": {}}, "a follow-up without a tool_id"),
        ({"tool_id": "x"}, "a follow-up to x without params"),
        ({"tool_id": "x", "params": [1]}, "a follow-up to x without params"),
    ],
)
def test_what_a_handler_may_not_offer(given: Any, problem: str) -> None:
    """A follow-up without a target or arguments is refused with the reason."""
    with pytest.raises(CallerError, match=problem):
        resolved_runtime(given)


def test_what_a_handler_may_offer() -> None:
    """A value or a mapping, which mean the same; words that are missing are supplied."""
    one = RuntimeFollowUp("x", {"id": 1}, "Do x", "asked", True)
    tree = {"tool_id": "x", "params": {"id": 1}, "description": "Do x", "condition": "asked"}
    assert resolved_runtime(one) == resolved_runtime(tree | {"strict": True})
    assert resolved_runtime(tree | {"strict": "yes"}).strict is False
    bare = resolved_runtime({"tool_id": "x", "params": {}})
    assert (bare.description, bare.condition) == ("Follow up with x", "User asks for more details")
