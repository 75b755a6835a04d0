"""Whatever else can be run, as a chart: an object with `run`, or a function of the message.

What happens inside is not seen here: it is one step of the record. Where its result says that a
person is asked, and it can be resumed, the run rests at the question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, isawaitable, signature
from typing import Any, Final

from saywhy.agent.loop.state import given
from saywhy.agent.own import OWN
from saywhy.agent.runners.part import MESSAGE, begin, finish
from saywhy.agent.tool_reply import content_of
from saywhy.agent.tools import ASK_HUMAN
from saywhy.chart.build import Builder
from saywhy.chart.built import Built
from saywhy.chart.outcome import Need
from saywhy.values import FrozenDict, thaw

STAGE: Final = "run"


def can_run(runner: Any) -> bool:
    """Whether it can be run at all."""
    return callable(getattr(runner, "run", None)) or callable(runner)


def outside_chart(runner: Any, *, name: str, id: str) -> Built:
    """The chart of a runner that brings none."""
    run = getattr(runner, "run", None) or runner
    resume = getattr(runner, "resume", None)
    chart = Builder(name, id=id, describe="Runs what brings no chart of its own", own=OWN)
    chart.stage(id="seed", name="Seed")(begin())

    async def first(s: Any) -> Need | None:
        """Run it."""
        return _taken(s, await _called(run, s, thaw(given(s, MESSAGE, ""))), resume)

    async def second(s: Any, answer: Any) -> Need | None:
        """Go on with the answer of the person who was asked."""
        assert resume is not None, "only what can be resumed has asked"
        return _taken(s, await _called(resume, s, thaw(answer)), resume)

    chart.pausable(first, id=STAGE, name="Run").resume(second)
    chart.stage(id="finish", name="Finish")(finish)
    return chart.build()


async def _called(function: Callable[..., Any], s: Any, argument: Any) -> Any:
    signal = s.env.get("signal")
    more = {"signal": signal} if signal is not None and _takes_signal(function) else {}
    made = function(argument, **more)
    return await made if isawaitable(made) else made


def _takes_signal(function: Callable[..., Any]) -> bool:
    try:
        parameters = signature(function).parameters
    except (TypeError, ValueError):
        return False
    return "signal" in parameters or any(
        one.kind is Parameter.VAR_KEYWORD for one in parameters.values()
    )


def _taken(s: Any, made: Any, resume: Any) -> Need | None:
    """Keep the answer; where a person is asked, ask."""
    if getattr(made, "paused", False) and resume is not None:
        data: Mapping[str, Any] = getattr(made, "pause_data", None) or {}
        asked = {
            "question": str(data.get("question", "")),
            "toolCallId": str(data.get("tool_call_id", "")),
        }
        return Need("user", ASK_HUMAN, FrozenDict(asked), "reads")
    s.result = content_of(getattr(made, "content", made))
    s.loopCount = int(getattr(made, "iterations", 0) or 0)
    return None
