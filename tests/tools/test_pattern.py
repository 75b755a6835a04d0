"""Promise: patterns of authors mean what they mean in JavaScript and never take long."""

from __future__ import annotations

import time

import pytest

from saywhy.tools.pattern import MAX_PATTERN, MAX_TEXT, found, pattern_problem


@pytest.mark.parametrize(
    ("pattern", "text", "is_found"),
    [
        (r"^\d+$", "44", True),
        (r"^\d+$", "old", False),
        (r"^\d+$", "44\n", False),
        (r"\bway\b", "no way out", True),
        (r"^[A-Z]{2}\d+$", "AB1", True),
        (r"^[A-Z]{2}\d+$", "ab1", False),
        (r"^(?=.*\d)(?=.*[a-z]).{4,}$", "abc1", True),
        (r"^(?=.*\d)(?=.*[a-z]).{4,}$", "abcd", False),
        (r"(\w)\1", "boom", True),
        ("", "anything", True),
        ("é", "caf\u00e9", True),
    ],
)
def test_searches_anywhere(pattern: str, text: str, is_found: bool) -> None:
    """A pattern is searched for in the whole text, with JavaScript's syntax."""
    assert found(pattern, text) is is_found


def test_case_can_be_ignored() -> None:
    """Letters match whatever their case when asked to, escapes keep their meaning."""
    assert found("STALL", "it stalled", ignore_case=True)
    assert not found("STALL", "it stalled")
    assert not found(r"\D", "44", ignore_case=True)


@pytest.mark.parametrize(
    ("pattern", "text"), [("(a", "call(a"), ("[", "x[0]"), ("a{2,1}", "a{2,1}")]
)
def test_what_is_no_pattern_is_looked_for_as_it_stands(pattern: str, text: str) -> None:
    """A broken pattern is reported by the check and still finds itself."""
    assert found(pattern, text)
    assert not found(pattern, "else")
    assert pattern_problem(pattern) == f"{pattern} is no regular expression"


def test_good_patterns_are_no_problem() -> None:
    """A pattern that can be used is not reported, look-around included."""
    assert pattern_problem(r"^(?!0)\d{4}$") is None


def test_long_patterns_are_looked_for_as_they_stand() -> None:
    """Beyond the limit a pattern is not compiled."""
    long = "(a)" * MAX_PATTERN
    assert pattern_problem(long) == f"the pattern is longer than {MAX_PATTERN} characters"
    assert found(long, long)
    assert not found(long, "a" * MAX_PATTERN)


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|a)*b", "(a|a)*\\1b", "(?=(a+))\\1b", "(?<=a.*)c"]
)
def test_hostile_patterns_end_soon(pattern: str) -> None:
    """Patterns with an exponential number of ways to match end within a moment."""
    began = time.monotonic()
    for length in (40, MAX_TEXT, 100_000):
        assert not found(pattern, "a" * length + "!")
    assert time.monotonic() - began < 2


def test_a_long_text_is_read_to_its_end_by_plain_patterns() -> None:
    """A valid beginning does not let a wrong end slip through."""
    assert not found(r"^\d+$", "1" * 50_000 + "x")
    assert found(r"^\d+$", "1" * 50_000)


def test_a_long_text_is_refused_by_patterns_that_go_back() -> None:
    """Beyond the limit a look-ahead finds nothing, so that no check passes unread."""
    assert found(r"^(?=1)1+$", "1" * MAX_TEXT)
    assert not found(r"^(?=1)1+$", "1" * (MAX_TEXT + 1))


def test_half_a_character_is_no_obstacle() -> None:
    """A lone surrogate in a text is searched past."""
    assert found("end$", "\ud800 end")
