"""What repeats itself is told once, then counted, then told for the last time.

The numbers in between stay taken, so that folding moves nobody's number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from saywhy.trace.narrative.item import Item
from saywhy.trace.phrases import Wording

LONGEST_PATTERN: Final = 24
"""Steps: a longer passage that repeats itself is told each time."""
FEWEST_REPEATS: Final = 4
"""With fewer, folding saves nothing."""


def folded(items: list[Item], say: Wording) -> list[Item]:
    """The items with repeated passages told the first and the last time only."""
    for item in items:
        if not item.steps:
            continue
        if len(item.steps) >= FEWEST_REPEATS:
            item.steps = folded(item.steps, say)
        else:
            for step in item.steps:
                step.steps = folded(step.steps, say)
    if len(items) < FEWEST_REPEATS:
        return items
    many = len(items) - FEWEST_REPEATS + 1
    if len({item.step.node for item in items}) > many:
        return items  # too many are different: seen without a closer look
    shapes = _shapes(items)
    if len(set(shapes)) > many:
        return items
    told: list[Item] = []
    i = 0
    while i < len(items):
        length, times = _repeated(shapes, i)
        if times < FEWEST_REPEATS:
            told.append(items[i])
            i += 1
            continue
        end = i + length * times
        told += items[i : i + length]
        told.append(_fold(items[i + length : end - length], length, times - 2, say))
        told += items[end - length : end]
        i = end
    return told


def _shapes(items: Sequence[Item]) -> list[int]:
    """A number for each item, the same for the same steps and branches, those beneath included."""
    known: dict[Any, int] = {}
    return [known.setdefault(_shape(item), len(known)) for item in items]


def _shape(item: Item) -> tuple[Any, ...]:
    return (item.shape, tuple(_shape(step) for step in item.steps))


def _repeated(shapes: list[int], start: int) -> tuple[int, int]:
    """Length of the shortest passage from `start` that repeats itself, and how often it stands."""
    left = len(shapes) - start
    for length in range(1, min(LONGEST_PATTERN, left // FEWEST_REPEATS) + 1):
        passage = shapes[start : start + length]
        times = 1
        at = start + length
        while shapes[at : at + length] == passage:
            times += 1
            at += length
        if times >= FEWEST_REPEATS:
            return length, times
    return 1, 1


def _fold(items: Sequence[Item], length: int, times: int, say: Wording) -> Item:
    often = say.count("more_times", times)
    phrase = "same_step" if length == 1 else "same_steps"
    return Item(
        say(phrase, steps=length, times=often),
        items[0].step,
        say("to", first=items[0].number, last=items[-1].number),
        stands_for=tuple(items),
    )
