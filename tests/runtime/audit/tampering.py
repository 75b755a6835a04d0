"""Ways to change a bundle, each with what it should be told by; and a forger who makes it new."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

Lines = list[bytes]
Tampering = Callable[[Lines], Lines]


def at(lines: Lines, kind: str, number: int = 0) -> int:
    """The index of the n-th line of a kind."""
    return [i for i, one in enumerate(lines) if one.startswith(f'{{"{kind}":'.encode())][number]


def with_entry(lines: Lines, index: int, **changes: Any) -> Lines:
    """The lines with some fields of one changed."""
    tree = json.loads(lines[index])
    kind = next(iter(tree))
    tree[kind].update(changes)
    text = json.dumps(tree, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    return [*lines[:index], text, *lines[index + 1 :]]


def replaced(lines: Lines, index: int, old: bytes, new: bytes) -> Lines:
    assert old in lines[index], lines[index]
    return [*lines[:index], lines[index].replace(old, new, 1), *lines[index + 1 :]]


def without(lines: Lines, *indexes: int) -> Lines:
    return [one for i, one in enumerate(lines) if i not in indexes]


def swapped(lines: Lines, one: int, other: int) -> Lines:
    found = list(lines)
    found[one], found[other] = found[other], found[one]
    return found


def sealed(lines: Lines, **counts: int) -> Lines:
    """What a forger would do last: a new seal over what was changed, and counts that fit."""
    seal = blake2b(digest_size=32, person=b"saywhy-seal-1")
    for one in lines[:-1]:
        seal.update(one)
    end = {**json.loads(lines[-1])["end"], **counts, "seal": seal.hexdigest()}
    return [*lines[:-1], json.dumps({"end": end}, separators=(",", ":")).encode() + b"\n"]
