"""Promise: what is noted on a function is found again, and its parameters are read as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from saywhy.marks import is_quick, quick, wants_context


def plain(text: str) -> str:
    return text


def told(text: str, *, context: Any = None) -> str:
    return f"{text}{context}"


def by_position(text: str, context: Any = None) -> str:
    return f"{text}{context}"


class Unhashable:
    __hash__ = None  # type: ignore[assignment]

    def __call__(self, *, context: Any = None) -> Any:
        return context


def test_quick_marks_the_function_itself() -> None:
    """The mark is on the function that was handed in, and on no other."""
    assert not is_quick(plain)
    assert quick(lambda: 1) is not plain

    def marked() -> int:
        return 1

    assert quick(marked) is marked
    assert is_quick(marked)


@pytest.mark.parametrize(
    ("function", "wanted"),
    [(plain, False), (told, True), (by_position, False), (Unhashable(), True), (max, False)],
)
def test_a_context_is_wanted_by_keyword_only(function: Callable[..., Any], wanted: bool) -> None:
    """What an expression could pass by position is the author's, whatever it is called."""
    assert wants_context(function) is wanted
