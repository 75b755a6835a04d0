"""What repeats itself is told the first and the last time, with the numbers in between."""

from __future__ import annotations

from saywhy.chart.commit import Answered, Commit
from saywhy.trace.narrative.folding import folded
from saywhy.trace.narrative.item import Item
from saywhy.trace.narrative.weight import CALL, STEP
from saywhy.trace.phrases import ENGLISH, usual


def items(shapes: str) -> list[Item]:
    """An item for each letter; the same letter is the same step."""
    return [Item(letter, step(at, letter), f"1.{at}") for at, letter in enumerate(shapes, start=1)]


def step(seq: int, node: str) -> Commit:
    """A step of a flow; `c` calls a tool."""
    answered = Answered("tool", "pay") if node == "c" else None
    kind = "SAY" if answered is None else "CALL-TOOL"
    return Commit(seq, 1, 1, "", "F", node, kind, answered=answered)


def texts(told: list[Item]) -> list[str]:
    return [f"{item.number} {item.text}" for item in told]


def test_a_passage_that_repeats_itself() -> None:
    """Its length and how often are told; the note weighs what its heaviest step does."""
    told = folded(items("xabcabcabcabcabcy"), ENGLISH)
    assert texts(told) == [
        "1.1 x", "1.2 a", "1.3 b", "1.4 c",
        "1.5 to 1.13 the same 3 steps 3 more times",
        "1.14 a", "1.15 b", "1.16 c", "1.17 y",
    ]  # fmt: skip
    assert [item.weight for item in told[3:6]] == [CALL, CALL, STEP]


def test_too_few_are_told_each() -> None:
    """Three times are not folded, four are."""
    assert len(folded(items("aaa"), ENGLISH)) == 3
    assert texts(folded(items("aaaa"), usual("es")))[1] == "1.2 a 1.3 el mismo paso 2 veces más"


def test_steps_beneath() -> None:
    """Passages beneath a step are folded as well; other steps beneath make it another step."""
    outer = items("aaaa")
    outer[1].steps = items("bbbbbb")
    told = folded(outer, ENGLISH)
    assert len(told) == 4
    assert [item.text for item in told[1].steps] == ["b", "the same step 4 more times", "b"]
