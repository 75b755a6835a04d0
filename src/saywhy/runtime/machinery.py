"""What the turns of one engine share, and who is told of the calls they make."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from saywhy.chart.drive import Emit
from saywhy.chart.machine import Language, Limits
from saywhy.chart.model import Chart, Charts
from saywhy.chart.outcome import Answer, Need
from saywhy.chart.stages import Stages
from saywhy.clock import Clock
from saywhy.flows.world import World
from saywhy.runtime.apart import Apart
from saywhy.runtime.models import Models
from saywhy.runtime.watchers import Watchers
from saywhy.tools.call import ToolAnswer
from saywhy.tools.guards import Guards
from saywhy.tools.http.client import HttpClient
from saywhy.tools.limit import Limiter
from saywhy.tools.tool import Tool

if TYPE_CHECKING:
    from saywhy.runtime.turn import TurnRun

Make = Callable[[], Awaitable[ToolAnswer]]


class Journal(Protocol):
    """Who is told of a tool call before and after it is made."""

    @property
    def nonce(self) -> str:
        """What sets the turn apart from one of the same number in a conversation of the same id."""
        ...

    async def around(self, run: TurnRun, need: Need, seq: int, key: str, call: Make) -> ToolAnswer:
        """Make the call, or give the answer already on record."""
        ...

    async def waiting(self, work: Callable[[], Awaitable[Answer]]) -> Answer:
        """What `work` gives; it may take long and is no journaled call."""
        ...

    def found_out(self, answer: ToolAnswer) -> None:
        """What became of the newest call, which was cut off, is known after all."""
        ...

    async def keep(self) -> None:
        """See to it that the newest answer outlives a crash from now on."""
        ...


class NoJournal:
    """Nobody: what a crash interrupts is not known afterwards."""

    nonce = ""

    async def around(self, run: TurnRun, need: Need, seq: int, key: str, call: Make) -> ToolAnswer:
        """Make the call."""
        return await call()

    async def waiting(self, work: Callable[[], Awaitable[Answer]]) -> Answer:
        """Wait for it."""
        return await work()

    def found_out(self, answer: ToolAnswer) -> None:
        """Nothing to do."""

    async def keep(self) -> None:
        """Nothing to do."""


@dataclass(slots=True)
class Machinery:
    """What the turns of one engine share."""

    world: World
    language: Language
    routing: Chart
    routing_language: Language
    charts: Charts
    clock: Clock
    limiter: Limiter
    limits: Limits = field(default_factory=Limits)
    warn: Callable[[str], None] = lambda text: None
    error: Callable[[str], None] = lambda text: None
    debug: Callable[[str], None] = lambda text: None
    diagnose: Callable[[Tool | None, ToolAnswer, bool], Iterable[str]] = (
        lambda tool, answer, hidden: ()
    )
    """What to log of an answer; nothing of what it says where it is hidden."""
    models: Models | None = None
    """The language model; None where there is none to ask."""
    http: HttpClient = field(default_factory=HttpClient)
    guards: Guards = field(default_factory=Guards)
    is_authenticated: Callable[[dict[str, Any]], bool] | None = None
    """Whether cargo shows that the user has signed in; None: only the host can say so."""
    agents: Stages | None = None
    """What runs the charts of agents; None where there are none."""
    watchers: Watchers = field(default_factory=Watchers)
    emit: Emit | None = None
    """Who is told what agents do as they do it; None where nobody looks on."""
    apart: Apart | None = None
    """Where flows run on when their expressions wait for other processes; None: where they are."""
