"""Promise: a mock tool answers with what its definition holds, a moment later."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.testing.clock import START_MS, FakeClock
from saywhy.tools.tool import Tool, tool_from_definition
from saywhy.values import same


def mock(response: Any) -> Tool:
    implementation = {"type": "mock", "mockResponse": response}
    return tool_from_definition({"id": "Work", "implementation": implementation})


@pytest.mark.parametrize(
    ("response", "args", "value"),
    [
        ({"ok": True}, {}, {"ok": True}),
        ({"good": 1, "bad": {"code": 2}}, {"testType": "bad"}, {"code": 2}),
        ({"good": 1, "bad": None}, {"testType": "bad"}, None),
        ({"good": 1}, {"testType": "other"}, {"good": 1}),
        ({"good": 1}, {"testType": 3}, {"good": 1}),
        ("text", {"testType": "text"}, "text"),
        ([1, 2], {}, [1, 2]),
        (None, {}, None),
    ],
)
def test_answer(call: Any, response: Any, args: dict[str, Any], value: Any) -> None:
    """The whole response, or the part that `testType` names."""
    answer = call(tool=mock(response), args=args)
    assert answer.fault is None
    assert same(answer.value, value)


def test_takes_a_tenth_of_a_second(call: Any) -> None:
    """The delay passes on the clock that was handed in, and the attempt is listed before it."""
    clock = FakeClock()
    answer = call(tool=mock("x"), clock=clock)
    assert clock.now() == START_MS + 100
    assert [(a.tool, a.implementation, a.at) for a in answer.attempts] == [
        ("Work", "mock", START_MS)
    ]


def test_has_no_effect() -> None:
    """A mock may be called again at any time."""
    assert mock("x").effect == "reads"
