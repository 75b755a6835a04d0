"""How are amounts and addresses of pages said, so that a voice reads them as people do?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from saywhy.helpers.currencies import precision_of
from saywhy.helpers.wording import MOST, cardinal_words, tongue
from saywhy.helpers.words import text_of

_SIGNS: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {".": "dot", "/": "slash", "-": "dash", "_": "underscore"},
    "es": {".": "punto", "/": "diagonal", "-": "guión", "_": "guión bajo"},
}
_URL: Final = re.compile(
    r"(?:https?://|www\.)[^\s<>\"“”]+"
    r"|(?<![\w@.])(?:[a-z0-9](?:[a-z0-9\-]{0,62})\.)+(?:com|org|net|io|gov|edu|app|dev|shop|store|es|mx|us"
    r"|co|info|biz)(?:/[^\s<>\"“”]*)?(?![\w@])",
    re.IGNORECASE,
)
_TRAILING: Final = ".,;:!?)]}'\"…"
_HUNDREDTHS: Final[Mapping[str, tuple[str, str]]] = {
    "en": ("cent", "cents"),
    "es": ("centavo", "centavos"),
}
_CENTIMOS: Final = frozenset({"EUR"})
_PENCE: Final = frozenset({"GBP"})


def url_to_speech(url: Any = None, language: Any = "en") -> str:
    """The address of a page as it is said: `www.shop.com/big-sale?x=1` is `shop dot com slash big
    dash sale`. Scheme, `www`, query and fragment are left out; English and Spanish."""
    address = text_of(url).strip()
    bare = re.sub(r"^[a-z][a-z0-9+.\-]*://", "", address, flags=re.IGNORECASE)
    bare = re.sub(r"^www\.", "", bare, flags=re.IGNORECASE)
    bare = re.split(r"[?#]", bare, maxsplit=1)[0].rstrip("/")
    signs = _SIGNS[tongue(language, ("en", "es"))]
    parts = re.split(r"([./\-_])", bare)
    return " ".join(" ".join(signs.get(part, part) for part in parts).split())


def text_with_url_to_speech(text: Any = None, language: Any = "en") -> str:
    """The text with each address of a page in it as it is said; the rest stays as it is."""

    def said(match: re.Match[str]) -> str:
        url = match.group()
        bare = url.rstrip(_TRAILING)
        return url_to_speech(bare, language) + url[len(bare) :]

    return _URL.sub(said, text if isinstance(text, str) else text_of(text))


def amount_to_speech(
    amount: Any = None, language: Any = "en", voice: Any = False, currency: Any = "USD"
) -> str:
    """The amount for a voice: `twelve dollars and fifty cents`; for a screen: `$12.50`.

    `voice` is what `cargo.voice` says. Words are English and Spanish; other languages get digits
    with the name of the currency. What is no amount is nothing.
    """
    code = (text_of(currency).strip() or "USD").upper()
    decimals = precision_of(code)
    value = _decimal(amount)
    if value is None:
        return ""
    value = round(value, decimals)
    if not voice:
        return _formatted(value, code, language, "standard")
    own = text_of(language)[:2].lower() or "en"
    if own not in _HUNDREDTHS or abs(value) >= MOST:
        return _formatted(value, code, language, "name")
    return _in_words(value, code, own, decimals)


def _decimal(amount: Any) -> Decimal | None:
    text = text_of(amount).strip().replace(",", "").lstrip("$")
    try:
        value = Decimal(text)
    except InvalidOperation:
        return None
    return value if value.is_finite() and abs(value) < Decimal(10) ** 15 else None


def _formatted(value: Decimal, code: str, language: Any, kind: Any) -> str:
    from babel import Locale, UnknownLocaleError
    from babel.numbers import format_currency

    # The sign of the dollar in Spanish is that of Latin America, where this is said.
    own = text_of(language).replace("_", "-")
    try:
        locale = Locale.parse(
            "es_US" if own == "es" else own or "en", sep="-" if "-" in own else "_"
        )
    except (UnknownLocaleError, ValueError):
        locale = Locale.parse("en")
    return str(format_currency(value, code, locale=locale, format_type=kind)).replace("\u00a0", " ")


def _in_words(value: Decimal, code: str, language: str, decimals: int) -> str:
    minus = {"en": "minus ", "es": "menos "}[language] if value < 0 else ""
    whole, rest = divmod(abs(value), 1)
    parts: list[str] = []
    cents = int(rest * 100) if decimals == 2 else 0
    if decimals not in {0, 2} and rest:
        return _formatted(value, code, language, "name")
    if whole or not cents:
        parts.append(_counted(int(whole), code, language))
    if cents:
        one, many = _hundredth(code, language)
        said = cardinal_words(cents, language, before_noun=True)
        parts.append(f"{said} {one if cents == 1 else many}")
    return minus + {"en": " and ", "es": " con "}[language].join(parts)


def _counted(whole: int, code: str, language: str) -> str:
    said = cardinal_words(whole, language, before_noun=True)
    of = " de" if language == "es" and whole and whole % 10**6 == 0 else ""
    return f"{said}{of} {_noun(code, whole, language)}"


def _noun(code: str, count: int, language: str) -> str:
    """`dollars`, not `US dollars`: whose they are is known to who talks about them."""
    from babel.numbers import get_currency_name

    words = get_currency_name(code, count, language).split()
    return words[-1].lower() if language == "en" else words[0].lower()


def _hundredth(code: str, language: str) -> tuple[str, str]:
    if code in _PENCE:
        return ("penny", "pence") if language == "en" else ("penique", "peniques")
    if code in _CENTIMOS and language == "es":
        return "céntimo", "céntimos"
    return _HUNDREDTHS[language]
