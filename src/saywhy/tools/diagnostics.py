"""What a host may want to be told about the answers of its tools. Nothing here changes an answer.

Two questions, each switched on by the host: does an answer have the shape that `returns` promises,
and did a tool answer that it failed. A warning is a text; logging it is the caller's business.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from saywhy.tools.arguments import json_view, plain
from saywhy.tools.schema import compile_schema, describe, explain
from saywhy.tools.tool import Tool

_HIDDEN: Final = "[REDACTED]"
"""Stands for the words of a tool whose data must not be shown."""
_LONG_DIGITS: Final = re.compile(r"\d{4,}", re.ASCII)


class Returns:
    """Checks answers against `returns`, compiling each schema once."""

    def __init__(self) -> None:
        self._checks: dict[str, Any] = {}

    def warning(self, tool: Tool, value: Any) -> str | None:
        """What to warn about, or None. That a schema is none is said once a tool."""
        if tool.returns is None:
            return None
        if tool.id not in self._checks:
            try:
                self._checks[tool.id] = compile_schema(tool.returns)
            except ValueError as error:
                self._checks[tool.id] = None
                return f"`returns` of tool {tool.id} does not compile: {explain(error)}"
        check = self._checks[tool.id]
        if check is None:
            return None
        errors = [describe(error) for error in check.iter_errors(json_view(plain(value)))]
        if not errors:
            return None
        return f"The answer of tool {tool.id} does not match its `returns`: {', '.join(errors)}"


def failure_warning(tool: Tool, value: Any, *, hidden: bool = False) -> str | None:
    """A warning about an answer that reports a failure: `success` false or an `error`.

    Runs of four or more digits are masked, they may belong to a card or an account. With `hidden`
    nothing of the answer is told: it may be made of something sensitive.
    """
    answer = plain(value)
    if not isinstance(answer, Mapping):
        return None
    error = answer.get("error")
    if answer.get("success") is not False and not error:
        return None
    details: Mapping[str, Any] = error if isinstance(error, Mapping) else {}
    if hidden:
        return f"Tool {tool.id} answered a failure: {_HIDDEN}"
    unsaid = tool.security.is_masked
    code = _first(answer.get("code"), details.get("code"), error if _is_number(error) else None)
    message = _first(
        answer.get("message"), details.get("message"), error if isinstance(error, str) else None
    )
    return (
        f"Tool {tool.id} answered a failure ({_masked(_first(code, 'no code'))}): "
        f"{_HIDDEN if unsaid and message else _masked(_first(message, 'no message'))}"
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None and value != ""), None)


def _masked(value: Any) -> str:
    return _LONG_DIGITS.sub("****", str(value))
