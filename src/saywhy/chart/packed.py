"""How the older commits of a long run are kept in memory: packed, a chunk at a time.

A commit is a few kilobytes of small objects, most of which say the same in every round of a loop.
Packed a chunk takes a tenth of it, as compressed JSON by position. What the state holds anyway is
not packed but shared with it as before: long texts, and what was appended to a list. What cannot
be written as JSON, and so would come back as something else, is shared as well, or leaves its
whole chunk as it is. Which commits are packed and when is answered by `commits`.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias

import msgspec
from msgspec.structs import astuple

from saywhy.chart.commit import Answered, Asked, Commit, Op
from saywhy.values import UNDEFINED, FrozenDict, FrozenList, dumps, encode_extra, loads_into, seal

LONG: Final = 128
"""Characters of a text from which on it is shared: its place in the list of texts is shorter."""

MOST_BYTES: Final = 1_500
"""Commits of less are not looked through for long texts."""

MOST_ITEMS: Final = 32
"""A list with more is shared: who sets it in each round would have it packed in each."""

LEVEL: Final = 3
"""Of compression: the best takes many times as long for a sixth less."""

PATTERN: Final = 6 * 1024
"""Bytes of an earlier chunk that later ones are packed by. It halves them: loops say the same."""

_FIELDS: Final = Commit.__struct_fields__
_OPS: Final = _FIELDS.index("ops")
_ASKED: Final = _FIELDS.index("asked")
_ANSWERED: Final = _FIELDS.index("answered")


_ARGS, _VALUE, _BARE, _FIRST_OP = 1, 2, 4, 8
_MOST_OPS: Final = 60
"""So many of the operations of a step may share their values: there is a bit for each."""

_PLACE: Final = re.compile(rb"\x01(\d+)\x01")
"""A text's place in the list. JSON never holds such a byte: in its texts it is escaped."""

_LEAVES: Final = frozenset(
    {FrozenDict, FrozenList, str, int, float, bool, type(None), type(UNDEFINED)}
)
"""What is known to come back as it was."""


class Packed(msgspec.Struct, frozen=True, gc=False):
    """Commits of a run, one after the other."""

    count: int
    data: bytes
    pattern: bytes
    """What it was packed by, empty for the first."""
    texts: tuple[str, ...]
    shared: tuple[Any, ...]
    """Values that were not packed, in the order of their places."""


Chunk: TypeAlias = Packed | tuple[Commit, ...]
"""Commits that are packed, or that could not be."""


class _Row(Commit, array_like=True, frozen=True, gc=False):
    shared: int = 0
    """Which of its values are shared: a bit for each."""


_DECODER: Final = msgspec.json.Decoder(list[_Row])


def pack(commits: Sequence[Commit], pattern: bytes = b"") -> tuple[Chunk, bytes]:
    """The commits as they are kept from now on, and the pattern to pack those that follow by.

    `unpack` gives equal ones back.
    """
    packing = _Packing()
    try:
        data = packing.packed(commits)
    except (TypeError, ValueError, OverflowError, RecursionError, msgspec.EncodeError):
        return tuple(commits), pattern
    texts, shared = tuple(packing.texts), tuple(packing.shared)
    chunk = Packed(len(commits), _compressed(data, pattern), pattern, texts, shared)
    return chunk, pattern or data[-PATTERN:]


def unpack(chunk: Chunk) -> Sequence[Commit]:
    """The commits of a chunk."""
    if not isinstance(chunk, Packed):
        return chunk
    texts = chunk.texts
    data = zlib.decompressobj(_WINDOW, chunk.pattern).decompress(chunk.data)
    data = _PLACE.sub(lambda found: dumps(texts[int(found[1])]), data)
    shared = iter(chunk.shared)
    return [_commit(row, shared) for row in loads_into(data, _DECODER)]


_WINDOW: Final = -15
"""Of the compressed bytes, which have no header."""


def _compressed(data: bytes, pattern: bytes) -> bytes:
    how = (LEVEL, zlib.DEFLATED, _WINDOW, zlib.DEF_MEM_LEVEL, zlib.Z_DEFAULT_STRATEGY)
    compressing = zlib.compressobj(*how, pattern) if pattern else zlib.compressobj(*how)
    return compressing.compress(data) + compressing.flush()


# ------------------------------------------------------------------ packing


_PLAIN: Final = msgspec.json.Encoder(enc_hook=encode_extra)


class _Packing:
    """One chunk on its way."""

    __slots__ = ("shared", "texts")

    def __init__(self) -> None:
        self.texts: dict[str, int] = {}
        self.shared: list[Any] = []

    def packed(self, commits: Sequence[Commit]) -> bytes:
        """The JSON of all."""
        looking = msgspec.json.Encoder(enc_hook=self._extra)
        rows: list[bytes] = []
        for commit in commits:
            fields = self._row(commit)
            row = _PLAIN.encode(fields)
            # Most are short: to look through all of them would take as long as all the rest.
            rows.append(row if len(row) < MOST_BYTES else looking.encode(fields))
        return b"[%b]" % b",".join(rows)

    def _row(self, commit: Commit) -> Sequence[Any]:
        """The fields of a commit, without what is shared."""
        fields: list[Any] = list(astuple(commit))
        asked, answered = commit.asked, commit.answered
        shared = 0
        if commit.ops:
            fields[_OPS], shared = self._ops(commit.ops)
        if asked is not None and self._shares(asked.args):
            shared |= _ARGS
            fields[_ASKED] = _with_args(asked, None)
        if answered is not None:
            _check(answered.facts)
            value = answered.value
            if type(value) is list and _LEAVES.issuperset(map(type, value)):
                shared |= _BARE  # what the branches of a fork gave: no frozen list, but harmless
            elif self._shares(value):
                shared |= _VALUE
                fields[_ANSWERED] = _with_value(answered, None)
        if commit.facts:
            _check(commit.facts)
        if shared:
            fields.append(shared)
        return fields

    def _ops(self, ops: Sequence[Op]) -> tuple[list[Any], int]:
        packed: list[Any] = []
        shared, bit = 0, _FIRST_OP
        for op in ops:
            value = op.value
            kind = type(value)
            if kind is str and len(value) > LONG:
                packed.append((op.verb, op.key, self._text(value)))
            elif (op.verb == "append" or (kind is FrozenList and len(value) > MOST_ITEMS)) and len(
                packed
            ) < _MOST_OPS:
                shared |= bit
                self.shared.append(value)
                packed.append((op.verb, op.key))
            else:
                packed.append(op)
            bit <<= 1
        return packed, shared

    def _shares(self, value: Any) -> bool:
        """Whether a value is shared: all but frozen ones, since nobody knows what they are."""
        if type(value) in _LEAVES:
            return False
        self.shared.append(value)
        return True

    def _extra(self, value: Any) -> Any:
        """A frozen value as what JSON has, with places instead of long texts."""
        tree = encode_extra(value)
        return self._pointed(tree) if _has_long(tree) else tree

    def _pointed(self, tree: Any) -> Any:
        """A copy of a tree with long texts in it; what has none is not copied."""
        if type(tree) is dict:
            return {name: self._item(item) for name, item in tree.items()}
        return [self._item(item) for item in tree]

    def _item(self, item: Any) -> Any:
        kind = type(item)
        if kind is str:
            return self._text(item) if len(item) > LONG else item
        if (kind is dict or kind is list) and _has_long(item):
            return self._pointed(item)
        return item

    def _text(self, text: str) -> msgspec.Raw:
        at = self.texts.setdefault(text, len(self.texts))
        return msgspec.Raw(b"\x01%d\x01" % at)


def _has_long(tree: Any) -> bool:
    """Whether a long text is in a dict or list; most have none, and need not be copied."""
    for item in tree.values() if type(tree) is dict else tree:
        kind = type(item)
        if kind is str:
            if len(item) > LONG:
                return True
        elif (kind is dict or kind is list) and item and _has_long(item):
            return True
    return False


def _check(tree: Any) -> None:
    """Raises `TypeError` for facts of a host that JSON would make something else of."""
    kind = type(tree)
    if kind is dict:
        for name, item in tree.items():
            if type(name) is not str:
                raise TypeError(f"the key {name!r} is no text")
            if type(item) not in _LEAVES:
                _check(item)
    elif kind is list:
        for item in tree:
            if type(item) not in _LEAVES:
                _check(item)
    elif kind not in _LEAVES:
        raise TypeError(f"a {kind.__name__} would not come back as it was")


# ------------------------------------------------------------------ unpacking


def _commit(row: _Row, shared: Iterator[Any]) -> Commit:
    fields: list[Any] = list(astuple(row))
    which = fields.pop()
    fields[_OPS] = _ops(row.ops, which, shared)
    asked, answered = row.asked, row.answered
    if asked is not None:
        args = next(shared) if which & _ARGS else seal(asked.args)
        fields[_ASKED] = _with_args(asked, args)
    if answered is not None:
        value = next(shared) if which & _VALUE else answered.value
        value = value if which & (_VALUE | _BARE) else seal(value)
        fields[_ANSWERED] = _with_value(answered, value)
    return Commit(*fields)


def _ops(ops: Sequence[Op], which: int, shared: Iterator[Any]) -> tuple[Op, ...]:
    whole: list[Op] = []
    bit = _FIRST_OP
    for op in ops:
        value = next(shared) if which & bit else seal(op.value)
        whole.append(Op(op.verb, op.key, value))
        bit <<= 1
    return tuple(whole)


def _with_args(asked: Asked, args: Any) -> Asked:
    return Asked(asked.kind, asked.name, args, asked.effect)


def _with_value(answered: Answered, value: Any) -> Answered:
    return Answered(
        answered.kind, answered.name, value, answered.error, answered.facts, answered.error_name
    )
