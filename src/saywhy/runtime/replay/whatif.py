"""What came of running a turn without a piece, as a value, as text and as JSON."""

from __future__ import annotations

from typing import Any

import msgspec

from saywhy.runtime.replay.masked import Gap
from saywhy.runtime.replay.result import (
    AROUND,
    Difference,
    beside,
    gap_lines,
    same_at_start,
    shown,
)


class Counterfactual(msgspec.Struct, frozen=True):
    """A turn run again with a piece taken away, beside the turn on record."""

    conversation: str
    turn: int
    without: str
    reply: str | None
    """What the turn answered, as it is on record; None for nothing."""
    reply_without: str | None
    """What it answers without the piece, masked as a record would be."""
    met: bool
    """Whether the piece was met at all while the turn ran."""
    difference: Difference | None = None
    """The first step that is another one."""
    assumed: tuple[str, ...] = ()
    """Answers taken from the record although something else was asked: nobody else was there to
    answer."""
    would_call: tuple[str, ...] = ()
    """Calls that were never made, and so are not made now: the turn stops there."""
    asked: int = 0
    """Questions that the model handed over has answered."""
    error: str = ""
    """What the turn fails with."""
    not_replayable: tuple[Gap, ...] = ()
    """What was needed and is masked, cut or missing."""
    hidden: bool = False
    """Whether the two replies differ only in what is masked."""

    @property
    def changed(self) -> bool | None:
        """Whether the reply is another one; None where it cannot be told: something masked was
        needed, or the turn stopped at a call whose answer nobody has."""
        is_open = self.not_replayable or self.would_call
        return None if is_open else self.hidden or self.reply != self.reply_without

    @property
    def certain(self) -> bool:
        """Whether nothing had to be assumed, and nothing was missing."""
        return not self.assumed and self.changed is not None

    @property
    def stretches(self) -> tuple[str, str]:
        """Where the two replies differ: what stands there, and what stands there without it."""
        return _stretches(self.reply or "", self.reply_without or "")

    def text(self) -> str:
        """For people."""
        lines = [f"without {self.without}, turn {self.turn}: {self._verdict()}"]
        if self.changed is None:
            lines.append(f"  reply    {shown(self.reply)}")
        elif self.changed:
            reply, without = beside(self.reply, self.reply_without)
            lines += [f"  reply    {reply}", f"  without  {without}"]
            was, now = self.stretches
            hidden = "in what is masked" if self.hidden else f"{shown(was)} → {shown(now)}"
            lines.append(f"  differs  {hidden}")
        if self.difference is not None:
            lines += [f"  {line}" for line in self.difference.lines()[:3]]
        if self.error:
            lines.append(f"  it fails: {self.error}")
        lines += [f"  {call}; it was not made" for call in self.would_call]
        if self.asked:
            often = "once" if self.asked == 1 else f"{self.asked} times"
            lines.append(f"  the model was asked {often}")
        lines += [
            f"  assumed: {one} as on record, though something else was asked"
            for one in self.assumed
        ]
        lines += [f"  {line}" for line in gap_lines(self.not_replayable)]
        return "\n".join(lines)

    def _verdict(self) -> str:
        if self.changed is None:
            unknown = "whether the reply changes cannot be told"
            return f"another course; {unknown}" if self.would_call else unknown
        if not self.met:
            return "nothing changes, for it played no part in it"
        if self.changed:
            return "another reply" if self.certain else "another reply, as far as can be told"
        return "the same reply" if self.certain else "the same reply, as far as can be told"

    def to_json(self) -> dict[str, Any]:
        """As an object."""
        was, now = self.stretches
        return {
            "conversation": self.conversation,
            "turn": self.turn,
            "without": self.without,
            "met": self.met,
            "changed": self.changed,
            "certain": self.certain,
            "reply": self.reply,
            "replyWithout": self.reply_without,
            "differs": {"recorded": was, "without": now} if self.changed else None,
            "hidden": self.hidden,
            "difference": self.difference.to_json() if self.difference else None,
            "assumed": list(self.assumed),
            "wouldCall": list(self.would_call),
            "asked": self.asked,
            "error": self.error or None,
            "notReplayable": [gap.to_json() for gap in self.not_replayable],
        }


def _stretches(one: str, other: str) -> tuple[str, str]:
    start = same_at_start(one, other)
    end = 0
    while end < min(len(one), len(other)) - start and one[-1 - end] == other[-1 - end]:
        end += 1
    left = max(0, start - AROUND)
    right = max(0, end - AROUND)
    return one[left : len(one) - right], other[left : len(other) - right]


__all__ = ["Counterfactual"]
