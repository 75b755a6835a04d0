"""Promise: what came of a replay is told as text and as JSON, and never equal where it was not."""

from __future__ import annotations

from saywhy.runtime.replay.masked import Gap
from saywhy.runtime.replay.result import Difference, Replay, shown

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
        "  turn 2, commit 9, Pay/tell: ops[0][2]",
        "    recorded  1",
        "    now       2",
        "    because   the flow was changed",
        "    reply was one",
        "    reply is  two",
    ]


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
