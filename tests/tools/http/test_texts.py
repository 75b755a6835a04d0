"""Promise: a value is written in a request as JavaScript would write it."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.tools.http.texts import at_path, json_text, text_of
from saywhy.values import Date


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a b", "a b"),
        ("\ud800", "?"),
        (None, ""),
        (True, "true"),
        (False, "false"),
        (3, "3"),
        (3.0, "3"),
        (0.1, "0.1"),
        (1e21, "1e+21"),
        ([1, "a", None], '[1,"a",null]'),
        ({"a": 3.0, "é": [float("nan")]}, '{"a":3,"é":[null]}'),
        (Date(0), "1970-01-01T00:00:00.000Z"),
    ],
)
def test_text(value: Any, text: str) -> None:
    """Numbers, truth, lists and objects."""
    assert text_of(value) == text


def test_json() -> None:
    """Whole numbers stay whole, large ones stay exact, dates are text."""
    assert json_text({"n": 2.0, "big": 2**70, "at": Date(0)}) == (
        '{"n":2,"big":1180591620717411303424,"at":"1970-01-01T00:00:00.000Z"}'
    )


@pytest.mark.parametrize(
    ("path", "found"),
    [("a.b", 1), ("l.1.x", 2), ("l.9", None), ("a.b.c", None), ("none", None), ("l.x", None)],
)
def test_paths(path: str, found: Any) -> None:
    """Dots lead into objects and lists; a path that leads nowhere gives nothing."""
    assert at_path({"a": {"b": 1}, "l": [0, {"x": 2}]}, path.split(".")) == found
