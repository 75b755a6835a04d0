"""Branches side by side, joined in declared order.

A forked frame holds one stack for each branch. The engine runs them one after the other, each to
its rest; what is side by side is the waiting. Their open items go out as one Need, an answer moves
its own branch, and once all are done the frame's step is resumed with the results. How the writes
of the branches become one is said in `merge.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from saywhy.chart.cursor import Cursor, Frame, Side
from saywhy.chart.failure import (
    ForkFailed,
    StepFailed,
    failed_answer,
    failure_name,
    failure_text,
)
from saywhy.chart.outcome import Answer, BranchAnswer, Call, Fork, Need
from saywhy.chart.stack import (
    close_branches,
    close_failed,
    close_stack,
    found_chart,
    open_frame,
)
from saywhy.errors import CallerError, TooManySteps
from saywhy.values import UNDEFINED

if TYPE_CHECKING:
    from saywhy.chart.machine import Run


def open_branches(run: Run, cursor: Cursor, frame: Frame, fork: Fork) -> None:
    """Give the frame one stack for each branch, with the branch's chart on it."""
    stacks: list[list[Frame]] = []
    for branch in fork.branches:
        side = cursor.beside()
        chart = found_chart(run, branch.chart)
        open_frame(side, chart, Call(branch.chart, branch.scope, data=branch.data))
        stacks.append(side.frames)
    frame.branches = stacks
    frame.results = [Side(branch.name, branch.scope) for branch in fork.branches]
    frame.keeps = [branch.scope for branch in fork.branches]
    frame.collect_errors = fork.collect_errors


def advance_branches(
    run: Run, cursor: Cursor, frame: Frame, answer: Answer | BranchAnswer | None
) -> tuple[Need | None, Answer | None]:
    """Run each branch to its rest; one Need with the open items of all, or the joined results.

    The Need's `args` are the ids of the branches' bottom frames: they tell a branch that still
    waits from the same one of a fork that was opened again.
    """
    assert not isinstance(answer, Answer), "the loop lets only answers for a branch through"
    assert frame.branches is not None, "the loop asks only for frames that are forked"
    if answer is not None:
        _check_branch(frame, answer.branch)
    items: list[tuple[int, Need]] = []
    open_frames: list[int] = []
    try:
        for number, (stack, side) in enumerate(zip(frame.branches, frame.results, strict=True)):
            if side.done:
                continue
            own = _inner(answer) if answer is not None and answer.branch == number else None
            need, failure = _advance_branch(run, cursor, stack, side, own)
            if need is not None:
                items.append((number, need))
                open_frames.append(stack[0].id)
            elif failure is not None and not frame.collect_errors:
                return None, _fail(run, cursor, frame, side.name, failure)
    except TooManySteps as error:
        close_failed(run, cursor, error)
        raise
    if items:
        return Need("fork", frame.at or "", open_frames, items=tuple(items)), None
    return None, _join(frame)


def rest_of(cursor: Cursor) -> Need | None:
    """What a cursor that came back from storage rests at; None where its next step just runs."""
    frame = cursor.frames[-1] if cursor.frames else None
    if frame is None or frame.branches is None:
        return frame.waiting if frame is not None else None
    items: list[tuple[int, Need]] = []
    open_frames: list[int] = []
    for number, (stack, side) in enumerate(zip(frame.branches, frame.results, strict=True)):
        need = None if side.done else rest_of(Cursor(stack, cursor.state))
        if need is not None:
            items.append((number, need))
            open_frames.append(stack[0].id)
    return Need("fork", frame.at or "", open_frames, items=tuple(items)) if items else None


def _inner(answer: BranchAnswer) -> Answer | BranchAnswer:
    if not answer.within:
        return answer.answer
    return BranchAnswer(answer.within[0], answer.answer, answer.within[1:])


def _check_branch(frame: Frame, number: int) -> None:
    sides = frame.results
    if not 0 <= number < len(sides):
        raise CallerError(f"branch {number} was answered, but the fork has {len(sides)} branches")
    if sides[number].done:
        raise CallerError(f"branch {number} ({sides[number].name}) was answered, but it is done")


def _advance_branch(
    run: Run,
    cursor: Cursor,
    stack: list[Frame],
    side: Side,
    answer: Answer | BranchAnswer | None,
) -> tuple[Need | None, StepFailed | None]:
    """What the branch rests at, or why it failed; neither when it is done."""
    if answer is None and stack[-1].waiting is not None:
        return stack[-1].waiting, None
    branch = Cursor(stack, cursor.state)
    run.above += len(cursor.frames)
    try:
        need = run.advance(branch, answer)
        if need is None:
            side.done, side.value, side.last = True, branch.returned, cursor.state.seq
        return need, None
    except StepFailed as failure:
        close_stack(run, branch, failure_text(failure))
        side.done, side.last = True, cursor.state.seq
        side.error, side.error_name = failure_text(failure), failure_name(failure.error)
        return None, failure
    finally:
        run.above -= len(cursor.frames)


def _fail(run: Run, cursor: Cursor, frame: Frame, name: str, failure: StepFailed) -> Answer:
    """Close the branches that still run; the frame's step finds the failure."""
    close_branches(run, cursor, frame, f"branch {name} failed")
    frame.waiting = Need("fork", frame.at or "")
    run.failure = ForkFailed([(name, failure)])
    return failed_answer(run.failure)


def _join(frame: Frame) -> Answer:
    sides = frame.results
    frame.branches = None
    frame.waiting = Need("fork", frame.at or "")
    failed = {side.name: side.error for side in sides if side.error}
    values = [UNDEFINED if side.error else side.value for side in sides]
    return Answer(values, facts={"failed": failed} if failed else {})
