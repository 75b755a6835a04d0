"""Saywhy: conversations that must be right, and can say why.

The names below are the public surface. Each is imported when it is first used, so that
`import saywhy` costs next to nothing. Long because each of them is listed for the type checker, for
`import *` and with its home.
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
        ToolsBlocked,
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
    from saywhy.agent.loop.build import AgentLoopBuild, AgentLoopResult, build_agent_loop
    from saywhy.agent.loop.calls import StrictFollowUpResult
    from saywhy.agent.loop.config import (
        SUBFLOW_MESSAGE_KEY,
        AgentLoopConfig,
        AgentLoopSeedOptions,
        AgentPattern,
        RoutingBranch,
        RoutingConfig,
    )
    from saywhy.agent.loop.message_api import build_message_api_chart
    from saywhy.agent.receipts.receipt import Receipt
    from saywhy.agent.receipts.served import (
        Absence,
        Served,
        receipt_at,
        receipts_of,
        served_all,
        served_at,
    )
    from saywhy.agent.recorders.composite import (
        AgentObservability,
        CompositeRecorder,
        agent_observability,
    )
    from saywhy.agent.recorders.costs import CostRecorder
    from saywhy.agent.recorders.explains import ExplainRecorder
    from saywhy.agent.recorders.follow_ups import FollowUpRecorder
    from saywhy.agent.recorders.guardrails import GuardrailRecorder, Violation
    from saywhy.agent.recorders.permissions import PermissionRecorder
    from saywhy.agent.recorders.pricing import Price
    from saywhy.agent.recorders.quality import QualityRecorder
    from saywhy.agent.recorders.recorder import AgentRecorder
    from saywhy.agent.recorders.tokens import TokenRecorder
    from saywhy.agent.recorders.tool_usage import ToolUsageRecorder
    from saywhy.agent.recorders.turns import TurnRecorder
    from saywhy.agent.runners.parallel import BranchResult
    from saywhy.agent.runners.repeat import Round
    from saywhy.agent.runners.swarm import Delegated
    from saywhy.agent.slots.context import SlotContext
    from saywhy.agent.slots.injected import (
        BudgetPressure,
        ContextEvaluated,
        ContextEvicted,
        ContextInjected,
        SlotComposed,
        context_events,
        injections_of,
    )
    from saywhy.agent.slots.injection import Injection, fact, memory, rag, skill, steering
    from saywhy.agent.slots.messages_slot import messages_slot
    from saywhy.agent.slots.mounting import mount_slot
    from saywhy.agent.slots.offers import (
        composite_tools,
        dynamic_tools,
        gated_tools,
        no_tools,
        static_tools,
    )
    from saywhy.agent.slots.permission import PermissionPolicy
    from saywhy.agent.slots.prompts import (
        Skill,
        composite_prompt,
        skills_prompt,
        static_prompt,
        template_prompt,
    )
    from saywhy.agent.slots.record import InjectionRecord
    from saywhy.agent.slots.resolved import Resolved
    from saywhy.agent.slots.strategies import (
        char_budget,
        composite_strategy,
        full_history,
        sliding_window,
        summary,
        token_budget,
        tool_pair_safety,
    )
    from saywhy.agent.slots.system_prompt import system_prompt_slot
    from saywhy.agent.slots.tool_slot import tools_slot
    from saywhy.agent.tool_input import validate_tool_input
    from saywhy.agent.tools import (
        AgentTool,
        LLMToolDescription,
        ToolRegistry,
        agent_tool,
        ask_human,
        define_tool,
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
    from saywhy.models.names import model_of
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
    from saywhy.models.resilience.budget import Budget
    from saywhy.models.resilience.budgeted import with_budget
    from saywhy.models.resilience.fallback import resilient
    from saywhy.models.resilience.purse import Spent
    from saywhy.models.resilience.rate_limit import with_rate_limit
    from saywhy.models.resilience.retries import with_retries
    from saywhy.models.resilience.timeout import with_timeout
    from saywhy.models.scripted import ScriptedModel
    from saywhy.runtime.agents.agent import Agent
    from saywhy.runtime.agents.agent_tool import agent_as_tool
    from saywhy.runtime.agents.conditional import Conditional, ConditionalBuilder, ConditionalResult
    from saywhy.runtime.agents.conversation import Conversation
    from saywhy.runtime.agents.flow_tool import flow_tool
    from saywhy.runtime.agents.fluent import AgentBuilder, LLMCallBuilder
    from saywhy.runtime.agents.llm_call import LLMCall
    from saywhy.runtime.agents.parallel import Parallel, ParallelResult
    from saywhy.runtime.agents.rag import RAG, RAGResult
    from saywhy.runtime.agents.repeat import Loop, LoopResult
    from saywhy.runtime.agents.result import AgentResult, Usage
    from saywhy.runtime.agents.runner import Runner
    from saywhy.runtime.agents.sequence import Sequence, SequenceResult
    from saywhy.runtime.agents.swarm import Specialist, Swarm, SwarmResult
    from saywhy.runtime.agents.team import Team, TeamResult
    from saywhy.runtime.agents.wrappers import with_retry
    from saywhy.runtime.agents.wrapping import with_circuit_breaker, with_fallback
    from saywhy.runtime.conversations import TurnReply
    from saywhy.runtime.engine import Engine
    from saywhy.runtime.forget.erase import Forgotten
    from saywhy.runtime.held import HeldTurn
    from saywhy.runtime.replay.result import Replay
    from saywhy.runtime.replay.whatif import Counterfactual
    from saywhy.runtime.session import Session
    from saywhy.runtime.validation import Report
    from saywhy.stores.chat_memory import (
        ChatMemory,
        ConversationChanged,
        KeyValueChatMemory,
        LocalChatMemory,
        TableChatMemory,
    )
    from saywhy.stores.fts import SqliteRetriever, passages
    from saywhy.stores.memory import MemoryStore
    from saywhy.stores.retriever import Chunk, Document, Retriever
    from saywhy.stores.sqlite import SqliteStore
    from saywhy.stores.sqlite_chat_memory import SqliteChatMemory
    from saywhy.stores.store import Store
    from saywhy.tools.function_tool import tool
    from saywhy.tools.http.settings import HttpSettings
    from saywhy.tools.tool_result import ToolResult
    from saywhy.trace.causes.why import Argument, Decided, Failure, Missing, Reply, Variable, why
    from saywhy.trace.export.file import read_trace, write_trace
    from saywhy.trace.export.otel import OpenTelemetry
    from saywhy.trace.export.spans import Span, spans_of
    from saywhy.trace.masking.current import masked_record
    from saywhy.trace.masking.redact import Policy
    from saywhy.trace.trace import Trace

__all__ = [
    "RAG",
    "SUBFLOW_MESSAGE_KEY",
    "Absence",
    "ActiveFlowEmptyResponse",
    "Agent",
    "AgentBuilder",
    "AgentEvent",
    "AgentInstruction",
    "AgentLoopBuild",
    "AgentLoopConfig",
    "AgentLoopResult",
    "AgentLoopSeedOptions",
    "AgentMemory",
    "AgentObservability",
    "AgentPattern",
    "AgentRecorder",
    "AgentResult",
    "AgentTool",
    "AlreadyDecided",
    "AnthropicModel",
    "ApprovalExpired",
    "ApprovalMismatch",
    "Argument",
    "Ask",
    "BranchResult",
    "Budget",
    "BudgetExceeded",
    "BudgetPressure",
    "CallerError",
    "CancelToken",
    "Cancelled",
    "ChatMemory",
    "Chunk",
    "CircuitOpen",
    "CompositeRecorder",
    "Conditional",
    "ConditionalBuilder",
    "ConditionalResult",
    "ContextEvaluated",
    "ContextEvicted",
    "ContextInjected",
    "Conversation",
    "ConversationChanged",
    "CostRecorder",
    "Counterfactual",
    "DamagedSession",
    "Decided",
    "DefinitionError",
    "Delegated",
    "Document",
    "Engine",
    "ErrorEvent",
    "ExplainRecorder",
    "Failure",
    "FlowExecutionError",
    "FollowUpBinding",
    "FollowUpOffering",
    "FollowUpRecorder",
    "Forgotten",
    "GoogleModel",
    "GuardrailRecorder",
    "HeldTurn",
    "HttpSettings",
    "Injection",
    "InjectionRecord",
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
    "KeyValueChatMemory",
    "LLMCall",
    "LLMCallBuilder",
    "LLMCalled",
    "LLMEnd",
    "LLMInstruction",
    "LLMStart",
    "LLMToolDescription",
    "LocalChatMemory",
    "Loop",
    "LoopResult",
    "MemoryStore",
    "Missing",
    "ModelError",
    "ModelFailed",
    "ModelReply",
    "NothingPending",
    "OpenAIModel",
    "OpenTelemetry",
    "OutputSchema",
    "Parallel",
    "ParallelResult",
    "PendingFollowUpManager",
    "PendingStrictFollowUp",
    "PermissionPolicy",
    "PermissionRecorder",
    "PersistenceMismatch",
    "Piece",
    "Place",
    "Policy",
    "PreviewContext",
    "Price",
    "Problem",
    "Provider",
    "QualityRecorder",
    "QueueFull",
    "RAGResult",
    "Receipt",
    "RecordingMismatch",
    "RecordingModel",
    "Replay",
    "ReplayModel",
    "Reply",
    "Report",
    "RequiredSetFailed",
    "Resolved",
    "ResolvedFollowUp",
    "ResolvedInstruction",
    "Retriever",
    "Round",
    "RoutingBranch",
    "RoutingConfig",
    "RuleBook",
    "RunCancelled",
    "RunFailed",
    "RunTimedOut",
    "Runner",
    "RuntimeFollowUp",
    "SaywhyError",
    "ScriptedModel",
    "Sequence",
    "SequenceResult",
    "Served",
    "Session",
    "SessionBusy",
    "Skill",
    "SlotComposed",
    "SlotContext",
    "Span",
    "Specialist",
    "Spent",
    "SqliteChatMemory",
    "SqliteRetriever",
    "SqliteStore",
    "StopPiece",
    "Store",
    "StrictFollowUpResult",
    "Swarm",
    "SwarmResult",
    "TableChatMemory",
    "Team",
    "TeamResult",
    "TextPiece",
    "Thinking",
    "ThinkingPiece",
    "Token",
    "TokenRecorder",
    "TooManySteps",
    "ToolCallPiece",
    "ToolCalled",
    "ToolEnd",
    "ToolInstructionStats",
    "ToolRegistry",
    "ToolResult",
    "ToolStart",
    "ToolUsageRecorder",
    "ToolsBlocked",
    "Trace",
    "TurnCompleted",
    "TurnEnd",
    "TurnHeld",
    "TurnRecorder",
    "TurnReply",
    "TurnStart",
    "TurnStarted",
    "UnknownFlow",
    "UnknownSession",
    "Usage",
    "UsagePiece",
    "Variable",
    "Violation",
    "agent_as_tool",
    "agent_observability",
    "agent_tool",
    "apply_decisions",
    "apply_instruction_overrides",
    "ask_human",
    "build_agent_loop",
    "build_instructions_to_llm_subflow",
    "build_message_api_chart",
    "char_budget",
    "check_follow_ups",
    "check_overrides",
    "composite_prompt",
    "composite_strategy",
    "composite_tools",
    "context_events",
    "default_condition_matcher",
    "define_instruction",
    "define_tool",
    "dynamic_tools",
    "evaluate_agent_instructions",
    "evaluate_instructions",
    "fact",
    "flow_tool",
    "follow",
    "full_history",
    "gated_tools",
    "generate_tool_guide",
    "injections_of",
    "load_tools",
    "masked_record",
    "memory",
    "merge_runtime_instructions",
    "messages_slot",
    "model_of",
    "mount_slot",
    "no_tools",
    "passages",
    "preview_instructions",
    "process_instructions",
    "quick",
    "quick_bind",
    "rag",
    "read_trace",
    "receipt_at",
    "receipts_of",
    "render_instructions",
    "reply_of",
    "resilient",
    "served_all",
    "served_at",
    "skill",
    "skills_prompt",
    "sliding_window",
    "spans_of",
    "static_prompt",
    "static_tools",
    "steering",
    "summary",
    "system_prompt_slot",
    "template_prompt",
    "token_budget",
    "tool",
    "tool_pair_safety",
    "tools_slot",
    "unicode_condition_matcher",
    "validate_tool_input",
    "why",
    "with_budget",
    "with_circuit_breaker",
    "with_fallback",
    "with_rate_limit",
    "with_retries",
    "with_retry",
    "with_timeout",
    "write_trace",
]

_HOMES = {
    "RAG": "saywhy.runtime.agents.rag",
    "SUBFLOW_MESSAGE_KEY": "saywhy.agent.loop.config",
    "Absence": "saywhy.agent.receipts.served",
    "Agent": "saywhy.runtime.agents.agent",
    "AgentBuilder": "saywhy.runtime.agents.fluent",
    "AgentEvent": "saywhy.agent.events",
    "AgentInstruction": "saywhy.agent.instructions.agent_rule",
    "AgentLoopBuild": "saywhy.agent.loop.build",
    "AgentLoopConfig": "saywhy.agent.loop.config",
    "AgentLoopResult": "saywhy.agent.loop.build",
    "AgentLoopSeedOptions": "saywhy.agent.loop.config",
    "AgentMemory": "saywhy.agent.agent",
    "AgentObservability": "saywhy.agent.recorders.composite",
    "AgentPattern": "saywhy.agent.loop.config",
    "AgentRecorder": "saywhy.agent.recorders.recorder",
    "AgentResult": "saywhy.runtime.agents.result",
    "AgentTool": "saywhy.agent.tools",
    "AnthropicModel": "saywhy.models.anthropic",
    "Argument": "saywhy.trace.causes.why",
    "Ask": "saywhy.models.provider",
    "BranchResult": "saywhy.agent.runners.parallel",
    "Budget": "saywhy.models.resilience.budget",
    "BudgetPressure": "saywhy.agent.slots.injected",
    "CancelToken": "saywhy.cancel",
    "Cancelled": "saywhy.cancel",
    "ChatMemory": "saywhy.stores.chat_memory",
    "Chunk": "saywhy.stores.retriever",
    "CompositeRecorder": "saywhy.agent.recorders.composite",
    "Conditional": "saywhy.runtime.agents.conditional",
    "ConditionalBuilder": "saywhy.runtime.agents.conditional",
    "ConditionalResult": "saywhy.runtime.agents.conditional",
    "ContextEvaluated": "saywhy.agent.slots.injected",
    "ContextEvicted": "saywhy.agent.slots.injected",
    "ContextInjected": "saywhy.agent.slots.injected",
    "Conversation": "saywhy.runtime.agents.conversation",
    "ConversationChanged": "saywhy.stores.chat_memory",
    "CostRecorder": "saywhy.agent.recorders.costs",
    "Counterfactual": "saywhy.runtime.replay.whatif",
    "Decided": "saywhy.trace.causes.why",
    "Delegated": "saywhy.agent.runners.swarm",
    "Document": "saywhy.stores.retriever",
    "Engine": "saywhy.runtime.engine",
    "ErrorEvent": "saywhy.agent.events",
    "ExplainRecorder": "saywhy.agent.recorders.explains",
    "Failure": "saywhy.trace.causes.why",
    "FollowUpBinding": "saywhy.agent.instructions.follow_up",
    "FollowUpOffering": "saywhy.agent.instructions.recorder",
    "FollowUpRecorder": "saywhy.agent.recorders.follow_ups",
    "Forgotten": "saywhy.runtime.forget.erase",
    "GoogleModel": "saywhy.models.google",
    "GuardrailRecorder": "saywhy.agent.recorders.guardrails",
    "HeldTurn": "saywhy.runtime.held",
    "HttpSettings": "saywhy.tools.http.settings",
    "Injection": "saywhy.agent.slots.injection",
    "InjectionRecord": "saywhy.agent.slots.record",
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
    "KeyValueChatMemory": "saywhy.stores.chat_memory",
    "LLMCall": "saywhy.runtime.agents.llm_call",
    "LLMCallBuilder": "saywhy.runtime.agents.fluent",
    "LLMCalled": "saywhy.agent.hooks",
    "LLMEnd": "saywhy.agent.events",
    "LLMInstruction": "saywhy.agent.instructions.rule",
    "LLMStart": "saywhy.agent.events",
    "LLMToolDescription": "saywhy.agent.tools",
    "LocalChatMemory": "saywhy.stores.chat_memory",
    "Loop": "saywhy.runtime.agents.repeat",
    "LoopResult": "saywhy.runtime.agents.repeat",
    "MemoryStore": "saywhy.stores.memory",
    "Missing": "saywhy.trace.causes.why",
    "ModelFailed": "saywhy.flows.modelled",
    "ModelReply": "saywhy.models.provider",
    "OpenAIModel": "saywhy.models.openai",
    "OpenTelemetry": "saywhy.trace.export.otel",
    "OutputSchema": "saywhy.agent.agent",
    "Parallel": "saywhy.runtime.agents.parallel",
    "ParallelResult": "saywhy.runtime.agents.parallel",
    "PendingFollowUpManager": "saywhy.agent.instructions.pending",
    "PendingStrictFollowUp": "saywhy.agent.instructions.pending",
    "PermissionPolicy": "saywhy.agent.slots.permission",
    "PermissionRecorder": "saywhy.agent.recorders.permissions",
    "Piece": "saywhy.models.provider",
    "Policy": "saywhy.trace.masking.redact",
    "PreviewContext": "saywhy.agent.instructions.context",
    "Price": "saywhy.agent.recorders.pricing",
    "Provider": "saywhy.models.provider",
    "QualityRecorder": "saywhy.agent.recorders.quality",
    "RAGResult": "saywhy.runtime.agents.rag",
    "Receipt": "saywhy.agent.receipts.receipt",
    "RecordingModel": "saywhy.models.recorder",
    "ReplayModel": "saywhy.models.replay",
    "Replay": "saywhy.runtime.replay.result",
    "Reply": "saywhy.trace.causes.why",
    "Report": "saywhy.runtime.validation",
    "Resolved": "saywhy.agent.slots.resolved",
    "ResolvedFollowUp": "saywhy.agent.instructions.follow_up",
    "ResolvedInstruction": "saywhy.agent.instructions.rule",
    "Retriever": "saywhy.stores.retriever",
    "Round": "saywhy.agent.runners.repeat",
    "RoutingBranch": "saywhy.agent.loop.config",
    "RoutingConfig": "saywhy.agent.loop.config",
    "RuleBook": "saywhy.agent.instructions.book",
    "RunCancelled": "saywhy.chart.built",
    "RunFailed": "saywhy.agent.hooks",
    "RunTimedOut": "saywhy.chart.built",
    "Runner": "saywhy.runtime.agents.runner",
    "RuntimeFollowUp": "saywhy.agent.instructions.follow_up",
    "ScriptedModel": "saywhy.models.scripted",
    "Sequence": "saywhy.runtime.agents.sequence",
    "SequenceResult": "saywhy.runtime.agents.sequence",
    "Served": "saywhy.agent.receipts.served",
    "Session": "saywhy.runtime.session",
    "Skill": "saywhy.agent.slots.prompts",
    "SlotComposed": "saywhy.agent.slots.injected",
    "SlotContext": "saywhy.agent.slots.context",
    "Span": "saywhy.trace.export.spans",
    "Specialist": "saywhy.runtime.agents.swarm",
    "Spent": "saywhy.models.resilience.purse",
    "SqliteChatMemory": "saywhy.stores.sqlite_chat_memory",
    "SqliteRetriever": "saywhy.stores.fts",
    "SqliteStore": "saywhy.stores.sqlite",
    "StopPiece": "saywhy.models.provider",
    "Store": "saywhy.stores.store",
    "StrictFollowUpResult": "saywhy.agent.loop.calls",
    "Swarm": "saywhy.runtime.agents.swarm",
    "SwarmResult": "saywhy.runtime.agents.swarm",
    "TableChatMemory": "saywhy.stores.chat_memory",
    "Team": "saywhy.runtime.agents.team",
    "TeamResult": "saywhy.runtime.agents.team",
    "TextPiece": "saywhy.models.provider",
    "Thinking": "saywhy.agent.events",
    "ThinkingPiece": "saywhy.models.provider",
    "Token": "saywhy.agent.events",
    "TokenRecorder": "saywhy.agent.recorders.tokens",
    "ToolCallPiece": "saywhy.models.provider",
    "ToolCalled": "saywhy.agent.hooks",
    "ToolEnd": "saywhy.agent.events",
    "ToolInstructionStats": "saywhy.agent.instructions.recorder",
    "ToolRegistry": "saywhy.agent.tools",
    "ToolResult": "saywhy.tools.tool_result",
    "ToolStart": "saywhy.agent.events",
    "ToolUsageRecorder": "saywhy.agent.recorders.tool_usage",
    "ToolsBlocked": "saywhy.agent.hooks",
    "Trace": "saywhy.trace.trace",
    "TurnCompleted": "saywhy.agent.hooks",
    "TurnEnd": "saywhy.agent.events",
    "TurnRecorder": "saywhy.agent.recorders.turns",
    "TurnReply": "saywhy.runtime.conversations",
    "TurnStart": "saywhy.agent.events",
    "TurnStarted": "saywhy.agent.hooks",
    "Usage": "saywhy.runtime.agents.result",
    "UsagePiece": "saywhy.models.provider",
    "Variable": "saywhy.trace.causes.why",
    "Violation": "saywhy.agent.recorders.guardrails",
    "agent_as_tool": "saywhy.runtime.agents.agent_tool",
    "agent_observability": "saywhy.agent.recorders.composite",
    "agent_tool": "saywhy.agent.tools",
    "apply_decisions": "saywhy.agent.instructions.decision",
    "apply_instruction_overrides": "saywhy.agent.instructions.override",
    "ask_human": "saywhy.agent.tools",
    "build_agent_loop": "saywhy.agent.loop.build",
    "build_instructions_to_llm_subflow": "saywhy.agent.instructions.subflow",
    "build_message_api_chart": "saywhy.agent.loop.message_api",
    "char_budget": "saywhy.agent.slots.strategies",
    "check_follow_ups": "saywhy.agent.instructions.check",
    "check_overrides": "saywhy.agent.instructions.override",
    "composite_prompt": "saywhy.agent.slots.prompts",
    "composite_strategy": "saywhy.agent.slots.strategies",
    "composite_tools": "saywhy.agent.slots.offers",
    "context_events": "saywhy.agent.slots.injected",
    "default_condition_matcher": "saywhy.agent.instructions.match",
    "define_instruction": "saywhy.agent.instructions.agent_rule",
    "define_tool": "saywhy.agent.tools",
    "dynamic_tools": "saywhy.agent.slots.offers",
    "evaluate_agent_instructions": "saywhy.agent.instructions.agent_rule",
    "evaluate_instructions": "saywhy.agent.instructions.evaluate",
    "fact": "saywhy.agent.slots.injection",
    "flow_tool": "saywhy.runtime.agents.flow_tool",
    "follow": "saywhy.agent.instructions.follow_up",
    "full_history": "saywhy.agent.slots.strategies",
    "gated_tools": "saywhy.agent.slots.offers",
    "generate_tool_guide": "saywhy.agent.instructions.guide",
    "injections_of": "saywhy.agent.slots.injected",
    "load_tools": "saywhy.flows.load",
    "masked_record": "saywhy.trace.masking.current",
    "memory": "saywhy.agent.slots.injection",
    "merge_runtime_instructions": "saywhy.agent.instructions.merge",
    "messages_slot": "saywhy.agent.slots.messages_slot",
    "model_of": "saywhy.models.names",
    "mount_slot": "saywhy.agent.slots.mounting",
    "no_tools": "saywhy.agent.slots.offers",
    "passages": "saywhy.stores.fts",
    "preview_instructions": "saywhy.agent.instructions.preview",
    "process_instructions": "saywhy.agent.instructions.inject",
    "quick": "saywhy.marks",
    "quick_bind": "saywhy.agent.instructions.follow_up",
    "rag": "saywhy.agent.slots.injection",
    "read_trace": "saywhy.trace.export.file",
    "receipt_at": "saywhy.agent.receipts.served",
    "receipts_of": "saywhy.agent.receipts.served",
    "render_instructions": "saywhy.agent.instructions.render",
    "reply_of": "saywhy.models.provider",
    "resilient": "saywhy.models.resilience.fallback",
    "served_all": "saywhy.agent.receipts.served",
    "served_at": "saywhy.agent.receipts.served",
    "skill": "saywhy.agent.slots.injection",
    "skills_prompt": "saywhy.agent.slots.prompts",
    "sliding_window": "saywhy.agent.slots.strategies",
    "spans_of": "saywhy.trace.export.spans",
    "static_prompt": "saywhy.agent.slots.prompts",
    "static_tools": "saywhy.agent.slots.offers",
    "steering": "saywhy.agent.slots.injection",
    "summary": "saywhy.agent.slots.strategies",
    "system_prompt_slot": "saywhy.agent.slots.system_prompt",
    "template_prompt": "saywhy.agent.slots.prompts",
    "token_budget": "saywhy.agent.slots.strategies",
    "tool": "saywhy.tools.function_tool",
    "tool_pair_safety": "saywhy.agent.slots.strategies",
    "tools_slot": "saywhy.agent.slots.tool_slot",
    "unicode_condition_matcher": "saywhy.agent.instructions.match",
    "validate_tool_input": "saywhy.agent.tool_input",
    "why": "saywhy.trace.causes.why",
    "with_budget": "saywhy.models.resilience.budgeted",
    "with_circuit_breaker": "saywhy.runtime.agents.wrapping",
    "with_fallback": "saywhy.runtime.agents.wrapping",
    "with_rate_limit": "saywhy.models.resilience.rate_limit",
    "with_retries": "saywhy.models.resilience.retries",
    "with_retry": "saywhy.runtime.agents.wrappers",
    "with_timeout": "saywhy.models.resilience.timeout",
    "write_trace": "saywhy.trace.export.file",
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
