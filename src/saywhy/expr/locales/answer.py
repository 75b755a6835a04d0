"""What is the answer to a question of `Intl`? The door between expressions and Babel.

A question is JSON text: what is asked for, languages, options, and perhaps values. So is the
answer: the name of an error or nothing, and the error's text or what was asked for. One depends on
the other alone. A process for isolated expressions may have been taken over, so a question is not
trusted: it is bounded, and whatever does not fit is an error like any other.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, Protocol

from saywhy.expr.locales.dates import DateTimeFormat
from saywhy.expr.locales.digits import Refused
from saywhy.expr.locales.numbers import NumberFormat
from saywhy.expr.locales.phrases import DisplayNames, ListFormat, PluralRules, RelativeTimeFormat
from saywhy.expr.locales.tags import canonical, find, tongue_of

MAX_QUESTION: Final = 100_000
"""Characters; a list of a thousand items has some twenty thousand."""
MAX_AT_ONCE: Final = 250
"""Questions of one round."""
MAX_FORMATS: Final = 256
"""Formats that are kept, with their options settled."""
MAX_KEPT: Final = 2_000
"""Answers that are kept."""
MAX_SHORT: Final = 1_000
"""Characters of a question whose answer is kept."""


class Format(Protocol):
    """What every maker of texts can do."""

    def resolved(self) -> dict[str, Any]:
        """How the options were understood."""
        ...

    @property
    def parts(self) -> Callable[..., Any]:
        """Makes the text of a value."""
        ...


def answers_to(questions: str) -> list[list[str]]:
    """Pairs of question and answer, for JSON text of a list of questions."""
    try:
        asked = json.loads(questions)
    except ValueError:
        return []
    return [[text, answer_to(text)] for text in asked[:MAX_AT_ONCE] if isinstance(text, str)]


def answer_to(question: str) -> str:
    """The answer, as JSON text. Never raises."""
    if len(question) > MAX_QUESTION:
        return _refusal("RangeError", "more text than can be written in another language")
    return _kept(question) if len(question) <= MAX_SHORT else _answer(question)


@lru_cache(maxsize=MAX_KEPT)
def _kept(question: str) -> str:
    return _answer(question)


def _answer(question: str) -> str:
    try:
        kind, tags, options, *values = json.loads(question)
        return json.dumps(["", _told(kind, tags, options, values)])
    except Refused as refused:
        return _refusal(refused.kind, str(refused))
    except Exception as error:  # a question nobody of ours asked, or data that Babel lacks
        return _refusal("RangeError", f"not available in this language ({type(error).__name__})")


def _refusal(kind: str, message: str) -> str:
    return json.dumps([kind, message])


def _told(kind: str, tags: list[str], options: Mapping[str, Any], values: list[Any]) -> Any:
    if kind == "supported":
        return [canonical(tag) for tag in tags if find(canonical(tag).split("-")[:1])]
    if kind == "canonical":
        return list(dict.fromkeys(map(canonical, tags)))
    if kind == "Collator":
        return _collator(tags, options)
    made = _format(kind, tuple(tags), json.dumps(options))
    return made.parts(*values) if values else made.resolved()


_MAKERS: Final[dict[str, Callable[[list[str], Mapping[str, Any]], Format]]] = {
    "NumberFormat": NumberFormat,
    "DateTimeFormat": DateTimeFormat,
    "PluralRules": PluralRules,
    "ListFormat": ListFormat,
    "RelativeTimeFormat": RelativeTimeFormat,
    "DisplayNames": DisplayNames,
}


@lru_cache(maxsize=MAX_FORMATS)
def _format(kind: str, tags: tuple[str, ...], options: str) -> Format:
    return _MAKERS[kind](list(tags), json.loads(options))


def _collator(tags: list[str], options: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "locale": tongue_of(tags).tag,
        "usage": options.get("usage", "sort"),
        "sensitivity": options.get("sensitivity", "variant"),
        "ignorePunctuation": options.get("ignorePunctuation", False),
        "collation": "default",
        "numeric": options.get("numeric", False),
        "caseFirst": options.get("caseFirst", "false"),
    }
