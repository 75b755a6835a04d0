"""Plain forms of a correction, per language: "no, the amount is 80", "el monto es 80, no 50".

A form is a correction only around a name that a variable goes by, and only with a word that
corrects: "the amount is 80" alone may well be the answer to the open question. Authors' own
patterns are tried before these. Which variable is meant in the end is `said`'s to tell.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

MAX_LENGTH: Final = 300
"""Characters of a message that may be a correction; a longer one is a story."""


class Form(NamedTuple):
    """How one language corrects: its words, and the sentences they stand in."""

    lead: str
    """Words that take something back: "no", "actually"."""
    article: str
    sentences: tuple[str, ...]
    """With {lead}, {name} and {value} for what stands there."""
    judging: frozenset[str]
    """What is said of a value and is none: "the amount is wrong"."""


_GAP: Final = r"[\s,.;:!¡-]+"

_ENGLISH: Final = Form(
    r"no|nope|actually|wait|sorry|oops|correction|i mean|i meant|hold on|rather|please",
    r"the|my|our|an?|this|that",
    (
        r"{lead}{name}\s+(?:is|was|are|were|should be|must be|should have been)\s+{value}",
        r"{lead}?{name}\s+(?:should be|should have been|must be)\s+{value}",
        r"{lead}?{name}\s+(?:is|was|are|were)\s+(?P<value>.+?)\s*,?\s+not\s+.+",
        r"{lead}?(?:(?:can|could) you |i want to |i'd like to |i would like to |let's )?"
        r"(?:change|set|correct|update|fix|switch)\s+{name}\s+(?:in)?to\s+{value}",
        r"{lead}?make\s+{name}\s+{value}",
        r"{lead}{name}\s*[:=]\s*{value}",
    ),
    frozenset(
        {"wrong", "incorrect", "right", "correct", "fine", "ok", "okay", "good", "bad", "it"}
    ),
)
_SPANISH: Final = Form(
    r"no|en realidad|perdona?|perdone|disculp[ae]|esper[ae]|corrijo|correccion|mejor dicho|mejor"
    r"|quise decir|queria decir|quiero decir|de hecho|por favor",
    r"el|la|los|las|mis?|sus?|tus?|una?",
    (
        r"{lead}(?:que\s+)?{name}\s+(?:es|era|son|eran|fue|sera|seria|debe ser|debia ser"
        r"|deberia ser|tiene que ser)\s+(?:de\s+(?=[$€£]?\s?\d))?{value}",
        r"{lead}?{name}\s+(?:debe ser|debia ser|deberia ser|tiene que ser)\s+{value}",
        r"{lead}?{name}\s+(?:es|era|son|eran)\s+(?:de\s+(?=[$€£]?\s?\d))?(?P<value>.+?)"
        r"\s*,?\s+(?:y\s+)?no\s+.+",
        r"{lead}?(?:quiero |quisiera |puedes? |podrias? )?"
        r"(?:cambi(?:a|e|ar|ame|eme)|corri[gj](?:e|a)|corregir|actuali[zc](?:a|e|ar)"
        r"|modifi(?:ca|que|car))\s+{name}\s+(?:al?|por|en|para)\s+{value}",
        r"{lead}?(?:pon(?:ga|er|me|le)?|haz|haga)\s+{name}\s+(?:en|a|como)\s+{value}",
        r"{lead}{name}\s*[:=]\s*{value}",
    ),
    frozenset(
        {"incorrecto", "incorrecta", "correcto", "correcta", "mal", "bien", "bueno", "buena"}
    ),
)
FORMS: Final = {"en": _ENGLISH, "es": _SPANISH}

_NOT: Final = {"en": "not", "es": "no"}
_ENDINGS: Final = {"en": "please|thanks|thank you", "es": "por favor|gracias"}


def built_in(text: str, language: str, names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """What a message may correct, in the plain forms of a language: a name and the new value."""
    form = FORMS.get(language)
    if form is None or not names or len(text) > MAX_LENGTH:
        return
    folded = fold(text)
    for pattern in _compiled(language, tuple(fold(name) for name in names)):
        found = pattern.fullmatch(folded)
        if found is None:
            continue
        value = cleaned(text[slice(*found.span("value"))])
        words = fold(value).split()
        if words and words[0] != _NOT[language] and not (set(words) <= form.judging):
            yield found["name"], value


@lru_cache(maxsize=256)  # one for each set of names that were asked for so far
def _compiled(language: str, names: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    form = FORMS[language]
    longest_first = sorted(names, key=len, reverse=True)
    known = "|".join(re.escape(name).replace(r"\ ", r"\s+") for name in longest_first)
    parts = {
        "lead": rf"(?:(?:{form.lead}){_GAP}){{1,4}}",
        "name": rf"(?:(?:{form.article})\s+)?(?P<name>{known})",
        "value": rf"(?P<value>.+?)(?:\s*,\s*{_NOT[language]}\s+.+?)?",
    }
    optional = {**parts, "lead?": rf"(?:{parts['lead']})?"}
    ending = rf"(?:\s*,?\s*(?:{_ENDINGS[language]}))?[\s.!?]*"
    return tuple(
        re.compile(rf"[\s¡¿]*{_filled(sentence, optional)}{ending}", re.DOTALL)
        for sentence in form.sentences
    )


def _filled(sentence: str, parts: dict[str, str]) -> str:
    for name in ("lead", "name", "value"):
        if name == "lead":
            sentence = sentence.replace("{lead}?", parts["lead?"])
        sentence = sentence.replace("{" + name + "}", parts[name])
    return sentence


def fold(text: str) -> str:
    """A text in lower case and without accents, of the same length: places in one are the other's.

    A letter that becomes several, as some do in lower case, stays as it is.
    """
    return "".join(map(_folded, text))


@lru_cache(maxsize=4096)
def _folded(letter: str) -> str:
    plain = unicodedata.normalize("NFD", letter)[:1].lower()
    return plain if len(plain) == 1 else letter


def cleaned(value: str) -> str:
    """A value without the marks around it that belong to the sentence."""
    return value.strip().rstrip(",;!?.").strip("\"'“”«» ")
