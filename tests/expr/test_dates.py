"""Promise: time in an expression is what it was given, in UTC on every machine."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from typing import Any

import pytest

from .conftest import Runner

SOURCES: dict[str, Any] = {
    "new Date(2024, 0, 31, 12, 30).toISOString()": "2024-01-31T12:30:00.000Z",
    "new Date(99, 1).toISOString()": "1999-02-01T00:00:00.000Z",
    "new Date('2024-03-10T02:30:00').getTime()": 1710037800000,
    "new Date('2024-03-10').getTime()": 1710028800000,
    "new Date('2024-03-10T02:30:00Z').getHours()": 2,
    "new Date('2024-03-10T02:30:00+02:00').toISOString()": "2024-03-10T00:30:00.000Z",
    "new Date('March 10, 2024 02:30').toISOString()": "2024-03-10T02:30:00.000Z",
    "new Date('Sun, 10 Mar 2024 02:30:00 GMT').toISOString()": "2024-03-10T02:30:00.000Z",
    "Date.parse('2024-07-01T00:00')": 1719792000000,
    "Date.parse('nonsense')": None,
    "new Date(0).toString()": "Thu Jan 01 1970 00:00:00 GMT+0000 (Coordinated Universal Time)",
    "new Date(0).toDateString()": "Thu Jan 01 1970",
    "new Date(0).toTimeString()": "00:00:00 GMT+0000 (Coordinated Universal Time)",
    "String(new Date(NaN))": "Invalid Date",
    "new Date(0).getTimezoneOffset()": 0,
    "1 / new Date(-1).getTimezoneOffset() > 0": True,
    "[new Date(0).getDay(), new Date(0).getDate(), new Date(0).getFullYear()].join()": "4,1,1970",
    "(d => { d.setHours(5); return d.toISOString() })(new Date(0))": "1970-01-01T05:00:00.000Z",
    "(d => { d.setMonth(1, 3); return d.toISOString() })(new Date(0))": "1970-02-03T00:00:00.000Z",
    "(d => [d.setHours(NaN), d.getTime()].join())(new Date(7))": "NaN,NaN",
    "(d => [d.setUTCMonth(Infinity, 1), d.getTime()].join())(new Date(7))": "NaN,NaN",
    "(d => [d.setYear(NaN), d.getTime()].join())(new Date(7))": "NaN,NaN",
    "[Date.prototype.setHours.length, Date.prototype.setUTCDate.name].join()": "4,setUTCDate",
    "new Date(new Date(5)).getTime()": 5,
    "new Date(null).getTime()": 0,
    "new Date(true).getTime()": 1,
    "new Date(undefined).getTime()": None,
    "new Date(2024).getTime()": 2024,
    "Date.UTC(2024, 0)": 1704067200000,
    "typeof Date()": "string",
    "new Date() - new Date()": 0,
    "Date.now() + new Date().getTime()": 20,
    "new Date(0) instanceof Date && Date.prototype.constructor === Date": True,
    "new (class extends Date { year() { return this.getFullYear() } })(0).year()": 1970,
    "Date.length + Date.name": "7Date",
    "JSON.stringify(new Date(0))": '"1970-01-01T00:00:00.000Z"',
    "new Date(0) < new Date(1)": True,
    "`${new Date(0)}`.length": 62,
}


@pytest.mark.parametrize(("source", "expected"), SOURCES.items())
def test_dates(run: Runner, source: str, expected: Any) -> None:
    """Dates behave as in Node with UTC as the local zone; `now` is what was handed in."""
    value = run.value(source, now_ms=10.0)
    assert math.isnan(value) if expected is None else value == expected


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kolkata"])
def test_the_zone_of_the_machine_does_not_matter(zone: str) -> None:
    """The same expressions give the same values whatever the process takes for local time."""
    program = (
        "import json, sys\n"
        "from saywhy.expr.javascript import JavaScript\n"
        "class Nothing:\n"
        "    functions = ()\n"
        "    def has(self, name): return False\n"
        "    def get(self, path): raise AssertionError\n"
        "engine = JavaScript()\n"
        "sources = json.load(sys.stdin)\n"
        "values = [engine.evaluate(s, Nothing(), now_ms=10.0).value for s in sources]\n"
        "json.dump([None if v != v else v for v in values], sys.stdout)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps(list(SOURCES)),
        env={**os.environ, "TZ": zone},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == list(SOURCES.values())


@pytest.mark.parametrize(("year", "text"), [(-2, "-0002"), (-20000, "-20000"), (5, "0005")])
def test_years_far_off_have_four_digits_at_least(run: Runner, year: int, text: str) -> None:
    """Years before our era are written with a sign and no more noughts than others."""
    day = f"(d => (d.setUTCFullYear({year}), [d.toString(), d.toDateString()]))(new Date(0))"
    assert [part.split()[3] for part in run.value(day)] == [text, text]
