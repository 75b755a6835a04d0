"""How messages and commits are numbered in their tables: one number made of two.

The upper half of a row's `id` is the key of its conversation, or its turn, the lower half its own
number there. So a table holds its rows in order without an index, and those of one conversation
or turn are a range. `session_key`, `turn_key` and `seq` can be read as columns; conditions are on
`id`, which alone is looked up.
"""

from __future__ import annotations

from typing import Final

from saywhy.errors import CallerError

MAX_SEQ: Final = 2**32 - 1
"""The highest number of a message or commit in a conversation."""

OF_SESSION: Final = """message.id >= session.session_key << 32
     AND message.id < (session.session_key + 1) << 32"""
"""For a join of messages with their conversation."""

OF_TURN: Final = """"commit".id >= turn.turn_key << 32
     AND "commit".id < (turn.turn_key + 1) << 32"""
"""For a join of commits with their turn."""


def row_id(key: int, seq: int) -> int:
    """The `id` of a row. Raises `CallerError` for a number that is none of a row."""
    if not 0 <= seq <= MAX_SEQ:
        raise CallerError(
            f"messages and commits have numbers from 0 to {MAX_SEQ:,}, and {seq:,} is none of them"
        )
    return (key << 32) + seq
