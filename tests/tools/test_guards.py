"""Promise: who may not call, and what is hopeless, is refused before anything is counted."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saywhy.testing.clock import FakeClock
from saywhy.tools.answer import ToolAnswer
from saywhy.tools.call import CallContext, call_tool
from saywhy.tools.guards import Guards
from saywhy.tools.limit import MemoryLimiter
from saywhy.tools.registry import Registry
from saywhy.tools.tool import tool_from_definition

CLOCK = FakeClock()


def pay(arguments: dict[str, Any]) -> str:
    return "paid"


def call(definition: dict[str, Any], *, limiter: MemoryLimiter, **options: Any) -> ToolAnswer:
    implementation = {"type": "local", "function": "pay"}
    tool = tool_from_definition({"id": "pay", "implementation": implementation, **definition})
    context = CallContext(user_id="ann", authenticated=options.pop("authenticated", False))
    return asyncio.run(
        call_tool(
            Registry([tool]),
            "pay",
            options.pop("arguments", {}),
            context,
            functions={"pay": pay},
            limiter=limiter,
            clock=CLOCK,
            **options,
        )
    )


LIMITED = {"requiresAuth": True, "rateLimit": {"requests": 1, "window": 1000}}


def test_a_tool_for_users_who_have_signed_in() -> None:
    """Others are refused with what to do about it, are not counted, and nothing is called."""
    limiter = MemoryLimiter(CLOCK)
    heard: list[str] = []

    async def around(make: Any) -> ToolAnswer:
        heard.append("asked")
        return await make()

    answers = [call({"security": LIMITED}, limiter=limiter, around=around) for _ in range(3)]
    answer = answers[-1]
    assert answer.refused
    assert answer.fault_name == "NotAuthenticated"
    assert answer.fault_message == (
        "pay is for users who have signed in; this session is not authenticated"
    )
    assert answer.fault_hint == (
        "once the program knows who the user is: take_turn(…, authenticated=True), or "
        "session.authenticated = True"
    )
    assert heard == []
    assert len(limiter) == 0
    assert call({"security": LIMITED}, limiter=limiter, authenticated=True).value == "paid"


def test_a_call_taken_up_after_a_crash_was_allowed_before() -> None:
    """What was asked while the user was signed in is seen to its end."""
    answer = call({"security": LIMITED}, limiter=MemoryLimiter(CLOCK), resumed=True)
    assert answer.value == "paid"


@pytest.mark.parametrize("word", ["yes", 1])
def test_a_word_that_is_no_word_refuses_at_definition(word: Any) -> None:
    """`requiresAuth` is true or false: nobody has to guess what else might mean."""
    with pytest.raises(Exception, match="`requiresAuth` of tool pay must be true or false"):
        call({"security": {"requiresAuth": word}}, limiter=MemoryLimiter(CLOCK))


def test_the_schema_counts_before_the_cache() -> None:
    """Arguments that do not fit are refused, whatever is known of an answer."""
    guards, limiter = Guards(), MemoryLimiter(CLOCK)
    definition = {
        "effect": "reads",
        "cache": {"ttl": "1m"},
        "parameters": {"type": "object", "properties": {"a": {"type": "number"}}},
    }
    call(definition, limiter=limiter, guards=guards, arguments={"a": 1})
    good = call(definition, limiter=limiter, guards=guards, arguments={"a": 1})
    bad = call(definition, limiter=limiter, guards=guards, arguments={"a": "1"})
    assert good.cached
    assert bad.fault_message == ("Tool argument validation failed: a must be a number, not text")
