"""The commits of a run in memory: the newest as they are, those of a long run before them packed.

Packing takes some seven microseconds a commit. It is done while the run waits for somebody outside,
a model or a tool, and once it is over, so that no step takes longer for it; and not before a run is
a long one. How a chunk is packed is answered by `packed`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, overload

from saywhy.chart.commit import Commit
from saywhy.chart.drive import soon
from saywhy.chart.packed import Chunk, pack, unpack

CHUNK: Final = 32
"""Commits that are packed together."""

LONG: Final = 128
"""So many commits make a run a long one."""

RIPE: Final = 40
"""So many are there in a long run when the oldest of them are packed."""

MOST: Final = 4_096
"""So many are not packed at most, however long a run goes without waiting."""


class CommitLog:
    """Takes the commits of a run as they happen."""

    __slots__ = ("_is_due", "_kept", "_pattern")

    def __init__(self, commits: Sequence[Commit] = ()) -> None:
        self._kept: tuple[tuple[Chunk, ...], list[Commit]] = (), list(commits)
        """Chunks, and the commits behind them: one value, so that nobody sees half a change."""
        self._pattern = b""
        self._is_due = False

    def append(self, commit: Commit) -> None:
        """Keep one more."""
        self._kept[1].append(commit)

    def __len__(self) -> int:
        chunks, newest = self._kept
        return CHUNK * len(chunks) + len(newest)

    def __iter__(self) -> Iterator[Commit]:
        return iter(self.so_far())

    def so_far(self) -> Sequence[Commit]:
        """The commits up to now; what comes later is not among them."""
        chunks, newest = self._kept
        if not chunks and len(newest) < LONG:
            return tuple(newest)
        return Commits(self, len(self))

    # ------------------------------------------------------------ packing

    def pack_soon(self) -> None:
        """Pack the oldest of a long run as soon as the event loop has nothing else at hand."""
        chunks, newest = self._kept
        if self._is_due or len(newest) < (RIPE if chunks else LONG):
            return
        if len(newest) >= MOST:
            self.pack()
            return
        self._is_due = True
        soon(self.pack)

    def pack(self) -> None:
        """Pack the oldest now, where there are enough."""
        self._is_due = False
        chunks, newest = self._kept
        made: list[Chunk] = []
        at = 0
        while len(newest) - at >= RIPE:
            chunk, self._pattern = pack(newest[at : at + CHUNK], self._pattern)
            made.append(chunk)
            at += CHUNK
        if made:
            self._kept = (*chunks, *made), newest[at:]

    # ------------------------------------------------------------ reading

    def beside(self, at: int) -> tuple[int, Sequence[Commit]]:
        """The commits that are kept together with number `at`, and the number of the first."""
        chunks, newest = self._kept
        number = at // CHUNK
        if number < len(chunks):
            return number * CHUNK, unpack(chunks[number])
        return CHUNK * len(chunks), newest


class Commits(Sequence[Commit]):
    """The commits of a long run, in order. Those that are packed are unpacked when looked at.

    So looking at one twice gives equal commits, not the same ones; walk them in order where there
    are many. A slice is a tuple.
    """

    __slots__ = ("_count", "_log", "_seen")

    def __init__(self, log: CommitLog, count: int) -> None:
        self._log = log
        self._count = count
        self._seen: tuple[int, Sequence[Commit]] | None = None
        """What was looked at last by number, with the number of its first: the next is near."""

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Commit]:
        at = 0
        while at < self._count:
            start, together = self._log.beside(at)
            several = together[at - start : self._count - start]
            yield from several
            at += len(several)

    def __reversed__(self) -> Iterator[Commit]:
        at = self._count
        while at > 0:
            start, together = self._log.beside(at - 1)
            yield from reversed(together[: at - start])
            at = start

    @overload
    def __getitem__(self, index: int) -> Commit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Commit, ...]: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return tuple([self[at] for at in range(*index.indices(self._count))])
        at = index + self._count if index < 0 else index
        if not 0 <= at < self._count:
            raise IndexError(f"commit {index} of {self._count}")
        seen = self._seen
        if seen is None or not seen[0] <= at < seen[0] + len(seen[1]):
            start, together = self._log.beside(at)
            self._seen = seen = start, together[: self._count - start]
        return seen[1][at - seen[0]]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Commits | tuple):
            return NotImplemented
        return len(self) == len(other) and all(map(_equal, self, other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{self._count} commits>"


def _equal(one: Commit, other: Any) -> bool:
    return bool(one == other)
