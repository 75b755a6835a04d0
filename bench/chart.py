"""What the chart engine costs: a stage with its trace, a long loop, a large state that lies idle.

Every commit is kept. Nothing here waits, so it is processor time that is taken, which other
programs on the machine disturb least. `the same without an engine` is the work of the stages alone:
on a slow machine, compare with that and with what an await costs there.
"""

from __future__ import annotations

import asyncio
import gc
import time
import tracemalloc
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from bench.figures import Figure, figure
from saywhy.chart.build import Builder
from saywhy.chart.built import Built
from saywhy.chart.commit import Commit
from saywhy.chart.cursor import Cursor
from saywhy.chart.machine import Limits, advance, open_frame
from saywhy.chart.model import Charts
from saywhy.chart.outcome import Call
from saywhy.values import freeze

STAGES = 1000
ITERATIONS = 10_000
STEPS = 200
RUNS = 15
LIMITS = Limits(steps=100_000)


def run() -> list[Figure]:
    return [*linear(), *loop(), *idle()]


class Running:
    """A built chart on `advance`, with all its commits kept."""

    def __init__(self, built: Built, **state: Any) -> None:
        self.charts = Charts(built.charts)
        self.language = built.language()
        self.cursor = Cursor()
        self.commits: list[Commit] = []
        open_frame(self.cursor, built.chart, Call(built.chart.digest, "state"))
        for name, value in state.items():
            self.cursor.state.scopes["state"][name] = freeze(value)

    def go(self, record: Callable[[Commit], None] | None = None) -> float:
        """Seconds from start to end."""
        keep = record or self.commits.append
        gc.collect()
        gc.disable()
        try:
            start = time.process_time()
            advance(self.charts, self.language, self.cursor, record=keep, limits=LIMITS)
            return time.process_time() - start
        finally:
            gc.enable()


# ------------------------------------------------------------------ linear stages


def linear() -> list[Figure]:
    """Microseconds a stage, over 1,000 stages one after the other."""

    def nothing(s: Any) -> None:
        pass

    def count(s: Any) -> None:
        s.n = s.n + 1

    figures: list[Figure] = []
    for name, stage in (("does nothing", nothing), ("reads and sets", count)):
        built = linear_chart(STAGES, stage)
        Running(built, n=0).go()
        samples = [Running(built, n=0).go() / STAGES * 1e6 for _ in range(RUNS)]
        figures.append(figure(f"chart: a stage that {name}", samples, "us"))
    plain = [_without_engine(count) for _ in range(RUNS)]
    figures.append(figure("chart: the same without an engine", plain, "us"))
    awaits = [await_time() for _ in range(RUNS)]
    figures.append(figure("chart: an await, for comparison", awaits, "us"))
    return figures


def linear_chart(stages: int, stage: Callable[[Any], None]) -> Built:
    builder = Builder("linear")
    for number in range(stages):
        builder.stage(id=f"s{number}")(stage)
    return builder.build()


def _without_engine(stage: Callable[[Any], None]) -> float:
    state = SimpleNamespace(n=0)
    start = time.process_time()
    for _ in range(STAGES):
        stage(state)
    return (time.process_time() - start) / STAGES * 1e6


def await_time() -> float:
    async def nothing() -> None:
        pass

    async def many() -> float:
        start = time.process_time()
        for _ in range(STAGES):
            await nothing()
        return (time.process_time() - start) / STAGES * 1e6

    return asyncio.run(many())


# ------------------------------------------------------------------ a loop that appends


def loop() -> list[Figure]:
    """Microseconds an iteration (two stages) at the start and the end of 10,000; memory kept."""
    quarters = [quarters_of(ITERATIONS) for _ in range(5)]
    first = [sample[0] / (ITERATIONS / 4) * 1e6 for sample in quarters]
    last = [sample[3] / (ITERATIONS / 4) * 1e6 for sample in quarters]
    ratios = [sample[3] / sample[0] for sample in quarters]
    return [
        figure("chart: an iteration appending 1 KB, first quarter", first, "us"),
        figure("chart: an iteration appending 1 KB, last quarter", last, "us"),
        figure("chart: last quarter to first quarter", ratios, ""),
        figure("chart: kept after 10,000 iterations", [kept_bytes(ITERATIONS) / 2**20], "MB"),
    ]


def loop_chart(iterations: int) -> Built:
    """Appends 1 KB to a list, again and again."""
    builder = Builder("loop")

    @builder.stage
    def work(s: Any) -> None:
        s.n = s.n + 1
        s.lines.append(f"{s.n:0>1024}")

    @builder.decider
    def more(s: Any) -> str:
        return "again" if s.n < iterations else "done"

    more.branch("again", loop_to="work", max_iter=iterations)
    more.branch("done")
    return builder.build()


def quarters_of(iterations: int) -> list[float]:
    """Seconds that each quarter of the loop took."""
    running = Running(loop_chart(iterations), n=0, lines=[])
    marks: list[float] = []
    quarter = iterations // 4 * 2

    def record(commit: Commit) -> None:
        running.commits.append(commit)
        if commit.seq % quarter == 0:
            marks.append(time.process_time())

    start = time.process_time()
    running.go(record)
    return [end - begin for begin, end in zip([start, *marks], marks, strict=False)]


def kept_bytes(iterations: int) -> float:
    """Memory that state and commits hold in the end, payload included."""
    running = Running(loop_chart(iterations), n=0, lines=[])
    gc.collect()
    tracemalloc.start()
    advance(
        running.charts,
        running.language,
        running.cursor,
        record=running.commits.append,
        limits=LIMITS,
    )
    gc.collect()
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return kept


# ------------------------------------------------------------------ a large state, idle


def idle() -> list[Figure]:
    """Microseconds a step that writes one number, beside 1 KB and beside 1 MB of other state."""
    built = linear_chart(STEPS, _write)
    figures: list[Figure] = []
    for name, kilobytes in (("1 KB", 1), ("1 MB", 1024)):
        state = {"n": 0, "idle": idle_state(kilobytes)}
        samples = [Running(built, **state).go() / STEPS * 1e6 for _ in range(RUNS)]
        figures.append(figure(f"chart: a scalar write beside {name} of state", samples, "us"))
    return figures


def idle_state(kilobytes: int) -> Any:
    """An object of about this size, of records as programs hold them."""
    return {f"k{number}": {"id": number, "text": "x" * 1000} for number in range(kilobytes)}


def _write(s: Any) -> None:
    s.n = s.n + 1
