"""The sentences of a narrative, in a language: ours, or the host's own in their place.

A host writes its own into the `messages` of its engine, under `story_` and the id: `{"es":
{"story_said": "Dijo {{texts}}."}}`. What it lacks in a language is ours, and what we lack is
English. What the sentences are stands in `wording`. Names, values, what a model or a tool said, and
reasons that stand in the record are told as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from saywhy.errors import CallerError, did_you_mean
from saywhy.trace.wording import de, en, es

USUAL: Final = "en"
SENTENCES: Final[Mapping[str, Mapping[str, str]]] = {
    "en": en.SENTENCES,
    "es": es.SENTENCES,
    "de": de.SENTENCES,
}
PREFIX: Final = "story_"
"""Before the id of a sentence where it stands among the other sentences of a host."""

Registry = Mapping[str, Mapping[str, str]]
_HOLE: Final = re.compile(r"\{\{\s*(\w+)\s*\}\}")


class Wording:
    """The sentences of one language. `say("said", texts=…)` gives one of them.

    Raises `CallerError` for a language that neither we nor the host have sentences for.
    """

    __slots__ = ("_texts", "language")

    def __init__(self, language: str | None = None, own: Registry | None = None) -> None:
        self.language: Final = language or USUAL
        given = _own(own or {})
        tags = _nearest(self.language)
        known = {*SENTENCES, *given}
        if not any(tag in known for tag in tags):
            hint = did_you_mean(self.language, sorted(known))
            hint = hint or f"there are {', '.join(sorted(known))}; `messages` may hold others"
            raise CallerError(f'there is no narrative in "{self.language}"', hint=hint)
        texts: dict[str, str] = {}
        for tag in (USUAL, *reversed(tags)):
            texts |= SENTENCES.get(tag, {})
            texts |= given.get(tag, {})
        self._texts = {phrase: _format(phrase, text) for phrase, text in texts.items()}

    def __call__(self, phrase: str, **values: Any) -> str:
        """The sentence with its values."""
        return self._texts[phrase] % values

    def has(self, phrase: str) -> bool:
        """Whether there is a sentence of this id."""
        return phrase in self._texts

    def count(self, noun: str, number: int, **values: Any) -> str:
        """`1 item`, `3 items`: of a noun that stands in the table as `_one` and `_many`."""
        form = "one" if number == 1 else "many"
        return self(f"{noun}_{form}", n=f"{number:,}", **values)

    def listed(self, names: Iterable[str], most: int = 6) -> str:
        """`a, b and c`; the rest of a long list is counted."""
        listed = list(names)
        if len(listed) > most:
            return self("and_more", first=", ".join(listed[:most]), n=len(listed) - most)
        if len(listed) < 2:
            return "".join(listed)
        return self("and", first=", ".join(listed[:-1]), second=listed[-1])


@lru_cache(maxsize=8)
def usual(language: str | None = None) -> Wording:
    """The sentences of a language without any of a host's."""
    return Wording(language)


def wording(language: str | None, own: Registry | None) -> Wording:
    """The sentences of a language, those of the host in front."""
    return Wording(language, own) if own else usual(language)


def _own(registry: Registry) -> dict[str, dict[str, str]]:
    """The host's sentences about stories, by language."""
    found: dict[str, dict[str, str]] = {}
    for language, texts in registry.items():
        told = {
            phrase.removeprefix(PREFIX): text
            for phrase, text in texts.items()
            if phrase.startswith(PREFIX) and phrase.removeprefix(PREFIX) in en.SENTENCES
        }
        if told:
            found[_spelled(language)] = told
    return found


def holes_in(text: str) -> frozenset[str]:
    """The names of the values that a sentence has room for."""
    return frozenset(_HOLE.findall(text))


def _format(phrase: str, text: str) -> str:
    """The sentence for `%`, which is the fastest way to fill it in.

    A place for a value that is not known stays as written.
    """
    known = holes_in(en.SENTENCES[phrase])
    parts = _HOLE.split(text)
    for at, part in enumerate(parts):
        if at % 2:
            parts[at] = f"%({part})s" if part in known else f"{{{{{part}}}}}"
        else:
            parts[at] = part.replace("%", "%%")
    return "".join(parts)


def _spelled(tag: str) -> str:
    return tag.strip().replace("_", "-").lower()


def _nearest(tag: str) -> list[str]:
    """A language and the broader ones behind it: `es-mx`, then `es`."""
    parts = _spelled(tag).split("-")
    return ["-".join(parts[:count]) for count in range(len(parts), 0, -1)]


ENGLISH: Final = usual()
