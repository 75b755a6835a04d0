"""Long texts are stored once: a commit points at the message that holds them.

What the user wrote and what was said stand in the messages of a conversation. Where a commit holds
the same text again, `shorten` leaves a pointer, `{"$text": [message, start, end]}`, and tags the
commit; `put_back` undoes it. A commit without that tag holds no pointers, whatever it looks like.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from saywhy.chart.commit import Commit
from saywhy.messages import Message
from saywhy.trace.masking.redact import CUT, CUT_TAG
from saywhy.trace.masking.rewrite import Rewriter
from saywhy.values import FrozenDict

SHORTENED_TAG: Final = "shortened"
POINTER: Final = "$text"
LONG: Final = 64
"""Characters; a pointer takes about a third of that."""


def shorten(
    commits: Iterable[Commit], messages: Iterable[Message], *, longer_than: int = LONG
) -> list[Commit]:
    """The commits with pointers in place of long texts that stand in one of `messages`.

    Hand in the messages of the same turn: the search looks through each of them.
    """
    texts = _long(messages, longer_than)
    if not texts:
        return list(commits)
    return [_shortened(commit, texts, longer_than) for commit in commits]


def with_pointers(
    commits: Sequence[Commit], texts: Sequence[tuple[int, str]]
) -> tuple[Sequence[Commit], bool]:
    """The commits with pointers into these texts, and whether there are any; without tags.

    Where there are some, each object of the user's that looks like one is wrapped in all commits.
    """
    shortening = _Shortening(texts, LONG)
    changed = [shortening.commit(commit) for commit in commits]
    return (changed, True) if shortening.found else (commits, False)


def long_texts(messages: Iterable[Message]) -> list[tuple[int, str]]:
    """The texts that are worth pointing at, by the number of their message."""
    return _long(messages, LONG)


def _long(messages: Iterable[Message], longer_than: int) -> list[tuple[int, str]]:
    return [(message.seq, message.text) for message in messages if len(message.text) > longer_than]


def put_back(commit: Commit, messages: Mapping[int, Message]) -> Commit:
    """The commit with its texts, from the messages by number.

    A text whose message is not there is marked as cut.
    """
    if SHORTENED_TAG not in commit.tags:
        return commit
    filling = _Filling(messages)
    changes = filling.changes(commit)
    tags = tuple(tag for tag in commit.tags if tag != SHORTENED_TAG)
    changes["tags"] = (*tags, CUT_TAG) if filling.missing and CUT_TAG not in tags else tags
    return msgspec.structs.replace(commit, **changes)


def _shortened(commit: Commit, texts: list[tuple[int, str]], longer_than: int) -> Commit:
    shortening = _Shortening(texts, longer_than)
    changes = shortening.changes(commit)
    if not shortening.found:
        return commit
    changes["tags"] = (*commit.tags, SHORTENED_TAG)
    return msgspec.structs.replace(commit, **changes)


class _Shortening(Rewriter):
    __slots__ = ("found", "longer_than", "texts")

    def __init__(self, texts: Sequence[tuple[int, str]], longer_than: int) -> None:
        self.texts = texts
        self.longer_than = longer_than
        self.found = False

    def text(self, text: str) -> Any:
        if len(text) <= self.longer_than:
            return text
        for seq, whole in self.texts:
            start = whole.find(text)
            if start >= 0:
                self.found = True
                return {POINTER: [seq, start, start + len(text)]}
        return text

    def fields(self, tree: dict[str, Any]) -> dict[str, Any]:
        """An object of the user's that looks like a pointer is put one level deeper."""
        kept = super().fields(tree)
        return {POINTER: [kept]} if len(tree) == 1 and POINTER in tree else kept


def _is_pointer(found: Any) -> bool:
    """Whether this points at a text, or is an object that only looks so: what is damaged is left
    as it stands."""
    if not isinstance(found, list | tuple):
        return False
    if len(found) == 1:
        return isinstance(found[0], Mapping)
    return len(found) == 3 and all(type(one) is int for one in found)


class _Filling(Rewriter):
    __slots__ = ("messages", "missing")

    def __init__(self, messages: Mapping[int, Message]) -> None:
        self.messages = messages
        self.missing = False

    def value(self, value: Any) -> Any:
        tree = value.raw if isinstance(value, FrozenDict) else value
        if isinstance(tree, dict) and len(tree) == 1 and POINTER in tree:
            pointer = tree[POINTER]
            if _is_pointer(pointer):
                return self._pointed(pointer)
        return super().value(value)

    def _pointed(self, pointer: list[Any]) -> Any:
        if len(pointer) == 1:
            return self.fields(pointer[0])
        seq, start, end = pointer
        message = self.messages.get(seq)
        if message is None or len(message.text) < end:
            self.missing = True
            return f"{CUT}message {seq} is not part of this trace]"
        return message.text[start:end]
