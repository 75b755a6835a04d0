"""What a record does not have, in plain sentences: its beginning, its end, texts that were cut.

Marks in a text tell programs; who reads a story is told in words. What was masked is told by the
sentences themselves, since they know what it was about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from saywhy.chart.commit import Commit
from saywhy.trace.masking.redact import CUT, CUT_TAG
from saywhy.trace.masking.rewrite import Rewriter
from saywhy.trace.phrases import Wording
from saywhy.trace.trace import Turn

_MESSAGE: Final = re.compile(re.escape(CUT) + r"message (\d+) ")
"""What `shorten` leaves where a text stood in a message that is not there."""


def of_turn(told: Turn, begins: int, say: Wording) -> tuple[str, ...]:
    """What a record that begins with a commit `begins`, or was cut, does not tell of a turn."""
    commits = told.commits
    if not commits:
        return (say("no_steps"),)
    lacks: tuple[str, ...] = ()
    first, last = commits[0].seq, commits[-1].seq
    if first > 1 and first == begins:
        lacks = (say("begins_later", commit=first, turn=told.number),)
    for message in told.messages:
        if message.spans and message.spans[-1].commit > last:
            return (*lacks, say("ends_early"))
    return lacks


def of_step(commit: Commit, say: Wording) -> Iterator[str]:
    """What of a step was too big to be kept, or stood in a message that is not there."""
    if CUT_TAG not in commit.tags:
        return
    walk = _Cuts()
    walk.commit(commit)
    for number in sorted(walk.messages):
        yield say("text_missing", number=number)
    if walk.is_shorter:
        yield say("was_cut")


class _Cuts(Rewriter):
    """Looks for the marks of what was cut; changes nothing."""

    __slots__ = ("is_shorter", "messages")

    renames = True

    def __init__(self) -> None:
        self.is_shorter = False
        self.messages: set[int] = set()

    def text(self, text: str) -> Any:
        if CUT in text:
            numbers = _MESSAGE.findall(text)
            self.messages.update(map(int, numbers))
            self.is_shorter = self.is_shorter or not numbers
        return text

    def name(self, name: str) -> str:
        self.text(name)
        return name
