"""The last run of an agent that runs alone, run again: as it is on record, or with a piece less.

What the run began with is known to its conversation: the words, the history, the ids. A run that a
person's answer let go on is run again from where it rested.
"""

from __future__ import annotations

from typing import Any

from saywhy.agent.loop.request import request_of
from saywhy.chart.built import ARGS, LIMITS, STATE, Built
from saywhy.chart.cursor import Cursor, Frame
from saywhy.chart.drive import Path, open_needs
from saywhy.chart.failure import StepFailed
from saywhy.chart.machine import advance, cancel
from saywhy.chart.model import Charts
from saywhy.chart.outcome import Answer, BranchAnswer, Call, Need
from saywhy.chart.stack import open_frame
from saywhy.errors import CallerError, SaywhyError
from saywhy.models.asked import asked_model
from saywhy.runtime.agents.agent import Agent
from saywhy.runtime.agents.needs import ANSWERED
from saywhy.runtime.agents.resting import answer_to
from saywhy.runtime.agents.run import AgentRun
from saywhy.runtime.replay.causes import Causes
from saywhy.runtime.replay.changed import Baseline, Changed
from saywhy.runtime.replay.compare import Comparison
from saywhy.runtime.replay.inert import NotOnRecord, RecordedStages
from saywhy.runtime.replay.lesser import Lesser
from saywhy.runtime.replay.masked import Gap, MaskedReads, marks_in
from saywhy.runtime.replay.removal import OF_AGENTS, RecalledTexts, Removal, must_be_recalled
from saywhy.runtime.replay.request import Request
from saywhy.runtime.replay.result import Difference, Replay
from saywhy.runtime.replay.run import Asks, FromRecord
from saywhy.runtime.replay.tape import OUTSIDE, Tape
from saywhy.runtime.replay.whatif import Counterfactual
from saywhy.trace.record import Recorder
from saywhy.trace.trace import Trace
from saywhy.values import freeze

NOT_HERE = ("default", "host", "global")
"""Pieces that only flows have."""


class AloneAgain:
    """A run of an agent, being run again."""

    def __init__(
        self,
        ran: AgentRun,
        built: Built,
        tape: Tape,
        asks: Asks,
        words: Any = None,
        rule: str = "",
    ) -> None:
        self.tape = tape
        self.masked_reads = MaskedReads()
        self.recorder = Recorder(ran.agent.redact)
        self.stopped: Need | None = None
        self.error = ""
        self._asks = asks
        self._charts = Charts(built.charts)
        self._language = RecordedStages(built.stages(), tape).language()
        self.cursor, self._answer = _begun(ran, built, words, rule)

    async def go(self) -> None:
        """Run it to its rest."""
        answer = self._answer
        try:
            while (need := self._advance(answer)) is not None:
                path, item = self._next(need)
                if item.kind not in OUTSIDE:
                    return  # a person is asked: it rests as it did
                made = await self._asks.answer(self, item, self._asking(item))
                answer = BranchAnswer(path[0], made, path[1:]) if path else made
        except NotOnRecord as stopped:
            if not self._ended():
                self.stopped = stopped.need
        except (StepFailed, SaywhyError) as error:
            self.error = str(error)

    def _next(self, need: Need) -> tuple[Path, Need]:
        """What is answered next; of several at the same time the one that was answered first."""
        if need.kind != "fork":
            return (), need
        items = [(path, item) for path, item in open_needs(need) if item.kind in ANSWERED]
        if not items:
            return open_needs(need)[0]
        return min(items, key=lambda one: self._order(one[1]))

    def _order(self, item: Need) -> float:
        commit = self.tape.look(self._asking(item), item, self.seq, self.turn)
        return float("inf") if commit is None else commit.seq

    def _ended(self) -> bool:
        """Whether the run was ended from outside at this point; it then ends the same way."""
        commit = self.tape.commit(self.seq + 1)
        if commit is None or commit.phase != "closed":
            return False
        reason = str(commit.facts.get("reason", ""))
        cancel(
            self._charts,
            self._language,
            self.cursor,
            reason,
            record=self._record,
            now=commit.at,
        )
        self.error = reason
        return True

    def _advance(self, answer: Answer | BranchAnswer | None) -> Need | None:
        now = self.tape.at(self.seq + 1, self.turn)
        return advance(
            self._charts,
            self._language,
            self.cursor,
            answer,
            record=self._record,
            limits=LIMITS,
            now=now or 0.0,
        )

    def _record(self, commit: Any) -> None:
        self.masked_reads.see(commit)
        self.recorder.keep(commit)

    def _asking(self, need: Need) -> Frame:
        for frame in self.cursor.walk():
            if frame.waiting is need:
                return frame
        raise NotOnRecord(need)

    @property
    def seq(self) -> int:
        """The newest commit."""
        return self.cursor.state.seq

    @property
    def turn(self) -> int:
        """The run's number in its conversation."""
        return self.cursor.state.turn

    @property
    def reply(self) -> str | None:
        """What it answers; None where it did not come that far."""
        if self.stopped is not None or self.error:
            return None
        result = self.cursor.state.scopes.get(STATE, {}).get("result")
        return None if result is None else self.recorder.redactor.text(str(result))

    def shown(self, need: Need) -> Any:
        """The arguments of something asked, as they may be shown."""
        return self.recorder.redactor.value(need.args)

    def request(self, need: Need, frame: Frame) -> Request:
        """What its model would be asked."""
        return Request(request_of(self.cursor, need), of_agent=True)


def _begun(ran: AgentRun, built: Built, words: Any, rule: str) -> tuple[Cursor, Any]:
    """Where the run begins, and the answer it begins with; without what `rule` offered before."""
    if ran.resumed is not None:
        cursor = ran.resumed.cursor.copy()
        given = answer_to(cursor, ran.begin.answer[0])
        if not isinstance(given, Answer | BranchAnswer):
            given = Answer(freeze(given, ("answer",)))
        return cursor, given
    cursor = Cursor()
    cursor.state.turn = ran.turn
    args = ran.begun_with()
    if words is not None:
        args["message"] = words
    waiting: Any = args.get("pending")
    if rule and waiting is not None and waiting["rule_id"] == rule:
        del args["pending"]
    cursor.state.scopes[ARGS] = {name: freeze(one, (ARGS, name)) for name, one in args.items()}
    open_frame(cursor, built.chart, Call(built.chart.digest, STATE))
    return cursor, None


# ------------------------------------------------------------------ replay


async def replay_run(ran: AgentRun) -> Replay:
    """Run it again from its record, and compare every step."""
    recorded = ran.recorder.kept
    charts = Charts(ran.agent.built.charts)
    again = AloneAgain(ran, ran.agent.built, Tape(recorded), FromRecord())
    _note_marks(again, ran)
    await again.go()
    comparison = Comparison(charts)
    now = again.recorder.kept
    same, difference = 0, None
    causes = Causes(charts, charts, changed=False)
    replies = (_reply_of(ran), again.reply)
    for place in range(max(len(recorded), len(now))):
        one = recorded[place] if place < len(recorded) else None
        other = now[place] if place < len(now) else None
        if one is None or other is None:
            difference = causes.of_missing(ran.turn, one, other, again.stopped, replies)
            break
        found = comparison.first(one, other)
        if found is not None:
            difference = causes.of(one, other, found, replies)
            break
        same += 1
    gaps = list(again.masked_reads.gaps)
    if difference is not None and again.masked_reads.came is not None and not gaps:
        gaps.append(Gap(ran.turn, difference.commit, *again.masked_reads.came))
    name = ran.kept.id
    left = None if gaps else difference
    return Replay(name, 1, same, left, tuple(gaps), comparison.passed_over)


def _note_marks(again: AloneAgain, ran: AgentRun) -> None:
    for _, why in marks_in(ran.begin.message):
        again.masked_reads.enter("message:1", why)


def _reply_of(ran: AgentRun) -> str | None:
    result = ran.result
    return None if result is None or result.paused else ran.recorder.redactor.text(result.content)


# ------------------------------------------------------------------ without a piece


async def run_without(ran: AgentRun, without: str, model: Any) -> Counterfactual:
    """Run it again with a piece taken away. See `Engine.counterfactual`."""
    trace = Trace(ran.recorder.kept, ran.agent.built.charts, ran.trace().messages())
    removal = Removal(without, trace, ran.turn)
    if removal.kind in NOT_HERE:
        what = f'"{without}" is a piece of a flow, and this is an agent that runs alone'
        raise CallerError(what, hint="instruction:, tool:, tool_result:, message:, memory:")
    must_be_recalled(removal, trace)
    built = _lesser(ran, removal)
    words: Any = None
    if removal.kind == "message":
        if ran.resumed is not None:
            raise CallerError("what the user said began the run before it was paused")
        words, removal.applied = "", True
    baseline = Baseline()
    was = AloneAgain(ran, ran.agent.built, Tape(ran.recorder.kept), baseline)
    await was.go()
    recalled = RecalledTexts(trace, ran.turn)
    provider = None if model is None else asked_model(model)
    changed = Changed(removal, baseline, lambda turn: recalled, provider)
    rule = removal.name if removal.kind == "instruction" else ""
    run = AloneAgain(ran, built, Tape(ran.recorder.kept), changed, words, rule)
    await run.go()
    return Counterfactual(
        ran.kept.id,
        ran.turn,
        without,
        was.reply,
        run.reply,
        removal.applied,
        _first(was, run, Charts(ran.agent.built.charts)),
        tuple(dict.fromkeys(changed.assumed)),
        tuple(dict.fromkeys(changed.would_call)),
        changed.asked,
        run.error,
        tuple(dict.fromkeys([*was.masked_reads.gaps, *run.masked_reads.gaps])),
    )


def _lesser(ran: AgentRun, removal: Removal) -> Built:
    """The agent's chart without an instruction or a tool; its own for all else."""
    agent = ran.agent
    if removal.kind not in OF_AGENTS or removal.of_answers:
        return agent.built
    lesser = Lesser(removal.kind, removal.name)
    if not isinstance(agent, Agent):
        kind = type(agent).__name__
        raise CallerError(
            f'"{agent.name}" is a {kind}, which has no {removal.kind} of its own',
            hint="ask the agents that it is made of",
        )
    made = lesser.agent(agent)
    if not lesser.found:
        what = f'the agent "{agent.name}" has no {removal.kind} "{removal.name}"'
        raise CallerError(what, hint=lesser.hint)
    removal.applied = True
    built: Built = made.built
    return built


def _first(was: AloneAgain, run: AloneAgain, charts: Charts) -> Difference | None:
    """The first step that is another one."""
    comparison, causes = Comparison(charts), Causes(charts, charts, changed=False)
    one, other = was.recorder.kept, run.recorder.kept
    replies = (was.reply, run.reply)
    for place in range(max(len(one), len(other))):
        left = one[place] if place < len(one) else None
        right = other[place] if place < len(other) else None
        if left is None or right is None:
            return causes.of_missing(was.turn, left, right, run.stopped, replies)
        found = comparison.first(left, right)
        if found is not None:
            return causes.of(left, right, found, replies)
    return None


__all__ = ["replay_run", "run_without"]
