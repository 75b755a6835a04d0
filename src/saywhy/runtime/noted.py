"""Which decisions of people a store has taken in whose turn has not ended: noted, not yet followed.

What is listed as open until then is `waiting`'s; how a flow goes on with one is `flows.decisions`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from saywhy.runtime.entry import Entry
from saywhy.stores.store import Store, StoredTurn

SIGN: Final = "(decided)"
PENDING: Final = frozenset({"queued", "running", "held"})
PAGE: Final = 500
TOLD: Final = ("how", "by", "at")


def message_of(record: Mapping[str, Any]) -> str:
    """The message id of a decision: the same for all who decide about one call."""
    return f"{SIGN} {record['id']} {record['seq']}"


async def noted_in(store: Store, session_id: str) -> dict[str, dict[str, Any]]:
    """The decisions noted in a conversation, by `message_of`: `how`, `at` and, if told, `by`."""
    stored = await store.session(session_id)
    if stored is None or not stored.running:  # most do not, and have long histories
        return {}
    found: dict[str, dict[str, Any]] = {}
    after = stored.turn_no
    while after:
        after = max(0, after - PAGE)
        turns = await store.turns(session_id, after=after, limit=PAGE)
        found |= {turn.message_id: word for turn in turns if (word := _word(turn))}
        if not turns or turns[0].status not in PENDING:
            break  # turns end in order: those before have ended too
    return found


def _word(turn: StoredTurn) -> dict[str, Any] | None:
    is_noted = turn.status in PENDING and turn.message_id.startswith(SIGN)
    decision = Entry.from_json(turn.input).decision if is_noted and turn.input else None
    return decision and {name: decision[name] for name in TOLD if decision.get(name) is not None}
