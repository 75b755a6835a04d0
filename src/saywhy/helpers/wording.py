"""Sentences and words that helpers say, per language, and numbers in words.

Other languages than these five get English sentences; numbers in words are English and Spanish.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from saywhy.helpers.words import text_of

_ANYTHING: Final[Mapping[str, str]] = {
    "en": "Is there anything else I can help you with?",
    "es": "¿Hay algo más en lo que pueda ayudarle?",
    "pt": "Posso ajudar em mais alguma coisa?",
    "fr": "Puis-je vous aider pour autre chose ?",
    "de": "Kann ich sonst noch etwas für Sie tun?",
}
_GOODBYE: Final[Mapping[str, str]] = {
    "en": "Thank you for contacting us. Goodbye!",
    "es": "Gracias por comunicarse con nosotros. ¡Hasta luego!",
    "pt": "Obrigado pelo seu contato. Até logo!",
    "fr": "Merci de nous avoir contactés. Au revoir !",
    "de": "Vielen Dank für Ihre Nachricht. Auf Wiedersehen!",
}

_ONES: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
).replace("\n", " ")
_TENS: Final = (
    "",
    "",
    "twenty",
    "thirty",
    "forty",
    "fifty",
    "sixty",
    "seventy",
    "eighty",
    "ninety",
)
_ORDINALS: Final = {
    1: "first", 2: "second", 3: "third", 5: "fifth", 8: "eighth", 9: "ninth", 12: "twelfth",
    20: "twentieth", 30: "thirtieth",
}  # fmt: skip
_UNOS: Final = (
    "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince "
    "dieciséis diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro "
    "veinticinco veintiséis veintisiete veintiocho veintinueve"
)
_DIECES: Final = ("", "", "", "treinta", "cuarenta", "cincuenta", "sesenta", "setenta", "ochenta",
                  "noventa")  # fmt: skip
_CIENTOS: Final = ("", "ciento", "doscientos", "trescientos", "cuatrocientos", "quinientos",
                   "seiscientos", "setecientos", "ochocientos", "novecientos")  # fmt: skip
_FEWER: Final = {"uno": "un", "veintiuno": "veintiún"}

MOST: Final = 10**12
"""Numbers from here on are not said in words."""


def anything_else(language: Any = "en") -> str:
    """The question whether there is anything else to do: in en, es, pt, fr and de."""
    return _ANYTHING[tongue(language, tuple(_ANYTHING))]


def goodbye(language: Any = "en") -> str:
    """The sentence that ends a conversation: in en, es, pt, fr and de."""
    return _GOODBYE[tongue(language, tuple(_GOODBYE))]


def tongue(language: Any, known: tuple[str, ...]) -> str:
    """The language without its country, as `es` of `es-MX`; English for one that is not known."""
    own = text_of(language)[:2].lower()
    return own if own in known else "en"


# ------------------------------------------------------------------ numbers


def cardinal_words(number: int, language: str, *, before_noun: bool = False) -> str:
    """A number below a million millions in words. Before a noun Spanish says `veintiún`."""
    if language == "es":
        words = _spanish(number)
        last = words.split(" ")[-1]
        if before_noun and last in _FEWER:
            words = words[: len(words) - len(last)] + _FEWER[last]
        return words
    return _english(number)


def ordinal_words(number: int) -> str:
    """The English word for the day of a month."""
    if number in _ORDINALS:
        return _ORDINALS[number]
    if number < 20:
        return f"{_english(number)}th"
    return f"{_TENS[number // 10]}-{_ORDINALS.get(number % 10, _english(number % 10) + 'th')}"


def _english(number: int) -> str:
    for size, name in (
        (10**9, "billion"),
        (10**6, "million"),
        (1000, "thousand"),
        (100, "hundred"),
    ):
        if number >= size:
            rest = number % size
            return f"{_english(number // size)} {name}" + (f" {_english(rest)}" if rest else "")
    if number < 20:
        return _ONES.split(" ")[number]
    return _TENS[number // 10] + (f"-{_english(number % 10)}" if number % 10 else "")


def _spanish(number: int) -> str:
    if number >= 10**6:
        many, rest = divmod(number, 10**6)
        head = (
            "un millón" if many == 1 else f"{cardinal_words(many, 'es', before_noun=True)} millones"
        )
        return head + (f" {_spanish(rest)}" if rest else "")
    if number >= 1000:
        many, rest = divmod(number, 1000)
        head = "mil" if many == 1 else f"{cardinal_words(many, 'es', before_noun=True)} mil"
        return head + (f" {_spanish(rest)}" if rest else "")
    if number >= 100:
        hundreds, rest = divmod(number, 100)
        if number == 100:
            return "cien"
        return _CIENTOS[hundreds] + (f" {_spanish(rest)}" if rest else "")
    if number < 30:
        return _UNOS.split(" ")[number]
    return _DIECES[number // 10] + (f" y {_spanish(number % 10)}" if number % 10 else "")
