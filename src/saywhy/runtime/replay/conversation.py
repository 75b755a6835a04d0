"""A whole conversation run again from its record, and the first difference with its cause."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from saywhy.chart.commit import Commit
from saywhy.chart.outcome import Need
from saywhy.flows.model import Library
from saywhy.runtime.machinery import Machinery
from saywhy.runtime.replay.causes import Causes
from saywhy.runtime.replay.compare import ABSENT, Comparison
from saywhy.runtime.replay.entries import NO_BEGINNING, RecordedTurn, recorded_turns
from saywhy.runtime.replay.inert import NotOnRecord, inert, on_flows
from saywhy.runtime.replay.masked import Gap, MaskedReads, marks_in
from saywhy.runtime.replay.result import Difference, Replay
from saywhy.runtime.replay.run import ReplayRun
from saywhy.runtime.replay.tape import Tape
from saywhy.runtime.session import Session
from saywhy.trace.masking.redact import Policy
from saywhy.trace.trace import Trace


class Begun:
    """What a conversation is run again with."""

    def __init__(
        self,
        machinery: Machinery,
        policy: Policy,
        trace: Trace,
        session: Session,
        library: Library | None = None,
    ) -> None:
        self.trace = trace
        self.policy = policy
        self.tape = Tape(trace)
        self.masked = MaskedReads()
        world = machinery.world
        if library is not None:
            world = on_flows(world, library)
        self.world = world
        self.session = session
        self.running = session
        self.machinery = inert(machinery, self.tape, world, self.missing, self.next_seq)

    def next_seq(self) -> int:
        """The number of the commit being made."""
        return self.running.state.seq + 1

    def missing(self, name: str, args: Any) -> Any:
        """A function is called whose answer is not on record."""
        raise NotOnRecord(Need("function", name, args, "reads"))

    def run(self, session: Session | None = None) -> ReplayRun:
        """The next turn, about to be run."""
        own = self.running = session or self.session
        return ReplayRun(self.machinery, own, self.tape, self.policy, self.masked)

    async def take(self, turn: RecordedTurn, session: Session | None = None) -> ReplayRun:
        """Run one turn."""
        self.tape.begin(turn.number)
        run = self.run(session)
        for what, why in marks_of(turn):
            self.masked.enter(what, why)
        await run.again(turn)
        return run


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


async def replay(begun: Begun, *, turns: int | None = None, changed: bool = False) -> Replay:
    """Run the turns of the record again until the first difference, at most `turns` of them."""
    trace, number, same = begun.trace, 0, 0
    comparison = Comparison(trace.charts, begun.world.charts if changed else None)
    difference: Difference | None = None
    gaps: list[Gap] = []
    if trace.first > 1:
        gaps.append(Gap(trace.newest_turn, 0, f"commits 1 to {trace.first - 1}", "not on record"))
        return _result(begun, 0, 0, None, gaps, comparison)
    for turn in recorded_turns(trace):
        if turns is not None and number >= turns:
            break
        if turn.entry is None:
            gaps.append(Gap(turn.number, 0, "the turn", NO_BEGINNING))
            break
        number += 1
        run = await begun.take(turn)
        equal, difference = _compared(begun, comparison, turn, run, changed)
        same += equal
        if difference is not None:
            break
    gaps += begun.masked.gaps
    if difference is not None and begun.masked.came is not None and not gaps:
        gaps.append(Gap(difference.turn, difference.commit, *begun.masked.came))
    if gaps:
        difference = None  # what follows something masked proves nothing
    return _result(begun, number, same, difference, gaps, comparison)


def _result(
    begun: Begun,
    turns: int,
    same: int,
    difference: Difference | None,
    gaps: list[Gap],
    comparison: Comparison,
) -> Replay:
    name = begun.session.session_id
    return Replay(name, turns, same, difference, tuple(gaps), comparison.passed_over)


def _compared(
    begun: Begun, comparison: Comparison, turn: RecordedTurn, run: ReplayRun, changed: bool
) -> tuple[int, Difference | None]:
    """How many steps are the same, and the first that is not."""
    now = run.recorder.kept
    causes = Causes(begun.trace.charts, begun.world.charts, changed)
    replies = (turn.reply, run.session.response)
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
