"""A chain as an indented text: from what was asked about down to its roots, places at the right.

Each cause is explained once, where it stands nearest to the target; elsewhere the text says that
it is explained elsewhere, or leaves it out where that goes without saying.
"""

from __future__ import annotations

import textwrap
from heapq import heappop, heappush
from typing import Final, NamedTuple

from saywhy.errors import Place
from saywhy.trace.causes.chain import Cause, Chain, Edge, Link
from saywhy.trace.causes.wording import NO_CHART
from saywhy.trace.words import count

INDENT: Final = "  "
NARROWEST: Final = 40
ASIDE: Final = 3
"""How many links it counts for to go from a value to what let its step run."""

CONTROL: Final[frozenset[Edge]] = frozenset({"decision", "caller"})
QUIET: Final[frozenset[Edge]] = CONTROL | frozenset[Edge]({"handed", "asked"})
"""Of these it goes without saying that they stand elsewhere: a model is handed the same again."""


class _Line(NamedTuple):
    depth: int
    text: str
    place: Place = Place()


def explain(chain: Chain, width: int = 100) -> str:
    """The whole chain, `width` characters wide where the lines are not longer by themselves."""
    writer = _Writer(chain)
    writer.target()
    lines = writer.lines
    if chain.left_out:
        left = count(chain.left_out, "more cause")
        lines.append(_Line(1, f"... and {left}, not followed because a limit was reached"))
    return _laid_out(lines, width)


class _Writer:
    """Writes each cause where it is nearest to the target."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.lines: list[_Line] = []
        self._causes: dict[int, list[Link]] = {}
        for link in chain.links:
            self._causes.setdefault(link.effect, []).append(link)
        self._home = _homes(chain, self._causes)
        self._written: set[int] = set()
        self._told: set[tuple[str, str]] = set()
        """Marks that have been said of a flow: once is enough to know it."""

    def target(self) -> None:
        """The target and everything below it."""
        cause = self.chain.target
        self._written.add(cause.id)
        self._line(cause, 0)
        self._below(cause, 1)

    def _line(self, cause: Cause, depth: int, because: str = "") -> None:
        inside = [
            self.chain.causes[link.cause]
            for link in self._causes.get(cause.id, [])
            if _is_inside(link, self.chain.causes[link.cause])
        ]
        found = [(each.flow, mark) for each in (cause, *inside) for mark in each.marks]
        marks = dict.fromkeys(
            mark for flow, mark in found if mark != NO_CHART or (flow, mark) not in self._told
        )
        self._told.update(found)
        text = because + cause.sentence + "".join(f" [{mark}]" for mark in marks)
        self.lines.append(_Line(depth, text, cause.place))
        self.lines.extend(_Line(depth + 1, detail) for detail in cause.details)

    def _below(self, cause: Cause, depth: int) -> None:
        links = self._causes.get(cause.id, [])
        for link in links:
            if link.kind not in CONTROL:
                self._cause(link, depth)
        # What let a step speak stands beside it, not beneath the values it read.
        level = depth - 1 if cause.kind == "said" and self._alone(cause) else depth
        for link in links:
            if link.kind in CONTROL:
                self._cause(link, level)

    def _alone(self, cause: Cause) -> bool:
        return len(self._causes.get(0, [])) == 1 and cause.id != 0

    def _cause(self, link: Link, depth: int) -> None:
        cause = self.chain.causes[link.cause]
        here = self._home.get(cause.id) == link.effect and cause.id not in self._written
        if not here:
            self._elsewhere(link, cause, depth)
            return
        self._written.add(cause.id)
        if _is_inside(link, cause):  # what led to the answer goes beneath the line that names it
            self._below(cause, depth)
            return
        self._line(cause, depth, "because " if link.kind in CONTROL else "")
        self._below(cause, depth + 1)

    def _elsewhere(self, link: Link, cause: Cause, depth: int) -> None:
        """A cause that is explained in another place: named where that helps, else left out."""
        if link.kind in QUIET or _is_inside(link, cause):
            return
        if self._causes.get(cause.id):
            when = "above" if cause.id in self._written else "below"
            self.lines.append(_Line(depth, f"{_label(cause)} (explained {when})"))
        elif cause.kind != "answer":
            self._line(cause, depth)


def _is_inside(link: Link, cause: Cause) -> bool:
    """Whether the sentence of the effect names this answer already, as all but functions do."""
    return link.kind == "answer" and cause.root != "function"


def _homes(chain: Chain, causes: dict[int, list[Link]]) -> dict[int, int]:
    """For each cause the effect under which it is explained: the nearest, the first of those.

    What let a step run that only wrote a value counts as farther away than what let the reply's own
    steps run, so that decisions stand where a reader looks for them.
    """
    home: dict[int, int] = {}
    done: set[int] = set()
    ahead = [(0, 0, 0, 0)]
    turn = 0
    while ahead:
        distance, _, cause, effect = heappop(ahead)
        if cause in done:
            continue
        done.add(cause)
        home[cause] = effect
        aside = chain.causes[cause].kind in ("value", "answer")
        for link in causes.get(cause, []):
            turn += 1
            step = ASIDE if aside and link.kind in CONTROL else 1
            heappush(ahead, (distance + step, turn, link.cause, cause))
    return home


def _label(cause: Cause) -> str:
    return cause.name or cause.sentence


def _laid_out(lines: list[_Line], width: int) -> str:
    texts = [INDENT * line.depth + line.text for line in lines]
    longest = max(map(len, texts))
    places = _place_texts([line.place for line in lines], width - longest - 2)
    column = max(NARROWEST, min(longest, width - max(map(len, places)) - 2))
    laid: list[str] = []
    for text, place in zip(texts, places, strict=True):
        first, *more = _broken(text, column)
        laid += [f"{first:<{column}}  {place}" if place else first, *more]
    return "\n".join(laid)


def _broken(text: str, column: int) -> list[str]:
    """The text in lines that end before the places; what goes on stands further in."""
    if len(text) <= column:
        return [text]
    sentence = text.lstrip()
    indent = " " * (len(text) - len(sentence))
    return textwrap.wrap(
        sentence,
        column,
        initial_indent=indent,
        subsequent_indent=indent + 2 * INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _place_texts(places: list[Place], room: int) -> list[str]:
    """`flows/pay.json:41`; without folders where that does not fit. Nothing for no file."""
    whole = [_place_text(place.file, place.line) for place in places]
    if max(map(len, whole)) <= room:
        return whole
    return [
        _place_text(place.file.replace("\\", "/").rpartition("/")[2], place.line)
        for place in places
    ]


def _place_text(file: str, line: int) -> str:
    return f"{file}:{line}" if file and line else file
