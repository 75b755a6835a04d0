"""How a story is made to fit: what is most useful stays, and what is left out is said.

The newest turns stay, and in each first what the user said and the replies, then calls, answers and
decisions, then the other steps. The newest turn may take all the room there is, and of an earlier
one the details half of what is left, so that the story goes back far. A step that is shown has the
number it has in the whole story.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from saywhy.errors import CallerError
from saywhy.trace.narrative.formats import LONGEST_REPLY, Writer
from saywhy.trace.narrative.item import TurnStory, shown
from saywhy.trace.narrative.weight import CALL, DETAIL, STEP, WORDS

Tokens = Callable[[str], int]
"""How many tokens a text is."""

MIN_BUDGET: Final = 50
SHORTER: Final = (160, 80, 40, 20, 0)
"""Characters of each reply, where there is room for little else."""
LEVELS: Final = (DETAIL, STEP, CALL, WORDS)


def estimate(text: str) -> int:
    """About how many tokens a text is, rather too many than too few.

    A token for every four bytes of UTF-8, begun ones counted: English comes out about a tenth too
    high with the tokenizers of today, other Latin scripts near, Chinese and Japanese near one for
    each character.
    """
    return -(-len(text.encode("utf-8", "replace")) // 4)


class Told(NamedTuple):
    """A story cut to size."""

    pieces: list[str]
    """Turns, the newest first."""
    oldest: int
    """The number of the oldest turn among them."""


def within_tokens(
    write: Writer,
    newest_first: Iterable[TurnStory],
    first: int,
    last: int,
    budget: int,
    tokens: Tokens = estimate,
) -> str:
    """The story in at most so many tokens. `first` and `last` are the turns there are."""
    if budget < MIN_BUDGET:
        raise CallerError(
            f"a narrative needs a budget of {MIN_BUDGET} tokens at least, not {budget}"
        )
    frame = tokens(write.begin + write.between + write.end)
    room = budget - frame - (tokens(write.left_out(first, last)) + 1 if first < last else 0)
    told = _fitting(write, newest_first, room, tokens)
    while True:
        text = _joined(write, told, first)
        if not told.pieces or tokens(text) <= budget:
            return text
        told = Told(told.pieces[:-1], told.oldest + 1)  # their tokens are more than those apart


def _fitting(write: Writer, newest_first: Iterable[TurnStory], room: int, tokens: Tokens) -> Told:
    pieces: list[str] = []
    oldest = 0
    for story in newest_first:
        if pieces:
            piece = _earlier(write, story, room, tokens)
        else:
            piece = _newest(write, story, room, tokens)
        if piece is None:
            break
        pieces.append(piece)
        oldest = story.turn
        room -= tokens(piece) + 1
    return Told(pieces, oldest)


def _newest(write: Writer, story: TurnStory, room: int, tokens: Tokens) -> str | None:
    made = (
        *((least, LONGEST_REPLY) for least in LEVELS),
        *((WORDS, longest) for longest in SHORTER),
        (WORDS + 1, SHORTER[1]),
        (WORDS + 1, 0),
    )
    for least, longest in made:
        piece = write.turn(story, least, longest)
        if tokens(piece) <= room:
            return piece
    return None


def _earlier(write: Writer, story: TurnStory, room: int, tokens: Tokens) -> str | None:
    for least in (STEP, CALL):
        piece = write.turn(story, least)
        if tokens(piece) <= room // 2:
            return piece
    for longest in (LONGEST_REPLY, SHORTER[0]):
        piece = write.turn(story, WORDS, longest)
        if tokens(piece) <= room:
            return piece
    return None


def _joined(write: Writer, told: Told, first: int) -> str:
    pieces = told.pieces[::-1]
    if pieces and told.oldest > first:
        pieces.insert(0, write.left_out(first, told.oldest - 1))
    return write.begin + write.between.join(pieces) + write.end


def within_lines(write: Writer, newest_first: Iterator[TurnStory], first: int, most: int) -> str:
    """The newest turns, as many as have so many lines; the newest one is cut if it has more."""
    pieces: list[str] = []
    oldest, left = 0, most
    for story in newest_first:
        others = len(story.replies) + len(story.missing) + 1
        lines = sum(1 for _ in shown(story.items)) + others
        if pieces and lines > left:
            break
        most_steps = max(left - others, 1) if lines > left else None
        pieces.append(write.turn(story, most=most_steps))
        oldest = story.turn
        left -= lines
        if left <= 0:
            break
    return _joined(write, Told(pieces, oldest), first)
