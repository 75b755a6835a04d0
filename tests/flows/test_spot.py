"""Promise: an excerpt shows the right characters, however long the text around them."""

from __future__ import annotations

import pytest

from saywhy.flows.checks.spot import EXCERPT_WIDTH, excerpt_of


@pytest.mark.parametrize("before", ["", "x" * 10, "x" * 500, "line\n" * 9, "y" * 300 + "\n"])
@pytest.mark.parametrize("after", ["", "z" * 10, "z" * 500, "\nline" * 9])
def test_the_marked_characters_are_in_the_excerpt(before: str, after: str) -> None:
    """One line, not too wide, with a span that points at what is wrong."""
    text = before + "ammount" + after
    excerpt, (start, end) = excerpt_of(text, len(before), len(before) + 7)
    assert excerpt[start:end] == "ammount"
    assert "\n" not in excerpt
    assert len(excerpt) <= EXCERPT_WIDTH + 2


def test_a_span_over_several_lines_ends_with_the_first() -> None:
    """What follows is not shown."""
    assert excerpt_of("one\ntwo", 1, 6) == ("one", (1, 3))
