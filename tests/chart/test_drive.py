"""Promise: needs are answered at the same time, answers are handed in as asked, none is lost."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from saywhy.chart.drive import Answerer, Emit, Signal, drive, open_needs, stream
from saywhy.chart.outcome import Answer, BranchAnswer, Need


class Script:
    """A `step` that asks what it is told to, and notes what it is handed."""

    def __init__(self, *needs: Need | Exception | None) -> None:
        self.needs = list(needs)
        self.given: list[Any] = []

    def __call__(self, answer: Answer | BranchAnswer | None) -> Need | None:
        match answer:
            case None:
                self.given.append(None)
            case Answer():
                self.given.append(answer.value)
            case BranchAnswer():
                path = (answer.branch, *answer.within)
                self.given.append((path if len(path) > 1 else path[0], answer.answer.value))
        need = self.needs.pop(0)
        if isinstance(need, Exception):
            raise need
        return need


def fork(*items: tuple[int, Need], frames: list[int] | None = None) -> Need:
    return Need("fork", "f", frames or [number + 100 for number, _ in items], items=items)


def tool(name: str) -> Need:
    return Need("tool", name)


def answering(**seconds: float) -> Answerer:
    """Answers a need with its name, after so many seconds."""

    async def answer(need: Need, emit: Emit) -> Answer:
        await asyncio.sleep(seconds.get(need.name, 0))
        return Answer(need.name.upper())

    return answer


async def test_needs_are_answered_until_nobody_here_can() -> None:
    """The need that has no answerer is what `drive` gives back."""
    step = Script(tool("a"), Need("model", "b"), Need("user", "c"))
    need = await drive(step, Answer("start"), {"tool": answering(), "model": answering()})
    assert need == Need("user", "c")
    assert step.given == ["start", "A", "B"]


async def test_a_run_that_ends_gives_none() -> None:
    """The end needs nothing."""
    step = Script(tool("a"), None)
    assert await drive(step, None, {"tool": answering()}) is None
    assert step.given == [None, "A"]


async def test_open_needs_of_a_fork_are_answered_at_the_same_time() -> None:
    """All are being answered before the first answer is handed in."""
    running: list[str] = []
    most = 0
    enough = asyncio.Event()

    async def together(need: Need, emit: Emit) -> Answer:
        nonlocal most
        running.append(need.name)
        most = max(most, len(running))
        if most == 3:
            enough.set()
        await enough.wait()
        running.remove(need.name)
        return Answer(need.name)

    items = tuple((number, tool(f"t{number}")) for number in range(3))
    step = Script(fork(*items), fork(*items[1:]), fork(*items[2:]), None)
    assert await drive(step, None, {"tool": together}) is None
    assert most == 3
    assert step.given == [None, (0, "t0"), (1, "t1"), (2, "t2")]


async def test_no_more_at_once_than_allowed() -> None:
    """`max_parallel` bounds how many are being answered."""
    running = 0
    most = 0

    async def counted(need: Need, emit: Emit) -> Answer:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return Answer(need.name)

    items = tuple((number, tool(f"t{number}")) for number in range(6))
    rest = [fork(*items[at:]) for at in range(1, 6)]
    assert (
        await drive(Script(fork(*items), *rest, None), None, {"tool": counted}, max_parallel=2)
        is None
    )
    assert most == 2


async def test_answers_are_handed_in_as_they_were_asked() -> None:
    """However long each takes, the order is that of asking; what is asked anew comes last."""
    step = Script(
        fork((0, tool("slow")), (1, tool("quick"))),
        fork((0, tool("next")), (1, tool("quick"))),
        fork((0, tool("next"))),
        None,
    )
    assert await drive(step, None, {"tool": answering(slow=0.02)}) is None
    assert step.given == [None, (0, "SLOW"), (1, "QUICK"), (0, "NEXT")]


async def test_what_is_answered_once_is_not_answered_again() -> None:
    """A need that is still open while others move on is asked of its answerer once."""
    calls: list[str] = []

    async def count(need: Need, emit: Emit) -> Answer:
        calls.append(need.name)
        await asyncio.sleep(0.01 if need.name == "long" else 0)
        return Answer(need.name)

    step = Script(
        fork((0, tool("a")), (1, tool("long"))),
        fork((0, tool("b")), (1, tool("long"))),
        fork((0, tool("b"))),
        None,
    )
    await drive(step, None, {"tool": count})
    assert calls == ["a", "long", "b"]


async def test_outsiders_of_a_fork_are_left_over() -> None:
    """What can be answered is; the need that is given back holds the rest."""
    left = fork((1, Need("user", "who")))
    step = Script(fork((0, tool("a")), (1, Need("user", "who"))), left)
    assert await drive(step, None, {"tool": answering()}) is left
    assert step.given == [None, (0, "A")]


async def test_forks_inside_forks_are_addressed() -> None:
    """An answer is handed in with the branches that lead to its need."""
    inner = fork((2, tool("deep")), frames=[300])
    step = Script(fork((1, inner)), None)
    await drive(step, None, {"tool": answering()})
    assert step.given == [None, ((1, 2), "DEEP")]
    assert open_needs(fork((0, tool("x")), (1, inner))) == [
        ((0,), tool("x")),
        ((1, 2), tool("deep")),
    ]


async def test_a_fork_opened_again_is_not_taken_for_the_old_one() -> None:
    """After a retry the same branch asks anew; the answer to the old question is dropped."""
    started: list[str] = []
    never = asyncio.Event()

    async def answer(need: Need, emit: Emit) -> Answer:
        started.append(need.name)
        if need.name == "same" and started.count("same") == 1:
            await never.wait()
        return Answer(need.name)

    step = Script(
        fork((0, tool("a")), (1, tool("same")), frames=[10, 11]),
        fork((1, tool("same")), frames=[21]),
        None,
    )
    assert await asyncio.wait_for(drive(step, None, {"tool": answer}), 5) is None
    assert started == ["a", "same", "same"]
    assert step.given == [None, (0, "a"), (1, "same")]


async def test_what_an_answerer_raises_comes_out() -> None:
    """The run rests at its need; the other answers that arrive are handed in all the same."""

    async def answer(need: Need, emit: Emit) -> Answer:
        if need.name == "bad":
            await asyncio.sleep(0.01)
            raise ConnectionError("no network")
        return Answer(need.name)

    both = ((0, tool("bad")), (1, tool("good")))
    step = Script(fork(*both), fork(both[0]))
    with pytest.raises(ConnectionError, match="no network"):
        await drive(step, None, {"tool": answer})
    assert step.given == [None, (1, "good")]


async def test_when_the_run_fails_the_others_are_stopped() -> None:
    """After the step raised nobody waits for the answers of its siblings."""
    stopped = asyncio.Event()

    async def answer(need: Need, emit: Emit) -> Answer:
        try:
            await asyncio.sleep(0 if need.name == "a" else 100)
        except asyncio.CancelledError:
            stopped.set()
            raise
        return Answer(need.name)

    step = Script(fork((0, tool("a")), (1, tool("b"))), ValueError("the run failed"))
    with pytest.raises(ValueError, match="the run failed"):
        await drive(step, None, {"tool": answer})
    assert stopped.is_set()
    assert step.given == [None, (0, "a")]


async def test_cancelling_loses_no_answer_that_has_come() -> None:
    """What finished before the cancellation is handed in; the rest stays asked."""
    arrived = asyncio.Event()

    async def answer(need: Need, emit: Emit) -> Answer:
        if need.name == "quick":
            arrived.set()
            return Answer("done")
        await asyncio.sleep(100)
        raise AssertionError("never gets here")

    both = ((0, tool("slow")), (1, tool("quick")))
    step = Script(fork(*both), fork(both[0]))
    task = asyncio.create_task(drive(step, None, {"tool": answer}))
    await arrived.wait()
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert step.given == [None, (1, "done")]


async def test_an_answerer_that_must_finish_is_heard_when_cancelled() -> None:
    """One that completes despite the cancellation has its answer handed in."""
    started = asyncio.Event()

    async def stubborn(need: Need, emit: Emit) -> Answer:
        started.set()
        try:
            await asyncio.sleep(100)
        except asyncio.CancelledError:
            return Answer("charged")
        raise AssertionError("never gets here")

    step = Script(fork((0, tool("pay"))), None)
    task = asyncio.create_task(drive(step, None, {"tool": stubborn}))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert step.given == [None, (0, "charged")]


async def test_signals_name_their_need_and_branch() -> None:
    """A listener is told who is speaking."""

    async def talk(need: Need, emit: Emit) -> Answer:
        emit("token", need.name)
        return Answer(need.name)

    heard: list[Signal] = []
    step = Script(tool("a"), fork((3, tool("b"))), None)
    await drive(step, None, {"tool": talk}, listener=heard.append)
    assert heard == [
        Signal("token", "a", tool("a")),
        Signal("token", "b", tool("b"), (3,)),
    ]


async def test_a_listener_that_raises_is_dropped(caplog: pytest.LogCaptureFixture) -> None:
    """The run goes on; the error is logged once, and the listener told nothing more."""
    heard: list[str] = []

    def listener(signal: Signal) -> None:
        heard.append(signal.data)
        raise RuntimeError("screen on fire")

    async def talk(need: Need, emit: Emit) -> Answer:
        emit("token", 1)
        emit("token", 2)
        return Answer(need.name)

    with caplog.at_level(logging.ERROR, "saywhy"):
        assert await drive(Script(tool("a"), None), None, {"tool": talk}, listener=listener) is None
    assert heard == [1]
    assert [record.message for record in caplog.records] == [
        "a listener for signals raised; it is not called any more"
    ]


async def test_a_stream_gives_what_is_put_and_the_end() -> None:
    """Items come in order, the result last; an error is raised after them."""

    async def work(put: Any) -> str:
        put(1)
        await asyncio.sleep(0)
        put(2)
        return "end"

    assert [item async for item in stream(work)] == [1, 2, "end"]

    async def bad(put: Any) -> None:
        put(1)
        raise ValueError("broken")

    seen: list[Any] = []
    with pytest.raises(ValueError, match="broken"):
        async for item in stream(bad):
            seen.append(item)
    assert seen == [1]
