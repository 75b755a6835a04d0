"""What a recorder has still to hear from functions that take their time.

The run does not wait for them. `settled` does.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import Any, Final

from saywhy.errors import CallerError

MOST_WAITING: Final = 1_000
"""So many are waited for at once; what comes on top is not asked."""


class Later:
    """The open answers of one recorder."""

    def __init__(self, what: str) -> None:
        self.what = what
        self._open: set[asyncio.Task[None]] = set()

    def ask(
        self, question: Callable[[], Any], take: Callable[[Any], None]
    ) -> Awaitable[None] | None:
        """Hand what `question` gives to `take`, at once or, where it is async, when it is there.

        Raises what a plain function raises; what an async one raises is logged. Gives what is to
        be waited for, if anything.
        """
        if len(self._open) >= MOST_WAITING:
            _LOG.warning(
                "%s: %d answers are waited for, so one more is not asked",
                self.what,
                len(self._open),
            )
            return None
        given = question()
        if not isawaitable(given):
            take(given)
            return None
        return self._begin(given, take)

    def _begin(self, given: Any, take: Callable[[Any], None]) -> Awaitable[None]:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            close = getattr(given, "close", None)
            if close is not None:
                close()
            raise CallerError(
                f"{self.what} is an async function, and no event loop runs here",
                hint="call of(…) inside an async function, and await settled()",
            ) from None
        task = asyncio.ensure_future(self._wait(given, take))
        self._open.add(task)
        task.add_done_callback(self._open.discard)
        return task

    async def _wait(self, given: Awaitable[Any], take: Callable[[Any], None]) -> None:
        try:
            take(await given)
        except Exception:
            _LOG.exception("%s raised; the run goes on", self.what)

    async def settled(self) -> None:
        """Come back once nothing is waited for any more."""
        here = asyncio.get_running_loop()
        while waiting := [task for task in self._open if task.get_loop() is here]:
            # Shielded: whoever gives up waiting must not stop what goes on.
            await asyncio.shield(asyncio.gather(*waiting, return_exceptions=True))


_LOG: Final = logging.getLogger("saywhy")
