"""A runner again and again, until its answer is good or it has run often enough."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from inspect import iscoroutinefunction
from typing import Any, Final

import msgspec

from saywhy.agent.loop.state import look, write
from saywhy.agent.own import OWN
from saywhy.agent.runners.part import Part, begin, finish, first_input, gives, mount
from saywhy.agent.tool_reply import content_of
from saywhy.chart.build import Builder
from saywhy.chart.built import Built
from saywhy.chart.commit import Condition, Decision
from saywhy.chart.view import sight_of
from saywhy.errors import Problem

BODY: Final = "body"
CHECK: Final = "check"
AGAIN: Final = "again"
ENOUGH: Final = "enough"
MAX_ROUNDS: Final = "max_rounds"
"""Why a loop ended whose condition never held."""

MOST: Final = 1000


class Round(msgspec.Struct, frozen=True):
    """One round of a loop, as its condition sees it."""

    number: int
    """From 1."""
    content: str
    """The answer of this round."""
    message: Any
    """What the loop was given in the beginning."""


Until = Callable[[Round], Any]
Following = Callable[[Round], Any]
"""A round → what the next one is given."""


def repeat_problems(until: Any, following: Any, max_rounds: Any) -> Iterator[Problem]:
    """What is wrong with a loop like this."""
    whole = isinstance(max_rounds, int) and not isinstance(max_rounds, bool)
    if not whole or not 1 <= max_rounds <= MOST:
        yield Problem(
            f"max_rounds is {max_rounds!r}", hint=f"write a whole number from 1 to {MOST}"
        )
    for name, function in (("until", until), ("following", following)):
        if function is not None and (not callable(function) or iscoroutinefunction(function)):
            yield Problem(f"{name} is no plain function", hint=f"{name}=lambda round: …")


def repeat_chart(
    part: Part,
    until: Until | None,
    following: Following | None,
    max_rounds: int,
    *,
    name: str,
    id: str,
) -> Built:
    """The chart of a loop."""
    chart = Builder(name, id=id, describe="Runs until the answer is good, or often enough", own=OWN)
    chart.stage(id="seed", name="Seed")(begin())
    mount(chart, part, id, _next_input(following), _outputs)
    choice = chart.decider(_check(until, max_rounds), id=CHECK, name="Check")
    choice.branch(AGAIN).loop_to(part.id, max_iter=max_rounds)
    choice.branch(ENOUGH)
    chart.stage(id="finish", name="Finish")(finish)
    return chart.build()


def _outputs(s: Any) -> Mapping[str, Any]:
    return gives(s)


def _next_input(following: Following | None) -> Callable[[Any], Any]:
    def message(s: Any) -> Any:
        number = int(look(s, "rounds", 0))
        if not number:
            return first_input(s)
        if following is None:
            return look(s, "result", "")
        return content_of(following(_round(s, number)))

    return message


def _round(s: Any, number: int) -> Round:
    return Round(number, str(look(s, "result", "")), first_input(s))


def _check(until: Until | None, max_rounds: int) -> Callable[[Any], Decision]:
    def check(s: Any) -> Decision:
        """Whether that is enough."""
        number = int(look(s, "rounds", 0)) + 1
        write(s, "rounds", number)
        owner = sight_of(s).owner
        tested: list[Condition] = []
        if until is not None:
            holds = bool(until(_round(s, number)))
            read = (((owner, "result"), look(s, "result", "")),)
            text = f"until {getattr(until, '__name__', type(until).__name__)}"
            tested.append(Condition(text, holds, ENOUGH, read, rule=0, label="until"))
            if holds:
                return Decision(ENOUGH, tuple(tested), label="until")
        over = number >= max_rounds
        read = (((owner, "rounds"), number),)
        text = f"rounds gte {max_rounds}"
        tested.append(Condition(text, over, ENOUGH, read, rule=1, label=MAX_ROUNDS))
        if not over:
            return Decision(AGAIN, tuple(tested), default=True, label=AGAIN)
        if until is not None:
            s.stopReason = MAX_ROUNDS
        return Decision(ENOUGH, tuple(tested), label=MAX_ROUNDS)

    return check
