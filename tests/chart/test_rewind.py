"""Going back: to a node of a frame below, with all frames above it closed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from saywhy.chart.failure import StepFailed
from saywhy.chart.machine import open_frame
from saywhy.chart.outcome import Answer, Call, Need, Rewind
from saywhy.chart.scope import Scope


def setter(s: Scope, answer: Answer | None = None) -> None:
    s.set((s.frame.scope, "set"), True)


def asker(s: Scope, answer: Answer | None = None) -> Need | None:
    return Need("user", "q") if answer is None else None


def caller(chart: str) -> Callable[[Scope], Call]:
    return lambda s: Call(chart, s.open())


def test_a_step_may_go_back(play: Any) -> None:
    """All frames above the named one close; it is entered at the node, as if it waited nowhere."""
    outer = play.chart("outer", first=setter, ask=asker, last=setter)

    def back(s: Scope) -> Rewind:
        s.set(("state", "went"), True)
        return Rewind(s.cursor.frames[0].id, "first", "gone back", {"kept": 1})

    play.chart("above", back=back)
    play.chart("middle", call=caller("above"))
    assert play.start("outer").kind == "user"
    open_frame(play.cursor, play.charts.find("middle"), Call("middle", "state"))
    need = play.go()
    assert need is not None and need.kind == "user"
    (frame,) = play.cursor.frames
    assert (frame.name, frame.at, frame.data) == (outer.name, "ask", {"kept": 1})
    steps = [one.node for one in play.commits if one.phase != "closed"]
    assert steps == ["first", "ask", "call", "back", "first", "ask"]
    assert next(one.to for one in play.commits if one.node == "back") == "rewind"
    assert play.variables()["went"] is True


@pytest.mark.parametrize(
    ("outcome", "problem"),
    [
        (Rewind(99, "first"), "there is no frame 99 below the one that goes back"),
        (Rewind(1, "nowhere"), 'chart outer has no node "nowhere"'),
    ],
)
def test_there_must_be_a_way_back(play: Any, outcome: Rewind, problem: str) -> None:
    """Going back to what is not there fails the step, and says what is missing."""
    play.chart("above", back=lambda s: outcome)  # pyright: ignore[reportUnknownLambdaType]
    play.chart("outer", first=caller("above"))
    with pytest.raises(StepFailed) as caught:
        play.start("outer")
    assert problem in str(caught.value)
