"""Promise: whatever a call comes to has one form for the model, and that survives the state."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.agent.tool_input import validate_tool_input
from saywhy.agent.tool_reply import (
    ToolReply,
    content_of,
    failed,
    invalid_input,
    not_found,
    reply_to,
    reply_with,
)
from saywhy.agent.tools import define_tool
from saywhy.tools.answer import ToolAnswer
from saywhy.tools.tool_result import ToolResult
from saywhy.values import UNDEFINED, dumps, freeze, loads
from tests.agent.test_tools import called


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("text", "text"),
        ({"a": [1, "é"]}, '{"a":[1,"é"]}'),
        (None, "null"),
        (UNDEFINED, "null"),
        (1.5, "1.5"),
    ],
)
def test_content(value: Any, text: str) -> None:
    """Text is shown as it is, other values as compact JSON with their letters as they are."""
    assert content_of(freeze(value)) == text


def test_unknown_tools() -> None:
    """The name of an unknown tool is cut and has no line breaks."""
    reply = not_found("a\r\nb" + "x" * 200)
    assert reply.error == {"code": "NOT_FOUND", "message": f"Tool 'ab{'x' * 96}' not found"}
    assert reply.content == dumps({"error": True, "message": reply.error["message"]}).decode()


def test_wrong_arguments() -> None:
    """Wrong arguments are told with the tool and every error."""
    check = validate_tool_input({}, {"required": ["k"]})
    told = "Invalid arguments for 'a': k: Required field 'k' is missing."
    assert invalid_input("a", check) == ToolReply(
        f'{{"error":true,"message":"{told}"}}', {"code": "INVALID_INPUT", "message": told}
    )


async def test_the_code_of_an_exception() -> None:
    """An exception that has a `code` keeps it, through the journal."""

    def handler(arguments: Any) -> None:
        error = RuntimeError("no such card")
        error.code = "card_declined"  # type: ignore[attr-defined]
        raise error

    reply = await called(define_tool("o", "d", None, handler))
    assert reply == failed("no such card", "card_declined")
    assert reply.content == '{"error":true,"message":"no such card"}'


def test_a_failure_without_code() -> None:
    """Without a code there is only the message."""
    assert reply_to(ToolAnswer(fault_message="down")).error == {"message": "down"}


@pytest.mark.parametrize(
    "reply",
    [
        ToolReply("x"),
        failed("x", "C"),
        reply_with(ToolResult({"a": 1}, True, ("i",), ({"tool_id": "t", "params": {}},))),
    ],
)
def test_the_state_holds_it(reply: ToolReply) -> None:
    """A reply comes back from the state, and from its JSON, as it was."""
    assert ToolReply.from_value(reply.to_value()) == reply
    assert ToolReply.from_value(loads(dumps(reply.to_value()))) == reply
