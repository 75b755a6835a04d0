"""Promise: every expression of the corpus has the value, the error and the effects it has in Node.

`SAYWHY_CONFORMANCE=DIR` runs the cases below `DIR/expressions` instead of the project's own copies.
What is not right yet stands in `not_yet.json` under "expressions"; that list may only shrink.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from saywhy.expr.javascript import Evaluated, Foreign, JavaScript, Raised
from saywhy.values import Value, delete_path, freeze, get_path, raw, same, set_path, tagged
from saywhy.values import untagged as decoded

HERE = Path(__file__).parent
OWN = HERE.parent / "cases" / "expressions"
ELSEWHERE = os.environ.get("SAYWHY_CONFORMANCE")
FOLDER = Path(ELSEWHERE) / "expressions" if ELSEWHERE else OWN

NOT_YET: list[str] = json.loads((HERE / "not_yet.json").read_text(encoding="utf-8"))["expressions"]
MOST_NOT_YET = 0
"""How many there were at most. Lower it when cases are taken off the list; never raise it."""
NEEDED_SHARE = 0.98
DEADLINE_SECONDS = 2
START_SECONDS = 30
"""Starting the process is not part of any case's time."""

CASES: list[dict[str, Any]] = [
    case
    for path in sorted(FOLDER.glob("*.json"))
    for case in json.loads(path.read_text(encoding="utf-8"))
]
HARMLESS = [case for case in CASES if case.get("expect") != "blocked"]
HOSTILE = [case for case in CASES if case.get("expect") == "blocked"]


class Variables:
    """The variables of one case."""

    functions: frozenset[str] = frozenset()

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = freeze(decoded(values))

    def has(self, name: str) -> bool:
        return name in self.values

    def get(self, path: tuple[str | int, ...]) -> Value:
        return get_path(self.values, path)


def encoded(value: Any) -> Any:
    """A result in the encoding of the corpus."""
    if isinstance(value, Foreign):
        if value.kind == "map":
            return {"$map": [[encoded(key), encoded(item)] for key, item in value.data]}
        if value.kind == "set":
            return {"$set": [encoded(item) for item in value.data]}
        return {"$regexp": value.text} if value.kind == "regexp" else {f"${value.kind}": True}
    value = raw(value)
    if isinstance(value, dict):
        return {key: encoded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [encoded(item) for item in value]
    if isinstance(value, float) and str(value) == "-0.0":
        return {"$num": "-0"}
    return tagged(value)


def mistake_in(case: dict[str, Any], engine: JavaScript) -> str:
    """What is wrong about how `case` comes out; empty when nothing is."""
    names = Variables(case["vars"])
    outcome = engine.evaluate(case["expr"], names)
    if "error" in case:
        if isinstance(outcome, Raised) and outcome.kind == case["error"]:
            return "" if outcome.phase == case["phase"] else f"raised in {outcome.phase}: {outcome}"
        return f"expected {case['error']}, got {outcome}"
    if not isinstance(outcome, Evaluated):
        return f"expected {case['value']!r}, got {outcome}"
    if not same(encoded(outcome.value), case["value"]):
        return f"expected {case['value']!r}, got {encoded(outcome.value)!r}"
    after = names.values
    for change in outcome.changes:
        deleted, path = change.deleted, change.path
        after = delete_path(after, path) if deleted else set_path(after, path, change.value)
    expected = case.get("vars_after", case["vars"])
    return "" if same(encoded(after), expected) else f"variables afterwards: {encoded(after)!r}"


@pytest.fixture(scope="module")
def engine() -> JavaScript:
    return JavaScript()


@pytest.mark.parametrize("case", HARMLESS, ids=lambda case: f"{case['category']}/{case['id']}")
def test_expression(case: dict[str, Any], engine: JavaScript) -> None:
    """Value, error and changed variables are those that Node gives."""
    mistake = mistake_in(case, engine)
    if case["id"] in NOT_YET:
        if not mistake:
            pytest.fail(f"{case['id']} is right: take it off tests/conformance/not_yet.json")
        pytest.xfail(mistake)
    assert not mistake, f"{case['expr']}\n{mistake}"


def test_enough_is_right(engine: JavaScript) -> None:
    """At least 98 of 100 expressions are right, whatever the list of exceptions says."""
    wrong = [case["id"] for case in HARMLESS if mistake_in(case, engine)]
    assert len(wrong) <= (1 - NEEDED_SHARE) * len(HARMLESS), wrong


def test_there_are_cases() -> None:
    """A folder without cases is a mistake, not a success."""
    assert HARMLESS, f"no expression in {FOLDER}"


def test_the_list_only_shrinks() -> None:
    """Nothing is put on the list of what is not right yet, and nothing stands on it twice."""
    own = {
        case["id"] for path in OWN.glob("*.json") for case in json.loads(path.read_text("utf-8"))
    }
    assert len(NOT_YET) <= MOST_NOT_YET
    assert len(set(NOT_YET)) == len(NOT_YET)
    assert set(NOT_YET) <= own


class HostileProcess:
    """A process that evaluates what nobody should evaluate, started anew when it is killed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, case: dict[str, Any], seconds: float = DEADLINE_SECONDS) -> dict[str, Any]:
        """How the case ended there. Fails when it takes too long or the process dies."""
        process = self._running()
        assert process.stdin and process.stdout
        process.stdin.write(json.dumps(case).encode() + b"\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], seconds)
        line = process.stdout.readline() if ready else b""
        if not line:
            died = process.poll()
            self.stop()
            what = "took longer than 2 seconds" if died is None else f"killed its process: {died}"
            pytest.fail(f"{case['expr']} {what}")
        return json.loads(line)

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, str(HERE / "hostile_worker.py")],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            self.ask({"expr": "1", "vars": {}}, START_SECONDS)
        return self._process

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
        self._process = None


@pytest.fixture(scope="module")
def hostile() -> Iterator[HostileProcess]:
    process = HostileProcess()
    yield process
    process.stop()


@pytest.mark.parametrize("case", HOSTILE, ids=lambda case: f"{case['threat']}/{case['id']}")
def test_hostile_expression(case: dict[str, Any], hostile: HostileProcess) -> None:
    """It ends in time, reaches nothing, and leaves no trace in this conversation or another."""
    answer = hostile.ask(case)
    assert answer["healthy"], f"{case['expr']} changed what later expressions give"
    assert not answer["opened"], f"{case['expr']} opened {answer['opened']}"
    if answer["is_value"]:
        # A value is data: what could call or reach anything comes out as a description of itself.
        assert "native code" not in answer["outcome"]
        assert os.environ.get("PATH", "PATH") not in answer["outcome"]


def test_a_process_that_hangs_is_noticed(hostile: HostileProcess) -> None:
    """The deadline is a real one: without the engine's own limit the process is killed."""
    endless = {"expr": "(() => { for (;;); })()", "vars": {}, "seconds": 60}
    with pytest.raises(pytest.fail.Exception, match="took longer than 2 seconds"):
        hostile.ask(endless)
    assert hostile.ask({"expr": "1 + 1", "vars": {}}, START_SECONDS)["outcome"].startswith(
        "Evaluated(value=2,"
    )


def test_what_is_opened_is_noticed(hostile: HostileProcess) -> None:
    """The watch over files, sockets and processes sees a file that is opened."""
    assert hostile.ask({"expr": "1", "vars": {}, "touch": True})["opened"] == ["open"]
