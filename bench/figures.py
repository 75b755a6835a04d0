"""What a benchmark gives back, and how times are taken.

A benchmark is a module of this folder with a function `run() -> list[dict]`; each dict is a figure
as `figure()` makes it. What is measured, and against what, is said in the module itself.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from typing import TypedDict

_SCALES = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}


class Figure(TypedDict):
    """One line of the table."""

    name: str
    median: float
    p95: float
    unit: str
    runs: int


def figure(name: str, samples: Sequence[float], unit: str) -> Figure:
    """The figure `name` over `samples`, which are in `unit` already."""
    ordered = sorted(samples)
    p95 = ordered[min(len(ordered) - 1, round(0.95 * (len(ordered) - 1)))]
    return Figure(
        name=name, median=statistics.median(ordered), p95=p95, unit=unit, runs=len(ordered)
    )


def timed(
    name: str, function: Callable[[], object], *, runs: int, unit: str = "ms", calls: int = 1
) -> Figure:
    """How long one call of `function` takes; `calls` calls make one sample, for very short ones.

    One call goes before the clock starts, and the collector is off while it runs.
    """
    function()
    samples: list[float] = []
    gc.collect()
    gc.disable()
    try:
        for _ in range(runs):
            start = time.perf_counter()
            for _ in range(calls):
                function()
            samples.append((time.perf_counter() - start) / calls * _SCALES[unit])
    finally:
        gc.enable()
    return figure(name, samples, unit)
