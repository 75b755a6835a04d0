"""Promise: of two executors the first good answer is heard, and nothing is left running."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from saywhy.errors import ModelError
from saywhy.host import hedge


class Probe:
    """An executor that answers when it is told to, and notes how it ended."""

    def __init__(self, answer: str | BaseException, *, after: asyncio.Event | None = None) -> None:
        self.answer = answer
        self.after = after
        self.ended = ""

    async def __call__(self) -> str:
        try:
            if self.after:
                await self.after.wait()
            if isinstance(self.answer, BaseException):
                raise self.answer
        except asyncio.CancelledError:
            self.ended = "cancelled"
            raise
        self.ended = "answered"
        return self.answer


def not_poor(answer: str) -> bool:
    return answer != "poor"


async def test_the_first_answer_wins_and_the_other_is_cancelled() -> None:
    """Whoever is faster is heard, in whichever place, and the slower one ends."""
    slow, fast = Probe("slow", after=asyncio.Event()), Probe("fast")
    assert await hedge(slow, fast) == "fast"
    assert (slow.ended, fast.ended) == ("cancelled", "answered")
    slow = Probe("slow", after=asyncio.Event())
    assert await hedge(fast, slow) == "fast"
    assert slow.ended == "cancelled"


async def test_answers_at_once_count_in_their_order() -> None:
    """With two answers at the same moment the first executor's is taken."""
    assert await hedge(Probe("one"), Probe("two")) == "one"


async def test_an_answer_that_is_not_good_waits_for_a_better_one() -> None:
    """A poor answer does not end the race."""
    gate = asyncio.Event()
    poor, good = Probe("poor"), Probe("good", after=gate)

    async def open_gate() -> str:
        answer = await poor()
        asyncio.get_running_loop().call_soon(gate.set)
        return answer

    assert await hedge(open_gate, good, is_good=not_poor) == "good"


@pytest.mark.parametrize(
    ("one", "two", "answer"),
    [
        (Probe("poor"), Probe(ValueError("down")), "poor"),
        (Probe(ValueError("down")), Probe("poor"), "poor"),
        (Probe(ValueError("down")), Probe("good"), "good"),
        (Probe("good"), Probe(ValueError("down")), "good"),
        (Probe("poor"), Probe("poor"), "poor"),
    ],
)
async def test_a_poor_answer_is_better_than_an_error(one: Probe, two: Probe, answer: str) -> None:
    """An executor that fails costs nothing as long as the other one answers."""
    assert await hedge(one, two, is_good=not_poor) == answer


async def test_two_errors_are_told_together() -> None:
    """Where both fail, the first executor's error is raised, with the other one noted on it."""
    with pytest.raises(ValueError, match="down") as raised:
        await hedge(Probe(ValueError("down")), Probe(KeyError("lost")))
    assert raised.value.__notes__ == ["the second executor failed as well: KeyError('lost')"]


async def test_a_cancelled_executor_is_a_failed_one() -> None:
    """An executor that was cancelled from elsewhere does not look as if the turn had been."""
    with pytest.raises(ModelError, match="the executor was cancelled") as raised:
        await hedge(Probe(asyncio.CancelledError()), Probe(asyncio.CancelledError()))
    assert "failed as well: ModelError" in raised.value.__notes__[0]
    assert await hedge(Probe(asyncio.CancelledError()), Probe("good")) == "good"


async def test_cancelling_the_hedge_cancels_both() -> None:
    """A turn that runs out of time leaves no executor behind."""
    probes = [Probe("a", after=asyncio.Event()), Probe("b", after=asyncio.Event())]
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(hedge(*probes), 0.01)
    assert [probe.ended for probe in probes] == ["cancelled", "cancelled"]


async def test_a_judgement_that_raises_ends_both() -> None:
    """An error in `is_good` is the host's own: it comes out, and the other executor ends."""
    slow = Probe("slow", after=asyncio.Event())

    def broken(answer: str) -> bool:
        raise RuntimeError(f"cannot judge {answer}")

    with pytest.raises(RuntimeError, match="cannot judge fast"):
        await hedge(Probe("fast"), slow, is_good=broken)
    assert slow.ended == "cancelled"


async def test_each_answer_is_judged_once() -> None:
    """A judgement may cost something, so a poor answer is not judged again."""
    judged: list[str] = []

    def judge(answer: str) -> bool:
        judged.append(answer)
        return answer == "good"

    gate = asyncio.Event()
    asyncio.get_running_loop().call_later(0.01, gate.set)
    assert await hedge(Probe("poor"), Probe("good", after=gate), is_good=judge) == "good"
    assert judged == ["poor", "good"]


async def test_any_awaitable_will_do() -> None:
    """An executor may hand back a future instead of being an async function."""

    def answered(text: str) -> Callable[[], Awaitable[str]]:
        future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        future.set_result(text)
        return lambda: future

    assert await hedge(answered("one"), answered("two")) == "one"
