"""What was said: the append-only list of messages of a conversation.

A message's text exists once, here; commits, frames and turns point at it by its number.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from saywhy.errors import CallerError
from saywhy.values import loads_into

Role = Literal["user", "assistant", "system", "tool"]


class Span(msgspec.Struct, frozen=True, array_like=True):
    """A stretch of a message's text and the commit that wrote it."""

    start: int
    end: int
    commit: int


class Message(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One message. `seq` counts from 1 within the conversation.

    Nothing in it can lead back to it, so the garbage collector need not look.
    """

    seq: int
    role: Role
    text: str
    turn: int = 0
    at: float = 0.0
    """When it was taken in or said: milliseconds since 1970."""
    spans: tuple[Span, ...] = ()
    """For a reply: which commit each stretch of the text comes from."""
    content: Any = None
    """The content as the host gave it, where that was an object and not text."""
    step_id: str = ""
    tool_name: str = ""
    metadata: Any = None
    """The host's own data, an object. Not said to be a dict: one of these would lose, on its way
    through JSON, what tells a name like `$date` from a mark of ours."""
    pii: bool = False
    """Whether the text is sensitive: it is kept for resuming, and masked in every record."""


_DECODER: Final = msgspec.json.Decoder(Message)


def read_message(doc: bytes) -> Message:
    """A message as a store keeps it. Raises `CallerError` for what is none."""
    try:
        return loads_into(doc, _DECODER)
    except (ValueError, RecursionError) as error:
        hint = "restore the newest backup of the store"
        raise CallerError(f"this is no message of a conversation: {error}", hint=hint) from error
