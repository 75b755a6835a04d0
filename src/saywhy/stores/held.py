"""A turn that stands still until somebody can go on with it: what a store tells of it.

Its runtime or its flows are gone, so whoever would go on could only guess. Why a turn is held, and
when it may go on, is decided by whoever calls; a store keeps it out of every claim meanwhile.
"""

from __future__ import annotations

from typing import Final

import msgspec

HELD_UNTIL: Final = 2**62
"""The end of the lease of a conversation whose turn is held, in milliseconds: never. So whatever
looks for a lease that is over passes it by, and messages queue up behind the turn."""


class StoredHeld(msgspec.Struct, frozen=True):
    """One held turn; a conversation has at most one.

    `why` is what `hold` was told, `turn_doc` what was saved with the newest intent, `released` what
    was noted when it was released before, None if it never was.
    """

    session_id: str
    user_id: str
    turn_no: int
    message_id: str
    since_ms: float
    why: str
    turn_doc: bytes | None
    released: str | None
