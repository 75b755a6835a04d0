"""Promise: a stage asks what it likes, runs other charts, and may bring along who answers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saywhy.cancel import CancelToken
from saywhy.chart.brought import Asking
from saywhy.chart.build import Builder
from saywhy.chart.built import Built, Result, RunCancelled
from saywhy.chart.cursor import Cursor
from saywhy.chart.drive import Emit
from saywhy.chart.failure import StepFailed
from saywhy.chart.machine import advance
from saywhy.chart.model import Charts
from saywhy.chart.outcome import Answer, Invoke, Need
from saywhy.chart.task import run_task
from saywhy.errors import ChartError
from saywhy.testing.clock import FakeClock
from saywhy.values import FrozenDict, FrozenList


def caller(answers: Any = None, *, errors: Any = "data") -> Built:
    """Calls the tools it was given one after the other, and notes what came of each."""
    b = Builder("caller")
    ask = b.pausable(id="ask", asks="tool", errors=errors, answers=answers)

    def following(s: Any) -> Any:
        left = len(s.get("seen", []))
        if left < len(s.args.names):
            return Need("tool", s.args.names[left], {"n": left}, "reads")
        return None

    def first(s: Any) -> Any:
        s.seen = []
        return following(s)

    pausable = ask(first)

    @pausable.resume
    def _(s: Any, answer: Any) -> Any:
        shown = answer
        if isinstance(answer, Answer):
            shown = [answer.value, answer.error, answer.error_name, answer.facts]
        s.seen.append(shown)
        return following(s) or "done"

    return b.build()


async def double(asking: Asking) -> Answer:
    if asking.need.name == "broken":
        return Answer(None, "no power", "Outage", {"ms": 3})
    asking.emit("called", asking.need.name)
    state = asking.running.cursor.state.scopes[asking.frame.scope]
    return Answer(asking.need.args["n"] * 2, facts={"before": len(state["seen"])})


def test_a_need_of_ones_own_is_asked_as_it_is() -> None:
    """Kind, name, arguments and effect are the stage's; the second half may ask again."""

    async def talk() -> list[Result]:
        built = caller(errors="raise")
        first = await built.run({"names": ["a", "b"]})
        second = await built.resume(first.checkpoint(), 1)
        return [first, second, await built.resume(second.checkpoint(), 2)]

    first, second, third = asyncio.run(talk())
    assert first.need == Need("tool", "a", FrozenDict({"n": 0}), "reads")
    assert second.need == Need("tool", "b", FrozenDict({"n": 1}), "reads")
    assert (third.value, third.state) == ("done", {"seen": [1, 2]})
    assert [commit.phase for commit in second.commits] == ["asked"]
    answered = second.commits[0].answered
    assert answered is not None
    assert answered.value == 1


def test_a_stage_brings_who_answers_and_gets_errors_as_data() -> None:
    """Nobody else is needed; an error is an answer like others, facts included."""
    signals: list[Any] = []
    work = caller(double).run({"names": ["a", "broken", "c"]}, listener=signals.append)
    result = asyncio.run(work)
    assert result.state["seen"] == [
        [0, None, "Error", {"before": 0}],
        [None, "no power", "Outage", {"ms": 3}],
        [4, None, "Error", {"before": 2}],
    ]
    assert [(one.kind, one.data) for one in signals] == [("called", "a"), ("called", "c")]


def test_whom_the_host_names_comes_first() -> None:
    """An answerer for the kind of need replaces the one that a stage brought."""

    async def host(need: Need, emit: Emit) -> Answer:
        return Answer("host")

    work = caller(double).run({"names": ["a"]}, answerers={"tool": host})
    assert asyncio.run(work).state["seen"] == [["host", None, "Error", {}]]


def test_two_mounted_charts_keep_their_own_answerers() -> None:
    """What comes along goes along: each stage is answered by its own, side by side too."""

    def one(name: str) -> Built:
        async def answers(asking: Asking) -> Answer:
            return Answer(name)

        b = Builder(name)
        b.pausable(id="ask", answers=answers)(lambda s: "?").resume(lambda s, answer: answer)
        return b.build()

    b = Builder("both")
    b.mount(one("x"), into="x")
    b.mount(one("y"), into="y")
    fork = b.fork("fork")
    fork.branch("l").mount(one("z"), id="z", into="z")
    fork.branch("r").mount(one("w"), id="w", into="w")
    assert asyncio.run(b.build().run()).state == {"x": "x", "y": "y", "z": "z", "w": "w"}


def test_an_error_raises_unless_it_is_wanted_as_data() -> None:
    """Without the option an error as answer fails the stage, as ever."""
    with pytest.raises(StepFailed, match="no power"):
        asyncio.run(caller(double, errors="raise").run({"names": ["broken"]}))


def test_an_error_as_data_survives_json_before_an_async_second_half() -> None:
    """The whole answer is what the second half gets, though it went through a checkpoint."""
    b = Builder("later")
    ask = b.pausable(id="ask", errors="data")(lambda s: "?")

    @ask.resume
    async def _(s: Any, answer: Any) -> None:
        s.got = [answer.error, answer.value, answer.facts]

    built = b.build()
    paused = asyncio.run(built.run())
    held = paused.cursor.copy()
    language, charts = built.language(), Charts(built.charts)
    need = advance(charts, language, held, Answer([1], "no"), record=lambda commit: None)
    assert need is not None
    assert need.kind == "task"
    stored = Cursor.from_json(held.to_json())
    work = run_task(built.stages(), charts, stored, need)
    advance(charts, language, stored, asyncio.run(work), record=lambda commit: None)
    assert stored.state.scopes["state"] == {"got": FrozenList(["no", FrozenList([1]), {}])}


def inner() -> Built:
    b = Builder("inner")

    @b.stage
    def work(s: Any) -> Any:
        if s.args.n < 0:
            raise ValueError("below zero")
        s.own = s.args.n
        return s.args.n + 1

    return b.build()


def outer(*, errors: Any = "data") -> Built:
    """Runs `inner` for each number it was given."""
    b = Builder("outer")
    ask = b.pausable(id="ask", errors=errors)

    def following(s: Any) -> Any:
        at = len(s.got)
        return Invoke("inner", {"n": s.args.numbers[at]}) if at < len(s.args.numbers) else None

    def first(s: Any) -> Any:
        s.got = []
        return following(s)

    pausable = ask(first)

    @pausable.resume
    def _(s: Any, answer: Any) -> Any:
        known = isinstance(answer, Answer)
        s.got.append([answer.value, answer.error, answer.error_name] if known else answer)
        return following(s)

    return b.build()


def test_another_chart_is_run_and_what_it_returns_is_the_answer() -> None:
    """It runs on a state of its own, again and again, and leaves none of it behind."""
    result = asyncio.run(outer(errors="raise").run({"numbers": [1, 5]}, beside=[inner()]))
    assert result.state == {"got": [2, 6]}
    assert list(result.cursor.state.scopes) == ["args", "state"]


def test_a_failure_of_the_other_chart_is_data_where_that_is_wanted() -> None:
    """Its text and name reach the second half, and the run goes on; else the stage fails."""
    built, numbers = outer(), {"numbers": [-1, 5]}
    result = asyncio.run(built.run(numbers, beside=[inner()]))
    assert result.state == {"got": [[None, "below zero", "ValueError"], [6, None, "Error"]]}
    with pytest.raises(StepFailed, match="below zero"):
        asyncio.run(outer(errors="raise").run(numbers, beside=[inner()]))


def test_only_a_pausable_stage_asks() -> None:
    """A plain stage that gives a need is told what to use instead."""
    b = Builder("plain")
    b.stage(id="one")(lambda s: Need("tool", "x"))
    with pytest.raises(StepFailed, match="stage one gave something to ask") as caught:
        asyncio.run(b.build().run())
    assert isinstance(caught.value.error, ChartError)


def test_a_chart_mounted_over_ours_sees_our_variables() -> None:
    """It is given nothing and reads what we have; only its outputs are taken over."""
    b = Builder("below")

    @b.stage
    def look(s: Any) -> None:
        s.items.append(s.args.word)
        s.own = 1

    top = Builder("top")
    top.stage(id="seed")(lambda s: s.__setattr__("items", ["a"]))
    top.mount(b, over=True, outputs=["items"])
    result = asyncio.run(top.build().run({"word": "b"}))
    assert result.state == {"items": ["a", "b"]}
    mount = [commit for commit in result.commits if commit.node == "below"]
    assert not mount[0].ops
    assert [(op.verb, op.value) for op in mount[1].ops] == [("append", "b")]


# ------------------------------------------------------------------ cancelling


def waiting(log: list[str]) -> Built:
    """Asks something that takes a minute."""

    async def slow(asking: Asking) -> Answer:
        log.append("asked")
        try:
            await asyncio.sleep(0.05)
            log.append("answered")
            return Answer(1)
        except asyncio.CancelledError:
            log.append("cancelled")
            raise

    b = Builder("slow")
    b.stage(id="before")(lambda s: s.__setattr__("seen", "signal" in s.env))
    b.pausable(id="ask", answers=slow)(lambda s: "?").resume(lambda s, answer: answer)
    b.stage(id="after")(lambda s: log.append("after"))
    return b.build()


async def cancelled(log: list[str], **options: Any) -> RunCancelled:
    token = options.get("signal") or options["env"]["signal"]
    asyncio.get_running_loop().call_later(0.01, token.cancel, "enough")
    with pytest.raises(RunCancelled) as caught:
        await waiting(log).run(**options)
    assert asyncio.all_tasks() == {asyncio.current_task()}
    return caught.value


@pytest.mark.parametrize("way", ["signal", "env"])
def test_a_signal_cancels_the_call_in_flight(way: str) -> None:
    """Nothing is left running, the trace ends with a closing commit, and the state is there."""
    log: list[str] = []
    token = CancelToken()
    options: dict[str, Any] = {"signal": token} if way == "signal" else {"env": {"signal": token}}
    error = asyncio.run(cancelled(log, **options))
    assert log == ["asked", "cancelled"]
    assert (str(error), error.reason) == ("cancelled: enough", "enough")
    last = error.result.commits[-1]
    assert (last.phase, last.facts) == ("closed", {"how": "cancelled", "reason": "enough"})
    assert error.result.state == {"seen": True}
    assert error.result.cursor.frames == []


def test_a_signal_may_stop_the_traversal_only() -> None:
    """The call in flight runs to its end; what comes after it does not."""
    log: list[str] = []
    error = asyncio.run(cancelled(log, signal=CancelToken(), propagate_signal=False))
    assert log == ["asked", "answered"]
    assert error.result.commits[-1].facts == {"how": "cancelled", "reason": "enough"}


def test_a_signal_that_was_cancelled_before_lets_nothing_begin() -> None:
    """Not even the first stage runs."""
    token, log = CancelToken(), list[str]()
    token.cancel("too late")
    with pytest.raises(RunCancelled, match="too late") as caught:
        asyncio.run(waiting(log).run(signal=token))
    assert (log, [commit.phase for commit in caught.value.result.commits]) == ([], ["closed"])


def test_a_deadline_in_the_signal_ends_the_run() -> None:
    """Time runs by the token's clock."""
    clock = FakeClock()
    log: list[str] = []

    async def run() -> None:
        await waiting(log).run(signal=CancelToken(timeout=0.0, clock=clock))

    with pytest.raises(RunCancelled, match="took longer than 0 seconds"):
        asyncio.run(run())


async def test_a_need_of_another_kind_is_for_the_host() -> None:
    """Who makes a stage's calls of tools does not answer for the person it asks in between."""
    b = Builder("mixed")

    @b.pausable(id="ask", asks="tool", answers=double)
    def ask(s: Any) -> Need:
        return Need("user", "ask_human", {"n": 1}, "reads")

    @ask.resume
    def _(s: Any, answer: Any) -> Any:
        return answer

    paused = await b.build().run()
    assert paused.need is not None
    assert (paused.need.kind, paused.need.name) == ("user", "ask_human")
    assert (await b.build().resume(paused.checkpoint(), "yes")).value == "yes"
