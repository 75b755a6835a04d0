"""What conversations wait for that no message brings: people who settle or approve a call.

A turn leaves these behind when it ends; a store lists them over all conversations. What they mean,
and what is done about them, is decided by whoever calls.
"""

from __future__ import annotations

import msgspec


class Waiting(msgspec.Struct, frozen=True):
    """One thing that is waited for. `waiting_id` is the conversation's own name for it."""

    waiting_id: str
    kind: str
    doc: bytes


class StoredWaiting(msgspec.Struct, frozen=True):
    """The same with the conversation it belongs to and the turn that left it behind.

    `number` grows from one to the next: list from there on.
    """

    number: int
    session_id: str
    user_id: str
    turn_no: int
    waiting_id: str
    kind: str
    doc: bytes
