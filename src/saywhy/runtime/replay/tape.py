"""What is on record of the outside: answers, times, what stages that act had done.

Asked for by whoever runs a turn again. An answer belongs to the step that took it in, so the same
step of the same frame gets it; where a run has become another one, a question gets the answer that
the same question got.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import msgspec

from saywhy import errors
from saywhy.chart.commit import Asked, Commit, FunctionCall, Op
from saywhy.chart.cursor import Frame
from saywhy.chart.failure import failure_text
from saywhy.chart.outcome import Answer, Need, Work
from saywhy.chart.stages import TaskFailed
from saywhy.values import FrozenDict, dumps, seal

OUTSIDE: Final = frozenset({"tool", "model", "function", "reconcile", "timer", "task"})
"""Kinds of needs that a turn has answered for it."""


KEEPING: Final = "commit-memory"
"""The stage that keeps a history, which ends its run."""
SAVED: Final = ("saved", False)


class OnRecord(msgspec.Struct, frozen=True):
    """A question with the step that took its answer in."""

    question: bytes
    commit: Commit


class Tape:
    """The answers of one conversation, each given once."""

    def __init__(self, commits: Iterable[Commit]) -> None:
        self._commits: dict[int, Commit] = {}
        self._answered: dict[tuple[int, str], list[OnRecord]] = {}
        self._turns: dict[int, list[OnRecord]] = {}
        self._used: set[int] = set()
        self._called: dict[int, int] = {}
        self.heard: Callable[[FunctionCall], None] = _unheard
        """Is told of each call of a function that is answered."""
        asked: dict[tuple[int, str], bytes] = {}
        for commit in commits:
            self._commits[commit.seq] = commit
            place = (commit.frame, commit.node)
            if commit.answered is not None and commit.answered.kind in OUTSIDE:
                one = OnRecord(asked.pop(place, b""), commit)
                self._answered.setdefault(place, []).append(one)
                self._turns.setdefault(commit.turn, []).append(one)
            if commit.asked is not None:
                told = commit.asked
                asked[place] = question_of(told.kind, told.name, told.args)

    def commit(self, seq: int) -> Commit | None:
        """The commit on record under this number."""
        return self._commits.get(seq)

    def at(self, seq: int, turn: int) -> float | None:
        """What time it was at this commit of a turn."""
        commit = self._commits.get(seq)
        return commit.at if commit is not None and commit.turn == turn else None

    def answer(self, frame: Frame, need: Need, seq: int, turn: int) -> Commit | None:
        """The step on record that took in the answer to what a frame asks after commit `seq`."""
        commit = self.look(frame, need, seq, turn)
        if commit is None:
            return self.same_question(need, turn)
        self.use(commit.seq)
        return commit

    def look(self, frame: Frame, need: Need, seq: int, turn: int) -> Commit | None:
        """The same step, found by its place alone and not used up."""
        for one in self._answered.get((frame.id, frame.at or ""), ()):
            commit = one.commit
            if commit.seq > seq and commit.turn == turn and _is(commit, need):
                return commit
        return None

    def next_of(self, need: Need, turn: int) -> Commit | None:
        """The first answer left in this turn to a question of the same kind and name."""
        for one in self._turns.get(turn, ()):
            if _is(one.commit, need) and one.commit.seq not in self._used:
                return one.commit
        return None

    def is_left(self, seq: int) -> bool:
        """Whether this answer was not given yet."""
        return seq not in self._used

    def use(self, seq: int) -> None:
        """This answer is given."""
        self._used.add(seq)

    def same_question(self, need: Need, turn: int) -> Commit | None:
        """The answer that the same question got in this turn, the first that is left."""
        question = question_of(need.kind, need.name, need.args)
        for one in self._turns.get(turn, ()):
            if one.question == question and one.commit.seq not in self._used:
                self.use(one.commit.seq)
                return one.commit
        return None

    def same_call(self, turn: int, name: str, args: Any) -> FunctionCall | None:
        """What an approved function gave in this turn, called with the very same."""
        wanted = dumps(seal(args))
        found = next((one for one in self.calls_of(turn) if _fits(one, name, wanted)), None)
        if found is not None:
            self.heard(found)
        return found

    def call(self, seq: int, name: str, args: Any) -> FunctionCall | None:
        """What an approved function gave that the step with this number called."""
        commit = self._commits.get(seq)
        if commit is None:
            return None
        begin = self._called.get(seq, 0)
        left = list(enumerate(commit.calls))[begin:]
        wanted = dumps(seal(args))
        found = next((n for n, one in left if _fits(one, name, wanted)), None)
        if found is None:
            found = next((n for n, one in left if one.name == name), None)
        if found is None:
            return None
        self._called[seq] = found + 1
        self.heard(commit.calls[found])
        return commit.calls[found]

    def begin(self, turn: int) -> None:
        """Forget which answers were given: this turn is run anew."""
        for one in self._turns.get(turn, ()):
            self._used.discard(one.commit.seq)
        self._called.clear()

    def calls_of(self, turn: int) -> Iterator[FunctionCall]:
        """Every call of an approved function in a turn."""
        for commit in self._commits.values():
            if commit.turn == turn:
                yield from commit.calls

    @property
    def functions(self) -> set[str]:
        """Names of all approved functions that were called."""
        return {call.name for commit in self._commits.values() for call in commit.calls}


def _unheard(call: FunctionCall) -> None:
    """Nobody is told."""


def question_of(kind: str, name: str, args: Any) -> bytes:
    """A question as text, to tell whether two are the same."""
    return dumps([kind, name, seal(args)])


def _is(commit: Commit, need: Need) -> bool:
    told = commit.answered
    return told is not None and (told.kind, told.name) == (need.kind, need.name)


def _fits(call: FunctionCall, name: str, args: bytes) -> bool:
    return call.name == name and dumps(seal(call.args)) == args


# ------------------------------------------------------------------ answers


def answer_of(commit: Commit) -> Answer:
    """The answer that a step took in, as it was."""
    told = commit.answered
    assert told is not None, "asked only of what took an answer in"
    if told.kind == "task":
        return _done(commit)
    facts = {name: seal(fact) for name, fact in told.facts.items()}
    return Answer(seal(told.value), told.error or None, told.error_name, facts)


def _done(commit: Commit) -> Answer:
    """What a stage had done outside the engine."""
    told = commit.answered
    assert told is not None, "asked only of what took an answer in"
    work = work_of(commit)
    if told.error:
        error = failed_with(told.error_name, told.error)
        return TaskFailed(None, told.error, told.error_name, work=work, exception=error)
    value: Any = seal(told.value)
    if commit.asked is not None and _is_need(value):
        value = _asked(commit.asked)
    return Answer(value, work=work)


def _is_need(value: Any) -> bool:
    """Whether a stage gave a question of its own, as its record has it."""
    fields = {"kind", "name", "args", "effect", "items"}
    return isinstance(value, FrozenDict) and "kind" in value and set(value) <= fields


def _asked(asked: Asked) -> Need:
    return Need(asked.kind, asked.name, seal(asked.args), asked.effect)


def failed_with(name: str, text: str) -> Exception:
    """An error of the kind it was, where that is known, and that says what it said."""
    for module in (errors, builtins):
        known: Any = getattr(module, name, None)
        if isinstance(known, type) and issubclass(known, Exception):
            try:
                made = known(text)
            except TypeError:
                continue
            if failure_text(made) == text:
                return made
    kind: type[Exception] = type(name or "Error", (Exception,), {"name": name})
    return kind(text)


def work_of(commit: Commit) -> Work:
    """What a stage read, wrote and decided."""
    back = commit.answered
    is_pause = back is not None and back.value is None and not commit.reads and not commit.ops
    if commit.asked is not None and commit.to == "rest" and is_pause:
        return Work(need=_asked(commit.asked))
    ops = tuple(Op(op.verb, op.key, seal(op.value)) for op in commit.ops)
    stop = SAVED if commit.node == KEEPING else None
    told, warnings = dict(commit.facts), commit.warnings
    return Work(commit.reads, ops, commit.decision, warnings=warnings, stop=stop, facts=told)


__all__ = ["Tape", "answer_of", "failed_with", "question_of", "work_of"]
