"""Tools that a model can hardly tell apart, because their descriptions say nearly the same."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

ALIKE: Final = 0.5
"""So large a share of the words of two descriptions is the same for them to count as twins."""
_WORD: Final = r"[^\W_]+"
_COMMON: Final = {
    *("a", "an", "and", "by", "for", "from", "in", "is", "it", "its", "of", "on", "or", "that"),
    *("the", "this", "to", "with", "get", "gets", "find", "finds", "fetch", "fetches", "look"),
    *("looks", "up", "read", "reads", "return", "returns", "show", "shows", "give", "gives"),
    *("tell", "tells", "list", "lists", "search", "searches", "retrieve", "retrieves"),
}
"""Words that tell nothing apart, the verbs of asking for something among them."""


def words_of(text: object) -> frozenset[str]:
    """The words of a description that tell something, without endings of plurals and verbs."""
    found = (word.lower() for word in re.findall(_WORD, str(text or "")))
    return frozenset(_stem(word) for word in found if word not in _COMMON)


def _stem(word: str) -> str:
    for ending in ("ing", "es", "ed", "s"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return word[: -len(ending)]
    return word


def alike(one: object, other: object) -> float:
    """From 0 to 1: how much of the words of two texts is the same."""
    left, right = words_of(one), words_of(other)
    return len(left & right) / len(left | right) if left and right else 0.0


def twins_of(name: str, tools: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The other tools offered beside `name` whose descriptions are nearly the same."""
    own = next((one for one in tools if one.get("name") == name), None)
    if own is None:
        return []
    described = own.get("description")
    return [
        one for one in tools if one is not own and alike(described, one.get("description")) >= ALIKE
    ]
