"""The one thread that writes to the store's file, many jobs to a transaction.

Jobs come from any event loop. Those that wait while the disk is busy share the next transaction
and its one sync, so that many conversations cost little more than one. A job sits in a savepoint:
what it wrote goes when it raises, and the others stay. What a job does is not known here.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Final, TypeVar, TypeVarTuple

from saywhy.errors import CallerError
from saywhy.stores.sqlite_file import FAILURES, named

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

MAX_BATCH: Final = 256
"""Jobs in one transaction at most, so that none waits for a stream that does not end."""


class _Job:
    __slots__ = ("args", "error", "future", "value", "work")

    def __init__(
        self, work: Callable[..., Any], args: tuple[Any, ...], future: asyncio.Future[Any]
    ) -> None:
        self.work = work
        self.args = args
        self.future = future
        self.value: Any = None
        self.error: BaseException | None = None


class Writer:
    """Runs jobs on a connection, one after the other; closes the connection at the end."""

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self._db = db
        self._path = path
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._handing_in = threading.Lock()
        self._closed = False
        self._stop = False
        self._thread = threading.Thread(target=self._run, name="saywhy-store-writer", daemon=True)
        self._thread.start()

    async def do(self, work: Callable[[sqlite3.Connection, *Ts], T], *args: *Ts) -> T:
        """The job's value, once its transaction is on the disk."""
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        with self._handing_in:  # no job may slip in behind the end of the queue
            if self._closed:
                raise CallerError("the store is closed", hint="open it before it is used")
            self._jobs.put(_Job(work, args, future))
        return await future

    def close(self) -> None:
        """Finish the jobs handed in so far, then let go of the file. Blocks."""
        with self._handing_in:
            if not self._closed:
                self._closed = True
                self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        while not self._stop:
            job = self._jobs.get()
            if job is None:
                break
            _tell(self._batch(job))
        self._db.close()

    def _batch(self, first: _Job) -> list[_Job]:
        """Run one transaction; the jobs come back with their values or errors."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            # Everything that waits would wait for the same lock again, each its full time.
            return self._fail_all([first, *self._more(MAX_BATCH - 1)], error)
        jobs: list[_Job] = []
        job: _Job | None = first
        try:
            while job is not None:
                jobs.append(job)
                self._run_job(job)
                job = self._next() if len(jobs) < MAX_BATCH else None
            self._db.execute("COMMIT")
        except BaseException as error:
            with suppress(sqlite3.Error):  # should that fail too, the next BEGIN says so
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
            return self._fail_all(jobs, error)
        return jobs

    def _run_job(self, job: _Job) -> None:
        """A job's own error stays with the job; one that took the transaction along is raised.

        On a full disk or an I/O error SQLite rolls back the transaction by itself, with it the
        jobs before; statements that follow would each commit on their own.
        """
        db = self._db
        db.execute("SAVEPOINT job")
        try:
            job.value = job.work(db, *job.args)
        except BaseException as error:
            if not db.in_transaction:
                raise
            db.execute("ROLLBACK TO job")
            job.error = self._named(error)
        db.execute("RELEASE job")

    def _next(self) -> _Job | None:
        try:
            job = self._jobs.get_nowait()
        except Empty:
            return None
        if job is None:
            self._stop = True
        return job

    def _more(self, limit: int) -> list[_Job]:
        jobs: list[_Job] = []
        while len(jobs) < limit and (job := self._next()) is not None:
            jobs.append(job)
        return jobs

    def _fail_all(self, jobs: list[_Job], error: BaseException) -> list[_Job]:
        for job in jobs:
            job.error = self._named(error)  # one each: a raised error collects tracebacks
        return jobs

    def _named(self, error: BaseException) -> BaseException:
        if not isinstance(error, FAILURES):
            return error
        own = named(error, self._path)
        own.__cause__ = error
        return own


def _tell(jobs: list[_Job]) -> None:
    """Wake each event loop once, whatever number of its jobs are done."""
    by_loop: dict[asyncio.AbstractEventLoop, list[_Job]] = {}
    for job in jobs:
        by_loop.setdefault(job.future.get_loop(), []).append(job)
    for loop, done in by_loop.items():
        with suppress(RuntimeError):  # that loop is closed: nobody waits there any more
            loop.call_soon_threadsafe(_settle, done)


def _settle(jobs: list[_Job]) -> None:
    for job in jobs:
        if job.future.done():  # whoever waited has left; the write stands
            continue
        if job.error is None:
            job.future.set_result(job.value)
        else:
            job.future.set_exception(job.error)
