"""How does a language write a number: plain, as money, as a share, with a unit, or shortened?

Everything is made in parts, pairs of kind and text, as `formatToParts` gives them. Which digits
there are is found out in `digits`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, TypeAlias

from babel.core import get_global

from saywhy.expr.locales.digits import Refused, Rounding, checked, rounding_of
from saywhy.expr.locales.tables import NARROW_SIGNS, UNITS, groups_late
from saywhy.expr.locales.tags import Tongue, tongue_of

Part: TypeAlias = tuple[str, str]
Parts: TypeAlias = list[Part]

_PATTERN: Final = re.compile(r"((?:'[^']*'|[^#0@,.'])*)([#0@,.]+)(.*)", re.DOTALL)
_PLACE: Final = re.compile(r"\{[01]\}")
_CODE: Final = re.compile(r"[A-Z]{3}")
_LARGEST: Final = 15
"""Digits of the largest number there are short forms for."""


class NumberFormat:
    """A way to write numbers, settled once for its options."""

    def __init__(self, tags: list[str], options: Mapping[str, Any]) -> None:
        self.tongue = tongue_of(tags, options.get("numberingSystem", ""))
        self.options = options
        self.style = options.get("style", "decimal")
        self.notation = options.get("notation", "standard")
        self.currency = self._currency()
        self.unit = self._unit()
        self.rounding = self._rounding()
        self.symbols = self.tongue.symbols
        self.pattern = self._pattern()

    # --------------------------------------------------------------- options

    def _currency(self) -> str:
        given = self.options.get("currency")
        if given is None:
            if self.style == "currency":
                raise Refused("Currency code is required with currency style.", "TypeError")
            return ""
        if not _CODE.fullmatch(given.upper()):
            raise Refused(f"Invalid currency code : {given}")
        return given.upper() if self.style == "currency" else ""

    def _unit(self) -> str:
        unit = self.options.get("unit")
        if unit is None:
            if self.style == "unit":
                why = "Invalid unit argument for Intl.NumberFormat() ''"
                raise Refused(why, "TypeError")
            return ""
        parts = unit.split("-per-")
        if len(parts) > 2 or any(part not in UNITS for part in parts):
            raise Refused(f"Invalid unit argument for Intl.NumberFormat() '{unit}'")
        return unit if self.style == "unit" else ""

    def _rounding(self) -> Rounding:
        usual = (0, 0) if self.style == "percent" else (0, 3)
        if self.style == "currency" and self.notation == "standard":
            places = currency_places(self.currency)
            usual = (places, places)
        return rounding_of(self.options, usual, is_compact=self.notation == "compact")

    def resolved(self) -> dict[str, Any]:
        """What `resolvedOptions` gives."""
        told: dict[str, Any] = {
            "locale": self.tongue.tag,
            "numberingSystem": self.tongue.digits,
            "style": self.style,
        }
        if self.currency:
            told["currency"] = self.currency
            told["currencyDisplay"] = self.options.get("currencyDisplay", "symbol")
            told["currencySign"] = self.options.get("currencySign", "standard")
        if self.unit:
            told["unit"] = self.unit
            told["unitDisplay"] = self.options.get("unitDisplay", "short")
        told |= self.rounding.resolved()
        grouping = self._grouping()
        told["useGrouping"] = False if grouping == "false" else grouping
        told["notation"] = self.notation
        if self.notation == "compact":
            told["compactDisplay"] = self.options.get("compactDisplay", "short")
        told["signDisplay"] = self.options.get("signDisplay", "auto")
        told["roundingIncrement"] = 1
        told["roundingMode"] = self.rounding.mode
        told["roundingPriority"] = self.options.get("roundingPriority", "auto")
        told["trailingZeroDisplay"] = self.options.get("trailingZeroDisplay", "auto")
        return told

    # --------------------------------------------------------------- writing

    def parts(self, text: str) -> Parts:
        """The number of this text, `NaN` and `Infinity` among them, in parts."""
        return merged(self._written(checked(text)))

    def _written(self, text: str) -> Parts:
        is_negative = text.startswith("-")
        size = text.lstrip("-")
        if size in ("NaN", "Infinity"):
            kind = "nan" if size == "NaN" else "infinity"
            core: Parts = [(kind, self.symbols[kind])]
            sign = self._sign(is_negative, is_zero=size == "NaN")
            return self._styled(core, sign, None, None, has_digits=False)
        number = Decimal(size) * (100 if self.style == "percent" else 1)
        if self.notation == "compact":
            return self._compact(number, is_negative)
        exponent = 0
        if self.notation != "standard":
            number, exponent = self._shifted(number, is_negative)
        number = self.rounding.of(number, is_negative=is_negative)
        core = self._digits(number)
        if self.notation != "standard":
            core += self._exponent(exponent)
        sign = self._sign(is_negative, is_zero=not number)
        return self._styled(core, sign, number, None)

    def _shifted(self, number: Decimal, is_negative: bool) -> tuple[Decimal, int]:
        """The number with its first digits before the point, and by how many it was shifted."""
        step = 3 if self.notation == "engineering" else 1
        exponent = number.adjusted() // step * step if number else 0
        rounded = self.rounding.of(number.scaleb(-exponent), is_negative=is_negative)
        if rounded and rounded.adjusted() >= step:
            exponent += step
        return number.scaleb(-exponent), exponent

    def _exponent(self, exponent: int) -> Parts:
        symbols = self.symbols
        made = [("exponentSeparator", str(symbols["exponential"]))]
        if exponent < 0:
            made += _marked("exponentMinusSign", str(symbols["minusSign"]))
        return [*made, ("exponentInteger", self.tongue.in_digits(str(abs(exponent))))]

    def _compact(self, number: Decimal, is_negative: bool) -> Parts:
        """The number in thousands, millions and so on, as the language counts."""
        power = min(number.adjusted() if number else 0, _LARGEST - 1)
        scaled, pattern = self._counted(number, power)
        rounded = self.rounding.of(scaled, is_negative=is_negative)
        if rounded and rounded.adjusted() > (scaled.adjusted() if scaled else 0):
            again, other = self._counted(number, min(power + 1, _LARGEST - 1))
            if again != scaled:  # 999,950 is a million when rounded
                pattern = other
                rounded = self.rounding.of(again, is_negative=is_negative)
        sign = self._sign(is_negative, is_zero=not rounded)
        written = None
        if pattern:
            written = pattern.get(self._plural(rounded)) or pattern.get("other")
        return self._styled(self._digits(rounded), sign, rounded, written)

    def _counted(self, number: Decimal, power: int) -> tuple[Decimal, dict[str, str]]:
        """The number in the unit it is counted in, and the patterns for that by plural form."""
        pattern = self._counts(power)
        zeros = pattern.get("other", "").count("0")
        if power < 3 or not zeros or re.sub("[0'¤\\s]", "", pattern["other"]) == "":
            return number, {}
        return number.scaleb(zeros - 1 - power), pattern

    def _counts(self, power: int) -> dict[str, str]:
        length = self.options.get("compactDisplay", "short")
        locale = self.tongue.locale
        forms: Any = locale.compact_decimal_formats.get(length, {})
        if self.style == "currency" and self.options.get("currencyDisplay") != "name":
            forms = locale.compact_currency_formats.get("short", {})
        magnitude = str(10**power)
        return {
            str(form): each[magnitude].pattern for form, each in forms.items() if magnitude in each
        }

    def _digits(self, number: Decimal) -> Parts:
        whole, fraction = self.rounding.texts(number)
        symbols, native = self.symbols, self.tongue.in_digits
        is_money = self.style == "currency"
        made: Parts = []
        for group in self._grouped(whole):
            if made:
                sign = symbols.get("currencyGroup") if is_money else None
                made.append(("group", str(sign or symbols["group"])))
            made.append(("integer", native(group)))
        if fraction:
            sign = symbols.get("currencyDecimal") if is_money else None
            made += [("decimal", str(sign or symbols["decimal"])), ("fraction", native(fraction))]
        return made

    def _grouping(self) -> str:
        usual = "min2" if self.notation == "compact" else "auto"
        return str(self.options.get("useGrouping", usual))

    def _grouped(self, whole: str) -> list[str]:
        grouping = self._grouping()
        first, further = _group_sizes(self.pattern.partition(";")[0])
        is_late = grouping == "auto" and groups_late(self.tongue.locale)
        least = 2 if is_late or grouping == "min2" else 1
        is_plain = grouping == "false" or self.notation in ("scientific", "engineering")
        if is_plain or not first or len(whole) < first + least:
            return [whole]
        groups = [whole[-first:]]
        rest = whole[:-first]
        while rest:
            groups.insert(0, rest[-further:])
            rest = rest[:-further]
        return groups

    def _plural(self, number: Decimal | None) -> str:
        return "other" if number is None else str(self.tongue.locale.plural_form(number))

    # ----------------------------------------------------------- what is around

    def _sign(self, is_negative: bool, *, is_zero: bool) -> str:
        display = self.options.get("signDisplay", "auto")
        if display == "never" or (is_zero and display in ("exceptZero", "negative")):
            return ""
        if is_negative:
            return "-"
        return "+" if display in ("always", "exceptZero") else ""

    def _pattern(self) -> str:
        locale = self.tongue.locale
        if self.style == "percent":
            return locale.percent_formats[None].pattern
        if self.style != "currency" or self.options.get("currencyDisplay") == "name":
            return locale.decimal_formats[None].pattern
        sign = self.options.get("currencySign", "standard")
        return (locale.currency_formats.get(sign) or locale.currency_formats["standard"]).pattern

    def _styled(
        self,
        core: Parts,
        sign: str,
        number: Decimal | None,
        compact: str | None,
        *,
        has_digits: bool = True,
    ) -> Parts:
        """The digits with all that stands around them."""
        pattern = self.pattern
        is_money = self.style == "currency" and self.options.get("currencyDisplay") != "name"
        if compact is not None and is_money:
            return list(self._affixed(core, sign, compact, has_digits))
        if compact is not None:
            core = list(self._within(core, compact))
        made = list(self._affixed(core, sign, pattern, has_digits))
        if self.style == "unit":
            return self._with_unit(made, self._plural(number))
        if self.style == "currency" and not is_money:
            plural = self._plural(number)
            name = currency_name(self.tongue, self.currency, plural)
            forms = self.tongue.data["currency_unit_patterns"]
            form = str(forms.get(plural) or forms.get("other") or "{0} {1}")
            return _filled(form, made, [("currency", name)])
        return made

    def _within(self, core: Parts, compact: str) -> Iterator[Part]:
        """The digits in a pattern such as `0 mil`."""
        before, _, after = _split(compact)
        yield from _counted_words(before)
        yield from core
        yield from _counted_words(after)

    def _affixed(self, core: Parts, sign: str, pattern: str, has_digits: bool) -> Iterator[Part]:
        positive, _, negative = pattern.partition(";")
        uses_negative = bool(negative) and (sign == "-" or (sign == "+" and "-" in negative))
        before, _, after = _split(negative if uses_negative else positive)
        is_compact = self.notation == "compact" and "#" not in pattern
        if sign and not uses_negative:
            yield from _marked(*self._signed(sign))
        yield from self._affix(before, sign, is_compact, digits_after=has_digits)
        yield from core
        yield from self._affix(after, sign, is_compact, digits_before=has_digits)

    def _signed(self, sign: str) -> Part:
        kind = "minusSign" if sign == "-" else "plusSign"
        return kind, str(self.symbols[kind])

    def _affix(
        self,
        text: str,
        sign: str,
        is_compact: bool,
        *,
        digits_before: bool = False,
        digits_after: bool = False,
    ) -> Iterator[Part]:
        """What stands before or after the digits; a code of letters keeps its distance to them."""
        literal = ""
        for position, character in enumerate(text):
            part = self._special(character, sign)
            if part is None:
                literal += character
                continue
            if literal:
                yield from _literal(literal, is_compact)
                literal = ""
            is_code = part[0] == "currency"
            if is_code and digits_before and position == 0 and _is_word(part[1][0]):
                yield "literal", "\u00a0"
            yield from _marked(*part)
            if is_code and digits_after and position == len(text) - 1 and _is_word(part[1][-1]):
                yield "literal", "\u00a0"
        if literal:
            yield from _literal(literal, is_compact)

    def _special(self, character: str, sign: str) -> Part | None:
        if character == "¤":
            return "currency", self._currency_sign()
        if character == "%":
            return "percentSign", str(self.symbols["percentSign"])
        return self._signed(sign or "-") if character == "-" else None

    def _currency_sign(self) -> str:
        display = self.options.get("currencyDisplay", "symbol")
        if display == "code":
            return self.currency
        symbol = str(self.tongue.locale.currency_symbols.get(self.currency, self.currency))
        if display == "narrowSymbol" and self.tongue.locale.language != "ar":
            return NARROW_SIGNS.get(self.currency, symbol)
        return symbol

    def _with_unit(self, core: Parts, plural: str) -> Parts:
        length = self.options.get("unitDisplay", "short")
        first, _, other = self.unit.partition("-per-")
        known = _unit_patterns(self.tongue, self.unit, length) if other else None
        if known is not None or not other:
            forms = known or _unit_patterns(self.tongue, first, length) or {}
            return _filled(str(forms.get(plural) or forms.get("other") or "{0}"), core, [], "unit")
        top = _unit_patterns(self.tongue, first, length) or {}
        bottom = _unit_patterns(self.tongue, other, length) or {}
        inner = str(top.get(plural) or top.get("other") or "{0}")
        if "per" in bottom:
            whole = str(bottom["per"]).replace("{0}", inner)
        else:
            per = str(self.tongue.data["compound_unit_patterns"]["per"][length]["compound"])
            name = str(bottom.get("one") or bottom.get("other") or "").replace("{0}", "").strip()
            whole = per.replace("{0}", inner).replace("{1}", name)
        return _filled(whole, core, [], "unit")


def merged(parts: Parts) -> Parts:
    """The parts with what stands between two others in one piece."""
    made: Parts = []
    for kind, text in parts:
        if made and kind == "literal" == made[-1][0]:
            made[-1] = (kind, made[-1][1] + text)
        elif text:
            made.append((kind, text))
    return made


# --------------------------------------------------------------------- patterns


@lru_cache(maxsize=256)
def _split(pattern: str) -> tuple[str, str, str]:
    """What stands before the digits, their own pattern, and what stands after them."""
    match = _PATTERN.fullmatch(pattern)
    if match is None:
        return "", "", pattern
    return _unquoted(match[1]), match[2], _unquoted(match[3])


def _unquoted(text: str) -> str:
    return re.sub(r"'([^']*)'", lambda match: match[1] or "'", text)


@lru_cache(maxsize=64)
def _group_sizes(pattern: str) -> tuple[int, int]:
    whole = _split(pattern)[1].partition(".")[0]
    groups = whole.split(",")
    if len(groups) < 2:
        return 0, 0
    return len(groups[-1]), len(groups[-2]) if len(groups) > 2 else len(groups[-1])


def _is_word(character: str) -> bool:
    return unicodedata.category(character)[0] not in "SZ"


def _marked(kind: str, sign: str) -> Iterator[Part]:
    """A sign, with the marks of direction around it apart."""
    inner = sign.strip(_DIRECTIONS)
    before, _, after = sign.partition(inner)
    for part in (("literal", before), (kind, inner), ("literal", after)):
        if part[1]:
            yield part


_DIRECTIONS: Final = "\u061c\u200e\u200f"


def _literal(text: str, is_compact: bool) -> Iterator[Part]:
    if is_compact:
        yield from _counted_words(text)
    else:
        yield "literal", text


def _counted_words(text: str) -> Iterator[Part]:
    """The words of a short form, with the spaces around them apart."""
    for piece in re.findall(r"[\s\u200e\u200f]+|[^\s\u200e\u200f](?:.*[^\s\u200e\u200f])?", text):
        yield "literal" if not piece.strip("\u200e\u200f \u00a0\u202f") else "compact", piece


def _filled(pattern: str, core: Parts, other: Parts, kind: str = "literal") -> Parts:
    """`{0}` and `{1}` in a pattern replaced by parts; the words of a unit are parts as well."""
    made: Parts = []
    at = 0
    for match in _PLACE.finditer(pattern):
        made += _words(pattern[at : match.start()], kind)
        made += core if match[0] == "{0}" else other
        at = match.end()
    return made + list(_words(pattern[at:], kind))


def _words(text: str, kind: str) -> Iterator[Part]:
    if kind == "literal":
        if text:
            yield "literal", text
        return
    left = text[: len(text) - len(text.lstrip())]
    right = text[len(text.rstrip()) :] if text.strip() else ""
    for part in (("literal", left), (kind, text.strip()), ("literal", right)):
        if part[1]:
            yield part


# ------------------------------------------------------------------------- data


def currency_places(currency: str) -> int:
    """Places after the point that money of this kind has."""
    known: Any = get_global("currency_fractions")
    return int((known.get(currency) or known["DEFAULT"])[0])


def currency_name(tongue: Tongue, currency: str, plural: str) -> str:
    """`US dollars`: the name for so many."""
    forms = tongue.data["currency_names_plural"].get(currency) or {}
    name = forms.get(plural) or forms.get("other")
    return str(name or tongue.locale.currencies.get(currency) or currency)


def _unit_patterns(tongue: Tongue, unit: str, length: str) -> Any:
    patterns = tongue.data["unit_patterns"]
    for kind in patterns:
        if kind.partition("-")[2] == unit:
            lengths = patterns[kind]
            return lengths.get(length) or lengths.get("short") or lengths.get("long")
    return None
