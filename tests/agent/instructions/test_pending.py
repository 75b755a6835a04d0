"""Promise: a strict follow-up waits for one message, and how that was judged is known."""

from __future__ import annotations

import logging
from functools import partial
from typing import Any

import pytest

from saywhy.agent.instructions.context import InstructionContext
from saywhy.agent.instructions.evaluate import evaluate_instructions
from saywhy.agent.instructions.follow_up import follow, quick_bind, resolved_runtime
from saywhy.agent.instructions.match import unicode_condition_matcher
from saywhy.agent.instructions.merge import merge_runtime_instructions
from saywhy.agent.instructions.pending import (
    MOST_ATTEMPTS,
    PendingFollowUpManager,
    PendingStrictFollowUp,
    attempt,
    pending_from,
    pending_of,
)
from saywhy.agent.instructions.rule import LLMInstruction
from saywhy.tools.tool_result import ToolResult
from saywhy.values import dumps, loads

CTX = InstructionContext({"trace": "tr_9"}, "loan")


def is_why(message: str) -> bool:
    return message == "why"


def offer(condition: str = "User asks why", matcher: Any = None) -> PendingStrictFollowUp:
    tree = {"tool_id": "explain", "params": {"trace": "tr_9"}, "condition": condition}
    return PendingStrictFollowUp(resolved_runtime(tree | {"strict": True}), "loan", matcher)


@pytest.mark.parametrize(("message", "hits"), [("why?", True), ("thanks", False)])
def test_it_waits_for_one_message(message: str, hits: bool) -> None:
    """Hit or miss, afterwards nothing waits."""
    manager = PendingFollowUpManager()
    manager.set_pending(offer())
    assert manager.get_pending() is manager.get_pending() is not None
    assert (manager.check_and_consume(message) is not None) is hits
    assert not manager.has_pending()
    assert manager.check_and_consume("why?") is None
    assert [one.message for one in manager.attempts] == [message]


def test_the_words_that_decided() -> None:
    """Each attempt has what was looked for and what was found."""
    manager = PendingFollowUpManager()
    for message in ("Why not?", "the weather"):
        manager.set_pending(offer("User asks why it was denied"))
        manager.check_and_consume(message)
    assert [one.to_value() for one in manager.attempts] == [
        {
            "tool_id": "explain",
            "condition": "User asks why it was denied",
            "matched": True,
            "matcher": "usual",
            "words": ["why"],
            "wanted": ["why", "denied"],
        },
        {
            "tool_id": "explain",
            "condition": "User asks why it was denied",
            "matched": False,
            "matcher": "usual",
            "wanted": ["why", "denied"],
        },
    ]


def test_whose_matcher_decides() -> None:
    """The binding's own, else the manager's, else the usual one."""
    own = attempt(offer("nothing alike", is_why), "why", unicode_condition_matcher)
    assert (own.matched, own.matcher, own.words) == (True, "is_why", ())
    other = attempt(offer("почему"), "Почему?", unicode_condition_matcher)
    assert (other.matched, other.matcher, other.words) == (True, "unicode", ("почему",))
    german = partial(unicode_condition_matcher, stop_words=("fragt",))
    assert attempt(offer("fragt"), "er fragt", german).matched is False
    assert attempt(offer("fragt"), "er fragt", german).matcher == "unicode_condition_matcher"
    manager = PendingFollowUpManager(lambda condition, message: message == condition)
    manager.set_pending(offer("same"))
    assert manager.check_and_consume("same") is not None


def test_a_matcher_that_raises(caplog: pytest.LogCaptureFixture) -> None:
    """That is a miss, warned of and recorded."""

    def broken(message: str) -> bool:
        raise ValueError("no idea")

    with caplog.at_level(logging.WARNING, "saywhy"):
        made = attempt(offer(matcher=broken), "why")
    assert (made.matched, made.error_name, made.error) == (False, "ValueError", "no idea")
    assert made.matcher == "broken"
    assert caplog.messages == [
        'the matcher of the follow-up to "explain" raised ValueError: no idea; '
        "the action is not taken"
    ]


def test_an_async_matcher_is_none() -> None:
    """Its promise would be a hit whatever it says."""

    async def later(message: str) -> bool:
        return True

    assert attempt(offer(matcher=later), "why").error == (
        "a matcher is a plain function, not an async one"
    )


def test_the_first_strict_one_is_taken() -> None:
    """Of the rules in the order of injection; a handler's counts as well."""
    rules = [
        LLMInstruction("soft", follow_up=quick_bind("soft", "trace")),
        LLMInstruction("one", follow_up=quick_bind("one", "trace", strict=True), priority=1),
        LLMInstruction("two", follow_up=quick_bind("two", "trace", strict=True), priority=2),
    ]
    found = pending_of(evaluate_instructions(rules, CTX), "loan")
    assert found is not None
    assert (found.follow_up.tool_id, found.rule_id, found.source_tool_id) == ("one", "one", "loan")
    said = ToolResult("", follow_ups=({"tool_id": "three", "params": {}, "strict": True},))
    runtime = pending_of(merge_runtime_instructions([], said), "loan")
    assert runtime is not None
    assert runtime.follow_up.tool_id == "three"
    assert pending_of(evaluate_instructions(rules[:1], CTX), "loan") is None


def test_through_json() -> None:
    """The matcher is found again by the rule, whose id and target must both be the same."""
    rule = LLMInstruction(
        "why",
        follow_up=follow("explain", lambda c: {"n": 1}, "Explain", strict=True, matcher=is_why),
    )
    twin = LLMInstruction("why", follow_up=quick_bind("other", "trace"))
    pending = pending_of(evaluate_instructions([rule], CTX), "loan")
    assert pending is not None
    stored = loads(dumps(pending.to_value()))
    assert pending_from(stored, [LLMInstruction("why"), twin, rule]) == pending
    assert pending_from(stored, [twin]).matcher is None
    assert PendingStrictFollowUp(pending.follow_up, "loan").own_matcher is is_why


def test_attempts_are_bounded() -> None:
    """A conversation of many messages does not grow the record without end."""
    manager = PendingFollowUpManager()
    for number in range(MOST_ATTEMPTS + 20):
        manager.set_pending(offer())
        manager.check_and_consume(str(number))
    assert len(manager.attempts) == MOST_ATTEMPTS
    assert manager.attempts[-1].message == str(MOST_ATTEMPTS + 19)
