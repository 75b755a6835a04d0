"""The commits of a long run."""

from __future__ import annotations

import asyncio

import pytest

from saywhy.chart.commit import Commit, Op
from saywhy.chart.commits import CHUNK, LONG, MOST, RIPE, CommitLog, Commits


def commit(seq: int) -> Commit:
    return Commit(seq, 1, 1, "abc", "loop", "node", "stage", ops=(Op("set", ("state", "n"), seq),))


def some(count: int) -> list[Commit]:
    return [commit(seq) for seq in range(1, count + 1)]


def filled(count: int) -> CommitLog:
    log = CommitLog()
    for one in some(count):
        log.append(one)
    return log


def packed(log: CommitLog) -> int:
    """How many are packed."""
    return CHUNK * len(log._kept[0])  # pyright: ignore[reportPrivateUsage]


def test_a_short_run_keeps_its_commits() -> None:
    """Up to a length they are a tuple of the very objects that were handed in."""
    commits = some(LONG - 1)
    log = CommitLog(commits)
    log.pack_soon()  # no event loop is needed where nothing is packed
    found = log.so_far()
    assert type(found) is tuple
    assert all(one is other for one, other in zip(found, commits, strict=True))


@pytest.mark.parametrize("count", [LONG, LONG + 1, 300, 1000])
def test_a_long_run_reads_the_same(count: int) -> None:
    """Length, order, places, slices and equality are those of the tuple."""
    log, expected = filled(count), tuple(some(count))
    log.pack()
    assert packed(log) >= count - RIPE
    found = log.so_far()
    assert isinstance(found, Commits)
    assert len(found) == len(log) == count
    assert tuple(found) == tuple(log) == expected
    assert tuple(reversed(found)) == expected[::-1]
    assert [found[at] for at in range(count)] == list(expected)
    assert found[-1] == expected[-1]
    assert found[-count] == expected[0]
    assert found[5:70:3] == expected[5:70:3]
    assert found == expected
    assert expected == found
    assert found != expected[:-1]
    assert found != (*expected[:-1], commit(0))
    assert found != list(expected)
    assert repr(found) == f"<{count} commits>"
    for at in (count, -count - 1):
        with pytest.raises(IndexError, match=f"commit {at} of {count}"):
            found[at]


def test_what_comes_later_is_not_among_them() -> None:
    """What was looked at once stays as it was, although it is packed and more comes."""
    log = filled(200)
    early, expected = log.so_far(), tuple(some(200))
    walk = iter(early)
    begun = [next(walk) for _ in range(50)]
    for seq in range(201, 400):
        log.append(commit(seq))
    assert tuple(early) == expected
    log.pack()
    assert (*begun, *walk) == expected
    assert tuple(early) == expected
    assert tuple(reversed(early)) == expected[::-1]
    assert early[-1] == expected[-1]
    assert len(log.so_far()) == 399


def test_packed_while_waiting() -> None:
    """Nothing is packed until the event loop has time for it."""

    async def run() -> tuple[int, int]:
        log = filled(LONG)
        log.pack_soon()
        log.pack_soon()
        before = packed(log)
        await asyncio.sleep(0)
        return before, packed(log)

    assert asyncio.run(run()) == (0, LONG - CHUNK)


def test_a_run_that_never_waits() -> None:
    """There is a bound to what is not packed, also where no loop ever has time."""
    log = filled(MOST)
    log.pack_soon()
    assert packed(log) > MOST - RIPE
