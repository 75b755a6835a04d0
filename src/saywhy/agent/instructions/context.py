"""What a rule about a tool's result is judged by: the result and how it came about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, cast

from saywhy.agent.instructions.seen import Look, Looks, seen
from saywhy.errors import CallerError
from saywhy.values import MAX_DEPTH, loads, raw, thaw


class InstructionContext:
    """A tool's result as conditions see it.

    `content` is the answer as data (text where it is no JSON), `error` has `message` and `code`
    (None where there is none) and is None after a success, `input` are the arguments. Objects can
    be read as dicts and by attribute: `ctx.content["status"]`, `ctx.content.status`. Whoever reads
    what is not there raises, which skips a rule, and fires one of safety.
    """

    __slots__ = ("_looks", "_parts")

    def __init__(
        self,
        content: Any = None,
        tool_id: str = "",
        *,
        error: Mapping[str, Any] | None = None,
        latency_ms: float = 0,
        input: Mapping[str, Any] | None = None,
    ) -> None:
        wrong: Any = error
        if wrong is not None and not isinstance(wrong, Mapping):
            raise CallerError(
                f"the error of a context is a mapping, not {wrong!r}",
                hint='error={"code": "TIMEOUT", "message": "…"}',
            )
        self._looks = Looks()
        self._parts: dict[str, Any] = {
            "content": thaw(content),
            "tool_id": tool_id,
            "error": None if error is None else {"code": None, **thaw(error)},
            "latency_ms": latency_ms,
            "input": thaw(input) if input is not None else {},
        }

    def _part(self, name: str) -> Any:
        return seen(self._parts[name], (name,), self._looks)

    @property
    def content(self) -> Any:
        """What the tool answered."""
        return self._part("content")

    @property
    def tool_id(self) -> str:
        """The tool that answered."""
        return cast("str", self._part("tool_id"))

    @property
    def error(self) -> Any:
        """What went wrong: `message` and `code`; None where nothing did."""
        return self._part("error")

    @property
    def latency_ms(self) -> float:
        """How long the call took."""
        return cast("float", self._part("latency_ms"))

    @property
    def input(self) -> Any:
        """What the tool was called with."""
        return self._part("input")

    def watched(self) -> InstructionContext:
        """The same context with notes of its own, for one condition."""
        fresh = object.__new__(InstructionContext)
        fresh._looks = Looks()
        fresh._parts = self._parts
        return fresh

    def looks(self) -> tuple[Look, ...]:
        """What was read of this context so far."""
        return self._looks.taken()

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={value!r}" for name, value in self._parts.items())
        return f"InstructionContext({told})"


PreviewContext: TypeAlias = InstructionContext
"""What a preview takes; only `content` and `tool_id` need to be given."""


def content_as_data(text: str) -> Any:
    """A tool's text as conditions see it: the value where it is JSON, else the text.

    JSON that is nested deeper than a conversation can hold is text as well.
    """
    try:
        value = loads(text)
    except (ValueError, RecursionError):
        return text
    may_be_deep = text.count("[") + text.count("{") > MAX_DEPTH
    return text if may_be_deep and _is_too_deep(value) else value


def _is_too_deep(value: Any) -> bool:
    """Level by level: a function that calls itself would not come to the end."""
    level = [raw(value)] if _is_container(raw(value)) else []
    for _ in range(MAX_DEPTH):
        inside = [one.values() if isinstance(one, dict) else one for one in level]
        level = [raw(part) for parts in inside for part in parts if _is_container(raw(part))]
        if not level:
            return False
    return True


def _is_container(value: Any) -> bool:
    return isinstance(value, dict | list)
