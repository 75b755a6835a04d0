"""What a conversation said and left on record, in a form in which two of them can be compared.

Times, made-up ids, the conversation's own id, the marks of its turns and what is salted with them
(receipts) differ from one to the next and are taken out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from saywhy.runtime.engine import Engine
from saywhy.values import dumps, loads_raw

_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_MARK: Final = re.compile(r"\b[0-9a-f]{12}\b")
_SALTED: Final = re.compile(r"\b[0-9a-f]{18,64}\b")
_RECEIPT: Final = frozenset({"call", "iteration", "step", "root"})
"""Keys of a receipt, whose digests are salted with the run."""
_OF_THE_CLOCK: Final = frozenset({"at", "latencyMs"})
_SINCE_2020_MS: Final = 1_577_836_800_000
_USERS: Final = re.compile(r"m\d+")
_RESTS: Final = re.compile("not known yet whether|has to be approved first")
"""What the user is told of a call that waits for somebody to settle or to approve it."""


@dataclass(frozen=True, slots=True)
class Played:
    """One conversation: what it said, and how it came about."""

    replies: tuple[tuple[bool, str | None], ...] = ()
    """What it said, turn by turn, and whether the user had said something."""
    trace: tuple[Any, ...] = ()

    @property
    def words(self) -> tuple[str | None, ...]:
        """The replies to the user."""
        return tuple(text for is_answer, text in self.replies if is_answer)

    @property
    def settled(self) -> tuple[str | None, ...]:
        """What it said when it went on after somebody had settled or approved a call."""
        return tuple(text for is_answer, text in self.replies if not is_answer)

    @property
    def final_words(self) -> tuple[str | None, ...]:
        """The replies, with what came of a call in the place of its being waited for."""
        return tuple(
            self._what_came_after(turn) if _RESTS.search(text or "") else text
            for turn, (is_answer, text) in enumerate(self.replies)
            if is_answer
        )

    def _what_came_after(self, turn: int) -> str | None:
        """The last of the decisions that were next: several people may have to decide of a call."""
        came = self.replies[turn][1]
        for is_answer, text in self.replies[turn + 1 :]:
            if not is_answer:
                came = text
            elif not _RESTS.search(text or ""):
                break
        return came


def is_users(message_id: str) -> bool:
    """Whether a turn was begun by the user, and not by a person who decided something."""
    return _USERS.fullmatch(message_id) is not None


async def played(engine: Engine, session_id: str) -> Played:
    """The conversation as the store has it."""
    assert engine.store is not None
    turns = await engine.store.turns(session_id)
    if not turns:
        return Played()
    trace = await engine.trace(session_id)
    rows = await engine.store.messages(session_id)
    texts = {row.turn_no: text for row in rows if (text := _said(row.doc)) is not None}
    steps: list[Any] = [*trace, *trace.messages()]
    return Played(
        tuple((is_users(turn.message_id), texts.get(turn.turn_no)) for turn in turns),
        tuple(_timeless(loads_raw(dumps(step)), session_id) for step in steps),
    )


def _said(message: bytes) -> str | None:
    tree = loads_raw(message)
    return tree["text"] if tree["role"] == "assistant" else None


def _timeless(tree: Any, session_id: str) -> Any:
    if isinstance(tree, dict):
        if tree.keys() >= _RECEIPT:
            return f"(receipt of {tree['step']})"
        kept = {key: value for key, value in tree.items() if key not in _OF_THE_CLOCK}
        return {key: _timeless(value, session_id) for key, value in kept.items()}
    if isinstance(tree, list):
        return [_timeless(value, session_id) for value in tree]
    if isinstance(tree, str):
        text = _UUID.sub("(id)", tree).replace(session_id, "(session)")
        return _SALTED.sub("(salted)", _MARK.sub("(mark)", text))
    is_time = isinstance(tree, int | float) and tree > _SINCE_2020_MS
    return "(time)" if is_time else tree


__all__ = ["Played", "is_users", "played"]
