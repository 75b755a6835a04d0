"""The decision: what tools' results have settled so far, by which instructions become active.

Rules change it through `decide`. Each works on a copy: one that raises changes nothing.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from saywhy.agent.instructions.context import InstructionContext
from saywhy.agent.instructions.rule import LLMInstruction, ResolvedInstruction
from saywhy.agent.instructions.seen import Look
from saywhy.values import UNDEFINED, FrozenDict, freeze, same, thaw

_LOG: Final = logging.getLogger("saywhy")


class DecisionDraft(dict[str, Any]):
    """A decision while a rule changes it: a dict whose fields are attributes as well."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f'the decision has no "{name}"') from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __delattr__(self, name: str) -> None:
        if name not in self:
            raise AttributeError(f'the decision has no "{name}"')
        del self[name]


class DecideNote(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the `decide` of one rule did."""

    id: str
    changes: dict[str, Any] = {}
    """Field → new value; `UNDEFINED` where it was taken away."""
    error_name: str = ""
    error: str = ""
    """Why it changed nothing."""
    looks: tuple[Look, ...] = ()
    """What it read of the result."""

    def to_value(self) -> dict[str, Any]:
        """The note as JSON, for the facts of a commit."""
        fields: dict[str, Any] = {"id": self.id, "changes": self.changes}
        if self.error_name:
            fields |= {"error_name": self.error_name, "error": self.error}
        if self.looks:
            fields["read"] = [look.to_value() for look in self.looks]
        return fields


class Decided(msgspec.Struct, frozen=True):
    """The decision after a result, and who changed what."""

    decision: FrozenDict
    notes: tuple[DecideNote, ...] = ()


def apply_decisions(
    fired: Iterable[ResolvedInstruction],
    decision: Mapping[str, Any] | None,
    ctx: InstructionContext,
) -> Decided:
    """The decision after the `decide` of each of these rules, in this order.

    Each sees what those before it have set. A function is run because its rule fired, never because
    a rule elsewhere has the same id.
    """
    current: FrozenDict = freeze(decision or {}, ("decision",))
    notes: list[DecideNote] = []
    for one in fired:
        if one.rule is not None and one.rule.decide is not None:
            current, note = _decided(one.rule, current, ctx.watched())
            notes.append(note)
    return Decided(current, tuple(notes))


def _decided(
    rule: LLMInstruction, before: FrozenDict, ctx: InstructionContext
) -> tuple[FrozenDict, DecideNote]:
    draft = DecisionDraft(thaw(before))
    try:
        assert rule.decide is not None
        given = rule.decide(draft, ctx)
        if inspect.iscoroutine(given):
            given.close()
            raise TypeError("`decide` is a plain function, not an async one")
        after: FrozenDict = freeze(dict(draft), ("decision",))
    except Exception as error:
        name = type(error).__name__
        _LOG.warning(
            'the decide of instruction "%s" raised %s: %s; it changes nothing', rule.id, name, error
        )
        return before, DecideNote(rule.id, {}, name, str(error), ctx.looks())
    return after, DecideNote(rule.id, _changes(before, after), looks=ctx.looks())


def _changes(before: FrozenDict, after: FrozenDict) -> dict[str, Any]:
    changed = {
        name: after.raw[name]
        for name in after
        if name not in before or not same(before.raw[name], after.raw[name])
    }
    return changed | {name: UNDEFINED for name in before if name not in after}
