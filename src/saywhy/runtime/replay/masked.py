"""Where a masked value got into a turn that is run again, and which step then needed it.

A record has a mark in place of what is sensitive. A turn run again goes on with the mark. A step
that only hands it on, into a text, another variable, the arguments of a call, does what it did
then; what comes of it is as unknown. A step that works on it or decides by it needs the value, and
what follows from that proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

import msgspec

from saywhy.chart.commit import Commit, Condition, FunctionCall, Op
from saywhy.chart.outcome import Answer
from saywhy.trace.index import touches
from saywhy.trace.masking.declared import Spot
from saywhy.trace.masking.places import of_one_value
from saywhy.trace.masking.redact import CUT, MARK
from saywhy.trace.rebuild import doubt_in
from saywhy.values import FrozenDict, FrozenList, Key

NOT_HANDED_OVER: Final = "not here: a store keeps flows, agents are handed over"
"""Why a chart that the store does not know is missing."""

Parts: TypeAlias = Mapping[tuple[str, str], Mapping[str, tuple[Spot, ...]]]
_HANDING_ON: Final = frozenset(["SAY", "SAY-GET", "SET", "CALL-TOOL", "FLOW", "RETURN"])
"""Steps that may put a value somewhere without a look at it."""
_PLAIN: Final = _HANDING_ON | {"CASE", "SWITCH", "END", "end"}
"""Steps that depend on nothing but what they read."""
_AS_ASKED: Final = frozenset(["tool", "flow", "user"])
"""What is asked again as it was asked then, and answered from the record."""
_BOOKKEEPING: Final = frozenset(["session", "turn", "routing", "input"])
_SAID: Final = (("session", "queue"), ("turn", "reply"))


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

    def __init__(self, parts: Parts | None = None, *, as_it_was: bool = False) -> None:
        """`parts` are those of what is declared: what a step that hands several values on makes
        each of them of.

        `as_it_was`: the steps are those on record, so a call with a mark is the call of then.
        """
        self._parts = parts or {}
        self._as_it_was = as_it_was
        self.gaps: list[Gap] = []
        self.handed_on = 0
        """Steps that handed on something masked as it stands."""
        self._needed: set[int] = set()
        """Commits that read a mark, be it to hand it on."""
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

    def go_on_from(self, other: MaskedReads) -> None:
        """Know the marks that another run of the same conversation has come to."""
        self._paths, self.came = dict(other._paths), other.came

    def see(self, commit: Commit) -> None:
        """A step was made: what it read, and what it wrote, as they were before masking."""
        if self.came is None:
            return
        read = [path for path in self._paths if any(touches(key, path) for key in commit.reads)]
        found = [self._paths[path] for path in read]
        asks = (
            commit.asked is not None
            and doubt_in(commit.asked.args)
            and not self._is_as_asked(commit)
        )
        if asks:
            found.append(self.came)
        if found or _takes(commit):
            self._needed.add(commit.seq)
        if read and not asks and self._hands_on(commit, read):
            self.handed_on += 1
        else:
            for what, why in found:
                self._note(Gap(commit.turn, commit.seq, what, why))
        self._follow(commit, read, found[0] if read else self.came)

    def is_sure(self, commits: Iterable[Commit]) -> bool:
        """Whether steps do what they do for another reason than something masked."""
        if self.came is None:
            return True
        return all(one.kind in _PLAIN and one.seq not in self._needed for one in commits)

    def _follow(self, commit: Commit, read: list[Key], source: tuple[str, str]) -> None:
        """Where marks stand now; what was made of one is as unknown, whatever it looks like."""
        for op in commit.ops:
            self._forget(op.key)
            for path, mark in marks_in(op.value):
                self._paths[(*op.key, *path)] = (source[0], mark)
            if read and op.key[0] not in _BOOKKEEPING and not self._is_clean(commit, op, read):
                self._paths[op.key] = source

    def _hands_on(self, commit: Commit, read: list[Key]) -> bool:
        """Whether a step puts what is masked somewhere as it stands, and does nothing else."""
        if commit.kind not in _HANDING_ON or commit.error or commit.warnings:
            return False
        conditions = commit.decision.conditions if commit.decision is not None else ()
        if _look_at(conditions, read) or any(doubt_in(call.args) for call in commit.calls):
            return False
        written = [op for op in commit.ops if op.value is not None and _is_said_or_kept(op)]
        kept = all(doubt_in(op.value) or self._is_clean(commit, op, read) for op in written)
        return kept and bool(written or commit.asked)

    def _is_clean(self, commit: Commit, op: Op, read: list[Key]) -> bool:
        """Whether a parameter is handed on of which nothing that was read is a part."""
        paths = self._parts.get((commit.flow, commit.node), {}).get(str(op.key[-1]))
        if paths is None or commit.kind != "FLOW":
            return False
        return not any(of_one_value(path, key) for path in paths for key in read)

    def _is_as_asked(self, commit: Commit) -> bool:
        return commit.asked is not None and self._as_it_was and commit.asked.kind in _AS_ASKED

    def _note(self, gap: Gap) -> None:
        if all(one.what != gap.what or one.turn != gap.turn for one in self.gaps):
            self.gaps.append(gap)

    def _forget(self, key: Key) -> None:
        """What is written anew is no mark any more."""
        for path in [one for one in self._paths if one[: len(key)] == key]:
            del self._paths[path]


def _takes(commit: Commit) -> bool:
    """Whether a step was given something masked from outside."""
    answered = commit.answered
    given = answered is not None and (doubt_in(answered.value) or doubt_in(answered.facts))
    return bool(given) or any(doubt_in(call.value) or doubt_in(call.after) for call in commit.calls)


def _look_at(conditions: Iterable[Condition], paths: list[Key]) -> bool:
    """Whether some condition has read what stands at one of these places."""
    return any(
        any(touches(key, path) for key, _ in one.read for path in paths)
        or _look_at(one.parts, paths)
        for one in conditions
    )


def _is_said_or_kept(op: Op) -> bool:
    """Whether an operation writes a variable, or words: not what is only noted of the turn."""
    return op.key[0] not in _BOOKKEEPING or op.key[:2] in _SAID


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
