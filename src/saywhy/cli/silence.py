"""Words that come by themselves while the next line is waited for.

Where nothing falls due a line is simply read. How words look is answered by `talk` and `terminal`.
"""

from __future__ import annotations

import asyncio
import os
import select
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from saywhy.cli.conversation import Conversation

READ_BYTES: Final = 65536

Show = Callable[[str], None]


def spoken_lines(runner: asyncio.Runner, conversation: Conversation, show: Show) -> Iterator[str]:
    """The lines of standard input; what the conversation says by itself meanwhile is shown."""
    lines = _Lines()
    while True:
        while not lines.wait(conversation.quiet_seconds):
            for text in runner.run(conversation.fall_due()):
                show(text)
        line = lines.take()
        if not line:
            return
        yield line


async def speak(conversation: Conversation, show: Show, heard: asyncio.Event) -> None:
    """Show what the conversation says by itself until somebody else was heard."""
    while not heard.is_set() and (seconds := conversation.quiet_seconds) is not None:
        with suppress(TimeoutError):
            await asyncio.wait_for(heard.wait(), seconds)
        if not heard.is_set():
            for text in await conversation.fall_due():
                show(text)


class _Lines:
    """Standard input by lines, with a limit on how long to wait for one.

    It is read past Python's buffer, in which lines could lie that no waiting sees. Where that is
    not possible there is no limit either.
    """

    def __init__(self) -> None:
        self._text = sys.stdin
        self._data = b""
        self._ended = False
        self._number: int | None = None
        try:
            number = self._text.fileno()
            select.select([number], [], [], 0)
            self._number = number
        except (OSError, ValueError):  # no file behind it, or a system that cannot wait for files
            return

    def wait(self, seconds: float | None) -> bool:
        """Whether a line, or the end, came within so many seconds; None waits for one."""
        number = self._number
        if number is None:
            return True
        until = None if seconds is None else time.monotonic() + seconds
        while b"\n" not in self._data and not self._ended:
            left = None if until is None else max(0.0, until - time.monotonic())
            if not select.select([number], [], [], left)[0]:
                return False
            data = os.read(number, READ_BYTES)
            self._data += data
            self._ended = not data
        return True

    def take(self) -> str:
        """The next line with its end; empty behind the last one."""
        if self._number is None:
            return self._text.readline()
        line, end, self._data = self._data.partition(b"\n")
        return (line + end).decode(self._text.encoding, "replace")
