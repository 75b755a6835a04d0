"""Which flow a text starts when there is no model."""

from __future__ import annotations

import pytest

from saywhy.flows import intent
from saywhy.flows.model import Flow

FLOWS = (
    Flow("no-action-needed", "NoActionNeeded"),
    Flow("book-table", "BookTable", primary=True),
    Flow("ask-hours", "AskHours"),
)


@pytest.mark.parametrize("text", ["BookTable", "booktable", "  BOOK-TABLE  ", "book-table"])
def test_a_name_or_an_id_starts_its_flow_whatever_the_case(text: str) -> None:
    """Typing a flow's name or id is enough."""
    match = intent.exact(text, FLOWS)
    assert match is not None
    assert (match.flow.id, match.how) == ("book-table", "exact")


def test_a_helper_can_be_started_by_its_name() -> None:
    """An exact name starts any flow, primary or not."""
    match = intent.exact("AskHours", FLOWS)
    assert match is not None
    assert match.flow.name == "AskHours"


@pytest.mark.parametrize("text", ["", "   ", "good evening", "I like tables"])
def test_other_words_match_nothing(text: str) -> None:
    """A sentence that is no part of a name starts nothing."""
    assert intent.exact(text, FLOWS) is None
    assert intent.partial(text, FLOWS) is None


def test_a_part_of_a_name_starts_the_first_flow_that_has_it() -> None:
    """As documented, any flow and any part counts, even a plain no."""
    match = intent.partial("no", FLOWS)
    assert match is not None
    assert (match.flow.id, match.how) == ("no-action-needed", "partial")


@pytest.mark.parametrize(
    ("text", "found"), [("no", None), ("ta", None), ("table", "book-table"), ("hours", None)]
)
def test_the_safe_guard_wants_three_characters_and_a_primary_flow(
    text: str, found: str | None
) -> None:
    """With `safe`, short words and helpers start nothing by accident."""
    match = intent.partial(text, FLOWS, guard="safe")
    assert (match.flow.id if match else None) == found
