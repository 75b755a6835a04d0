"""What an expression costs, with every limit on, in a small and in a large session.

The variables are looked up in a frozen state, as a turn does it; the time is that of `evaluate`
from the text of the expression to its outcome. `bare engine call` is the floor: one call of a
compiled function through the binding, with nothing of ours around it. The same expressions are
given in such calls as well (`x`), the best of samples taken in turns: that holds also where the
machine is slow or busy.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from bench.figures import Figure, figure, timed
from saywhy.expr.chains import Path
from saywhy.expr.javascript import FunctionAnswer, JavaScript, Suspended
from saywhy.values import Value, freeze, get_path

SOURCES = {
    "count + 1": "count + 1",
    "condition with includes": "user.permissions.includes('admin') && creditScore > 700",
    "map, reduce, toFixed": "items.map(i => i.price*i.qty).reduce((a,b)=>a+b,0).toFixed(2)",
    "a path alone": "user.name",
    "a missing key of cargo": "cargo.flag ? 1 : 2",
    "assignment to cargo": "cargo.last = count",
    "template text": "`Hi ${user.name}`",
}
SIZES = {"2 KB": 2_000, "200 KB": 200_000}
RUNS = 60
CALLS = 100


class Variables:
    """A session's variables, `size` bytes of them lying idle in cargo."""

    def __init__(self, size: int, functions: frozenset[str] = frozenset()) -> None:
        self.functions = functions
        self._values = freeze(
            {
                "count": 1,
                "creditScore": 710,
                "user": {"permissions": ["read", "admin", "write"], "name": "Ann"},
                "items": [{"price": 1.5, "qty": number, "name": "tea"} for number in range(5)],
                "cargo": {"history": ["x" * 100] * (size // 103)},
            }
        ).raw

    def has(self, name: str) -> bool:
        return name in self._values

    def get(self, path: Path) -> Value:
        return get_path(self._values, path)


def run() -> list[Figure]:
    engine = JavaScript()
    figures = [bare_call()]
    for label, source in SOURCES.items():
        for size_label, size in SIZES.items():
            names = Variables(size)
            figures.append(
                timed(
                    f"expression: {label}, {size_label}",
                    lambda source=source, names=names: engine.evaluate(source, names),
                    runs=RUNS,
                    calls=CALLS,
                    unit="us",
                )
            )
    rounds = host_calls(engine)
    figures.append(timed("expression: three host calls", rounds, runs=RUNS, calls=20, unit="us"))
    return [*figures, *in_bare_calls(engine)]


def bare_function() -> Any:
    """A function in the engine with a time limit, as expressions that may take long have it."""
    import _quickjs

    context: Any = _quickjs.Context()
    context.set_time_limit(1)
    return context.eval("(count) => count + 1")


def bare_call() -> Figure:
    """The binding's own call."""
    function = bare_function()
    return timed("bare engine call", lambda: function(1), runs=RUNS, calls=CALLS, unit="us")


def host_calls(engine: JavaScript) -> Callable[[], None]:
    """Three calls of an approved function: four rounds, the function itself costing nothing."""
    names = Variables(2_000, frozenset({"ask"}))
    source = "ask(1) + ask(2) + ask(count)"

    def all_rounds() -> None:
        answers: list[FunctionAnswer] = []
        while isinstance(outcome := engine.evaluate(source, names, answers), Suspended):
            answers.append(FunctionAnswer(outcome.name, outcome.args, 1))

    return all_rounds


def in_bare_calls(engine: JavaScript) -> list[Figure]:
    """What each expression costs in calls of the bare engine."""
    names = Variables(2_000)
    bare = bare_function()
    functions: dict[str, Callable[[], object]] = {
        label: lambda source=source: engine.evaluate(source, names)
        for label, source in SOURCES.items()
    }
    functions["three host calls"] = host_calls(engine)
    samples: dict[str, list[float]] = {label: [] for label in functions}
    for _ in range(RUNS):
        unit = best(lambda: bare(1))
        for label, function in functions.items():
            samples[label].append(best(function) / unit)
    return [
        figure(f"expression in bare calls: {label}", found, "x") for label, found in samples.items()
    ]


def best(function: Callable[[], object]) -> float:
    """Seconds of ten calls, the best of a few tries, each too short to be interrupted often."""
    tries: list[float] = []
    for _ in range(8):
        started = time.perf_counter()
        for _ in range(10):
            function()
        tries.append(time.perf_counter() - started)
    return min(tries)
