"""The reply of a turn in stretches, each with the commit of the step that said it."""

from __future__ import annotations

from typing import Any, NamedTuple

from saywhy.chart.commit import Commit
from saywhy.errors import CallerError
from saywhy.messages import Message
from saywhy.trace.causes.origin import own_texts
from saywhy.trace.trace import Trace
from saywhy.values import Key


class Piece(NamedTuple):
    """A stretch of a reply and the commit that wrote it; 0 for the engine's own words."""

    text: str
    commit: int


class Spoken(NamedTuple):
    """A reply in stretches."""

    turn: int
    text: str
    pieces: tuple[Piece, ...]
    exact: bool = True


def reply_of(trace: Trace, turn: int | None = None) -> Spoken:
    """The reply of a turn, or the newest one. Raises `CallerError` when there is none."""
    for number in reversed(trace.turns) if turn is None else (turn,):
        found = _from_message(trace, number) or _from_commits(trace, number)
        if found is not None:
            return found
    where = "in this trace" if turn is None else f"for turn {turn}"
    raise CallerError(f"no reply is recorded {where}", hint=_hint(trace, turn))


def _hint(trace: Trace, turn: int | None) -> str:
    turns = trace.turns
    for commit in trace.turn(trace.newest_turn if turn is None else turn).commits:
        if commit.error:
            who = commit.flow.strip("()")
            return f"{who} failed in turn {commit.turn}, at commit {commit.seq}: {commit.error}"
    if turn in turns:
        return "nothing was said in it: no flow took the words, or one handed the turn back"
    return f"turns {turns[0]} to {turns[-1]} are recorded" if turns else "the trace is empty"


def _from_message(trace: Trace, turn: int) -> Spoken | None:
    said = [message for message in trace.messages(turn) if message.role == "assistant"]
    text = "\n\n".join(message.text for message in said)
    if not text:
        return None
    if any(message.spans for message in said):
        return Spoken(turn, text, tuple(piece for each in said for piece in _stretches(each)))
    recorded = _from_commits(trace, turn)
    if recorded is not None and recorded.text == text:
        return recorded
    return Spoken(turn, text, tuple(_speakers(trace, turn)) or (Piece(text, 0),), exact=False)


def _stretches(message: Message) -> list[Piece]:
    pieces: list[Piece] = []
    end = 0
    for span in message.spans:
        pieces.append(Piece(message.text[end : span.start], 0))
        pieces.append(Piece(message.text[span.start : span.end], span.commit))
        end = span.end
    return [*pieces, Piece(message.text[end:], 0)]


def _from_commits(trace: Trace, turn: int) -> Spoken | None:
    """The reply as the last step that made one wrote it."""
    key: Key = ("turn", "reply")
    numbers = [commit.seq for commit in trace.turn(turn).commits if _writes(commit, key)]
    value: Any = trace.value_at(key, numbers[-1]).value if numbers else None
    if not value:
        return None
    pieces = tuple(Piece(str(text), int(commit)) for text, commit in value)
    return Spoken(turn, "".join(piece.text for piece in pieces), pieces)


def _writes(commit: Commit, key: Key) -> bool:
    return any(op.key[:2] == key for op in commit.ops)


def _speakers(trace: Trace, turn: int) -> list[Piece]:
    """The steps of a turn that said something, where the reply does not tell its parts."""
    return [
        Piece(text, commit.seq)
        for commit in trace.turn(turn).commits
        for op in commit.ops
        if op.key == ("session", "queue") and op.verb == "append"
        for text in own_texts(op.value, commit.seq)
    ]
