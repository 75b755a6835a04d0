"""What came of running a conversation again, as a value, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

import msgspec

from saywhy.runtime.replay.masked import Gap
from saywhy.values import dumps

SHOWN: Final = 200
"""Characters of a value that are shown."""

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
        told = [
            f"turn {self.turn}, commit {self.commit}, {self.step}: {self.field}",
            f"  recorded  {shown(self.recorded)}",
            f"  now       {shown(self.now)}",
            f"  because   {self.why}",
        ]
        if self.replies[0] != self.replies[1]:
            told += [
                f"  reply was {shown(self.replies[0])}",
                f"  reply is  {shown(self.replies[1])}",
            ]
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
            f"{self.conversation}: {self.outcome} ({self.turns} turns, {self.commits} steps the "
            f"same{_masked(self.passed_over)})"
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


def shown(value: Any) -> str:
    """A value on one line."""
    if value is None:
        return "(nothing)"
    text = value if isinstance(value, str) else dumps(value).decode()
    text = " ".join(text.split())
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _masked(count: int) -> str:
    return f", {count} masked places not compared" if count else ""


__all__ = ["Difference", "Replay", "gap_lines", "shown"]
