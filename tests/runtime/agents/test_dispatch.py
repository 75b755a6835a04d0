"""Promise: recorders are told everything, in order, and nothing they do reaches the run."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from saywhy.agent.hooks import TurnStarted
from saywhy.runtime.agents.dispatch import Backlog, Dispatch


class Notes:
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def on_turn_start(self, event: TurnStarted) -> None:
        self.seen.append(event.message)


class Slow:
    """Takes its time over what it is told first."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    async def on_turn_start(self, event: TurnStarted) -> None:
        await asyncio.sleep(0.01 if event.message == "first" else 0)
        if event.message == "bad":
            raise ValueError("a judge failed")
        self.seen.append(event.message)


class Raises:
    """Cannot be told anything."""

    def on_turn_start(self, event: TurnStarted) -> None:
        raise ValueError("no")


class Quotes:
    """Says what it stumbled over."""

    def on_turn_start(self, event: TurnStarted) -> None:
        raise KeyError(event.message)


def started(message: str) -> TurnStarted:
    return TurnStarted(turn_number=1, message=message)


async def test_of_what_a_live_listener_raises_no_words_are_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It is shown what nobody is to keep; which error it was, and where, is told."""
    backlog = Backlog(Quotes(), live=True)
    with caplog.at_level(logging.ERROR, "saywhy"):
        backlog.tell("on_turn_start", started("4711"))
    (record,) = caplog.records
    assert record.message.startswith("the listener for events raised KeyError, at ")
    assert "test_dispatch.py:" in record.message
    assert "4711" not in caplog.text


async def test_one_that_raises_disturbs_nobody(caplog: pytest.LogCaptureFixture) -> None:
    """The others are told, the run goes on, and the log says who raised where."""
    notes = Notes()
    dispatch = Dispatch([Raises(), notes, object()])
    with caplog.at_level(logging.ERROR, "saywhy"):
        dispatch.tell("on_turn_start", started("hi"))
        dispatch.tell("on_error", started("nobody listens"))
    assert notes.seen == ["hi"]
    assert [record.message for record in caplog.records] == [
        "recorder Raises raised in on_turn_start; the run goes on"
    ]


async def test_async_hooks_are_waited_for_by_settled(caplog: pytest.LogCaptureFixture) -> None:
    """They go on beside the run, one after the other, and `settled` comes back when all are."""
    slow = Slow()
    dispatch = Dispatch([slow])
    with caplog.at_level(logging.ERROR, "saywhy"):
        for message in ("first", "bad", "second"):
            dispatch.tell("on_turn_start", started(message))
        assert slow.seen == []
        await dispatch.settled()
    assert slow.seen == ["first", "second"]
    assert "recorder Slow raised in on_turn_start" in caplog.text
    dispatch.tell("on_turn_start", started("third"))
    await dispatch.settled()
    assert slow.seen == ["first", "second", "third"]
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_giving_up_waiting_stops_nothing() -> None:
    """Whoever stops waiting for `settled` leaves the recorder to its work."""
    slow = Slow()
    dispatch = Dispatch([slow])
    dispatch.tell("on_turn_start", started("first"))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(dispatch.settled(), 0.001)
    await dispatch.settled()
    assert slow.seen == ["first"]


def test_a_loop_that_ends_takes_its_hooks_along() -> None:
    """What was left undone when the loop was shut down is let go of, without a warning."""
    slow = Slow()
    dispatch = Dispatch([slow])

    async def begin() -> None:
        for message in ("first", "second"):
            dispatch.tell("on_turn_start", started(message))
        await asyncio.sleep(0)

    asyncio.run(begin())
    assert slow.seen == []

    async def again() -> Any:
        dispatch.tell("on_turn_start", started("third"))
        await dispatch.settled()

    asyncio.run(again())
    assert slow.seen == ["third"]
