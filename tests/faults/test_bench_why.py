"""Promise: the table of `make bench-why` counts what was measured, by kind and by half."""

from __future__ import annotations

import json
from typing import Any

from bench.why import as_json, row, summary, totals
from tests.faults.case import all_cases
from tests.faults.measuring import Measured

CASES = {case.id: case for case in all_cases()}


def one(id: str, **found: Any) -> Measured:
    given = {"in_chain": True, "rank": 1, "length": 10, **found}
    return Measured(CASES[id], **given)


FOUND = [
    one("booked-at-the-quote", confirmed=True),
    one("farewell-before-the-end", confirmed=False, rank=2, length=40),
    one("rule-in-german", rank=4, length=30),
    one("limit-compared-as-text", in_chain=False, rank=0, length=8),
]


def test_what_counts() -> None:
    """Only the first three places count as among the first; only what can be removed is counted."""
    assert summary(FOUND) == {
        "faults": 4,
        "in_chain": 3,
        "first_3": 2,
        "median_length": 20,
        "removable": 3,
        "confirmed": 1,
    }


def test_a_line_for_each_fault() -> None:
    """Its place, the length of its chain, and whether removing the cause confirmed it."""
    assert [row(found).split()[2:] for found in FOUND] == [
        ["1.", "10", "confirmed"],
        ["2.", "40", "NOT", "confirmed"],
        ["4.", "30"],
        ["MISSING", "8"],
    ]


def test_kinds_and_halves_apart() -> None:
    """A kind of which nothing was measured has no line."""
    lines = [line.split() for line in totals(FOUND).splitlines() if line]
    assert [line[0] for line in lines[1:]] == [
        *("wrong-branch", "instruction-too-early", "wrong-language"),
        *("tuning", "all"),
    ]
    assert lines[-1][1:] == ["4", "3", "2", "20", "1/3"]
    data = json.loads(json.dumps(as_json(FOUND)))
    assert data["halves"]["tuning"]["faults"] == 4
    assert [fault["rank"] for fault in data["faults"]] == [1, 2, 4, None]


def test_fresh_faults_stand_apart() -> None:
    """They are held back, and the figures of the others that are do not have them."""
    found = [*FOUND, one("no-spanish-text"), one("there-and-back-in-french", rank=5)]
    lines = [line.split() for line in totals(found).splitlines() if line]
    assert [line[:4] for line in lines[-4:]] == [
        ["tuning", "4", "3", "2"],
        ["held", "1", "1", "1"],
        ["fresh", "1", "1", "0"],
        ["all", "6", "5", "3"],
    ]
    assert row(found[-1]).split()[:3] == ["wrong-language/there-and-back-in-french", "fresh", "5."]
    data = json.loads(json.dumps(as_json(found)))
    assert data["halves"]["fresh"]["faults"] == 1
    assert [fault["group"] for fault in data["faults"]][-2:] == ["", "fresh"]
