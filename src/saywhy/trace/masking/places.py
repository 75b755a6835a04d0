"""Whether two paths lead to the same place, where one of them does not count the items of lists.

What is declared of a list is meant of every item: `people.ssn` of a tool's answer. A step reads
and writes one item: `people.0.ssn`. A number in an author's path is a text, in a step's it is none.
"""

from __future__ import annotations

from saywhy.trace.masking.declared import Spot
from saywhy.values import Key


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
