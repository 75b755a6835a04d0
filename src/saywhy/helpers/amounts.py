"""Which amounts does an answer say, written or spoken, and in which currency?

What counts as the amount that was asked for is for `money`, and for the two older readers here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any, Final

import msgspec

from saywhy.helpers.currencies import MINOR, named_at, sign_of
from saywhy.helpers.numerals import cardinal, digits_at, spoken_at, tongue_of
from saywhy.helpers.words import FILLERS, Token, listed, text_of, tokens_of

_WRITTEN: Final = re.compile(
    r"(?P<before>[^\d\s.,]*)(?P<number>\d{1,3}(?:[.,']\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d+)?)"
    r"(?P<behind>[^\d\s.,]*)"
)
_SCALES: Final = {
    "hundred": 100, "thousand": 1_000, "grand": 1_000, "million": 1_000_000,
    "mil": 1_000, "millon": 1_000_000, "millones": 1_000_000,
}  # fmt: skip
_POINT: Final = {"point", "dot", "punto", "coma", "comma"}
_AND: Final = {"and", "con", "y", "&"}
_HALF: Final = {"half", "medio", "media"}
_HOURS: Final = {"am", "pm", "a.m", "p.m", "o'clock", "hours", "horas"}
_MONTHS: Final = listed(
    """january february march april may june july august september october november december
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"""
)
_BEFORE_ONE: Final = listed(
    "the this that first second third last which no each any every another other next right"
)
"""Words before a `one` that stands for a thing."""
_COINS: Final = {"dollar", "buck", "euro", "pound", "peso"}
_WHOSE: Final = {
    "canadian": "CAD",
    "canadiense": "CAD",
    "australian": "AUD",
    "australiano": "AUD",
    "mexican": "MXN",
    "mexicano": "MXN",
}
_NOUNS: Final = _COINS | {"dolare", "dolar", "libra", *_WHOSE}
_PERCENT: Final = {"percent", "%", "porciento", "percentage"}
MOST_DIGITS: Final = 9
"""Digits of an amount that is written without separators; more are some other number."""

AROUND: Final = FILLERS | listed(
    """it it's its that's is be will make made just only about around like exactly total amount the
    a an of for me let's let do i'd i'll i think would want to my say put total's all altogether
    es son sea seria monto cantidad importe total el la lo un una de por a quiero quisiera deseo
    exactamente como unos unas solo solamente nada mas serian"""
)
"""Words around an amount that leave it the answer."""

_BETWEEN: Final = listed("or to and o a y and/or through - hasta between entre")
PAYING: Final = listed(
    """pay paying payment pays send sending transfer put towards toward on deposit
    pagar pago pague pagaria abonar abono abonare enviar mandar depositar hacer"""
)


class Amount(msgspec.Struct, frozen=True):
    """A number of an answer: the words from `start` up to and without `end` say it."""

    value: Decimal
    start: int
    end: int
    codes: frozenset[str] | None = None
    """The currencies it may be in; None where it names none."""
    refused: bool = False
    """Whether it is no amount after all: negative, or per cent."""


def amount_in_answer(text: Any = None, language: Any = "") -> int | float | None:
    """The one amount that the answer says, in whatever currency; null for none and for several.

    `I'd like to pay $80.50` is 80.5, `twelve fifty` 12.5, `doce con cincuenta` 12.5. A currency is
    not looked at: `readMoneyAmount` does that.
    """
    found = amount_of(text_of(text), text_of(language))
    return None if found is None else as_number(found.value)


def is_amount_answer(text: Any = None, language: Any = "") -> bool:
    """Whether the answer is an amount and nothing else but words such as `I'd like to pay`."""
    said = text_of(text)
    found = amount_of(said, text_of(language))
    return found is not None and not words_beside(said, [found], AROUND | PAYING)


def amount_of(text: str, language: str = "") -> Amount | None:
    """The one amount of a text: the one that names a currency, else the only number."""
    found = amounts_in(text, language)
    if any(one.refused for one in found) or is_range(tokens_of(text), found):
        return None
    named = [one for one in found if one.codes is not None]
    meant = named or found
    return meant[0] if len({one.value for one in meant}) == 1 else None


def is_range(tokens: Sequence[Token], found: Sequence[Amount]) -> bool:
    """Whether another number is linked to one of them: `80 or 90 dollars`."""
    return any(
        before.value != behind.value
        and behind.start - before.end <= 1
        and all(token.word in _BETWEEN for token in tokens[before.end : behind.start])
        for before, behind in pairwise(found)
    )


def words_beside(text: str, amounts: Sequence[Amount], allowed: frozenset[str]) -> list[str]:
    """The words of a text that neither say an amount nor are allowed around one."""
    said = {place for one in amounts for place in range(one.start, one.end)}
    return [
        token.word
        for place, token in enumerate(tokens_of(text))
        if place not in said and token.word not in allowed and any(map(str.isalnum, token.word))
    ]


def as_number(value: Decimal) -> int | float:
    """A number as JavaScript has it: whole ones without a fraction."""
    return int(value) if value == value.to_integral_value() else float(value)


# ------------------------------------------------------------------ finding


def amounts_in(text: str, language: str = "") -> tuple[Amount, ...]:
    """Every number of a text that could be an amount, with what it names."""
    tokens = tokens_of(text)
    tongue = tongue_of(tokens, language)
    found: list[Amount] = []
    at = 0
    while at < len(tokens):
        amount = _one_of(tokens, at) or _amount_at(tokens, at, tongue)
        if amount is None:
            at += 1
        elif _is_no_amount(tokens, amount):
            at = amount.end
        else:
            found.append(amount)
            at = amount.end
    return tuple(found)


def _one_of(tokens: Sequence[Token], at: int) -> Amount | None:
    """`a dollar`, `half a dollar`, `a dollar fifty`."""
    half = tokens[at].word == "half"
    place = at + half
    if place + 1 >= len(tokens) or tokens[place].word != "a":
        return None
    if tokens[place + 1].word not in _COINS:  # "a real person" speaks of no money of Brazil
        return None
    named = named_at(tokens, place + 1)
    if named is None:
        return None
    value = Decimal("0.5") if half else Decimal(1)
    value, end, codes = _with_cents(tokens, value, named[1], "en", named[0])
    return Amount(value, at, end, codes)


def _is_no_amount(tokens: Sequence[Token], amount: Amount) -> bool:
    """Whether a number is a time of day, a day of a month or an article."""
    if amount.codes is not None:
        return False
    before = tokens[amount.start - 1].word if amount.start else ""
    behind = [token.word for token in tokens[amount.end : amount.end + 2]]
    if behind[:1] and behind[0] in _HOURS:
        return True
    if before in _MONTHS or (behind[:1] == ["de"] and behind[-1] in _MONTHS):
        return True
    word = tokens[amount.start].word
    if amount.end - amount.start > 1 or word not in {"one", "un", "una"}:
        return False
    return before in _BEFORE_ONE or (word != "one" and bool(behind))


def _amount_at(tokens: Sequence[Token], at: int, tongue: str) -> Amount | None:
    first, codes, place = at, None, at
    if sign_of(tokens[at].text) is not None and at + 1 < len(tokens):  # "USD 80", "$ 80"
        codes, place = sign_of(tokens[at].text), at + 1
    written = _written(tokens[place], tongue)
    if written is not None:
        whole, end, is_spoken = written.value, place + 1, False
        codes = codes or written.codes
        refused = written.refused
    else:
        spoken = spoken_at(tokens, place, tongue)
        if spoken is None:
            return None
        whole, end, is_spoken, refused = Decimal(spoken.value), spoken.end, True, False
    value, end = _scaled(tokens, whole, end)
    value, end = _with_decimals(tokens, value, end, tongue, is_spoken=is_spoken)
    if codes is None and (named := _named(tokens, end)) is not None:
        codes, end = named
        if codes is _HUNDREDTH:
            return Amount(value / 100, first, end, None, refused or value >= 100)
    value, end, codes = _with_cents(tokens, value, end, tongue, codes)
    codes, end = _narrowed(tokens, end, codes)
    refused = refused or _is_percent(tokens, end) or _is_negative(tokens, first)
    return Amount(value, first, end, codes, refused)


_HUNDREDTH: Final[frozenset[str]] = frozenset({"cents"})


def _named(tokens: Sequence[Token], at: int) -> tuple[frozenset[str], int] | None:
    if at < len(tokens) and tokens[at].word in {"de", "of"} and at + 1 < len(tokens):
        return named_at(tokens, at + 1)  # "un millón de dólares"
    if at < len(tokens) and tokens[at].word in MINOR:
        return _HUNDREDTH, at + 1
    return named_at(tokens, at) if at < len(tokens) and not tokens[at - 1].ends_clause else None


def _narrowed(
    tokens: Sequence[Token], end: int, codes: frozenset[str] | None
) -> tuple[frozenset[str] | None, int]:
    """`$80 CAD`, `80 dollars MXN`, `$80 pesos`: what follows a sign says whose it is.

    Where the two cannot be one currency none is left: nobody is asked for that.
    """
    while codes and end < len(tokens) and not tokens[end - 1].ends_clause:
        token = tokens[end]
        noun = token.word.removesuffix("s")
        if not (token.text.isupper() and len(token.text) == 3) and noun not in _NOUNS:
            break  # "all" and "real" are words first, and money of Albania and Brazil after that
        named = named_at(tokens, end)
        if named is None and noun in _WHOSE:  # "$80 Canadian"
            named = frozenset({_WHOSE[noun]}), end + 1
        if named is None:
            break
        codes, end = codes & named[0], named[1]
    return codes, end


def _written(token: Token, tongue: str) -> Amount | None:
    """What a token of digits says, with the signs that stand at it."""
    found = _WRITTEN.fullmatch(token.text)
    if found is None:
        return None
    number, before, behind = found["number"], found["before"], found["behind"]
    if len(number) > MOST_DIGITS and number.isdigit():
        return None
    if re.match(r"0\d", number):
        return None
    is_negative = before.startswith(("-", "−")) or before.endswith(("-", "−"))
    before, is_percent = before.strip("+-−"), behind == "%"
    codes: frozenset[str] | None = None
    for sign in (before, "" if is_percent else behind):
        if not sign:
            continue
        named = sign_of(sign)
        if named is None:
            return None
        codes = named if codes is None else codes & named
    return Amount(_value_of(number, tongue), 0, 0, codes, is_negative or is_percent)


def _value_of(number: str, tongue: str) -> Decimal:
    """`1.234` is a thousand to who speaks Spanish, and to nobody else; then it is no price."""
    if tongue == "en" and re.fullmatch(r"[0-9]+[.][0-9]{3}", number):
        return Decimal(number)
    from price_parser import Price

    # A text of digits and separators always has a price.
    return Price.fromstring(number.replace("'", "")).amount or Decimal(0)


def _scaled(tokens: Sequence[Token], value: Decimal, end: int) -> tuple[Decimal, int]:
    """`80 thousand`, `1.5 millones`. A spoken number has its scale already."""
    while end < len(tokens) and tokens[end].word in _SCALES and not tokens[end - 1].ends_clause:
        value, end = value * _SCALES[tokens[end].word], end + 1
    return value, end


def _with_decimals(
    tokens: Sequence[Token], value: Decimal, end: int, tongue: str, *, is_spoken: bool
) -> tuple[Decimal, int]:
    """`twelve point five`, `twelve fifty`, `doce con cincuenta`, `two and a half`."""
    if end >= len(tokens) or value != value.to_integral_value() or tokens[end - 1].ends_clause:
        return value, end
    word = tokens[end].word
    if word in _POINT and end + 1 < len(tokens):
        digits, behind = _digits_from(tokens, end + 1, tongue)
        return (Decimal(f"{value}.{digits}"), behind) if digits else (value, end)
    if word in _AND:
        place = end + 1 + (end + 1 < len(tokens) and tokens[end + 1].word == "a")
        if place < len(tokens) and tokens[place].word in _HALF:
            return value + Decimal("0.5"), place + 1
    if word == "con":
        cents, behind = _cents_at(tokens, end + 1, tongue)
        if cents is not None:
            return value + cents, _behind_minor(tokens, behind)
    if is_spoken and value < 1000:
        cents = _spoken_cents(tokens, end, tongue)
        if cents is not None:
            return value + cents[0], cents[1]
    return value, end


def _spoken_cents(tokens: Sequence[Token], at: int, tongue: str) -> tuple[Decimal, int] | None:
    """`twelve fifty`, `twelve oh five`: the cents of a price as people say it."""
    if tokens[at].word in {"oh", "o", "zero", "cero"} and at + 1 < len(tokens):
        last = cardinal(tokens[at + 1].word, tongue)
        ends = at + 2 >= len(tokens) or digits_at(tokens, at + 2, tongue) is None
        return (Decimal(last) / 100, at + 2) if last and last < 10 and ends else None
    spoken = spoken_at(tokens, at, tongue)
    if spoken is None or not 10 <= spoken.value <= 99:
        return None
    more = spoken.end < len(tokens) and digits_at(tokens, spoken.end, tongue) is not None
    is_minor = spoken.end < len(tokens) and tokens[spoken.end].word in MINOR
    return None if more or is_minor else (Decimal(spoken.value) / 100, spoken.end)


def _cents_at(tokens: Sequence[Token], at: int, tongue: str) -> tuple[Decimal | None, int]:
    if at >= len(tokens):
        return None, at
    said = digits_at(tokens, at, tongue)
    if said is None or not 0 < int(said[0]) <= 99:
        return None, at
    return Decimal(int(said[0])) / 100, said[1]


def _digits_from(tokens: Sequence[Token], at: int, tongue: str) -> tuple[str, int]:
    digits = ""
    while at < len(tokens) and (said := digits_at(tokens, at, tongue)) is not None:
        digits, at = digits + said[0], said[1]
    return digits[:12], at


def _with_cents(
    tokens: Sequence[Token], value: Decimal, end: int, tongue: str, codes: frozenset[str] | None
) -> tuple[Decimal, int, frozenset[str] | None]:
    """`twelve dollars and fifty cents`, `doce dólares con cincuenta`, `twelve dollars fifty`."""
    if codes is None or end >= len(tokens) or value != value.to_integral_value():
        return value, end, codes
    linked = tokens[end].word in _AND
    cents, behind = _cents_at(tokens, end + linked, tongue)
    if cents is None:
        return value, end, codes
    is_minor = behind < len(tokens) and tokens[behind].word in MINOR
    # "80 dollars and 50 euros" are two amounts; "80 dollars, 50 cents" is one.
    names_other = not is_minor and behind < len(tokens) and named_at(tokens, behind) is not None
    if names_other or not (is_minor or (tokens[end].word != "y" and cents >= Decimal("0.1"))):
        return value, end, codes
    if tokens[end - 1].ends_clause and not is_minor:
        return value, end, codes
    return value + cents, behind + is_minor, codes


def _behind_minor(tokens: Sequence[Token], at: int) -> int:
    return at + 1 if at < len(tokens) and tokens[at].word in MINOR else at


def _is_percent(tokens: Sequence[Token], end: int) -> bool:
    words = [token.word for token in tokens[end : end + 2]]
    return bool(words) and (words[0] in _PERCENT or words == ["por", "ciento"])


def _is_negative(tokens: Sequence[Token], first: int) -> bool:
    return first > 0 and tokens[first - 1].word in {"minus", "negative", "-", "menos"}
