"""Answers the needs of async stages: runs the function and says what it did.

The function works on a view of its own; what it reads and writes goes back as the answer and
becomes one commit when its step is resumed. Until then nothing has happened, so a stage that is
cancelled or dies with its process leaves no half of itself behind.
"""

from __future__ import annotations

from typing import Any

from saywhy.chart.commit import Decision
from saywhy.chart.cursor import Cursor, Frame
from saywhy.chart.failure import failure_name, failure_text
from saywhy.chart.model import Charts
from saywhy.chart.net import keep_net
from saywhy.chart.outcome import Answer, Need, Work
from saywhy.chart.plan import Plan
from saywhy.chart.scope import Scope, Suspend
from saywhy.chart.stages import Memo, Stages, TaskFailed, chosen_function
from saywhy.chart.view import Emit, Sight, View, memo_of
from saywhy.chart.ways import given_value
from saywhy.errors import CallerError
from saywhy.values import UNDEFINED, seal


async def run_task(
    stages: Stages,
    charts: Charts,
    cursor: Cursor,
    need: Need,
    *,
    emit: Emit | None = None,
    now: float = 0.0,
) -> Answer:
    """Run the async stage that `need`, of kind `task`, asks for; the cursor rests at it.

    What the function raises is in the answer; only cancellation comes through.
    """
    frame = _frame_of(cursor, need)
    chart = charts[frame.chart]
    scope = Scope(cursor, cursor.state, frame, chart, chart.node(frame.at or ""), charts, now)
    plan = stages.plan(chart, scope.node)
    memo: Memo = dict(memo_of(scope))
    function, answer = chosen_function(plan, memo)
    sight = stages.sight(plan, scope, memo)
    sight.awaits = True
    sight.emit = emit or stages.emit
    view = View(sight)
    try:
        given = () if answer is UNDEFINED else (seal(answer),)
        value: Any = await function(view, *given)
        value = given_value(plan, value, sight.stop)
        keep_net(scope)
        decision = value if isinstance(value, Decision) else None
        return Answer(None if decision else value, work=_work(scope, sight, decision))
    except Suspend as pause:
        return Answer(work=Work(once=sight.once or {}, need=pause.need))
    except Exception as error:
        return TaskFailed(
            None,
            failure_text(error),
            failure_name(error),
            work=_partial(plan, scope, sight),
            exception=error,
        )
    finally:
        sight.scope = plan.over  # type: ignore[assignment]


def _frame_of(cursor: Cursor, need: Need) -> Frame:
    wanted = need.args.get("frame") if need.kind == "task" else None
    for frame in cursor.walk():
        if frame.id == wanted:
            return frame
    raise CallerError(
        f"no frame of this run asked for {need.name}",
        hint="hand in the cursor as it rests at the need",
    )


def _work(scope: Scope, sight: Sight, decision: Decision | None) -> Work:
    return Work(
        tuple(dict.fromkeys(scope.reads)),
        tuple(scope.ops),
        decision,
        warnings=scope.warnings,
        once=sight.once or {},
        stop=sight.stop,
        facts=scope.facts,
    )


def _partial(plan: Plan, scope: Scope, sight: Sight) -> Work:
    """Of a stage that raised: what it looked at, and what it wrote where that is to be kept."""
    keep_net(scope)
    ops = tuple(scope.ops) if plan.keeps_partial else ()
    return Work(tuple(dict.fromkeys(scope.reads)), ops, once=sight.once or {})
