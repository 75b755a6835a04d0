"""How does a language count, list, tell how long ago, and call other languages?

`Intl.PluralRules`, `ListFormat`, `RelativeTimeFormat` and `DisplayNames`, each settled once for
its options.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from saywhy.expr.locales.digits import Refused, checked, rounding_of
from saywhy.expr.locales.numbers import NumberFormat
from saywhy.expr.locales.tags import canonical, find, tongue_of


class PluralRules:
    """Which form of a word goes with a number."""

    def __init__(self, tags: list[str], options: Mapping[str, Any]) -> None:
        self.tongue = tongue_of(tags)
        self.options = options
        self.is_ordinal = options.get("type") == "ordinal"
        self.rounding = rounding_of(options, (0, 3))

    def parts(self, text: str) -> str:
        """The form: `one`, `few`, `other`."""
        if checked(text).lstrip("-") in ("NaN", "Infinity"):
            return "other"
        number = self.rounding.of(Decimal(text.lstrip("-")), is_negative=text.startswith("-"))
        locale = self.tongue.locale
        return str((locale.ordinal_form if self.is_ordinal else locale.plural_form)(number))

    def resolved(self) -> dict[str, Any]:
        """What `resolvedOptions` gives."""
        locale = self.tongue.locale
        rule = locale.ordinal_form if self.is_ordinal else locale.plural_form
        return {
            "locale": self.tongue.tag,
            "type": "ordinal" if self.is_ordinal else "cardinal",
            **self.rounding.resolved(),
            "pluralCategories": [form for form in _FORMS if form in rule.tags | {"other"}],
        }


_FORMS: Final = ("few", "many", "one", "two", "zero", "other")


class ListFormat:
    """How the items of a list are put together."""

    def __init__(self, tags: list[str], options: Mapping[str, Any]) -> None:
        self.tongue = tongue_of(tags)
        self.type = options.get("type", "conjunction")
        self.style = options.get("style", "long")
        known = self.tongue.data["list_patterns"]
        name = {"conjunction": "standard", "disjunction": "or", "unit": "unit"}[self.type]
        names = [name] if self.style == "long" else [f"{name}-{self.style}", f"{name}-short", name]
        self.patterns: dict[str, str] = {}
        for each in reversed(["standard", *reversed(names)] if name == "unit" else names):
            self.patterns = {**dict(known.get(each, {}).items()), **self.patterns}

    def parts(self, starts: Sequence[str]) -> list[tuple[str, Any]]:
        """Texts, and numbers of the items between them. The items are seen by their beginnings."""
        if not starts:
            return []
        count = len(starts)
        made = self._items(0)
        for number in range(1, count):
            if count == 2:
                name = "2"
            else:
                name = "start" if number == 1 else "end" if number == count - 1 else "middle"
            pattern = self._pattern(name, starts[number])
            made = _between(pattern, made, self._items(number))
        return made

    def _items(self, number: int) -> list[tuple[str, Any]]:
        return [("element", number)]

    def _pattern(self, name: str, following: str) -> str:
        pattern = str(self.patterns.get(name) or "{0}, {1}")
        if self.tongue.locale.language != "es":
            return pattern
        # The Spanish words change before their own sound.
        if " y " in pattern and re.match(r"i|hi(?![ae])", following, re.IGNORECASE):
            return pattern.replace(" y ", " e ")
        if " o " in pattern and re.match(r"o|ho|8|11(?!\d)", following, re.IGNORECASE):
            return pattern.replace(" o ", " u ")
        return pattern

    def resolved(self) -> dict[str, Any]:
        """What `resolvedOptions` gives."""
        return {"locale": self.tongue.tag, "type": self.type, "style": self.style}


def _between(
    pattern: str, one: list[tuple[str, Any]], other: list[tuple[str, Any]]
) -> list[tuple[str, Any]]:
    made: list[tuple[str, Any]] = []
    for piece in re.split(r"(\{[01]\})", pattern):
        if piece in ("{0}", "{1}"):
            made += one if piece == "{0}" else other
        elif piece:
            made.append(("literal", piece))
    return made


class RelativeTimeFormat:
    """How long ago something was, or how soon it will be."""

    def __init__(self, tags: list[str], options: Mapping[str, Any]) -> None:
        numbering = options.get("numberingSystem", "")
        self.tongue = tongue_of(tags, numbering)
        self.style = options.get("style", "long")
        self.numeric = options.get("numeric", "always")
        self.numbers = NumberFormat(tags, {"numberingSystem": numbering} if numbering else {})

    def parts(self, text: str, unit: str) -> list[tuple[str, ...]]:
        """The phrase in parts; those of the number name the unit as well."""
        name = unit.removesuffix("s")
        if name not in _UNITS:
            raise Refused(f"Invalid unit argument for Intl.RelativeTimeFormat() '{unit}'")
        fields = self._fields(name)
        word = self._word(fields, text)
        if word is not None:
            return [("literal", word)]
        size = checked(text).lstrip("-")
        plural = str(self.tongue.locale.plural_form(Decimal(size)))
        forms = fields["past" if text.startswith("-") else "future"]
        pattern = str(forms.get(plural) or forms["other"])
        made: list[tuple[str, ...]] = []
        for piece in re.split(r"(\{0\})", pattern):
            if piece == "{0}":
                made += [(kind, value, name) for kind, value in self.numbers.parts(size)]
            elif piece:
                made.append(("literal", piece))
        return made

    def _fields(self, unit: str) -> Any:
        known = self.tongue.data["date_fields"]
        names = [unit] if self.style == "long" else [f"{unit}-{self.style}", f"{unit}-short", unit]
        merged_fields: dict[str, Any] = {}
        for name in reversed(names):
            merged_fields |= dict(known.get(name, {}).items())
        return merged_fields

    def _word(self, fields: Any, text: str) -> str | None:
        if self.numeric != "auto" or not re.fullmatch(r"-?\d", text):
            return None
        word = fields.get("relative", {}).get(int(text))
        return None if word is None else str(word)

    def resolved(self) -> dict[str, Any]:
        """What `resolvedOptions` gives."""
        return {
            "locale": self.tongue.tag,
            "style": self.style,
            "numeric": self.numeric,
            "numberingSystem": self.tongue.digits,
        }


_UNITS: Final = ("second", "minute", "hour", "day", "week", "month", "quarter", "year")


class DisplayNames:
    """What a language calls languages, regions, scripts and currencies."""

    def __init__(self, tags: list[str], options: Mapping[str, Any]) -> None:
        self.tongue = tongue_of(tags)
        self.options = options
        self.type = str(options.get("type"))

    def parts(self, code: str) -> str | None:
        """The name; the code itself, or nothing, where there is none."""
        form = _CODES[self.type]
        if not form.fullmatch(code):
            raise Refused(f"Invalid argument to Intl.DisplayNames.prototype.of: {code}")
        name = self._name(code)
        if name is not None:
            return name
        return None if self.options.get("fallback") == "none" else _spelled(self.type, code)

    def _name(self, code: str) -> str | None:
        locale = self.tongue.locale
        if self.type == "currency":
            return locale.currencies.get(code.upper())
        if self.type == "region":
            return locale.territories.get(code.upper())
        if self.type == "script":
            return locale.scripts.get(code.title())
        tag = canonical(code)
        known = locale.languages.get(tag.replace("-", "_"))
        if known is not None and self.options.get("languageDisplay") != "standard":
            return known
        found = find(tag.split("-"))
        if found is None:
            return locale.languages.get(tag)
        named = found[1].get_display_name(locale) if "-" in tag else None
        return named or locale.languages.get(tag)

    def resolved(self) -> dict[str, Any]:
        """What `resolvedOptions` gives."""
        return {
            "locale": self.tongue.tag,
            "style": self.options.get("style", "long"),
            "type": self.type,
            "fallback": self.options.get("fallback", "code"),
        }


_CODES: Final = {
    "language": re.compile(r"[a-zA-Z]{2,8}(-[a-zA-Z\d]{1,8})*"),
    "region": re.compile(r"[a-zA-Z]{2}|\d{3}"),
    "script": re.compile(r"[a-zA-Z]{4}"),
    "currency": re.compile(r"[a-zA-Z]{3}"),
}


def _spelled(kind: str, code: str) -> str:
    if kind == "language":
        return canonical(code)
    return code.title() if kind == "script" else code.upper()
