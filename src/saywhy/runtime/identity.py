"""Could this runtime go on with a turn that another one left in a call? What would be in the way?

With each intent the turn stores what it runs on: the format of cursor and journal, the routing and
the charts in use. Whoever finds the turn compares them with what it has itself. It looks only: what
becomes of a turn that cannot go on is `held`'s business. spec: durability 1
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final

import msgspec

from saywhy.chart.stages import KIND as STAGES
from saywhy.runtime.damage import FORMAT
from saywhy.stores.store import JournalEntry
from saywhy.tools.tool import Tool
from saywhy.values import dumps, loads_into

if TYPE_CHECKING:
    from saywhy.runtime.turn import Machinery, TurnRun

RUNTIME: Final = "1"
"""What a stored cursor means and how its journal is read. It changes when a cursor would go on
differently, or needs a kind of step that was not there; the version of the package says neither."""

GOES_ON_FROM: Final = frozenset({RUNTIME})
"""Of which runtimes this one can take up a turn."""


class Obstacle(msgspec.Struct, frozen=True):
    """One reason why a turn cannot go on here. `is_final`: nobody can decide to do so all the same,
    since something is not there that it needs."""

    text: str
    is_final: bool = False


class Identity(msgspec.Struct, frozen=True):
    """What an interrupted turn ran on. `version` is for people and is never compared."""

    runtime: str = ""
    version: str = ""
    routing: str = ""
    charts: tuple[str, ...] = ()


class _Frame(msgspec.Struct):
    chart: str
    name: str = ""


class _Cursor(msgspec.Struct):
    frames: list[_Frame] = []


class Head(msgspec.Struct):
    """What of a stored cursor tells what it needs; the rest is not looked at."""

    format: Any = None
    identity: Identity | None = None
    cursor: _Cursor = msgspec.field(default_factory=_Cursor)
    routing: list[_Frame] = []

    def frames(self) -> Iterator[_Frame]:
        """The frames of flows and routing."""
        yield from self.cursor.frames
        yield from self.routing


_DECODER: Final = msgspec.json.Decoder(Head)


def identity_of(run: TurnRun) -> bytes:
    """What a turn that is being run is stored with, should it be interrupted, as JSON."""
    charts = frozenset([frame.chart for frame in run.flow.frames])
    return _identity(run.machinery.routing.digest, charts)


@lru_cache(maxsize=1024)
def _identity(routing: str, charts: frozenset[str]) -> bytes:
    identity = Identity(RUNTIME, package_version(), routing, tuple(sorted(charts)))
    return dumps(msgspec.structs.asdict(identity))


def read_head(document: bytes) -> Head | None:
    """What a stored cursor needs; None for one that cannot be read, which is damaged."""
    try:
        return loads_into(document, _DECODER)
    except (ValueError, TypeError, RecursionError):
        return None


def obstacles(
    head: Head, journal: Sequence[JournalEntry], machinery: Machinery
) -> Iterator[Obstacle]:
    """Everything in the way of going on with a turn. The charts it names were looked for before."""
    yield from _other_runtime(head)
    yield from _other_charts(head, machinery)
    if journal and journal[-1].kind == "tool" and journal[-1].status != "answered":
        yield from _other_tool(head, journal[-1], machinery)


def _other_runtime(head: Head) -> Iterator[Obstacle]:
    if head.format != FORMAT:
        text = f"its document has the format {head.format!r}, and this saywhy reads {FORMAT}"
        yield Obstacle(text, is_final=True)
    found = head.identity
    if found is None or not found.runtime:
        yield Obstacle("it does not say which runtime began it")
    elif found.runtime not in GOES_ON_FROM:
        yield Obstacle(
            f"saywhy {found.version or '(unknown)'} began it with runtime format "
            f'"{found.runtime}"; this is saywhy {package_version()} with "{RUNTIME}"'
        )


def _other_charts(head: Head, machinery: Machinery) -> Iterator[Obstacle]:
    for frame in head.frames():
        if frame.chart not in machinery.charts:
            what = f'the version {frame.chart} of the flow "{frame.name}"'
            yield Obstacle(f"{what} is neither loaded nor in the store", is_final=True)
    named = {frame.chart for frame in head.cursor.frames}
    if head.identity is not None and set(head.identity.charts) != named:
        yield Obstacle("its flows are not the ones it was begun with")


def _other_tool(head: Head, entry: JournalEntry, machinery: Machinery) -> Iterator[Obstacle]:
    """The call that was cut off would be made again, or asked about, by this tool."""
    world = machinery.world
    tool = world.tools.find(entry.name)
    if tool is None and _asked_by_an_agent(head, machinery):
        return  # it is one of those that a provider makes; without it the model is told so
    if tool is None:
        yield Obstacle(f'the tool "{entry.name}", whose call was cut off, is not loaded', True)
        return
    for name in _functions_of(tool):
        if name not in world.functions:
            text = f'the approved function "{name}" of the tool "{entry.name}" is not there'
            yield Obstacle(text, is_final=True)
    if tool.effect != entry.effect:
        yield Obstacle(
            f'the tool "{entry.name}" was "{entry.effect}" when its call was cut off, '
            f'and is "{tool.effect}" now'
        )


def _asked_by_an_agent(head: Head, machinery: Machinery) -> bool:
    chart = machinery.charts.version(head.cursor.frames[-1].chart) if head.cursor.frames else None
    return chart is not None and chart.kind == STAGES


def _functions_of(tool: Tool) -> Iterator[str]:
    """The functions that the engine has to have: a tool of an agent brings its own."""
    if tool.implementation.function and tool.function is None:
        yield tool.implementation.function
    if tool.reconcile is not None:
        yield tool.reconcile.function


@cache
def package_version() -> str:
    """The version of this package, as it is installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("saywhy")
    except PackageNotFoundError:
        return "(not installed)"
