"""Promise: functions run in threads that are quick, bounded, and never waited for in vain."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import multiprocessing
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from saywhy.tools.threads import Job, Threads, TooManyLost


def finished(job: Job, seconds: float = 5) -> bool:
    return job.done_within(seconds)


def eventually(holds: Callable[[], bool]) -> bool:
    """Whether something becomes true within a few seconds of another thread's work."""
    ends = time.monotonic() + 5
    while not holds() and time.monotonic() < ends:
        time.sleep(0.001)
    return holds()


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """Functions wait at it; opened at the end, so that no thread outlives its test."""
    event = threading.Event()
    yield event
    event.set()


def test_a_result_and_an_error_come_back() -> None:
    """Whatever a function returns or raises is found on the job."""
    threads = Threads()
    job = threads.start(lambda: 7)
    assert finished(job)
    assert (job.result, job.error) == (7, None)

    def broken() -> None:
        raise KeyError("x")

    job = threads.start(broken)
    assert finished(job)
    assert isinstance(job.error, KeyError)
    assert job.seconds < 1


def test_even_the_end_of_the_program_stays_inside() -> None:
    """A function that calls `exit` ends its call, not the thread."""
    threads = Threads(limit=1)

    def leave() -> None:
        raise SystemExit(3)

    first, second = threads.start(leave), threads.start(lambda: "on")
    assert finished(first)
    assert finished(second)
    assert isinstance(first.error, SystemExit)
    assert second.result == "on"


def test_the_loop_is_free_while_it_waits(gate: threading.Event) -> None:
    """Another task opens the gate that the function waits at."""

    async def main() -> str:
        job = Threads().start(lambda: gate.wait(5))
        asyncio.get_running_loop().call_later(0.01, gate.set)
        await asyncio.wait_for(job.wait(), 5)
        return str(job.result)

    assert asyncio.run(main()) == "True"


def test_a_wait_for_what_is_over_comes_back_at_once() -> None:
    """No wake-up is lost between looking and waiting."""

    async def main() -> int:
        threads, total = Threads(), 0
        for _ in range(2000):
            job = threads.start(lambda: 1)
            await asyncio.wait_for(job.wait(), 5)
            total += job.result
        return total

    assert asyncio.run(main()) == 2000


def test_threads_are_used_again() -> None:
    """A hundred calls one after the other need one thread."""
    threads, names = Threads(), set[str]()

    def note() -> None:
        names.add(str(threading.get_ident()))

    for _ in range(100):
        assert finished(threads.start(note))
        assert eventually(lambda: threads.running == 0)
    assert len(names) == 1


def test_calls_beyond_the_limit_wait_in_order(gate: threading.Event) -> None:
    """With all threads busy, calls queue up and are carried out as they came."""
    threads, order = Threads(limit=1), list[int]()
    first = threads.start(lambda: gate.wait(5))

    def noting(number: int) -> Callable[[], None]:
        return lambda: order.append(number)

    rest = [threads.start(noting(number)) for number in range(3)]
    assert first.started
    assert not any(job.started for job in rest)
    assert threads.running == 4
    gate.set()
    assert all(finished(job) for job in (first, *rest))
    assert order == [0, 1, 2]
    assert eventually(lambda: threads.running == 0)


def test_a_call_given_up_before_it_began_never_happens(gate: threading.Event) -> None:
    """It leaves the queue, and whoever gave it up knows that nothing happened."""
    threads, happened = Threads(limit=1), list[str]()
    first = threads.start(lambda: gate.wait(5))
    second = threads.start(lambda: happened.append("second"))
    third = threads.start(lambda: happened.append("third"))
    assert threads.give_up(second) is False
    gate.set()
    assert finished(first)
    assert finished(third)
    assert happened == ["third"]


def test_a_call_given_up_leaves_its_place_to_the_next(gate: threading.Event) -> None:
    """A function that hangs does not keep others from running."""
    threads = Threads(limit=1)
    hanging = threads.start(lambda: gate.wait(5))
    waiting = threads.start(lambda: "next")
    assert threads.give_up(hanging) is True
    assert threads.give_up(hanging) is True
    assert finished(waiting)
    assert waiting.result == "next"
    assert eventually(lambda: threads.running == 0)


def test_so_many_may_hang_and_no_more(gate: threading.Event) -> None:
    """Beyond the limit of hanging functions no further one is started, until one comes back."""
    threads = Threads(limit=2, lost_limit=2)
    hanging = [threads.start(lambda: gate.wait(5)) for _ in range(2)]
    for job in hanging:
        threads.give_up(job)
    with pytest.raises(TooManyLost) as caught:
        threads.start(lambda: 1)
    assert caught.value.message == "2 functions still run though their time is up"
    assert caught.value.hint == "give network calls inside functions a timeout of their own"
    gate.set()
    assert all(finished(job) for job in hanging)

    def starts() -> bool:
        try:
            return finished(threads.start(lambda: 1))
        except TooManyLost:
            return False

    assert eventually(starts)


def test_giving_up_what_is_over_costs_no_place() -> None:
    """A call that ended just before is not counted as hanging."""
    threads = Threads(limit=1, lost_limit=1)
    job = threads.start(lambda: 1)
    assert finished(job)
    assert eventually(lambda: threads.running == 0)
    assert threads.give_up(job) is True
    assert finished(threads.start(lambda: 2))


@pytest.mark.parametrize("late", [False, True])
def test_a_coroutine_nobody_wants_is_closed(gate: threading.Event, late: bool) -> None:
    """A call that is abandoned leaves no coroutine behind, whether it was over by then or not."""

    async def work() -> None: ...

    coroutine = work()

    def give() -> object:
        if late:
            gate.wait(5)
        return coroutine

    job = Threads().start(give)
    if not late:
        assert eventually(lambda: job.result is coroutine)
    job.abandon()
    gate.set()
    assert eventually(lambda: inspect.getcoroutinestate(coroutine) == inspect.CORO_CLOSED)


def test_context_variables_are_seen() -> None:
    """What the caller set around its call is there, and changes stay inside."""
    language = contextvars.ContextVar("language", default="en")
    language.set("es")

    def change() -> str:
        before = language.get()
        language.set("fr")
        return before

    job = Threads().start(change)
    assert finished(job)
    assert job.result == "es"
    assert language.get() == "es"


def test_a_closed_loop_disturbs_nobody(gate: threading.Event) -> None:
    """A function that comes back after its event loop is gone ends quietly, its thread goes on."""
    threads = Threads(limit=1)

    async def main() -> Job:
        job = threads.start(lambda: gate.wait(5))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(job.wait(), 0.01)
        return job

    job = asyncio.run(main())
    gate.set()
    assert finished(job)
    assert finished(threads.start(lambda: 1))


def _in_child(threads: Threads, answer: object) -> None:
    job = threads.start(lambda: 5)
    answer.put(job.result if job.done_within(5) else "hangs")  # type: ignore[attr-defined]


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_starts_afresh() -> None:
    """After a fork there are no threads, and the child makes its own."""
    from saywhy.tools.threads import SHARED

    assert finished(SHARED.start(lambda: 1))
    fork = multiprocessing.get_context("fork")
    answer = fork.Queue()
    child = fork.Process(target=_in_child, args=(SHARED, answer))
    child.start()
    assert answer.get(timeout=10) == 5
    child.join(10)
    assert child.exitcode == 0
