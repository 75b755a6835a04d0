"""Who wrote a variable last, found by links from turn to turn: what `KeyIndex` finds by lists.

A page that touches a variable has a link to its last writer, so from there it is one step. From a
page that does not, the way is the session's own knowledge of the last writers, if that writer came
before; else the pages before are gone through until one touches it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from saywhy.trace.index import KeyIndex
from saywhy.trace.pages import Page, Pages
from saywhy.trace.writers import Writers
from saywhy.values import Key, dumps

MOST_KNOWN: Final = 4096
LASTING: Final = "cargo"
"""The scope that is there as long as the conversation."""


class PagedWrites(KeyIndex):
    """The writes of a stored conversation."""

    __slots__ = ("_known", "_never", "_pages", "_writers")

    def __init__(self, pages: Pages, writers: Writers) -> None:
        super().__init__()
        self._pages = pages
        self._writers = writers
        self._known: dict[tuple[Key, int], int] = {}
        """By key and commit: which one before wrote it last, of what was asked for lately."""
        self._never: dict[Key, int] = {}
        """By key: up to which commit it is known that nothing wrote it."""

    def last(self, key: Key, before: int) -> int:
        if len(key) == 1:
            found = (self.last(each, before) for each in self.variables(key[0]))
            return max(found, default=0)
        if key[0] == "input":
            return self._received(key, before)
        if key[0] == "turn":  # what was in it before went with its turn
            page = self._pages.at(before - 1)
            return 0 if page is None else page.last_write(key, before)
        found = self._known.get((key, before))
        if found is None:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            found = self._known[key, before] = self._written(key, before)
        return found

    def _received(self, key: Key, before: int) -> int:
        name = str(key[1])
        page = self._pages.of_message(int(name)) if name.isdecimal() else None
        return 0 if page is None else page.last_write(key, before)

    def _written(self, key: Key, before: int) -> int:
        root = key[:2]
        if before <= self._never.get(key, 0) or self._is_never_written(root):
            return 0
        asked, page = before, self._pages.at(before - 1)
        while page is not None:
            found = page.last_write(key, before)
            if found:
                return found
            linked = self._linked(page, root, before)
            if linked is None:
                name = dumps(root[1]).decode()
                page = next(self._pages.back(page.turn - 1, name), None)
                continue
            before = linked + 1
            page = self._pages.at(linked) if linked else None
        self._never[key] = asked
        return 0

    def _is_never_written(self, root: Key) -> bool:
        """Whether the session itself tells so: of what outlives every flow it knows each writer."""
        return root[0] == LASTING and self._writers.since <= 1 and not self._writers.last(root)

    def _linked(self, page: Page, root: Key, before: int) -> int | None:
        """Up to which commit to go back at once; 0 where nothing was written, None for unknown."""
        since = self._writers.since
        if root in page.touched and page.commits[0].seq >= since:
            link = page.links.get((root[0], root[1]), 0)
            return link if link else since - 1
        newest = self._writers.last(root)
        return newest if 0 < newest < before and newest < page.commits[0].seq else None

    def living(self, name: str, before: int) -> list[Key]:
        """Variables of this name that still live and were written before a commit."""
        return self._writers.named(name, before)

    def newest_first(self, key: Key, before: int) -> Iterator[int]:
        seq = self.last(key, before)
        while seq:
            yield seq
            seq = self.last(key, seq)

    def all(self, key: Key, until: int | None = None) -> list[int]:
        newest = self._pages.newest()
        last = newest.commits[-1].seq if newest is not None else 0
        return list(self.newest_first(key, (last if until is None else until) + 1))[::-1]

    def variables(self, scope: str | int) -> list[Key]:
        """Of what is said, only the newest message; of a turn, what the newest touched."""
        if scope in ("input", "turn"):
            for page in self._pages.back(self._pages.last):
                found = sorted(key for key in page.touched if key[0] == scope and len(key) > 1)
                if found or scope == "turn":
                    return found
            return []
        known = self._writers.variables(scope)
        if self._writers.since <= 1:
            return known
        name = dumps(scope).decode()
        pages = self._pages.back(self._pages.last, name)
        found = {key: None for page in pages for key in page.touched if key[0] == scope}
        return list(dict.fromkeys([*known, *(key for key in found if len(key) > 1)]))
