"""What does the log say of an expression that failed?

What is wrong and at which word, a name that may have been meant, and of which type the values were
that it read. No value is added to what the error says: words of users are not for logs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from saywhy.errors import did_you_mean
from saywhy.expr.chains import Path
from saywhy.expr.outcome import Names, Raised
from saywhy.values import UNDEFINED, BigInt, Date, FrozenDict, FrozenList

MAX_TYPES: Final = 5
"""Values whose types are told."""

LONGEST: Final = 1000
"""Characters of an error's text, which may be an author's own making."""

_UNKNOWN: Final = re.compile(r"([\w$]+) is not defined")
_UNPRINTABLE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def told(source: str, raised: Raised, names: Names, known: Sequence[str]) -> str:
    """Kind and message, the word it is about, a way out, and the types of what was read."""
    message = raised.message
    if len(message) > LONGEST:
        message = f"{message[: LONGEST - 3]}..."
    parts = [f"{raised.kind}: {message}{_word(source, raised)}"]
    unknown = _UNKNOWN.fullmatch(raised.message)
    hint = did_you_mean(unknown[1], known) if unknown else raised.hint
    types = [f"{_spelled(path)} is {type_of(value)}" for path, value in _read(raised, names)]
    return "; ".join(filter(None, [*parts, hint, ", ".join(types)]))


def one_line(text: str) -> str:
    """`text` as one line of a log: no part of it can pass for another line, and all is Unicode."""
    return _UNPRINTABLE.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    return "⏎" if match[0] == "\n" else f"\\u{ord(match[0]):04x}"


def _word(source: str, raised: Raised) -> str:
    if raised.span is None:
        return ""
    word = source[slice(*raised.span)]
    is_telling = re.search(r"[\w$]", word) is not None and word not in raised.message
    prefixes = (path[:depth] for path in raised.reads for depth in range(1, len(path) + 1))
    is_read = word in map(_spelled, prefixes)  # its type is told anyhow
    return f' at "{word}"' if is_telling and not is_read and word != source else ""


def _read(raised: Raised, names: Names) -> list[tuple[Path, Any]]:
    """Paths that were read, each only so far as something is there, with their values."""
    found: dict[Path, Any] = {}
    for whole in raised.reads:
        path = whole[:-1] if whole[-1] == "length" else whole
        if not path or not names.has(str(path[0])):
            continue
        for depth in range(1, len(path) + 1):
            value = names.get(path[:depth])
            if value is UNDEFINED or value is None or depth == len(path):
                found[path[:depth]] = value
                break
    return list(found.items())[:MAX_TYPES]


def _spelled(path: Path) -> str:
    root, *rest = path
    return f"{root}" + "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in rest)


def type_of(value: Any) -> str:
    """The type of a value in the words of a flow's author."""
    if value is None:
        return "null"
    if value is UNDEFINED:
        return "undefined"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, str):
        return "text" if value else "empty text"
    if isinstance(value, FrozenList):
        return f"a list of {len(value)}"
    if isinstance(value, FrozenDict):
        return "an object"
    return {BigInt: "a BigInt", Date: "a date"}.get(type(value), "a number")
