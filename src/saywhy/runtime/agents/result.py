"""What a run of an agent has come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from saywhy.agent.instructions.follow_up import ResolvedFollowUp
from saywhy.values import FrozenDict


@dataclass(frozen=True, slots=True)
class Usage:
    """What the model calls of a run used, as the provider counts; 0 where it does not tell."""

    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 0

    @property
    def total_tokens(self) -> int:
        """Both together."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class AgentResult:
    """The answer of an agent, and how it came about."""

    content: str
    """The text of the last message of the model; empty while the run is paused."""
    messages: Sequence[Mapping[str, Any]]
    """The conversation as it stands now, the system message included."""
    iterations: int = 0
    """Rounds of tools that were done; 0 for a direct answer."""
    paused: bool = False
    """A person has to answer `pause_data["question"]`: hand the answer to `resume`."""
    pause_data: Mapping[str, Any] | None = None
    """`question` and `tool_call_id`, where it is paused."""
    stop_reason: str = ""
    """`final`; `max_iterations` where the model still wanted tools; `paused`."""
    follow_ups: tuple[ResolvedFollowUp, ...] = ()
    """What the results of tools offered as next actions; each can be handed to `follow_up`."""
    decision: Mapping[str, Any] = field(default_factory=lambda: FrozenDict({}))
    """The decision scope at the end."""
    run_id: str = ""
    usage: Usage = Usage()

    @property
    def type(self) -> Literal["result"]:
        """`result`, as the last thing that a stream gives; what comes before are events."""
        return "result"
