"""Flows, engines and single steps for the tests of the flow language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from saywhy.chart.cursor import Cursor, Frame
from saywhy.chart.machine import open_frame
from saywhy.chart.model import Charts
from saywhy.chart.outcome import Call
from saywhy.chart.scope import Scope
from saywhy.expr.javascript import JavaScript
from saywhy.flows.compile import compile_flow
from saywhy.flows.guidance import Guidance
from saywhy.flows.load import load_definitions
from saywhy.flows.phrases import Phrases
from saywhy.flows.world import Options, World
from saywhy.runtime.engine import Engine
from saywhy.runtime.session import Session
from saywhy.testing import FakeClock
from saywhy.tools.registry import Registry
from saywhy.tools.tool import tool_from_definition
from saywhy.values import FrozenDict, freeze

NOW = 1_767_225_600_000.0


def flow(*steps: dict[str, Any], name: str = "Main", **keys: Any) -> dict[str, Any]:
    """A flow whose steps are called s0, s1, …"""
    named = [{"id": f"s{number}", **step} for number, step in enumerate(steps)]
    return {"id": name.lower(), "name": name, "steps": named, **keys}


def say(text: Any, **keys: Any) -> dict[str, Any]:
    """A SAY."""
    return {"type": "SAY", "value": text, **keys}


def ask(variable: str, text: str = "?", **keys: Any) -> dict[str, Any]:
    """A SAY-GET."""
    return {"type": "SAY-GET", "variable": variable, "value": text, **keys}


def put(variable: str, value: Any, **keys: Any) -> dict[str, Any]:
    """A SET."""
    return {"type": "SET", "variable": variable, "value": value, **keys}


def run(name: str, **keys: Any) -> dict[str, Any]:
    """A FLOW."""
    return {"type": "FLOW", "value": name, **keys}


def use(tool: str, **keys: Any) -> dict[str, Any]:
    """A CALL-TOOL."""
    return {"type": "CALL-TOOL", "tool": tool, **keys}


def local_tool(name: str, **keys: Any) -> dict[str, Any]:
    """A tool that calls the function of its name with one object."""
    return {
        "id": name,
        "name": name,
        "parameters": {"type": "object", "properties": {}},
        "implementation": {"type": "local", "function": name},
        **keys,
    }


class Lines:
    """A logger that remembers: `W …` for warnings, `E …` for errors."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def debug(self, text: str) -> None:
        """Not remembered."""

    info = debug

    def warn(self, text: str) -> None:
        self.lines.append(f"W {text}")

    def error(self, text: str) -> None:
        self.lines.append(f"E {text}")


def engine_of(*flows: dict[str, Any], **options: Any) -> Engine:
    """An engine without guidance and with a clock that jumps."""
    settings: dict[str, Any] = {
        "guidance": {"enabled": False},
        "validate_on_init": False,
        "clock": FakeClock(NOW),
        "logger": Lines(),
        **options,
    }
    return Engine(flows=list(flows), **settings)


async def talk(engine: Engine, *entries: Any, session: Session | None = None) -> Session:
    """The session after some turns; before each it has gone through JSON."""
    session = session or engine.init_session("user-1", "c1")
    for entry in entries:
        session = await engine.update_activity(entry, engine.load_session(session.to_json()))
    return session


def world_of(
    *flows: dict[str, Any],
    functions: Mapping[str, Callable[..., Any]] | None = None,
    globals: Mapping[str, Any] | None = None,
    tools: list[dict[str, Any]] | None = None,
    options: Options | None = None,
    language: str = "en",
) -> World:
    """What the flows of one engine share, without an engine around it."""
    library = load_definitions(list(flows))
    shared = freeze(dict(globals or {}))
    assert isinstance(shared, FrozenDict)
    return World(
        Charts(compile_flow(one) for one in library.flows),
        library.flows,
        Registry(tool_from_definition(one) for one in tools or ()),
        dict(functions or {}),
        shared,
        Phrases(),
        Guidance.of({"enabled": False}),
        language,
        JavaScript(),
        options or Options(),
    )


def scope_at(world: World, at: str = "/steps/0", *, flow: str = "Main", **variables: Any) -> Scope:
    """The scope of the step `at` in a fresh frame of `flow`, with these variables."""
    chart = world.charts.find(flow)
    assert chart is not None
    cursor = Cursor()
    cursor.state.scopes = {
        "session": {"sessionId": "c1", "userId": "user-1", "language": None},
        "cargo": {},
        "turn": {},
    }
    frame = open_frame(cursor, chart, Call(chart.digest, "v1", data={"started": 5.0}))
    frame.at = at
    for name, value in variables.items():
        cursor.state.scopes["v1"][name] = freeze(value)
    return scope_of(world, cursor, frame)


def scope_of(world: World, cursor: Cursor, frame: Frame) -> Scope:
    """The scope of the step that a frame stands at."""
    chart = world.charts[frame.chart]
    return Scope(
        cursor=cursor,
        state=cursor.state,
        frame=frame,
        chart=chart,
        node=chart.nodes[frame.at or ""],
        charts=world.charts,
        now=NOW,
    )
