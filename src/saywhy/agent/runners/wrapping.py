"""Around a runner: again after a failure, another one instead, none at all for a while.

What is inside runs over the variables and arguments of the chart around it, so that a conversation,
a follow-up or a question to a person passes through, and the result is the inner one's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from saywhy.agent.loop.finishing import DONE
from saywhy.agent.loop.state import glance, look
from saywhy.agent.own import OWN
from saywhy.agent.runners.part import CARRIED, CONVERSATION, LOOSE, Part
from saywhy.chart.build import Builder, Script
from saywhy.chart.built import Built
from saywhy.chart.commit import Condition, Decision
from saywhy.chart.failure import failure_name, failure_text
from saywhy.chart.view import sight_of
from saywhy.errors import CircuitOpen
from saywhy.models.resilience.circuit import Circuit
from saywhy.values import UNDEFINED, FrozenDict

Should = Callable[[Exception], Any]

PRIMARY: Final = "primary"
FALLBACK: Final = "fallback"

SHARED: Final = (
    "result",
    "stopReason",
    "loopCount",
    "userMessage",
    "turnNumber",
    *CONVERSATION,
    *LOOSE,
    "chosen",
    "steps",
    "branches",
    "agents",
    "rounds",
    "active",
    "hands",
    CARRIED,
    "query",
    "chunks",
)
"""What a runner may give; whatever of it the inner one wrote is taken over."""


def over(script: Script, part: Part, inside: str, **options: Any) -> None:
    """Run a part over the variables of the chart around it, and take over what it gives."""
    script.mount(part.built(inside), id=part.id, over=True, outputs=_shared, **options)


def _shared(s: Any) -> Mapping[str, Any]:
    found = {name: look(s, name, UNDEFINED) for name in SHARED}
    return {name: value for name, value in found.items() if value is not UNDEFINED}


def _finish(chart: Builder) -> None:
    def finish(s: Any) -> Any:
        """Take the inner result."""
        if glance(s, "stopReason") is None:
            s.stopReason = DONE
        return look(s, "result", "")

    chart.stage(id="finish", name="Finish")(finish)


def retry_chart(
    part: Part,
    max_retries: int,
    wait_ms: Callable[[int], float],
    should: Should | None,
    *,
    name: str,
    id: str,
) -> Built:
    """The chart of a runner that is run again after a failure."""
    chart = Builder(name, id=id, describe="Runs again after a failure", own=OWN)

    def wait_seconds(attempt: int) -> float:
        return wait_ms(attempt) / 1000

    retry: dict[str, Any] = {"attempts": 1 + max_retries, "backoff": wait_seconds}
    if should is not None:
        retry["on"] = should
    over(chart, part, id, retry=retry)
    _finish(chart)
    return chart.build()


def fallback_chart(
    primary: Part, fallback: Part, should: Should | None, *, name: str, id: str
) -> Built:
    """The chart of a runner and of the one that runs where it fails."""
    chart = Builder(name, id=id, describe="Runs another one after a failure", own=OWN)

    def catch(s: Any, error: Exception) -> bool:
        if should is not None and not should(error):
            return False
        s.failure = {"error": failure_text(error), "name": failure_name(error)}
        return True

    over(chart, primary, id, catch=catch)
    choice = chart.decider(_whether_failed, id="outcome", name="Outcome")
    over(choice.branch(FALLBACK), fallback, id)
    choice.branch("done")
    _finish(chart)
    return chart.build()


def _whether_failed(s: Any) -> Decision:
    """Whether another one has to run."""
    failure = look(s, "failure")
    failed = failure is not None
    read = (((sight_of(s).owner, "failure"), failure if failed else FrozenDict({})),)
    condition = Condition("the first one failed", failed, FALLBACK, read, rule=0)
    return Decision(FALLBACK if failed else "done", (condition,), default=not failed)


def _leave(s: Any, circuit: Circuit, works: bool | None) -> None:
    circuit.leave(int(glance(s, "permit", -1)), works, sight_of(s).scope.now)


def breaker_chart(
    part: Part,
    circuit: Circuit,
    tells_nothing: Callable[[Exception], bool],
    *,
    name: str,
    id: str,
) -> Built:
    """The chart of a runner that is left alone for a while where it keeps failing."""
    chart = Builder(name, id=id, describe="Is left alone when it keeps failing", own=OWN)

    def gate(s: Any) -> None:
        """Raises `CircuitOpen` where it is left alone."""
        now = sight_of(s).scope.now
        permit = circuit.enter(now)
        if permit is None:
            raise CircuitOpen(circuit.left_ms(now) / 1000)
        s.permit = permit

    def catch(s: Any, error: Exception) -> bool:
        _leave(s, circuit, None if tells_nothing(error) else False)
        return False

    def works(s: Any) -> None:
        """A success closes it."""
        _leave(s, circuit, True)

    chart.stage(id="gate", name="Gate")(gate)
    over(chart, part, id, catch=catch)
    chart.stage(id="works", name="Works")(works)
    _finish(chart)
    return chart.build()
