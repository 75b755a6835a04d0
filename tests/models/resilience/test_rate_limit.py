"""Promise: no window holds more calls than it may; who waits is served in order, or lets go."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from saywhy.models.chat import user_message
from saywhy.models.provider import Ask, UsagePiece
from saywhy.models.resilience.rate_limit import RateLimited, with_rate_limit
from saywhy.testing.clock import FakeClock
from tests.amount import examples
from tests.models.resilience.steps import (
    GOOD,
    STOP,
    Steps,
    cancelled_everywhere,
    taken,
    taken_until_error,
)


def limited(clock: FakeClock, *script: Any, **options: Any) -> tuple[RateLimited, Steps]:
    steps = Steps(script or GOOD, clock=clock)
    return with_rate_limit(
        steps, **{"requests": 2, "per_seconds": 10, **options}, clock=clock
    ), steps


def numbered(number: int) -> Ask:
    return Ask("chat", messages=[user_message(str(number))])


def test_the_third_one_waits() -> None:
    """Two in ten seconds, and all are answered."""
    clock = FakeClock()
    model, steps = limited(clock)

    async def run() -> None:
        await asyncio.gather(*[taken(model, numbered(one)) for one in range(5)])

    asyncio.run(run())
    began = [(at - steps.at[0]) / 1000 for at in steps.at]
    assert began == [0, 0, 10, 10, 20]
    assert [ask.user for ask in steps.asked] == ["0", "1", "2", "3", "4"]


def test_one_too_many_is_told_at_once() -> None:
    """It may be tried later; those in the queue are served."""
    clock = FakeClock()
    model, steps = limited(clock, max_waiting=2)

    async def run() -> list[str]:
        asks = [asyncio.create_task(taken_until_error(model, numbered(one))) for one in range(5)]
        await asyncio.sleep(0)
        assert model.waiting == 2
        return [error for _, error in await asyncio.gather(*asks)]

    assert asyncio.run(run()) == [
        *[""] * 4,
        "ModelError: not asked: 2 calls wait already for the rate limit",
    ]
    assert (len(steps.asked), model.waiting) == (4, 0)


def test_nobody_waits_where_nobody_may() -> None:
    """A queue of no places."""
    model, _ = limited(FakeClock(), requests=1, max_waiting=0)

    async def run() -> list[str]:
        return [(await taken_until_error(model))[1] for _ in range(2)]

    assert asyncio.run(run()) == [
        "",
        "ModelError: not asked: 0 calls wait already for the rate limit",
    ]


def test_who_gives_up_takes_nobodys_place() -> None:
    """The others move up, and what was cancelled is not counted."""
    clock = FakeClock()
    model, steps = limited(clock, requests=1)

    async def run() -> None:
        asks = [asyncio.create_task(taken(model, numbered(one))) for one in range(5)]
        await asyncio.sleep(0)
        for gone in (1, 3):  # the first in the queue, and one in the middle
            asks[gone].cancel()
            with suppress(asyncio.CancelledError):
                await asks[gone]
        assert model.waiting == 2
        await asyncio.gather(asks[0], asks[2], asks[4])

    asyncio.run(run())
    assert [ask.user for ask in steps.asked] == ["0", "2", "4"]
    assert [(at - steps.at[0]) / 1000 for at in steps.at] == [0, 10, 20]


def test_tokens_count_as_the_model_says() -> None:
    """A guess is put right, and who waits looks again at once."""
    clock = FakeClock()
    model, steps = limited(clock, 3, UsagePiece(10, 0), STOP, requests=9, tokens=100)
    ask = Ask("chat", settings={"max_tokens": 60})

    async def run() -> None:
        await asyncio.gather(taken(model, ask), taken(model, ask), taken(model, ask))

    asyncio.run(run())
    # 60 fit; 120 would not, until the first turns out to be 10, three seconds later.
    assert [(at - steps.at[0]) / 1000 for at in steps.at] == [0, 3, 6]


def test_one_that_never_fits_goes_alone() -> None:
    """Waiting for ever would help nobody."""
    clock = FakeClock()
    model, steps = limited(clock, STOP, requests=9, tokens=10)
    asks = [Ask("chat", settings={"max_tokens": size}) for size in (5, 99, 5)]

    async def run() -> None:
        await asyncio.gather(*[taken(model, ask) for ask in asks])

    asyncio.run(run())
    assert [(at - steps.at[0]) / 1000 for at in steps.at] == [0, 10, 20]


def test_a_program_with_several_loops() -> None:
    """One wrapper serves one `asyncio.run` after the other, also when the last one was cut off."""
    clock = FakeClock()
    model, steps = limited(clock, requests=1)

    async def cut_off() -> None:
        await taken(model)
        waiting = asyncio.create_task(taken(model))
        await asyncio.sleep(0)
        assert (model.waiting, waiting.done()) == (1, False)  # asyncio.run cancels it

    asyncio.run(cut_off())
    assert model.waiting == 0

    async def both() -> None:
        await asyncio.gather(taken(model), taken(model))

    asyncio.run(both())
    assert [(at - steps.at[0]) / 1000 for at in steps.at] == [0, 10, 20]


def test_on_the_machines_clock() -> None:
    """With real time nobody begins too early, and all begin."""
    times: list[float] = []

    async def model(system: str, user: str) -> str:
        times.append(time.monotonic())
        return "yes"

    limited = with_rate_limit(model, requests=2, per_seconds=0.05)

    async def run() -> None:
        await asyncio.gather(*[taken(limited) for _ in range(5)])

    asyncio.run(run())
    assert len(times) == 5
    # The clock on the wall and this one do not tick together, hence the millisecond or two.
    assert all(later - at > 0.047 for at, later in zip(times, times[2:], strict=False))


def test_cancelled_at_any_moment_it_lets_go() -> None:
    """In the queue and in the call: no task, no place taken, and the next one is served."""
    clock = FakeClock(auto=False)
    steps = Steps([0.05, *GOOD], clock=clock)
    model = with_rate_limit(steps, requests=1, per_seconds=0.2, clock=clock)

    async def ask() -> None:
        await asyncio.gather(taken(model), taken(model))

    def after() -> None:
        assert (steps.open, model.waiting) == (0, 0)
        clock.advance(1)

    assert asyncio.run(cancelled_everywhere(ask, after, clock)) > 10


@settings(max_examples=examples(60, 1000))
@given(
    requests=st.integers(1, 4),
    tasks=st.lists(
        st.tuples(st.integers(0, 300), st.integers(1, 400), st.sampled_from([None, 1, 30, 200])),
        min_size=1,
        max_size=25,
    ),
)
def test_never_more_than_it_may_in_any_window(
    requests: int, tasks: list[tuple[int, int, int | None]]
) -> None:
    """Callers that come when they like, answers that take what they take, some cancelled."""
    clock = FakeClock()
    steps = Steps(GOOD, clock=clock)
    model = with_rate_limit(steps, requests=requests, per_seconds=1, clock=clock)

    async def caller(number: int, comes: int, patience: int | None) -> None:
        await clock.sleep(comes / 1000)
        with suppress(TimeoutError):
            limit = None if patience is None else patience / 1000
            await clock.wait_for(taken(model, numbered(number)), limit)

    async def run() -> set[asyncio.Task[Any]]:
        own = asyncio.current_task()
        await asyncio.gather(*[caller(at, one[0], one[2]) for at, one in enumerate(tasks)])
        return asyncio.all_tasks() - {own}

    assert asyncio.run(run()) == set()
    for at in steps.at:
        assert sum(at <= other < at + 1000 for other in steps.at) <= requests
    assert model.waiting == 0
    patient = {str(at) for at, one in enumerate(tasks) if one[2] is None}
    assert patient <= {ask.user for ask in steps.asked}
    # First come, first served: of those who waited, nobody overtook.
    order = [tasks[int(ask.user)][0] for ask in steps.asked]
    assert order == sorted(order)
