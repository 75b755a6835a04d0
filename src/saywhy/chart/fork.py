"""Branches side by side, joined in declared order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saywhy.chart.cursor import Cursor, Frame
from saywhy.chart.outcome import Answer, BranchAnswer, Fork, Need

if TYPE_CHECKING:
    from saywhy.chart.machine import Run


def open_branches(run: Run, cursor: Cursor, frame: Frame, fork: Fork) -> None:
    """Give the frame one cursor for each branch."""
    raise NotImplementedError


def advance_branches(
    run: Run, cursor: Cursor, frame: Frame, answer: Answer | BranchAnswer | None
) -> tuple[Need | None, Answer | None]:
    """Run each branch to its rest; one Need with the open items of all, or the joined results."""
    raise NotImplementedError
