"""Promise: an expression in a process of its own gives the same, and can do less."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from bench.isolation import Bare, round_trip
from saywhy.errors import CallerError
from saywhy.expr.isolated import Isolated
from saywhy.expr.javascript import Evaluated, FunctionAnswer, JavaScript, Raised, Suspended
from saywhy.expr.pool import usual_size
from saywhy.expr.process import Process
from saywhy.expr.sandbox import Limits
from saywhy.expr.watch import Watch
from saywhy.values import UNDEFINED, Date, untagged

from .conftest import Variables, answer

CASES: list[dict[str, Any]] = [
    case
    for path in sorted((Path(__file__).parent.parent / "cases" / "expressions").glob("*.json"))
    for case in json.loads(path.read_text(encoding="utf-8"))
]
HARMLESS = [case for case in CASES if case.get("expect") != "blocked"]
HOSTILE = [case for case in CASES if case.get("expect") == "blocked"]

UNSTOPPABLE = [
    "Array(1e6).fill(Math.PI / 1e300).join().length",
    "JSON.stringify(Array(1e6).fill(Math.PI / 1e300)).length",
]
"""Each a single operation of the engine, in which it never looks at the clock."""


@pytest.fixture(scope="module")
def shared() -> Iterator[Isolated]:
    """Processes that many tests use one after the other, which must make no difference."""
    engine = Isolated(size=2)
    yield engine
    engine.close()


@pytest.fixture
def engine() -> Iterator[Isolated]:
    """One process, ended afterwards."""
    engine = Isolated(size=1)
    yield engine
    engine.close()


def is_there(pid: int) -> bool:
    """Whether there is such a process, be it dead and not waited for."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def pids_of(engine: Isolated) -> set[int]:
    """All its processes."""
    return {process.pid for process in engine._pool._processes}


def pid_of(engine: Isolated) -> int:
    """The only process there is."""
    (pid,) = pids_of(engine)
    return pid


# ----------------------------------------------------------------- the same


@pytest.mark.parametrize("as_text", [False, True])
def test_both_placements_give_the_same(shared: Isolated, as_text: bool) -> None:
    """Every expression of the corpus has the same outcome here and there, reads and places too."""
    here = JavaScript()
    for case in HARMLESS:
        names = Variables(untagged(case["vars"]))
        options: dict[str, Any] = {"now_ms": 1.7e12, "seed": 7, "text": as_text}
        expected = here.evaluate(case["expr"], names, **options)
        found = shared.evaluate(case["expr"], names, **options)
        assert repr(found) == repr(expected), case["expr"]
    assert len(HARMLESS) > 700


def test_functions_are_called_by_suspending(shared: Isolated) -> None:
    """Approved functions run in the program; what they give and what they change comes out."""

    def grow(items: list[int], by: int) -> int:
        items.append(by)
        return len(items)

    functions = {"grow": grow}
    names = Variables({"items": [1]}, functions)
    answers: list[FunctionAnswer] = []
    source = "grow(items, 5) + grow(items, 6)"
    while isinstance(outcome := shared.evaluate(source, names, answers), Suspended):
        answers.append(answer(outcome, functions[outcome.name]))
    assert isinstance(outcome, Evaluated)
    assert outcome.value == 5
    assert [change.value for change in outcome.changes] == [5, 6]
    assert [call.name for call in outcome.calls] == ["grow", "grow"]


def test_special_numbers_and_long_texts_arrive(shared: Isolated) -> None:
    """What the pipe has no word for, and what is longer than the pipe, arrives all the same."""
    values = {"nan": float("nan"), "inf": float("inf"), "long": "äx" * 400_000, "tail": "\ud800"}
    names = Variables(values)
    assert shared.evaluate("[isNaN(nan), inf, -0]", names, text=True).value == "[true,null,0]"
    assert shared.evaluate("long + long.length", names).value == values["long"] + "800000"
    assert shared.evaluate("tail + 1", names).value == "\ud8001"


# ------------------------------------------------------------ hostile


@pytest.mark.parametrize("case", HOSTILE, ids=lambda case: f"{case['threat']}/{case['id']}")
def test_hostile_expressions_are_blocked(shared: Isolated, case: dict[str, Any]) -> None:
    """It ends before the deadline or with it, tells nothing, and the next one is as ever."""
    started = time.monotonic()
    outcome = shared.evaluate(case["expr"], Variables(untagged(case["vars"])))
    assert time.monotonic() - started < shared.limits.deadline_seconds + 3
    assert "native code" not in repr(outcome)
    assert os.environ["PATH"] not in repr(outcome)
    for source, expected in (("[1,2].map(x => x + 1).join()", "2,3"), ("({}).polluted", UNDEFINED)):
        for _ in range(2):
            assert shared.evaluate(source, Variables({})).value == expected


@pytest.mark.parametrize("source", UNSTOPPABLE)
def test_what_cannot_be_interrupted_is_killed(source: str) -> None:
    """Where the engine's own limit does not hold, the process ends at the deadline."""
    engine = Isolated(Limits(deadline_seconds=0.2), size=1)
    names = Variables({"n": 1})
    try:
        assert engine.evaluate("n * 2", names).value == 2
        before = pid_of(engine)
        started = time.monotonic()
        outcome = engine.evaluate(source, names)
        assert time.monotonic() - started < 1.5
        assert isinstance(outcome, Raised)
        assert (outcome.kind, outcome.message) == (
            "TimeLimit",
            "the expression takes longer than it may",
        )
        assert not is_there(before), "killed, and waited for"
        assert engine.evaluate("n * 2", names).value == 2
        assert pid_of(engine) != before
    finally:
        engine.close()


def test_a_process_that_is_stopped_is_late() -> None:
    """The deadline holds when the process does nothing at all, also while it is being sent to."""
    short = Isolated(Limits(deadline_seconds=0.3), size=1)
    try:
        for value in ("x", "x" * 1_000_000):
            assert short.evaluate("1 + 1", Variables({})).value == 2
            os.kill(pid_of(short), signal.SIGSTOP)
            outcome = short.evaluate("v.length * 2", Variables({"v": value + "\0"}))
            assert isinstance(outcome, Raised)
            assert outcome.kind == "TimeLimit"
    finally:
        short.close()


# ------------------------------------------------------------ processes that end


def test_killed_in_mid_evaluation() -> None:
    """A process that somebody kills gives a named error; the next evaluation gets another one."""
    patient = Isolated(Limits(seconds=30, deadline_seconds=30), size=1)
    try:
        patient.evaluate("1 + 1", Variables({}))
        pid = pid_of(patient)
        timer = threading.Timer(0.3, os.kill, (pid, signal.SIGKILL))
        timer.start()
        outcome = patient.evaluate("(() => { for (;;); })()", Variables({}))
        timer.join()
        assert outcome == Raised(
            "WorkerFailed",
            "the process for this expression ended before it answered (killed by signal 9)",
        )
        assert patient.evaluate("1 + 1", Variables({})).value == 2
        assert not is_there(pid)
    finally:
        patient.close()


def test_killed_while_idle(engine: Isolated) -> None:
    """A process that ended while nobody asked it anything is replaced without a word."""
    engine.evaluate("1 + 1", Variables({}))
    pid = pid_of(engine)
    os.kill(pid, signal.SIGKILL)
    time.sleep(0.1)
    assert engine.evaluate("1 + 2", Variables({})).value == 3
    assert not is_there(pid)


def test_memory_is_limited_from_outside_too() -> None:
    """Past what its process may have, an expression gets an error, whatever JavaScript may have."""
    engine = Isolated(Limits(seconds=20, memory_bytes=64 << 20, deadline_seconds=20), size=1)
    try:
        source = "(() => { const a = []; for (;;) a.push('x'.repeat(1e6) + a.length) })()"
        outcome = engine.evaluate(source, Variables({}))
        assert isinstance(outcome, Raised)
        assert outcome.kind in ("MemoryLimit", "WorkerFailed")
        assert engine.evaluate("1 + 1", Variables({})).value == 2
    finally:
        engine.close()


def test_closing_ends_all_processes() -> None:
    """After `close` nothing is left; a later evaluation starts anew."""
    engine = Isolated(size=2)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: engine.evaluate(f"{n} + 1", Variables({})), range(40)))
    pids = pids_of(engine)
    assert 1 <= len(pids) <= 2
    engine.close()
    assert engine.evaluate("1 + 1", Variables({})).value == 2
    pids |= pids_of(engine)
    assert len(pids) >= 2
    engine.close()
    assert not any(map(is_there, pids))


PROGRAM = """
from saywhy.expr.isolated import Isolated
from saywhy.expr.javascript import Limits
class Nothing:
    functions = ()
    def has(self, name): return False
    def get(self, path): raise AssertionError
engine = Isolated(Limits(seconds=60, deadline_seconds=60), size=1)
engine.evaluate("1 + 1", Nothing())
print(*(process.pid for process in engine._pool._processes), flush=True)
engine.evaluate("(() => { for (;;); })()" if LOOP else "1 + 2", Nothing())
"""


@pytest.mark.parametrize("loop", [True, False], ids=["killed in mid-evaluation", "ended"])
def test_processes_end_with_the_program(loop: bool) -> None:
    """However the program ends, its processes do not stay, not even one that is at work."""
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.replace("LOOP", str(loop))], stdout=subprocess.PIPE
    )
    assert program.stdout
    pid = int(program.stdout.readline())
    if loop:
        time.sleep(0.2)
        assert is_there(pid)
        program.kill()
    program.communicate()
    assert program.returncode == (-signal.SIGKILL if loop else 0)
    deadline = time.monotonic() + 10
    while runs(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not runs(pid)


def runs(pid: int) -> bool:
    """Whether a process that is not ours runs: who should wait for it may be slow."""
    state = subprocess.run(
        ["ps", "-o", "state=", "-p", str(pid)], check=False, capture_output=True, text=True
    )
    return state.stdout.strip() not in ("", "Z")


# ------------------------------------------------------------ many at once


def test_many_threads() -> None:
    """Thirty-two threads share two processes, and each gets its own values and errors."""
    engine = Isolated(size=2)

    def work(number: int) -> list[Any]:
        found: list[Any] = []
        for turn in range(20):
            names = Variables({"n": number, "box": {"turn": turn, "list": [number] * 5}})
            outcome = engine.evaluate("box.list.map(x => x + n).join() + box.turn", names)
            found.append(getattr(outcome, "value", outcome))
            assert isinstance(engine.evaluate("box.nope.x", names), Raised)
        return found

    try:
        with ThreadPoolExecutor(32) as pool:
            results = list(pool.map(work, range(32)))
    finally:
        engine.close()
    for number, found in enumerate(results):
        assert found == [",".join([str(2 * number)] * 5) + str(turn) for turn in range(20)]


async def test_many_interleaved_conversations(shared: Isolated) -> None:
    """A thousand conversations suspend in turn, and none sees another's values or answers."""
    source = "[name, ask(name), ask(name + '!')].join()"

    async def converse(number: int) -> str:
        names = Variables({"name": f"user{number}"}, {"ask": str})
        answers: list[FunctionAnswer] = []
        while isinstance(outcome := shared.evaluate(source, names, answers), Suspended):
            await asyncio.sleep(0)
            answers.append(
                FunctionAnswer(outcome.name, outcome.args, f"{number}:{outcome.args[0]}")
            )
        assert isinstance(outcome, Evaluated), outcome
        return outcome.value

    texts = await asyncio.gather(*(converse(number) for number in range(1000)))
    for number, text in enumerate(texts):
        assert text == f"user{number},{number}:user{number},{number}:user{number}!"


def test_nothing_survives_an_evaluation(engine: Isolated) -> None:
    """What one tenant's expression tries to leave behind, the next one in the process misses."""
    secret = Variables({"secret": "s3cret", "box": {"a": 1}, "when": Date(5)})
    attempts = [
        "globalThis.kept = secret",
        "(function () { this.kept = secret })()",
        "kept = secret",
        "Object.prototype.kept = secret",
        "Array.prototype.kept = secret",
        "Math.kept = secret",
        "(() => { Error.kept = secret })()",
        "/(s3)(cret)/.test(secret)",
        "(async () => { await 1; Object.prototype.kept = secret })()",
        "[].constructor.kept = secret",
        "new RegExp(secret).exec(secret)[0]",
        "Symbol.for(secret).description",
        "(() => { throw new Error(secret) })()",
    ]
    probes = [
        "typeof kept",
        "typeof secret",
        "({}).kept",
        "[].kept",
        "Math.kept",
        "Error.kept",
        "RegExp.$1",
        "RegExp.lastMatch",
        "new Error('x').stack",
        "Object.getOwnPropertyNames(Symbol)",
    ]
    engine.evaluate("1 + 1", secret)
    pid = pid_of(engine)
    for attempt in attempts:
        engine.evaluate(attempt, secret)
        for probe in probes:
            outcome = engine.evaluate(probe, Variables({}))
            assert "s3" not in repr(outcome), (attempt, probe)
    assert pid_of(engine) == pid, "all in one process"


# ------------------------------------------------------------ options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": 0}, "expressions need one process at least, not 0"),
        (
            {"limits": Limits(deadline_seconds=0)},
            "the deadline of an expression is some seconds, not 0",
        ),
    ],
)
def test_options_are_checked(options: dict[str, Any], message: str) -> None:
    """No process, or no time, is refused when the engine is made."""
    with pytest.raises(CallerError, match=message):
        Isolated(**options)


def test_a_system_that_cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Python does not know its own program nothing is promised."""
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(CallerError, match="expressions cannot be isolated on this system"):
        Isolated()


def test_a_round_trip_costs_little_more_than_a_bare_pipe() -> None:
    """A message through the process takes at most four times as long as one that is echoed.

    Where one of the two shares a core with this program and the other does not, waking up is all
    that is compared; so each try starts both anew, and one good try is enough.
    """
    ratios: list[float] = []
    while len(ratios) < 8 and min(ratios, default=4) >= 4:
        own, bare = Process(Limits(), Watch(2.0)), Bare()
        try:
            ratios.append(round_trip(own, bare, 100, "", runs=30)[2]["median"])
        finally:
            own.end()
            bare.close()
    assert min(ratios) < 4


def test_as_many_processes_as_cores() -> None:
    """One for each core, eight at most."""
    assert 1 <= usual_size() <= 8
