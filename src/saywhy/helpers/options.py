"""What did the author of a flow ask a helper for? Options of an object, read forgivingly.

An option of the wrong kind counts as not given; what a helper cannot do without it refuses itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saywhy.helpers.words import text_of


def options_of(options: Any) -> Mapping[str, Any]:
    """The options, none for what is no object."""
    return options if isinstance(options, Mapping) else {}


def flag_of(options: Mapping[str, Any], name: str) -> bool:
    """Whether an option is switched on."""
    return options.get(name) is True or options.get(name) == "true"


def word_of(options: Mapping[str, Any], name: str) -> str:
    """A text, empty where it is not given."""
    return text_of(options.get(name)).strip()


def count_of(value: Any, default: int) -> int:
    """A number of characters or digits; numbers that are text count as well."""
    text = text_of(value).strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else default


def least_and_most(options: Mapping[str, Any], least: int, most: int) -> tuple[int, int]:
    """`min` and `max`, or what they are when not given."""
    return count_of(options.get("min"), least), count_of(options.get("max"), most)
