"""What it costs to evaluate an expression in a process of its own, beside a bare pipe.

`bare` is a process that sends back what it was sent, in the same framing and of the same size, and
does nothing else. `round trip` is a request through a process of ours, whose program gives back its
argument; below it are whole evaluations, from the text of the expression to its outcome. Ours and
the bare one take turns, so that both see the same machine, and a ratio is that of neighbours.

Both pay for waking up another process. Between idle cores that is nearly all of it and the ratios
come close to 1; on one core it is little, and the ratios are at their largest. Left alone, the
system puts the one here and the other there, and the ratio is that of the places; so all of them
are kept on one core, and then the program on one and both processes on another.
"""

from __future__ import annotations

import gc
import marshal
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

from bench.expressions import Variables
from bench.figures import Figure, figure
from saywhy.expr.isolated import Isolated
from saywhy.expr.process import Process
from saywhy.expr.sandbox import Limits
from saywhy.expr.watch import Watch

RUNS = 150
CALLS = 40
GROUP = 15
"""Neighbouring samples of which the fastest one counts in a ratio: other programs only add time."""
ECHO = """
import os
while True:
    data = os.read(0, 1 << 16)
    size = int.from_bytes(data[:4], "little") + 4
    if len(data) != size:
        parts, missing = [data], size - len(data)
        while missing and data:
            data = os.read(0, min(missing, 1 << 20))
            parts.append(data)
            missing -= len(data)
        data = b"".join(parts)
    if len(data) != size:
        break
    os.write(1, data)
"""
OWN_ECHO = "(kit, bounds) => text => text"
SIZES = (10, 1_000, 200_000)
SOURCES = {
    "count * 2": "count * 2",
    "condition with includes": "user.permissions.includes('admin') && creditScore > 700",
    "map, reduce, toFixed": "items.map(i => i.price*i.qty).reduce((a,b)=>a+b,0).toFixed(2)",
}


class Bare:
    """The process that echoes."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", ECHO],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        assert self._process.stdin and self._process.stdout
        self._in = self._process.stdin.fileno()
        self._out = self._process.stdout.fileno()

    def exchange(self, body: bytes) -> bytes:
        """Send a message in the framing of `serve`, and read it again."""
        data = len(body).to_bytes(4, "little") + body
        os.write(self._in, data)
        answer = os.read(self._out, 1 << 16)
        if len(answer) != len(data):
            parts, missing = [answer], len(data) - len(answer)
            while missing:
                parts.append(os.read(self._out, min(missing, 1 << 20)))
                missing -= len(parts[-1])
            answer = b"".join(parts)
        return answer

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.communicate()


def run() -> list[Figure]:
    """On one core, and between two where the system lets a program choose."""
    if not hasattr(os, "sched_setaffinity"):
        return measured("")
    allowed = os.sched_getaffinity(0)
    here, there = min(allowed), max(allowed)
    try:
        figures = on_cores({here}, {here}, "one core")
        return figures + (on_cores({here}, {there}, "two cores") if here != there else [])
    finally:
        os.sched_setaffinity(0, allowed)


def on_cores(program: set[int], processes: set[int], label: str) -> list[Figure]:
    """The figures with the program and the processes where they are told to be."""
    os.sched_setaffinity(0, processes)  # a process begins where the one is that starts it
    return measured(f", {label}", lambda: os.sched_setaffinity(0, program))


def measured(where: str, started: Callable[[], None] = lambda: None) -> list[Figure]:
    """All figures, each name ending in `where`; `started` is called when the processes run."""
    figures: list[Figure] = []
    engine, bare, own = Isolated(size=1), Bare(), Process(Limits(), Watch(2.0))
    try:
        engine.evaluate("1", Variables(10))
        started()
        for size in SIZES:
            runs = RUNS if size < 100_000 else RUNS // 5
            figures += round_trip(own, bare, size, where, runs)
        for label, source in SOURCES.items():
            names = Variables(2_000)
            body = bytes(100)
            figures += beside(
                f"{label}{where}",
                lambda source=source, names=names: engine.evaluate(source, names),
                lambda body=body: bare.exchange(body),
                RUNS,
            )[::2]
    finally:
        engine.close()
        bare.close()
        own.end()
    return figures


def round_trip(own: Process, bare: Bare, size: int, where: str, runs: int) -> list[Figure]:
    """A text of `size` bytes to the process and back, and as many bytes through a bare pipe."""
    argument = ("x" * size,)
    body = bytes(len(marshal.dumps((1, argument))))
    return beside(
        f"round trip, {size} bytes{where}",
        lambda: own.ask(1, OWN_ECHO, argument),
        lambda: bare.exchange(body),
        runs,
    )


def beside(
    label: str, ours: Callable[[], object], bare: Callable[[], object], runs: int
) -> list[Figure]:
    """The figures of both, taking turns, and of their ratio."""
    ours_us: list[float] = []
    bare_us: list[float] = []
    gc.collect()
    gc.disable()
    try:
        for _ in range(runs):
            ours_us.append(_sample(ours))
            bare_us.append(_sample(bare))
    finally:
        gc.enable()
    ratios = [
        min(one) / min(other) for one, other in zip(_groups(ours_us), _groups(bare_us), strict=True)
    ]
    return [
        figure(f"isolated: {label}", ours_us, "us"),
        figure(f"isolated: {label}, bare pipe", bare_us, "us"),
        figure(f"isolated: {label}, times a bare pipe", ratios, "x"),
    ]


def _groups(samples: Sequence[float]) -> list[Sequence[float]]:
    return [samples[start : start + GROUP] for start in range(0, len(samples), GROUP)]


def _sample(call: Callable[[], object]) -> float:
    call()
    started = time.perf_counter()
    for _ in range(CALLS):
        call()
    return (time.perf_counter() - started) / CALLS * 1e6
