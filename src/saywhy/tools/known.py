"""Whether an argument was given before or made up: the keyword `x-known` of a parameter's schema.

What tools answered and what the host handed over is remembered, and an argument that must be known
has to be among it. Only marks are kept, salted hashes of texts and numbers, and no more than
`MAX_GIVEN` of them: the oldest are forgotten. What is noted when is `flows.given`'s, and where a
definition may have the keyword `check_known`'s.
"""

from __future__ import annotations

import math
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from itertools import islice
from typing import Any, Final, Self

import msgspec

from saywhy.expr.numbers import value_text
from saywhy.tools.schema import path_text
from saywhy.values import BigInt, raw

KEYWORD: Final = "x-known"
OR_SAID: Final = "or-said"
"""The value of the keyword with which the user's own words count as well."""

MAX_GIVEN: Final = 2_000
"""Texts and numbers of tools and the host that a conversation remembers."""
MAX_SAID: Final = 500
"""Likewise of the user."""
MAX_AT_ONCE: Final = 20_000
"""How many of one answer are looked at."""
LONGEST: Final = 256
"""A longer text is no identifier."""

_MARK_BYTES: Final = 6
_MARK: Final = 8
"""Letters of a mark: base64 of its bytes."""
_AROUND_WORDS: Final = "\"'.,;:!?()[]{}<>«»“”„’‘…¿¡"
_DIGITS: Final = re.compile(r"\D+")

EACH: Final = "*"
"""The step of a path that leads to every item of a list."""


class Spot(msgspec.Struct, frozen=True):
    """A place among the arguments whose value must be known."""

    path: tuple[str, ...]
    said: bool = False


class Known(msgspec.Struct, frozen=True):
    """What a conversation remembers of what it was given; a value, to be stored with it."""

    salt: str
    given: str = ""
    """Marks, oldest first, one after the other."""
    said: str = ""
    forgot_given: bool = False
    forgot_said: bool = False
    constants: Any = None
    """Values that count as given all the time, the host's globals; not stored."""

    @classmethod
    def of(cls, value: Any) -> Self:
        """What `to_value` gave."""
        return cls(**dict(raw(value)))

    def to_value(self) -> dict[str, Any]:
        """As plain data."""
        tree = msgspec.structs.asdict(self)
        del tree["constants"]
        return tree

    def with_given(self, value: Any) -> Self:
        """With every text and number inside a value that a tool or the host gave."""
        texts = list(islice(texts_in(value), MAX_AT_ONCE + 1))
        given, forgot = self._added(self.given, texts[:MAX_AT_ONCE], MAX_GIVEN)
        forgot = forgot or len(texts) > MAX_AT_ONCE or self.forgot_given
        return msgspec.structs.replace(self, given=given, forgot_given=forgot)

    def with_said(self, text: str) -> Self:
        """With what the user wrote: the whole of it, its words, and its digits in a row."""
        said, forgot = self._added(self.said, _said_in(text), MAX_SAID)
        return msgspec.structs.replace(self, said=said, forgot_said=forgot or self.forgot_said)

    def holds(self, value: Any, *, said: bool = False) -> bool:
        """Whether a value was given before; with `said` the user may have given it."""
        text = text_of(value)
        if text is None:
            return False
        mark = self._mark(text)
        return mark in _marks(self.given) or (said and mark in _marks(self.said))

    def _added(self, held: str, texts: Iterable[str], most: int) -> tuple[str, bool]:
        """The marks with those of some texts as the newest, and whether any was forgotten."""
        fresh = dict.fromkeys(map(self._mark, texts))
        marks = [*(mark for mark in _marks(held) if mark not in fresh), *fresh]
        return "".join(marks[-most:]), len(marks) > most

    def _mark(self, text: str) -> str:
        data = text.encode("utf-8", "surrogatepass")
        digest = blake2b(data, digest_size=_MARK_BYTES, key=self.salt.encode()).digest()
        return b64encode(digest).decode()


NOTHING: Final = Known("nothing")
"""The memory of whoever was given nothing: every argument that must be known is refused."""


def spots_of(schema: Mapping[str, Any], path: tuple[str, ...] = ()) -> tuple[Spot, ...]:
    """The places whose values must be known, in a checked schema."""
    found: list[Spot] = []
    value = schema.get(KEYWORD)
    if path and (value is True or value == OR_SAID):
        found.append(Spot(path, value == OR_SAID))
    properties = schema.get("properties")
    inner = dict(properties) if isinstance(properties, Mapping) else {}
    items = schema.get("items")
    if path and isinstance(items, Mapping):
        inner[EACH] = items
    for name, part in inner.items():
        if isinstance(part, Mapping):
            found += spots_of(part, (*path, name))
    return tuple(found)


def unknown_in(spots: Iterable[Spot], arguments: Any, known: Known) -> list[str]:
    """What of the arguments was made up, each as `<path> <message>`; no value is quoted."""
    found: list[str] = []
    for spot in spots:
        for path, value in _at(arguments, spot.path, ()):
            text = text_of(value)
            is_constant = text is not None and text in texts_in(known.constants)
            if not is_constant and not known.holds(value, said=spot.said):
                found.append(f"{path_text(path)} {_told(spot, known)}")
    return found


def _told(spot: Spot, known: Known) -> str:
    who = "a tool, the host or the user" if spot.said else "a tool or the host"
    if known.forgot_given or (spot.said and known.forgot_said):
        return f"is not among what {who} gave last; what was given long ago is forgotten"
    return f"must be a value that {who} gave before in this conversation"


def _at(
    value: Any, path: tuple[str, ...], gone: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """The values at a path with where each is; what is not there, or null, is nobody's claim."""
    if not path:
        if value is not None:
            yield gone, value
    elif path[0] == EACH:
        for number, item in enumerate(value if isinstance(value, list) else ()):
            yield from _at(item, path[1:], (*gone, number))
    elif isinstance(value, Mapping) and path[0] in value:
        yield from _at(value[path[0]], path[1:], (*gone, path[0]))


def texts_in(value: Any) -> Iterator[str]:
    """Every text and number inside a value, as text. Names of fields are none of them."""
    value = raw(value)
    if isinstance(value, Mapping):
        for item in value.values():
            yield from texts_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts_in(item)
    else:
        text = text_of(value)
        if text is not None:
            yield text


def text_of(value: Any) -> str | None:
    """A text or number as it is compared: 7, 7.0 and "7" are one. None for anything else."""
    if isinstance(value, str):
        return value if 0 < len(value) <= LONGEST else None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, int | float | BigInt) and not isinstance(value, bool):
        return value_text(value)
    return None


def _marks(held: str) -> dict[str, None]:
    return dict.fromkeys(held[at : at + _MARK] for at in range(0, len(held), _MARK))


def _said_in(text: str) -> Iterator[str]:
    words = [word.strip(_AROUND_WORDS) for word in text.split()]
    for one in (text.strip(), *words, _DIGITS.sub("", text)):
        if 0 < len(one) <= LONGEST:
            yield one


__all__ = ["EACH", "KEYWORD", "NOTHING", "OR_SAID", "Known", "Spot", "spots_of", "unknown_in"]
