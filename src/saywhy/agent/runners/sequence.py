"""Runners one after the other: each is given the answer of the one before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from saywhy.agent.loop.state import look
from saywhy.agent.own import OWN
from saywhy.agent.runners.part import Part, begin, finish, first_input, gives, id_problems, mount
from saywhy.chart.build import Builder
from saywhy.chart.built import Built
from saywhy.errors import Problem

NO_PARTS: Final = "FlowChart requires at least one agent"
"""The first words are those of the corpus."""

STAGES: Final = ("seed", "finish")


def sequence_problems(parts: Sequence[Part]) -> Iterator[Problem]:
    """What is wrong with a sequence of these."""
    if not parts:
        yield Problem(NO_PARTS, hint="Sequence(first, second, …)")
    yield from id_problems("step", [part.id for part in parts], STAGES)


def sequence_chart(parts: Sequence[Part], *, name: str, id: str) -> Built:
    """The chart of a sequence. A step that fails ends it."""
    chart = Builder(name, id=id, describe="Each is given the answer of the one before", own=OWN)
    chart.stage(id="seed", name="Seed")(begin())
    for number, part in enumerate(parts):
        message = _answer_before if number else first_input
        mount(chart, part, id, message, _outputs(part), appends=["steps"])
    chart.stage(id="finish", name="Finish")(finish)
    return chart.build()


def _answer_before(s: Any) -> Any:
    return look(s, "result", "")


def _outputs(part: Part) -> Callable[[Any], Mapping[str, Any]]:
    def outputs(s: Any) -> Mapping[str, Any]:
        given = gives(s)
        return {**given, "steps": {"id": part.id, "content": given["result"]}}

    return outputs
