"""Calls of tools whose data no record may show: arguments and answers keep their shape only.

What is told about the call itself stays: its name, when it was made, how it ended. Whether a value
is hidden elsewhere, in what a later step makes of it, is not decided here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, Final

import msgspec

from saywhy.chart.commit import Answered, Asked, Commit, Op
from saywhy.trace.masking.rewrite import Rewriter
from saywhy.values import FrozenDict

_ABOUT_CALLS: Final = frozenset({"tool", "reconcile", "settle", "approval"})
_GIVEN: Final = ("arguments", "arguments_after", "to_approve", "args", "value")
"""Where arguments and answers stand among the facts."""
_DIGITS: Final = re.compile(r"\d{4,}", re.ASCII)


def hide_call(commit: Commit, tools: Collection[str], mark: str, tag: str) -> Commit:
    """The commit without what such a tool was given or gave; the same object for other commits."""
    asked, answered = commit.asked, commit.answered
    changes: dict[str, Any] = {}
    if asked is not None and asked.kind in _ABOUT_CALLS and asked.name in tools:
        changes["asked"] = _asked(asked, _Blank(mark))
    if answered is not None and answered.kind in _ABOUT_CALLS and answered.name in tools:
        blank = _Blank(mark)
        changes["answered"] = _answered(answered, blank)
        changes["ops"] = tuple(_op(op, blank) for op in commit.ops)
        changes["error"] = _unnumbered(commit.error, mark)
        changes["facts"] = _told(commit.facts, blank)
        changes["warnings"] = tuple(_unnumbered(text, mark) for text in commit.warnings)
    if not changes:
        return commit
    tags = commit.tags if tag in commit.tags else (*commit.tags, tag)
    return msgspec.structs.replace(commit, tags=tags, **changes)


class _Blank(Rewriter):
    """Every leaf becomes the mark; names and the shape stay, and so does what is nothing."""

    __slots__ = ("mark",)

    def __init__(self, mark: str) -> None:
        self.mark = mark

    def text(self, text: str) -> str:
        return self.mark if text else text

    def leaf(self, value: Any) -> Any:
        return value if value is None else self.mark


def _asked(asked: Asked, blank: _Blank) -> Asked:
    args = asked.args
    args = blank.value(args) if asked.kind in ("tool", "reconcile") else _given(args, blank)
    return msgspec.structs.replace(asked, args=args)


def _answered(answered: Answered, blank: _Blank) -> Answered:
    return msgspec.structs.replace(
        answered,
        value=blank.value(answered.value),
        error=_unnumbered(answered.error, blank.mark),
        facts=_told(answered.facts, blank),
    )


def _op(op: Op, blank: _Blank) -> Op:
    """What the answer was stored as. What is appended is the engine's own list of calls."""
    return Op(op.verb, op.key, blank.value(op.value)) if op.verb == "set" else op


def _told(facts: Mapping[str, Any], blank: _Blank) -> dict[str, Any]:
    """The facts, with what was given or answered blank and numbers taken from the sentences."""
    told = {}
    for name, fact in facts.items():
        if name in _GIVEN:
            told[name] = blank.value(fact)
        elif name in ("audit", "failure", "decided") and isinstance(fact, Mapping):
            told[name] = _told(fact, blank)
        elif name in ("error", "message", "note", "hint") and isinstance(fact, str):
            told[name] = _unnumbered(fact, blank.mark)
        else:
            told[name] = fact
    return told


def _given(args: Any, blank: _Blank) -> Any:
    return FrozenDict(_told(args.raw, blank)) if isinstance(args, FrozenDict) else args


def _unnumbered(text: str, mark: str) -> str:
    """A sentence of the tool's, or of whoever talked to it, without the numbers in it."""
    return _DIGITS.sub(mark, text)
