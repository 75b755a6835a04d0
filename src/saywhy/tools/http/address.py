"""The address of a request: path parameters filled in, arguments as a query. Pure.

A value is encoded wherever it goes, so that no argument can change what is called: not with a
slash, not with `..`, not by being empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote, quote_plus

from saywhy.tools.http.texts import text_of

PLACEHOLDER: Final = re.compile(r"(?<!\{)\{([A-Za-z_$][\w$.-]*)\}(?!\})")
ARRAY_FORMATS: Final = ("repeat", "comma", "brackets")
_BY_DOTS: Final = frozenset({".", ".."})


class Unfit(Exception):
    """The arguments make no address. The message is for the conversation."""

    def __init__(self, message: str, hint: str = "") -> None:
        self.message = message
        self.hint = hint
        super().__init__(message)


def placeholders_in(url: str) -> list[str]:
    """The names in `{…}` of an address, in order."""
    return list(dict.fromkeys(PLACEHOLDER.findall(url)))


def with_path(url: str, arguments: dict[str, Any], wanted: Sequence[str]) -> str:
    """`url` with its `{names}` filled; what was used is taken out of `arguments`.

    Raises `Unfit` where a value is missing or empty, or is made of dots, which would lead elsewhere
    in the path.
    """
    names = placeholders_in(url)
    for name in (*(name for name in wanted if name in names), *names):
        value = text_of(arguments.get(name))
        if not value:
            raise Unfit(
                f"Missing required path parameter: {name}",
                f"give `{name}` in the step's args; it stands in the tool's address",
            )
        if value in _BY_DOTS:
            raise Unfit(
                f'Path parameter {name} must not be "{value}"', "it would lead to another path"
            )
    filled = PLACEHOLDER.sub(lambda hit: quote(text_of(arguments[hit[1]]), safe=""), url)
    for name in names:
        arguments.pop(name, None)
    return filled


def query_text(pairs: Iterable[tuple[str, str]]) -> str:
    """`a=1&b=x+y`: names and values encoded as forms are."""
    return "&".join(f"{quote_plus(name)}={quote_plus(value)}" for name, value in pairs)


def pairs_of(
    arguments: Mapping[str, Any], array_format: str = "repeat"
) -> Iterable[tuple[str, str]]:
    """Arguments as names and values: null left out, lists by `array_format`, objects as JSON."""
    for name, value in arguments.items():
        if value is None:
            continue
        if not isinstance(value, list):
            yield name, text_of(value)
        elif array_format == "comma":
            yield name, ",".join(text_of(item) for item in value if item is not None)
        else:
            spelled = f"{name}[]" if array_format == "brackets" else name
            yield from ((spelled, text_of(item)) for item in value if item is not None)


def custom_query(text: str, arguments: Mapping[str, Any]) -> str:
    """The author's own query, with the arguments at `{name}`; a missing one is empty."""
    return PLACEHOLDER.sub(lambda hit: quote(text_of(arguments.get(hit[1])), safe=""), text)


def joined(url: str, queries: Iterable[str]) -> str:
    """`url` with the queries behind it, without its fragment, which no server ever sees."""
    address = url.partition("#")[0].strip()
    for query in queries:
        text = query.lstrip("?&")
        if text:
            address += ("&" if "?" in address else "?") + text
    return address
