"""Promise: a token tells everybody who holds it, once, that the work is not wanted any more."""

from __future__ import annotations

import asyncio
import gc
import threading

import pytest

from saywhy.cancel import Cancelled, CancelToken
from saywhy.errors import CallerError
from saywhy.testing.clock import FakeClock


def test_a_new_token_is_not_cancelled() -> None:
    """Until somebody cancels it, a token has no reason and lets work go on."""
    token = CancelToken()
    assert not token.cancelled
    assert token.reason == ""
    assert token.remaining is None
    token.check()
    assert repr(token) == "<CancelToken: not cancelled>"


def test_the_first_reason_counts() -> None:
    """Cancelling again changes neither the reason nor anything else."""
    token = CancelToken()
    token.cancel("the user hung up")
    token.cancel("too late")
    assert token.cancelled
    assert token.reason == "the user hung up"
    with pytest.raises(Cancelled, match=r"^cancelled: the user hung up$") as caught:
        token.check()
    assert caught.value.reason == "the user hung up"


def test_a_child_ends_with_its_parent_and_not_the_other_way_round() -> None:
    """Cancelling goes down, never up."""
    parent = CancelToken()
    one, other = parent.child(), parent.child()
    one.cancel("only this")
    assert (parent.cancelled, other.cancelled) == (False, False)
    parent.cancel("all")
    assert (one.reason, other.reason) == ("only this", "all")
    assert parent.child().reason == "all"


async def test_a_deadline_cancels() -> None:
    """A timeout counts on the clock that was handed in, and below it as well."""
    clock = FakeClock(auto=False)
    token = CancelToken(timeout=5, clock=clock)
    child = token.child(timeout=20)
    assert child.remaining == 5
    clock.advance(4)
    assert not child.cancelled
    clock.advance(1)
    assert token.reason == "took longer than 5 seconds"
    assert child.reason == "took longer than 5 seconds"
    assert token.remaining == 0


async def test_waiting_ends_with_the_reason() -> None:
    """Whoever waits is woken by a call, a parent, another thread or the deadline."""
    parent = CancelToken()
    child = parent.child()
    waiting = [asyncio.ensure_future(one.wait()) for one in (parent, child, child)]
    await asyncio.sleep(0)
    thread = threading.Thread(target=parent.cancel, args=("from a thread",))
    thread.start()
    assert await asyncio.gather(*waiting) == ["from a thread"] * 3
    thread.join()
    assert await parent.wait() == "from a thread"
    clock = FakeClock()
    assert await CancelToken(timeout=60, clock=clock).wait() == "took longer than 60 seconds"
    assert (
        await CancelToken(timeout=60, clock=clock).child().wait() == "took longer than 60 seconds"
    )


async def test_waiting_in_vain_leaves_nothing() -> None:
    """A waiter that is itself cancelled leaves no task and no call behind."""
    token = CancelToken(timeout=60)
    before = len(asyncio.all_tasks())
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(token.wait(), 0.01)
    assert len(asyncio.all_tasks()) == before
    assert not token.cancelled
    assert not token._wakers  # pyright: ignore[reportPrivateUsage] - what would leak


def test_callbacks_are_called_once_and_can_be_taken_back() -> None:
    """A callback is told the reason, at once when it comes late, never when withdrawn."""
    token = CancelToken()
    heard: list[str] = []
    token.on_cancel(heard.append)
    token.on_cancel(lambda reason: heard.append(f"never {reason}"))()
    token.cancel("stop")
    token.cancel("again")
    token.on_cancel(lambda reason: heard.append(f"late {reason}"))()
    assert heard == ["stop", "late stop"]


def test_a_parent_does_not_keep_its_children() -> None:
    """A token that lives as long as the program does not grow with every run below it."""
    parent = CancelToken()
    for _ in range(100):
        parent.child()
    gc.collect()
    assert not parent._children  # pyright: ignore[reportPrivateUsage] - what would leak


def test_a_timeout_is_a_number_from_zero() -> None:
    """A negative timeout is refused where it is given."""
    with pytest.raises(CallerError, match=r"^a timeout of -1 seconds makes no sense\n"):
        CancelToken(timeout=-1)
    assert CancelToken(timeout=0).reason == "took longer than 0 seconds"
