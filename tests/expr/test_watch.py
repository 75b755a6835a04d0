"""Promise: what is late is ended once, what is not is left alone, and the thread goes."""

from __future__ import annotations

import time

import pytest

from saywhy.expr import watch as module
from saywhy.expr.watch import Watch


class Worker:
    """Something that may be late."""

    def __init__(self) -> None:
        self.until = 0.0
        self.busy_seconds = 0.0
        self.ended = 0.0

    def expire(self) -> None:
        self.ended, self.until = time.monotonic(), 0.0


def test_the_late_one_is_ended() -> None:
    """It ends soon after its time; the others go on."""
    watch, late, idle = Watch(0.2), Worker(), Worker()
    patient = Worker()
    watch.watched.update((late, idle, patient))
    late.until, patient.until = time.monotonic() + 0.2, time.monotonic() + 60
    due = late.until
    watch.begin()
    while not late.ended:
        time.sleep(0.01)
    assert due <= late.ended < due + 0.5
    assert late.busy_seconds > 0
    assert not idle.ended
    assert not idle.busy_seconds
    assert not patient.ended
    watch.watched.clear()


def test_the_thread_ends_and_begins_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """When nothing was at work for a while nobody looks; `is_on` says when to begin again."""
    monkeypatch.setattr(module, "SECONDS_IDLE", 0.1)
    watch, worker = Watch(0.1), Worker()
    watch.watched.add(worker)
    for _ in range(2):
        worker.ended, worker.until = 0.0, time.monotonic() + 0.05
        assert not watch.is_on
        watch.begin()
        while not worker.ended:
            time.sleep(0.01)
        deadline = time.monotonic() + 5
        while watch.is_on and time.monotonic() < deadline:
            time.sleep(0.01)
    assert not watch.is_on
