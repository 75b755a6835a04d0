"""Promise: one engine serves any number of threads and conversations at once."""

from __future__ import annotations

import asyncio
import gc
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from saywhy.expr.javascript import Evaluated, FunctionAnswer, JavaScript, Raised, Suspended

from .conftest import Variables


def test_many_threads() -> None:
    """Thirty-two threads evaluate at the same time, each its own values, errors and limits."""
    engine = JavaScript()
    barrier = threading.Barrier(32)

    def work(number: int) -> list[Any]:
        barrier.wait()
        found: list[Any] = []
        for turn in range(40):
            names = Variables({"n": number, "box": {"turn": turn, "list": [number] * 5}})
            outcome = engine.evaluate("box.list.map(x => x + n).join() + box.turn", names)
            found.append(getattr(outcome, "value", outcome))
            raised = engine.evaluate("box.nope.x", names)
            assert isinstance(raised, Raised)
        return found

    with ThreadPoolExecutor(32) as pool:
        results = list(pool.map(work, range(32)))
    for number, found in enumerate(results):
        assert found == [",".join([str(2 * number)] * 5) + str(turn) for turn in range(40)]


def test_busy_threads_do_not_use_up_each_others_time() -> None:
    """The limit counts this thread's time: others at work do not make an expression fail."""
    engine = JavaScript()
    source = "(() => { let t = 0; for (let i = 0; i < 3e5; i++) t += i; return t })()"
    alone = engine.evaluate(source, Variables({}))
    assert isinstance(alone, Evaluated)
    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(lambda _: engine.evaluate(source, Variables({})), range(48)))
    assert {getattr(outcome, "value", str(outcome)) for outcome in outcomes} == {alone.value}


def test_a_limit_hit_in_one_thread_leaves_the_others_alone() -> None:
    """While one thread's expression runs into a limit, others get their values."""
    engine = JavaScript()
    sources = ["(() => { for (;;); })()", "Array.from({length: 1e9})", "1 + n", "n.toFixed(1)"] * 4
    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(lambda s: engine.evaluate(s, Variables({"n": 1})), sources))
    kinds = [getattr(outcome, "kind", getattr(outcome, "value", None)) for outcome in outcomes]
    assert kinds == ["TimeLimit", "MemoryLimit", 2, "1.0"] * 4


@pytest.mark.parametrize("conversations", [1000])
def test_many_interleaved_conversations(conversations: int) -> None:
    """A thousand conversations wait for their functions in turn, and none sees another's answer."""
    engine = JavaScript()
    source = "[name, ask(name), Math.random(), ask(name + '!')].join()"

    async def converse(number: int) -> str:
        names = Variables({"name": f"user{number}"}, {"ask": str})
        answers: list[FunctionAnswer] = []
        while True:
            outcome = engine.evaluate(source, names, answers, now_ms=number, seed=number)
            if not isinstance(outcome, Suspended):
                assert isinstance(outcome, Evaluated), outcome
                return outcome.value
            await asyncio.sleep(0)
            text = f"{number}:{outcome.args[0]}"
            answers.append(FunctionAnswer(outcome.name, outcome.args, text))

    async def all_of_them() -> list[str]:
        return await asyncio.gather(*(converse(number) for number in range(conversations)))

    for number, text in enumerate(asyncio.run(all_of_them())):
        name, first, chance, second = text.split(",")
        assert (name, first, second) == (f"user{number}", f"{number}:{name}", f"{number}:{name}!")
        alone = engine.evaluate("Math.random()", Variables({}), now_ms=number, seed=number)
        assert float(chance) == alone.value


def test_threads_that_end_free_their_contexts() -> None:
    """Contexts go with their thread; many short threads do not pile up memory."""
    import resource

    engine = JavaScript()

    def once() -> None:
        assert engine.evaluate("1 + 1", Variables({})).value == 2

    def run(count: int) -> int:
        for _ in range(count):
            thread = threading.Thread(target=once)
            thread.start()
            thread.join()
        gc.collect()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = run(10)
    assert run(40) - before < 15_000
