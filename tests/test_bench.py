"""Promise: benchmark figures are what they say, and results of other benchmarks are kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bench.__main__ as program
from bench.figures import figure, timed


def test_figure_takes_median_and_95th_percentile() -> None:
    """The median is the middle sample; one slow sample of a hundred does not move the p95."""
    found = figure("turn", [*range(1, 100), 10_000], "ms")
    assert found == {"name": "turn", "median": 50.5, "p95": 95, "unit": "ms", "runs": 100}


def test_timed_counts_runs_and_divides_by_calls() -> None:
    """Each run makes the asked number of calls, after one that is not counted."""
    calls: list[int] = []
    found = timed("x", lambda: calls.append(1), runs=4, calls=3, unit="us")
    assert found["runs"] == 4
    assert len(calls) == 1 + 4 * 3
    assert 0 < found["median"] < 1_000


def test_results_of_other_benchmarks_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Running one benchmark leaves the others' results; running all starts anew."""
    results = tmp_path / "results.json"
    monkeypatch.setattr(program, "RESULTS", results)
    program.write([figure("one", [1.0], "ms")], keep=False)
    program.write([figure("two", [2.0], "ms")], keep=True)
    assert json.loads(results.read_text()) == {
        "one": {"median": 1.0, "p95": 1.0, "unit": "ms", "runs": 1},
        "two": {"median": 2.0, "p95": 2.0, "unit": "ms", "runs": 1},
    }
    program.write([figure("two", [3.0], "ms")], keep=False)
    assert json.loads(results.read_text()).keys() == {"two"}


def test_an_unknown_benchmark_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """A name that is no benchmark ends with code 2 and the names there are."""
    assert program.main(["imprts"]) == 2
    assert "no benchmark imprts; there are" in capsys.readouterr().err
