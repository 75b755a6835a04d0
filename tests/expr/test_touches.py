"""Promise: what is said of an expression's reads and writes covers what Node really touches.

The cases were written by Node, with proxies around the variables: aliases, destructuring, computed
keys, borrowed methods, and whatever else may hide what an expression does.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from saywhy.expr.changes import Change
from saywhy.expr.javascript import Evaluated
from saywhy.expr.names import read_expression
from saywhy.values import dumps, freeze, loads, thaw

from .conftest import Runner

CASES = Path(__file__).parent.parent / "cases" / "touches" / "touches.json"
WHOLE = json.loads(CASES.read_text(encoding="utf-8"))


def values_of(tree: dict[str, Any]) -> dict[str, Any]:
    """Variables as they stand in the file, dates and undefined with their tags."""
    return thaw(loads(json.dumps(tree)))


VALUES = values_of(WHOLE["values"])

each_case = pytest.mark.parametrize("case", WHOLE["cases"], ids=lambda case: case["expression"])


def texts(paths: Iterable[Iterable[Any]]) -> list[list[str]]:
    return [[str(part) for part in path] for path in paths]


def is_covered(path: list[str], known: list[list[str]]) -> bool:
    """Whether one of `known` is the path, or leads to it."""
    return any(path[: len(other)] == other for other in known)


@each_case
def test_what_is_written_is_foreseen(case: dict[str, Any]) -> None:
    """Each place that Node writes to lies inside one of `writes`."""
    known = texts(read_expression(case["expression"]).writes)
    assert [path for path in case["writes"] if not is_covered(path, known)] == []


@each_case
def test_what_is_read_is_told(run: Runner, case: dict[str, Any]) -> None:
    """Each place that Node reads lies inside what the text and the evaluation tell.

    Or on the way to one that is told: `user.name` reads `user`, and so does `user.name = 1`.
    """
    reading = read_expression(case["expression"])
    written = texts(reading.writes)
    for reads in (reading.reads, run(case["expression"], VALUES).reads):
        known = texts(reads)
        on_the_way = [path[:depth] for path in known + written for depth in range(1, len(path) + 1)]
        missing = [
            path for path in case["reads"] if not is_covered(path, known) and path not in on_the_way
        ]
        assert missing == []


@each_case
def test_what_is_changed_stays_changed(run: Runner, case: dict[str, Any]) -> None:
    """With the changes that are told, the variables are what they are in Node."""
    found = run(case["expression"], VALUES)
    assert isinstance(found, Evaluated)
    after = {**VALUES, **values_of(case.get("after", {}))}
    assert dumps(freeze(changed(found.changes))) == dumps(freeze(after))


def changed(changes: Iterable[Change]) -> dict[str, Any]:
    values: Any = thaw(freeze(VALUES))
    for change in changes:
        *way, last = change.path
        inside = values
        for part in way:
            inside = inside[part]
        if change.deleted:
            del inside[last]
        elif isinstance(inside, list) and last == len(inside):
            inside.append(thaw(change.value))
        else:
            inside[last] = thaw(change.value)
    return values
