"""A whole conversation run again from its record, and the first difference with its cause."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import Any

import msgspec

from saywhy.chart.commit import Commit
from saywhy.chart.failure import failure_text
from saywhy.chart.outcome import Need
from saywhy.chart.stages import KIND as STAGES
from saywhy.expr.javascript import FunctionAnswer
from saywhy.flows.model import Library
from saywhy.flows.world import World
from saywhy.marks import is_quick
from saywhy.runtime.machinery import Machinery
from saywhy.runtime.replay.causes import Causes
from saywhy.runtime.replay.compare import ABSENT, Comparison
from saywhy.runtime.replay.entries import NO_BEGINNING, RecordedTurn, recorded_turns
from saywhy.runtime.replay.inert import NotOnRecord, inert, on_flows, told
from saywhy.runtime.replay.masked import NOT_HANDED_OVER, Gap, MaskedReads, marks_in
from saywhy.runtime.replay.otherwise import AsItWas, OnOtherFlows
from saywhy.runtime.replay.result import Difference, Replay
from saywhy.runtime.replay.run import Asks, ReplayRun
from saywhy.runtime.replay.tape import Tape
from saywhy.runtime.session import Session
from saywhy.tools.invocation import fault_of
from saywhy.trace.masking.redact import Policy
from saywhy.trace.trace import Trace
from saywhy.values import freeze, thaw


class Begun:
    """What a conversation is run again with."""

    def __init__(
        self,
        machinery: Machinery,
        policy: Policy,
        trace: Trace,
        session: Session,
        library: Library | None = None,
        lesser: Callable[[World], World] | None = None,
        agents: Collection[str] | None = None,
    ) -> None:
        """`agents` are the charts that agents of the engine run as, by their digests."""
        self.trace = trace
        self.policy = policy
        self._agents = agents
        self.tape = Tape(trace)
        as_it_was = library is None and lesser is None
        self.masked = MaskedReads(policy.declared.parts, as_it_was=as_it_was)
        self.tape.heard = self.masked.take_call
        self._is_as_it_was = library is None
        world = machinery.world
        if library is not None:
            world = on_flows(world, library)
        else:  # which versions are the newest changes from turn to turn, but not in the engine
            world = replace(world, charts=world.charts.copy())
        if lesser is not None:
            world = lesser(world)
        self.world = world
        self.session = session
        self.running = session
        self._own = machinery.world.functions
        self.computes = False
        """Whether functions that only compute are called with what they were not called with."""
        self._missing: Callable[[str, Any], NotOnRecord] = _not_on_record
        self.machinery = inert(machinery, self.tape, world, self._function, self.next_seq)

    def next_seq(self) -> int:
        """The number of the commit being made."""
        return self.running.state.seq + 1

    def _open_as_then(self, turn: RecordedTurn) -> None:
        """Flows that the turn opened are opened in the version they had."""
        charts = self.world.charts
        for commit in turn.commits:
            chart = charts.version(str(commit.facts.get("digest", "")))
            if chart is not None and charts.find(chart.id) is not chart:
                charts.add(chart)

    def absent(self) -> Iterator[Gap]:
        """What the record no longer begins with, and agents that took part and are not here, or
        not as they were."""
        if self.trace.first > 1:
            what = f"commits 1 to {self.trace.first - 1}"
            yield Gap(self.trace.newest_turn, 0, what, "not on record")
            return
        seen: set[str] = set()
        for commit in self.trace:
            if commit.chart in seen:
                continue
            seen.add(commit.chart)
            chart = self.world.charts.version(commit.chart) or self.trace.charts.version(
                commit.chart
            )
            if chart is None:
                what = f"version {commit.chart} of {commit.flow}"
                yield Gap(
                    commit.turn,
                    commit.seq,
                    what,
                    NOT_HANDED_OVER,
                )
                return
            if chart.kind != STAGES:
                continue
            if self._agents is not None and commit.chart not in self._agents:
                what = f"the agent behind {chart.id}"
                yield Gap(commit.turn, commit.seq, what, "not here, or not as it was")
                return

    def on_missing(self, tell: Callable[[str, Any], NotOnRecord]) -> None:
        """Have `tell` say what becomes of a function that was never called this way."""
        self._missing = tell

    def _function(self, name: str, args: Any) -> FunctionAnswer:
        """A function is called, and the step on record did not call it."""
        found = self.tape.same_call(self.running.state.turn, name, args)
        if found is not None:
            return told(found, args)
        function = self._own.get(name)
        if self.computes and function is not None and is_quick(function):
            return _computed(function, name, args)
        raise self._missing(name, args)

    async def take(
        self, turn: RecordedTurn, session: Session | None = None, asks: Asks | None = None
    ) -> ReplayRun:
        """Run one turn."""
        self.tape.begin(turn.number)
        if self._is_as_it_was:
            self._open_as_then(turn)
        own = self.running = session or self.session
        run = ReplayRun(self.machinery, own, self.tape, self.policy, self.masked, asks)
        for what, why in marks_of(turn):
            self.masked.enter(what, why)
        await run.again(turn)
        return run


def _computed(function: Callable[..., Any], name: str, args: Any) -> FunctionAnswer:
    """What a function gives that only computes."""
    try:
        return FunctionAnswer(name, args, freeze(function(*thaw(args)), (name,)))
    except Exception as error:
        return FunctionAnswer(name, args, None, failure_text(error), None, fault_of(error)[1])


def _not_on_record(name: str, args: Any) -> NotOnRecord:
    return NotOnRecord(Need("function", name, args, "reads"))


def marks_of(turn: RecordedTurn) -> Iterator[tuple[str, str]]:
    """What of a turn's beginning is masked or cut."""
    entry = turn.entry
    if entry is None:
        return
    message = turn.commits[0].facts.get("message") if turn.commits else None
    for what, value in (
        (f"message:{message}", entry.text),
        *((f"host:cargo.{name}", one) for name, one in (entry.cargo or {}).items()),
        *((f"host:{name}", one) for name, one in _arguments(entry.start)),
        ("decision", entry.decision),
    ):
        for _, why in marks_in(value):
            yield what, why
            break


def _arguments(start: dict[str, Any] | None) -> Iterator[tuple[str, Any]]:
    if start is not None:
        yield from dict(start["arguments"]).items()


async def replay(
    begun: Begun, *, turns: int | None = None, was: Begun | None = None, model: Any = None
) -> Replay:
    """Run the turns of the record again until the first difference, at most `turns` of them.

    `was` is the same conversation on the flows on record, where `begun` is on others.
    """
    changed, before = was is not None, AsItWas()
    asks = OnOtherFlows(before, model) if was is not None else None
    trace, number, same, sure = begun.trace, 0, 0, True
    comparison = Comparison(trace.charts, begun.world.charts if changed else None)
    difference: Difference | None = None
    gaps: list[Gap] = []
    gaps += begun.absent()
    if gaps:
        return _result(begun, 0, 0, None, gaps, comparison)
    for turn in recorded_turns(trace):
        if turns is not None and number >= turns:
            break
        if turn.entry is None:
            gaps.append(Gap(turn.number, 0, "the turn", NO_BEGINNING))
            break
        number += 1
        if was is not None:
            await was.take(turn, asks=before)
        run = await begun.take(turn, asks=asks)
        equal, difference = _compared(begun, comparison, turn, run, changed)
        same += equal
        sure = begun.masked.is_sure(run.recorder.kept[max(0, equal - 1) : equal + 1])
        if difference is not None:
            if asks is not None and run.stopped is not None:
                asks.stopped(run, run.stopped)
            break
    gaps += begun.masked.gaps
    if difference is not None and begun.masked.came is not None and not sure:
        if not gaps:
            gaps.append(Gap(difference.turn, difference.commit, *begun.masked.came))
        difference = None  # what follows something masked proves nothing
    found = _result(begun, number, same, difference, gaps, comparison)
    if asks is None:
        return found
    assumed, would_call = map(tuple, map(dict.fromkeys, (asks.assumed, asks.would_call)))
    return msgspec.structs.replace(found, assumed=assumed, would_call=would_call)


def _result(
    begun: Begun,
    turns: int,
    same: int,
    difference: Difference | None,
    gaps: list[Gap],
    comparison: Comparison,
) -> Replay:
    name = begun.session.session_id
    handed_on = begun.masked.handed_on
    found = Replay(name, turns, same, difference, tuple(gaps), comparison.passed_over)
    return msgspec.structs.replace(found, handed_on=handed_on)


def _compared(
    begun: Begun, comparison: Comparison, turn: RecordedTurn, run: ReplayRun, changed: bool
) -> tuple[int, Difference | None]:
    """How many steps are the same, and the first that is not."""
    now = run.recorder.kept
    causes = Causes(begun.trace.charts, begun.world.charts, changed)
    replies = (turn.reply, run.reply)
    for place in range(max(len(turn.commits), len(now))):
        one = turn.commits[place] if place < len(turn.commits) else None
        other = now[place] if place < len(now) else None
        if one is None or other is None:
            return place, causes.of_missing(turn.number, one, other, run.stopped, replies)
        found = comparison.first(one, other)
        if found is not None:
            return place, causes.of(one, other, found, replies)
    return len(now), _replies(turn, run, now)


def _replies(turn: RecordedTurn, run: ReplayRun, now: tuple[Commit, ...]) -> Difference | None:
    """A difference in what was said that no step shows."""
    said = [one.text for one in turn.messages if one.role == "assistant"]
    again = [begun_shown(run, one.text) for one in run.said.messages if one.role == "assistant"]
    if said == again or any(list(marks_in(one)) for one in said):
        return None
    last = now[-1].seq if now else 0
    why = "the steps are the same, and so should be what they said"
    pair = (said[-1] if said else None, again[-1] if again else None)
    return Difference(
        turn.number,
        last,
        "reply",
        pair[0] or ABSENT,
        pair[1] or ABSENT,
        "",
        "unexplained",
        why,
        pair,
    )


def begun_shown(run: ReplayRun, text: str) -> str:
    """A text as it may be shown."""
    return run.recorder.redactor.text(text)


__all__ = ["Begun", "replay"]
