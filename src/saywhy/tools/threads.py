"""Threads in which functions of hosts run, so that none of them can hold up a conversation.

Handing a call over and waiting for it on the event loop costs about 100 µs, which is more than a
whole turn of a flow. So a caller first waits in place for a moment (`GRACE_SECONDS`): quick
functions are back by then, for a quarter of that. One that was slow the last time is waited for on
the loop from the start; the loop is held up for one moment a function, not for one a call.
Functions that are known to return at once need no thread at all (`quick`).

A thread cannot be stopped from outside. When a call is given up, its thread is left to finish what
it does, another takes its place, and the number of such threads is bounded.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from saywhy.errors import OutsideError

GRACE_SECONDS: Final = 0.0005
"""How long the event loop may stand still for the sake of a quick function."""


_give_way: Final[Callable[[], None] | None] = getattr(os, "sched_yield", None)


class TooManyLost(OutsideError):
    """So many calls were given up and still run that no further one is started."""

    name = "TooManyLost"


class Late(Exception):
    """The time of a call waited for in place was up."""

    name = "TimeoutError"


class Job:
    """One call on its way through a thread. `wait` is for one caller, on one event loop."""

    __slots__ = (
        "_call",
        "_context",
        "_finished",
        "_loop",
        "_notify",
        "error",
        "given_up",
        "over",
        "result",
        "seconds",
        "started",
        "unwanted",
    )

    def __init__(self, call: Callable[[], Any]) -> None:
        self._call = call
        self._context = contextvars.copy_context()
        self._finished = threading.Lock()
        self._finished.acquire()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._notify: asyncio.Future[None] | None = None
        self.started = False
        self.given_up = False
        self.over = False
        self.unwanted = False
        self.seconds = 0.0
        self.result: Any = None
        self.error: BaseException | None = None

    def run(self) -> None:
        """Carry the call out, in a thread of ours. Nothing it raises goes any further."""
        began = time.perf_counter()
        try:
            self.result = self._context.run(self._call)
        except BaseException as error:
            self.error = error
        self.seconds = time.perf_counter() - began
        self._finished.release()
        # Read after the release: either the waiter sees the lock, or we see what it left.
        if self.unwanted:
            self._drop_result()
        if self._loop is not None and self._notify is not None:
            with contextlib.suppress(RuntimeError):  # the loop was closed; nobody waits any more
                self._loop.call_soon_threadsafe(_wake, self._notify)

    def abandon(self) -> None:
        """Nobody will look at the result: a coroutine that the call gives is closed unawaited."""
        self.unwanted = True
        if self._take():
            self._drop_result()

    def _drop_result(self) -> None:
        if inspect.iscoroutine(self.result):
            self.result.close()

    def done_within(self, seconds: float) -> bool:
        """Whether the call is over, after waiting in place at most this long."""
        if self._take():
            return True
        # Giving way beats sleeping: a sleeper's own waking costs up to 50 µs between two cores.
        ends = time.perf_counter() + min(seconds, GRACE_SECONDS)
        while _give_way is not None and time.perf_counter() < ends:
            _give_way()
            if self._take():
                return True
        return seconds > 0 and self._finished.acquire(timeout=seconds)

    def _take(self) -> bool:
        return self._finished.acquire(blocking=False)

    async def wait(self) -> None:
        """Come back when the call is over, letting the event loop do other things."""
        self._loop = asyncio.get_running_loop()
        self._notify = self._loop.create_future()
        if not self._take():
            await self._notify


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


class Threads:
    """At most `limit` threads that run calls, and `lost_limit` more that were given up.

    Threads are started when needed and are daemons: one that hangs does not keep the program from
    ending.
    """

    def __init__(self, limit: int = 32, lost_limit: int = 64) -> None:
        self._limit = limit
        self._lost_limit = lost_limit
        self.forget()

    def forget(self) -> None:
        """As new: after a fork only the calling thread is left."""
        self._mutex = threading.Lock()
        self._idle: list[_Thread] = []
        self._waiting: deque[Job] = deque()
        self._threads = 0
        self._lost = 0
        self._running = 0

    @property
    def running(self) -> int:
        """Calls being carried out or waiting, without those given up."""
        return self._running

    def start(self, call: Callable[[], Any]) -> Job:
        """Have `call` carried out; raises `TooManyLost` where too many earlier ones still hang."""
        job = Job(call)
        with self._mutex:
            if self._lost >= self._lost_limit:
                raise TooManyLost(
                    f"{self._lost} functions still run though their time is up",
                    hint="give network calls inside functions a timeout of their own",
                )
            thread = self._idle.pop() if self._idle else self._another()
            self._running += 1
            if thread is None:
                self._waiting.append(job)
                return job
            job.started = True
        thread.take(job)
        return job

    def give_up(self, job: Job) -> bool:
        """Stop waiting for a job. True where it had begun, so that it may have had its effect."""
        thread = following = None
        with self._mutex:
            if not job.started:
                self._waiting.remove(job)
                self._running -= 1
                return False
            if job.over or job.given_up:
                return True
            job.given_up = True
            self._running -= 1
            self._lost += 1
            self._threads -= 1
            if self._waiting:
                with contextlib.suppress(RuntimeError):  # no thread to be had: they wait on
                    thread = self._another()
                    following = self._next_waiting()
        if thread is not None and following is not None:
            thread.take(following)
        return True

    def following(self, thread: _Thread, job: Job) -> Job | None:
        """What a thread does after `job`: another one, or nothing for now (or for good)."""
        with self._mutex:
            job.over = True
            if job.given_up:
                self._lost -= 1
                thread.ended = True
                return None
            self._running -= 1
            if self._waiting:
                return self._next_waiting()
            self._idle.append(thread)
            return None

    def _next_waiting(self) -> Job:
        job = self._waiting.popleft()
        job.started = True
        return job

    def _another(self) -> _Thread | None:
        if self._threads >= self._limit:
            return None
        thread = _Thread(self)
        self._threads += 1
        return thread


class _Thread:
    """One thread with a place for the next job."""

    __slots__ = ("_go", "_job", "_pool", "ended")

    def __init__(self, pool: Threads) -> None:
        self._pool = pool
        self._go = threading.Lock()
        self._go.acquire()
        self._job: Job | None = None
        self.ended = False
        threading.Thread(target=self._work, name="saywhy-tool", daemon=True).start()

    def take(self, job: Job) -> None:
        self._job = job
        self._go.release()

    def _work(self) -> None:
        while not self.ended:
            self._go.acquire()
            job, self._job = self._job, None
            while job is not None:
                job.run()
                job = self._pool.following(self, job)


SHARED: Final = Threads()
"""The threads of this process."""

_STEPS: Final = Threads()
"""Those of functions that a step waits for in place: it must not wait for tools to end."""

os.register_at_fork(after_in_child=SHARED.forget)
os.register_at_fork(after_in_child=_STEPS.forget)


def in_time(call: Callable[[], Any], seconds: float) -> Any:
    """What `call` gives, waited for in place; raises `Late` when that takes too long."""
    job = _STEPS.start(call)
    if not job.done_within(seconds):
        _STEPS.give_up(job)
        if not job.done_within(0):
            job.abandon()
            raise Late(seconds)
    if job.error is not None:
        raise job.error
    return job.result
