"""What the tests of the chart engine share: charts whose nodes are functions, on one cursor."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from saywhy.chart.commit import Commit
from saywhy.chart.cursor import Cursor
from saywhy.chart.failure import StepFailed
from saywhy.chart.language import Ending
from saywhy.chart.machine import Language, Limits, Step, advance, open_frame
from saywhy.chart.model import Chart, Charts, Node
from saywhy.chart.outcome import Answer, BranchAnswer, Call, Fail, Goto, Need, Outcome, Return
from saywhy.chart.scope import Scope
from saywhy.testing.clock import FakeClock
from saywhy.values import loads_raw

Function = Callable[..., Any]


class Play:
    """Runs charts made of functions; goes through JSON at every need.

    A node's function takes the scope, and the answer when the node is resumed. What it returns is
    the outcome; None goes on to the next node, or returns after the last.
    """

    def __init__(self, *, json: bool = True, limits: Limits | None = None) -> None:
        self.json = json
        self.limits = limits or Limits()
        self.charts = Charts()
        self.cursor = Cursor()
        self.commits: list[Commit] = []
        self.closed: list[tuple[str, Ending]] = []
        self.functions: dict[str, Function] = {}
        self.failed: dict[str, Function] = {}
        self.need: Need | None = None

    def chart(self, name: str, /, *, failed: Function | None = None, **nodes: Function) -> Chart:
        ids = list(nodes)
        following = [*ids[1:], None]
        for node, function in nodes.items():
            self.functions[f"{name}.{node}"] = function
            if failed is not None:
                self.failed[f"{name}.{node}"] = failed
        made = [Node(node, "do", to) for node, to in zip(ids, following, strict=True)]
        chart = Chart.of(name, made)
        self.charts.add(chart)
        return chart

    def start(self, name: str, scope: str = "state", answer: Answer | None = None) -> Need | None:
        chart = self.charts.find(name)
        assert chart is not None
        open_frame(self.cursor, chart, Call(name, scope))
        return self.go(answer)

    def go(self, answer: Any = None) -> Need | None:
        """One `advance`; a value that is no answer is made one."""
        if answer is not None and not isinstance(answer, Answer | BranchAnswer):
            answer = Answer(answer)
        language = Language({"do": Step(self.enter, self.resume, self.fail)}, {"chart": self.close})
        if self.json:
            self.cursor = Cursor.from_json(self.cursor.to_json())
        self.need = advance(
            self.charts,
            language,
            self.cursor,
            answer,
            record=self.commits.append,
            limits=self.limits,
        )
        return self.need

    def enter(self, node: Node, scope: Scope) -> Outcome:
        return self.outcome(node, self.functions[f"{scope.chart.name}.{node.id}"](scope))

    def resume(self, node: Node, scope: Scope, answer: Answer) -> Outcome:
        return self.outcome(node, self.functions[f"{scope.chart.name}.{node.id}"](scope, answer))

    def fail(self, node: Node, scope: Scope, error: Exception) -> Outcome:
        function = self.failed.get(f"{scope.chart.name}.{node.id}")
        return Fail(error) if function is None else self.outcome(node, function(scope, error))

    def outcome(self, node: Node, given: Any) -> Outcome:
        if given is None:
            return Return() if node.next is None else Goto(node.next)
        return given

    def close(self, scope: Scope, ending: Ending) -> None:
        self.closed.append((scope.frame.name, ending))

    def variables(self, scope: str = "state") -> dict[str, Any]:
        return {name: plain(value) for name, value in self.cursor.state.scopes[scope].items()}

    @property
    def steps(self) -> list[Commit]:
        """The commits of steps, without those that close frames."""
        return [commit for commit in self.commits if commit.phase != "closed"]


def plain(value: Any) -> Any:
    from saywhy.values import dumps

    return loads_raw(dumps(value))


@pytest.fixture
def play() -> Play:
    """Charts of functions, through JSON at every need."""
    return Play()


@pytest.fixture
def play_of() -> Callable[..., Play]:
    """Makes a `Play` with options."""
    return Play


@pytest.fixture
def run() -> Callable[..., Any]:
    """Builds and runs a chart to its end on a fake clock; gives the `Result`."""

    def go(builder: Any, /, *, state: Any = None, **args: Any) -> Any:
        return asyncio.run(builder.build().run(args, state=state, clock=FakeClock()))

    return go


@pytest.fixture
def failure(run: Callable[..., Any]) -> Callable[..., Any]:
    """Runs a chart that fails; gives the error its step failed with."""

    def fail(builder: Any, /, **given: Any) -> Any:
        with pytest.raises(StepFailed) as caught:
            run(builder, **given)
        return caught.value.error

    return fail
