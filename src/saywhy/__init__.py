"""Saywhy: conversations that must be right, and can say why.

The names below are the public surface. Each is imported when it is first used, so that
`import saywhy` costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from saywhy.errors import (
        ActiveFlowEmptyResponse,
        AlreadyDecided,
        ApprovalExpired,
        ApprovalMismatch,
        CallerError,
        DamagedSession,
        DefinitionError,
        FlowExecutionError,
        ModelError,
        NothingPending,
        PersistenceMismatch,
        Place,
        Problem,
        QueueFull,
        RequiredSetFailed,
        SaywhyError,
        SessionBusy,
        TooManySteps,
        TurnHeld,
        UnknownFlow,
        UnknownSession,
    )
    from saywhy.flows.load import load_tools
    from saywhy.flows.modelled import ModelFailed
    from saywhy.marks import quick
    from saywhy.models.anthropic import AnthropicModel
    from saywhy.models.google import GoogleModel
    from saywhy.models.openai import OpenAIModel
    from saywhy.models.provider import (
        Ask,
        ModelReply,
        Piece,
        Provider,
        StopPiece,
        TextPiece,
        ThinkingPiece,
        ToolCallPiece,
        UsagePiece,
        reply_of,
    )
    from saywhy.models.scripted import ScriptedModel
    from saywhy.runtime.conversations import TurnReply
    from saywhy.runtime.engine import Engine
    from saywhy.runtime.held import HeldTurn
    from saywhy.runtime.session import Session
    from saywhy.runtime.validation import Report
    from saywhy.stores.memory import MemoryStore
    from saywhy.stores.sqlite import SqliteStore
    from saywhy.stores.store import Store
    from saywhy.tools.function_tool import tool
    from saywhy.tools.http.settings import HttpSettings
    from saywhy.trace.redact import Policy
    from saywhy.trace.trace import Trace
    from saywhy.trace.why import Reply, Variable, why

__all__ = [
    "ActiveFlowEmptyResponse",
    "AlreadyDecided",
    "AnthropicModel",
    "ApprovalExpired",
    "ApprovalMismatch",
    "Ask",
    "CallerError",
    "DamagedSession",
    "DefinitionError",
    "Engine",
    "FlowExecutionError",
    "GoogleModel",
    "HeldTurn",
    "HttpSettings",
    "MemoryStore",
    "ModelError",
    "ModelFailed",
    "ModelReply",
    "NothingPending",
    "OpenAIModel",
    "PersistenceMismatch",
    "Piece",
    "Place",
    "Policy",
    "Problem",
    "Provider",
    "QueueFull",
    "Reply",
    "Report",
    "RequiredSetFailed",
    "SaywhyError",
    "ScriptedModel",
    "Session",
    "SessionBusy",
    "SqliteStore",
    "StopPiece",
    "Store",
    "TextPiece",
    "ThinkingPiece",
    "TooManySteps",
    "ToolCallPiece",
    "Trace",
    "TurnHeld",
    "TurnReply",
    "UnknownFlow",
    "UnknownSession",
    "UsagePiece",
    "Variable",
    "load_tools",
    "quick",
    "reply_of",
    "tool",
    "why",
]

_HOMES = {
    "AnthropicModel": "saywhy.models.anthropic",
    "Ask": "saywhy.models.provider",
    "Engine": "saywhy.runtime.engine",
    "GoogleModel": "saywhy.models.google",
    "HeldTurn": "saywhy.runtime.held",
    "HttpSettings": "saywhy.tools.http.settings",
    "MemoryStore": "saywhy.stores.memory",
    "ModelFailed": "saywhy.flows.modelled",
    "ModelReply": "saywhy.models.provider",
    "OpenAIModel": "saywhy.models.openai",
    "Piece": "saywhy.models.provider",
    "Policy": "saywhy.trace.redact",
    "Provider": "saywhy.models.provider",
    "Reply": "saywhy.trace.why",
    "Report": "saywhy.runtime.validation",
    "ScriptedModel": "saywhy.models.scripted",
    "Session": "saywhy.runtime.session",
    "SqliteStore": "saywhy.stores.sqlite",
    "StopPiece": "saywhy.models.provider",
    "Store": "saywhy.stores.store",
    "TextPiece": "saywhy.models.provider",
    "ThinkingPiece": "saywhy.models.provider",
    "ToolCallPiece": "saywhy.models.provider",
    "Trace": "saywhy.trace.trace",
    "TurnReply": "saywhy.runtime.conversations",
    "UsagePiece": "saywhy.models.provider",
    "Variable": "saywhy.trace.why",
    "load_tools": "saywhy.flows.load",
    "quick": "saywhy.marks",
    "reply_of": "saywhy.models.provider",
    "tool": "saywhy.tools.function_tool",
    "why": "saywhy.trace.why",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'saywhy' has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(_HOMES.get(name, "saywhy.errors")), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
