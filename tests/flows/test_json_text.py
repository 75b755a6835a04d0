"""Promise: JSON files are read as JSON means them, and a slip is shown where it was made."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saywhy.flows.json_text import read_json
from saywhy.values import MAX_DEPTH

CASES = json.loads((Path(__file__).parent.parent / "cases/read/json.json").read_text("utf-8"))

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["about"])
def test_slips_are_shown_where_they_were_made(case: dict[str, Any]) -> None:
    """One problem, with line, column, what was found and what to try."""
    document = read_json(case["text"], "pay.json")
    assert document.value is None
    (problem,) = document.problems
    assert problem.message.startswith("not valid JSON: ")
    assert case["message"] in problem.message
    assert case["hint"] in problem.hint
    assert (problem.place.line, problem.place.column) == (case["line"], case["column"])


@given(json_values, st.sampled_from([None, 0, 2]), st.booleans())
def test_reads_what_json_means(value: Any, indent: int | None, ascii_only: bool) -> None:
    """Whatever a JSON writer wrote comes out as any JSON reader has it."""
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    document = read_json(text, "any.json")
    assert document.problems == ()
    assert document.value == json.loads(text)


def test_surrogates_come_out_as_json_means_them() -> None:
    """An escaped pair is one character, half a pair stays half."""
    assert read_json(r'["\ud83d\ude00", "\ud83d"]', "f").value == ["\U0001f600", "\ud83d"]


def test_numbers_keep_what_json_says() -> None:
    """Integers of any size are exact, -0 keeps its sign, a number too large is infinite."""
    value = read_json("[12345678901234567890, -0, 1.0, 1e2, 1e400]", "f").value
    assert value[0] == 12345678901234567890
    assert math.copysign(1, value[1]) == -1
    assert isinstance(value[2], float) and isinstance(value[3], float)
    assert math.isinf(value[4])


def test_the_later_of_two_equal_keys_wins_with_a_problem() -> None:
    """Reading goes on, as in every JSON reader, but the author is told."""
    document = read_json('{"a": 1,\n "a": 2}', "f.json")
    assert document.value == {"a": 2}
    (problem,) = document.problems
    assert str(problem.place) == "f.json:2:2"
    assert problem.message == 'the key "a" stands twice in one object; the later one wins'


def test_nesting_is_bounded() -> None:
    """A file of brackets is a problem, not a crash."""
    (problem,) = read_json("[" * 100_000, "f").problems
    assert problem.message == f"not valid JSON: nested deeper than {MAX_DEPTH} levels"
    assert read_json("[" * MAX_DEPTH + "]" * MAX_DEPTH, "f").problems == ()


def test_a_number_of_absurd_length_is_a_problem() -> None:
    """Python refuses to read it; the author learns why."""
    (problem,) = read_json("[" + "9" * 5000 + "]", "f").problems
    assert problem.message == "not valid JSON: a number with too many digits"
