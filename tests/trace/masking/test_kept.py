"""Promise: of its sensitive places a conversation keeps what a later turn needs, and no more."""

from __future__ import annotations

from saywhy.trace.masking.declared import NOTHING, Declared
from saywhy.trace.masking.kept import MAX_WORDS, pruned, touches

SSN = ("cargo", "customer", "ssn")
KEPT = {
    "keys": [
        [list(SSN), True],
        [["v1", "a"], False],
        [["v9", "b"], False],
        [["input", "3"], False],
    ],
    "shown": {"queued": "[X]", "told": "[X]"},
    "open": {"4": None},
    "openers": {"7": 4},
}


def test_what_a_later_turn_needs() -> None:
    """Variables that are gone, delivered texts and what was declared anyway are left out."""
    assert pruned(KEPT, Declared(paths=(SSN,)), ["v1"], ["queued"]) == {
        "keys": [[["v1", "a"], False], [["input", "3"], False]],
        "shown": {"queued": "[X]"},
        "open": {"4": None},
        "openers": {"7": 4},
    }
    assert pruned({**KEPT, "open": None}, Declared(paths=(SSN,)), [], []) == {}


def test_words_long_past() -> None:
    """The newest messages are kept while a flow runs, the others are not."""
    keys = [[["input", str(number)], False] for number in range(MAX_WORDS + 5)]
    assert pruned({"keys": keys}, NOTHING, ["v1"], [])["keys"] == keys[5:]
    assert pruned({"keys": keys}, NOTHING, [], []) == {}


def test_places_that_meet() -> None:
    """A place in, or around, a sensitive one touches it; one beside it does not."""
    assert touches(KEPT, [("v1", "a", "x")])
    assert touches(KEPT, [SSN[:2]])
    assert not touches(KEPT, [("v2", "a"), ("cargo", "customer", "city")])
    assert not touches({}, [SSN])
