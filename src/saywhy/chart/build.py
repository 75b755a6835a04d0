"""Charts written in Python: stages, deciders, selectors, forks, sub-charts, loops, questions.

Declaring is all that happens here, in the order in which it is to run; `assemble.py` makes charts
of it, `declared.py` and `check.py` find every problem at once, `built.py` runs them.

    turn = Builder("turn")

    @turn.stage
    def seed(s):
        s.history = [{"role": "user", "text": s.args.text}]

    @turn.stage(retry={"attempts": 3, "backoff": 0.2})
    async def call_model(s):
        s.history.append(await s.env.model(s.history.copy()))

    @turn.decider
    def route(s):
        return decide(s, [when(stop=True).then("finish")], default="tools")

    route.branch("tools", run_tools, loop_to="call_model", max_iter=20)
    route.branch("finish", finish)
    built = turn.build()
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeVar, overload

from saywhy.chart.assemble import Head, assemble
from saywhy.chart.brought import Answers
from saywhy.chart.built import Built
from saywhy.chart.commit import Effect
from saywhy.chart.decide import Default, Rule, decide, select
from saywhy.chart.declared import Back, Declared, Function, Line
from saywhy.chart.merge import Policy
from saywhy.chart.model import Chart
from saywhy.chart.plan import MAX_ITER
from saywhy.errors import DefinitionError, Problem

F = TypeVar("F", bound=Function)
Mapped = Mapping[str, str] | Sequence[str] | Function
"""Names to dotted paths; names that mean themselves; or a function of the state."""


class Script:
    """Stages one after the other, as they are declared: a chart, or one branch of it."""

    def __init__(self) -> None:
        self.line = Line()

    # ------------------------------------------------------------ plain stages

    @overload
    def stage(self, function: F, /) -> F: ...

    @overload
    def stage(
        self,
        /,
        *,
        id: str = "",
        name: str = "",
        describe: str = "",
        tags: Iterable[str] = (),
        retry: Mapping[str, Any] | None = None,
        effect: Effect = "repeatable",
        on_error: Literal["discard", "commit"] = "discard",
        fresh: bool = False,
    ) -> Callable[[F], F]: ...

    def stage(self, function: Any = None, /, **options: Any) -> Any:
        """A function of the state; plain or async. `id` is the function's name unless given.

        `name` and `describe` (else the docstring's first line) are for people.
        `retry` is `{"attempts": 3, "backoff": 0.2, "on": (TimeoutError,)}`: `backoff` in seconds,
        a number, a list, or a function of the attempt; `on` may be a function of the error as well.
        `on_error="commit"` keeps what a stage wrote before it raised. `effect` says what running it
        again would do, should a crash leave open whether it was run. With `fresh` what it writes is
        not compared with what was there, to leave out what changes nothing: for stages that run
        often and always write something new.
        """

        def declare(function: Any) -> Any:
            self._declare("stage", function, **options)
            return function

        return declare if function is None else declare(function)

    def pausable(
        self,
        function: Function | None = None,
        /,
        *,
        asks: str = "user",
        errors: Literal["raise", "data"] = "raise",
        answers: Answers | None = None,
        **options: Any,
    ) -> Any:
        """A stage in two halves. What the first one returns is asked; None asks nothing.

        The decorated name takes the second half: `@ask.resume def _(s, answer): …`. `asks` is the
        kind of the need: `user`, `approval`, `tool`, …; `effect` is that of what is asked, "once"
        unless given. Either half may return a `Need` of its own making, or `Invoke(chart, args)` to
        run another chart and go on with what that returns; the second half takes that answer too.

        An error as answer raises, unless `errors="data"`: then the second half is always given the
        whole `Answer`, with its `value`, `error` and `facts`. `answers` is who answers where the
        host names nobody else for the kind of need; see `brought.Answers`.
        """

        def declare(function: Function) -> Pausable:
            given = {"errors": errors if errors != "raise" else ""}
            declared = self._declare("pausable", function, ask=asks, **given, **options)
            if answers is not None:
                declared.functions["answers"] = answers
            return Pausable(declared)

        return declare if function is None else declare(function)

    def loop_to(self, target: str, *, max_iter: int = MAX_ITER, on_limit: str = "") -> None:
        """End this line by going back to the earlier stage `target`, at most `max_iter` times.

        Then on to the stage `on_limit`, or the run fails with `LoopLimit`.
        """
        self.line.back = Back(target, max_iter, on_limit)

    def end(self) -> None:
        """End the chart after this line, instead of going on where the branches meet."""
        self.line.ends = True

    # ------------------------------------------------------------ branching

    def decider(
        self,
        function: Function | None = None,
        /,
        *,
        rules: Sequence[Rule] | None = None,
        default: Default = "",
        **options: Any,
    ) -> Any:
        """A stage that picks one branch: its name, or what `decide()` gives.

        With `rules` and `default` there is no function, and `build()` checks that rules and
        branches fit.
        """

        def declare(function: Function) -> Choice:
            return Choice(self._declare("decider", function, **options))

        if rules is None:
            return declare if function is None else declare(function)
        return self._ruled("decider", rules, default, **options)

    def selector(
        self,
        function: Function | None = None,
        /,
        *,
        rules: Sequence[Rule] | None = None,
        merge: Mapping[str, Policy] | None = None,
        takes: Sequence[str] = (),
        **options: Any,
    ) -> Any:
        """A stage that picks any number of branches, which run side by side. See `fork`.

        `takes` are the only names that are taken over from the branches; without it all are.
        """
        if takes:
            options["takes"] = list(takes)

        def declare(function: Function) -> Choice:
            declared = self._declare("selector", function, **options)
            declared.merge = merge or {}
            return Choice(declared)

        if rules is None:
            return declare if function is None else declare(function)
        choice = self._ruled("selector", rules, "", **options)
        choice.declared.merge = merge or {}
        return choice

    def _ruled(
        self, kind: str, rules: Sequence[Rule], default: Default, *, id: str = "", **options: Any
    ) -> Choice:
        fixed = tuple(rules)

        def decided(s: Any) -> Any:
            return decide(s, fixed, default) if kind == "decider" else select(s, fixed)

        declared = self._declare(kind, decided, id=id or kind, **options)
        declared.rules = fixed
        declared.default = default if isinstance(default, str) else default[0]
        return Choice(declared)

    def fork(
        self,
        id: str,
        *,
        merge: Mapping[str, Policy] | None = None,
        collect_errors: bool = False,
        errors: str = "",
        **options: Any,
    ) -> Choice:
        """Branches that all run side by side, each on what the state was before.

        Their writes are joined in declared order. A key that two of them write needs a policy in
        `merge`. A branch that fails fails the fork, unless errors are collected: then the failed
        one's writes are dropped, and its error is put into the list under `errors`.
        """
        given = {"collect": collect_errors or bool(errors), "errors": errors}
        declared = self._declare("fork", None, id=id, **given, **options)
        declared.merge = merge or {}
        return Choice(declared)

    def for_each(
        self,
        items: Function,
        *content: Function | Built | Builder,
        id: str,
        max_branches: int,
        into: str = "",
        merge: Mapping[str, Policy] | None = None,
        collect_errors: bool = False,
        errors: str = "",
        **options: Any,
    ) -> Script:
        """One branch for each item of what `items` gives, at most `max_branches`; more are dropped.

        A branch sees its item as `s.item` and its number as `s.index`. What the last stage of each
        returns is put, in the items' order, into the list under `into` (undefined for one that
        failed). Gives the branch, so that stages can be added to it.
        """
        given = {"collect": collect_errors or bool(errors), "errors": errors, "into": into}
        declared = self._declare("each", items, id=id, max=max_branches, **given, **options)
        declared.merge = merge or {}
        return Choice(declared).branch(f"{id}.item", *content)

    # ------------------------------------------------------------ sub-charts

    def mount(
        self,
        chart: Chart | Built | Builder | str,
        *,
        id: str = "",
        inputs: Mapped | None = None,
        outputs: Mapped | None = None,
        into: str = "",
        merge: Mapping[str, Policy] | None = None,
        over: bool = False,
        catch: Function | None = None,
        **options: Any,
    ) -> None:
        """Run another chart on a state of its own.

        `inputs` says what it is given (`{"text": "question"}`: its `text` is our `question`), which
        it sees as arguments and, until it writes its own, as variables. `outputs` says what is
        taken over in the end (`{"answer": "draft.text"}`: our `answer` is its `draft.text`); `into`
        takes what it returns. Values replace ours unless `merge` has a policy for the key. A chart
        may also be named by its id, to be found when it runs. With `over` it is given nothing: our
        variables and arguments show through where it has not written its own.

        `catch(s, error)` is asked when the chart failed: where it gives true the run goes on after
        the mount, with what `catch` wrote into the state instead of the outputs.
        """
        name = chart if isinstance(chart, str) else _name_of(chart)
        declared = self._declare("mount", None, id=id or name, into=into, over=over, **options)
        declared.target = chart.build if isinstance(chart, Builder) else chart
        declared.merge = merge or {}
        if catch is not None:
            declared.functions["catch"] = catch
        for purpose, mapped in (("inputs", inputs), ("outputs", outputs)):
            if callable(mapped):
                declared.functions[purpose] = mapped
            elif isinstance(mapped, Mapping):
                declared.spec[purpose] = dict(mapped)
            elif mapped is not None:
                declared.spec[purpose] = {one: one for one in mapped}

    # ------------------------------------------------------------ declaring

    def _declare(
        self,
        kind: str,
        function: Function | None,
        *,
        id: str = "",
        name: str = "",
        describe: str = "",
        tags: Iterable[str] = (),
        retry: Mapping[str, Any] | None = None,
        effect: Effect = "repeatable",
        on_error: str = "discard",
        **spec: Any,
    ) -> Declared:
        declared = Declared(id or getattr(function, "__name__", kind), kind, name, describe)
        declared.spec = {
            name: value for name, value in spec.items() if value is not False and value != ""
        }
        if function is not None:
            declared.functions[""] = function
            declared.describe = describe or _first_line(function)
        if tags:
            declared.spec["tags"] = list(tags)
        if effect != "repeatable":
            declared.spec["effect"] = effect
        if on_error != "discard":
            declared.spec["on_error"] = on_error
        if retry is not None:
            _declare_retry(declared, retry)
        if self.line.back or self.line.ends:
            self.line.late.append(declared.id)
        else:
            self.line.declared.append(declared)
        return declared


def _first_line(function: Function) -> str:
    lines = (function.__doc__ or "").strip().splitlines()
    return lines[0] if lines else ""


def _name_of(chart: Chart | Built | Builder) -> str:
    return chart.chart.name if isinstance(chart, Built) else chart.name


def _declare_retry(declared: Declared, retry: Mapping[str, Any]) -> None:
    backoff = retry.get("backoff", 0.0)
    on = retry.get("on")
    declared.spec["retry"] = {"attempts": retry.get("attempts", 1)}
    unknown = [key for key in retry if key not in ("attempts", "backoff", "on")]
    if unknown:
        declared.spec["retry"]["unknown"] = unknown  # reported by `assemble`
    if callable(backoff):
        declared.functions["backoff"] = backoff
    else:
        declared.spec["retry"]["backoff"] = backoff
    if isinstance(on, type | Iterable):
        kinds: Any = tuple(on) if isinstance(on, Iterable) else on
        declared.functions["retry_on"] = _is_one_of(kinds)
    elif on is not None:
        declared.functions["retry_on"] = on


def _is_one_of(kinds: Any) -> Callable[[BaseException], bool]:
    def is_one(error: BaseException) -> bool:
        return isinstance(error, kinds)

    return is_one


class Pausable:
    """A stage in two halves, waiting for its second one."""

    def __init__(self, declared: Declared) -> None:
        self.declared = declared

    def resume(self, function: F) -> F:
        """The half that takes the answer: `function(s, answer)`."""
        self.declared.functions["resume"] = function
        return function


class Choice:
    """A decider, selector or fork, to which branches are added."""

    def __init__(self, declared: Declared) -> None:
        self.declared = declared

    def branch(
        self,
        name: str,
        *content: Function | Chart | Built | Builder,
        label: str = "",
        loop_to: str = "",
        max_iter: int = MAX_ITER,
        on_limit: str = "",
        ends: bool = False,
    ) -> Script:
        """A branch with these stages and sub-charts; more can be added to the line it gives.

        The first stage is named like the branch. After the last one the run goes on where the
        branches meet, unless the branch loops back or ends the chart.
        """
        script = Script()
        for number, one in enumerate(content):
            own = "" if number else name
            if isinstance(one, Chart | Built | Builder):
                script.mount(one, id=own)
            else:
                script.stage(id=own)(one)
        if loop_to:
            script.loop_to(loop_to, max_iter=max_iter, on_limit=on_limit)
        if ends:
            script.end()
        if name in self.declared.lines:
            self.declared.twice.append(name)
        self.declared.lines[name] = script.line
        if label:
            self.declared.labels[name] = label
        return script


class Builder(Script):
    """A chart being written.

    `state` (a TypedDict, dataclass or other annotated class) names the variables; with `strict`
    no others may be written. `own` names variables that only keep the chart going, each with what
    stands behind it, or ""; explanations pass over them.
    """

    def __init__(
        self,
        name: str,
        *,
        id: str = "",
        describe: str = "",
        state: type[Any] | None = None,
        strict: bool = False,
        own: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        self.own = own or {}
        self.name = name
        self.id = id or name
        self.describe = describe
        self.state = state
        self.strict = strict
        self._building = False

    def build(self) -> Built:
        """The chart, ready to run. Raises `DefinitionError` with every problem there is."""
        if self._building:
            problem = Problem(
                f"chart {self.name} mounts itself",
                hint=f'mount it by its id: mount("{self.id}")',
                flow=self.name,
            )
            raise DefinitionError([problem])
        self._building = True
        try:
            return assemble(Head(self.name, self.id, self._meta()), self.line)
        finally:
            self._building = False

    def _meta(self) -> dict[str, Any]:
        meta: dict[str, Any] = {"describe": self.describe} if self.describe else {}
        if self.state is not None and self.strict:
            kinds = reversed(self.state.__mro__)
            meta["names"] = list(
                dict.fromkeys(
                    name for kind in kinds for name in getattr(kind, "__annotations__", ())
                )
            )
        if self.own:
            meta["own"] = dict(self.own)
        return meta
