"""How the commits of one write of a turn are kept: one row, a JSON array by position.

    [2, shortened, first, turn, at, frames, links, rows]

`frames` are `[frame, chart, flow, caller, depth]` and `rows` the commits:
`[index of the frame, node, kind, phase, to, reads, ops, facts, asked, answered, rest]`, what is
empty at the end left out; `rest` is an object of all other fields. Where a commit's number does not
follow that of the one before, or its moment is not `at`, that stands in its `rest`. `links` are
explained in `writers`. What repeats from step to step is written once, so a turn takes half of what
its commits take each for itself.

Earlier versions kept each commit in a row of its own, as a JSON object; `read_block` takes both.
The format is described in the reference for readers who are not us. Which texts are left out is
`shorten`'s business.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import msgspec

from saywhy.chart.commit import (
    Answered,
    Asked,
    Commit,
    Decision,
    Effect,
    FunctionCall,
    Op,
    Phase,
)
from saywhy.errors import CallerError
from saywhy.messages import Message
from saywhy.trace.record import decode
from saywhy.trace.shorten import SHORTENED_TAG, long_texts, put_back, with_pointers
from saywhy.values import Key, dumps, loads_into, loads_raw

VERSION: Final = 2
"""Of the array. 1 is the object of before."""

Link: TypeAlias = tuple[str | int, str | int, int]
"""Scope and name of a variable, and the number of the commit that wrote it last before."""

_PHASES: Final[tuple[Phase, ...]] = ("enter", "asked", "answered", "closed")
_NUMBERS: Final = {phase: number for number, phase in enumerate(_PHASES)}
_RARE: Final = ("decision", "calls", "error", "error_name", "warnings", "tags")
_SHORTENED: Final = b"[%d,1," % VERSION
_POINTER: Final = re.compile(rb'\{"\$text":\[(\d+,\d+,\d+)\]\}')
_BEGINS: Final = b'{"$text":['
_WRAPPED: Final = b'"$text":[{'
_FEW_TEXTS: Final = 4
"""Up to so many different texts each is put in its places by itself; for more, all in one pass."""


class Block(msgspec.Struct, frozen=True):
    """What one row held."""

    commits: list[Commit]
    links: tuple[Link, ...] = ()
    version: int = VERSION


class Rest(msgspec.Struct, frozen=True, gc=False):
    seq: int = 0
    at: float | None = None
    exact: bool = True
    decision: Decision | None = None
    calls: tuple[FunctionCall, ...] = ()
    error: str = ""
    error_name: str = ""
    warnings: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


class AskedRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    kind: str
    name: str = ""
    args: Any = None
    effect: Effect = "once"


class AnsweredRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    kind: str
    name: str = ""
    value: Any = None
    error: str = ""
    facts: dict[str, Any] = {}
    error_name: str = "Error"


class Row(msgspec.Struct, frozen=True, array_like=True, gc=False):
    frame: int
    node: str
    kind: str
    phase: int = 0
    to: str = ""
    reads: tuple[Key, ...] = ()
    ops: tuple[Op, ...] = ()
    facts: dict[str, Any] = {}
    asked: AskedRow | None = None
    answered: AnsweredRow | None = None
    rest: Rest | None = None


class BlockRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    version: int
    shortened: int
    first: int
    turn: int
    at: float
    frames: list[tuple[int, str, str, int, int]]
    links: tuple[Link, ...]
    rows: list[Row]


_DECODER: Final = msgspec.json.Decoder(BlockRow)


# ------------------------------------------------------------------ writing


def rows_of(
    commits: Sequence[Commit], messages: Iterable[Message], links: Sequence[Link] = ()
) -> list[tuple[int, bytes]]:
    """Commits of one turn as a numbered row for a store to keep; no row for none.

    Hand in the messages of the same turn: their texts are pointed at, not written again.
    """
    if not commits:
        return []
    texts = long_texts(messages)
    found = False
    if texts:
        commits, found = with_pointers(commits, texts)
    return [(commits[0].seq, _packed(commits, links, found))]


def _packed(commits: Sequence[Commit], links: Sequence[Link], shortened: bool) -> bytes:
    first = commits[0]
    at, expected = first.at, first.seq
    frames: dict[tuple[int, str, str, int, int], int] = {}
    rows: list[list[Any]] = []
    for commit in commits:
        frame = (commit.frame, commit.chart, commit.flow, commit.caller, commit.depth)
        row: list[Any] = [
            frames.setdefault(frame, len(frames)), commit.node, commit.kind,
            _NUMBERS[commit.phase], commit.to, commit.reads, commit.ops, commit.facts,
            commit.asked and _asked(commit.asked), commit.answered and _answered(commit.answered),
        ]  # fmt: skip
        rest = _rest_of(commit)
        if commit.seq != expected:
            rest["seq"] = commit.seq
        if commit.at != at:
            rest["at"] = commit.at
        if rest:
            row.append(rest)
        else:
            _trim(row)
        rows.append(row)
        expected = commit.seq + 1
    whole = [VERSION, int(shortened), first.seq, first.turn, at, [*frames], links, rows]
    return dumps(whole)


def _rest_of(commit: Commit) -> dict[str, Any]:
    rest: dict[str, Any] = {}
    for name in _RARE:
        value = getattr(commit, name)
        if value:
            rest[name] = value
    if not commit.exact:
        rest["exact"] = False
    return rest


def _asked(asked: Asked) -> list[Any]:
    if asked.effect != "once":
        return [asked.kind, asked.name, asked.args, asked.effect]
    if asked.args is not None:
        return [asked.kind, asked.name, asked.args]
    return [asked.kind, asked.name]


def _answered(answered: Answered) -> list[Any]:
    row = [answered.kind, answered.name, answered.value]
    if answered.error or answered.facts or answered.error_name != "Error":
        row += [answered.error, answered.facts]
        if answered.error_name != "Error":
            row.append(answered.error_name)
    return row


def _trim(row: list[Any]) -> None:
    while not row[-1]:
        row.pop()


# ------------------------------------------------------------------ reading


def read_block(
    data: bytes, messages: Mapping[int, Message] | None = None, longest: int | None = None
) -> Block:
    """The commits in a row, of this version or an earlier one.

    Of long texts that are put back `longest` characters are enough for who asks, except of those
    that are a field of something; more may come.

    With `messages` those texts that stand there are put back; without, the commits are tagged as
    `shorten` does, and `put_back` does it. Raises `CallerError` for what is no such row.
    """
    if not data.startswith(b"["):
        commit = decode(data)
        return Block([put_back(commit, messages) if messages is not None else commit], (), 1)
    filled = _filled(data, messages, longest)
    try:
        whole = _read(data if filled is None else filled)
        is_whole = filled is not None or not whole.shortened
        commits = _commits(whole, () if is_whole else (SHORTENED_TAG,))
    except (ValueError, IndexError, RecursionError) as error:
        raise CallerError(f"this is no row of commits: {error}") from error
    if not is_whole and messages is not None:
        commits = [put_back(commit, messages) for commit in commits]
    return Block(commits, whole.links)


def _read(data: bytes) -> BlockRow:
    # Pointers begin like tags of values, and are none: only others need the slower way.
    # One byte is found far faster than a pair, and most rows that were filled hold none.
    if 36 not in data or data.count(b'"$') == data.count(b'"$text":'):
        try:
            return _checked(_DECODER.decode(data))
        except msgspec.DecodeError:  # a lone surrogate, or another version
            pass
    version = loads_raw(data)[0]
    if version != VERSION:
        raise ValueError(f"version {version} is not known here, only {VERSION} is")
    return loads_into(data, _DECODER)


def _checked(whole: BlockRow) -> BlockRow:
    if whole.version != VERSION:
        raise ValueError(f"version {whole.version} is not known here, only {VERSION} is")
    return whole


def _filled(
    data: bytes, messages: Mapping[int, Message] | None, longest: int | None
) -> bytes | None:
    """The JSON with the texts in place of the pointers; None where that takes a closer look.

    In JSON no text can hold a quote that is not escaped, so what looks like a pointer is an object.
    An object of the user's that looks like one is wrapped, and needs the slow way.
    """
    if messages is None or not data.startswith(_SHORTENED):
        return None
    for _ in range(_FEW_TEXTS):  # most turns point at the same text again and again
        begin = data.find(_BEGINS)
        if begin < 0:
            return data
        found = _POINTER.match(data, begin)
        if found is None:
            break
        pointer, text = found[0], _pointed(found[1], messages)
        if text is None:
            return None
        if longest is not None and len(text) > longest:
            # Of facts some are told as they are, such as why something failed.
            data = data.replace(b":" + pointer, b":" + dumps(text))
            text = text[:longest]
        data = data.replace(pointer, dumps(text))
        if 36 not in data:  # one byte is found far faster than that no pointer is left
            return data
    return None if _WRAPPED in data else _filled_at_once(data, messages)


def _filled_at_once(data: bytes, messages: Mapping[int, Message]) -> bytes | None:
    parts = _POINTER.split(data)
    texts: dict[bytes, bytes] = {}
    for pointer in set(parts[1::2]):
        text = _pointed(pointer, messages)
        if text is None:
            return None
        texts[pointer] = dumps(text)
    parts[1::2] = [texts[pointer] for pointer in parts[1::2]]
    return b"".join(parts)


def _pointed(pointer: bytes, messages: Mapping[int, Message]) -> str | None:
    """The text that `message,start,end` points at; None where it is not there."""
    seq, start, end = map(int, pointer.split(b","))
    message = messages.get(seq)
    return None if message is None or len(message.text) < end else message.text[start:end]


def _commits(whole: BlockRow, tags: tuple[str, ...]) -> list[Commit]:
    turn, at, frames = whole.turn, whole.at, whole.frames
    seq = whole.first - 1
    commits: list[Commit] = []
    for row in whole.rows:
        frame, chart, flow, caller, depth = frames[row.frame]
        asked, answered, rest = row.asked, row.answered, row.rest
        seq += 1
        commit = Commit(
            seq, turn, frame, chart, flow, row.node, row.kind, _PHASES[row.phase], depth, caller,
            at, row.reads, True, row.ops, None,
            asked and Asked(asked.kind, asked.name, asked.args, asked.effect),
            answered and _answer(answered),
            to=row.to, facts=row.facts, tags=tags,
        )  # fmt: skip
        if rest is not None:  # most have none
            commit = _with(commit, rest)
            seq = commit.seq
        commits.append(commit)
    return commits


def _with(commit: Commit, rest: Rest) -> Commit:
    """The commit with all that is seldom there."""
    return msgspec.structs.replace(
        commit,
        seq=rest.seq or commit.seq,
        at=commit.at if rest.at is None else rest.at,
        exact=rest.exact,
        decision=rest.decision,
        calls=rest.calls,
        error=rest.error,
        error_name=rest.error_name,
        warnings=rest.warnings,
        tags=(*rest.tags, *commit.tags),
    )


def _answer(row: AnsweredRow) -> Answered:
    return Answered(row.kind, row.name, row.value, row.error, row.facts, row.error_name)
