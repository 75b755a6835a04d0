"""Answers of tools that only read, kept for a while so that they need not be asked for again.

A cache belongs to one engine and lives in memory. What is kept is the answer as the tool gave it,
before its response mapping, which may read what differs from one conversation to the next. Whether
a tool may have a cache at all is `check_guards`' question.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from saywhy.tools.answer import ToolAnswer
from saywhy.tools.approval import duration_ms
from saywhy.values import dumps

SIZE: Final = 256
"""How many answers of one tool are kept unless it says otherwise."""
MAX_BYTES: Final = 16 * 1024 * 1024
"""How much the answers of one tool may take up together, as JSON."""


@dataclass(frozen=True, slots=True)
class CacheRule:
    """How long answers are good for; `shared`: for every user, not just the one who asked."""

    ttl_ms: float
    size: int = SIZE
    shared: bool = False


def cache_of(definition: Mapping[str, Any]) -> CacheRule | None:
    """What a checked definition says under `cache`."""
    given = definition.get("cache")
    if not isinstance(given, Mapping):
        return None
    ttl_ms = duration_ms(given.get("ttl"))
    assert ttl_ms is not None, "checked before"
    return CacheRule(ttl_ms, int(given.get("size") or SIZE), bool(given.get("shared")))


@dataclass(frozen=True, slots=True)
class _Kept:
    answer: ToolAnswer
    until_ms: float
    size: int


@dataclass(slots=True)
class _Shelf:
    """The answers of one tool, the one used longest ago first."""

    answers: OrderedDict[str, _Kept] = field(default_factory=OrderedDict[str, _Kept])
    size: int = 0

    def drop(self, key: str) -> None:
        kept = self.answers.pop(key, None)
        self.size -= kept.size if kept else 0


class AnswerCache:
    """The answers that one engine keeps."""

    def __init__(self) -> None:
        self._shelves: dict[str, _Shelf] = {}

    def __len__(self) -> int:
        return sum(len(shelf.answers) for shelf in self._shelves.values())

    def clear(self) -> None:
        """Keep nothing: whose answers these are is not known here."""
        self._shelves.clear()

    def get(self, tool: str, key: str, now_ms: float) -> ToolAnswer | None:
        """The answer that is still good, marked as cached and with no attempt of its own."""
        shelf = self._shelves.get(tool)
        kept = shelf.answers.get(key) if shelf else None
        if shelf is None or kept is None:
            return None
        if now_ms >= kept.until_ms:
            shelf.drop(key)
            return None
        shelf.answers.move_to_end(key)
        return kept.answer

    def keep(self, tool: str, key: str, answer: ToolAnswer, rule: CacheRule, now_ms: float) -> None:
        """Keep a good answer; failures are asked for again."""
        if answer.fault_message is not None:
            return
        shelf = self._shelves.setdefault(tool, _Shelf())
        shelf.drop(key)
        size = len(dumps(answer.value))
        if size > MAX_BYTES:
            return
        cached = msgspec.structs.replace(answer, cached=True, attempts=())
        shelf.answers[key] = _Kept(cached, now_ms + rule.ttl_ms, size)
        shelf.size += size
        while len(shelf.answers) > rule.size or shelf.size > MAX_BYTES:
            shelf.drop(next(iter(shelf.answers)))
