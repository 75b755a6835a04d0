"""Whether a rule applies, and the record of why it did or did not.

One way for the rules about results and for the instructions of the agent: a condition that raises
skips its rule, and fires one of safety.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias

import msgspec

from saywhy.agent.instructions.seen import Look

_LOG: Final = logging.getLogger("saywhy")

RuleOutcome: TypeAlias = Literal["fired", "false", "raised", "dropped"]


class Verdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of the record about a rule.

    `raised`: its condition raised `error`, and `fired` says what came of that. `dropped` follows
    the line of a rule that fired: `part` of it (`text`, `follow_up`) did not reach the model.
    """

    id: str
    outcome: RuleOutcome
    fired: bool = False
    safety: bool = False
    part: str = ""
    error_name: str = ""
    error: str = ""
    """In words: what was raised, or why a part was dropped."""
    looks: tuple[Look, ...] = ()
    """What the condition read, and what stood there."""

    def to_value(self) -> dict[str, Any]:
        """The line as JSON, for the facts of a commit."""
        fields: dict[str, Any] = {"id": self.id, "outcome": self.outcome, "fired": self.fired}
        for name in ("safety", "part", "error_name", "error"):
            if getattr(self, name):
                fields[name] = getattr(self, name)
        if self.looks:
            fields["read"] = [look.to_value() for look in self.looks]
        return fields


def judge(
    id: str,
    condition: Callable[[Any], Any] | None,
    subject: Any,
    looks: Callable[[], tuple[Look, ...]],
    *,
    safety: bool,
) -> Verdict:
    """Whether the rule `id` fires. `subject` is what its condition is handed, None where absent."""
    if condition is None:
        return unconditional(id, safety)
    try:
        holds = _truth(condition(subject))
    except Exception as error:
        what = "it fires all the same, being a rule of safety" if safety else "it is skipped"
        name = type(error).__name__
        _LOG.warning('the condition of instruction "%s" raised %s: %s; %s', id, name, error, what)
        return Verdict(id, "raised", safety, safety, "", name, str(error), looks())
    return Verdict(id, "fired" if holds else "false", holds, safety, looks=looks())


def unconditional(id: str, safety: bool) -> Verdict:
    """The line of a rule without a condition."""
    return Verdict(id, "fired", True, safety)


def _truth(given: Any) -> bool:
    if inspect.iscoroutine(given):
        given.close()  # else Python complains later, and of another place
        raise TypeError("a condition is a plain function, not an async one")
    return bool(given)


def dropped(id: str, part: str, why: Exception | str, *, safety: bool = False) -> Verdict:
    """The line that part of a rule which fired does not reach the model."""
    if isinstance(why, str):
        return Verdict(id, "dropped", False, safety, part, "", why)
    name = type(why).__name__
    _LOG.warning('the %s of instruction "%s" is dropped: %s: %s', part, id, name, why)
    return Verdict(id, "dropped", False, safety, part, name, str(why))
