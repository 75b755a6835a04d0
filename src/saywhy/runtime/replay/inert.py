"""The machinery of an engine with nothing behind it: no tool, model or function is ever called.

Flows, charts, wording and options are the engine's own, or are replaced by others'. What asks the
outside gets its answer from the record, or the turn stops there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final

import msgspec

from saywhy.agent.slots.composed import RECORDS
from saywhy.chart.commit import Commit, FunctionCall, Op
from saywhy.chart.machine import Language
from saywhy.chart.model import Charts
from saywhy.chart.outcome import Answer, Need, Outcome
from saywhy.chart.plan import Plan
from saywhy.chart.scope import Scope
from saywhy.chart.stages import Memo, Stages
from saywhy.chart.ways import finish
from saywhy.clock import SystemClock
from saywhy.expr.javascript import FunctionAnswer
from saywhy.flows.blame import one_line
from saywhy.flows.compile import compile_flow
from saywhy.flows.detection import offered
from saywhy.flows.functions import Remembered
from saywhy.flows.model import Library
from saywhy.flows.steps import flow_language
from saywhy.flows.turn import routing_language
from saywhy.flows.world import World
from saywhy.runtime.machinery import Machinery
from saywhy.runtime.replay.tape import KEEPING, SAVED, Tape, failed_with, work_of
from saywhy.runtime.watchers import Watchers
from saywhy.tools.answer import ToolAnswer
from saywhy.tools.limit import MemoryLimiter
from saywhy.tools.tool import Tool
from saywhy.values import FrozenList, freeze, raw, same, seal, thaw

LOADING: Final = "load-history"
ACTING: Final = frozenset({LOADING, KEEPING, "retrieve", "gate", "works"})
"""Stages of agents that read or write what is kept elsewhere: histories, documents, circuits."""
FOREIGN: Final = frozenset({"rag", "memory"})
"""Where a piece comes from that a host looked up."""


Missing = Callable[[str, Any], FunctionAnswer]
"""Is told the name and the arguments of a function whose call is not on record."""


LISTS: Final = ("messages", "history", "memory_storedHistory", "memory_preparedMessages")


class NotOnRecord(BaseException):
    """Something is needed that the record does not have. No `Exception`: no step may take care of
    it."""

    def __init__(self, need: Need) -> None:
        self.need = need
        super().__init__(need.name)


def inert(
    machinery: Machinery,
    tape: Tape,
    world: World,
    missing: Missing,
    next_seq: Callable[[], int],
) -> Machinery:
    """The machinery on `world`, answered from the tape. `next_seq` is the commit being made."""
    names = {*world.functions, *tape.functions}
    world = replace(world, functions=Recorded(names, tape, missing, next_seq))
    flows = flow_language(world)
    language = flows
    if machinery.agents is not None:
        own = RecordedStages(machinery.agents, tape).language()
        language = Language({**own.steps, **flows.steps}, {**own.close, **flows.close})
    clock = SystemClock()
    return replace(
        machinery,
        world=world,
        language=language,
        routing_language=routing_language(world),
        charts=world.charts,
        clock=clock,
        limiter=MemoryLimiter(clock),
        warn=_unheard,
        error=_unheard,
        debug=_unheard,
        diagnose=_no_diagnosis,
        watchers=Watchers(),
        emit=None,
    )


def on_flows(world: World, library: Library) -> World:
    """The world with other flows in place of its own; agents and routing stay."""
    charts = Charts(compile_flow(flow) for flow in reversed(library.flows) if flow.name or flow.id)
    for chart in world.charts:
        if chart.kind != "flow":
            charts.add(chart)
    return replace(world, charts=charts, order=library.flows, offered=offered(library.flows))


def _no_diagnosis(tool: Tool | None, answer: ToolAnswer, hidden: bool) -> tuple[str, ...]:
    return ()


def _unheard(text: str) -> None:
    """Nobody is told: the warnings are in the commits."""


# ------------------------------------------------------------------ functions


class Recorded(Remembered):
    """Approved functions that give what they are on record to have given."""

    def __init__(
        self, names: Iterable[str], tape: Tape, missing: Missing, next_seq: Callable[[], int]
    ) -> None:
        super().__init__(dict.fromkeys(names, _never))
        self._tape = tape
        self._missing = missing
        self._next_seq = next_seq  # a correction is tried on a copy, whose steps do not count

    def answer(self, scope: Scope, name: str, args: list[Any]) -> FunctionAnswer:
        """The answer on record; `missing` says what becomes of a call that is not there."""
        seq = self._next_seq()
        found = self._tape.call(seq, name, args)
        frozen = freeze(args)
        if found is None:
            return self._missing(name, frozen)
        if found.error:
            warning = one_line(f"approved function {name} raised {found.error_name}: {found.error}")
            commit = self._tape.commit(seq)
            if commit is not None and warning in commit.warnings:
                scope.warn(warning)
        return told(found, frozen)


def told(call: FunctionCall, args: Any) -> FunctionAnswer:
    """What a call gave, as an expression gets it."""
    after = None if call.after is None else list(thaw(seal(call.after)))
    return FunctionAnswer(
        call.name, args, seal(call.value), call.error or None, after, call.error_name
    )


def _never(*ignored: Any, **named: Any) -> Any:
    raise AssertionError("a function is never called when a turn is run again")


# ------------------------------------------------------------------ stages of agents


class RecordedStages(Stages):
    """Stages that do their work, but for those that look something up or keep something."""

    def __init__(self, stages: Stages, tape: Tape) -> None:
        self.plan = stages.plan
        self.env = stages.env
        self.emit = None
        self._tape = tape

    def _run(self, plan: Plan, scope: Scope, memo: Memo | None) -> Outcome:
        commit = self._tape.commit(scope.state.seq + 1)
        if plan.is_async or commit is None or not acted(commit) or not _is_at(scope, commit):
            return super()._run(plan, scope, memo)
        if commit.node == LOADING and scope.peek((scope.frame.scope, "loopCount")):
            return super()._run(plan, scope, memo)  # in later rounds it goes on with what it has
        if commit.to == "fail":
            scope.reads += commit.reads
            raise failed_with(commit.error_name, commit.error)
        _do(scope, commit)
        kept = commit.node == KEEPING and "saved" in commit.facts
        value = scope.peek((scope.frame.scope, "result")) if kept else None
        return finish(plan, scope, value, SAVED if kept else None)

    def _did(self, plan: Plan, scope: Scope, memo: Memo, answer: Answer) -> Outcome:
        work = answer.work
        if work is not None and work.ops:
            ops = tuple(Op(op.verb, op.key, _shared(scope, op.value)) for op in work.ops)
            answer = msgspec.structs.replace(answer, work=msgspec.structs.replace(work, ops=ops))
        return super()._did(plan, scope, memo, answer)

    def _caught(self, plan: Plan, scope: Scope, error: Exception) -> bool:
        """Whether the failure of what is inside was taken for a result, as it was."""
        commit = self._tape.commit(scope.state.seq + 1)
        if commit is None or not _is_at(scope, commit):
            return super()._caught(plan, scope, error)
        if "caught" not in commit.facts:
            return False
        _do(scope, commit)
        return True


def acted(commit: Commit) -> bool:
    """Whether a stage took something from outside, or gave it there."""
    if commit.node in ACTING:
        return True
    for op in commit.ops:
        if op.key[1:] and op.key[1] in RECORDS:
            return any(raw(one).get("source") in FOREIGN for one in raw(seal(op.value)))
    return False


def _is_at(scope: Scope, commit: Commit) -> bool:
    return (commit.frame, commit.node) == (scope.frame.id, scope.node.id)


def _do(scope: Scope, commit: Commit) -> None:
    """Read and write what a stage has read and written."""
    work = work_of(commit)
    scope.reads += work.reads
    scope.warnings += work.warnings
    scope.facts = {name: seal(fact) for name, fact in commit.facts.items()}
    for op in work.ops:
        if op.verb == "set":
            scope.set(op.key, _shared(scope, op.value))
        elif op.verb == "append":
            scope.append(op.key, op.value)
        else:
            scope.delete(op.key)


def _shared(scope: Scope, value: Any) -> Any:
    """The value; where the state holds the same list already, that very one.

    Slots tell by that whether anything is new.
    """
    if type(value) is FrozenList:
        for name in LISTS:
            held = scope.peek((scope.frame.scope, name))
            if type(held) is FrozenList and len(held) == len(value) and same(held, value):
                return held
    return value


__all__ = ["NotOnRecord", "RecordedStages", "inert", "on_flows", "told"]
