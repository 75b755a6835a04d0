"""Promise: never more processes than allowed, none lost, none left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import pytest

from saywhy.expr.pool import Pool
from saywhy.expr.sandbox import Limits


@pytest.fixture
def pool() -> Pool:
    return Pool(Limits(), 2)


def test_the_last_one_is_used_first(pool: Pool) -> None:
    """One thread needs one process, however often it asks."""
    first = pool.take()
    pool.give_back(first)
    assert pool.take() is first
    second = pool.take()
    pool.give_back(first)
    pool.give_back(second)
    assert pool.take() is second
    pool.give_back(second)
    pool.close()


def test_who_comes_late_waits(pool: Pool) -> None:
    """With all processes taken, a thread waits until one is given back, or has ended."""
    one, two = pool.take(), pool.take()
    got: list[object] = []
    threads = [threading.Thread(target=lambda: got.append(pool.take())) for _ in range(2)]
    for thread in threads:
        thread.start()
    time.sleep(0.1)
    assert not got
    pool.give_back(one)
    two.end()
    pool.give_back(two)
    for thread in threads:
        thread.join(20)
    assert one in got
    assert two not in got
    assert len(set(got)) == 2
    for process in got:
        pool.give_back(process)  # type: ignore[arg-type]
    pool.close()


def test_closing_while_one_is_at_work(pool: Pool) -> None:
    """It ends when it is given back; what is taken afterwards is a new one."""
    busy, idle = pool.take(), pool.take()
    pool.give_back(idle)
    pool.close()
    assert idle.over
    assert not busy.over
    pool.give_back(busy)
    assert busy.over
    fresh = pool.take()
    assert fresh not in (busy, idle)
    pool.give_back(fresh)
    pool.close()


def test_without_a_pool_there_are_no_processes() -> None:
    """Dropping the pool ends what it started."""
    pool = Pool(Limits(), 1)
    process = pool.take()
    pool.give_back(process)
    del pool
    assert process.over


def test_programs_keep_their_numbers(pool: Pool) -> None:
    """A text has one number, and no two have the same."""
    first, second = pool.new_number(), pool.new_number()
    assert first != second
    pool.remember("a", first)
    assert (pool.number_of("a"), pool.number_of("b")) == (first, None)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing to fork with")
def test_a_fork_leaves_the_processes_to_its_parent() -> None:
    """A copy of the program starts processes of its own; those of the first go on."""
    program = (
        "import os\n"
        "from saywhy.expr.pool import Pool\n"
        "from saywhy.expr.sandbox import Limits\n"
        "pool = Pool(Limits(), 1)\n"
        "first = pool.take(); pool.give_back(first)\n"
        "child = os.fork()\n"
        "mine = pool.take()\n"
        "answer = mine.ask(1, '(kit, bounds) => x => x + 1', (1,))\n"
        "pool.give_back(mine)\n"
        "if child == 0:\n"
        "    assert mine is not first and answer == 2\n"
        "else:\n"
        "    assert os.waitpid(child, 0)[1] == 0\n"
        "    assert mine is first and answer == 2\n"
        "    assert first.ask(1, '', (2,)) == 3\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
