"""Which of several texts is the one for somebody's language?

A language is a tag such as `es`, `es-MX` or `pt_BR`: case and the kind of dash do not matter, and a
region without texts of its own gets those of its language. What there is to be said is left to
`phrases` and to the flows. spec: flow-engine 10.1
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, TypeVar

T = TypeVar("T")

USUAL: Final = "en"
"""The language of an engine that was told none."""

_TAG: Final = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8})*\Z")


def is_tag(text: str) -> bool:
    """Whether a text can be a language: two or three letters, perhaps with a script or region."""
    return _TAG.match(text) is not None


@lru_cache(maxsize=256)
def canonical(tag: str) -> str:
    """A tag in its usual spelling: `pt_br` is `pt-BR`, `zh-hant` is `zh-Hant`."""
    first, *rest = re.split(r"[-_]", tag.strip())
    return "-".join([first.lower(), *map(_subtag, rest)])


def _subtag(part: str) -> str:
    if len(part) == 2:
        return part.upper()
    return part.title() if len(part) == 4 else part.lower()


@lru_cache(maxsize=256)
def nearest(tag: str | None) -> tuple[str, ...]:
    """A tag and the broader ones behind it: `es-MX`, then `es`. None gives nothing."""
    if not tag or not tag.strip():
        return ()
    parts = canonical(tag).split("-")
    return tuple("-".join(parts[:count]) for count in range(len(parts), 0, -1))


@lru_cache(maxsize=1024)
def keys_for(name: str, tag: str | None) -> tuple[str, ...]:
    """The keys under which an author may have written `name` for a language, nearest first."""
    return tuple(f"{name}_{spelled}" for spelled in _spellings(tag))


@lru_cache(maxsize=256)
def _spellings(tag: str | None) -> tuple[str, ...]:
    spelled: dict[str, None] = {}
    for one in nearest(tag):
        dashed = dict.fromkeys((one, one.lower(), one.upper()))
        spelled |= dict.fromkeys(each for text in dashed for each in (text, text.replace("-", "_")))
    return tuple(spelled)


def chosen(spec: Mapping[str, Any], name: str, tag: str | None) -> Any:
    """What stands under `name` for a language: the first that is not empty, else the plain one."""
    return spec.get(key_of(spec, name, tag))


def key_of(spec: Mapping[str, Any], name: str, tag: str | None) -> str:
    """The key under which `chosen` finds its value."""
    for key in keys_for(name, tag):
        if spec.get(key):
            return key
    return name


def pick(texts: Mapping[str, T], tag: str | None) -> T | None:
    """The entry for a language of a mapping by language; None where there is none."""
    for spelled in _spellings(tag):
        if spelled in texts:
            return texts[spelled]
    return None


def is_near(one: str, other: str) -> bool:
    """Whether two tags are one language, or one of them with a region."""
    return canonical(one) in nearest(other) or canonical(other) in nearest(one)


def covers(spec: Mapping[str, Any], name: str, tag: str) -> bool:
    """Whether `name` has a text of its own for a language."""
    return any(spec.get(key) for key in keys_for(name, tag))
