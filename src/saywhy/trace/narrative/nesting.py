"""Which step stands beneath which, and its number: `3.5.1` is the first beneath `3.5` of turn 3.

A number belongs to a step and depends on what was recorded before it in its turn, on nothing later.
A call that is still out holds its place, and what comes of it is told there. Branches that ran side
by side, however their steps are mixed on record, are told one after the other beneath the step that
began them: the first step of each has the number of the branch, those that follow stand beneath it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from saywhy.chart.commit import Commit
from saywhy.trace.narrative.item import Item
from saywhy.trace.narrative.sentences import came_later, is_out, sentence_of
from saywhy.trace.phrases import Wording
from saywhy.trace.trace import Trace

MOST_KNOWN: Final = 10_000
"""Frames whose branch is remembered from turn to turn."""
MOST_CALLERS: Final = 16

_UNSEEN: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]+")
"""What could begin a line of its own, or move the cursor: names may come from a model."""


class Branches:
    """Which frames belong to which branch of those that ran side by side.

    A frame's caller is followed so many times; a flow that took the place of another, which took
    the place of another, and so on, stands in no branch for us.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._known: dict[int, tuple[int, int]] = {}
        """By frame: the frame that began its branch, and over how many callers it was found."""

    def of(self, commit: Commit) -> int:
        """The frame that began the branch which a step stands in; 0 outside of any."""
        if not commit.depth:
            return 0
        found = self._known.get(commit.frame)
        return found[0] if found is not None else self._find(commit)

    def _find(self, commit: Commit) -> int:
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        way: list[int] = []
        began, far = 0, 0
        while True:
            way.append(commit.frame)
            if len(way) > MOST_CALLERS or not commit.depth or commit.caller not in self._trace:
                break
            caller = self._trace.commit(commit.caller)
            if caller.to == "fork":
                began = commit.frame
                break
            known = self._known.get(caller.frame)
            if known is not None:
                began, far = known
                break
            commit = caller
        if len(way) > MOST_CALLERS:
            self._known[way[0]] = (0, len(way))
            return 0
        for frame in reversed(way):
            far += 1
            self._known[frame] = (began if far <= MOST_CALLERS else 0, far)
        return self._known[way[0]][0]


class _Branch:
    """One branch: the lists that its next steps may be put into, by how deep they stand."""

    __slots__ = ("_begins", "_levels", "_list")

    def __init__(self, into: list[Item], *, begins: bool = False) -> None:
        self._list = into
        self._levels: list[tuple[int, list[Item]]] = []
        self._begins = begins
        """Whether the next step is the first, beneath which the others stand."""

    def put(self, item: Item, depth: int) -> None:
        if self._begins:
            self._list.append(item)
            self._list, self._begins = item.steps, False
            return
        levels = self._levels
        if levels and levels[-1][0] == depth:
            levels[-1][1].append(item)
            return
        while levels and levels[-1][0] > depth:
            levels.pop()
        if not levels:
            levels.append((depth, self._list))
        elif levels[-1][0] < depth:
            levels.append((depth, levels[-1][1][-1].steps))
        levels[-1][1].append(item)

    @property
    def beneath(self) -> list[Item]:
        """Where branches that begin now are told: beneath the newest step."""
        newest = self.beside
        return newest[-1].steps if newest else newest

    @property
    def beside(self) -> list[Item]:
        """Where they are told if the step that begins them is not told itself."""
        return self._levels[-1][1] if self._levels else self._list


class Nesting:
    """The steps of one turn, each put where it belongs as it comes."""

    __slots__ = ("_branches", "_forks", "_main", "_of", "_out", "_say", "_trace", "_turn", "top")

    def __init__(self, trace: Trace, turn: int, say: Wording, branches: Branches) -> None:
        self._trace = trace
        self._turn = turn
        self._say = say
        self._of = branches
        self.top: list[Item] = []
        self._main = _Branch(self.top)
        self._branches: dict[int, _Branch] = {0: self._main}
        self._forks: dict[int, list[Item]] = {}
        """By step that began branches: the list that they are told in."""
        self._out: dict[tuple[int, str], tuple[Item, Commit]] = {}
        """Calls that are out, by frame and step."""

    def take(self, commits: Sequence[Commit]) -> list[Item]:
        """The told steps, numbered."""
        trace, say, main, out = self._trace, self._say, self._main, self._out
        for commit in commits:
            text = sentence_of(trace, commit, say)
            if not text.isprintable():
                text = _UNSEEN.sub(" ", text)
            if commit.depth or commit.asked is not None or out or commit.to == "fork":
                self._take(commit, text)
            elif text:  # nearly every step of a flow: nothing is out, nothing beside it
                main.put(Item(text, commit), 0)
        for item, commit in self._out.values():
            self._still_out(item, commit)
        _number(self.top, f"{self._turn}.")
        return self.top

    def _take(self, commit: Commit, text: str) -> None:
        held = self._out.get((commit.frame, commit.node)) if self._out else None
        if held is not None and commit.phase != "closed":
            if text:
                self._settle(held[0], commit, text)
        elif text:
            item = Item(text, commit)
            branch = self._branch(commit) if commit.depth else self._main
            branch.put(item, commit.depth)
            if commit.asked is not None and is_out(commit):
                self._out[commit.frame, commit.node] = (item, commit)
        if commit.to == "fork":
            branch = self._branch(commit)
            self._forks[commit.seq] = branch.beneath if text else branch.beside

    def _settle(self, item: Item, commit: Commit, text: str) -> None:
        """Tell what came of a call in the place that it holds."""
        item.asked = item.asked or item.step
        item.text, item.step = text, commit
        if is_out(commit):
            self._out[commit.frame, commit.node] = (item, commit)
        else:
            del self._out[commit.frame, commit.node]

    def _branch(self, commit: Commit) -> _Branch:
        began = self._of.of(commit)
        branch = self._branches.get(began)
        if branch is None:
            into = self._forks.get(commit.caller, self.top)
            branch = self._branches[began] = _Branch(into, begins=True)
        return branch

    def _still_out(self, item: Item, commit: Commit) -> None:
        later = self._trace.next_of(commit)
        if later is None or later.phase == "closed":
            return
        if later.turn == self._turn:
            item.text = ""  # something came that need not be told
        else:
            item.text = came_later(commit, later.turn, self._say)


def _number(items: list[Item], before: str) -> None:
    for number, item in enumerate(items, start=1):
        item.number = f"{before}{number}"
        if item.steps:
            _number(item.steps, f"{item.number}.")
