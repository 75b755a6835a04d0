"""The turns of a stored conversation, read and decoded when something in them is asked for.

A page is one turn. Turns come from the store in chunks, as bytes, and of those only the pages that
are asked for are decoded; both are kept for a while, a bounded number of them. So explaining a
conversation takes the memory of a few turns, whatever its length. What is found in the pages is
`paged`'s business.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Final, Protocol, overload

from saywhy.chart.commit import Commit
from saywhy.errors import SaywhyError
from saywhy.messages import read_message
from saywhy.trace.block import Link, read_block
from saywhy.trace.index import touches
from saywhy.values import Key

CHUNK_TURNS: Final = 32
CHUNK_PASSED: Final = 64
"""Turns that are read at a time; for a story, which wants all of them."""
MAX_READ: Final = 2048
MAX_PAGES: Final = 256
"""Turns that are kept as they were read, and decoded; those not used for longest go first."""
MAX_PASSED: Final = 16
"""Decoded turns that are kept for a story. What is soon given back is at hand in the processor's
cache, which makes the story of a whole conversation a fifth faster."""
READ_ON: Final = 8
"""Turns that are decoded in a row for a story: one kind of work after the other stays in the
processor's cache, which takes a tenth off a story."""
MAX_TOLD: Final = 128
"""Characters of a long text of a commit that a story needs; its sentences show 80."""

Root = tuple[str | int, str | int]
Rows = Sequence[tuple[int, bytes]]


class StoredPart(Protocol):
    """One turn as a store gives it."""

    @property
    def turn_no(self) -> int: ...
    @property
    def commits(self) -> Rows: ...
    @property
    def messages(self) -> Rows: ...


class StoredParts(Protocol):
    """One conversation as a store gives it, see `saywhy.stores.parts`."""

    first: int
    last: int

    def numbers(self) -> list[int]: ...
    def read(self, first: int, last: int) -> Sequence[StoredPart]: ...
    def turn_of_commit(self, seq: int) -> int: ...
    def turn_of_message(self, seq: int) -> int: ...


class Page:
    """One turn: its commits in order, its messages, and who wrote before what it touches."""

    __slots__ = ("_by_seq", "_linked", "_links", "_touched", "commits", "is_plain", "messages",
                 "turn")  # fmt: skip

    def __init__(self, part: StoredPart, longest: int | None = None) -> None:
        self.turn = part.turn_no
        read = [read_message(doc) for _, doc in part.messages]
        self.messages = {message.seq: message for message in read}
        self.commits: list[Commit] = []
        self._linked: list[Sequence[Link]] = []
        self._links: dict[Root, int] | None = None
        for _, doc in part.commits:
            # What a rule added to a tool's answer is taken off its end again, so that is whole.
            most = None if longest is None or b'"added"' in doc else longest
            block = read_block(doc, self.messages, most)
            self.commits += block.commits
            self._linked.append(block.links)
        self.is_plain = {commit.tags for commit in self.commits} <= {()}
        """Whether nothing in it was masked or cut."""
        self._by_seq: dict[int, Commit] | None = None
        self._touched: set[Key] | None = None

    @property
    def by_seq(self) -> dict[int, Commit]:
        """Its commits by their numbers."""
        if self._by_seq is None:
            self._by_seq = {commit.seq: commit for commit in self.commits}
        return self._by_seq

    @property
    def touched(self) -> set[Key]:
        """Variables that are read or written here."""
        if self._touched is None:
            self._touched = {key[:2] for commit in self.commits for key in _keys(commit)}
        return self._touched

    @property
    def links(self) -> dict[Root, int]:
        """Who wrote last before this turn what it touches.

        Of several rows of a turn, the later ones also link to what the turn itself wrote.
        """
        if self._links is None:
            first = self.commits[0].seq if self.commits else 0
            self._links = {}
            for links in self._linked:
                for scope, name, seq in links:
                    if seq < first:
                        self._links.setdefault((scope, name), seq)
        return self._links

    def last_write(self, key: Key, before: int) -> int:
        """The newest commit here before `before` that wrote at `key`; 0 for none."""
        for commit in reversed(self.commits):
            if commit.seq < before:
                for op in commit.ops:
                    if touches(op.key, key):
                        return commit.seq
        return 0


def _keys(commit: Commit) -> Iterator[Key]:
    yield from commit.reads
    for op in commit.ops:
        yield op.key


class Numbers(Sequence[int]):
    """The numbers of turns, of which mostly the last few are wanted: all are read only for more."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    def __len__(self) -> int:
        return len(self._pages.numbers)

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> list[int]: ...
    def __getitem__(self, index: int | slice) -> int | list[int]:
        start = index.start if isinstance(index, slice) else index
        if start is not None and start < 0:
            newest = list(islice(self._pages.newest_first(), -start))[::-1]
            if isinstance(index, int) and len(newest) == -index:
                return newest[0]
            if isinstance(index, slice) and index.stop is None:
                return newest[:: index.step]
        return self._pages.numbers[index]

    def __iter__(self) -> Iterator[int]:
        return iter(self._pages.numbers)

    def __reversed__(self) -> Iterator[int]:
        return self._pages.newest_first()

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and self._pages.page(number) is not None

    def __eq__(self, other: object) -> bool:
        return self._pages.numbers == list(other) if isinstance(other, Sequence) else False

    __hash__ = None  # type: ignore[assignment]


class Pages:
    """The pages of one conversation. `learn` is told of the charts that a page speaks of."""

    def __init__(
        self,
        parts: StoredParts,
        learn: Callable[[str], object],
        most: int = MAX_PAGES,
        longest: int | None = None,
        at_once: int = CHUNK_TURNS,
        in_a_row: int = 1,
    ) -> None:
        self._parts = parts
        self._learn = learn
        self._most = most
        self._longest = longest
        self._at_once = at_once
        self._in_a_row = in_a_row
        self._chunks: OrderedDict[int, dict[int, StoredPart]] = OrderedDict()
        self._pages: OrderedDict[int, Page] = OrderedDict()
        self._charts: set[str] = set()
        self._firsts: list[int] = []
        self._turns: list[int] = []
        """Of the turns that were read, in order: their first commits, and they themselves."""
        self.first, self.last = parts.first, parts.last
        self._numbers: list[int] | None = None

    def for_a_story(self) -> Pages:
        """The same conversation, for one who goes through it from turn to turn and tells it."""
        return Pages(self._parts, self._learn, MAX_PASSED, MAX_TOLD, CHUNK_PASSED, READ_ON)

    # ------------------------------------------------------------ turns

    @property
    def numbers(self) -> list[int]:
        """The turns that left something, in order."""
        if self._numbers is None:
            self._numbers = self._parts.numbers()
        return self._numbers

    def newest_first(self, until: int | None = None) -> Iterator[int]:
        """The same from the last, or another, to the first; read as far as they are asked for."""
        last = self.last if until is None else min(until, self.last)
        return (n for n in range(last, self.first - 1, -1) if n in self._chunk(n))

    def page(self, turn: int) -> Page | None:
        """A turn; None for one that left nothing."""
        page = self._pages.get(turn)
        if page is not None:
            self._pages.move_to_end(turn)
            return page
        chunk = self._chunk(turn) if self.first <= turn <= self.last else {}
        part = chunk.get(turn)
        if part is None:
            return None
        follows = turn - 1 in self._pages
        page = self._decoded(part)
        if follows and self._in_a_row > 1:
            self._read_on(turn, chunk)
        return page

    def _decoded(self, part: StoredPart) -> Page:
        page = self._pages[part.turn_no] = Page(part, self._longest)
        if len(self._pages) > self._most:
            self._pages.popitem(last=False)
        for commit in page.commits:
            if commit.chart not in self._charts:
                self._charts.add(commit.chart)
                self._learn(commit.chart)
        return page

    def _read_on(self, turn: int, chunk: dict[int, StoredPart]) -> None:
        """Decode the next turns as well; what cannot be read is left for its own turn to say so."""
        with suppress(SaywhyError, ValueError):
            for number in range(turn + 1, turn + self._in_a_row):
                if number in chunk and number not in self._pages:
                    self._decoded(chunk[number])
        self._pages.move_to_end(turn)

    def newest(self) -> Page | None:
        """The newest turn that left commits."""
        return next(self.back(self.last), None)

    def back(self, turn: int, *words: str, least: int = 0) -> Iterator[Page]:
        """Turns with commits from one back to the first or `least`; those that hold these texts.

        The texts are looked for in the bytes, so that what cannot be meant is not decoded.
        """
        wanted = [word.encode() for word in words]
        for number in range(turn, max(self.first, least) - 1, -1):
            page = self._with_commits(number, wanted)
            if page is not None:
                yield page

    def onward(self, turn: int, *words: str) -> Iterator[Page]:
        """Turns with commits from one to the last, as `back` gives them."""
        wanted = [word.encode() for word in words]
        for number in range(turn, self.last + 1):
            page = self._with_commits(number, wanted)
            if page is not None:
                yield page

    def _with_commits(self, turn: int, wanted: list[bytes]) -> Page | None:
        part = self._chunk(turn).get(turn)
        if part is None or not part.commits:
            return None
        for word in wanted:
            if not any(word in doc for _, doc in part.commits):
                return None
        return self.page(turn)

    def _chunk(self, turn: int) -> dict[int, StoredPart]:
        number = turn // self._at_once
        chunk = self._chunks.get(number)
        if chunk is None:
            first = number * self._at_once
            parts = self._parts.read(max(first, self.first), first + self._at_once - 1)
            chunk = self._chunks[number] = {part.turn_no: part for part in parts}
            if len(self._chunks) * self._at_once > MAX_READ:
                self._chunks.popitem(last=False)
            for part in parts:
                if part.commits:
                    self._note(part.turn_no, part.commits[0][0])
        else:
            self._chunks.move_to_end(number)
        return chunk

    def _note(self, turn: int, first: int) -> None:
        turns = self._turns
        i = bisect_left(turns, turn)
        if i == len(turns) or turns[i] != turn:
            turns.insert(i, turn)
            self._firsts.insert(i, first)

    # ------------------------------------------------------------ by number

    def known(self, frame: int) -> Commit | None:
        """Some commit of a frame, if one is in the pages that are here."""
        for page in reversed(self._pages.values()):
            for commit in page.commits:
                if commit.frame == frame:
                    return commit
        return None

    def of_commit(self, seq: int) -> Page | None:
        """The turn that a commit belongs to; None for one that is not there."""
        page = self.at(seq)
        return page if page is not None and seq in page.by_seq else None

    def at(self, seq: int) -> Page | None:
        """The turn of the newest commit up to and including `seq`."""
        if seq < 1:
            return None
        turns = self._turns
        i = bisect_right(self._firsts, seq)
        if i:  # of the turns that were read; one that was not may lie between
            page = self.page(turns[i - 1])
            is_next = i < len(turns) and turns[i] == turns[i - 1] + 1
            if page is not None and (is_next or seq in page.by_seq):
                return page
        turn = self._parts.turn_of_commit(seq)
        return self.page(turn) if turn else None

    def of_message(self, seq: int) -> Page | None:
        """The turn that a message belongs to."""
        for page in reversed(self._pages.values()):
            if seq in page.messages:
                return page
        turn = self._parts.turn_of_message(seq)
        return self.page(turn) if turn else None
