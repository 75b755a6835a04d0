"""What a conversation keeps of its sensitive places from turn to turn, as `Taint.kept` gave it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from saywhy.trace.masking.declared import Declared
from saywhy.trace.masking.places import meet
from saywhy.values import Key, raw

MAX_WORDS: Final = 50
"""Sensitive messages of the user's that a flow may still be working on."""


def touches(kept: Mapping[str, Any], reads: Iterable[Key]) -> bool:
    """Whether something sensitive may stand at one of these places, by what `Taint.kept` gave."""
    for key in reads:
        for place, _ in kept.get("keys") or ():
            one = tuple(place)
            if key[:1] == one[:1] and meet(one, key):
                return True
    return False


def pruned(
    kept: Mapping[str, Any], declared: Declared, scopes: Iterable[str], queued: Iterable[str]
) -> dict[str, Any]:
    """What a session has to keep when a turn ends: what is about variables that are gone, about
    words long past and about texts that were delivered is not needed any more."""
    alive, texts = {*scopes, "cargo"}, set(queued)
    places = [(tuple(raw(key)), told) for key, told in kept.get("keys") or ()]
    words = [one for one in places if one[0][0] == "input"] if len(alive) > 1 else []
    places = [one for one in places if one[0][0] in alive and one[0] not in declared.paths]
    keys = [[list(key), told] for key, told in [*places, *words[-MAX_WORDS:]]]
    shown = kept.get("shown") or {}
    made = {
        "keys": keys,
        "shown": {text: as_shown for text, as_shown in shown.items() if text in texts},
        "open": kept.get("open"),
        "openers": kept.get("openers") if keys or kept.get("open") else None,
    }
    return {name: raw(one) for name, one in made.items() if one}
