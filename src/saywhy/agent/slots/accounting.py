"""The accounts of the messages slot: a record for each message that is new to it.

What was recorded in the round before is known by its number and the hash of the last message. Where
the list has only grown since, just what is new is hashed and counted; any other list is gone
through from the start. The state keeps the figures between rounds (`messagesSeen`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from saywhy.agent.receipts.canon import Salt
from saywhy.agent.slots.composed import Sources, counted
from saywhy.agent.slots.record import (
    INJECTED,
    content_hash,
    message_record,
    source_of,
    summary_of,
)
from saywhy.models.chat import text_of
from saywhy.values import FrozenDict, FrozenList, raw


class Seen(msgspec.Struct, frozen=True):
    """What the slot held in the round before."""

    count: int = 0
    last: str = ""
    """Hash of the last message."""
    sources: Sources = {}

    @classmethod
    def from_value(cls, value: Any) -> Seen:
        """The figures as the state holds them; none where it does not."""
        tree: Any = raw(value)
        return cls(tree["count"], tree["last"], raw(tree["sources"])) if tree else _NONE

    def to_value(self) -> FrozenDict:
        """The figures as the state holds them."""
        return FrozenDict({"count": self.count, "last": self.last, "sources": self.sources})


_NONE: Final = Seen()
_SILENT: Final[Mapping[str, Any]] = {}


def account(
    current: FrozenList,
    prepared: FrozenList,
    seen: Seen,
    salt: Salt | None,
    evidence: Mapping[str, Mapping[str, Any]],
) -> tuple[list[dict[str, Any]], Seen]:
    """The records of what is new in `prepared`, and the figures with it counted in.

    `current` is what the strategy was given, and has grown from what the slot held before.
    `evidence` has more to say about messages that were put in, by their mark.
    """
    items, given = prepared.raw, current.raw
    start = seen.count if _has_grown(given, seen, salt) else 0
    # A copy that can be counted on; who counts puts new figures in and leaves those of the state.
    sources = seen.sources.copy() if start else {}
    if prepared is current:
        fresh = [(at, items[at]) for at in range(start, len(items))]
    else:
        old = {id(one) for one in given[:start]}
        fresh = [(at, one) for at, one in enumerate(items) if id(one) not in old]
        kept = {id(one) for one in items}
        for one in given[:start]:
            if id(one) not in kept:
                _take_off(one, sources)
    last = len(items) - 1
    records: list[dict[str, Any]] = []
    for at, one in fresh:
        more = evidence.get(one.get(INJECTED, ""), _SILENT) if evidence else _SILENT
        records.append(message_record(one, at, latest=at == last, salt=salt, **more))
    newest = ""
    if fresh and fresh[-1][0] == last:
        newest = records[-1]["contentHash"]
    elif items:
        newest = content_hash(salt, "message", items[last])
    return records, Seen(len(items), newest, counted(records, sources))


def _take_off(message: Any, sources: Sources) -> None:
    """Count a message no more that was left out."""
    source = source_of(message)[0]
    if source in sources:
        pieces, chars = sources[source]
        sources[source] = [pieces - 1, chars - len(text_of(message.get("content")))]


def _has_grown(items: Sequence[Any], seen: Seen, salt: Salt | None) -> bool:
    """Whether the list begins with what was recorded, as far as its last message tells."""
    if not seen.count or seen.count > len(items):
        return False
    return content_hash(salt, "message", items[seen.count - 1]) == seen.last


def left_out(before: FrozenList, after: FrozenList) -> list[str]:
    """The beginnings of messages that were there before and are not any more."""
    if before is after:
        return []
    kept = {id(one) for one in after.raw}
    gone = [one for one in before.raw if id(one) not in kept]
    return [summary_of(text_of(one.get("content"))) for one in gone]
