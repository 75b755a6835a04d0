"""Promise: laws that hold for every chart, whatever it is made of.

Charts are drawn at random: stages plain and async, questions, retries, decisions, loops, forks,
for-each, mounts, failures, nested in one another.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from saywhy.chart.build import Builder, Script
from saywhy.chart.built import Built
from saywhy.chart.commit import Commit, Op
from saywhy.chart.cursor import Cursor
from saywhy.chart.drive import open_needs
from saywhy.chart.failure import StepFailed
from saywhy.chart.language import Language, Step
from saywhy.chart.machine import Limits, advance, open_frame
from saywhy.chart.merge import Merge
from saywhy.chart.model import Chart, Charts
from saywhy.chart.outcome import Answer, BranchAnswer, Call, Need
from saywhy.chart.task import run_task
from saywhy.chart.view import interrupt
from saywhy.values import append_path, delete_path, dumps, loads_raw, set_path, thaw

# ------------------------------------------------------------------ random charts

KEYS = st.sampled_from("abc")
LEAVES = st.one_of(
    st.tuples(st.just("set"), KEYS, st.integers(0, 3)),
    st.tuples(st.just("nest"), KEYS, st.integers(0, 3)),
    st.tuples(st.just("drop"), KEYS),
    st.tuples(st.just("later"), KEYS),
    st.tuples(st.just("ask"), KEYS),
    st.tuples(st.just("ask later"), KEYS),
    st.tuples(st.just("pause"), KEYS),
    st.tuples(st.just("flaky"), st.integers(1, 3)),
    st.just(("boom",)),
)


def programs(items: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    inner = st.lists(items, min_size=1, max_size=3)
    return st.one_of(
        st.tuples(st.just("choose"), st.lists(inner, min_size=2, max_size=3)),
        st.tuples(st.just("loop"), inner, st.integers(1, 3)),
        st.tuples(st.just("fork"), st.lists(inner, min_size=1, max_size=3), st.booleans()),
        st.tuples(st.just("each"), inner, st.integers(0, 3)),
        st.tuples(st.just("mount"), inner),
    )


ITEMS = st.recursive(LEAVES, programs, max_leaves=12)
PROGRAMS = st.lists(ITEMS, min_size=1, max_size=4)


def log(s: Any, what: str) -> None:
    s.log = [*s.get("log", [])] if "log" not in s else s.log
    s.log.append(what)


class Writer:
    """Writes a program as a chart; every stage has an id of its own."""

    def __init__(self) -> None:
        self.count = 0

    def chart(self, name: str, program: list[Any]) -> Builder:
        builder = Builder(name)
        self.line(builder, program)
        return builder

    def line(self, line: Script, program: list[Any]) -> None:
        for item in program:
            self.count += 1
            getattr(self, item[0].replace(" ", "_"))(line, f"n{self.count}", *item[1:])

    def set(self, line: Script, id: str, key: str, value: int) -> None:
        def stage(s: Any) -> None:
            s[key] = value
            log(s, f"{id} {s.get('item', '-')}")

        line.stage(id=id)(stage)

    def nest(self, line: Script, id: str, key: str, value: int) -> None:
        def stage(s: Any) -> None:
            if isinstance(s.get(key), int | str | None):
                s[key] = {"list": []}
            s[key].list.append(value)
            s[key].last = {"of": len(s[key].list)}
            if len(s[key].list) > 2:
                del s[key].list[0]

        line.stage(id=id)(stage)

    def drop(self, line: Script, id: str, key: str) -> None:
        def stage(s: Any) -> None:
            if key in s:
                del s[key]

        line.stage(id=id)(stage)

    def later(self, line: Script, id: str, key: str) -> None:
        async def stage(s: Any) -> None:
            s[key] = str(s.get(key))[:20]
            log(s, id)

        line.stage(id=id)(stage)

    def ask(self, line: Script, id: str, key: str) -> None:
        def stage(s: Any) -> None:
            log(s, id)
            s[key] = [interrupt(s, {"for": key}), interrupt(s, "more")]

        line.stage(id=id)(stage)

    def ask_later(self, line: Script, id: str, key: str) -> None:
        async def stage(s: Any) -> Any:
            s[key] = interrupt(s, "later")
            return s[key]

        line.stage(id=id)(stage)

    def pause(self, line: Script, id: str, key: str) -> None:
        def first(s: Any) -> Any:
            s.asked = id
            return [s.get(key)]

        def second(s: Any, answer: Any) -> None:
            s[key] = answer

        line.pausable(id=id)(first).resume(second)

    def flaky(self, line: Script, id: str, failures: int) -> None:
        def stage(s: Any) -> None:
            s.attempt_of = s.attempt
            log(s, id)
            if s.attempt < failures:
                raise OSError(f"attempt {s.attempt}")

        line.stage(id=id, retry={"attempts": 3})(stage)

    def boom(self, line: Script, id: str) -> None:
        def stage(s: Any) -> None:
            s.never = True
            s.get("log", []).append("never") if s.get("log") is not None else None
            raise ValueError(f"boom at {id}")

        line.stage(id=id)(stage)

    def choose(self, line: Script, id: str, branches: list[list[Any]]) -> None:
        def decide(s: Any) -> str:
            return f"{id}.{len(s.get('log') or []) % len(branches)}"

        decider = line.decider(id=id)(decide)
        for number, program in enumerate(branches):
            self.line(decider.branch(f"{id}.{number}"), program)

    def loop(self, line: Script, id: str, program: list[Any], times: int) -> None:
        line.stage(id=id)(lambda s: s.__setitem__(id, s.get(id, 0) + 1))
        self.line(line, program)
        more = line.decider(id=f"{id}.more")(lambda s: "go" if s.get(id, 0) <= times else "on")
        more.branch("go", loop_to=id, max_iter=times)
        more.branch("on")

    def fork(self, line: Script, id: str, branches: list[list[Any]], collect: bool) -> None:
        fork = line.fork(id, merge=_Policies(), collect_errors=collect)
        for number, program in enumerate(branches):
            self.line(fork.branch(f"{id}.{number}"), program)

    def each(self, line: Script, id: str, program: list[Any], items: int) -> None:
        self.line(
            line.for_each(
                lambda s: [*range(items)],
                id=id,
                max_branches=2,
                into="results",
                merge=_Policies(),
            ),
            program,
        )

    def mount(self, line: Script, id: str, program: list[Any]) -> None:
        inner = self.chart(f"chart-{id}", program)
        line.mount(inner, id=id, inputs=["a", "b"], outputs={"c": "a", "a": "c.list"}, into="got")


class _Policies(dict[str, Any]):
    """A policy for every key a program may write."""

    def __init__(self) -> None:
        names = ["a", "b", "c", "asked", "attempt_of", "results", "got"]
        names += [f"n{number}" for number in range(60)]
        super().__init__(dict.fromkeys(names, Merge.REPLACE))
        self["log"] = Merge.APPEND


# ------------------------------------------------------------------ running them


class Run:
    """One run of a chart by hand; `json` puts everything through JSON at every need."""

    def __init__(self, built: Built, choices: list[int], *, json: bool) -> None:
        self.built = built
        self.choices = choices
        self.json = json
        self.charts = Charts(built.charts)
        self.stages = built.stages()
        self.commits: list[Commit] = []
        self.ran = 0
        self.error = ""
        self.seen: list[tuple[int, dict[str, dict[str, Any]]]] = []
        """At each need and in the end: how many commits there were, and what the scopes held."""
        self.cursor = Cursor()
        open_frame(self.cursor, built.chart, Call(built.chart.digest, "state"))
        self.go()
        self.look()

    def look(self) -> None:
        scopes = self.cursor.state.scopes
        self.seen.append((len(self.commits), {name: thawed(held) for name, held in scopes.items()}))

    def go(self) -> None:
        answer: Answer | BranchAnswer | None = None
        for turn in range(500):
            try:
                need = self.advance(answer)
            except StepFailed as failure:
                self.error = str(failure)
                return
            if need is None:
                return
            self.look()
            if self.json:
                self.through_json()
            answer = self.answer(need, turn)
        raise AssertionError("a program of this size never takes 500 turns")

    def advance(self, answer: Answer | BranchAnswer | None) -> Need | None:
        language = self.stages.language()
        counted = {kind: self.counting(step) for kind, step in language.steps.items()}
        return advance(
            self.charts,
            Language(counted, language.close),
            self.cursor,
            answer,
            record=self.commits.append,
            limits=Limits(steps=5000),
        )

    def counting(self, step: Step) -> Step:
        def count(function: Callable[..., Any]) -> Callable[..., Any]:
            def counted(*args: Any) -> Any:
                self.ran += 1
                return function(*args)

            return counted

        return Step(count(step.enter), count(step.resume), step.failed)

    def through_json(self) -> None:
        again = Cursor.from_json(self.cursor.to_json())
        assert again == self.cursor
        self.cursor = again
        self.charts = Charts(Chart.from_json(chart.to_json()) for chart in self.charts)
        self.stages = self.built.stages()

    def answer(self, need: Need, turn: int) -> Answer | BranchAnswer:
        """Answers one of the open needs: which one is drawn."""
        items = open_needs(need)
        path, item = items[self.choices[turn % len(self.choices)] % len(items)]
        given = self.task(item) if item.kind == "task" else Answer(f"{item.name} {turn}")
        if self.json:
            given = msgspec.convert(loads_raw(dumps(given)), Answer)
        return BranchAnswer(path[0], given, path[1:]) if path else given

    def task(self, need: Need) -> Answer:
        coroutine = run_task(self.stages, self.charts, self.cursor, need)
        try:
            coroutine.send(None)
        except StopIteration as done:
            return done.value
        raise AssertionError("stages of these programs never really wait")


def runs(program: list[Any], choices: list[int]) -> tuple[Run, Run]:
    """The same chart run in memory and through JSON."""
    return (
        Run(Writer().chart("main", program).build(), choices, json=False),
        Run(Writer().chart("main", program).build(), choices, json=True),
    )


CHOICES = st.lists(st.integers(0, 5), min_size=1, max_size=6)
few = settings(max_examples=60)


# ------------------------------------------------------------------ the laws


@few
@given(PROGRAMS, CHOICES)
def test_resuming_through_json_is_running_through(program: list[Any], choices: list[int]) -> None:
    """Commits, state, result and failure are the same, whatever the order of the answers."""
    straight, through = runs(program, choices)
    assert through.error == straight.error
    assert through.commits == straight.commits
    assert through.cursor == straight.cursor


@few
@given(PROGRAMS, CHOICES)
def test_every_step_leaves_one_commit(program: list[Any], choices: list[int]) -> None:
    """As many commits as steps, numbered without a gap, and frames closed once each."""
    run, _ = runs(program, choices)
    assert [commit.seq for commit in run.commits] == list(range(1, len(run.commits) + 1))
    steps = [commit for commit in run.commits if commit.phase != "closed"]
    failed_waits = [
        c for c in steps if c.answered and c.answered.kind in ("call", "fork") and c.answered.error
    ]
    assert len(steps) == run.ran + len(failed_waits)
    closed = [commit.frame for commit in run.commits if commit.phase == "closed"]
    assert len(closed) == len(set(closed))
    assert set(closed) == {commit.frame for commit in run.commits}


@few
@given(PROGRAMS, CHOICES)
def test_the_log_says_what_the_state_holds(program: list[Any], choices: list[int]) -> None:
    """Doing the operations of the commits again gives every scope, at each need and in the end.

    So a step that failed or was suspended wrote nothing, and no write went unrecorded.
    """
    run, _ = runs(program, choices)
    replayed: dict[str, dict[str, Any]] = {}
    done = 0
    for upto, scopes in run.seen:
        for commit in run.commits[done:upto]:
            assert not (commit.error and commit.ops)
            for op in commit.ops:
                replay(replayed.setdefault(str(op.key[0]), {}), op)
        done = upto
        for scope, variables in scopes.items():
            assert thawed(replayed.get(scope, {})) == variables
        assert "never" not in scopes["state"]
    assert done == len(run.commits)


def replay(variables: dict[str, Any], op: Op) -> None:
    name, path = str(op.key[1]), op.key[2:]
    if op.verb == "delete" and not path:
        variables.pop(name, None)
    elif op.verb == "delete":
        variables[name] = delete_path(variables[name], path)
    elif op.verb == "append":
        variables[name] = append_path(variables.get(name), path, op.value)
    else:
        variables[name] = set_path(variables.get(name), path, op.value)


def thawed(variables: dict[str, Any]) -> dict[str, Any]:
    return {name: thaw(value) for name, value in variables.items()}


@few
@given(PROGRAMS, CHOICES)
def test_nothing_is_left_behind(program: list[Any], choices: list[int]) -> None:
    """After the end or a failure there are no frames, and no scopes but the chart's own."""
    run, _ = runs(program, choices)
    assert run.cursor.frames == []
    assert set(run.cursor.state.scopes) == {"state"}
    assert run.cursor.state.bases == {}


@few
@given(PROGRAMS, CHOICES)
def test_commits_and_charts_survive_json(program: list[Any], choices: list[int]) -> None:
    """What is stored is what is read back."""
    run, _ = runs(program, choices)
    for commit in run.commits:
        assert msgspec.convert(loads_raw(dumps(commit)), Commit) == commit
    for chart in run.built.charts:
        assert Chart.from_json(chart.to_json()) == chart
