"""How many tokens an ask may cost, before anybody knows: a guess for a limit, never for a bill."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from saywhy.models.provider import Ask

CHARACTERS_PER_TOKEN: Final = 4
_MEDIA_TOKENS: Final = 1_000
"""For an image, whose data are long while the model sees little of that length."""


def tokens_asked(ask: Ask) -> int:
    """Tokens of what is sent, by its length, and those that the answer may have at most."""
    length = len(ask.system or "") + len(ask.schema or "")
    length += sum(_length(message) for message in ask.messages)
    length += sum(_length(tool) for tool in ask.tools or ())
    most = ask.settings.get("max_tokens")
    answer = most if isinstance(most, int) and not isinstance(most, bool) else 0
    return -(-length // CHARACTERS_PER_TOKEN) + max(0, answer)


def _length(value: Any) -> int:
    """Characters of all texts and keys in a value, roughly what its JSON has."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        if value.get("type") == "image":
            return _MEDIA_TOKENS * CHARACTERS_PER_TOKEN
        return sum(len(key) + _length(item) for key, item in value.items())
    if isinstance(value, Sequence):
        return sum(_length(item) for item in value)
    return 4 if value is not None else 0
