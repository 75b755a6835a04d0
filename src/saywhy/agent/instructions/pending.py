"""A strict follow-up that waits for the user's next message, and how that was judged.

It is taken in any case, hit or miss: an action offered two messages ago is offered no more.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Final

import msgspec

from saywhy.agent.instructions.follow_up import Matcher, ResolvedFollowUp, resolved_runtime
from saywhy.agent.instructions.match import (
    ConditionMatch,
    ConditionMatcher,
    default_condition_matcher,
    match_condition,
    unicode_condition_matcher,
)
from saywhy.agent.instructions.rule import LLMInstruction, ResolvedInstruction
from saywhy.values import FrozenDict

_LOG: Final = logging.getLogger("saywhy")

MOST_ATTEMPTS: Final = 100
"""So many attempts a manager remembers."""


class PendingStrictFollowUp(msgspec.Struct, frozen=True):
    """A call that is made when the user's next message asks for it."""

    follow_up: ResolvedFollowUp
    source_tool_id: str
    matcher: Matcher | None = None
    """Decides instead of the words of the condition."""
    rule_id: str = ""

    @property
    def own_matcher(self) -> Matcher | None:
        """What decides instead of the words; that of the follow-up where no other is given."""
        return self.matcher or self.follow_up.matcher

    def to_value(self) -> FrozenDict:
        """As a value of a conversation, without the matcher, which `pending_from` finds again."""
        fields = {
            "follow_up": self.follow_up.to_value().raw,
            "source_tool_id": self.source_tool_id,
            "rule_id": self.rule_id,
        }
        return FrozenDict(fields)


def pending_of(
    fired: Iterable[ResolvedInstruction], source_tool_id: str
) -> PendingStrictFollowUp | None:
    """The first strict follow-up among rules that fired, a handler's included; None without one."""
    for one in fired:
        offer = one.resolved_follow_up
        if offer is not None and offer.strict:
            return PendingStrictFollowUp(offer, source_tool_id, offer.matcher, one.id)
    return None


def pending_from(
    value: Mapping[str, Any], rules: Iterable[LLMInstruction] = ()
) -> PendingStrictFollowUp:
    """What `to_value` wrote. The matcher is that of the rule it came from, looked for in `rules`.

    A rule is taken for it when both its id and the target of its follow-up are the same.
    """
    follow_up = resolved_runtime(value["follow_up"])
    rule_id = str(value.get("rule_id", ""))
    matcher = None
    for rule in rules:
        binding = rule.follow_up
        if rule.id == rule_id and binding and binding.tool_id == follow_up.tool_id:
            matcher = binding.matcher
            break
    if matcher is not None:
        follow_up = msgspec.structs.replace(follow_up, matcher=matcher)
    return PendingStrictFollowUp(follow_up, str(value["source_tool_id"]), matcher, rule_id)


class MatchAttempt(msgspec.Struct, frozen=True, omit_defaults=True):
    """How one message was judged."""

    tool_id: str
    condition: str
    message: str
    matched: bool
    matcher: str
    """`usual`, `unicode`, or the name of the function."""
    words: tuple[str, ...] = ()
    """The words that decided."""
    wanted: tuple[str, ...] = ()
    error_name: str = ""
    error: str = ""
    """What the matcher raised, which is a miss."""
    rule: str = ""
    """The instruction that offered the action; empty for one that has no id."""

    def to_value(self) -> dict[str, Any]:
        """The attempt as JSON, for the facts of a commit; without the message."""
        fields = msgspec.structs.asdict(self)
        del fields["message"]
        fields |= {"words": list(self.words), "wanted": list(self.wanted)}
        return {name: value for name, value in fields.items() if value not in ("", [])}


def attempt(
    pending: PendingStrictFollowUp,
    message: str,
    matcher: ConditionMatcher = default_condition_matcher,
) -> MatchAttempt:
    """Whether `message` asks for the pending action. `matcher` is for those without their own."""
    condition = pending.follow_up.condition
    try:
        name, found = _judged(pending, message, matcher)
    except Exception as error:
        kind = type(error).__name__
        _LOG.warning(
            'the matcher of the follow-up to "%s" raised %s: %s; the action is not taken',
            pending.follow_up.tool_id,
            kind,
            error,
        )
        name = _name_of(pending.own_matcher or matcher)
        return MatchAttempt(
            pending.follow_up.tool_id,
            condition,
            message,
            False,
            name,
            error_name=kind,
            error=str(error),
            rule=pending.rule_id,
        )
    return MatchAttempt(
        pending.follow_up.tool_id,
        condition,
        message,
        found.matched,
        name,
        found.words,
        found.wanted,
        rule=pending.rule_id,
    )


def _judged(
    pending: PendingStrictFollowUp, message: str, matcher: ConditionMatcher
) -> tuple[str, ConditionMatch]:
    condition = pending.follow_up.condition
    own = pending.own_matcher
    if own is not None:
        return _name_of(own), ConditionMatch(_truth(own(message)))
    if matcher is default_condition_matcher:
        return "usual", match_condition(condition, message)
    if matcher is unicode_condition_matcher:
        return "unicode", match_condition(condition, message, mode="unicode")
    return _name_of(matcher), ConditionMatch(_truth(matcher(condition, message)))


def _truth(given: Any) -> bool:
    if inspect.iscoroutine(given):
        given.close()
        raise TypeError("a matcher is a plain function, not an async one")
    return bool(given)


def _name_of(matcher: Any) -> str:
    function = matcher.func if isinstance(matcher, partial) else matcher
    return getattr(function, "__name__", type(function).__name__)


class PendingFollowUpManager:
    """Holds at most one strict follow-up between two messages of a user.

    `matcher` decides for follow-ups that have none of their own.
    """

    def __init__(self, matcher: ConditionMatcher = default_condition_matcher) -> None:
        self._matcher = matcher
        self._pending: PendingStrictFollowUp | None = None
        self._attempts: list[MatchAttempt] = []

    def set_pending(self, pending: PendingStrictFollowUp) -> None:
        """Hold this one, instead of what was held before."""
        self._pending = pending

    def has_pending(self) -> bool:
        """Whether one waits."""
        return self._pending is not None

    def get_pending(self) -> PendingStrictFollowUp | None:
        """The one that waits; it goes on waiting."""
        return self._pending

    def check_and_consume(self, message: str) -> PendingStrictFollowUp | None:
        """The one that waits, if `message` asks for it. It waits no longer in either case."""
        pending, self._pending = self._pending, None
        if pending is None:
            return None
        made = attempt(pending, message, self._matcher)
        self._attempts = [*self._attempts[1 - MOST_ATTEMPTS :], made]
        return pending if made.matched else None

    def clear(self) -> None:
        """Hold none."""
        self._pending = None

    @property
    def attempts(self) -> tuple[MatchAttempt, ...]:
        """How the last messages were judged, oldest first."""
        return tuple(self._attempts)
