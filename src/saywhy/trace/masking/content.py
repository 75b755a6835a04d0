"""What the tool of an agent answered: text for a model, which may be the JSON of a value.

A declaration speaks of the value, so the text is read for it, and written again without what is
sensitive. Where sensitive things stand is `taint`'s to tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from saywhy.trace.masking.declared import Spot
from saywhy.trace.masking.rewrite import Rewriter
from saywhy.trace.masking.sensitive import SensitiveNames, gives_away
from saywhy.trace.masking.veil import veil_at
from saywhy.values import dumps, freeze, loads_raw, raw

_CONTENT: Final = "content"
_SHORTEST: Final = 4
"""A shorter text would be masked in every other word."""


@dataclass(frozen=True, slots=True)
class Content:
    """The text, and the value that it is the JSON of; the text once more where it is none."""

    text: str
    tree: Any

    def shown(self, spots: tuple[Spot, ...], mark: str) -> str:
        """The text without what stands at `spots` in the value."""
        told = raw(veil_at(freeze(self.tree), spots, mark))
        return told if isinstance(told, str) else dumps(told).decode()

    def replaced(self, value: Any, shown: str) -> Any:
        """A value with `shown` wherever the text stands; the same object where it does not."""
        return _Replacing(self.text, shown).value(value)


def content_of(value: Any, spots: tuple[Spot, ...]) -> Content | None:
    """The answer of an agent's tool; None for a value that the declaration speaks of itself."""
    inside = raw(value)
    if not isinstance(inside, Mapping) or any(spot and spot[0] in inside for spot in spots):
        return None
    text = inside.get(_CONTENT)  # pyright: ignore[reportUnknownMemberType] - JSON
    if not isinstance(text, str) or not text:
        return None
    try:
        return Content(text, loads_raw(text))
    except (ValueError, TypeError, RecursionError):
        return Content(text, text)


def named_in(value: Any, names: SensitiveNames) -> list[str]:
    """The texts and numbers that stand under sensitive names in the JSON that an agent's tool
    answered: in a text no name is seen."""
    inside = raw(value)
    text = inside.get(_CONTENT) if isinstance(inside, Mapping) else None  # pyright: ignore[reportUnknownMemberType] - JSON
    if not isinstance(text, str) or text[:1] not in ("{", "["):
        return []
    try:
        tree = loads_raw(text)
    except (ValueError, TypeError, RecursionError):
        return []
    found: list[str] = []
    waiting: list[tuple[Any, bool]] = [(tree, False)]
    while waiting:
        one, is_named = waiting.pop()
        if isinstance(one, Mapping):
            for name, item in one.items():  # pyright: ignore[reportUnknownVariableType] - JSON
                told = str(name)  # pyright: ignore[reportUnknownArgumentType]
                waiting.append((item, is_named or (told in names and gives_away(told, item))))
        elif isinstance(one, list):
            waiting += [(item, is_named) for item in one]  # pyright: ignore[reportUnknownVariableType]
        elif is_named and isinstance(one, str | int | float) and not isinstance(one, bool):
            found.append(str(one))
    return [one for one in found if len(one) >= _SHORTEST]


class _Replacing(Rewriter):
    __slots__ = ("shown", "sought")

    def __init__(self, sought: str, shown: str) -> None:
        self.sought, self.shown = sought, shown

    def text(self, text: str) -> str:
        return text.replace(self.sought, self.shown) if self.sought in text else text
