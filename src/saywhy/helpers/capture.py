"""Does an answer hold something that a flow looks out for? By the author's own patterns.

The patterns are JavaScript's, searched for by the engine that evaluates expressions: with its time
limit, which Python's `re` has not.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from saywhy.expr.javascript import Evaluated, JavaScript
from saywhy.expr.names import Path
from saywhy.helpers.words import text_of
from saywhy.values import UNDEFINED

_NORMAL: Final = "normalizer ? text.replace(new RegExp(normalizer, 'g'), '') : text"
_HIT: Final = "new RegExp(regex).test(text)"


class _Given:
    """The names that the two expressions read."""

    def __init__(self, **values: str) -> None:
        self.values = values
        self.functions: Collection[str] = ()

    def has(self, name: str) -> bool:
        return name in self.values

    def get(self, path: Path) -> Any:
        return self.values.get(str(path[0]), UNDEFINED)


def normalize_and_find_capture(text: Any = None, patterns: Any = None) -> dict[str, Any] | None:
    """The first pattern that is found in the answer: its `variable`, and the answer as `value`.

    `patterns`: objects with `variable`, `regex` and perhaps `normalizer`, a pattern of what goes
    before. A pattern that is none is passed over; without a hit it is null.
    """
    said = text_of(text)
    if not said or not isinstance(patterns, Sequence) or isinstance(patterns, str):
        return None
    for pattern in patterns:
        if not isinstance(pattern, Mapping) or not isinstance(pattern.get("regex"), str):
            continue
        value = _evaluated(_NORMAL, text=said, normalizer=text_of(pattern.get("normalizer")))
        if not isinstance(value, str):
            continue
        if _evaluated(_HIT, text=value, regex=pattern["regex"]) is True:
            return {"variable": pattern.get("variable"), "value": value}
    return None


def _evaluated(source: str, **values: str) -> Any:
    found = JavaScript().evaluate(source, _Given(**values))
    return found.value if isinstance(found, Evaluated) else None
