"""What the nodes of a chart written in Python do.

`Stages` holds the author's functions and gives the `Language` that runs them. A plain function is
run inside the step; an async one becomes a need of kind `task`, which the driver answers with what
the function did (`task.py`), all or nothing. How charts are written is in `build.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from saywhy.chart.commit import Decision
from saywhy.chart.failure import (
    AwaitedFailed,
    ForkFailed,
    StepFailed,
    cause_of,
    failed_answer,
    failure_name,
    failure_text,
)
from saywhy.chart.language import Ending, Language, Step
from saywhy.chart.merge import Merge, join_branches, merged, put
from saywhy.chart.model import Node
from saywhy.chart.net import keep_net
from saywhy.chart.outcome import Answer, Call, Fail, Need, Outcome
from saywhy.chart.plan import Plan, Plans
from saywhy.chart.scope import Scope, Suspend
from saywhy.chart.view import SCALARS, Emit, Env, Sight, View, args_scope, key_of, memo_of
from saywhy.chart.ways import finish, fork, given_value, leave
from saywhy.errors import ChartError, RunError
from saywhy.values import UNDEFINED, freeze, raw, seal

KIND: Final = "python"
"""Kind of the charts that `build` makes."""

Memo = dict[str, Any]
"""What a stage keeps while it is run again: `attempt`, `answers`, `answer`, `once`, …"""


class TaskFailed(Answer, frozen=True):
    """The answer of a stage that raised, with the exception still in hand."""

    exception: Any = None


class Stages:
    """How the nodes of charts written in Python run.

    `env` are live objects of the host that stages see as `s.env`; `emit` takes their signals.
    """

    def __init__(
        self,
        plans: Plans,
        env: Mapping[str, Any] | None = None,
        emit: Emit | None = None,
    ) -> None:
        self.plan = plans.of
        self.env = Env(env or {})
        self.emit = emit

    def language(self) -> Language:
        """The table for `machine.advance`."""
        enter = {
            "stage": self._enter,
            "pausable": self._enter,
            "decider": self._enter,
            "selector": self._enter,
            "each": self._enter,
            "fork": self._enter_fork,
            "mount": self._enter_mount,
        }
        table = {
            kind: Step(function, self._resume, self._failed) for kind, function in enter.items()
        }
        return Language(table, {KIND: _close})

    # ------------------------------------------------------------ running a function

    def _enter(self, node: Node, scope: Scope) -> Outcome:
        plan = self.plan(scope.chart, node)
        if node.spec:
            scope.tags = plan.tags
        return self._run(plan, scope, None)

    def _run(self, plan: Plan, scope: Scope, memo: Memo | None) -> Outcome:
        """Run the stage's function, or ask for it where it is async. No memo the first time."""
        if memo is not None:
            scope.keep("stage", memo)
        function, answer = plan.function, UNDEFINED
        if memo or function is None:
            function, answer = chosen_function(plan, memo)
        if plan.is_async if answer is UNDEFINED else plan.resume_is_async:
            return Need("task", scope.node.id, {"frame": scope.frame.id}, plan.effect)
        # What `sight` gives, without the call: one is made for every step.
        sight = Sight(scope, scope.frame.scope, self.env, self.emit, plan.allowed)
        if memo:
            sight.answers = memo.get("answers", [])
        try:
            view = View(sight)
            value = function(view) if answer is UNDEFINED else function(view, seal(answer))
            if value is not None and type(value) is not Decision:
                value = given_value(plan, value, sight.stop)
        except Suspend as pause:
            return _pause(scope, memo, sight.once, pause.need)
        except Exception as error:
            return _raised(plan, scope, _with_once(memo, sight.once), error)
        finally:
            sight.scope = plan.over  # type: ignore[assignment]
        if not plan.is_fresh:
            ops = scope.ops
            if ops and (len(ops) > 1 or type(ops[0].value) not in SCALARS):
                keep_net(scope)  # of a single scalar the view has seen already that it is new
        if plan.straight and sight.stop is None and not scope.data and not scope.frame.data:
            return plan.straight
        return finish(plan, scope, value, sight.stop)

    def sight(self, plan: Plan, scope: Scope, memo: Memo) -> Sight:
        """What the view of a stage needs to know that runs elsewhere."""
        answers = memo.get("answers", [])
        return Sight(scope, scope.frame.scope, self.env, self.emit, plan.allowed, answers=answers)

    def _resume(self, node: Node, scope: Scope, answer: Answer) -> Outcome:
        """Go on with what was asked: a task, a wait before another try, a fork, a question."""
        plan = self.plan(scope.chart, node)
        scope.tags = plan.tags
        kind = scope.asked.kind if scope.asked else ""
        if kind == "fork":
            return _joined(plan, scope, answer)
        memo = dict(memo_of(scope))
        if kind == "task":
            return self._did(plan, scope, memo, answer)
        if kind == "call" and node.kind == "mount":
            return self._leave_mount(plan, scope, answer)
        if memo.pop("waiting", False):
            return self._again(plan, scope, memo)
        if memo.pop("interrupted", False):
            given = {"value": answer.value, "error": answer.error}
            memo["answers"] = [*memo.get("answers", []), given]
        elif answer.error is not None and not plan.errors_as_data:
            raise RunError(answer.error)
        else:
            memo["answer"] = answer if plan.errors_as_data else answer.value
            memo.pop("answers", None)  # those were the first half's
        return self._run(plan, scope, memo)

    def _again(self, plan: Plan, scope: Scope, memo: Memo) -> Outcome:
        """Another attempt, after the wait before it."""
        if plan.node.kind in ("mount", "fork"):
            scope.keep("stage", memo)
            enter = self._enter_mount if plan.node.kind == "mount" else self._enter_fork
            return enter(plan.node, scope)
        return self._run(plan, scope, memo)

    def _did(self, plan: Plan, scope: Scope, memo: Memo, answer: Answer) -> Outcome:
        """Do what the stage did outside: its reads, its writes, its end."""
        work = answer.work
        if work is not None and work.need is not None:
            return _pause(scope, memo, work.once, work.need)
        if work is not None:
            scope.reads += work.reads
            scope.warnings += work.warnings
            scope.facts.update(work.facts)
            for op in work.ops:
                _apply(scope, op.verb, op.key, op.value)
        if answer.error is not None:
            error = answer.exception if isinstance(answer, TaskFailed) else RunError(answer.error)
            return _raised(plan, scope, _with_once(memo, work.once if work else None), error)
        value = work.decision if work and work.decision else seal(answer.value)
        return finish(plan, scope, value, work.stop if work else None)

    def _failed(self, node: Node, scope: Scope, error: Exception) -> Outcome:
        """A mounted chart or a branch failed, or the step itself broke a rule."""
        if isinstance(error, StepFailed | ForkFailed | AwaitedFailed):
            plan, asked = self.plan(scope.chart, node), scope.asked
            if plan.errors_as_data and asked is not None and asked.kind == "call":
                cause = error.error if isinstance(error, StepFailed) else error
                return self._run(plan, scope, {"answer": failed_answer(cause)})
            retry = _retry(plan, scope, dict(memo_of(scope)), cause_of(error))
            if retry is not None:
                return retry
            if node.kind == "mount" and self._caught(plan, scope, error):
                return leave(plan, scope)
        return Fail(error)

    def _caught(self, plan: Plan, scope: Scope, error: Exception) -> bool:
        """Whether the author takes the failure of a mounted chart for a result."""
        catch = plan.others.get("catch")
        if catch is None:
            return False
        sight, cause = self.sight(plan, scope, {}), cause_of(error)
        try:
            caught = bool(catch(View(sight), cause))
        except BaseException:
            scope.discard()
            raise
        finally:
            sight.scope = plan.over  # type: ignore[assignment]
        if not caught:
            scope.discard()
            return False
        scope.facts["caught"] = {"error": failure_text(cause), "name": failure_name(cause)}
        keep_net(scope)
        return True

    # ------------------------------------------------------------ forks and mounts

    def _enter_fork(self, node: Node, scope: Scope) -> Outcome:
        plan = self.plan(scope.chart, node)
        scope.tags = plan.tags
        return fork(plan, scope, dict(plan.branches))

    def _enter_mount(self, node: Node, scope: Scope) -> Outcome:
        """Open the mounted chart's state over what it is given, and call it."""
        plan = self.plan(scope.chart, node)
        scope.tags = plan.tags
        if node.spec.get("over"):
            inner = scope.open(over=scope.frame.scope)
            scope.keep("inner", inner)
            data = {"args": args_scope(scope)}
            return Call(node.spec["chart"], inner, awaits=True, data=data)
        args = scope.open(self._mapped(plan, scope, "inputs", scope.frame.scope))
        inner = scope.open(over=args)
        scope.keep("inner", inner)
        return Call(node.spec["chart"], inner, awaits=True, data={"args": args})

    def _leave_mount(self, plan: Plan, scope: Scope, answer: Answer) -> Outcome:
        """Take over what the mounted chart came to, each value with the read it came from."""
        outputs = self._mapped(plan, scope, "outputs", str(scope.kept("inner")))
        into = plan.node.spec.get("into")
        if into:
            outputs[into] = freeze(answer.value, (into,))
        for name, value in outputs.items():
            key = (scope.frame.scope, name)
            before = scope.peek(key)
            policy = plan.policies.get(name, Merge.REPLACE)
            put(scope, key, before, merged(before, [value], policy))
        keep_net(scope)
        return leave(plan, scope, seal(answer.value))

    def _mapped(self, plan: Plan, scope: Scope, purpose: str, owner: str) -> dict[str, Any]:
        """What goes into or comes out of a mount; a path that leads nowhere gives nothing."""
        sight = Sight(scope, owner, self.env, None, frozenset())
        if purpose == "outputs":
            sight.args = scope.state.bases[owner].scope
        function = plan.others.get(purpose)
        if function is None:
            paths: dict[str, str] = plan.node.spec.get(purpose, {})
            found = {name: scope.read(key_of(sight, path)) for name, path in paths.items()}
            return {name: value for name, value in found.items() if value is not UNDEFINED}
        given = function(View(sight))
        if not isinstance(given, Mapping):
            raise ChartError(f"the {purpose} of {plan.node.id} are no mapping, but {given!r}")
        frozen = {str(name): freeze(value, (str(name),)) for name, value in given.items()}
        sight.scope = plan.over  # type: ignore[assignment]
        return frozen


def chosen_function(plan: Plan, memo: Memo | None) -> tuple[Callable[..., Any], Any]:
    """The function to run now, and the answer it takes (`UNDEFINED` for none)."""
    answer = memo.get("answer", UNDEFINED) if memo else UNDEFINED
    stored = plan.errors_as_data and type(answer) is not Answer
    if stored and isinstance(answer, Mapping):  # it went through JSON
        tree: Any = answer
        answer = msgspec.convert(raw(tree), Answer)
        answer = msgspec.structs.replace(answer, value=seal(answer.value))
    function = plan.function if answer is UNDEFINED else plan.others.get("resume")
    if function is None:
        raise ChartError(
            f"no function was handed over for stage {plan.node.id}",
            hint="run the chart with the language of the program that built it",
        )
    return function, answer


def _with_once(memo: Memo | None, once: Mapping[str, Any] | None) -> Memo:
    return {**(memo or {}), **({"once": dict(once)} if once else {})}


def _pause(scope: Scope, memo: Memo | None, once: Mapping[str, Any] | None, need: Need) -> Need:
    """Ask in the middle of a stage. It is run again from its top: nothing it wrote counts."""
    scope.discard()
    scope.keep("stage", {**_with_once(memo, once), "interrupted": True})
    return need


def _raised(plan: Plan, scope: Scope, memo: Memo, error: Exception) -> Outcome:
    retry = _retry(plan, scope, memo, error)
    if retry is not None:
        return retry
    if plan.keeps_partial:
        keep_net(scope)
        scope.data.clear()
    else:
        scope.discard()
    return Fail(error)


def _retry(plan: Plan, scope: Scope, memo: Memo, error: Exception) -> Need | None:
    attempt = int(memo.get("attempt", 0)) + 1
    if plan.retry is None or not plan.retry.takes(error, attempt):
        return None
    scope.discard()
    scope.keep("stage", {**memo, "attempt": attempt, "waiting": True})
    scope.warn(f"attempt {attempt} of {plan.retry.attempts} failed: {failure_text(error)}")
    wait = {"ms": plan.retry.wait_seconds(attempt) * 1000, "retry": attempt}
    return Need("timer", plan.node.id, wait, "repeatable")


def _apply(scope: Scope, verb: str, key: Any, value: Any) -> None:
    if verb == "set":
        scope.set(key, value)
    elif verb == "append":
        scope.append(key, value)
    else:
        scope.delete(key)


def _joined(plan: Plan, scope: Scope, answer: Answer) -> Outcome:
    """Make one state of what the branches wrote, and go on."""
    sides = scope.frame.results
    takes = plan.node.spec.get("takes")
    scope.facts["joined"] = join_branches(scope, sides, plan.policies, takes)
    owner, spec = scope.frame.scope, plan.node.spec
    if "into" in spec:
        scope.set((owner, spec["into"]), answer.value)
    if "errors" in spec:
        failed = [
            {"branch": side.name, "error": side.error, "name": side.error_name}
            for side in sides
            if side.error
        ]
        scope.set((owner, spec["errors"]), failed)
    keep_net(scope)
    return leave(plan, scope)


def _close(scope: Scope, ending: Ending) -> None:
    """The closing commit of a chart says how it ended, which the engine has noted already."""
