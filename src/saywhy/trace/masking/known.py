"""The places of one conversation that are known to be sensitive, and what of a value they cover.

What makes a place sensitive is answered by `taint`; whether two paths meet by `places`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from saywhy.trace.masking.declared import Spot
from saywhy.trace.masking.places import beyond, meet
from saywhy.values import Key

MAX_KEYS: Final = 2_000
"""Places that are kept exactly; beyond that whole variables are sensitive."""


class KnownPlaces:
    """Each place with whether an author declared it, or it was found to be made of such a one."""

    def __init__(self) -> None:
        self._keys: dict[Key, bool] = {}
        self._roots: dict[Key, list[Key]] = {}

    def __iter__(self) -> Iterator[tuple[Key, bool]]:
        return iter(self._keys.items())

    def add(self, key: Key, *, declared: bool = False) -> bool:
        """Note a place; whether that was not known before."""
        if len(self._keys) >= MAX_KEYS:
            key = key[:2]
        if self._keys.get(key) or (key in self._keys and not declared):
            return False
        self._keys[key] = declared
        self._roots.setdefault(key[:2], [])
        if key not in self._roots[key[:2]]:
            self._roots[key[:2]].append(key)
        return True

    def is_declared(self, key: Key) -> bool:
        """Whether exactly this place was declared."""
        return bool(self._keys.get(key))

    def covers(self, key: Key) -> bool:
        """Whether something sensitive may stand at `key`, in it or around it."""
        if len(key) < 2:
            return any(root[:1] == key for root in self._roots)
        found = self._roots.get(key[:2])
        if not found:
            return False
        return any(meet(one, key) for one in found)

    def spots(self, key: Key) -> tuple[tuple[Spot, bool], ...]:
        """Where in the value at `key`, and whether it was declared so."""
        found = self._roots.get(key[:2], ())
        inside = [(beyond(one, key), self._keys[one]) for one in found]
        around = [is_declared for spot, is_declared in inside if spot == ()]
        if around:
            return (((), any(around)),)
        return tuple((spot, is_declared) for spot, is_declared in inside if spot is not None)
