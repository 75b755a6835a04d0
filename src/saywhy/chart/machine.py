"""The loop: run the node, note what it did, go where it says.

Plain synchronous code without I/O, clock or randomness. What a node does is a `Step` in a
`Language`; what the outside must do is a `Need` that `advance` returns and is answered later,
perhaps in another process. Only `_follow` and what it calls change the cursor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from saywhy.chart.commit import Commit
from saywhy.chart.cursor import Cursor, Frame
from saywhy.chart.failure import AwaitedFailed, StepFailed, failed_answer, failure_text
from saywhy.chart.fork import advance_branches, open_branches
from saywhy.chart.language import Close, Ending, Enter, Failed, Language, Resume, Step
from saywhy.chart.model import Charts, Node
from saywhy.chart.outcome import (
    Answer,
    BranchAnswer,
    Call,
    Fail,
    Fork,
    Goto,
    Need,
    Outcome,
    Return,
    Rewind,
)
from saywhy.chart.record import step_commit
from saywhy.chart.scope import Scope, Suspend
from saywhy.chart.stack import (
    apply_writes,
    awaits_call,
    chart_of,
    close_failed,
    close_frame,
    close_frames,
    close_stack,
    drop_scopes,
    follow_call,
    follow_return,
    follow_rewind,
    open_frame,
    settle,
)
from saywhy.errors import CallerError, ChartError, RunError, TooManySteps

__all__ = [
    "Close",
    "Ending",
    "Enter",
    "Failed",
    "Language",
    "Limits",
    "Record",
    "Resume",
    "Run",
    "Step",
    "StepFailed",
    "advance",
    "apply_writes",
    "cancel",
    "chart_of",
    "close_frame",
    "close_frames",
    "drop_scopes",
    "follow_call",
    "follow_return",
    "open_frame",
]

Record = Callable[[Commit], None]
Moved = tuple[Need | None, Answer | None]


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one run. spec: flow-engine 1.5, 13"""

    steps: int = 1000
    """Steps between two answers from outside the engine."""
    depth: int = 20
    """Frames on one stack (interruptions start a new one), those below a fork included."""
    branches: int = 256
    """Branches of one fork."""


def advance(
    charts: Charts,
    language: Language,
    cursor: Cursor,
    answer: Answer | BranchAnswer | None = None,
    *,
    record: Record,
    limits: Limits = Limits(),
    now: float = 0.0,
    beside: Sequence[Cursor] = (),
    used: int = 0,
) -> Need | None:
    """Run until the cursor is empty (None) or something outside is needed (the Need).

    `answer` answers the Need that the cursor rests at; for one of kind `fork` it is a
    `BranchAnswer`. Each step gives one commit to `record`. `beside` are other cursors on the same
    state whose scopes must stay; `used` is how much of the step limit is used up already. Raises
    `StepFailed` when a step raised (the cursor can go on), `TooManySteps` at the limit, and
    `CallerError` when an answer is missing or nobody asked.
    """
    run = Run(charts, language, record, limits, now, (cursor, *beside), used)
    return run.advance(cursor, answer)


def cancel(
    charts: Charts,
    language: Language,
    cursor: Cursor,
    reason: str = "",
    *,
    record: Record,
    now: float = 0.0,
    beside: Sequence[Cursor] = (),
) -> None:
    """Close every frame, branches first, each with its closing commit."""
    close_stack(Run(charts, language, record, Limits(), now, (cursor, *beside)), cursor, reason)


class Run(msgspec.Struct, eq=False):
    """What stays the same from step to step.

    `advance` makes one for each call. Who advances several cursors in turn may keep one, and tell
    it the language and the time when they change: the steps of all count against one limit.
    """

    charts: Charts
    language: Language
    record: Record
    limits: Limits
    now: float
    cursors: tuple[Cursor, ...] = ()
    """All cursors on this state: who names a scope keeps it."""
    steps: int = 0
    above: int = 0
    """Frames below the branch that is being run."""
    failure: Exception | None = None
    """What the next step finds in place of an answer: the failure of what it waited for."""

    def depth_of(self, cursor: Cursor, frame: Frame) -> int:
        """How many frames lie below this one."""
        return self.above + cursor.frames.index(frame)

    def advance(self, cursor: Cursor, answer: Answer | BranchAnswer | None) -> Need | None:
        """See `machine.advance`."""
        _check_asked(cursor, answer)
        frames, most = cursor.frames, self.limits.steps
        while frames:
            frame = frames[-1]
            self.steps += 1
            if self.steps > most:
                self._stop(cursor, frame)
            if frame.branches is None:
                need, answer = self._step(cursor, frame, answer)  # pyright: ignore[reportArgumentType] - checked above
            else:
                need, answer = advance_branches(self, cursor, frame, answer)
            if need is not None:
                return need
        return None

    def _step(self, cursor: Cursor, frame: Frame, answer: Answer | None) -> Moved:
        """One node: enter or resume it, commit, follow its outcome."""
        chart = self.charts.version(frame.chart) or chart_of(self.charts, cursor, frame)
        if frame.at is None:
            return follow_return(self, cursor, frame, Return())
        node = chart.nodes.get(frame.at) or chart.node(frame.at)
        asked = frame.waiting
        if asked is not None and asked.kind == "function":
            frame.notes.append(answer)
            asked, answer = frame.asked, frame.held
        scope = Scope(
            cursor, cursor.state, frame, chart, node, self.charts, self.now, asked, self.cursors
        )
        step = self.language.steps.get(node.kind) or self._missing(node)
        try:
            if asked is None:
                outcome = step.enter(node, scope)
            else:
                outcome = self._resumed(step, scope, answer)
        except Suspend as suspend:
            scope.discard()
            outcome = suspend.need
        except Exception as error:
            outcome = _failed(step, node, scope, error)
        if type(outcome) is Need:
            if outcome.kind == "function":  # the step is not over, so nothing is noted yet
                return self._follow(cursor, frame, scope, outcome, answer)
        elif type(outcome) is not Goto or outcome.to not in chart.nodes:
            outcome = self._checked(cursor, scope, outcome)
        depth = self.above + len(cursor.frames) - 1
        self.record(step_commit(scope, depth, outcome, asked, answer))
        return self._follow(cursor, frame, scope, outcome, answer)

    def _resumed(self, step: Step, scope: Scope, answer: Answer | None) -> Outcome:
        if self.failure is not None or (answer is not None and answer.error is not None):
            self._raise_failure(scope, answer)
        return step.resume(scope.node, scope, answer or Answer())

    def _missing(self, node: Node) -> Step:
        """In place of what nobody has handed over: it fails, saying so."""
        known = ", ".join(sorted(kind for kind in self.language.steps if ":" not in kind))
        problem = f"there is no step of the type {node.kind}"
        failure = Fail(ChartError(problem, place=node.where, hint=f"known: {known}"))

        def fail(*_: object) -> Outcome:
            return failure

        return Step(fail, fail, fail)

    def _raise_failure(self, scope: Scope, answer: Answer | None) -> None:
        """The failure of an awaited chart or a fork is an exception of the step itself."""
        failure, self.failure = self.failure, None
        if failure is not None:
            raise failure
        asked = scope.asked
        if asked and asked.kind in ("call", "fork") and answer and answer.error is not None:
            raise AwaitedFailed(answer.error)  # suspended since: the exception itself is gone

    def _checked(self, cursor: Cursor, scope: Scope, outcome: Outcome) -> Outcome:
        """The outcome, or `Fail` where it leads to what is not there, or too deep."""
        problem: Exception | None = None
        if type(outcome) is Return:
            if outcome.then is None:
                return outcome
            problem = self._unknown([outcome.then.chart])
        elif type(outcome) is Goto:
            if outcome.to is None or outcome.to in scope.chart.nodes:
                return outcome
            problem = scope.chart.unknown(outcome.to)
        elif type(outcome) is Call:
            problem = self._unknown([outcome.chart]) or self._too_deep(cursor, outcome)
        elif type(outcome) is Fork:
            names = [branch.chart for branch in outcome.branches]
            problem = self._unknown(names) or self._too_wide(names) or self._too_deep(cursor)
        elif type(outcome) is Rewind:
            problem = self._no_way_back(cursor, outcome)
        if problem is None:
            return outcome
        return _failed(self.language.steps[scope.node.kind], scope.node, scope, problem)

    def _unknown(self, names: Sequence[str]) -> Exception | None:
        for name in names:
            if self.charts.find(name) is None:
                return ChartError(f'no chart has the digest, id or name "{name}"')
        return None

    def _no_way_back(self, cursor: Cursor, outcome: Rewind) -> Exception | None:
        for frame in cursor.frames[:-1]:
            if frame.id == outcome.frame:
                chart = chart_of(self.charts, cursor, frame)
                return None if outcome.to in chart.nodes else chart.unknown(outcome.to)
        return ChartError(f"there is no frame {outcome.frame} below the one that goes back")

    def _too_wide(self, names: Sequence[str]) -> Exception | None:
        if len(names) <= self.limits.branches:
            return None
        return RunError(
            f"{len(names)} branches in one fork, more than {self.limits.branches}",
            hint="fork over fewer items at a time, or raise the limit on branches",
        )

    def _too_deep(self, cursor: Cursor, call: Call | None = None) -> Exception | None:
        if (call and call.tail) or self.above + _stack_depth(cursor) < self.limits.depth:
            return None
        to = self.charts.find(call.chart) if call else None
        names = [frame.name for frame in cursor.frames[-3:]]
        path = " → ".join([*names, to.name if to else "its branches"])
        return RunError(
            f"Maximum recursion depth reached: {self.limits.depth} frames, last {path}",
            hint="a flow that calls itself needs a condition to stop, or callType replace",
        )

    def _follow(
        self,
        cursor: Cursor,
        frame: Frame,
        scope: Scope,
        outcome: Outcome,
        answer: Answer | None,
    ) -> Moved:
        """Apply what the step wrote and move the cursor: the only place where state changes."""
        if scope.staged or scope.data or scope.opened:
            apply_writes(scope)
        if type(outcome) is Need:
            return self._rest(cursor, frame, scope, outcome, answer), None
        if frame.waiting is not None or frame.notes or frame.keeps:
            settle(self, cursor, frame)
        if type(outcome) is Goto:
            frame.at = outcome.to
            return None, None
        if type(outcome) is Return:
            return follow_return(self, cursor, frame, outcome)
        if type(outcome) is Fail:
            return self._give_up(cursor, frame, scope, outcome)
        if type(outcome) is Call:
            follow_call(self, cursor, frame, outcome)
        elif type(outcome) is Fork:
            open_branches(self, cursor, frame, outcome)
        else:
            assert type(outcome) is Rewind
            follow_rewind(self, cursor, outcome)
        return None, None

    def _rest(
        self, cursor: Cursor, frame: Frame, scope: Scope, need: Need, answer: Answer | None
    ) -> Need:
        if need.kind == "function":  # the step is run again, with the same answer and its notes
            frame.held, frame.asked = answer, scope.asked
        elif frame.waiting is not None or frame.notes or frame.keeps:
            settle(self, cursor, frame)
        frame.waiting = need
        return need

    def _give_up(self, cursor: Cursor, frame: Frame, scope: Scope, outcome: Fail) -> Moved:
        """Close the frame. Where its caller awaits it, the failure goes up; else it is raised."""
        error = outcome.error
        failure = StepFailed(error, frame, scope.node, cursor.state.seq)
        ending = Ending("failed", failure_text(error), error, first=True)
        close_frames(self, cursor, [frame], ending)
        if cursor.frames and awaits_call(cursor.top):
            self.failure = failure
            return None, failed_answer(failure)
        raise failure

    def _stop(self, cursor: Cursor, frame: Frame) -> None:
        """More steps than allowed: close the frame and those that await it, and say where."""
        chart = chart_of(self.charts, cursor, frame)
        node = chart.nodes.get(frame.at or "")
        error = TooManySteps(
            f"more than {self.limits.steps} steps without an answer from outside, "
            f"last in {frame.name} at {frame.at}",
            flow=frame.name,
            step=frame.at or "",
            place=node.where if node else None,
            hint="usually a loop that never ends: a FLOW with callType replace that starts itself, "
            "or a back edge without a condition",
        )
        close_failed(self, cursor, error)
        raise error


def _failed(step: Step, node: Node, scope: Scope, error: Exception) -> Outcome:
    if not step.keeps_partial:
        scope.discard()
    try:
        return step.failed(node, scope, error)
    except Suspend as suspend:
        scope.discard()
        return suspend.need
    except Exception as second:
        scope.discard()
        return Fail(second)


def _stack_depth(cursor: Cursor) -> int:
    depth = 0
    for frame in reversed(cursor.frames):
        depth += 1
        if frame.boundary:
            break
    return depth


def _check_asked(cursor: Cursor, answer: Answer | BranchAnswer | None) -> None:
    top = cursor.frames[-1] if cursor.frames else None
    if top is None or (top.waiting is None and top.branches is None):
        if answer is not None:
            raise CallerError("an answer was given, but nothing was asked")
    elif top.branches is not None:
        if isinstance(answer, Answer):
            raise CallerError(
                "several branches wait: say which one is answered",
                hint="hand in BranchAnswer(branch, answer) with a branch number of the need",
            )
    elif answer is None:
        need = top.waiting
        raise CallerError(f"the run rests at a need for {need.kind if need else '?'}: answer it")
    elif isinstance(answer, BranchAnswer):
        raise CallerError("an answer for a branch was given, but nothing is forked")
