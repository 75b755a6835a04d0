"""Promise: what came of a replay is told as text and as JSON, and never equal where it was not."""

from __future__ import annotations

import msgspec
import pytest

from saywhy.runtime.replay.masked import Gap
from saywhy.runtime.replay.result import (
    Difference,
    Replay,
    beside,
    same_at_start,
    shown,
    worded,
)

DIFFERENCE = Difference(
    2, 9, "ops[0][2]", 1, 2, "Pay/tell", "flow", "the flow was changed", ("one", "two")
)


def test_the_outcome_in_one_word() -> None:
    """A gap is never the same, whatever was compared."""
    assert Replay("c", 3, 30).outcome == "same"
    assert Replay("c", 2, 8, DIFFERENCE).outcome == "different"
    gone = Replay("c", 3, 30, None, (Gap(2, 9, "message:3", "masked"),))
    assert (gone.outcome, gone.same) == ("not replayable", False)


def test_as_text() -> None:
    """Where, what was and what is, why, and both replies."""
    assert Replay("c", 2, 8, DIFFERENCE, (), 3).text().splitlines() == [
        "c: different (2 turns, 8 steps the same, 3 masked places not compared)",
        "  turn 2, commit 9, Pay/tell: what it wrote",
        "    recorded  1",
        "    now       2",
        "    because   the flow was changed",
        "    reply was one",
        "    reply is  two",
    ]


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("ops[0][2].content", "what it wrote (content)"),
        ("ops[3]", "what it wrote"),
        ("ops[0][1][1]", "which variable it wrote"),
        ("reads[0][2]", "what it read"),
        ("asked.args.messages[0].text", "what it asked (messages[0].text)"),
        ("asked.name", "what it asked (name)"),
        ("answered.value", "the answer it took"),
        ("decision.conditions[0].result", "what it decided"),
        ("to", "where it went on"),
        ("commit", "the whole step"),
        ("turn", "the whole turn"),
        ("tools", "tools"),
    ],
)
def test_where_in_words(field: str, words: str) -> None:
    """Nobody has to know how a step is kept."""
    assert worded(field) == words


def test_long_values_are_shown_where_they_differ() -> None:
    """Two values that begin alike are cut around what is another, and short ones not at all."""
    begun = "The same words again and again. " * 20
    one, other = beside(f"{begun}It was red.", f"{begun}It was a very long blue. {begun}")
    assert one == "…again and again. It was red."
    assert "It was a very long blue." in other
    assert (other[0], other[-1]) == ("…", "…")
    assert beside("a b", {"a": 1}) == ("a b", '{"a":1}')
    assert beside("a" * 300, None) == ("a" * 200 + "…", "(nothing)")
    assert same_at_start("", "x") == 0
    told = msgspec.structs.replace(DIFFERENCE, field="turn", step="", recorded=begun).lines()
    assert told[0] == "turn 2, commit 9: the whole turn"


def test_as_json() -> None:
    """The same for programs."""
    told = Replay("c", 2, 8, DIFFERENCE, (Gap(2, 0, "the turn", "gone"),)).to_json()
    assert told["outcome"] == "different"
    assert told["difference"]["replies"] == {"recorded": "one", "now": "two"}
    assert told["notReplayable"] == [{"turn": 2, "commit": 0, "what": "the turn", "why": "gone"}]


def test_a_long_value_is_cut_and_stays_on_one_line() -> None:
    """What is shown is bounded."""
    assert shown("a\nb") == "a b"
    assert len(shown({"a": "x" * 900})) == 201
