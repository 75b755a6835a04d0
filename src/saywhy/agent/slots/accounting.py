"""The accounts of the messages slot: a record for each message that is new to it.

What was recorded in the round before is known by its number and the hash of the last message. Where
the list has only grown since, just what is new is hashed and counted; any other list is gone
through from the start. The state keeps the figures between rounds (`messagesSeen`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from saywhy.agent.receipts.canon import Salt
from saywhy.agent.slots.composed import Sources, counted
from saywhy.agent.slots.record import InjectionRecord, content_hash, message_record, summary_of
from saywhy.models.chat import text_of
from saywhy.values import FrozenDict, FrozenList, raw, thaw


class Seen(msgspec.Struct, frozen=True):
    """What the slot held in the round before."""

    count: int = 0
    last: str = ""
    """Hash of the last message."""
    sources: Sources = {}

    @classmethod
    def from_value(cls, value: Any) -> Seen:
        """The figures as the state holds them; none where it does not."""
        tree: Any = thaw(raw(value))
        return cls(tree["count"], tree["last"], tree["sources"]) if tree else cls()

    def to_value(self) -> FrozenDict:
        """The figures as the state holds them."""
        return FrozenDict({"count": self.count, "last": self.last, "sources": self.sources})


def account(
    messages: FrozenList, seen: Seen, salt: Salt | None, evidence: dict[str, Any] | None = None
) -> tuple[list[InjectionRecord], Seen]:
    """The records of what is new, and the figures with it counted in.

    `evidence` has more to say about a message, by its mark.
    """
    items = messages.raw
    start = seen.count if _has_grown(items, seen, salt) else 0
    end = len(items)
    records = [
        message_record(
            items[at],
            at,
            latest=at == end - 1,
            salt=salt,
            **(evidence or {}).get(str(items[at].get("injected", "")), {}),
        )
        for at in range(start, end)
    ]
    sources = counted(
        records, {name: list(one) for name, one in seen.sources.items()} if start else {}
    )
    last = records[-1].content_hash if records else seen.last if start else ""
    return records, Seen(end, last, sources)


def _has_grown(items: Sequence[Any], seen: Seen, salt: Salt | None) -> bool:
    """Whether the list begins with what was recorded, as far as its last message tells."""
    if not seen.count or seen.count > len(items):
        return False
    return content_hash(salt, "message", items[seen.count - 1]) == seen.last


def left_out(before: Sequence[Any], after: Sequence[Any]) -> list[str]:
    """The beginnings of messages that were there before and are not any more."""
    kept = {id(one) for one in after}
    return [summary_of(text_of(one.get("content"))) for one in before if id(one) not in kept]
