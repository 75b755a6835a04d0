"""Whether words hold a sensitive value that nobody keeps any more: by its digest.

A value is forgotten with the flow that asked for it. So that it is masked where a user says it
again, salted digests of it are kept with the conversation, each with the length of its text. That
hides it from a reader and a search, not from somebody who has the store and tries all numbers of
four digits. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import islice
from typing import Final

REMEMBERED: Final = "remembered"
"""Under which name a session keeps the entries."""
MAX_REMEMBERED: Final = 200
"""Digests of one conversation; beyond that the oldest are given up."""
MAX_OF_A_FLOW: Final = 50
"""Texts of one ending: what was answered, and what was made of it first."""
MAX_PARTS: Final = 40
"""Values that are looked for of one answer in words."""
MAX_SCANNED: Final = 20_000
"""Characters of one message that are looked through."""
_SHORTEST: Final = 6
"""A shorter text is a word that everybody says, unless there is a number in it."""
_SHORTEST_NUMBER: Final = 4
_LONGEST: Final = 200
_NUMBER: Final = re.compile(r"[0-9](?:[ .()/-]?[0-9]){3,}")
_MARKED: Final = re.compile(r"[0-9@]")
_AROUND: Final = ".,;:!?\"'()[]<>"
_DIGITS: Final = "#"
"""Begins the entry of a number, which is compared by its digits alone."""


def numbers_in(text: str) -> list[str]:
    """The longer numbers in a text, also in groups, as people write those of cards."""
    return _NUMBER.findall(text)


def digits_of(number: str) -> str:
    """A number with its digits alone, as a validator makes it."""
    return re.sub(r"[^0-9]", "", number)


def telling_parts(text: str) -> list[str]:
    """What of an answer in words is likely its value: "it is 4711-88, thanks".

    Longer numbers, and what is written in one piece with a digit or an `@` in it.
    """
    scanned = text[:MAX_SCANNED]
    numbers = numbers_in(scanned)
    found = [spelling for one in numbers for spelling in (one, digits_of(one))]
    # of a number in groups no group is a value of its own
    rest = _NUMBER.sub(lambda number: "" if " " in number[0] else number[0], scanned)
    found += [piece.strip(_AROUND) for piece in rest.split() if _MARKED.search(piece)]
    telling = (part for part in found if part != text and is_telling(part))
    return list(islice(dict.fromkeys(telling), MAX_PARTS))


def remembered(texts: Iterable[str], salt: str, known: Sequence[str] = ()) -> list[str]:
    """The entries for these texts besides those that are known, as far as they are kept."""
    fresh: dict[str, None] = {}
    for text in texts:
        if len(fresh) >= MAX_OF_A_FLOW:
            break
        fresh.update(dict.fromkeys(_entries(text.strip(), salt)))
    older = [entry for entry in known if entry not in fresh]
    return [*older, *fresh][-MAX_REMEMBERED:]


def is_telling(text: str) -> bool:
    """Whether a text is none that people say anyway."""
    has_number = any(character.isdigit() for character in text)
    return len(text) >= (_SHORTEST_NUMBER if has_number else _SHORTEST)


def _entries(text: str, salt: str) -> Iterator[str]:
    if not is_telling(text) or len(text) > _LONGEST:
        return
    yield f"{len(text)}:{_digest(text.casefold(), salt)}"
    if _NUMBER.fullmatch(text):
        yield f"{_DIGITS}:{_digest(digits_of(text), salt)}"


def said_again(text: str, salt: str, known: Sequence[str]) -> list[str]:
    """The parts of a message that are among what is remembered."""
    entries = frozenset(known)
    lengths = sorted({int(entry.partition(":")[0]) for entry in entries if entry[0] != _DIGITS})
    found: dict[str, None] = {}
    scanned = text[:MAX_SCANNED]
    for number in numbers_in(scanned):
        if f"{_DIGITS}:{_digest(digits_of(number), salt)}" in entries:
            found.update({number: None, digits_of(number): None})
    for start in _starts(scanned):
        for length in lengths:
            part = scanned[start : start + length]
            if len(part) < length:
                break
            if _is_cut(scanned, start + length):
                continue
            if f"{length}:{_digest(part.casefold(), salt)}" in entries:
                found[part] = None
    return list(found)


def _starts(text: str) -> Iterator[int]:
    """Where in a text a value may begin: anywhere but inside a word."""
    for at, character in enumerate(text):
        if not character.isspace() and not _is_cut(text, at):
            yield at


def _is_cut(text: str, at: int) -> bool:
    """Whether a word goes on across this place."""
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()


def _digest(text: str, salt: str) -> str:
    data = text.encode("utf-8", "surrogatepass")
    return blake2b(data, digest_size=8, key=salt.encode("utf-8", "surrogatepass")[:64]).hexdigest()
