"""Where a masked value got into a turn that is run again, and which step then needed it.

A record has a mark in place of what is sensitive. A turn run again goes on with the mark; as long
as nobody reads it nothing is lost, and from the first step that does, what follows proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from saywhy.chart.commit import Commit, FunctionCall
from saywhy.chart.outcome import Answer
from saywhy.trace.index import touches
from saywhy.trace.masking.redact import CUT, MARK
from saywhy.trace.rebuild import doubt_in
from saywhy.values import FrozenDict, FrozenList, Key

NOT_HANDED_OVER: Final = "not here: a store keeps flows, agents are handed over"
"""Why a chart that the store does not know is missing."""


class Gap(msgspec.Struct, frozen=True):
    """Something that a turn would have needed to be run again, and that the record does not have.

    `commit` is the step that needed it, 0 where the turn could not even begin.
    """

    turn: int
    commit: int
    what: str
    """`message:3`, `tool_result:12`, `host:card`: where the value came from."""
    why: str
    """`masked`, `cut`, or what else is wrong."""

    def to_json(self) -> dict[str, Any]:
        """As an object."""
        return {"turn": self.turn, "commit": self.commit, "what": self.what, "why": self.why}


class MaskedReads:
    """Follows marks through the steps of a conversation that is run again."""

    def __init__(self) -> None:
        self.gaps: list[Gap] = []
        self._paths: dict[Key, tuple[str, str]] = {}
        self.came: tuple[str, str] | None = None
        """Where the newest mark came from, and what it stands for; None while there is none."""

    def take(self, commit: Commit, answer: Answer) -> None:
        """An answer is handed in, from this commit of the record."""
        why = _why(answer.value) or _why(answer.facts) or _why(answer.error)
        work = answer.work
        for op in work.ops if work is not None else ():
            why = why or _why(op.value)
        if why:
            kind = commit.answered.kind if commit.answered else ""
            source = "model" if kind == "model" else "tool_result"
            self.enter(f"{source}:{commit.seq}", why)

    def take_call(self, call: FunctionCall) -> None:
        """A function's answer is handed in."""
        why = _why(call.value) or _why(call.after) or _why(call.error)
        if why:
            self.enter(f"function:{call.name}", why)

    def enter(self, what: str, why: str) -> None:
        """A mark gets in."""
        self.came = (what, why)

    def see(self, commit: Commit) -> None:
        """A step was made: what it read, and what it wrote, as they were before masking."""
        if self.came is None:
            return
        for key in commit.reads:
            for path, (what, why) in self._paths.items():
                if touches(key, path):
                    self._note(Gap(commit.turn, commit.seq, what, why))
        if commit.asked is not None and doubt_in(commit.asked.args):
            self._note(Gap(commit.turn, commit.seq, *self.came))
        for op in commit.ops:
            self._forget(op.key)
            for path, mark in marks_in(op.value):
                self._paths[(*op.key, *path)] = (self.came[0], mark)

    def _note(self, gap: Gap) -> None:
        if all(one.what != gap.what or one.turn != gap.turn for one in self.gaps):
            self.gaps.append(gap)

    def _forget(self, key: Key) -> None:
        """What is written anew is no mark any more."""
        for path in [one for one in self._paths if one[: len(key)] == key]:
            del self._paths[path]


def _why(value: Any) -> str:
    doubt = doubt_in(value)
    return {"redacted": "masked", "cut": "cut"}.get(doubt, "")


def marks_in(value: Any, path: Key = ()) -> Iterator[tuple[Key, str]]:
    """Where in a value marks stand, and what they stand for."""
    if isinstance(value, FrozenDict | FrozenList):
        value = value.raw
    if isinstance(value, str):
        if MARK in value:
            yield path, "masked"
        elif CUT in value:
            yield path, "cut"
    elif isinstance(value, dict):
        for name, inner in value.items():
            if MARK in str(name) or CUT in str(name):
                yield path, "masked" if MARK in str(name) else "cut"
            yield from marks_in(inner, (*path, str(name)))
    elif isinstance(value, list | tuple):
        for place, inner in enumerate(value):
            yield from marks_in(inner, (*path, place))


__all__ = ["Gap", "MaskedReads", "marks_in"]
