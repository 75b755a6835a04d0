"""Saywhy: conversations that must be right, and can say why.

The names below are the public surface. Each is imported when it is first used, so that
`import saywhy` costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from saywhy.agent.agent import AgentMemory, OutputSchema
    from saywhy.agent.events import (
        AgentEvent,
        ErrorEvent,
        LLMEnd,
        LLMStart,
        Thinking,
        Token,
        ToolEnd,
        ToolStart,
        TurnEnd,
        TurnStart,
    )
    from saywhy.agent.hooks import (
        InstructionsFired,
        LLMCalled,
        RunFailed,
        ToolCalled,
        TurnCompleted,
        TurnStarted,
    )
    from saywhy.agent.instructions.agent_rule import (
        AgentInstruction,
        InstructionEvaluationResult,
        define_instruction,
        evaluate_agent_instructions,
    )
    from saywhy.agent.instructions.book import RuleBook
    from saywhy.agent.instructions.check import check_follow_ups
    from saywhy.agent.instructions.context import InstructionContext, PreviewContext
    from saywhy.agent.instructions.decision import apply_decisions
    from saywhy.agent.instructions.evaluate import InstructionOrder, evaluate_instructions
    from saywhy.agent.instructions.follow_up import (
        FollowUpBinding,
        ResolvedFollowUp,
        RuntimeFollowUp,
        follow,
        quick_bind,
    )
    from saywhy.agent.instructions.guide import generate_tool_guide
    from saywhy.agent.instructions.inject import InstructionInjectionResult, process_instructions
    from saywhy.agent.instructions.instructed import InstructedToolDefinition, InstructedToolResult
    from saywhy.agent.instructions.match import default_condition_matcher, unicode_condition_matcher
    from saywhy.agent.instructions.merge import merge_runtime_instructions
    from saywhy.agent.instructions.override import apply_instruction_overrides, check_overrides
    from saywhy.agent.instructions.pending import PendingFollowUpManager, PendingStrictFollowUp
    from saywhy.agent.instructions.preview import InstructionPreview, preview_instructions
    from saywhy.agent.instructions.recorder import (
        FollowUpOffering,
        InstructionFiring,
        InstructionRecorder,
        InstructionSummary,
        ToolInstructionStats,
    )
    from saywhy.agent.instructions.render import InstructionTemplate, render_instructions
    from saywhy.agent.instructions.rule import (
        InstructionOverride,
        LLMInstruction,
        ResolvedInstruction,
    )
    from saywhy.agent.instructions.subflow import build_instructions_to_llm_subflow
    from saywhy.agent.receipts.receipt import Receipt
    from saywhy.agent.receipts.served import (
        Absence,
        Served,
        receipt_at,
        receipts_of,
        served_all,
        served_at,
    )
    from saywhy.cancel import Cancelled, CancelToken
    from saywhy.chart.built import RunCancelled, RunTimedOut
    from saywhy.errors import (
        ActiveFlowEmptyResponse,
        AlreadyDecided,
        ApprovalExpired,
        ApprovalMismatch,
        BudgetExceeded,
        CallerError,
        CircuitOpen,
        DamagedSession,
        DefinitionError,
        FlowExecutionError,
        ModelError,
        NothingPending,
        PersistenceMismatch,
        Place,
        Problem,
        QueueFull,
        RecordingMismatch,
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
    from saywhy.models.recorder import RecordingModel
    from saywhy.models.replay import ReplayModel
    from saywhy.models.resilience.budget import Budget, Spent
    from saywhy.models.resilience.budgeted import with_budget
    from saywhy.models.resilience.circuit_breaker import with_circuit_breaker
    from saywhy.models.resilience.fallback import resilient, with_fallback
    from saywhy.models.resilience.rate_limit import with_rate_limit
    from saywhy.models.resilience.retries import with_retries
    from saywhy.models.resilience.timeout import with_timeout
    from saywhy.models.scripted import ScriptedModel
    from saywhy.runtime.agents.agent import Agent
    from saywhy.runtime.agents.conversation import Conversation
    from saywhy.runtime.agents.fluent import AgentBuilder
    from saywhy.runtime.agents.result import AgentResult, Usage
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
    "Absence",
    "ActiveFlowEmptyResponse",
    "Agent",
    "AgentBuilder",
    "AgentEvent",
    "AgentInstruction",
    "AgentMemory",
    "AgentResult",
    "AlreadyDecided",
    "AnthropicModel",
    "ApprovalExpired",
    "ApprovalMismatch",
    "Ask",
    "Budget",
    "BudgetExceeded",
    "CallerError",
    "CancelToken",
    "Cancelled",
    "CircuitOpen",
    "Conversation",
    "DamagedSession",
    "DefinitionError",
    "Engine",
    "ErrorEvent",
    "FlowExecutionError",
    "FollowUpBinding",
    "FollowUpOffering",
    "GoogleModel",
    "HeldTurn",
    "HttpSettings",
    "InstructedToolDefinition",
    "InstructedToolResult",
    "InstructionContext",
    "InstructionEvaluationResult",
    "InstructionFiring",
    "InstructionInjectionResult",
    "InstructionOrder",
    "InstructionOverride",
    "InstructionPreview",
    "InstructionRecorder",
    "InstructionSummary",
    "InstructionTemplate",
    "InstructionsFired",
    "LLMCalled",
    "LLMEnd",
    "LLMInstruction",
    "LLMStart",
    "MemoryStore",
    "ModelError",
    "ModelFailed",
    "ModelReply",
    "NothingPending",
    "OpenAIModel",
    "OutputSchema",
    "PendingFollowUpManager",
    "PendingStrictFollowUp",
    "PersistenceMismatch",
    "Piece",
    "Place",
    "Policy",
    "PreviewContext",
    "Problem",
    "Provider",
    "QueueFull",
    "Receipt",
    "RecordingMismatch",
    "RecordingModel",
    "ReplayModel",
    "Reply",
    "Report",
    "RequiredSetFailed",
    "ResolvedFollowUp",
    "ResolvedInstruction",
    "RuleBook",
    "RunCancelled",
    "RunFailed",
    "RunTimedOut",
    "RuntimeFollowUp",
    "SaywhyError",
    "ScriptedModel",
    "Served",
    "Session",
    "SessionBusy",
    "Spent",
    "SqliteStore",
    "StopPiece",
    "Store",
    "TextPiece",
    "Thinking",
    "ThinkingPiece",
    "Token",
    "TooManySteps",
    "ToolCallPiece",
    "ToolCalled",
    "ToolEnd",
    "ToolInstructionStats",
    "ToolStart",
    "Trace",
    "TurnCompleted",
    "TurnEnd",
    "TurnHeld",
    "TurnReply",
    "TurnStart",
    "TurnStarted",
    "UnknownFlow",
    "UnknownSession",
    "Usage",
    "UsagePiece",
    "Variable",
    "apply_decisions",
    "apply_instruction_overrides",
    "build_instructions_to_llm_subflow",
    "check_follow_ups",
    "check_overrides",
    "default_condition_matcher",
    "define_instruction",
    "evaluate_agent_instructions",
    "evaluate_instructions",
    "follow",
    "generate_tool_guide",
    "load_tools",
    "merge_runtime_instructions",
    "preview_instructions",
    "process_instructions",
    "quick",
    "quick_bind",
    "receipt_at",
    "receipts_of",
    "render_instructions",
    "reply_of",
    "resilient",
    "served_all",
    "served_at",
    "tool",
    "unicode_condition_matcher",
    "why",
    "with_budget",
    "with_circuit_breaker",
    "with_fallback",
    "with_rate_limit",
    "with_retries",
    "with_timeout",
]

_HOMES = {
    "Absence": "saywhy.agent.receipts.served",
    "Agent": "saywhy.runtime.agents.agent",
    "AgentBuilder": "saywhy.runtime.agents.fluent",
    "AgentEvent": "saywhy.agent.events",
    "AgentInstruction": "saywhy.agent.instructions.agent_rule",
    "AgentMemory": "saywhy.agent.agent",
    "AgentResult": "saywhy.runtime.agents.result",
    "AnthropicModel": "saywhy.models.anthropic",
    "Ask": "saywhy.models.provider",
    "Budget": "saywhy.models.resilience.budget",
    "CancelToken": "saywhy.cancel",
    "Cancelled": "saywhy.cancel",
    "Conversation": "saywhy.runtime.agents.conversation",
    "Engine": "saywhy.runtime.engine",
    "ErrorEvent": "saywhy.agent.events",
    "FollowUpBinding": "saywhy.agent.instructions.follow_up",
    "FollowUpOffering": "saywhy.agent.instructions.recorder",
    "GoogleModel": "saywhy.models.google",
    "HeldTurn": "saywhy.runtime.held",
    "HttpSettings": "saywhy.tools.http.settings",
    "InstructedToolDefinition": "saywhy.agent.instructions.instructed",
    "InstructedToolResult": "saywhy.agent.instructions.instructed",
    "InstructionContext": "saywhy.agent.instructions.context",
    "InstructionEvaluationResult": "saywhy.agent.instructions.agent_rule",
    "InstructionFiring": "saywhy.agent.instructions.recorder",
    "InstructionInjectionResult": "saywhy.agent.instructions.inject",
    "InstructionOrder": "saywhy.agent.instructions.evaluate",
    "InstructionOverride": "saywhy.agent.instructions.rule",
    "InstructionPreview": "saywhy.agent.instructions.preview",
    "InstructionRecorder": "saywhy.agent.instructions.recorder",
    "InstructionSummary": "saywhy.agent.instructions.recorder",
    "InstructionTemplate": "saywhy.agent.instructions.render",
    "InstructionsFired": "saywhy.agent.hooks",
    "LLMCalled": "saywhy.agent.hooks",
    "LLMEnd": "saywhy.agent.events",
    "LLMInstruction": "saywhy.agent.instructions.rule",
    "LLMStart": "saywhy.agent.events",
    "MemoryStore": "saywhy.stores.memory",
    "ModelFailed": "saywhy.flows.modelled",
    "ModelReply": "saywhy.models.provider",
    "OpenAIModel": "saywhy.models.openai",
    "OutputSchema": "saywhy.agent.agent",
    "PendingFollowUpManager": "saywhy.agent.instructions.pending",
    "PendingStrictFollowUp": "saywhy.agent.instructions.pending",
    "Piece": "saywhy.models.provider",
    "Policy": "saywhy.trace.redact",
    "PreviewContext": "saywhy.agent.instructions.context",
    "Provider": "saywhy.models.provider",
    "Receipt": "saywhy.agent.receipts.receipt",
    "RecordingModel": "saywhy.models.recorder",
    "ReplayModel": "saywhy.models.replay",
    "Reply": "saywhy.trace.why",
    "Report": "saywhy.runtime.validation",
    "ResolvedFollowUp": "saywhy.agent.instructions.follow_up",
    "ResolvedInstruction": "saywhy.agent.instructions.rule",
    "RuleBook": "saywhy.agent.instructions.book",
    "RunCancelled": "saywhy.chart.built",
    "RunFailed": "saywhy.agent.hooks",
    "RunTimedOut": "saywhy.chart.built",
    "RuntimeFollowUp": "saywhy.agent.instructions.follow_up",
    "ScriptedModel": "saywhy.models.scripted",
    "Served": "saywhy.agent.receipts.served",
    "Session": "saywhy.runtime.session",
    "Spent": "saywhy.models.resilience.budget",
    "SqliteStore": "saywhy.stores.sqlite",
    "StopPiece": "saywhy.models.provider",
    "Store": "saywhy.stores.store",
    "TextPiece": "saywhy.models.provider",
    "Thinking": "saywhy.agent.events",
    "ThinkingPiece": "saywhy.models.provider",
    "Token": "saywhy.agent.events",
    "ToolCallPiece": "saywhy.models.provider",
    "ToolCalled": "saywhy.agent.hooks",
    "ToolEnd": "saywhy.agent.events",
    "ToolInstructionStats": "saywhy.agent.instructions.recorder",
    "ToolStart": "saywhy.agent.events",
    "Trace": "saywhy.trace.trace",
    "TurnCompleted": "saywhy.agent.hooks",
    "TurnEnd": "saywhy.agent.events",
    "TurnReply": "saywhy.runtime.conversations",
    "TurnStart": "saywhy.agent.events",
    "TurnStarted": "saywhy.agent.hooks",
    "Usage": "saywhy.runtime.agents.result",
    "UsagePiece": "saywhy.models.provider",
    "Variable": "saywhy.trace.why",
    "apply_decisions": "saywhy.agent.instructions.decision",
    "apply_instruction_overrides": "saywhy.agent.instructions.override",
    "build_instructions_to_llm_subflow": "saywhy.agent.instructions.subflow",
    "check_follow_ups": "saywhy.agent.instructions.check",
    "check_overrides": "saywhy.agent.instructions.override",
    "default_condition_matcher": "saywhy.agent.instructions.match",
    "define_instruction": "saywhy.agent.instructions.agent_rule",
    "evaluate_agent_instructions": "saywhy.agent.instructions.agent_rule",
    "evaluate_instructions": "saywhy.agent.instructions.evaluate",
    "follow": "saywhy.agent.instructions.follow_up",
    "generate_tool_guide": "saywhy.agent.instructions.guide",
    "load_tools": "saywhy.flows.load",
    "merge_runtime_instructions": "saywhy.agent.instructions.merge",
    "preview_instructions": "saywhy.agent.instructions.preview",
    "process_instructions": "saywhy.agent.instructions.inject",
    "quick": "saywhy.marks",
    "quick_bind": "saywhy.agent.instructions.follow_up",
    "receipt_at": "saywhy.agent.receipts.served",
    "receipts_of": "saywhy.agent.receipts.served",
    "render_instructions": "saywhy.agent.instructions.render",
    "reply_of": "saywhy.models.provider",
    "resilient": "saywhy.models.resilience.fallback",
    "served_all": "saywhy.agent.receipts.served",
    "served_at": "saywhy.agent.receipts.served",
    "tool": "saywhy.tools.function_tool",
    "unicode_condition_matcher": "saywhy.agent.instructions.match",
    "why": "saywhy.trace.why",
    "with_budget": "saywhy.models.resilience.budgeted",
    "with_circuit_breaker": "saywhy.models.resilience.circuit_breaker",
    "with_fallback": "saywhy.models.resilience.fallback",
    "with_rate_limit": "saywhy.models.resilience.rate_limit",
    "with_retries": "saywhy.models.resilience.retries",
    "with_timeout": "saywhy.models.resilience.timeout",
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
