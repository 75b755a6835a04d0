"""What came of running a conversation again, as a value, as text and as JSON."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, Literal

import msgspec

from saywhy.runtime.replay.masked import Gap
from saywhy.trace.words import count
from saywhy.values import dumps

SHOWN: Final = 200
"""Characters of a value that are shown."""

AROUND: Final = 24
"""Characters shown before two values differ."""

_WORDS: Final = tuple(
    (re.compile(path), words)
    for path, words in (
        (r"ops\[\d+\]\[2\]", "what it wrote"),
        (r"ops\[\d+\]\[1\].*", "which variable it wrote"),
        (r"ops\b.*", "what it wrote"),
        (r"reads\b.*", "what it read"),
        (r"asked\.args\b", "what it asked"),
        (r"asked\b", "what it asked"),
        (r"answered\.value\b", "the answer it took"),
        (r"answered\b", "the answer it took"),
        (r"decision\b.*", "what it decided"),
        (r"facts\b", "what is noted of it"),
        (r"calls\b.*", "the functions it called"),
        (r"to\Z", "where it went on"),
        (r"commit\Z", "the whole step"),
        (r"turn\Z", "the whole turn"),
    )
)
"""Paths in a commit, and what stands there."""

Cause = Literal["flow", "answer", "unexplained"]


class Difference(msgspec.Struct, frozen=True):
    """Where a conversation run again leaves its record for the first time."""

    turn: int
    commit: int
    field: str
    """`ops[0][2]`, `asked.args.amount`; `commit` where a whole step is missing or new."""
    recorded: Any
    now: Any
    step: str
    """`FLOW/STEP`."""
    cause: Cause
    """`flow`: the step was changed; `answer`: what it asked is not on record; `unexplained`: what
    it depends on is not on record."""
    why: str
    replies: tuple[str | None, str | None] = (None, None)
    """What the turn answered, and answers now."""

    def lines(self) -> list[str]:
        """The difference in words."""
        where = [f"turn {self.turn}", f"commit {self.commit}", *([self.step] if self.step else [])]
        recorded, now = beside(self.recorded, self.now)
        told = [
            f"{', '.join(where)}: {worded(self.field)}",
            f"  recorded  {recorded}",
            f"  now       {now}",
            f"  because   {self.why}",
        ]
        if self.replies[0] != self.replies[1]:
            was, is_ = beside(*self.replies)
            told += [f"  reply was {was}", f"  reply is  {is_}"]
        return told

    def to_json(self) -> dict[str, Any]:
        """As an object."""
        told = msgspec.structs.asdict(self)
        told["replies"] = {"recorded": self.replies[0], "now": self.replies[1]}
        return told


class Replay(msgspec.Struct, frozen=True):
    """A conversation run again from its record."""

    conversation: str
    turns: int
    """Turns that were run."""
    commits: int
    """Steps that were compared and are the same."""
    difference: Difference | None = None
    not_replayable: tuple[Gap, ...] = ()
    """What was needed and is masked, cut or missing: what comes after it proves nothing."""
    passed_over: int = 0
    """Masked places of the record that could not be compared."""
    assumed: tuple[str, ...] = ()
    """Answers taken from the record although something else was asked: a reply that came of one is
    not the reply that would be given."""
    would_call: tuple[str, ...] = ()
    """Calls with arguments that are not on record: they are told and never made."""
    handed_on: int = 0
    """Steps that handed on something masked as it stands: into a text, a variable, a call."""

    @property
    def same(self) -> bool:
        """Whether every step is the one on record, and nothing was missing to tell."""
        return self.difference is None and not self.not_replayable

    @property
    def outcome(self) -> Literal["same", "different", "not replayable"]:
        """The result in one word."""
        if self.difference is not None:
            return "different"
        return "not replayable" if self.not_replayable else "same"

    def text(self) -> str:
        """For people."""
        lines = [
            f"{self.conversation}: {self.outcome} ({count(self.turns, 'turn')}, "
            f"{count(self.commits, 'step')} the same{_masked(self.passed_over)}"
            f"{_handed_on(self.handed_on)})"
        ]
        if self.difference is not None:
            lines += [f"  {line}" for line in self.difference.lines()]
        lines += [f"  {call}; it was not made" for call in self.would_call]
        lines += [
            f"  assumed: {one} as on record, though something else was asked"
            for one in self.assumed
        ]
        lines += [f"  {line}" for line in gap_lines(self.not_replayable)]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """As an object."""
        return {
            "conversation": self.conversation,
            "outcome": self.outcome,
            "same": self.same,
            "turns": self.turns,
            "commits": self.commits,
            "maskedPlaces": self.passed_over,
            "handedOn": self.handed_on,
            "assumed": list(self.assumed),
            "wouldCall": list(self.would_call),
            "difference": self.difference.to_json() if self.difference else None,
            "notReplayable": [gap.to_json() for gap in self.not_replayable],
        }


def gap_lines(gaps: Sequence[Gap]) -> list[str]:
    """What was missing, in words."""
    return [
        f"not replayable from turn {gap.turn}"
        + (f", commit {gap.commit}" if gap.commit else "")
        + f": {gap.what} is needed and is {gap.why}"
        for gap in gaps
    ]


def worded(field: str) -> str:
    """What of a step a path in its commit leads to: `what it wrote (content)`."""
    for path, words in _WORDS:
        found = path.match(field)
        if found is not None:
            rest = field[found.end() :].lstrip(".")
            return f"{words} ({rest})" if rest else words
    return field


def shown(value: Any) -> str:
    """A value on one line."""
    text = _line(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def beside(one: Any, other: Any) -> tuple[str, str]:
    """Two values, each on one line; of long ones what stands around their first difference."""
    texts = _line(one), _line(other)
    begin = max(0, same_at_start(*texts) - AROUND) if max(map(len, texts)) > SHOWN else 0
    before = "…" if begin else ""
    first, second = (before + shown(text[begin:]) for text in texts)
    return first, second


def same_at_start(one: str, other: str) -> int:
    """How many characters two texts have in common before they differ."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _line(value: Any) -> str:
    if value is None:
        return "(nothing)"
    text = value if isinstance(value, str) else dumps(value).decode()
    return " ".join(text.split())


def _masked(number: int) -> str:
    return f", {count(number, 'masked place')} not compared" if number else ""


def _handed_on(steps: int) -> str:
    return f", {count(steps, 'step')} handed on what is masked" if steps else ""


__all__ = [
    "AROUND",
    "Difference",
    "Replay",
    "beside",
    "gap_lines",
    "same_at_start",
    "shown",
    "worded",
]
