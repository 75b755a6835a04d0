"""The loop: run the node, note what it did, go where it says.

Plain synchronous code without I/O, clock or randomness. What a node does is a `Step` in a
`Language`; what the outside must do is a `Need` that `advance` returns and is answered later,
perhaps in another process. Only `_follow` and what it calls change the cursor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from saywhy.chart.commit import Answered, Asked, Commit
from saywhy.chart.cursor import Cursor, Frame
from saywhy.chart.model import Chart, Charts, Node
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
)
from saywhy.chart.scope import GONE, Scope, Suspend
from saywhy.errors import CallerError, ChartError, DamagedSession, RunError, TooManySteps

Record = Callable[[Commit], None]
Enter = Callable[[Node, Scope], Outcome]
Resume = Callable[[Node, Scope, Answer], Outcome]
Failed = Callable[[Node, Scope, Exception], Outcome]


def _fail(node: Node, scope: Scope, error: Exception) -> Outcome:
    return Fail(error)


def _cannot_resume(node: Node, scope: Scope, answer: Answer) -> Outcome:
    raise ChartError(f"a step of kind {node.kind} was answered, but it never asks anything")


@dataclass(frozen=True, slots=True)
class Step:
    """What nodes of one kind do.

    `enter` runs the node; `resume` takes the answer to a Need it gave; `failed` says what an
    exception in either leads to (a retry, another node, or `Fail`).
    """

    enter: Enter
    resume: Resume = _cannot_resume
    failed: Failed = _fail
    keeps_partial: bool = False
    """Whether the writes of a step that raised are kept."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a frame ends: `completed`, `returned`, `replaced`, `rebooted`, `failed`, …"""

    how: str
    reason: str = ""
    error: Exception | None = None
    first: bool = False
    """Whether this frame's own step ended it (the others are unwound with it)."""


Close = Callable[[Scope, Ending], None]


@dataclass(frozen=True, slots=True)
class Language:
    """A table from node kind to step, and from chart kind to what closing a frame writes."""

    steps: Mapping[str, Step]
    close: Mapping[str, Close] = field(default_factory=dict[str, Close])


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one run. spec: flow-engine 1.5, 13"""

    steps: int = 1000
    """Steps between two answers from outside the engine."""
    depth: int = 20
    """Frames on one stack (interruptions start a new one)."""


class StepFailed(RunError):
    """A step raised and nothing took care of it; its frame is closed, the others go on.

    `__cause__` is what was raised; `node`, `flow` and `place` say where; `commit` is its record.
    """

    name = "StepFailed"

    def __init__(self, error: Exception, frame: Frame, node: Node, commit: int) -> None:
        self.error = error
        self.frame = frame.id
        self.flow = frame.name
        self.node = node.id
        self.commit = commit
        super().__init__(str(error) or type(error).__name__, place=node.where)


def advance(
    charts: Charts,
    language: Language,
    cursor: Cursor,
    answer: Answer | BranchAnswer | None = None,
    *,
    record: Record,
    limits: Limits = Limits(),
    now: float = 0.0,
) -> Need | None:
    """Run until the cursor is empty (None) or something outside is needed (the Need).

    `answer` answers the Need that the cursor rests at. Each step gives one commit to `record`.
    Raises `StepFailed` when a step raised (the cursor can go on), `TooManySteps` at the limit, and
    `CallerError` when an answer is missing or nobody asked.
    """
    run = Run(charts, language, record, limits, now)
    return run.advance(cursor, answer)


@dataclass(slots=True)
class Run:
    """What stays the same during one `advance`."""

    charts: Charts
    language: Language
    record: Record
    limits: Limits
    now: float
    steps: int = 0

    def advance(self, cursor: Cursor, answer: Answer | BranchAnswer | None) -> Need | None:
        """See `machine.advance`."""
        _check_asked(cursor, answer)
        while cursor.frames:
            frame = cursor.frames[-1]
            self._count(cursor, frame)
            if frame.branches is not None:
                from saywhy.chart.fork import advance_branches

                need, answer = advance_branches(self, cursor, frame, answer)
                if need is not None:
                    return need
                continue
            need, answer = self._step(cursor, frame, answer)
            if need is not None:
                return need
        return None

    def _count(self, cursor: Cursor, frame: Frame) -> None:
        self.steps += 1
        if self.steps <= self.limits.steps:
            return
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
        close_frames(self, cursor, [frame], Ending("failed", str(error), error, first=True))
        raise error

    def _step(
        self, cursor: Cursor, frame: Frame, answer: Answer | BranchAnswer | None
    ) -> tuple[Need | None, Answer | None]:
        """One node: enter or resume it, commit, follow its outcome."""
        if isinstance(answer, BranchAnswer):
            raise CallerError("an answer for a branch was given, but nothing is forked")
        chart = chart_of(self.charts, cursor, frame)
        if frame.at is None:
            return follow_return(self, cursor, frame, Return())
        node = chart.node(frame.at)
        asked, resuming = frame.waiting, frame.waiting is not None
        if asked is not None and asked.kind == "function":
            frame.notes.append(answer)
            asked, answer, resuming = frame.asked, frame.held, frame.asked is not None
        scope = Scope(cursor, frame, chart, node, self.charts, self.now, asked)
        outcome = self._outcome(node, scope, answer, resuming)
        if isinstance(outcome, Call):
            outcome = self._callable(cursor, outcome)
        if not (isinstance(outcome, Need) and outcome.kind == "function"):
            self.record(_commit(cursor, frame, chart, scope, outcome, asked, answer))
        return self._follow(cursor, frame, scope, outcome, answer)

    def _outcome(self, node: Node, scope: Scope, answer: Answer | None, resuming: bool) -> Outcome:
        step = self.language.steps.get(node.kind)
        if step is None:
            known = ", ".join(sorted(self.language.steps))
            raise ChartError(
                f"no step for nodes of kind {node.kind}", place=node.where, hint=f"known: {known}"
            )
        try:
            if resuming:
                return step.resume(node, scope, answer or Answer())
            return step.enter(node, scope)
        except Suspend as suspend:
            _discard(scope)
            return suspend.need
        except Exception as error:
            if not step.keeps_partial:
                _discard(scope)
            return step.failed(node, scope, error)

    def _follow(
        self,
        cursor: Cursor,
        frame: Frame,
        scope: Scope,
        outcome: Outcome,
        answer: Answer | None,
    ) -> tuple[Need | None, Answer | None]:
        """Apply what the step wrote and move the cursor: the only place where state changes."""
        apply_writes(scope)
        kind = type(outcome)
        if kind is Need:
            return self._rest(frame, scope, outcome, answer), None  # type: ignore[arg-type]
        _settle(frame)
        if kind is Goto:
            frame.at = outcome.to  # type: ignore[union-attr]
            return None, None
        if isinstance(outcome, Call):
            follow_call(self, cursor, frame, outcome)
            return None, None
        if isinstance(outcome, Return):
            return follow_return(self, cursor, frame, outcome)
        if isinstance(outcome, Fork):
            from saywhy.chart.fork import open_branches

            open_branches(self, cursor, frame, outcome)
            return None, None
        assert isinstance(outcome, Fail)
        return self._give_up(cursor, frame, scope, outcome)

    def _rest(self, frame: Frame, scope: Scope, need: Need, answer: Answer | None) -> Need:
        if need.kind == "function":  # the step is run again, with the same answer and its notes
            frame.held, frame.asked = answer, scope.asked
        else:
            _settle(frame)
        frame.waiting = need
        return need

    def _callable(self, cursor: Cursor, call: Call) -> Outcome:
        chart = self.charts.find(call.chart)
        if chart is None:
            return Fail(ChartError(f'no chart has the digest, id or name "{call.chart}"'))
        if not call.tail and _stack_depth(cursor) >= self.limits.depth:
            return Fail(_too_deep(self, cursor, chart))
        return call

    def _give_up(
        self, cursor: Cursor, frame: Frame, scope: Scope, outcome: Fail
    ) -> tuple[Need | None, Answer | None]:
        error = outcome.error
        failure = StepFailed(error, frame, scope.node, cursor.state.seq)
        ending = Ending("failed", str(error) or type(error).__name__, error, first=True)
        close_frames(self, cursor, [frame], ending)
        raise failure from error


# ------------------------------------------------------------------ moving the cursor


def follow_call(run: Run, cursor: Cursor, frame: Frame, call: Call) -> None:
    """Open a frame for the called chart, on top of or in place of the caller's."""
    chart = _found(run, call)
    if call.tail:
        _replace(run, cursor, frame, chart, call)
        return
    if call.awaits:
        frame.waiting = Need("call", chart.name)
    else:
        frame.at = call.then
    open_frame(cursor, chart, call)


def open_frame(cursor: Cursor, chart: Chart, call: Call) -> Frame:
    """Push a frame for `chart`; how deep the stack may be is the caller's to check."""
    frame = Frame(
        cursor.state.take_id(),
        chart.digest,
        chart.name,
        chart.start,
        call.scope,
        dict(call.data),
        boundary=call.boundary,
        caller=cursor.state.seq,
    )
    cursor.frames.append(frame)
    cursor.state.scopes.setdefault(call.scope, {})
    return frame


def _found(run: Run, call: Call) -> Chart:
    chart = run.charts.find(call.chart)
    assert chart is not None, f"{call.chart} was checked before the step was committed"
    return chart


def follow_return(
    run: Run, cursor: Cursor, frame: Frame, outcome: Return
) -> tuple[Need | None, Answer | None]:
    """Close the frame (or all of them) and hand the value to whoever waits for it."""
    ending = Ending(outcome.how, outcome.reason, first=True)
    if outcome.unwind == "frame":
        close_frames(run, cursor, [frame], ending)
        return _back_to_caller(cursor, frame, outcome.value)
    close_frames(run, cursor, list(cursor.frames), ending)
    if outcome.then is not None:
        open_frame(cursor, _found(run, outcome.then), outcome.then)
    return None, None


def _back_to_caller(cursor: Cursor, closed: Frame, value: Any) -> tuple[Need | None, Answer | None]:
    if not cursor.frames:
        return None, None
    below = cursor.frames[-1]
    if below.waiting is None:
        return None, None
    if below.waiting.kind == "call":
        return None, Answer(value)
    if closed.boundary:  # an interruption is over: ask the question again
        _settle(below)
    return None, None


def close_frames(run: Run, cursor: Cursor, frames: list[Frame], ending: Ending) -> None:
    """Close `frames`, bottom first, each with a closing commit where its language writes one."""
    last = frames[-1]
    for frame in frames:
        own = ending if frame is last else Ending(ending.how, ending.reason, ending.error)
        close_frame(run, cursor, frame, own)
    gone = {frame.id for frame in frames}
    cursor.frames[:] = [frame for frame in cursor.frames if frame.id not in gone]
    for frame in frames:
        _drop_scope(cursor, frame.scope)


def close_frame(run: Run, cursor: Cursor, frame: Frame, ending: Ending) -> None:
    """Let the chart's language write how the frame ended. The frame stays on the stack."""
    chart = run.charts.find(frame.chart)
    close = run.language.close.get(chart.kind) if chart else None
    if chart is None or close is None:
        return
    node = chart.nodes.get(frame.at or "") or Node(id=frame.at or "", kind="end")
    scope = Scope(cursor, frame, chart, node, run.charts, run.now)
    scope.facts = {"how": ending.how, **({"reason": ending.reason} if ending.reason else {})}
    close(scope, ending)
    run.record(_closing_commit(cursor, frame, chart, scope))
    apply_writes(scope)


def _replace(run: Run, cursor: Cursor, frame: Frame, chart: Chart, call: Call) -> None:
    close_frame(run, cursor, frame, Ending("replaced", f"Replaced by flow {chart.name}"))
    cursor.frames.remove(frame)
    opened = open_frame(cursor, chart, call)
    opened.boundary = frame.boundary
    _drop_scope(cursor, frame.scope)


def _drop_scope(cursor: Cursor, scope: str) -> None:
    if scope.startswith("v") and all(frame.scope != scope for frame in cursor.walk()):
        cursor.state.scopes.pop(scope, None)


def _stack_depth(cursor: Cursor) -> int:
    depth = 0
    for frame in reversed(cursor.frames):
        depth += 1
        if frame.boundary:
            break
    return depth


def _too_deep(run: Run, cursor: Cursor, chart: Chart) -> RunError:
    names = " → ".join(frame.name for frame in cursor.frames[-3:])
    return RunError(
        f"Maximum recursion depth reached: {run.limits.depth} frames, last {names} → {chart.name}",
        hint="a flow that calls itself needs a condition to stop, or callType replace",
    )


def _settle(frame: Frame) -> None:
    """The step has gone on: what it waited for and what it noted is over."""
    frame.waiting = None
    frame.held = None
    frame.asked = None
    if frame.notes:
        frame.notes = []


def apply_writes(scope: Scope) -> None:
    """Move a step's staged writes into the state and onto its frame."""
    scopes = scope.state.scopes
    for (owner, name), value in scope.staged.items():
        variables = scopes.setdefault(owner, {})
        if value is GONE:
            variables.pop(name, None)
        else:
            variables[name] = value
    if scope.data:
        scope.frame.data.update(scope.data)


def _discard(scope: Scope) -> None:
    scope.staged.clear()
    scope.ops.clear()
    scope.data.clear()


# ------------------------------------------------------------------ commits


def _commit(
    cursor: Cursor,
    frame: Frame,
    chart: Chart,
    scope: Scope,
    outcome: Outcome,
    asked: Need | None,
    answer: Answer | None,
) -> Commit:
    state = cursor.state
    state.seq += 1
    need = outcome if isinstance(outcome, Need) else None
    error = outcome.error if isinstance(outcome, Fail) else None
    return Commit(
        state.seq,
        state.turn,
        frame.id,
        chart.digest,
        chart.name,
        scope.node.id,
        scope.node.kind,
        "asked" if need else "answered" if asked else "enter",
        len(cursor.frames) - 1,
        frame.caller,
        scope.now,
        tuple(dict.fromkeys(scope.reads)),
        scope.exact,
        tuple(scope.ops),
        scope.decision,
        Asked(need.kind, need.name, need.args, need.effect) if need else None,
        _answered(asked, answer) if asked else None,
        tuple(scope.calls),
        _target(outcome),
        str(error) if error else "",
        getattr(error, "name", type(error).__name__) if error else "",
        tuple(scope.warnings),
        scope.facts,
        scope.tags,
        scope.secrets,
    )


def _closing_commit(cursor: Cursor, frame: Frame, chart: Chart, scope: Scope) -> Commit:
    state = cursor.state
    state.seq += 1
    return Commit(
        state.seq,
        state.turn,
        frame.id,
        chart.digest,
        chart.name,
        scope.node.id,
        "end",
        "closed",
        cursor.frames.index(frame) if frame in cursor.frames else 0,
        frame.caller,
        scope.now,
        tuple(dict.fromkeys(scope.reads)),
        ops=tuple(scope.ops),
        facts=scope.facts,
    )


def _answered(asked: Need, answer: Answer | None) -> Answered:
    if answer is None:
        return Answered(asked.kind, asked.name)
    return Answered(asked.kind, asked.name, answer.value, answer.error or "", answer.facts)


def _target(outcome: Outcome) -> str:
    if isinstance(outcome, Goto):
        return outcome.to or "return"
    if isinstance(outcome, Call):
        return f"call {outcome.chart}"
    if isinstance(outcome, Need):
        return "rest"
    return type(outcome).__name__.lower()


# ------------------------------------------------------------------ checks


def chart_of(charts: Charts, cursor: Cursor, frame: Frame) -> Chart:
    """The chart version a frame runs on. Raises `DamagedSession` when nobody has it."""
    if frame.chart in charts:
        return charts[frame.chart]
    raise DamagedSession(
        f"the version {frame.chart} of this flow is not known here",
        frame=cursor.frames.index(frame),
        flow=frame.name,
    )


def _check_asked(cursor: Cursor, answer: Answer | BranchAnswer | None) -> None:
    waiting = bool(cursor.frames) and (
        cursor.top.waiting is not None or cursor.top.branches is not None
    )
    if answer is not None and not waiting:
        raise CallerError("an answer was given, but nothing was asked")
    if answer is None and waiting and cursor.top.branches is None:
        need = cursor.top.waiting
        raise CallerError(f"the run rests at a need for {need.kind if need else '?'}: answer it")
