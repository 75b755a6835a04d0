"""Telling listeners on a thread of their own: in order, bounded, with losses counted."""

from __future__ import annotations

import logging
import threading
import time

import pytest

from saywhy.runtime import delivery
from saywhy.runtime.delivery import Delivery


def test_in_order_and_elsewhere() -> None:
    """What is handed in is told in its order, not by the thread that hands it in."""
    told: list[tuple[int, bool]] = []
    here = threading.current_thread()
    queue = Delivery("Slow")
    for number in range(100):
        queue.hand(lambda n=number: told.append((n, threading.current_thread() is here)))
    assert queue.wait(5)
    assert told == [(number, False) for number in range(100)]
    assert (queue.dropped, queue.failed) == (0, 0)


def test_full(caplog: pytest.LogCaptureFixture) -> None:
    """More than the limit is dropped and counted, and that is logged once; the end has room."""
    told: list[int] = []
    gate = threading.Event()
    queue = Delivery("Slow", limit=3)
    queue.hand(gate.wait)
    while queue._jobs.qsize():  # pyright: ignore[reportPrivateUsage] - it is being told now
        time.sleep(0.001)
    for number in range(10):
        queue.hand(lambda n=number: told.append(n))
    queue.hand(lambda: told.append(99), last=True)
    gate.set()
    assert queue.wait(5)
    assert told == [0, 1, 2, 99]
    assert queue.dropped == 7
    assert [record.getMessage() for record in caplog.records] == [
        "Slow is slower than the turns: 3 steps wait to be told to it, and what comes is dropped"
        " (engine.untold says how much)"
    ]


def test_what_raises(caplog: pytest.LogCaptureFixture) -> None:
    """The next is told all the same; the first error is logged, the others are counted."""
    told: list[int] = []
    queue = Delivery("Broken")
    for number in range(3):
        queue.hand(lambda: 1 / 0)
        queue.hand(lambda n=number: told.append(n))
    assert queue.wait(5)
    assert (told, queue.failed) == ([0, 1, 2], 3)
    assert [(record.levelno, record.getMessage()) for record in caplog.records] == [
        (logging.ERROR, "Broken raised; turns go on, and this is not said again")
    ]


def test_waiting_has_an_end() -> None:
    """Who waits for a listener that hangs is told so."""
    gate = threading.Event()
    queue = Delivery("Hanging")
    queue.hand(gate.wait)
    assert not queue.wait(0.01)
    gate.set()
    assert queue.wait(5)


def test_a_thread_with_nothing_to_do_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """And another one goes on later."""
    monkeypatch.setattr(delivery, "IDLE_SECONDS", 0.005)
    queue = Delivery("Idle")
    for _ in range(3):
        assert queue.wait(5)
        deadline = time.monotonic() + 5
        while queue._thread is not None and time.monotonic() < deadline:  # pyright: ignore[reportPrivateUsage]
            time.sleep(0.002)
        assert queue._thread is None  # pyright: ignore[reportPrivateUsage]
