"""One of several runners, by the first condition that holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from inspect import iscoroutinefunction
from typing import Any, Final

from saywhy.agent.loop.state import EMPTY, given, look, write
from saywhy.agent.own import OWN
from saywhy.agent.runners.part import CARRIED, Part, begin, finish, gives, id_problems, mount
from saywhy.agent.slots.context import SlotContext
from saywhy.chart.build import Builder
from saywhy.chart.built import Built
from saywhy.chart.commit import Condition, Decision
from saywhy.chart.failure import failure_name, failure_text
from saywhy.chart.view import sight_of
from saywhy.errors import Problem

CHOOSE: Final = "choose"
STAGES: Final = ("seed", CHOOSE, "finish")

Predicate = Callable[[SlotContext], Any]
"""Given the moment: `message`, `turn_number`, `history`."""


@dataclass(frozen=True, slots=True)
class Case:
    """A runner and when it is taken; without a condition it is what is taken otherwise."""

    part: Part
    when: Predicate | None = None


def conditional_problems(cases: Sequence[Case]) -> Iterator[Problem]:
    """What is wrong with a choice among these."""
    others = [case.part.id for case in cases if case.when is None]
    if not cases[: len(cases) - len(others)]:
        yield Problem("there is nothing to choose", hint=".when(id, condition, runner)")
    if not others:
        yield Problem(
            "nothing is said about what happens when no condition holds",
            hint=".otherwise(id, runner)",
        )
    if len(others) > 1:
        yield Problem(f"more than one runner is taken otherwise: {', '.join(others)}")
    for case in cases:
        when: Any = case.when
        if when is not None and (not callable(when) or iscoroutinefunction(when)):
            yield Problem(
                f'the condition of "{case.part.id}" is no plain function',
                hint="lambda context: …; what has to be awaited belongs into a runner before",
                flow=case.part.id,
            )
    yield from id_problems("branch", [case.part.id for case in cases], STAGES)


def conditional_chart(cases: Sequence[Case], *, name: str, id: str) -> Built:
    """The chart of a choice."""
    chart = Builder(name, id=id, describe="Runs what the first true condition says", own=OWN)
    chart.stage(id="seed", name="Seed")(begin(keeps_history=True))
    choice = chart.decider(_chooser(cases), id=CHOOSE, name="Choose")
    for case in cases:
        mount(choice.branch(case.part.id), case.part, id, outputs=_outputs(case.part))
    chart.stage(id="finish", name="Finish")(_finish)
    return chart.build()


def _finish(s: Any) -> str:
    """Take the result as the answer, and keep what each runner has left for its next run."""
    had, left = given(s, CARRIED), look(s, "left")
    if had is not None or left is not None:
        write(s, CARRIED, {**(had or {}), **(left or {})})
    return finish(s)


def _chooser(cases: Sequence[Case]) -> Callable[[Any], Decision]:
    conditions = [case for case in cases if case.when is not None]
    otherwise = next(case.part.id for case in cases if case.when is None)

    def choose(s: Any) -> Decision:
        """Take the first whose condition holds."""
        messages = look(s, "messages", EMPTY)
        said, turn = look(s, "userMessage", ""), look(s, "turnNumber", 1)
        owner = sight_of(s).owner
        read = (((owner, "userMessage"), said), ((owner, "turnNumber"), turn))
        tested: list[Condition] = []
        for number, case in enumerate(conditions):
            context = SlotContext(said, turn_number=turn, messages=messages)
            condition = _tested(case, context, number, read)
            if condition.error:
                sight_of(s).scope.warn(f"condition {case.part.id} raised {condition.error}")
            tested.append(condition)
            if condition.result:
                return Decision(case.part.id, tuple(tested), label=case.part.id)
        return Decision(otherwise, tuple(tested), default=True, label=otherwise)

    return choose


def _tested(case: Case, context: SlotContext, number: int, read: Any) -> Condition:
    """One that raises does not hold, and says why."""
    when: Any = case.when
    error, holds = "", False
    try:
        holds = bool(when(context))
    except Exception as raised:
        error = f"{failure_name(raised)}: {failure_text(raised)}"
    name = case.part.id
    text = f"{name}: {getattr(when, '__name__', type(when).__name__)}"
    return Condition(text, holds, name, read, error, rule=number, label=name)


def _outputs(part: Part) -> Callable[[Any], dict[str, Any]]:
    def outputs(s: Any) -> dict[str, Any]:
        found = {**gives(s), "chosen": part.id}
        carried = look(s, CARRIED)
        return found if carried is None else {**found, "left": {part.id: carried}}

    return outputs
