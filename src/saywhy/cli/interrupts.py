"""Ctrl-C while an event loop waits.

Python notes a signal and acts on it between two steps of the main thread. Where the signal comes
just as the loop goes to sleep, or is taken in by another thread, there is no next step until
something else wakes the loop: a tool that hangs would be waited for to the end of its time. A loop
made here is woken by the signal itself.
"""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Generator
from contextlib import contextmanager, suppress

DRAINED = 4096


@contextmanager
def woken_by_signals(runner: asyncio.Runner) -> Generator[None, None, None]:
    """Signals wake the loop of `runner`, which belongs to the main thread, for as long as this
    is open. Nothing is done where loops have no readers: on Windows they are woken as they are."""
    loop = runner.get_loop()
    reader, writer = socket.socketpair()
    with reader, writer:
        reader.setblocking(False)
        writer.setblocking(False)
        try:
            loop.add_reader(reader, _drain, reader)
        except NotImplementedError:
            yield
            return
        before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(before)
            loop.remove_reader(reader)


def _drain(reader: socket.socket) -> None:
    with suppress(BlockingIOError):
        reader.recv(DRAINED)
