"""Frames opened and closed, scopes dropped: how the stack of a run moves.

`machine` decides when; here is what it means. Every frame that ends is closed here, so that none
goes without its closing commit and no scope stays that nobody names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from saywhy.chart.cursor import Base, Cursor, Frame
from saywhy.chart.failure import failure_text
from saywhy.chart.language import Ending
from saywhy.chart.model import Chart, Charts, Node
from saywhy.chart.outcome import Answer, Call, Need, Return, Rewind
from saywhy.chart.record import closing_commit
from saywhy.chart.scope import GONE, Scope
from saywhy.errors import DamagedSession

if TYPE_CHECKING:
    from saywhy.chart.machine import Run


# ------------------------------------------------------------------ opening


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


def follow_call(run: Run, cursor: Cursor, frame: Frame, call: Call) -> None:
    """Open a frame for the called chart, on top of or in place of the caller's."""
    chart = found_chart(run, call.chart)
    if call.tail:
        _replace(run, cursor, frame, chart, call)
        return
    if call.awaits:
        frame.waiting = Need("call", chart.name)
        frame.keeps.append(call.scope)
    else:
        frame.at = call.then
    open_frame(cursor, chart, call)


def _replace(run: Run, cursor: Cursor, frame: Frame, chart: Chart, call: Call) -> None:
    close_frame(run, cursor, frame, Ending("replaced", f"Replaced by flow {chart.name}"))
    cursor.frames.remove(frame)
    opened = open_frame(cursor, chart, call)
    opened.boundary = frame.boundary
    drop_scopes(run, cursor, [frame.scope, *frame.keeps])


def found_chart(run: Run, name: str) -> Chart:
    """The chart with this digest, id or name."""
    chart = run.charts.find(name)
    assert chart is not None, f"{name} was checked before the step was committed"
    return chart


# ------------------------------------------------------------------ closing


def follow_return(
    run: Run, cursor: Cursor, frame: Frame, outcome: Return
) -> tuple[Need | None, Answer | None]:
    """Close the frame (or all of them) and hand the value to whoever waits for it."""
    ending = Ending(outcome.how, outcome.reason, first=True)
    if outcome.unwind == "frame":
        close_frames(run, cursor, [frame], ending)
        return _back_to_caller(run, cursor, frame, outcome.value)
    first = _above(cursor, outcome.down_to)
    close_frames(run, cursor, cursor.frames[first:], ending)
    if cursor.frames:
        return _back_to_caller(run, cursor, frame, outcome.value)
    cursor.returned = outcome.value
    if outcome.then is not None:
        open_frame(cursor, found_chart(run, outcome.then.chart), outcome.then)
    return None, None


def _above(cursor: Cursor, down_to: int) -> int:
    """The place of the first frame to be closed."""
    for place, frame in enumerate(cursor.frames):
        if frame.id == down_to:
            return place + 1
    return 0


def _back_to_caller(
    run: Run, cursor: Cursor, closed: Frame, value: Any
) -> tuple[Need | None, Answer | None]:
    if not cursor.frames:
        cursor.returned = value
        return None, None
    below = cursor.frames[-1]
    if below.waiting is None:
        return None, None
    if awaits_call(below):
        return None, Answer(value)
    if closed.boundary:  # an interruption is over: ask the question again
        settle(run, cursor, below)
    return None, None


def follow_rewind(run: Run, cursor: Cursor, outcome: Rewind) -> None:
    """Close the frames above the named one, which goes on at another node than it waits at."""
    place = next(i for i, frame in enumerate(cursor.frames) if frame.id == outcome.frame)
    close_frames(run, cursor, cursor.frames[place + 1 :], Ending(outcome.how, first=True))
    frame = cursor.frames[place]
    settle(run, cursor, frame)
    frame.at = outcome.to
    frame.data.update(outcome.data)


def close_frames(run: Run, cursor: Cursor, frames: Sequence[Frame], ending: Ending) -> None:
    """Close `frames`, bottom first, each with a closing commit where its language writes one."""
    last = frames[-1]
    for frame in frames:
        own = ending if frame is last else Ending(ending.how, ending.reason, ending.error)
        close_frame(run, cursor, frame, own)
    for frame in frames:
        cursor.frames.remove(frame)
    for frame in frames:
        drop_scopes(run, cursor, [frame.scope, *frame.keeps])


def close_frame(run: Run, cursor: Cursor, frame: Frame, ending: Ending) -> None:
    """Let the chart's language write how the frame ended. The frame stays on the stack.

    Branches that still run are cancelled first.
    """
    if frame.branches is not None:
        close_branches(run, cursor, frame, ending.reason)
    chart = run.charts.version(frame.chart)
    close = run.language.close.get(chart.kind) if chart else None
    if chart is None or close is None:
        return
    node = chart.nodes.get(frame.at or "") or Node(id=frame.at or "", kind="end")
    scope = Scope(
        cursor, cursor.state, frame, chart, node, run.charts, run.now, cursors=run.cursors
    )
    scope.facts = {"how": ending.how, **({"reason": ending.reason} if ending.reason else {})}
    close(scope, ending)
    run.record(closing_commit(scope, run.depth_of(cursor, frame)))
    apply_writes(scope)


def close_branches(run: Run, cursor: Cursor, frame: Frame, reason: str) -> None:
    """Cancel the branches of a frame that still run, in declared order."""
    stacks, frame.branches = frame.branches or [], None
    run.above += len(cursor.frames)
    for stack in stacks:
        close_stack(run, Cursor(stack, cursor.state), reason)
    run.above -= len(cursor.frames)


def close_stack(run: Run, cursor: Cursor, reason: str) -> None:
    """Cancel everything that still runs on a cursor."""
    if cursor.frames:
        close_frames(run, cursor, list(cursor.frames), Ending("cancelled", reason, first=True))


def close_failed(run: Run, cursor: Cursor, error: Exception) -> None:
    """Close the top frame and those below that await it: no answer will come."""
    first = len(cursor.frames) - 1
    while first > 0 and awaits_call(cursor.frames[first - 1]):
        first -= 1
    ending = Ending("failed", failure_text(error), error, first=True)
    close_frames(run, cursor, cursor.frames[first:], ending)


def awaits_call(frame: Frame) -> bool:
    """Whether the frame's step goes on with what the chart it called returns."""
    return frame.waiting is not None and frame.waiting.kind == "call"


def settle(run: Run, cursor: Cursor, frame: Frame) -> None:
    """The step has gone on: what it waited for, noted and kept is over."""
    frame.waiting = None
    frame.held = None
    frame.asked = None
    if frame.notes:
        frame.notes = []
    if frame.keeps:
        kept, frame.keeps, frame.results = frame.keeps, [], []
        drop_scopes(run, cursor, kept)


# ------------------------------------------------------------------ scopes


def apply_writes(scope: Scope) -> None:
    """Move a step's staged writes into the state and onto its frame."""
    state = scope.state
    scopes = state.scopes
    if scope.opened:
        for opened, over in scope.opened.items():
            scopes.setdefault(opened, {})
            if over:
                state.bases[opened] = Base(over)
    for (owner, name), value in scope.staged.items():
        if owner not in scopes:
            scopes[owner] = {}
        if value is not GONE:
            scopes[owner][name] = value
            continue
        scopes[owner].pop(name, None)
        base = state.bases.get(owner)
        if base is not None and name not in base.gone:
            base.gone.append(name)
    if scope.data:
        scope.frame.data.update(scope.data)


def drop_scopes(run: Run, cursor: Cursor, scopes: Sequence[str]) -> None:
    """Forget those of `scopes` that nobody names any more.

    Named by: a frame of any cursor the run knows, a frame that keeps it for its waiting step, or a
    scope that lies over it. Only scopes that a step opened ("v1", …) are ever forgotten.
    """
    state = cursor.state
    for scope in scopes:
        if not scope.startswith("v") or _is_named(run, cursor, scope):
            continue
        state.scopes.pop(scope, None)
        base = state.bases.pop(scope, None)
        if base is not None:
            drop_scopes(run, cursor, [base.scope])


def _is_named(run: Run, cursor: Cursor, scope: str) -> bool:
    # Loops and no generators: this is asked for every frame that ends.
    for base in cursor.state.bases.values():
        if base.scope == scope:
            return True
    if _names(cursor.frames, scope):
        return True
    others = [_names(one.frames, scope) for one in run.cursors if one is not cursor]
    return any(others)


def _names(frames: list[Frame], scope: str) -> bool:
    for frame in frames:
        if frame.scope == scope or (frame.keeps and scope in frame.keeps):
            return True
        for stack in frame.branches or ():
            if _names(stack, scope):
                return True
    return False


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
