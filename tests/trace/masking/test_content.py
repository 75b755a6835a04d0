"""Promise: what the tool of an agent gave as text is read as the value that is declared."""

from __future__ import annotations

from saywhy.trace.masking.content import content_of
from saywhy.values import freeze

SPOTS = (("result",), ("people", "ssn"))


def test_the_json_of_a_value() -> None:
    """It is written again without what is sensitive, wherever it stands."""
    text = '{"result":4711,"left":3,"people":[{"ssn":"1-2","city":"Bern"}]}'
    found = content_of(freeze({"content": text}), SPOTS)
    assert found is not None
    shown = found.shown(SPOTS, "[X]")
    assert shown == '{"result":"[X]","left":3,"people":[{"ssn":"[X]","city":"Bern"}]}'
    message = freeze({"role": "tool", "content": f"{text} [INSTRUCTION] Be kind."})
    told = freeze({"role": "tool", "content": f"{shown} [INSTRUCTION] Be kind."})
    assert found.replaced(message, shown) == told
    other = freeze({"role": "user", "content": "hello"})
    assert found.replaced(other, shown) is other


def test_text_that_is_no_json() -> None:
    """It is the value itself: all of it is sensitive, or nothing is."""
    found = content_of(freeze({"content": "not found"}), ((),))
    assert found is not None
    assert found.tree == "not found"
    assert found.shown(((),), "[X]") == "[X]"
    assert found.shown(SPOTS, "[X]") == "not found"


def test_a_value_of_a_flow() -> None:
    """Where the declaration speaks of the value itself there is no text to read."""
    assert content_of(freeze({"result": 1, "content": "x"}), SPOTS) is None
    assert content_of(freeze({"result": 1}), ((),)) is None
    assert content_of(freeze({"content": 5}), SPOTS) is None
    assert content_of(freeze([1]), SPOTS) is None
    assert content_of("text", SPOTS) is None
