"""Which commit wrote each variable last: what lets a long conversation be explained from its end.

A session carries along, for each variable that still lives, the number of the commit that wrote it
last. What is kept of a turn has `links`: for each variable that it reads or writes, the commit
that wrote it last before. So a variable that was set in the first turn and is read in the ten
thousandth is found without looking at what lies between.

Messages (`input`) are found by their number, and what holds for one turn (`turn`) in that turn;
neither is carried along. The number of variables is bounded: the one that was written longest ago
goes first, and `since` then says from which commit on nothing is missing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final, Self

import msgspec

from saywhy.chart.commit import Commit
from saywhy.values import Key

Link = tuple[str | int, str | int, int]
"""Scope and name of a variable, and the number of the commit that wrote it last before."""

MAX_WRITERS: Final = 1000
"""Variables carried along at most."""

NOT_CARRIED: Final = frozenset({"input", "turn"})
"""Scopes whose variables are found in other ways."""


class _Kept(msgspec.Struct):
    since: int
    of: dict[str, dict[str, int]] = {}


class Writers:
    """The last writer of each variable of a conversation, as far as it is known."""

    __slots__ = ("_of", "since")

    def __init__(self, since: int = 1) -> None:
        self.since = since
        """Number of the first commit from which on no writer is missing."""
        self._of: dict[str | int, dict[str | int, int]] = {}

    def take(self, commits: Iterable[Commit]) -> list[Link]:
        """Note what these commits wrote; gives the links of what they touched."""
        links: dict[tuple[str | int, str | int], int] = {}
        touched: set[tuple[str | int, str | int]] = set()
        for commit in commits:
            for key in commit.reads:
                self._link(key, links, touched)
            for op in commit.ops:
                key = op.key
                self._link(key, links, touched)
                if len(key) > 1 and key[0] not in NOT_CARRIED:
                    self._of.setdefault(key[0], {})[key[1]] = commit.seq
        return [(*root, seq) for root, seq in links.items()]

    def _link(
        self,
        key: Key,
        links: dict[tuple[str | int, str | int], int],
        touched: set[tuple[str | int, str | int]],
    ) -> None:
        scope = key[0]
        known = self._of.get(scope)
        if scope in NOT_CARRIED:
            return
        if len(key) == 1:  # the scope as a whole
            for name in known or ():
                self._link((scope, name), links, touched)
            return
        root = (scope, key[1])
        if root not in touched:
            touched.add(root)
            seq = known.get(key[1]) if known else None
            if seq is not None:
                links[root] = seq

    def only(self, scopes: Collection[str]) -> None:
        """Forget the variables of other scopes: nothing can read them any more."""
        for scope in [scope for scope in self._of if scope not in scopes]:
            del self._of[scope]
        if sum(map(len, self._of.values())) > MAX_WRITERS:
            self._bound()

    def _bound(self) -> None:
        each = sorted(
            (seq, scope, name) for scope, known in self._of.items() for name, seq in known.items()
        )
        for seq, scope, name in each[: len(each) - MAX_WRITERS]:
            del self._of[scope][name]
            self.since = max(self.since, seq + 1)

    def last(self, key: Key) -> int:
        """The commit that wrote a variable, or something in it, last; 0 where it is not known."""
        return self._of.get(key[0], {}).get(key[1], 0)

    def variables(self, scope: str | int) -> list[Key]:
        """The known variables of a scope, in the order they were first written."""
        return [(scope, name) for name in self._of.get(scope, ())]

    def named(self, name: str, before: int) -> list[Key]:
        """The known variables of a name, in all scopes, that were written last before a commit."""
        return [
            (scope, name) for scope, known in self._of.items() if 0 < known.get(name, 0) < before
        ]

    # ------------------------------------------------------------ JSON

    def for_json(self) -> dict[str, Any]:
        """What a session keeps of it."""
        return {
            "since": self.since,
            "of": {scope: known for scope, known in self._of.items() if known},
        }

    @classmethod
    def from_tree(cls, tree: Any, next_seq: int) -> Self:
        """What a session kept; without it, or if it is damaged, the beginning at a number."""
        try:
            kept = msgspec.convert(tree, _Kept)
        except msgspec.ValidationError:
            return cls(next_seq)
        writers = cls(kept.since)
        writers._of = {scope: {**known} for scope, known in kept.of.items()}
        return writers
