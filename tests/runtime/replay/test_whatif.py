"""Promise: a counterfactual says what differs, how sure it is, and what was not done."""

from __future__ import annotations

import pytest

from saywhy.runtime.replay.masked import Gap
from saywhy.runtime.replay.whatif import Counterfactual


def found(one: str | None, other: str | None, **fields: object) -> Counterfactual:
    return Counterfactual("c", 3, "message:3", one, other, True, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "other", "was", "now"),
    [
        ("the fee is 8.", "the fee is 9.", "the fee is 8.", "the fee is 9."),
        ("x" * 40 + "8" + "y" * 40, "x" * 40 + "9" + "y" * 40, "x" * 24 + "8" + "y" * 24, None),
        ("all", None, "all", ""),
    ],
)
def test_the_stretch_that_differs(one: str, other: str | None, was: str, now: str | None) -> None:
    """With a little around it."""
    stretches = found(one, other).stretches
    assert stretches[0] == was
    assert now is None or stretches[1] == now


def test_how_sure_it_is() -> None:
    """What was assumed or masked makes it less than certain."""
    assert found("a", "b").certain
    assert not found("a", "b", assumed=("model:3",)).certain
    gap = (Gap(1, 2, "message:1", "masked"),)
    assert not found("a", "b", not_replayable=gap).certain
    stopped = found("a", None, would_call=("would have called t",))
    assert (stopped.changed, stopped.certain) == (None, False)
    assert "another course; whether the reply changes cannot be told" in stopped.text()
    assert "whether the reply changes cannot be told" in found("a", "b", not_replayable=gap).text()


def test_a_piece_that_was_never_met() -> None:
    """Nothing can change then."""
    one = Counterfactual("c", 3, "memory:x", "a", "a", met=False)
    assert one.text() == "without memory:x, turn 3: nothing changes, for it played no part in it"


def test_as_text_and_as_json() -> None:
    """Both replies, what was not called, what the turn fails with."""
    one = found("a", None, would_call=("would have called t",), error="no", asked=2)
    told = one.text()
    assert "would have called t; it was not made" in told
    assert "it fails: no" in told
    assert "the model was asked 2 times" in told
    tree = one.to_json()
    assert tree["differs"] is None
    assert found("a", None).to_json()["differs"] == {"recorded": "a", "without": ""}
    assert (tree["wouldCall"], tree["asked"]) == (["would have called t"], 2)
