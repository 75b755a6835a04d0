"""Which process evaluates next? The processes of one engine, as many as there are cores.

They are started when they are needed, the one that was used last is used first, and they end with
the pool. More threads than processes wait for their turn, each at most as long as those before it
may take.
"""

from __future__ import annotations

import os
import threading
import weakref
from contextlib import suppress
from itertools import count
from typing import Final

from saywhy.expr.process import Process
from saywhy.expr.sandbox import Limits
from saywhy.expr.watch import Watch

MOST: Final = 8
MAX_NUMBERS: Final = 16_384


def usual_size() -> int:
    """A process for each core, eight at most."""
    return min(MOST, os.cpu_count() or 1)


class Pool:
    """Up to `size` processes, for any number of threads."""

    def __init__(self, limits: Limits, size: int) -> None:
        self.limits: Final = limits
        self.size: Final = size
        self._watch: Final = Watch(limits.deadline_seconds)
        self._processes: set[Process] = set()
        self._numbers: dict[str, int] = {}
        self._number = count(1)
        self._reset()
        weakref.finalize(self, _end_all, self._processes)
        _pools.add(self)

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._idle: list[Process] = []
        self._running = 0
        self._waiting = 0

    # ------------------------------------------------------------ processes

    def take(self) -> Process:
        """A process for this thread alone, until it is given back. Raises `Lost`."""
        # Taking from a list and adding to one are each one act, so the usual case needs no lock.
        try:
            return self._idle.pop()
        except IndexError:
            return self._wait_or_start()

    def _wait_or_start(self) -> Process:
        with self._lock:
            self._waiting += 1
            try:
                while self._running >= self.size:
                    with suppress(IndexError):
                        return self._idle.pop()
                    self._changed.wait()
                self._running += 1
            finally:
                self._waiting -= 1
        try:
            process = Process(self.limits, self._watch)
        except BaseException:
            with self._lock:
                self._leave()
            raise
        self._processes.add(process)
        return process

    def give_back(self, process: Process) -> None:
        """Say that this thread needs it no more, whatever has become of it."""
        if process.credit <= 0 and process.is_worn():
            self._retire(process)
            return
        self._idle.append(process)
        # Looked at afterwards: who begins to wait now finds the process, and who waits is told.
        if process.is_dismissed:
            with suppress(ValueError):
                self._idle.remove(process)
                self._retire(process)
        elif self._waiting:
            with self._lock:
                self._changed.notify()

    def _retire(self, process: Process) -> None:
        process.end()
        with self._lock:
            if process in self._processes:
                self._processes.discard(process)
                self._leave()

    def _leave(self) -> None:
        self._running -= 1
        self._changed.notify()

    def close(self) -> None:
        """End all processes; those at work when they are done. The next evaluation starts anew."""
        for process in list(self._processes):
            process.is_dismissed = True
        with suppress(IndexError):
            while True:
                self._retire(self._idle.pop())

    def forked(self) -> None:
        """In a copy of this program that a fork made: its processes are the other one's."""
        for process in self._processes:
            process.end()
        self._processes.clear()
        self._watch.forked()
        self._reset()

    # ------------------------------------------------------------ programs

    def number_of(self, text: str) -> int | None:
        """The number of a program that was compiled before."""
        return self._numbers.get(text)

    def new_number(self) -> int:
        """A number that no program had yet."""
        return next(self._number)

    def remember(self, text: str, number: int) -> None:
        """Note that `text` can be compiled, and under which number processes know it."""
        if len(self._numbers) >= MAX_NUMBERS:
            self._numbers = {}
        self._numbers[text] = number


def _end_all(processes: set[Process]) -> None:
    for process in list(processes):
        process.end()


def _after_fork() -> None:
    for pool in list(_pools):
        pool.forked()


_pools: Final[weakref.WeakSet[Pool]] = weakref.WeakSet()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
