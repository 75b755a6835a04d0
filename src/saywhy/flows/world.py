"""What all flows of one engine share and no conversation can change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from saywhy.chart.model import Chart, Charts
from saywhy.expr.javascript import Placement
from saywhy.flows.commands import CommandWords
from saywhy.flows.guidance import Guidance
from saywhy.flows.model import Flow
from saywhy.flows.phrases import Phrases
from saywhy.host import FlowOption
from saywhy.tools.registry import Registry
from saywhy.values import FrozenDict

ErrorText = Literal["hidden", "reference", "empty"]
Detection = Literal["single-call", "two-stage"]


@dataclass(frozen=True, slots=True)
class Options:
    """How flows behave where there is a choice; the defaults are the documented behaviour."""

    error_text: ErrorText = "hidden"
    """What a failed expression shows. spec: flow-engine 4.5"""
    keep_empty_says: bool = False
    """Deliver SAY texts that are empty. spec: flow-engine 1.4"""
    partial_match: Literal["any", "safe"] = "any"
    """Which flows a part of a name may start when there is no model. spec: flow-engine 5.2"""
    default_max_retries: int = 2
    """How often a tool is tried again after a passing failure. spec: flow-engine 3.10"""
    commands: frozenset[str] = frozenset({"cancel", "help", "status", "switch", "continue"})
    """Universal commands that are understood. spec: flow-engine 5.7"""
    function_timeout_ms: float = 5000
    """How long an approved function may take when an expression calls it; 0 for no limit."""
    intent_detection: Detection = "single-call"
    """Whether a model looks for flow and parameters at once. spec: flow-engine 5.3, 5.4"""
    offer_interruptions: bool = False
    """Whether the user is asked before another flow interrupts. spec: flow-engine 5.7"""
    clarify: bool = False
    """Whether the user is asked which of two flows is meant. spec: flow-engine 5.6"""
    inactivity_ms: float = 0
    """How long a user may be silent before the flows end; 0 for as long as they like."""
    max_corrections: int = 5
    """Rounds of asking for a correction before the step fails. spec: flow-engine 3.9"""


@dataclass(frozen=True, slots=True)
class World:
    """Flows, tools, functions, globals and wording, as one engine was given them."""

    charts: Charts
    order: tuple[Flow, ...]
    """Flows in the order they were given, wrappers applied."""
    tools: Registry
    functions: Mapping[str, Callable[..., Any]]
    globals: FrozenDict
    phrases: Phrases
    guidance: Guidance
    language: str
    javascript: Placement
    options: Options = field(default_factory=Options)
    commands: CommandWords = field(default_factory=CommandWords)
    offered: tuple[FlowOption, ...] = ()
    """What a model may choose from when nothing runs. spec: flow-engine 5.1"""
    has_model: bool = False
    """Whether there is a language model to ask."""
    agents: Mapping[str, str] = field(default_factory=dict[str, str])
    """Name of each agent that flows may call → digest of its chart."""
    fallback: str = ""
    """The flow that takes words which no other fits: its chart's digest; empty for none."""
    watches: bool = False
    """Whether something is declared as sensitive, so that what is said has to be looked at."""
    detects_language: bool = False
    """Whether a model is to find the language of a session that has none."""

    def chart_of(self, flow: Flow) -> Chart:
        """The chart compiled from `flow`."""
        chart = self.charts.find(flow.id) or self.charts.find(flow.name)
        assert chart is not None, f"flow {flow.name} was compiled when the engine was made"
        return chart
