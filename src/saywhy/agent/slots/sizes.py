"""How large a message is, in characters and in tokens at a guess."""

from __future__ import annotations

from typing import Any, Final

from saywhy.models.chat import text_of
from saywhy.values import dumps, raw

CHARS_PER_TOKEN: Final = 4
"""A guess that is good enough for budgets; pass a `count` of your model's own for more."""


def chars_of(message: Any) -> int:
    """Characters of a message's text."""
    content = message.get("content")
    return len(content) if type(content) is str else len(text_of(content))


def tokens_of(message: Any) -> int:
    """Tokens of a message at a guess: its text, its blocks and the calls it makes."""
    content = message.get("content")
    size = len(content) if type(content) is str else len(dumps(raw(content)))
    calls = message.get("tool_calls")
    if calls:
        size += len(dumps(raw(calls)))
    return -(-size // CHARS_PER_TOKEN)


def tokens_in(text: str) -> int:
    """Tokens of a text at a guess."""
    return -(-len(text) // CHARS_PER_TOKEN)
