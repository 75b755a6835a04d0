"""The forms in which a story is written: text, markdown, JSON; turn by turn, so that it can stream.

`least` leaves out steps that weigh less; how many stands in the turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal, Protocol

from saywhy.errors import CallerError, did_you_mean
from saywhy.trace.narrative.item import Item, TurnStory, every, shown
from saywhy.trace.narrative.weight import DETAIL
from saywhy.trace.phrases import Wording
from saywhy.trace.trace import Trace
from saywhy.trace.words import quoted
from saywhy.values import dumps, iso_from_milliseconds

Format = Literal["text", "markdown", "json"]

LONGEST_REPLY: Final = 400
TOGETHER: Final = 8
"""Turns that are written in a row: telling them and writing them down take turns in the
processor's cache, so it is faster to change less often."""


class Writer(Protocol):
    """Writes one turn after the other."""

    begin: str
    between: str
    end: str

    def turn(
        self,
        story: TurnStory,
        least: int = DETAIL,
        longest: int = LONGEST_REPLY,
        most: int | None = None,
    ) -> str:
        """One turn: the steps that weigh at least so much, replies of so many characters.

        With 0 characters no reply is shown; of the steps at most `most`.
        """
        ...

    def left_out(self, first: int, last: int) -> str:
        """That turns before the first one shown are left out."""
        ...


def writer(format: Format, trace: Trace, say: Wording) -> Writer:
    """What writes a format. Raises `CallerError` for one that there is not."""
    made = _WRITERS.get(format)
    if made is None:
        known = sorted(_WRITERS)
        hint = did_you_mean(format, known) or f"there are {', '.join(known)}"
        raise CallerError(f'there is no narrative as "{format}"', hint=hint)
    return made(trace, say)


class _Lines:
    """What text and markdown have in common."""

    begin = end = ""

    def __init__(self, trace: Trace, say: Wording) -> None:
        self._say = say

    def _heading(self, story: TurnStory) -> str:
        if not story.at:
            return self._say("turn", number=story.turn)
        return self._say("turn_at", number=story.turn, moment=iso_from_milliseconds(story.at))

    def _out(self, first: int, last: int) -> str:
        return self._say("turn_left_out" if first == last else "turns_left_out", first=first,
                         last=last)  # fmt: skip

    def _more(self, left: int, most: int | None) -> str:
        return self._say.count("steps_left_out" if most is None else "more_lines", left)


class _Text(_Lines):
    between = "\n"

    def turn(
        self,
        story: TurnStory,
        least: int = DETAIL,
        longest: int = LONGEST_REPLY,
        most: int | None = None,
    ) -> str:
        lines = [self._heading(story), *[f"  ({text})" for text in story.missing]]
        told, left = _chosen(story, least, most)
        lines += [f"{'  ' * (deep + 1)}{item.number}  {item.text}" for item, deep in told]
        if left:
            lines.append(f"  {self._more(left, most)}")
        if longest:
            word = self._say("reply")
            lines += [f"  {word}: {quoted(reply, longest)}" for reply in story.replies]
        return "\n".join(lines)

    def left_out(self, first: int, last: int) -> str:
        return self._out(first, last)


class _Markdown(_Lines):
    between = "\n\n"

    def turn(
        self,
        story: TurnStory,
        least: int = DETAIL,
        longest: int = LONGEST_REPLY,
        most: int | None = None,
    ) -> str:
        lines = [f"### {self._heading(story)}", ""]
        lines += [f"- *{text}*" for text in story.missing]
        told, left = _chosen(story, least, most)
        lines += [f"{'  ' * deep}- **{item.number}** {item.text}" for item, deep in told]
        if left:
            lines.append(f"- *{self._more(left, most)}*")
        if longest:
            word = self._say("reply")
            lines += [f"- **{word}:** {quoted(reply, longest)}" for reply in story.replies]
        return "\n".join(lines)

    def left_out(self, first: int, last: int) -> str:
        return f"*{self._out(first, last)}*"


class _Json:
    begin, between, end = "[", ",", "]"

    def __init__(self, trace: Trace, say: Wording) -> None:
        self._trace = trace

    def turn(
        self,
        story: TurnStory,
        least: int = DETAIL,
        longest: int = LONGEST_REPLY,
        most: int | None = None,
    ) -> str:
        told, left = _chosen(story, least, most)
        data: dict[str, Any] = {
            "turn": story.turn,
            "at": iso_from_milliseconds(story.at) if story.at else None,
            "steps": self._nested(told),
            "replies": [_cut(reply, longest) for reply in story.replies] if longest else [],
        }
        if left:
            data["stepsLeftOut"] = left
        if story.missing:
            data["missing"] = list(story.missing)
        return dumps(data).decode("utf-8", "replace")

    def left_out(self, first: int, last: int) -> str:
        return dumps({"turnsLeftOut": [first, last]}).decode()

    def _nested(self, told: list[tuple[Item, int]]) -> list[dict[str, Any]]:
        """The steps as objects, those of a called flow in the step that called it."""
        top: list[dict[str, Any]] = []
        above: list[tuple[int, dict[str, Any]]] = []
        for item, deep in told:
            data = self._item(item)
            while above and above[-1][0] >= deep:
                above.pop()
            (above[-1][1].setdefault("steps", []) if above else top).append(data)
            above.append((deep, data))
        return top

    def _item(self, item: Item) -> dict[str, Any]:
        step = item.step
        data: dict[str, Any] = {"number": item.number, "text": item.text, "commit": step.seq}
        if not item.stands_for:
            place = self._trace.place_of(step)
            data |= {"flow": step.flow, "step": step.node, "place": str(place)}
        return data


_WRITERS: Final = {"text": _Text, "markdown": _Markdown, "json": _Json}


def _chosen(story: TurnStory, least: int, most: int | None) -> tuple[list[tuple[Item, int]], int]:
    """The steps to be shown, and how many are not."""
    if least == DETAIL and most is None:
        return every(story.items), 0
    told = list(shown(story.items, least))
    total = len(told) if least == DETAIL else sum(1 for _ in shown(story.items))
    return told[:most], total - len(told[:most])


def _cut(text: str, longest: int) -> str:
    """Texts are whole in JSON unless there is little room."""
    if longest >= LONGEST_REPLY or len(text) <= longest:
        return text
    return text[: max(longest - 3, 0)] + "..."


def _groups(stories: Iterator[TurnStory]) -> Iterator[list[TurnStory]]:
    """A few at a time; those that were told before something failed as well."""
    group: list[TurnStory] = []
    try:
        for story in stories:
            group.append(story)
            if len(group) == TOGETHER:
                yield group
                group = []
    except Exception:
        yield group
        raise
    yield group


def pieces(write: Writer, stories: Iterator[TurnStory]) -> Iterator[str]:
    """Everything, a piece for each turn; together they are the whole document."""
    before = write.begin
    for group in _groups(stories):
        for text in [write.turn(story) for story in group]:
            yield before + text
            before = write.between
    yield (write.begin if before == write.begin else "") + write.end
