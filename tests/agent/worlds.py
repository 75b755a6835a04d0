"""Dialogues drawn by hypothesis for the loop, and a way to run one through JSON at every need."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import strategies as st

from saywhy.agent.tools import AgentTool
from saywhy.chart.brought import Running, brought_answerer
from saywhy.chart.built import ARGS, STATE, Built
from saywhy.chart.commit import Commit
from saywhy.chart.cursor import Cursor
from saywhy.chart.drive import open_needs
from saywhy.chart.fork import rest_of
from saywhy.chart.machine import advance
from saywhy.chart.model import Charts
from saywhy.chart.outcome import BranchAnswer, Call
from saywhy.chart.stack import open_frame
from saywhy.testing.clock import FakeClock
from saywhy.tools.tool_result import ToolResult
from saywhy.values import freeze, thaw
from tests.agent.loop.conftest import Entry, tool

NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}

CALLS = st.tuples(
    st.sampled_from(["1", "2", "3", "", "auto-strict-1"]),
    st.sampled_from(["echo", "count", "told", "breaks", "missing", ""]),
    st.sampled_from([{"n": 1}, {"n": "x"}, {}, {"n": 2, "m": ["é"]}]),
)
ROUNDS = st.lists(st.lists(CALLS, min_size=1, max_size=5), max_size=4)
"""What the model wants called, round by round; then it answers."""


def script_of(rounds: list[list[Any]]) -> list[Entry]:
    return [*rounds, "done"]


def _count(args: Any) -> Any:
    return args["n"] + 1


def _told(args: Any) -> ToolResult:
    return ToolResult("so", instructions=(f"Mind {args}.",))


def _breaks(args: Any) -> Any:
    raise ValueError(f"not {args}")


def tools() -> list[AgentTool]:
    """Tools whose answers depend on their arguments alone."""
    return [
        tool("echo"),
        tool("count", _count, schema=NUMBER),
        tool("told", _told),
        tool("breaks", _breaks),
    ]


def handed(model: Any) -> list[Any]:
    """The whole requests that a model was given, as plain data."""
    return [
        (
            ask.system,
            thaw(list(ask.messages)),
            thaw(ask.tools and list(ask.tools)),
            dict(ask.settings),
        )
        for ask in model.asked
    ]


async def through_json(build: Callable[[], Built], args: Mapping[str, Any]) -> list[Commit]:
    """The commits of a run that is written down, and read by new parts, wherever it asks."""
    built, cursor, clock = build(), Cursor(), FakeClock(auto=False)
    commits: list[Commit] = []
    cursor.state.scopes[ARGS] = {name: freeze(value) for name, value in args.items()}
    open_frame(cursor, built.chart, Call(built.chart.digest, STATE))
    answer: Any = None
    while True:
        charts, stages = Charts(built.charts), built.stages()
        need = advance(
            charts, stages.language(), cursor, answer, record=commits.append, now=clock.now()
        )
        if need is None:
            return commits
        built, cursor = build(), Cursor.from_json(cursor.to_json())
        need = rest_of(cursor)
        assert need is not None
        path, asked = open_needs(need)[0] if need.kind == "fork" else ((), need)
        running = Running(cursor, Charts(built.charts), {}, clock)
        answerer = brought_answerer(running, built.stages(), asked)
        assert answerer is not None, asked
        made = await answerer(asked, lambda *_: None)
        answer = BranchAnswer(path[0], made, path[1:]) if path else made
