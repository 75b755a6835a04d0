"""Promise: an argument that must be known is what was given before, letter by letter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from saywhy.tools import known as module
from saywhy.tools.known import NOTHING, Known, Spot, spots_of, unknown_in
from saywhy.values import BigInt, dumps, freeze, loads

ORDER = (Spot(("order",)),)
OR_SAID = (Spot(("order",), said=True),)
REFUSED = "order must be a value that a tool or the host gave before in this conversation"


def memory(*given: Any, said: str = "") -> Known:
    known = Known("salt")
    for value in given:
        known = known.with_given(freeze(value))
    return known.with_said(said) if said else known


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ("ord-17", "ord-17"),
        ({"orders": [{"id": "ord-17", "sum": 80.5}]}, "ord-17"),
        ({"orders": [{"id": "ord-17", "sum": 80.5}]}, 80.5),
        ([4711], 4711),
        ([4711], "4711"),
        (["4711"], 4711),
        ([4711.0], 4711),
        ([BigInt(2**70)], 2**70),
        ("x" * 256, "x" * 256),
        ("ord\ud800", "ord\ud800"),
    ],
)
def test_what_was_given_is_known(given: Any, value: Any) -> None:
    """Wherever it stood in the answer; a number and its text are one."""
    assert unknown_in(ORDER, {"order": value}, memory(given)) == []


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ("ord-17", "ord-71"),
        ("ord-17", "Ord-17"),
        ("ord-17", "ord-17 "),
        ("ord-17", "ord-1"),
        ("your order ord-17 is open", "ord-17"),
        ({"ord-17": 1}, "ord-17"),
        ([4711], 4712),
        ([True], True),
        ([True], "true"),
        ([None], "null"),
        ("", ""),
        ("x" * 257, "x" * 257),
        ({"a": "b"}, {"a": "b"}),
        ([float("inf")], float("inf")),
    ],
)
def test_what_was_not_is_refused(given: Any, value: Any) -> None:
    """Neither a part of it, nor another spelling, nor the name of a field; no value is quoted."""
    assert unknown_in(ORDER, {"order": value}, memory(given)) == [REFUSED]


def test_what_is_not_there_is_nobodys_claim() -> None:
    """Whether it may be missing or null is the schema's question."""
    assert unknown_in(ORDER, {}, NOTHING) == []
    assert unknown_in(ORDER, {"order": None}, NOTHING) == []


@pytest.mark.parametrize(
    "value", ["ord-17", "42-17", "it is ord-17, card 42-17!", "order", "4217", 42]
)
def test_what_the_user_said(value: Any) -> None:
    """The whole message, each word without its punctuation, and all its digits in a row."""
    known = memory(said=" it is ord-17, card 42-17! ").with_said("my order: 42 17")
    assert unknown_in(OR_SAID, {"order": value}, known) == []
    assert unknown_in(ORDER, {"order": value}, known) == [REFUSED]


def test_what_nobody_said() -> None:
    """The words name the user as well."""
    assert unknown_in(OR_SAID, {"order": "ord-71"}, memory(said="it is ord-17")) == [
        "order must be a value that a tool, the host or the user gave before in this conversation"
    ]


def test_globals_are_known_all_the_time() -> None:
    """They take up no place in the memory."""
    known = Known("salt", constants=freeze({"shop": {"branch": "b-1", "number": 7}}))
    assert unknown_in(ORDER, {"order": "b-1"}, known) == []
    assert unknown_in(ORDER, {"order": "7"}, known) == []
    assert unknown_in(ORDER, {"order": "b-2"}, known) == [REFUSED]
    assert "constants" not in known.to_value()


def test_the_oldest_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the refusal says so, and what is given again counts as new."""
    monkeypatch.setattr(module, "MAX_GIVEN", 3)
    known = memory("a", "b", "c", "a", "d")
    held = [one for one in "abcd" if unknown_in(ORDER, {"order": one}, known) == []]
    assert held == ["a", "c", "d"]
    assert unknown_in(ORDER, {"order": "b"}, known) == [
        "order is not among what a tool or the host gave last; what was given long ago is forgotten"
    ]


def test_the_users_words_push_nothing_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """They have a place of their own."""
    monkeypatch.setattr(module, "MAX_SAID", 2)
    known = memory("ord-17", said="a b c d e")
    assert unknown_in(ORDER, {"order": "ord-17"}, known) == []
    assert unknown_in(OR_SAID, {"order": "a"}, known)[0].startswith(
        "order is not among what a tool,"
    )
    assert unknown_in(ORDER, {"order": "a"}, known) == [REFUSED]


def test_a_huge_answer_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is beyond it was not looked at, and the refusal does not deny that it was given."""
    monkeypatch.setattr(module, "MAX_AT_ONCE", 10)
    known = memory(list(range(100, 120)))
    assert unknown_in(ORDER, {"order": 109}, known) == []
    assert "forgotten" in unknown_in(ORDER, {"order": 110}, known)[0]


def test_the_memory_tells_nothing_and_is_small() -> None:
    """Only marks are stored, under a salt; two thousand of them are sixteen kilobytes."""
    known = memory([f"order-{number}" for number in range(5_000)])
    text = dumps(known.to_value()).decode()
    assert "order" not in text
    assert len(text) < 17_000
    assert Known.of(loads(text)) == known
    assert Known("other").with_given("order-1").given != Known("salt").with_given("order-1").given


SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "order": {"type": "string", "x-known": True},
        "items": {"type": "array", "items": {"type": "number", "x-known": "or-said"}},
        "to": {"type": "object", "properties": {"iban": {"type": "string", "x-known": True}}},
        "lines": {
            "type": "array",
            "items": {"properties": {"sku": {"type": "string", "x-known": True}}},
        },
        "free": {"type": "string", "x-known": False},
    },
}


def test_places_inside_arguments() -> None:
    """Parameters, properties of objects, items of lists, and these in each other."""
    spots = spots_of(SCHEMA)
    assert spots == (
        Spot(("order",)),
        Spot(("items", "*"), said=True),
        Spot(("to", "iban")),
        Spot(("lines", "*", "sku")),
    )
    arguments = {
        "order": "a",
        "items": [1, 2],
        "to": {"iban": "x"},
        "lines": [{"sku": "s1"}, {}, {"sku": "s2"}],
        "free": "anything",
    }
    found = unknown_in(spots, arguments, memory(["a", "s1", 2]))
    assert [text.partition(" ")[0] for text in found] == ["items[0]", "to.iban", "lines[2].sku"]
