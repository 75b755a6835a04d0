"""Promise: a return may close many frames at once, down to the one that waits for it."""

from __future__ import annotations

from typing import Any

from saywhy.chart.outcome import Return
from tests.chart.test_machine import caller, raiser


def test_return_unwinds_down_to_a_frame(play: Any) -> None:
    """All frames above the one named are closed, and it takes the value as that of its own call."""
    play.chart("deep", give=lambda s: Return("x", unwind="all", down_to=s.cursor.frames[1].id))
    play.chart("inner", call=caller("deep", awaits=True), never=raiser(ValueError("never")))
    play.chart("carrier", call=caller("inner", awaits=True), end=lambda s: Return("carried"))
    play.chart("main", call=caller("carrier", awaits=True), end=lambda s: Return("main"))
    assert play.start("main") is None
    assert play.cursor.returned == "main"
    assert [name for name, _ in play.closed] == ["inner", "deep", "carrier", "main"]
    taken = [commit.ops for commit in play.commits if commit.phase == "answered"]
    assert [op.value for ops in taken for op in ops if op.key[1] == "got"] == ["x", "carried"]


def test_return_down_to_a_frame_that_is_gone_unwinds_all(play: Any) -> None:
    """A frame that is not there stops nothing."""
    play.chart("deep", give=lambda s: Return("x", unwind="all", down_to=99))
    play.chart("main", call=caller("deep", awaits=True), never=raiser(ValueError("never")))
    assert play.start("main") is None
    assert play.cursor.returned == "x"
