"""Numbers and amounts of money in an answer, in digits and, where that is wanted, in words.

An amount is a number: which currency it is in is the author's to say, another one is refused and
nothing is ever converted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from saywhy.flows.forms.spans import Span
from saywhy.flows.forms.words import pattern

MAX_VALUE: Final = 10**15
"""Beyond this a number is no longer exact in an expression."""

_NUMBER: Final = re.compile(
    r"(?<![\w.,/:])(?<!\w-)(?:\d[\d.,' ]*\d|\d)(?!\w|[-/:]\d)"  # no part of a date, time or word
)
_GROUPS: Final = re.compile(r"\d{1,3}(?:[ '.,]\d{3})+(?:[.,]\d{1,2})?")
_SIGN: Final = re.compile(r"(?:[-−]|\b(?:minus|menos) )\s?$", re.IGNORECASE)

_SYMBOLS: Final[Mapping[str, frozenset[str]]] = {
    "us$": frozenset({"USD"}),
    "$": frozenset({"USD", "MXN", "CAD", "AUD", "COP", "ARS", "CLP"}),
    "€": frozenset({"EUR"}),
    "£": frozenset({"GBP"}),
    "¥": frozenset({"JPY", "CNY"}),
}
_NAMES: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(
        ("dollars", "dollar", "dólares", "dolares", "dólar", "dolar"),
        frozenset({"USD", "CAD", "AUD"}),
    ),
    **dict.fromkeys(("bucks", "buck"), frozenset({"USD"})),
    **dict.fromkeys(("euros", "euro"), frozenset({"EUR"})),
    **dict.fromkeys(("pounds", "pound", "libras", "libra"), frozenset({"GBP"})),
    **dict.fromkeys(("pesos", "peso"), frozenset({"MXN", "COP", "ARS", "CLP"})),
    **dict.fromkeys(("yen", "yenes"), frozenset({"JPY"})),
    **{
        code.lower(): frozenset({code})
        for code in ("USD", "EUR", "GBP", "MXN", "CAD", "AUD", "JPY", "CNY", "CHF", "BRL", "COP")
    },
}
_BEFORE: Final = re.compile(
    rf"(us\$|[$€£¥]|\b(?:{'|'.join(name for name in _NAMES if len(name) == 3)}))\s?$",
    re.IGNORECASE,
)
_AFTER: Final = re.compile(
    rf"\s?(?:(?:de\s)?({'|'.join(sorted(_NAMES, key=len, reverse=True))})\b|([$€£¥]))",
    re.IGNORECASE,
)
_CENTS: Final = re.compile(
    r"\s?(?:and|con|y)\s+(\d{1,2})(?:\s+(?:cents?|centavos?|céntimos?))?\b", re.IGNORECASE
)
CURRENCIES: Final = frozenset(
    code for codes in (*_SYMBOLS.values(), *_NAMES.values()) for code in codes
)
"""Those whose signs or names are known."""

_VERBS: Final[Mapping[str, tuple[str, ...]]] = {
    "payment": (
        *("pay", "paying", "payment of", "charge", "send"),
        *("pagar", "pago de", "pague", "abonar", "enviar"),
    ),
    "transfer": ("send", "transfer", "wire", "enviar", "envíe", "transferir", "mandar"),
    "refund": ("refund", "refund of", "return", "reembolsar", "devolver", "reembolso de"),
    "deposit": ("deposit", "put", "add", "depositar", "ingresar", "añadir"),
}

INTENTS: Final = tuple(_VERBS)
"""What an amount may be for; each has verbs that make a bare number an amount."""


# ------------------------------------------------------------------ numbers


def numbers(text: str, language: str, *, in_words: bool) -> list[Span]:
    """The numbers in a text, negative ones included; those in words where that is wanted."""
    found = [*_in_digits(text, language), *(_in_words(text, language) if in_words else ())]
    return sorted((_signed(text, span) for span in found), key=lambda span: span.start)


def _in_digits(text: str, language: str) -> Iterator[Span]:
    for match in _NUMBER.finditer(text):
        end = match.end()
        written = match[0]
        if " " in written and not _GROUPS.fullmatch(written):  # "20 30": two numbers
            yield from _one_by_one(match, language)
            continue
        value = _value(written, language)
        if value is not None:
            yield Span(match.start(), end, value)


def _one_by_one(match: re.Match[str], language: str) -> Iterator[Span]:
    for part in re.finditer(r"[\d.,']+", match[0]):
        value = _value(part[0], language)
        if value is not None:
            yield Span(match.start() + part.start(), match.start() + part.end(), value)


def _value(written: str, language: str) -> int | float | None:
    """`1,234.50` and `1.234,50`: the last sign is the decimal one unless three digits follow it."""
    text = written.strip(".,' ").replace(" ", "").replace("'", "")
    last = max(text.rfind("."), text.rfind(","))
    decimals = len(text) - last - 1 if last >= 0 else 0
    both = "." in text and "," in text
    if last >= 0 and (decimals != 3 or both) and text.count(text[last]) == 1:
        whole, part = re.sub(r"[.,]", "", text[:last]), text[last + 1 :]
    else:
        whole, part = re.sub(r"[.,]", "", text), ""
    if not whole.isdecimal() or len(whole) > 15:
        return None
    return float(f"{whole}.{part}") if part.strip("0") else int(whole)


def _signed(text: str, span: Span) -> Span:
    sign = _SIGN.search(text, 0, span.start)
    if sign is None or (sign.start() > 0 and text[sign.start() - 1].isalnum()):
        return span
    return Span(sign.start(), span.end, -span.value)


# ------------------------------------------------------------------ numbers in words

_EN_UNITS: Final = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_EN_TENS: Final = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_ES_UNITS: Final = [
    "cero",
    "uno",
    "dos",
    "tres",
    "cuatro",
    "cinco",
    "seis",
    "siete",
    "ocho",
    "nueve",
    "diez",
    "once",
    "doce",
    "trece",
    "catorce",
    "quince",
    "dieciséis",
    "diecisiete",
    "dieciocho",
    "diecinueve",
    "veinte",
    "veintiuno",
    "veintidós",
    "veintitrés",
    "veinticuatro",
    "veinticinco",
    "veintiséis",
    "veintisiete",
    "veintiocho",
    "veintinueve",
]
_ES_TENS: Final = ["treinta", "cuarenta", "cincuenta", "sesenta", "setenta", "ochenta", "noventa"]
_ES_HUNDREDS: Final = [
    "doscientos",
    "trescientos",
    "cuatrocientos",
    "quinientos",
    "seiscientos",
    "setecientos",
    "ochocientos",
    "novecientos",
]


@cache
def _cardinals(language: str) -> Mapping[str, int]:
    """The number words of a language that add up; what multiplies is in `_MULTIPLIERS`."""
    if language == "es":
        adds = {word: value for value, word in enumerate(_ES_UNITS)}
        adds |= {word: 30 + 10 * place for place, word in enumerate(_ES_TENS)}
        adds |= {word: 200 + 100 * place for place, word in enumerate(_ES_HUNDREDS)}
        return adds | {"un": 1, "una": 1, "cien": 100, "ciento": 100}
    adds = {word: value for value, word in enumerate(_EN_UNITS)}
    return adds | {word: 20 + 10 * place for place, word in enumerate(_EN_TENS)}


_MULTIPLIERS: Final[Mapping[str, Mapping[str, int]]] = {
    "en": {"hundred": 100, "thousand": 1000, "million": 1_000_000},
    "es": {"mil": 1000, "millón": 1_000_000, "millones": 1_000_000},
}
_AND: Final = {"en": "and", "es": "y"}
_TOKEN: Final = re.compile(r"[^\W\d_]+")
_ARTICLES: Final = frozenset({"un", "una", "one", "uno"})


def _in_words(text: str, language: str) -> Iterator[Span]:
    language = "es" if language[:2] == "es" else "en"
    adds, times, joint = _cardinals(language), _MULTIPLIERS[language], _AND[language]
    run: list[re.Match[str]] = []
    for token in [*_TOKEN.finditer(text), None]:
        word = token[0].lower() if token else ""
        is_near = not run or (token is not None and token.start() - run[-1].end() <= 2)
        if token and is_near and (word in adds or word in times or (run and word == joint)):
            run.append(token)
            continue
        while run and run[-1][0].lower() == joint:
            run.pop()
        if run:
            yield from _summed(run, adds, times)
        run = [token] if token and (word in adds or word in times) else []


def _summed(
    run: list[re.Match[str]], adds: Mapping[str, int], times: Mapping[str, int]
) -> Iterator[Span]:
    total = group = 0
    for token in run:
        word = token[0].lower()
        if word in adds:
            group += adds[word]
        elif times.get(word) == 100:
            group = max(group, 1) * 100
        elif word in times:
            total += max(group, 1) * times[word]
            group = 0
    if len(run) == 1 and run[0][0].lower() in _ARTICLES:
        return  # "the one", "un amigo"
    if total + group <= MAX_VALUE:
        yield Span(run[0].start(), run[-1].end(), total + group)


# ------------------------------------------------------------------ amounts


def amounts(text: str, language: str, money: Mapping[str, Any]) -> list[Span]:
    """The amounts of money in a text, with the signs and words of their currency.

    Without a currency in the profile any is taken, and the amount is its number. With one, an
    amount in another is refused. `cardinals` reads "eighty dollars", and `intent` names what an
    amount is for, so that "pay 80" says that 80 is one.
    """
    wanted = str(money.get("currency") or "").upper()
    spans: list[Span] = []
    for number in numbers(text, language, in_words=bool(money.get("cardinals"))):
        if number.value < 0:
            continue
        spans.append(_amount(text, number, wanted, str(money.get("intent") or "")))
    return [span for span in spans if not any(_inside(span, other) for other in spans)]


def _inside(span: Span, other: Span) -> bool:
    """The 50 of "80 dollars and 50 cents" is no amount of its own."""
    return span is not other and other.start <= span.start and span.end <= other.end


def _amount(text: str, number: Span, wanted: str, intent: str) -> Span:
    start, end, value = number.start, number.end, number.value
    codes: frozenset[str] | None = None
    before = _BEFORE.search(text, 0, start)
    if before is not None:
        start, codes = before.start(), _codes(before[1])
    after = _AFTER.match(text, end)
    if after is not None:
        end, codes = after.end(), _codes(after[1] or after[2])
        cents = _CENTS.match(text, end)
        if cents is not None and isinstance(value, int):
            end, value = cents.end(), float(f"{value}.{cents[1]:0>2}")
            value = int(value) if value == int(value) else value
    if codes is None:
        return Span(start, end, value, plain=not _is_meant(text, start, intent))
    if wanted and wanted not in codes:
        return Span(start, end, value, plain=False, refused=text[start:end].strip())
    return Span(start, end, value, plain=False)


def _codes(written: str) -> frozenset[str]:
    key = written.lower()
    return _SYMBOLS.get(key) or _NAMES[key]


def _is_meant(text: str, start: int, intent: str) -> bool:
    """Whether the word before a bare number says what it is for."""
    verbs = _VERBS.get(intent)
    if not verbs:
        return False
    found = list(pattern(verbs).finditer(text, 0, start))
    return bool(found) and not text[found[-1].end() : start].strip()
