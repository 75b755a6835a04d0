"""What came of a tool call, as the model reads it and as instructions look at it.

One form for all that can happen: a value, a `ToolResult`, a handler that raised, a tool that is not
there, arguments that do not fit. It goes through the journal and the state as a plain JSON value
(`to_value`, `from_value`). What instructions add to the text is not in here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from saywhy.agent.tool_input import InputCheck
from saywhy.tools.answer import ToolAnswer
from saywhy.tools.schema import REFUSED
from saywhy.tools.tool_result import ToolResult
from saywhy.values import UNDEFINED, FrozenDict, dumps, freeze, raw, thaw

NOT_FOUND: Final = "NOT_FOUND"
INVALID_INPUT: Final = "INVALID_INPUT"

SHOWN_NAME: Final = 100
"""So many characters of a name stand in the message that no tool has it."""


class ToolReply(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one call came to. With `error` it did not do what was asked.

    `error` has `message`, and `code` where one is known.
    """

    content: str
    error: Any = None
    instructions: tuple[str, ...] = ()
    follow_ups: tuple[Any, ...] = ()

    def to_value(self) -> FrozenDict:
        """The reply as a value of a conversation."""
        fields: dict[str, Any] = {"content": self.content}
        if self.error is None and not self.instructions and not self.follow_ups:
            return FrozenDict(fields)
        if self.error is not None:
            fields["error"] = raw(freeze(self.error))
        if self.instructions:
            fields["instructions"] = list(self.instructions)
        if self.follow_ups:
            fields["follow_ups"] = raw(freeze(list(self.follow_ups)))
        return FrozenDict(fields)

    @classmethod
    def from_value(cls, value: Any) -> ToolReply:
        """The reply that `to_value` gave."""
        tree: dict[str, Any] = raw(value)
        if len(tree) == 1:
            return cls(tree["content"])
        tree = thaw(value)
        return cls(
            tree["content"],
            tree.get("error"),
            tuple(tree.get("instructions", ())),
            tuple(tree.get("follow_ups", ())),
        )


def reply_to(made: ToolAnswer) -> ToolReply:
    """What a call that `call_tool` made came to. Only a `ToolResult` brings instructions along."""
    if made.fault_message is not None:
        misfit = made.refused and made.fault_message.startswith(REFUSED)
        return failed(made.fault_message, made.fault_code or (INVALID_INPUT if misfit else ""))
    if not made.is_result:
        return ToolReply(content_of(made.value))
    return reply_with(ToolResult(**thaw(made.value)))


def reply_with(result: ToolResult) -> ToolReply:
    """What a `ToolResult` says. One that is an error has its content as the message."""
    content = content_of(result.content)
    error = {"message": content} if result.error else None
    return ToolReply(content, error, tuple(result.instructions), tuple(result.follow_ups))


def failed(message: str, code: str = "") -> ToolReply:
    """A call that raised, or was refused."""
    error = {"code": code, "message": message} if code else {"message": message}
    return ToolReply(dumps({"error": True, "message": message}).decode(), error)


def not_found(name: str) -> ToolReply:
    """A call of a tool that is not there, or not offered."""
    shown = name[:SHOWN_NAME].replace("\r", "").replace("\n", "")
    return failed(f"Tool '{shown}' not found", NOT_FOUND)


def invalid_input(id: str, check: InputCheck) -> ToolReply:
    """A call whose arguments do not fit; the handler was not called."""
    return failed(f"Invalid arguments for '{id}': {check.formatted}", INVALID_INPUT)


def content_of(value: Any) -> str:
    """A value as text for a model: text as it is, all else as compact JSON."""
    if isinstance(value, str):
        return value
    plain: Mapping[str, Any] | Any = None if value is UNDEFINED else value
    return dumps(plain).decode()
