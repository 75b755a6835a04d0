"""Whether two paths lead to the same place, where one of them does not count the items of lists;
and what stands there.

What is declared of a list is meant of every item: `people.ssn` of a tool's answer. A step reads
and writes one item: `people.0.ssn`. A number in an author's path is a text, in a step's it is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from saywhy.trace.masking.declared import Spot
from saywhy.values import UNDEFINED, Key, raw

_WORDS: Final = (("userInput",), ("lastUserInput",))
"""How paths begin that lead to what the user said."""
_CONTEXT: Final = ("currentContext",)
"""And to all variables at once."""


def beyond(known: Key, key: Key) -> Spot | None:
    """What is left of a known path behind `key`: nothing where `key` is at it or inside it.

    None where the two paths part.
    """
    if key[: len(known)] == known:  # nearly all of them
        return ()
    at = 0
    for part in key:
        if at == len(known):
            return ()
        if known[at] == part or (isinstance(part, int) and known[at] == str(part)):
            at += 1
        elif not isinstance(part, int):
            return None
    return known[at:]


def meet(known: Key, key: Key) -> bool:
    """Whether what stands at `key` is at the known place, in it or around it."""
    return beyond(known, key) is not None


def index_of(part: str | int) -> int | None:
    """Which item of a list a part of a path names; None where it is meant of every item."""
    if isinstance(part, int):
        return part
    return int(part) if part.isascii() and part.isdecimal() else None


def found_at(value: Any, spot: Spot) -> Any:
    """What stands at a place in a value; where a list is on the way, a list of what each item has.

    None for what is not there.
    """
    inside = raw(value)
    if not spot:
        return inside
    if isinstance(inside, list | tuple):
        at = index_of(spot[0])
        if at is not None:
            return found_at(inside[at], spot[1:]) if at < len(inside) else None
        return [found_at(item, spot) for item in inside]
    if not isinstance(inside, Mapping) or spot[0] not in inside:
        return None
    return found_at(inside[spot[0]], spot[1:])  # pyright: ignore[reportUnknownArgumentType]


def places_but(value: Any, spots: tuple[Spot, ...], key: Key) -> Iterator[Key]:
    """The places in a value at `key` that are none of the spots, around them or in them."""
    if () in spots:
        return
    inside = raw(value)
    if spots and isinstance(inside, list | tuple):
        for item in inside:
            yield from places_but(item, spots, key)
    elif spots and isinstance(inside, Mapping):
        for name, item in inside.items():
            within = inner(spots, name)
            yield from places_but(item, within, (*key, name)) if within else ((*key, name),)
    else:
        yield key


def inner(spots: tuple[Spot, ...], name: str) -> tuple[Spot, ...]:
    """What is left of the spots in a field; empty where none leads there."""
    return tuple(spot[1:] for spot in spots if spot and spot[0] == name)


def is_something(found: Any) -> bool:
    """Whether anything stands where a value is declared; of a list, for one of its items."""
    if isinstance(found, list):
        return any(map(is_something, found))  # pyright: ignore[reportUnknownArgumentType]
    return found is not None and found is not UNDEFINED


def of_one_value(path: Key, key: Key) -> bool:
    """Whether a path in a text of the author's and a place in the state may be of one value."""
    if path[:1] == ("cargo",):
        return meet(path, key)
    if path[:1] in _WORDS:
        return key[:1] == ("input",)
    return path[:1] == _CONTEXT or meet(path, key[1:])
