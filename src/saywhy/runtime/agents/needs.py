"""What the charts of agents need in a turn of a conversation: models, async stages, tools.

A stage says itself who answers for it (`chart.brought`). Here its answer goes through the journal:
one that has come is never asked for again, not even after a crash; a question that nobody answered
is put once more.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from saywhy.chart.brought import Running, brought_answerer
from saywhy.chart.drive import Path, open_needs
from saywhy.chart.outcome import Answer, Need
from saywhy.chart.task import run_task
from saywhy.errors import FlowExecutionError
from saywhy.runtime.calls import key_of
from saywhy.tools.answer import ToolAnswer
from saywhy.values import FrozenDict, freeze, seal, thaw

if TYPE_CHECKING:
    from saywhy.runtime.turn import TurnRun


KINDS: Final = frozenset({"model", "tool", "task"})
"""Kinds of needs that charts of agents have, besides those of every chart."""


async def answer_agent(run: TurnRun, need: Need) -> Answer | None:
    """The answer to what an agent asks; None where no agent asks, or it has nobody to ask."""
    if need.kind == "task":
        return await run.journal.waiting(partial(_task, run, need))
    machinery = run.machinery
    assert machinery.agents is not None, "asked only where there are agents"
    if run.kept is None:
        run.kept = {}
    running = Running(run.flow, machinery.charts, {}, machinery.clock, watched=True, kept=run.kept)
    answerer = brought_answerer(running, machinery.agents, need)
    if answerer is None:
        return None

    async def call() -> ToolAnswer:
        return _stored(await answerer(need, machinery.emit or _unheard))

    made = await run.journal.around(run, need, run.session.state.seq, key_of(run), call)
    await run.journal.keep()
    return _answered(made)


async def _task(run: TurnRun, need: Need) -> Answer:
    machinery, now = run.machinery, run.run.now
    assert machinery.agents is not None, "asked only where there are agents"
    return await run_task(machinery.agents, machinery.charts, run.flow, need, now=now)


def _unheard(kind: str, data: Any = None) -> None:
    """Nobody looks at the screen of a turn."""


ANSWERED: Final = KINDS | {"function", "timer", "reconcile"}


def first_open(need: Need) -> tuple[Path, Need]:
    """The first item of a fork that can be answered here: they are answered one after another.

    Raises `FlowExecutionError` where only people can.
    """
    items = open_needs(need)
    for path, item in items:
        if item.kind in ANSWERED:
            return path, item
    raise FlowExecutionError(
        f"{items[0][1].name or need.name} asks the user while others run beside it",
        hint="let what asks the user run alone, not in a branch",
    )


def _stored(answer: Answer) -> ToolAnswer:
    """An answer in the form in which calls are journaled."""
    told = {"value": answer.value, "error": answer.error, "name": answer.error_name}
    return ToolAnswer(value=freeze({**told, "facts": dict(answer.facts)}))


def _answered(made: ToolAnswer) -> Answer:
    """The answer that was journaled; one that was cut off is an error that says so."""
    if made.fault_message is not None:
        facts = {"may_have_happened": made.may_have_happened}
        return Answer(None, made.fault_message, made.fault_name or "Error", facts)
    told = made.value
    assert isinstance(told, FrozenDict), "a journaled answer is as it was stored"
    facts: dict[str, Any] = thaw(told["facts"])
    return Answer(seal(told["value"]), told["error"], told["name"], facts)


__all__ = ["KINDS", "answer_agent", "first_open"]
