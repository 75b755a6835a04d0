"""Which language does a tag ask for, and what of it is there?

`de-AT` is German as in Austria, `ar-u-nu-arab` Arabic with its own digits. Where a region is
unknown its language is taken, where that is unknown American English, as Node does it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from babel import Locale, localedata
from babel.core import get_global

ZEROS: Final = {
    "arab": 0x660,
    "arabext": 0x6F0,
    "beng": 0x9E6,
    "cakm": 0x11136,
    "deva": 0x966,
    "fullwide": 0xFF10,
    "gujr": 0xAE6,
    "guru": 0xA66,
    "khmr": 0x17E0,
    "knda": 0xCE6,
    "laoo": 0xED0,
    "latn": 0x30,
    "mlym": 0xD66,
    "mymr": 0x1040,
    "olck": 0x1C50,
    "orya": 0xB66,
    "tamldec": 0xBE6,
    "telu": 0xC66,
    "thai": 0xE50,
    "tibt": 0xF20,
}
"""Numbering systems by their digit zero; the other nine follow it."""

FALLBACK: Final = "en-US"


@dataclass(frozen=True, slots=True)
class Tongue:
    """A language as it was found."""

    tag: str
    locale: Locale
    digits: str
    """The numbering system."""
    keywords: tuple[tuple[str, str], ...] = ()
    """What stands behind `-u-`: `("hc", "h23")`."""

    @property
    def data(self) -> Any:
        """Babel's data for what its own interface does not give."""
        return self.locale._data  # pyright: ignore[reportPrivateUsage]

    @property
    def symbols(self) -> Any:
        """Signs of numbers, in these digits."""
        every = self.locale.number_symbols
        return every.get(self.digits) or every["latn"]

    def keyword(self, name: str) -> str:
        """What the tag says for `name`; empty where it says nothing."""
        return dict(self.keywords).get(name, "")

    def in_digits(self, text: str) -> str:
        """`text` with the digits of the language."""
        return text if self.digits == "latn" else text.translate(_digit_table(self.digits))


@lru_cache(maxsize=len(ZEROS))
def _digit_table(system: str) -> dict[int, int]:
    return {0x30 + digit: ZEROS[system] + digit for digit in range(10)}


def tongue_of(tags: Sequence[str], numbering: str = "") -> Tongue:
    """The first of the languages that is there."""
    return _tongue_of(tuple(tags), numbering)


@lru_cache(maxsize=256)
def _tongue_of(tags: tuple[str, ...], numbering: str) -> Tongue:
    for tag in (*tags, FALLBACK):
        plain, keywords = _split(tag)
        found = find(plain)
        if found is not None:
            return _with_keywords(*found, keywords, numbering)
    raise AssertionError("there is no English")


def _with_keywords(name: str, locale: Locale, keywords: dict[str, str], numbering: str) -> Tongue:
    digits = locale.default_numbering_system
    digits = digits if digits in ZEROS else "latn"
    kept: dict[str, str] = {}
    if keywords.get("nu") in ZEROS:
        digits = kept["nu"] = keywords["nu"]
    for key, allowed in _KEPT.items():
        if keywords.get(key) in allowed:
            kept[key] = keywords[key]
    if numbering in ZEROS:
        kept = {key: value for key, value in kept.items() if (key, value) != ("nu", digits)}
        digits = numbering
    extension = "".join(f"-{key}-{kept[key]}" for key in sorted(kept) if key == "nu")
    tag = f"{name}-u{extension}" if extension else name
    return Tongue(tag, locale, digits, tuple(kept.items()))


_KEPT: Final = {"hc": ("h11", "h12", "h23", "h24"), "ca": ("gregory",)}


def _split(tag: str) -> tuple[list[str], dict[str, str]]:
    """The parts that name the language, and the keywords behind `-u-`."""
    parts = tag.lower().split("-")
    ends = [number for number, part in enumerate(parts) if len(part) == 1]
    plain = parts[: ends[0]] if ends else parts
    keywords: dict[str, str] = {}
    if "u" in parts[len(plain) :]:
        key = ""
        for part in parts[parts.index("u", len(plain)) + 1 :]:
            if len(part) == 1:
                break
            if len(part) == 2:
                key = part
                keywords.setdefault(key, "")
            elif key:
                keywords[key] = f"{keywords[key]}-{part}".lstrip("-")
    return plain, keywords


def canonical(tag: str) -> str:
    """The tag in its usual spelling: `PT-br` is `pt-BR`."""
    plain, _ = _split(tag)
    language, *rest = plain
    alias = str(get_global("language_aliases").get(language, language))
    spelled = [*alias.split("_"), *map(_spelled, rest)]
    return "-".join([*spelled, *tag.lower().split("-")[len(plain) :]])


def _spelled(part: str) -> str:
    if len(part) == 4 and part.isalpha():
        return part.title()
    return part.upper() if len(part) in (2, 3) else part


def find(parts: Sequence[str]) -> tuple[str, Locale] | None:
    """The language, as far as it is known: what it is called, and its data."""
    language, *rest = canonical("-".join(parts)).split("-")
    script = next((part for part in rest if len(part) == 4 and part.isalpha()), "")
    region = next((part for part in rest if len(part) in (2, 3)), "")
    for tag in _candidates(language, script, region):
        name = _data_name(tag)
        if name is not None:
            return tag, Locale.parse(name)
    return None


def _candidates(language: str, script: str, region: str) -> list[str]:
    every = [[language, script, region], [language, region], [language, script], [language]]
    if script:  # another script is another way to write everything
        every = [every[0], every[2], every[3]]
    return list(dict.fromkeys("-".join(filter(None, each)) for each in every))


def _data_name(tag: str) -> str | None:
    """What Babel calls its data for the tag. It wants the script where a language has several."""
    name = _OWN_NAMES.get(tag, tag).replace("-", "_")
    if localedata.exists(name):
        return name
    language, _, rest = name.partition("_")
    subtags = get_global("likely_subtags")
    likely = str(subtags.get(name) or subtags.get(language, "")).split("_")
    if len(likely) == 3 and rest and len(rest) < 4:
        scripted = f"{language}_{likely[1]}_{rest}"
        return scripted if localedata.exists(scripted) else None
    if len(likely) == 3 and len(rest) == 4:
        regional = f"{language}_{rest}_{likely[2]}"
        plain = f"{language}_{likely[2]}"
        return next((each for each in (regional, plain) if localedata.exists(each)), None)
    return None


_OWN_NAMES: Final = {"no": "nb", "no-NO": "nb-NO"}
"""Names of languages that have their data under another one."""
