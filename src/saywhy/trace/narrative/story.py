"""The story of a conversation, turn by turn, told from its commits when somebody asks for it.

Numbers are stable: step 3 of turn 2 is `2.3`, the steps of a flow it called are `2.3.1`, `2.3.2`.
What repeats itself is told once, then counted, then told for the last time; the numbers in between
stay taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from saywhy.chart.commit import Commit
from saywhy.errors import Place
from saywhy.trace.narrative.sentences import sentence_of
from saywhy.trace.trace import Trace
from saywhy.trace.words import count, quoted
from saywhy.values import dumps, iso_from_milliseconds

Format = Literal["text", "markdown", "json"]

NOWHERE: Final = Place()
MOST_LINES: Final = 1000
LONGEST_PATTERN: Final = 12
"""Steps: a longer passage that repeats itself is told each time."""
FEWEST_REPEATS: Final = 4
"""With fewer, folding saves nothing."""


@dataclass(slots=True)
class Item:
    """One told step with the steps of the flow it called, or the note that stands for many."""

    text: str
    commit: int = 0
    flow: str = ""
    node: str = ""
    place: Place = NOWHERE
    shape: tuple[Any, ...] = ()
    """What makes it the same as another: step and branch, not values."""
    number: str = ""
    steps: list[Item] = field(default_factory=list["Item"])


@dataclass(frozen=True, slots=True)
class TurnStory:
    """What happened in one turn."""

    turn: int
    at: float
    items: list[Item]
    replies: tuple[str, ...]


_UNSEEN: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]+")
"""What could begin a line of its own, or move the cursor: names may come from a model."""


def narrative(
    trace: Trace,
    turn: int | None = None,
    *,
    format: Format = "text",
    most: int = MOST_LINES,
) -> str:
    """The story of one turn, or of all, at most `most` lines of it.

    `text` is indented, `markdown` a nested list, `json` has every step with its place and commit.
    """
    stories = tell(trace, turn)
    if format == "json":
        return dumps([_story_json(story) for story in stories]).decode("utf-8", "replace")
    write = _markdown if format == "markdown" else _text
    lines = [line for story in stories for line in write(story)]
    if len(lines) > most:
        lines[most:] = [f"... {count(len(lines) - most, 'more line')}"]
    return "\n".join(lines)


def tell(trace: Trace, turn: int | None = None) -> Iterator[TurnStory]:
    """The story of one turn, or of each turn in order, as data."""
    for number in trace.turns if turn is None else (turn,):
        told = trace.turn(number)
        items = _nested(trace, told.commits)
        _count(items, f"{number}.")
        said = told.messages
        replies = tuple(message.text for message in said if message.role == "assistant")
        at = told.commits[0].at if told.commits else said[0].at if said else 0.0
        yield TurnStory(number, at, _folded(items), replies)


# ------------------------------------------------------------------ nesting and numbering


def _nested(trace: Trace, commits: Iterable[Commit]) -> list[Item]:
    """The told steps, those of a called flow beneath the step that called it."""
    top: list[Item] = []
    levels: list[tuple[int, list[Item]]] = []
    for commit in commits:
        text = _UNSEEN.sub(" ", sentence_of(trace, commit))
        if not text:
            continue
        depth = commit.depth
        while levels and levels[-1][0] > depth:
            levels.pop()
        if not levels:
            levels.append((depth, top))
        elif levels[-1][0] < depth:
            levels.append((depth, levels[-1][1][-1].steps))
        levels[-1][1].append(_item(trace, commit, text))
    return top


def _item(trace: Trace, commit: Commit, text: str) -> Item:
    chosen = commit.decision.chosen if commit.decision is not None else ""
    shape = (commit.flow, commit.node, commit.phase, chosen, bool(commit.error))
    place = trace.place_of(commit)
    return Item(text, commit.seq, commit.flow, commit.node, place, shape)


def _count(items: list[Item], before: str) -> None:
    for number, item in enumerate(items, start=1):
        item.number = f"{before}{number}"
        _count(item.steps, f"{item.number}.")


# ------------------------------------------------------------------ folding


def _folded(items: list[Item]) -> list[Item]:
    """The items with repeated passages told the first and the last time only."""
    for item in items:
        item.steps = _folded(item.steps)
    shapes = _shapes(items)
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
        told.append(_fold(items[i + length : end - length], length, times - 2))
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


def _fold(items: Sequence[Item], length: int, times: int) -> Item:
    steps = "the same step" if length == 1 else f"the same {length} steps"
    number = f"{items[0].number} to {items[-1].number}"
    return Item(f"{steps} {count(times, 'more time')}", items[0].commit, number=number)


# ------------------------------------------------------------------ formats


def _heading(story: TurnStory) -> str:
    moment = iso_from_milliseconds(story.at) if story.at else None
    return f"Turn {story.turn}" + (f" ({moment})" if moment else "")


def _text(story: TurnStory) -> Iterator[str]:
    yield _heading(story)
    yield from _text_lines(story.items, "  ")
    for reply in story.replies:
        yield f"  Reply: {quoted(reply, 400)}"


def _text_lines(items: Iterable[Item], indent: str) -> Iterator[str]:
    for item in items:
        yield f"{indent}{item.number}  {item.text}"
        yield from _text_lines(item.steps, indent + "  ")


def _markdown(story: TurnStory) -> Iterator[str]:
    yield f"### {_heading(story)}"
    yield ""
    yield from _markdown_lines(story.items, "")
    for reply in story.replies:
        yield f"- **Reply:** {quoted(reply, 400)}"
    yield ""


def _markdown_lines(items: Iterable[Item], indent: str) -> Iterator[str]:
    for item in items:
        yield f"{indent}- **{item.number}** {item.text}"
        yield from _markdown_lines(item.steps, indent + "  ")


def _story_json(story: TurnStory) -> dict[str, Any]:
    moment = iso_from_milliseconds(story.at) if story.at else None
    return {
        "turn": story.turn,
        "at": moment,
        "steps": [_item_json(item) for item in story.items],
        "replies": list(story.replies),
    }


def _item_json(item: Item) -> dict[str, Any]:
    data: dict[str, Any] = {"number": item.number, "text": item.text, "commit": item.commit}
    if item.flow:
        data |= {"flow": item.flow, "step": item.node, "place": str(item.place)}
    if item.steps:
        data["steps"] = [_item_json(step) for step in item.steps]
    return data
