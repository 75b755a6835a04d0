"""The library's own sentences, by language and id.

A host's registry replaces ours for a language it has; an id it lacks is said in English: the
host's, else ours. What the sentences are stands in `wording`. spec: flow-engine 10.1
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from saywhy.errors import CallerError
from saywhy.expr.numbers import value_text
from saywhy.flows.languages import USUAL, canonical, is_tag, nearest
from saywhy.flows.wording import de, en, es, fr, pt
from saywhy.values import UNDEFINED

BUILT_IN: Final[Mapping[str, Mapping[str, str]]] = {
    "en": en.SENTENCES,
    "es": es.SENTENCES,
    "pt": pt.SENTENCES,
    "fr": fr.SENTENCES,
    "de": de.SENTENCES,
}

OF_AGENTS: Final = ("(fallback)", "(ask a person)")
"""Flows that agents have, which no author has named."""

_PLACEHOLDER: Final = re.compile(r"(\{\{\s*\w+\s*\}\})")
MOST_SPLIT: Final = 1_000
"""Sentences in a language that are kept split at their placeholders."""


class Phrases:
    """Sentences in the languages of one engine.

    Raises `CallerError` for a registry that is not texts by language and id.
    """

    def __init__(self, registry: Mapping[str, Mapping[str, str]] | None = None) -> None:
        self.given: Final = _checked(registry or {})
        """The host's own sentences, by the usual spelling of their language."""
        self._texts: dict[str, Mapping[str, str]] = {**BUILT_IN, **self.given}
        self._split: dict[tuple[str, str | None], list[str]] = {}

    def say(self, phrase: str, language: str | None, **values: Any) -> str:
        """The sentence `phrase`; a placeholder whose value is empty stays as it is written."""
        parts = self._split.get((phrase, language))
        if parts is None:
            if len(self._split) >= MOST_SPLIT:  # names of languages come from outside
                self._split.clear()
            parts = _PLACEHOLDER.split(self._text(phrase, language))
            self._split[phrase, language] = parts
        if len(parts) == 1:
            return parts[0]
        said = parts[:]
        # Every second part is a placeholder, and within it the name.
        for at in range(1, len(parts), 2):
            value = values.get(parts[at].strip("{}").strip())
            if value in OF_AGENTS:
                name = self.named(value, language)
                said[at] = _capital(name) if at == 1 and not parts[0] else name
            elif not _is_empty(value):
                said[at] = value if type(value) is str else value_text(value)
        return "".join(said)

    def named(self, flow: str, language: str | None) -> str:
        """What users are shown as the name of a flow: words for those that agents have."""
        return self._text("flow_of_agent", language) if flow in OF_AGENTS else flow

    def speaks(self, language: str) -> bool:
        """Whether there are sentences for a language, or for the one behind a region."""
        return any(tag in self._texts for tag in nearest(language))

    def lacks(self, language: str) -> tuple[str, ...]:
        """The sentences that are said in English for want of one in this language."""
        tags = [tag for tag in nearest(language) if tag in self._texts]
        known = {phrase for tag in tags for phrase in self._texts[tag]}
        return tuple(phrase for phrase in BUILT_IN[USUAL] if phrase not in known)

    def _text(self, phrase: str, language: str | None) -> str:
        for tag in (*nearest(language), USUAL):
            texts = self._texts.get(tag)
            if texts is not None and phrase in texts:
                return texts[phrase]
        return BUILT_IN[USUAL].get(phrase, phrase)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _is_empty(value: Any) -> bool:
    """Nothing that can be said. Zero can: no steps remaining is said with a number."""
    return value is None or value is UNDEFINED or value is False or value == ""


def _checked(registry: Mapping[str, Mapping[str, str]]) -> dict[str, Mapping[str, str]]:
    """The registry under the usual spelling of its languages."""
    example = 'messages={"es": {"flow_completed_generic": "Listo."}}'
    checked: dict[str, Mapping[str, str]] = {}
    if not isinstance(registry, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - callers
        kind = type(registry).__name__
        raise CallerError(f"messages holds texts by language and id, not {kind}", hint=example)
    for language, texts in registry.items():
        if not isinstance(language, str) or not is_tag(language):  # pyright: ignore[reportUnnecessaryIsInstance] - callers
            raise CallerError(f'messages: "{language}" is no language', hint=example)
        if not isinstance(texts, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - callers
            kind = type(texts).__name__
            message = f'messages: "{language}" holds texts by id, not {kind}'
            raise CallerError(message, hint=example)
        for phrase, text in texts.items():
            if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance] - callers
                kind = type(text).__name__
                raise CallerError(f'messages: "{phrase}" in {language} is a text, not {kind}')
        checked[canonical(language)] = texts
    return checked
