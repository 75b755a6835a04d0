"""Universal commands: the words that cancel, explain or show a flow, in each language.

What they do to a conversation is left to `turn`, what is offered to `offers`.
spec: flow-engine 5.7
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from saywhy.errors import CallerError, did_you_mean
from saywhy.flows.languages import USUAL, canonical, is_tag, nearest
from saywhy.flows.wording import de, en, es, fr, pt
from saywhy.flows.wording.words import Words

ORDER: Final = ("cancel", "help", "status", "switch", "continue")
NOUN: Final = "flow"
"""The key under which a host adds words for "flow"."""


def _beside_english(words: Words) -> Words:
    """A language whose users have always been able to say the English words, and still can."""
    commands = {name: (*words.commands[name], *en.WORDS.commands[name]) for name in ORDER}
    return words._replace(commands=commands)


WORDS: Final[Mapping[str, Words]] = {
    "en": en.WORDS,
    "es": es.WORDS,
    "pt": _beside_english(pt.WORDS),
    "fr": _beside_english(fr.WORDS),
    "de": _beside_english(de.WORDS),
}
_EXAMPLE: Final = 'command_words={"it": {"cancel": ["annulla"], "flow": ["flusso"]}}'


class CommandWords:
    """The words of one engine, ours with what a host adds or replaces.

    `{"es": {"cancel": ["anular"]}}` adds a word, `{"es": {"cancel": {"only": ["anular"]}}}`
    replaces ours; `flow` adds what a flow is called. A language that is new begins with the
    English words. Raises `CallerError` for anything else.
    """

    def __init__(self, given: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        self._words = dict(WORDS)
        for language, changes in (given or {}).items():
            where = f"command_words: {language!r}"
            if not isinstance(language, str) or not is_tag(language):  # pyright: ignore[reportUnnecessaryIsInstance] - callers
                raise CallerError(f"{where} is no language", hint=_EXAMPLE)
            if not isinstance(changes, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - callers
                kind = type(changes).__name__
                raise CallerError(f"{where} holds words by command, not {kind}", hint=_EXAMPLE)
            self._words[canonical(language)] = _changed(self.words(language), changes, where)

    def words(self, language: str | None) -> Words:
        """The words of a language, or of the one behind a region; else the English ones."""
        for tag in nearest(language):
            if tag in self._words:
                return self._words[tag]
        return self._words[USUAL]

    def has(self, language: str) -> bool:
        """Whether a language has words of its own."""
        return any(tag in self._words for tag in nearest(language))

    def detect(self, text: str, language: str | None, enabled: Collection[str]) -> str | None:
        """The command that `text` is, or None. A sentence counts when it names the flow as well."""
        said = folded(text)
        words = self.words(language)
        for command in ORDER:
            if command in enabled and _says(said, words, command):
                return command
        return None


def folded(text: str) -> str:
    """A text without case, accents and spaces around: `Continúa` and `continua` are alike."""
    bare = text.strip().casefold()
    if bare.isascii():
        return bare
    split = unicodedata.normalize("NFD", bare)
    return unicodedata.normalize("NFC", "".join(c for c in split if not unicodedata.combining(c)))


def _says(said: str, words: Words, command: str) -> bool:
    alone, beside = _patterns(words.commands[command], words.nouns, words.noun_may_lead)
    return said in alone or beside.search(said) is not None


@lru_cache(maxsize=512)  # one pattern a command and language
def _patterns(
    synonyms: tuple[str, ...], nouns: tuple[str, ...], noun_may_lead: bool
) -> tuple[frozenset[str], re.Pattern[str]]:
    """The words alone, and beside a word for "flow", as whole words: no "cancel flowers"."""
    alone = frozenset(map(folded, synonyms))
    word, noun = "|".join(map(re.escape, alone)), "|".join(map(re.escape, map(folded, nouns)))
    both = rf"(?:{word}) (?:{noun})"
    if noun_may_lead:
        both += rf"|(?:{noun}) (?:{word})"
    return alone, re.compile(rf"(?<![^\W_])(?:{both})(?![^\W_])")


def _changed(words: Words, changes: Mapping[str, Any], where: str) -> Words:
    commands, nouns = dict(words.commands), words.nouns
    for name, given in changes.items():
        if name == NOUN:
            nouns = (*nouns, *_texts(given, f"{where}, {name!r}"))
        elif name in ORDER:
            only = isinstance(given, Mapping)
            if only and set(given) != {"only"}:
                hint = '{"only": ["anular"]} replaces the words, a list adds to them'
                raise CallerError(f"{where}, {name!r}: an object has the key only", hint=hint)
            added = _texts(given["only"] if only else given, f"{where}, {name!r}")
            commands[name] = added if only else (*commands[name], *added)
        else:
            known = (*ORDER, NOUN)
            hint = did_you_mean(str(name), known) or f"there are {', '.join(known)}"
            raise CallerError(f"{where}: no command is called {name!r}", hint=hint)
    return Words(commands, nouns, words.noun_may_lead)


def _texts(given: Any, where: str) -> tuple[str, ...]:
    is_list = isinstance(given, Iterable) and not isinstance(given, str | Mapping)
    texts: tuple[Any, ...] = tuple(given) if is_list else ()
    if not texts:
        raise CallerError(f"{where} is a list of words, not {given!r:.40}", hint=_EXAMPLE)
    for text in texts:
        if not isinstance(text, str) or not text.strip():
            raise CallerError(f"{where}: a word is text that is not empty, not {text!r:.40}")
    return texts
