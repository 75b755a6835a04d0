"""Promise: what another process cannot have made honestly is told from a value."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.expr.sound import MAX_DEPTH, is_sound, is_sound_text
from saywhy.expr.transfer import Foreign
from saywhy.values import UNDEFINED, BigInt, Date, NonFinite, freeze


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        None,
        "text",
        -0.0,
        NonFinite("nan"),
        UNDEFINED,
        BigInt(5),
        Date(1.5),
        freeze({"a": [1, {"b": Date(0)}]}),
        [Foreign("map", [["a", 1]], ""), Foreign("regexp", None, "/a/")],
        nested(MAX_DEPTH - 1),
    ],
)
def test_what_the_kit_makes(value: Any) -> None:
    """Values, and descriptions of what only JavaScript holds."""
    assert is_sound(value)


@pytest.mark.parametrize(
    "value",
    [
        Date("2020"),  # type: ignore[arg-type]
        Date([]),  # type: ignore[arg-type]
        [{"a": Date(True)}],
        Foreign("shell", None, ""),
        Foreign("map", [object()], ""),
        Foreign("error", None, 5),  # type: ignore[arg-type]
        object(),
        b"bytes",
        nested(MAX_DEPTH + 1),
    ],
)
def test_what_it_does_not_make(value: Any) -> None:
    """Tags with something else inside, other kinds, and nesting without end."""
    assert not is_sound(value)


def test_plain_text_needs_no_walk() -> None:
    """JSON without tags, nested little, is told by its text."""
    assert is_sound_text('[1, {"a": "b"}]')
    assert not is_sound_text('{"$date": []}')
    assert not is_sound_text("[" * (MAX_DEPTH + 1))
