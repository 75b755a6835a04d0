"""Evaluates expressions in processes of their own: for flows that somebody else may edit.

`Isolated` stands where `JavaScript` stands and gives the same values. What is different is what an
expression can do at worst: it ends a process that has nothing. A few operations of the engine
cannot be interrupted from inside; here they end at the deadline, with their process. An evaluation
waits for its answer, so whoever has an event loop calls this from another thread.
"""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Sequence

from saywhy.errors import CallerError
from saywhy.expr.distant import DistantWorker
from saywhy.expr.outcome import FunctionAnswer, Names, Outcome
from saywhy.expr.pool import Pool, usual_size
from saywhy.expr.sandbox import Limits


class Isolated:
    """The engine for expressions, in up to `size` processes. They start when they are needed."""

    def __init__(self, limits: Limits | None = None, *, size: int | None = None) -> None:
        """Raises `CallerError` where the system cannot do it, or for a size or deadline of 0."""
        self.limits = limits or Limits()
        _check_system()
        if size is not None and size < 1:
            raise CallerError(f"expressions need one process at least, not {size}")
        if not 0 < self.limits.deadline_seconds < 3600:
            seconds = self.limits.deadline_seconds
            raise CallerError(f"the deadline of an expression is some seconds, not {seconds}")
        self._pool = Pool(self.limits, size or usual_size())
        self._workers: list[DistantWorker] = []

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
        """As `JavaScript.evaluate`.

        Past the deadline the error is a `TimeLimit`. Where the process ended by itself, or said
        what no expression can have said, it is a `WorkerFailed`.
        """
        try:
            worker = self._workers.pop()
        except IndexError:
            worker = DistantWorker(self._pool)
        try:
            return worker.evaluate(source, names, answers, now_ms, seed, text)
        finally:
            self._workers.append(worker)

    def close(self) -> None:
        """End the processes. A later evaluation starts new ones."""
        self._pool.close()


def _check_system() -> None:
    missing = "poll" if not hasattr(select, "poll") else ""
    if os.name != "posix" or missing or not sys.executable:
        raise CallerError(
            "expressions cannot be isolated on this system",
            hint="it takes Linux or macOS, and a Python that knows its own program",
        )
