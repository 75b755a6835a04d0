"""Promise: a host that asks is told of answers that break their promise or report a failure."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.tools.diagnostics import Returns, failure_warning
from saywhy.tools.tool import Tool, tool_from_definition
from saywhy.values import Date, freeze


def tool(**keys: Any) -> Tool:
    implementation = {"type": "local", "function": "work"}
    return tool_from_definition({"id": "pay-bill", "implementation": implementation, **keys})


SHAPE = {
    "type": "object",
    "required": ["success"],
    "properties": {"success": {"type": "boolean"}, "at": {"type": "string"}},
}


@pytest.mark.parametrize(
    ("answer", "warning"),
    [
        ({"success": True, "at": Date(0)}, None),
        (
            {"at": 3},
            "The answer of tool pay-bill does not match its `returns`: "
            'root must have the property "success", at must be text, not a number',
        ),
        (
            "4111111111111111",
            "The answer of tool pay-bill does not match its `returns`: "
            "root must be an object, not text",
        ),
    ],
)
def test_an_answer_of_another_shape(answer: Any, warning: str | None) -> None:
    """One warning names the tool and every path, and quotes no value."""
    assert Returns().warning(tool(returns=SHAPE), freeze(answer)) == warning


def test_no_promise_no_warning() -> None:
    """A tool without `returns` may answer anything."""
    assert Returns().warning(tool(), freeze([])) is None


def test_a_promise_that_is_no_schema_is_reported_once() -> None:
    """Once a tool, however often it is called; the next host is told again."""
    broken, returns = tool(returns={"type": "text"}), Returns()
    first, second = returns.warning(broken, 1), returns.warning(broken, 2)
    assert first is not None
    assert first.startswith("`returns` of tool pay-bill does not compile: ")
    assert second is None
    assert Returns().warning(broken, 1) == first


@pytest.mark.parametrize(
    ("answer", "warning"),
    [
        ({"success": True}, None),
        ({"success": True, "error": None}, None),
        ({"error": 0}, None),
        ({"error": ""}, None),
        ("failed", None),
        (None, None),
        (
            {"success": False, "code": "E1", "message": "no funds"},
            "Tool pay-bill answered a failure (E1): no funds",
        ),
        ({"error": 17}, "Tool pay-bill answered a failure (17): no message"),
        (
            {"error": 17, "message": "no funds"},
            "Tool pay-bill answered a failure (17): no funds",
        ),
        ({"error": "no funds"}, "Tool pay-bill answered a failure (no code): no funds"),
        (
            {"error": {"code": 404, "message": "no card 4111111111111111 of 123"}},
            "Tool pay-bill answered a failure (404): no card **** of 123",
        ),
        (
            {"success": False, "code": "A-12345", "message": ""},
            "Tool pay-bill answered a failure (A-****): no message",
        ),
    ],
)
def test_an_answer_that_reports_a_failure(answer: Any, warning: str | None) -> None:
    """`success` false or an `error` is a failure; long runs of digits are masked."""
    assert failure_warning(tool(), freeze(answer)) == warning
