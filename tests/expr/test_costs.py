"""Promise: what an expression costs depends on what it reads, and nothing of it stays behind.

Times are compared within one run only, as the best of samples taken in turns: the machine may be
slow or busy, but then it is so for both sides.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from saywhy.expr.javascript import Evaluated, FunctionAnswer, JavaScript, Suspended
from saywhy.values import get_path

from .conftest import Variables

COUNT = "attempt_count + 1"
INCLUDES = "user.permissions.includes('admin') && creditScore > 700"
REDUCE = "items.map(i => i.price*i.qty).reduce((a,b)=>a+b,0).toFixed(2)"
TEMPLATE = "`Hi ${user.name}`"
HOST_CALLS = "ask(1) + ask(2) + ask(attempt_count)"
STATM = Path("/proc/self/statm")


class Quiet(Variables):
    """Variables that do not note what was asked for, which would itself take memory."""

    def get(self, path: Any) -> Any:
        return get_path(self.values, path)


def variables(idle_bytes: int = 0, functions: dict[str, Any] | None = None) -> Quiet:
    """A session; half of what lies idle in it is inside an object that expressions read from."""
    idle = ["x" * 97] * (idle_bytes // 200)
    user = {"permissions": ["read", "admin", "write"], "name": "Ann", "history": idle}
    items = [{"price": 1.5, "qty": number, "name": "tea"} for number in range(5)]
    values = {"attempt_count": 1, "creditScore": 710, "user": user, "items": items}
    return Quiet({**values, "cargo": {"idle": idle}}, functions)


def best_times(functions: list[Callable[[], object]], calls: int = 10) -> list[float]:
    """Seconds of one call of each: the best of many samples taken in turns, each so short that
    some of them are not interrupted."""
    best = [float("inf")] * len(functions)
    for _ in range(200):
        for number, function in enumerate(functions):
            started = time.perf_counter()
            for _ in range(calls):
                function()
            best[number] = min(best[number], time.perf_counter() - started)
    return [seconds / calls for seconds in best]


@pytest.mark.parametrize("source", [COUNT, INCLUDES, REDUCE, TEMPLATE, "cargo.last = creditScore"])
def test_a_large_session_costs_no_more_than_a_small_one(source: str) -> None:
    """Beside 200 KB that it does not read, an expression takes at most a fifth longer."""
    engine = JavaScript()
    small, large = variables(), variables(200_000)
    found: list[float] = []
    for _ in range(5):
        few, many = best_times(
            [lambda: engine.evaluate(source, small), lambda: engine.evaluate(source, large)]
        )
        found.append(many / few)
        if found[-1] <= 1.2:
            return
    pytest.fail(f"{source}: {', '.join(f'{ratio:.2f}' for ratio in found)} times as long")


def host_calls(engine: JavaScript, names: Variables) -> object:
    """Three calls of a function that costs nothing: four rounds."""
    answers: list[FunctionAnswer] = []
    while isinstance(outcome := engine.evaluate(HOST_CALLS, names, answers), Suspended):
        answers.append(FunctionAnswer(outcome.name, outcome.args, 1))
    return outcome


def test_an_expression_costs_a_few_calls_of_the_engine() -> None:
    """What is around the engine's own call, which every evaluation pays, stays in proportion.

    Usual are 0.8, 2.9, 7 and 50 calls; far more than that is a mistake somewhere.
    """
    import _quickjs

    context: Any = _quickjs.Context()
    context.set_time_limit(1)
    bare = cast("Callable[[int], object]", context.eval("(count) => count + 1"))
    engine, names = JavaScript(), variables()
    asking = variables(functions={"ask": print})
    limits = {COUNT: 2.0, INCLUDES: 5.0, REDUCE: 12.0, HOST_CALLS: 75.0}
    timed: list[Callable[[], object]] = [
        lambda: bare(1),
        lambda: engine.evaluate(COUNT, names),
        lambda: engine.evaluate(INCLUDES, names),
        lambda: engine.evaluate(REDUCE, names),
        lambda: host_calls(engine, asking),
    ]
    ratios: dict[str, float] = {}
    for _ in range(5):
        first, *others = best_times(timed)
        ratios = {source: taken / first for source, taken in zip(limits, others, strict=True)}
        if all(ratio < limits[source] for source, ratio in ratios.items()):
            return
    pytest.fail(f"in calls of the engine, with limits {limits}: {ratios}")


def resident_bytes() -> int:
    return int(STATM.read_text().split()[1]) * 4096 if STATM.exists() else 0


@pytest.mark.slow
def test_evaluations_leave_no_memory_behind() -> None:
    """After 300,000 evaluations, failed and waiting ones among them, the process is as large."""
    engine, names = JavaScript(), variables()
    asking = variables(functions={"ask": print})

    def many(rounds: int) -> None:
        for number in range(rounds):
            for source in (COUNT, INCLUDES, TEMPLATE):
                engine.evaluate(source, names)
            if number % 20 == 0:
                for source in (REDUCE, "nope.x", "cargo.idle.push(items)"):
                    engine.evaluate(source, names)
                host_calls(engine, asking)
                engine.evaluate(HOST_CALLS, asking)

    many(5_000)
    blocks, bytes_before = sys.getallocatedblocks(), resident_bytes()
    many(95_000)
    assert sys.getallocatedblocks() - blocks < 2_000
    assert resident_bytes() - bytes_before < 4 << 20


def test_what_async_functions_leave_waiting_does_not_pile_up() -> None:
    """Whatever the result is: each of these leaves megabytes of promises that nothing resolves."""
    engine, names = JavaScript(), variables()
    for _ in range(20):
        outcome = engine.evaluate("(Array.from({length: 5000}, async () => await 0), 1)", names)
        assert isinstance(outcome, Evaluated), outcome
        assert outcome.value == 1
