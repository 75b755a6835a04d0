"""The agents of one engine, in the form they run in there.

How they become that is `hosting`, which is loaded where there are agents.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from saywhy.chart.language import Language
from saywhy.chart.model import Chart
from saywhy.chart.stages import Stages
from saywhy.flows.model import Library
from saywhy.tools.tool import Tool

if TYPE_CHECKING:
    from saywhy.runtime.agents.agent import Agent


@dataclass(frozen=True, slots=True)
class Hosted:
    """What an engine needs to know of its agents."""

    charts: tuple[Chart, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    """The agents that flows may call → digests of their charts."""
    tools: tuple[Tool, ...] = ()
    """Those that only agents have: the engine makes their calls."""
    stages: Stages | None = None
    fallback: str = ""
    """Digest of the flow that takes what fits no other."""
    agents: Mapping[str, Agent] = field(default_factory=dict[str, "Agent"])
    """The agents themselves, by name."""

    def joined(self, flows: Language) -> Language:
        """The language of the flows, and that of the agents."""
        if self.stages is None:
            return flows
        own = self.stages.language()
        return Language({**own.steps, **flows.steps}, {**own.close, **flows.close})


NOBODY: Final = Hosted()


def hosted_agents(agents: Any, fallback: str | None, library: Library) -> Hosted:
    """The agents as an engine runs them.

    Raises `CallerError` and `DefinitionError` for those that do not fit together.
    """
    if agents is None and fallback is None:
        return NOBODY
    from saywhy.runtime.agents.hosting import hosted

    return hosted(agents, fallback, library)
