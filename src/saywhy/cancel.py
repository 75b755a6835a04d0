"""Whether somebody still wants what is being done, and how to say that nobody does.

One token goes along with a run: through the environment of its stages to the model call in flight
and to the handlers of tools. It holds no task and no timer; a deadline is looked at when somebody
asks or waits. What is done once it is cancelled is up to whoever holds it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from threading import Lock
from weakref import WeakSet

from saywhy.clock import Clock, SystemClock
from saywhy.errors import CallerError, RunError


class Cancelled(RunError):
    """What was being done is not wanted any more. `reason` says why."""

    name = "Cancelled"

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"cancelled: {reason}" if reason else "cancelled")


class CancelToken:
    """Can be cancelled once, from any thread; `timeout` seconds do it as well.

    `child()` gives one that is cancelled with this one and can be on its own.
    """

    def __init__(
        self,
        *,
        timeout: float | None = None,
        clock: Clock | None = None,
        parent: CancelToken | None = None,
    ) -> None:
        if timeout is not None and not timeout >= 0:
            raise CallerError(
                f"a timeout of {timeout!r} seconds makes no sense",
                hint="give a number from 0, or None for no limit",
            )
        self._clock = clock or (parent._clock if parent else SystemClock())
        self._timeout = timeout
        self._due = None if timeout is None else self._clock.now() + timeout * 1000
        self._parent = parent
        self._reason: str | None = None
        self._lock = Lock()
        self._wakers: dict[int, Callable[[str], object]] = {}
        self._number = 0
        self._children: WeakSet[CancelToken] = WeakSet()
        if parent is not None:
            with parent._lock:
                parent._children.add(self)

    def __repr__(self) -> str:
        return f"<CancelToken: {self.reason if self.cancelled else 'not cancelled'}>"

    @property
    def cancelled(self) -> bool:
        """Whether it is over, be it by `cancel`, the deadline, or the token above."""
        if self._reason is not None:
            return True
        if self._parent is not None and self._parent.cancelled:
            self.cancel(self._parent.reason)
        elif self._due is not None and self._clock.now() >= self._due:
            self.cancel(f"took longer than {self._timeout:g} seconds")
        return self._reason is not None

    @property
    def reason(self) -> str:
        """Why it was cancelled; empty while it is not."""
        return (self._reason or "") if self.cancelled else ""

    @property
    def remaining(self) -> float | None:
        """Seconds until the nearest deadline, this one's or one above; None without any."""
        above = self._parent.remaining if self._parent else None
        if self._due is None:
            return above
        own = max(0.0, (self._due - self._clock.now()) / 1000)
        return own if above is None else min(own, above)

    def cancel(self, reason: str = "cancelled by the caller") -> None:
        """Say that the work is not wanted any more. Later calls change nothing."""
        with self._lock:
            if self._reason is not None:
                return
            self._reason = reason
            wakers = list(self._wakers.values())
            children = list(self._children)
            self._wakers.clear()
        for wake in wakers:
            wake(reason)
        for child in children:
            child.cancel(reason)

    def check(self) -> None:
        """Raise `Cancelled` when it is. For work that looks up now and then."""
        if self.cancelled:
            raise Cancelled(self.reason)

    def child(self, *, timeout: float | None = None, clock: Clock | None = None) -> CancelToken:
        """A token that ends with this one, or sooner. Hold on to it: this one does not."""
        if self.cancelled:
            below = CancelToken(clock=clock or self._clock)
            below.cancel(self.reason)
            return below
        return CancelToken(timeout=timeout, clock=clock, parent=self)

    def on_cancel(self, call: Callable[[str], object]) -> Callable[[], None]:
        """Have `call(reason)` called when it is cancelled, at once if it is; gives the way to
        take that back. It is called where `cancel` is, so it must be quick and must not raise. A
        deadline calls it when somebody asks or waits.
        """
        if not self.cancelled:
            with self._lock:
                if self._reason is None:
                    self._number += 1
                    number = self._number
                    self._wakers[number] = call
                    return lambda: self._forget(number)
        call(self.reason)
        return lambda: None

    async def wait(self) -> str:
        """Come back once it is cancelled, with the reason."""
        loop = asyncio.get_running_loop()
        woken: asyncio.Future[str] = loop.create_future()

        def arrive(reason: str) -> None:
            if not woken.done():
                woken.set_result(reason)

        take_back = self.on_cancel(lambda reason: loop.call_soon_threadsafe(arrive, reason))
        try:
            while True:
                remaining = self.remaining
                try:
                    return await self._clock.wait_for(_until(woken), remaining)
                except TimeoutError:
                    if self.cancelled:
                        return self.reason
        finally:
            take_back()
            woken.cancel()

    def _forget(self, number: int) -> None:
        with self._lock:
            self._wakers.pop(number, None)


async def _until(woken: asyncio.Future[str]) -> str:
    # Shielded, so that a clock that gives up on us leaves the future for the next round.
    return await asyncio.shield(woken)
