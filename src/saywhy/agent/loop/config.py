"""What a loop is made of, as a value, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from saywhy.agent.instructions.agent_rule import AgentInstruction
from saywhy.agent.instructions.evaluate import InstructionOrder
from saywhy.agent.instructions.match import ConditionMatcher, default_condition_matcher
from saywhy.agent.instructions.render import InstructionTemplate
from saywhy.agent.instructions.rule import InstructionOverride
from saywhy.agent.slots.injection import Injection
from saywhy.agent.tools import AgentTool, ChartRun
from saywhy.chart.commit import Decision
from saywhy.errors import DefinitionError, Problem
from saywhy.values import FrozenDict

SUBFLOW_MESSAGE_KEY: Final = "message"
"""The argument that holds the user's words, in a chart around the loop as well."""

MAX_ITERATIONS: Final = 10
"""Rounds of tools in one run, unless something else is said."""

NOTHING: Final = FrozenDict({})


class AgentPattern(Enum):
    """What is worked out anew in every round."""

    REGULAR = "regular"
    """Nothing: prompt, tools and window are those of the first pass."""
    DYNAMIC = "dynamic"
    """Instructions, prompt, messages and tools."""


@dataclass(frozen=True, slots=True)
class RoutingBranch:
    """One way after the model has answered.

    `content` is a function of the state, a built chart, or a function that builds one where
    `lazy`; None for the usual end, and in the branch `tool-calls` for the usual round of tools. The
    run goes back to the model afterwards, unless it `ends`: then `final` comes next.
    """

    id: str
    content: Any = None
    lazy: bool = False
    ends: bool = False
    round: bool = False
    """It is a round of tools, whatever its id."""
    inputs: Any = None
    """What a chart is given; None: it sees the variables of the loop."""
    outputs: Any = None
    """What is taken over from a chart."""
    merge: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class RoutingConfig:
    """How a loop goes on after an answer, instead of to the tools or to the end.

    `decider` is given the state and gives the id of a branch, or a `Decision` with its evidence.
    The limit on rounds comes first, and leads to `default_branch`.
    """

    decider: Callable[[Any], str | Decision]
    branches: Sequence[RoutingBranch]
    default_branch: str
    decider_name: str = "RouteResponse"
    decider_id: str = "route-response"
    description: str = ""

    def problems(self) -> Iterator[Problem]:
        """What is wrong with it."""
        ids = [branch.id for branch in self.branches]
        if not ids:
            yield Problem(
                f"the routing {self.decider_id} has no branches", hint="add a RoutingBranch"
            )
            return
        for twice in dict.fromkeys(one for one in ids if ids.count(one) > 1):
            yield Problem(f'the routing {self.decider_id} has two branches "{twice}"')
        if not any(one.ends for one in self.branches):
            yield Problem(
                f"none of the branches of {self.decider_id} ends, so that no run would ever be "
                "over",
                hint="RoutingBranch(…, ends=True)",
            )
        if any(one.id == self.default_branch and not one.ends for one in self.branches):
            yield Problem(
                f'the default branch "{self.default_branch}" of {self.decider_id} does not end, so '
                "that the limit on rounds would end nothing",
                hint="RoutingBranch(…, ends=True), or another default_branch",
            )
        if self.default_branch not in ids:
            yield Problem(
                f'the default branch "{self.default_branch}" of {self.decider_id} is none of its '
                f"branches: {', '.join(ids)}",
                hint="name one of them as default_branch",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentLoopConfig:
    """Everything a loop is made of."""

    provider: Any = None
    """The model to be asked; None: whoever drives the chart answers for it."""
    system_prompt: Any = ""
    """Text, a function of the context, or a prompt provider."""
    message_strategy: Any = None
    """How much of the history the model is handed; None: all of it."""
    injections: Sequence[Injection] = ()
    """What is put into the prompt or among the messages: facts, steering, what was found."""
    tools: Sequence[Any] = ()
    tool_provider: Any = None
    """Says which tools are offered, instead of all of `tools`."""
    max_iterations: int = MAX_ITERATIONS
    pattern: AgentPattern = AgentPattern.REGULAR
    instructions: Sequence[AgentInstruction] = ()
    decision: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    """What the decision scope begins with, in every run."""
    overrides: Mapping[str, InstructionOverride] = field(
        default_factory=dict[str, InstructionOverride]
    )
    template: InstructionTemplate | None = None
    order: InstructionOrder = InstructionOrder.THREE_GROUPS
    instruction_budget: int | None = None
    matcher: ConditionMatcher = default_condition_matcher
    """Decides for strict follow-ups that have no matcher of their own."""
    store: Any = None
    """Where the history is kept: `load(conversation_id)` and `save(conversation_id, messages)`."""
    conversation_id: str = ""
    """Of a run that is given none."""
    durability: str = "await"
    """`await`: a run is over when it is saved; `background`: saving may take longer."""
    on_save_error: Any = None
    settings: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    """Of every model call: model, temperature, max_tokens, stop, response_format."""
    streaming: bool = False
    model_timeout_ms: float = 0
    tool_concurrency: int = 1
    """So many calls of one reply are made at the same time."""
    carried_by: Callable[[AgentTool], ChartRun | None] | None = None
    """A chart of the host's that carries out the calls of a tool, questions to people included."""
    routing: RoutingConfig | None = None
    tool_calls: Callable[..., Any] | None = None
    """Makes what makes the calls, of this and the tools; None: `ToolCalls`."""
    get_run_id: Callable[[], str | None] | None = None
    """The id of the run about to be made, where the run is given none. Without, no receipts."""
    secret_salt: str | bytes | None = None
    strict_labels: bool = False
    name: str = "agent-loop"
    id: str = ""
    """Of the chart; its name unless given. Two loops in one chart need two."""

    @property
    def chart_id(self) -> str:
        """The id of the chart."""
        return self.id or self.name

    def problems(self) -> Iterator[Problem]:
        """Everything that is wrong with it."""
        for name, least in (("max_iterations", 0), ("tool_concurrency", 1)):
            value: Any = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                yield Problem(f"{name} is {value!r}", hint=f"write a whole number from {least}")
        if self.durability not in ("await", "background"):
            yield Problem(f'durability is "{self.durability}"', hint='"await" or "background"')
        if self.store is not None:
            for name in ("load", "save"):
                if not callable(getattr(self.store, name, None)):
                    kind = type(self.store).__name__
                    yield Problem(
                        f"{kind} is no memory store: it has no {name}",
                        hint="load(conversation_id) gives the history or None, "
                        "save(conversation_id, messages) keeps it",
                    )
        if self.routing is not None:
            yield from self.routing.problems()

    def check(self) -> None:
        """Raises `DefinitionError` with everything that is wrong."""
        found = list(self.problems())
        if found:
            raise DefinitionError(found)


@dataclass(frozen=True, slots=True)
class AgentLoopSeedOptions:
    """What a loop begins with where the run itself says nothing."""

    messages: Sequence[Any] = ()
    """The conversation so far, the user's newest message last."""
    subflow: bool = False
    """The loop is part of another chart: it begins with the words under `SUBFLOW_MESSAGE_KEY`."""
