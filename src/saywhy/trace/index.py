"""Which steps touched which key, found without looking through all of them.

A key is a path: scope, name, and on into the value; a scope alone stands for all in it. Touching a
path touches what lies above it and what lies beneath it, so each touch is filed under its own key
and, apart, under all keys above.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator

from saywhy.values import Key


class KeyIndex:
    """Commit numbers by the key they touch. Numbers are added in ascending order."""

    __slots__ = ("_at", "_beneath", "_roots", "_variables")

    def __init__(self) -> None:
        self._at: dict[Key, list[int]] = {}
        self._beneath: dict[Key, list[int]] = {}
        self._roots: dict[str | int, dict[Key, None]] = {}
        self._variables: dict[str | int, dict[Key, None]] = {}

    def add(self, key: Key, seq: int) -> None:
        """File a touch of `key` by commit `seq`."""
        _file(self._at, key, seq)
        if len(key) > 1:
            self._roots.setdefault(key[1], {}).setdefault(key[:2])
            self._variables.setdefault(key[0], {}).setdefault(key[:2])
        for length in range(1, len(key)):
            _file(self._beneath, key[:length], seq)

    def last(self, key: Key, before: int) -> int:
        """The newest commit before `before` that touched `key`; 0 for none. O(log n)."""
        found = 0
        for seqs in self._lists(key):
            i = bisect_left(seqs, before)
            if i and seqs[i - 1] > found:
                found = seqs[i - 1]
        return found

    def all(self, key: Key, until: int | None = None) -> list[int]:
        """Every commit up to and including `until` that touched `key`, in order."""
        found: set[int] = set()
        for seqs in self._lists(key):
            found.update(seqs if until is None else seqs[: bisect_right(seqs, until)])
        return sorted(found)

    def newest_first(self, key: Key, before: int) -> Iterator[int]:
        """The commits before `before` that touched `key`, newest first, as far as asked for."""
        seq = self.last(key, before)
        while seq:
            yield seq
            seq = self.last(key, seq)

    def roots(self, name: str) -> list[Key]:
        """The variables of this name, one for each scope, in the order they were first touched."""
        return list(self._roots.get(name, ()))

    def variables(self, scope: str | int) -> list[Key]:
        """The variables of a scope, in the order they were first touched."""
        return list(self._variables.get(scope, ()))

    def names(self, besides: Collection[str | int]) -> Iterator[str]:
        """Names of the variables touched in other scopes than those in `besides`."""
        for name, roots in self._roots.items():
            if any(root[0] not in besides for root in roots):
                yield str(name)

    def _lists(self, key: Key) -> Iterator[list[int]]:
        """Touches of the key itself, of what lies above it, of what lies beneath it."""
        for length in range(1, len(key) + 1):
            seqs = self._at.get(key[:length])
            if seqs:
                yield seqs
        beneath = self._beneath.get(key)
        if beneath:
            yield beneath


def _file(table: dict[Key, list[int]], key: Key, seq: int) -> None:
    seqs = table.get(key)
    if seqs is None:
        table[key] = [seq]
    elif seqs[-1] != seq:
        seqs.append(seq)


def touches(one: Key, other: Key) -> bool:
    """Whether two paths meet: equal, or one above the other."""
    return all(map(_equal, one, other))


def _equal(one: object, other: object) -> bool:
    return one == other
