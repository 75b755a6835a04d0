"""Universal commands: the words that cancel, explain or show a flow, in each language.

What they do to a conversation is left to `turn`, what is offered to `offers`.
spec: flow-engine 5.7
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, NamedTuple

from saywhy.errors import CallerError, did_you_mean
from saywhy.flows.languages import USUAL, canonical, is_tag, nearest
from saywhy.flows.wording import de, en, es, fr, pt
from saywhy.flows.wording.words import Words

ORDER: Final = ("cancel", "help", "status", "switch", "continue")
MOST_KNOWN: Final = 100
"""Languages kept ready: a session may name any that it likes."""
NOUN: Final = "flow"
AROUND: Final = " .!¡"
"""What may stand around a command: a call that is written down by a machine ends in a full stop."""
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
        self._known: dict[str | None, _Known] = {}
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
        return self._words[self._tag(language)]

    def _tag(self, language: str | None) -> str:
        for tag in nearest(language):
            if tag in self._words:
                return tag
        return USUAL

    def _ready(self, language: str | None) -> _Known:
        """The words of a language as `detect` wants them, under that name from here on."""
        tag = self._tag(language)
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        known = self._known.get(tag) or _known_of(self._words[tag])
        self._known[tag] = self._known[language] = known
        return known

    def has(self, language: str) -> bool:
        """Whether a language has words of its own."""
        return any(tag in self._words for tag in nearest(language))

    def detect(self, text: str, language: str | None, enabled: Collection[str]) -> str | None:
        """The command that `text` is, or None. A sentence counts when it names the flow as well."""
        said = folded(text).strip(AROUND)
        known = self._known.get(language)
        if known is None:
            known = self._ready(language)
        # One quick look for all: most answers are no commands, and each turn asks.
        names_flow = known.nouns.search(said) is not None
        if not names_flow and said not in known.alone:
            return None
        for command, alone, beside in known.commands:
            if command in enabled and (said in alone or (names_flow and beside.search(said))):
                return command
        return None


def folded(text: str) -> str:
    """A text without case, accents and spaces around: `Continúa` and `continua` are alike."""
    bare = text.strip().casefold()
    if bare.isascii():
        return bare
    split = unicodedata.normalize("NFD", bare)
    return unicodedata.normalize("NFC", "".join(c for c in split if not unicodedata.combining(c)))


class _Known(NamedTuple):
    """The words of a language, ready to be looked for."""

    nouns: re.Pattern[str]
    """Any word for "flow", wherever it stands."""
    alone: frozenset[str]
    """All words that are a command by themselves."""
    commands: tuple[tuple[str, frozenset[str], re.Pattern[str]], ...]
    """Each command with its words alone, and with them beside a word for "flow"."""


def _known_of(words: Words) -> _Known:
    nouns = tuple(map(folded, words.nouns))
    ready: list[tuple[str, frozenset[str], re.Pattern[str]]] = []
    for command in ORDER:
        alone = frozenset(map(folded, words.commands[command]))
        ready.append((command, alone, _beside(alone, nouns, words.noun_may_lead)))
    every = frozenset[str]().union(*(alone for _, alone, _ in ready))
    return _Known(re.compile("|".join(map(re.escape, nouns))), every, tuple(ready))


def _beside(alone: Iterable[str], nouns: Iterable[str], noun_may_lead: bool) -> re.Pattern[str]:
    """The words beside a word for "flow", as whole words: no "cancel flowers"."""
    word, noun = "|".join(map(re.escape, alone)), "|".join(map(re.escape, nouns))
    both = rf"(?:{word}) (?:{noun})"
    if noun_may_lead:
        both += rf"|(?:{noun}) (?:{word})"
    return re.compile(rf"(?<![^\W_])(?:{both})(?![^\W_])")


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
