"""What falls due in a conversation that rests: moments, with what to do then.

A turn leaves these behind when it ends, in the same transaction, and the next one that ends says
anew which there are. What a timer means, and who takes it up, is decided by whoever calls.
"""

from __future__ import annotations

import msgspec


class Timer(msgspec.Struct, frozen=True):
    """Something that falls due, in milliseconds since 1970."""

    due_ms: float
    payload: bytes


class StoredTimer(msgspec.Struct, frozen=True):
    """A timer with the conversation it belongs to. No id is ever given twice."""

    timer_id: int
    session_id: str
    user_id: str
    due_ms: float
    payload: bytes
