"""What a recorder is told of a run, live: the hooks it may have and what each is given.

A recorder is any object with some of these methods, `async def` or not. Calling them is the
runtime's; recorders that ship are elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec


class HookEvent(msgspec.Struct, frozen=True, kw_only=True):
    """What all hooks are told: which run of which conversation, and its turn, from 1."""

    turn_number: int
    run_id: str = ""
    conversation_id: str = ""


class TurnStarted(HookEvent, frozen=True, kw_only=True):
    """Given to `on_turn_start`."""

    message: str


class LLMCalled(HookEvent, frozen=True, kw_only=True):
    """Given to `on_llm_call` when the model has answered; a failed call is told by `on_error`."""

    model: str = ""
    usage: Mapping[str, int] | None = None
    """`input_tokens` and `output_tokens`, where the provider tells."""
    latency_ms: float = 0.0
    loop_iteration: int = 0
    """How many rounds of tools were done before this call."""
    finish_reason: str = ""
    content: str = ""


class ToolCalled(HookEvent, frozen=True, kw_only=True):
    """Given to `on_tool_call`, for calls that failed or were refused as well."""

    tool_name: str
    args: Mapping[str, Any]
    result: str
    """As the model reads it."""
    error: bool = False
    latency_ms: float = 0.0
    tool_call_id: str = ""
    loop_iteration: int = 0


class InstructionsFired(HookEvent, frozen=True, kw_only=True):
    """Given to `on_instructions_fired`: what the rules made of one result of a tool."""

    tool_id: str
    fired: Sequence[Any]
    """The resolved instructions, in the order in which they were injected."""
    log: Sequence[Any] = ()
    """For every rule: fired, false, raised or dropped."""


class ToolsBlocked(HookEvent, frozen=True, kw_only=True):
    """Given to `on_tools_blocked`: tools that were not offered, as nobody may use them now."""

    names: Sequence[str]


class TurnCompleted(HookEvent, frozen=True, kw_only=True):
    """Given to `on_turn_complete`, when a run has come to its answer or rests at a question."""

    content: str
    message_count: int
    total_loop_iterations: int
    stop_reason: str = ""
    paused: bool = False


class RunFailed(HookEvent, frozen=True, kw_only=True):
    """Given to `on_error`, when a run failed or was cancelled."""

    phase: str
    """`llm`, `tool` or another word for what it was about to do; `cancelled`."""
    error: Exception


HOOKS: Final = (
    "on_turn_start",
    "on_llm_call",
    "on_tool_call",
    "on_instructions_fired",
    "on_tools_blocked",
    "on_turn_complete",
    "on_error",
)
"""The methods of a recorder that are called while a run goes on, if it has them."""
