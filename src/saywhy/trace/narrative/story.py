"""The story of a conversation, turn by turn, told from its commits when somebody asks for it.

Numbers are stable: step 3 of turn 2 is `2.3`, the steps of a flow it called are `2.3.1`, `2.3.2`;
whatever is said later, folded or left out, they stay. How they come about is `nesting`'s business,
how a story is cut to size is `budget`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TypedDict

from saywhy.errors import CallerError
from saywhy.trace.narrative import missing
from saywhy.trace.narrative.budget import Tokens, estimate, within_lines, within_tokens
from saywhy.trace.narrative.folding import folded
from saywhy.trace.narrative.formats import Format, pieces, writer
from saywhy.trace.narrative.item import TurnStory
from saywhy.trace.narrative.nesting import Branches, Nesting
from saywhy.trace.phrases import ENGLISH, Registry, Wording, wording
from saywhy.trace.trace import Trace


class Telling(TypedDict, total=False):
    """How a story is told; `narrative` says what each of these does."""

    format: Format
    language: str | None
    budget: int | None
    tokens: Tokens | None
    messages: Registry | None
    most: int | None


MOST_LINES: Final = 1000
"""Of a story that is asked for without a limit; `most=None` tells everything."""


def narrative(
    trace: Trace,
    turn: int | None = None,
    *,
    format: Format = "text",
    language: str | None = None,
    budget: int | None = None,
    tokens: Tokens | None = None,
    messages: Registry | None = None,
    most: int | None = MOST_LINES,
) -> str:
    """The story of one turn, or of the newest turns, as many as there is room for.

    `text` is indented, `markdown` a nested list, `json` has every step with its place and commit.
    `budget` is how many tokens it may be, by `tokens`, the counter of a model; else they are
    `estimate`d. Without a budget it is at most `most` lines, and everything with None. What is left
    out is said. `language` is one of ours, or of your `messages`: sentences by language and id,
    those of a narrative beginning with `story_`.

    Raises `CallerError` for a turn that is not there, and for a language, a format or a budget that
    cannot be.
    """
    say = wording(language, messages)
    write = writer(format, trace, say)
    if turn is not None:
        _must_be_there(trace, turn)
    if budget is None and most is None and turn is None:
        return "".join(stream(trace, format=format, language=language, messages=messages))
    if budget is None and most is None:
        return "".join(pieces(write, tell(trace, turn, say=say)))
    numbers = trace.turns if turn is None else (turn,)
    if not numbers:
        return write.begin + write.end
    newest = tell(trace, turn, say=say, newest_first=True)
    first = numbers[0]
    if budget is None:
        return within_lines(write, newest, first, most or 1)
    return within_tokens(write, newest, first, numbers[-1], budget, tokens or estimate)


def _must_be_there(trace: Trace, turn: int) -> None:
    if turn not in trace.turns:
        known = trace.turns
        hint = f"it holds turns {known[0]} to {known[-1]}" if known else "it is empty"
        raise CallerError(f"turn {turn} is not in this trace", hint=hint)


def stream(
    trace: Trace,
    *,
    format: Format = "text",
    language: str | None = None,
    messages: Registry | None = None,
) -> Iterator[str]:
    """The whole story in pieces, a turn each, told while it is written.

    It takes the memory of a few turns where the trace is that of a stored conversation.
    """
    say, trace = wording(language, messages), trace.for_a_story()
    return pieces(writer(format, trace, say), tell(trace, say=say))


def tell(
    trace: Trace,
    turn: int | None = None,
    *,
    say: Wording = ENGLISH,
    newest_first: bool = False,
) -> Iterator[TurnStory]:
    """The story of one turn, or of each turn in order or from the newest, as data."""
    branches, begins = Branches(trace), trace.first
    numbers: Iterable[int] = (turn,) if turn is not None else trace.turns
    if turn is None and newest_first:
        numbers = reversed(trace.turns)
    for number in numbers:
        told = trace.turn(number)
        items = Nesting(trace, number, say, branches).take(told.commits)
        said = told.messages
        replies = tuple([message.text for message in said if message.role == "assistant"])
        at = told.commits[0].at if told.commits else said[0].at if said else 0.0
        lacks = missing.of_turn(told, begins, say)
        yield TurnStory(number, at, folded(items, say), replies, lacks)


__all__ = ["MOST_LINES", "Format", "Telling", "Tokens", "estimate", "narrative", "stream", "tell"]
