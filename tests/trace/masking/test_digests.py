"""Promise: a value that nobody keeps any more is known where it is said again, by its digest."""

from __future__ import annotations

import pytest

from saywhy.trace.masking.digests import (
    MAX_OF_A_FLOW,
    MAX_PARTS,
    MAX_REMEMBERED,
    MAX_SCANNED,
    remembered,
    said_again,
    telling_parts,
)

SALT = "s-1"


@pytest.mark.parametrize(
    ("value", "said", "found"),
    [
        ("Smithson", "I am Smithson.", ["Smithson"]),
        ("Smithson", "SMITHSON, as I said", ["SMITHSON"]),
        ("Kn0t-ä/77 19", "no: Kn0t-ä/77 19!", ["Kn0t-ä/77 19"]),
        ("4929 0012 7713", "it was 492900127713", ["492900127713"]),
        ("492900127713", "it was 4929-0012-7713", ["4929-0012-7713", "492900127713"]),
        ("two words", "these two words here", ["two words"]),
        ("Smithson", "the Smithsonian", []),
        ("4711", "14711 and 47112", []),
        ("blue", "it is blue", []),
        ("Smithson", "", []),
    ],
)
def test_where_it_is_found(value: str, said: str, found: list[str]) -> None:
    """Whole, in capitals, in groups; not as a part of another word, nor where it tells nothing."""
    assert said_again(said, SALT, remembered([value], SALT)) == found


@pytest.mark.parametrize(
    ("answer", "parts"),
    [
        ("it is 4711-88, thanks", ["4711-88", "471188"]),
        ("AB-4711x!", ["4711", "AB-4711x"]),
        ("4929 0012 7713", ["492900127713"]),
        ("write to (ann@kn0t.example)", ["ann@kn0t.example"]),
        ("room 12 of the blue house", []),
        ("4711", []),
        ("", []),
    ],
)
def test_the_value_in_an_answer(answer: str, parts: list[str]) -> None:
    """What it is made of besides itself: longer numbers, pieces with a digit or an `@`."""
    assert telling_parts(answer) == parts


def test_the_parts_of_an_answer_are_bounded() -> None:
    """Of a text full of numbers the first are looked for."""
    answer = " and ".join(str(10_000 + number) for number in range(MAX_PARTS * 2))
    assert len(telling_parts(answer)) == MAX_PARTS


def test_entries_hold_no_words() -> None:
    """Digests, of every conversation others."""
    (entry,) = remembered(["Smithson"], SALT)
    assert entry.startswith("8:")
    assert "mith" not in entry
    assert remembered(["Smithson"], "s-2") != [entry]
    assert said_again("Smithson", "s-2", [entry]) == []


def test_how_many_there_are() -> None:
    """The first of one flow, the newest of all; each once."""
    many = [f"value {number}" for number in range(MAX_OF_A_FLOW + 10)]
    known = remembered(many, SALT)
    assert len(known) == MAX_OF_A_FLOW
    assert said_again(many[0], SALT, known) == [many[0]]
    assert said_again(many[-1], SALT, known) == []
    assert remembered(many, SALT, known) == known
    for flow in range(10):
        known = remembered([f"value {flow} {number}" for number in range(50)], SALT, known)
    assert len(known) == MAX_REMEMBERED


def test_how_much_of_a_message_is_looked_at() -> None:
    """A long text costs no more than its first part."""
    known = remembered(["Smithson"], SALT)
    assert said_again(f"{'a ' * (MAX_SCANNED // 2)}Smithson", SALT, known) == []
    assert said_again("", SALT, ["8:x"]) == []
