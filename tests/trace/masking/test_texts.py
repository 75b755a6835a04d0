"""Promise: only texts that do not stand anywhere by chance are looked for elsewhere."""

from __future__ import annotations

from saywhy.trace.masking.texts import MAX_LEARNT, distinctive, given
from saywhy.values import freeze

VALUE = freeze(
    {"a": ["yes", "orders", "two words", "a1b2"], "b": {"c": 4711, "d": 12.0}, "e": True}
)


def test_distinctive_texts() -> None:
    """Several words, numbers of some length; no single word, no flag."""
    assert distinctive(VALUE) == ["two words", "a1b2", "4711"]


def test_what_an_author_named_is_looked_for_unless_it_is_tiny() -> None:
    """Single words too."""
    assert given(VALUE) == ["yes", "orders", "two words", "a1b2", "4711"]
    assert given("no") == []


def test_the_value_in_words_that_an_author_named() -> None:
    """Is looked for by itself, too."""
    assert given("it is 4711-88, thanks") == ["it is 4711-88, thanks", "4711-88", "471188"]


def test_how_long_something_took_is_no_secret() -> None:
    """By chance it may be a short number; of an author's own value it is looked for."""
    took = freeze({"latencyMs": 0.25, "took_ms": 4711, "text": "took 4712"})
    assert distinctive(took) == ["took 4712"]
    assert "4711" in given(took)


def test_a_catalogue_is_not_learnt_whole() -> None:
    """It would make every record slow."""
    many = freeze([f"article {number}" for number in range(MAX_LEARNT * 2)])
    assert len(distinctive(many)) == len(given(many)) == MAX_LEARNT


def test_which_tool_a_model_wants_is_nobodys_secret() -> None:
    """Only what it hands over; what an author named is looked for whatever it looks like."""
    call = {"id": "call-17", "name": "look-up", "arguments": {"name": "Ann Bolt", "id": "x9-1"}}
    talk = freeze({"tool_calls": [call], "messages": [{"tool_call_id": "call-17"}]})
    assert distinctive(talk) == ["Ann Bolt", "x9-1"]
    assert given(talk) == ["call-17", "look-up", "Ann Bolt", "x9-1"]
