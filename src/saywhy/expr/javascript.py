"""Evaluates expressions: JavaScript with every limit on, one semantics for the whole product.

`JavaScript` may be shared by any number of threads and conversations: each thread has contexts of
its own, and nothing that an expression could change is kept in them. It does no I/O and awaits
nothing. Where an expression calls an approved function, the evaluation ends with `Suspended`; the
caller runs the function and evaluates again with the answers so far.

What an expression will read is `names`; `[error: …]` and other rules of flows are theirs.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Final, Protocol

from saywhy.expr.changes import Change
from saywhy.expr.outcome import Evaluated, FunctionAnswer, Names, Outcome, Raised, Suspended
from saywhy.expr.sandbox import Limits
from saywhy.expr.transfer import Foreign
from saywhy.expr.worker import Worker

__all__ = [
    "Change",
    "Evaluated",
    "Foreign",
    "FunctionAnswer",
    "JavaScript",
    "Limits",
    "Names",
    "Outcome",
    "Placement",
    "Raised",
    "Suspended",
]


SLOW_SECONDS: Final = 0.001
"""Of a round of an evaluation, from which on its time is worth measuring exactly: all 200 rounds
that an evaluation may have, each a little shorter, are less than it may take."""

_threads = threading.local()
"""The workers of each thread, by their limits. They are freed when the thread ends."""


class Placement(Protocol):
    """Where expressions are evaluated: `JavaScript` here, `Isolated` in processes of their own."""

    def evaluate(
        self,
        source: str,
        names: Names,
        answers: Sequence[FunctionAnswer] = (),
        *,
        now_ms: float = 0.0,
        seed: int = 0,
        text: bool = False,
    ) -> Outcome:
        """One round of an evaluation; see `JavaScript.evaluate`."""
        ...


class JavaScript:
    """The engine for expressions. Making one costs nothing; a thread's first evaluation does.

    Engines with the same limits share their contexts: no evaluation leaves anything in one that
    another could tell.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._here = threading.local()

    def evaluate(
        self,
        source: str,
        names: Names,
        answers: Sequence[FunctionAnswer] = (),
        *,
        now_ms: float = 0.0,
        seed: int = 0,
        text: bool = False,
    ) -> Outcome:
        """The value of `source`, the error it throws, or the approved function it waits for.

        `answers` are those of the calls before, in order. With `text` the value is its string form:
        what `String()` gives, and JSON for lists and objects. `now_ms` and `seed` are the clock and
        the dice of this evaluation; all rounds of one must be given the same.
        """
        try:
            worker: Worker = self._here.worker
        except AttributeError:
            worker = self._here.worker = _worker_of_thread(self.limits)
        if not answers:
            return worker.evaluate(source, names, answers, now_ms, seed, text)
        # To ask for processor time takes ten times as long as to look at the clock on the wall. So
        # that is done when the round before was long; since each round does all that those before
        # it did, only the first long one is measured by the wall.
        clock = time.thread_time if worker.is_slow else time.perf_counter
        began = clock()
        outcome = worker.evaluate(source, names, answers, now_ms, seed, text)
        seconds = clock() - began
        worker.is_slow = seconds > SLOW_SECONDS
        if type(outcome) is not Suspended:
            return outcome
        return Suspended(outcome.name, outcome.args, outcome.index, seconds)


def _worker_of_thread(limits: Limits) -> Worker:
    workers: dict[Limits, Worker] = vars(_threads).setdefault("workers", {})
    if limits not in workers:
        workers[limits] = Worker(limits)
    return workers[limits]
