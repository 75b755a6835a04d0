"""Promise: what the engine costs does not grow with what lies idle or was done before.

Ratios within one run, best of several, so that a busy machine says nothing; with margins that a
copy of the state, or a log that grows with the list, exceeds many times over.
"""

from __future__ import annotations

from statistics import mean, median
from time import process_time
from typing import Any

from bench.chart import (
    Running,
    await_time,
    idle_state,
    kept_bytes,
    linear_chart,
    loop_chart,
    quarters_of,
)


def count(s: Any) -> None:
    s.n = s.n + 1


def per_stage(stages: int, runs: int, stage: Any = count, **state: Any) -> float:
    """Microseconds a stage, best of several runs; the first one warms up."""
    built = linear_chart(stages, stage)
    times = [Running(built, n=0, **state).go() for _ in range(runs + 1)]
    return min(times[1:]) / stages * 1e6


def awaits_for(seconds: float) -> float:
    """Microseconds an await, measured for so long."""
    times: list[float] = []
    end = process_time() + seconds
    while process_time() < end:
        times.append(await_time())
    return mean(times)


def test_a_stage_with_its_trace_costs_some_awaits() -> None:
    """A stage that reads and writes, its commit kept, is at most 5 µs where an await is 0.1 µs.

    The bound is half as much again. Each run stands between two lots of awaits that take as long,
    and the middle of the ratios counts: what else the machine does strikes both sides.
    """
    built = linear_chart(1000, count)
    ratios: list[float] = []
    for _ in range(16):
        before = awaits_for(0.003)
        stage = Running(built, n=0).go() / 1000 * 1e6
        ratios.append(2 * stage / (before + awaits_for(0.003)))
    assert median(ratios[1:]) < 75  # the first run warms up


def test_a_long_loop_costs_the_same_at_its_end() -> None:
    """10,000 rounds appending 1 KB to a list: the last quarter takes as long as the first."""
    ratios: list[float] = []
    for _ in range(5):
        first, _, _, last = quarters_of(10_000)
        ratios.append(last / first)
        if ratios[-1] < 1.2:
            break
    assert min(ratios) < 1.2


def test_a_long_loop_keeps_little_more_than_its_payload() -> None:
    """State and all commits of 10,000 rounds of 1 KB stay under 40 MB."""
    kept = kept_bytes(10_000) / 2**20
    assert 10_000 * 1024 / 2**20 < kept < 40


def test_what_lies_idle_costs_nothing() -> None:
    """200 scalar writes beside 1 MB of other state cost what they cost beside 1 KB."""
    ratios: list[float] = []
    for _ in range(5):
        small = per_stage(200, 10, idle=idle_state(1))
        large = per_stage(200, 10, idle=idle_state(1024))
        ratios.append(large / small)
        if ratios[-1] < 1.2:
            break
    assert min(ratios) < 1.2


def test_looking_into_a_large_value_costs_nothing() -> None:
    """Reading one field of 1 MB costs what reading one field of 1 KB costs."""

    def look(s: Any) -> None:
        _ = s.idle.k0.id

    ratios: list[float] = []
    for _ in range(5):
        small = per_stage(200, 10, look, idle=idle_state(1))
        large = per_stage(200, 10, look, idle=idle_state(1024))
        ratios.append(large / small)
        if ratios[-1] < 1.2:
            break
    assert min(ratios) < 1.2


def test_a_checkpoint_is_no_larger_for_a_long_run() -> None:
    """After 2,000 rounds it holds the state and little else."""
    running = Running(loop_chart(2_000), n=0, lines=[])
    running.go()
    payload = sum(len(line) for line in running.cursor.state.scopes["state"]["lines"])
    assert payload == 2_000 * 1024
    assert len(running.cursor.to_json()) < 1.1 * payload + 2_048
