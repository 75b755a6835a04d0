"""What is shown of a run of an agent while it goes on: eight kinds of events, as typed values.

The loop sends them as signals, which are for the screen and are not kept; what is kept of a run
are its commits. Every start has its end, and a run ends with `TurnEnd` or `ErrorEvent`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import msgspec

from saywhy.values import dumps, thaw


class StreamEvent(msgspec.Struct, frozen=True, tag_field="type", omit_defaults=True):
    """One event; `type` in its JSON says which."""

    @property
    def type(self) -> str:
        """The name of its kind: `token`, `tool_start`, …"""
        return str(self.__struct_config__.tag)

    def to_value(self) -> dict[str, Any]:
        """The event as plain JSON data, `type` first."""
        fields = {name: getattr(self, name) for name in self.__struct_fields__}
        return {"type": self.type, **{k: thaw(v) for k, v in fields.items() if v is not None}}

    def to_sse(self) -> str:
        """The event as a server-sent one: a line for its type and one for its data."""
        return f"event: {self.type}\ndata: {dumps(self.to_value()).decode()}\n\n"


class TurnStart(StreamEvent, frozen=True, tag="turn_start"):
    """A run began."""

    user_message: str


class LLMStart(StreamEvent, frozen=True, tag="llm_start"):
    """The model is being called, for the `iteration`-th time, from 1."""

    iteration: int


class Thinking(StreamEvent, frozen=True, tag="thinking"):
    """Some more of what the model thinks before it answers."""

    content: str


class Token(StreamEvent, frozen=True, tag="token"):
    """Some more of the model's answer."""

    content: str


class LLMEnd(StreamEvent, frozen=True, tag="llm_end"):
    """The model has answered."""

    iteration: int
    tool_call_count: int
    content: str
    model: str | None = None
    latency_ms: float | None = None


class ToolStart(StreamEvent, frozen=True, tag="tool_start"):
    """A tool is being called."""

    tool_name: str
    tool_call_id: str
    args: Mapping[str, Any]


class ToolEnd(StreamEvent, frozen=True, tag="tool_end"):
    """What a tool came to, as the model reads it: instructions included."""

    tool_name: str
    tool_call_id: str
    result: str
    error: bool
    latency_ms: float | None = None


class TurnEnd(StreamEvent, frozen=True, tag="turn_end"):
    """The run is over, or rests at a question to a person."""

    content: str
    iterations: int
    paused: bool | None = None


class ErrorEvent(StreamEvent, frozen=True, tag="error"):
    """The run failed or was cancelled; `phase` says what it was about to do."""

    phase: str
    message: str


AgentEvent: TypeAlias = (
    TurnStart | LLMStart | Thinking | Token | LLMEnd | ToolStart | ToolEnd | TurnEnd | ErrorEvent
)
"""One of the events of a run."""

KINDS: Final[Mapping[str, type[StreamEvent]]] = {
    str(kind.__struct_config__.tag): kind
    for kind in (
        TurnStart,
        LLMStart,
        Thinking,
        Token,
        LLMEnd,
        ToolStart,
        ToolEnd,
        TurnEnd,
        ErrorEvent,
    )
}
"""By the name of a signal: which event it is."""


def event_of(kind: str, data: Any) -> AgentEvent | None:
    """The event behind a signal; None for one that is none of ours.

    What a signal tells beyond the event's fields is left out: it is for other listeners.
    """
    known = KINDS.get(kind)
    if known is None or not isinstance(data, Mapping):
        return None
    given = {name: data[name] for name in known.__struct_fields__ if name in data}
    return known(**given)  # type: ignore[return-value] - KINDS has exactly the kinds of AgentEvent
