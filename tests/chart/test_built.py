"""Promise: a built chart runs, pauses, resumes from JSON, and says what became of it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saywhy.chart.build import Builder
from saywhy.chart.built import Built, RunTimedOut
from saywhy.chart.commit import Commit
from saywhy.chart.cursor import Cursor
from saywhy.chart.decide import decide, when
from saywhy.chart.drive import Emit, Signal
from saywhy.chart.failure import StepFailed, cause_of
from saywhy.chart.machine import Language, Limits, Step
from saywhy.chart.model import Chart, Node
from saywhy.chart.outcome import Answer, BranchAnswer, Need, Outcome, Return
from saywhy.chart.scope import Scope
from saywhy.chart.view import interrupt
from saywhy.errors import CallerError, ChartError, DamagedSession, StateValueError, TooManySteps
from saywhy.testing.clock import FakeClock


def agent() -> Built:
    """One turn of an agent: ask the model until it calls no more tools."""
    turn = Builder("turn", describe="One agent turn")

    @turn.stage
    def seed(s: Any) -> None:
        s.history = [{"role": "user", "text": s.args.text}]
        s.step = 0

    @turn.stage(id="call-model")
    async def call_model(s: Any) -> None:
        reply = await s.env.model(s.history.copy())
        s.history.append(reply)
        s.step += 1
        s.stop_now = not reply.get("calls")

    @turn.decider
    def route(s: Any) -> Any:
        rules = [
            when(stop_now=True).then("finish", label="model stopped"),
            when(step={"gte": 8}).then("finish", label="step limit"),
        ]
        return decide(s, rules, default=("tools", "more tool calls"))

    def tools(s: Any) -> None:
        s.history.append({"role": "tool", "text": "42"})

    route.branch("tools", tools, loop_to="call-model", max_iter=20)

    @route.branch("finish").stage
    def finish(s: Any) -> Any:
        s.answer = s.history[-1].text
        return s.answer

    return turn.build()


async def model(history: list[Any]) -> dict[str, Any]:
    """Calls a tool twice, then answers."""
    if len(history) < 5:
        return {"role": "model", "calls": ["look"]}
    return {"role": "model", "text": f"It is {history[-1]['text']}."}


async def test_a_run_gives_state_value_and_commits() -> None:
    """The result has the variables, what the last stage returned, and a commit for each step."""
    result = await agent().run({"text": "What is it?"}, env={"model": model})
    assert (result.value, result.paused, result.need) == ("It is 42.", False, None)
    assert result.state["answer"] == "It is 42."
    assert len(result.state["history"]) == 6
    decisions = [c.decision for c in result.commits if c.decision]
    assert [(d.chosen, d.label) for d in decisions] == [
        ("tools", "more tool calls"),
        ("tools", "more tool calls"),
        ("finish", "model stopped"),
    ]
    seed = result.commits[0]
    assert seed.reads == (("args", "text"),)
    assert [c.seq for c in result.commits] == list(range(1, len(result.commits) + 1))
    assert result.commits[-1].facts == {"how": "completed"}


async def test_the_same_run_twice_leaves_the_same_commits() -> None:
    """Nothing in a run depends on when it happens but the time that is noted."""
    clock = FakeClock()
    runs = [await agent().run({"text": "?"}, env={"model": model}, clock=clock) for _ in range(2)]
    assert runs[0].commits == runs[1].commits


async def test_one_chart_runs_many_times_at_once() -> None:
    """A built chart holds nothing of a run."""
    built = agent()
    texts = [f"Question {number}" for number in range(20)]
    results = await asyncio.gather(
        *(built.run({"text": text}, env={"model": model}) for text in texts)
    )
    assert [result.state["history"][0]["text"] for result in results] == texts


def asking() -> Built:
    b = Builder("asking")

    @b.stage
    def prepare(s: Any) -> None:
        s.n = s.get("n", 0) + 1
        name = interrupt(s, {"question": "Who?"})
        s.n += 1
        s.names = [name, interrupt(s, "And who else?")]

    @b.pausable(asks="approval")
    def confirm(s: Any) -> Any:
        s.asked = True
        return {"text": f"{s.names[0]} and {s.names[1]}?"}

    @confirm.resume
    def _(s: Any, answer: Any) -> Any:
        s.agreed = answer["ok"]
        return s.agreed

    return b.build()


async def test_questions_pause_a_run_and_answers_go_on_from_json() -> None:
    """Each pause is a need and a checkpoint; a stage that asked is run again from clean state."""
    built = asking()
    result = await built.run()
    assert result.need == Need("user", "prepare", {"question": "Who?"})
    assert result.state == {}
    result = await built.resume(result.checkpoint(), "Ada")
    assert result.need == Need("user", "prepare", "And who else?")
    result = await asking().resume(result.checkpoint(), "Bob")
    assert result.need == Need("approval", "confirm", {"text": "Ada and Bob?"})
    assert result.state == {"n": 2, "names": ["Ada", "Bob"], "asked": True}
    result = await built.resume(result.checkpoint(), {"ok": True})
    assert (result.value, result.state["agreed"]) == (True, True)


async def test_a_cursor_that_is_resumed_twice_forks_history() -> None:
    """Resuming from a cursor leaves it as it is: another answer may be tried."""
    built = asking()
    paused = await built.run()
    one = await built.resume(paused.cursor, "Ada")
    other = await built.resume(paused.cursor, "Eve")
    assert [(await built.resume(r.cursor, "x")).state["names"][0] for r in (one, other)] == [
        "Ada",
        "Eve",
    ]


async def test_an_error_as_answer_fails_the_stage() -> None:
    """Whoever answers may say that it failed; the stage raises at its question."""
    built = asking()
    paused = await built.run()
    with pytest.raises(StepFailed, match="nobody is there"):
        await built.resume(paused.checkpoint(), Answer(error="nobody is there"))


async def test_a_checkpoint_of_another_version_is_refused() -> None:
    """A changed chart does not go on with an old frame; the message names it."""
    paused = await asking().run()
    other = Builder("asking")
    other.stage(id="prepare")(lambda s: None)
    with pytest.raises(DamagedSession, match=r"frame 0 \(flow asking\): the version \w+"):
        await other.build().resume(paused.checkpoint(), "Ada")


async def test_a_failed_run_tells_what_it_had_come_to() -> None:
    """The error chains to what was raised, and has state and commits for looking into it."""
    b = Builder("bad")
    b.stage(id="good")(lambda s: setattr(s, "before", 1))

    @b.stage
    async def bad(s: Any) -> None:
        s.half = True
        raise ValueError("broken")

    with pytest.raises(StepFailed, match="broken") as caught:
        await b.build().run()
    assert isinstance(caught.value.__cause__, ValueError)
    result = caught.value.result
    assert result.state == {"before": 1}
    assert [commit.error for commit in result.commits if commit.error] == ["broken"]
    assert result.commits[-1].facts["how"] == "failed"


async def test_partial_writes_may_be_kept() -> None:
    """`on_error="commit"` keeps what a stage wrote before it raised, plain or async."""
    b = Builder("bad")
    failing = b.decider(id="which")(lambda s: s.args.which)

    def plain(s: Any) -> None:
        s.half = True
        raise ValueError("broken")

    async def later(s: Any) -> None:
        plain(s)

    failing.branch("plain").stage(on_error="commit")(plain)
    failing.branch("later").stage(on_error="commit")(later)
    for which in ("plain", "later"):
        with pytest.raises(StepFailed) as caught:
            await b.build().run({"which": which})
        assert caught.value.result.state == {"half": True}
        failed = [c for c in caught.value.result.commits if c.error]
        assert [op.key for op in failed[0].ops] == [("state", "half")]


async def test_a_run_that_takes_too_long_is_cancelled() -> None:
    """At the timeout the stage is cancelled, its writes vanish, and every frame is closed."""
    b = Builder("slow")
    b.stage(id="quick")(lambda s: setattr(s, "done", 1))

    @b.stage
    async def slow(s: Any) -> None:
        s.half = True
        await s.env.clock.sleep(100)

    clock = FakeClock()
    with pytest.raises(RunTimedOut, match="the run took longer than 2 seconds") as caught:
        await b.build().run(timeout=2, clock=clock, env={"clock": clock})
    result = caught.value.result
    assert result.state == {"done": 1}
    assert result.commits[-1].facts == {"how": "cancelled", "reason": "longer than 2 seconds"}
    assert result.cursor.frames == []


async def test_a_timeout_of_somebody_else_is_not_ours() -> None:
    """An answerer that raises TimeoutError is heard as itself."""
    b = Builder("ask")
    b.pausable(id="ask", asks="tool")(lambda s: "x").resume(lambda s, answer: None)

    async def impatient(need: Need, emit: Emit) -> Answer:
        raise TimeoutError("the tool took too long")

    with pytest.raises(TimeoutError, match="the tool took too long"):
        await b.build().run(timeout=60, answerers={"tool": impatient})


async def test_cancelling_leaves_a_run_at_its_need() -> None:
    """A cancelled task closes nothing: the run can be resumed, and asks for the stage again."""
    b = Builder("slow")
    started = asyncio.Event()
    rested: list[Cursor] = []

    @b.stage
    async def slow(s: Any) -> None:
        s.half = True
        started.set()
        await s.env.wait()
        s.whole = True

    async def forever() -> None:
        await asyncio.Event().wait()

    async def at_once() -> None:
        pass

    built = b.build()
    commits: list[Commit] = []
    task = asyncio.create_task(built.run(env={"wait": forever}, record=commits.append))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [(c.node, c.phase) for c in commits] == [("slow", "asked")]
    assert rested == []


async def test_other_needs_are_answered_by_the_host() -> None:
    """Kinds that the host answers do not pause the run; signals reach its listener."""
    b = Builder("tools")
    look = b.pausable(id="look", asks="tool")(lambda s: {"city": s.args.city})

    @look.resume
    def _(s: Any, answer: Any) -> None:
        s.weather = answer["sky"]

    @b.stage
    async def tell(s: Any) -> str:
        s.emit("token", "It is ")
        return f"It is {s.weather}."

    async def tool(need: Need, emit: Emit) -> Answer:
        emit("progress", need.args["city"])
        return Answer({"sky": "blue"})

    heard: list[Signal] = []
    result = await b.build().run({"city": "Rome"}, answerers={"tool": tool}, listener=heard.append)
    assert result.value == "It is blue."
    assert [(s.kind, s.data, s.need.kind if s.need else "") for s in heard] == [
        ("progress", "Rome", "tool"),
        ("token", "It is ", "task"),
    ]


async def test_a_stream_gives_commits_signals_and_the_result() -> None:
    """What happens comes as it happens, in order, and the result last."""
    b = Builder("stream")

    @b.stage
    def first(s: Any) -> None:
        s.emit("token", "a")

    @b.stage
    async def second(s: Any) -> str:
        s.emit("token", "b")
        return "done"

    seen: list[str] = []
    async for item in b.build().stream():
        seen.append(type(item).__name__ + (f" {item.phase}" if isinstance(item, Commit) else ""))
    assert seen == [
        "Signal",
        "Commit enter",
        "Commit asked",
        "Signal",
        "Commit answered",
        "Commit closed",
        "Result",
    ]


async def test_a_stream_that_is_left_early_stops_the_run() -> None:
    """Leaving the loop cancels what still runs."""
    stopped = asyncio.Event()
    b = Builder("stream")
    b.stage(id="first")(lambda s: None)

    @b.stage
    async def endless(s: Any) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    stream = b.build().stream()
    async for item in stream:
        if isinstance(item, Commit) and item.node == "endless":
            await asyncio.sleep(0)
            break
    await stream.aclose()  # type: ignore[attr-defined]
    assert stopped.is_set()


async def test_a_stream_ends_with_the_error_of_its_run() -> None:
    """A failing run raises from the loop, after all its commits."""
    b = Builder("stream")
    b.stage(id="bad")(lambda s: 1 / 0)
    seen: list[Any] = []
    with pytest.raises(StepFailed, match="division by zero"):
        async for item in b.build().stream():
            seen.append(item)
    assert [commit.phase for commit in seen] == ["enter", "closed"]


async def test_values_must_be_such_as_a_conversation_holds() -> None:
    """Arguments, first variables, answers and results are frozen; live objects are refused."""
    b = Builder("values")
    b.stage(id="give")(lambda s: object())
    built = b.build()
    for given in ({"args": {"x": object()}}, {"state": {"x": object()}}):
        with pytest.raises(StateValueError, match=r"\w+\.x is a object"):
            await built.run(**given)
    with pytest.raises(StepFailed, match="give is a object, which a conversation cannot hold"):
        await built.run()
    given = {"x": [1]}
    result = await agent().run({"text": given}, env={"model": model})
    given["x"].append(2)
    assert result.state["history"][0]["text"] == {"x": [1]}


async def test_the_limit_on_steps_can_be_set() -> None:
    """A loop within its bound still stops at the run's own limit."""
    b = Builder("spin")
    b.stage(id="a")(lambda s: None)
    b.loop_to("a", max_iter=10_000)
    with pytest.raises(TooManySteps, match="more than 50 steps"):
        await b.build().run(limits=Limits(steps=50))


async def test_a_chart_of_another_make_is_mounted_by_id() -> None:
    """Charts and language handed to the run serve a mount that names its chart."""

    def double(node: Node, scope: Scope) -> Outcome:
        return Return(scope.read((scope.frame.scope, "n")) * 2)

    b = Builder("main")
    b.mount("other", inputs={"n": "args.n"}, into="doubled")
    result = await b.build().run(
        {"n": 4},
        charts=[Chart.of("other", [Node("double", "double")])],
        language=Language({"double": Step(double)}),
    )
    assert result.state == {"doubled": 8}


async def test_another_built_chart_is_mounted_by_id() -> None:
    """Charts that were built apart run together; two that are not the same are refused."""

    def made(factor: int) -> Built:
        other = Builder("other")
        other.stage(id="times")(lambda s: s.args.n * factor)
        return other.build()

    b = Builder("main")
    b.mount("other", inputs={"n": "args.n"}, into="result")
    assert (await b.build().run({"n": 4}, beside=[made(3)])).state == {"result": 12}
    with pytest.raises(ChartError, match="two charts bring different functions for other/times"):
        await b.build().run({"n": 4}, beside=[made(3), made(4)])


async def test_a_stage_without_its_function_is_named() -> None:
    """A chart from JSON runs with the functions of a program; without them it says so."""
    b = Builder("lost")
    b.stage(id="a")(lambda s: None)
    built = b.build()
    lost = Built(Chart.from_json(built.chart.to_json()), built.charts, {})
    with pytest.raises(StepFailed, match="no function was handed over for stage a") as caught:
        await lost.run()
    assert isinstance(caught.value.error, ChartError)


async def test_a_fork_is_answered_by_branch() -> None:
    """A paused fork names its branches; a plain answer is refused."""
    b = Builder("wide")
    fork = b.fork("fork")
    for name in ("one", "two"):

        @fork.branch(name).stage(id=name)
        def _(s: Any) -> None:
            s[s._sight.scope.node.id] = interrupt(s, "Well?")

    built = b.build()
    paused = await built.run()
    assert paused.need is not None
    assert [item.name for _, item in paused.need.items] == ["one", "two"]
    with pytest.raises(CallerError, match="several branches wait"):
        await built.resume(paused.checkpoint(), "yes")
    paused = await built.resume(paused.checkpoint(), BranchAnswer(1, Answer("second")))
    done = await built.resume(paused.checkpoint(), BranchAnswer(0, Answer("first")))
    assert done.state == {"one": "first", "two": "second"}


async def test_a_run_may_be_a_turn_of_a_conversation() -> None:
    """Its commits bear the number of the turn, those after a pause as well."""
    b = Builder("turns")
    ask = b.pausable(id="ask")(lambda s: "Who?")

    @ask.resume
    def _(s: Any, answer: Any) -> None:
        s.who = answer

    built = b.build()
    rested = await built.run(turn=3)
    done = await built.resume(rested.checkpoint(), "Ann")
    assert {commit.turn for commit in (*rested.commits, *done.commits)} == {3}
    assert {commit.turn for commit in (await built.run()).commits} == {0}


async def test_a_failed_mount_may_be_taken_for_a_result() -> None:
    """`catch` is given what was raised; where it gives true the run goes on with its writes."""
    inner = Builder("inner")

    @inner.stage
    def boom(s: Any) -> None:
        raise KeyError("gone")

    def catch(s: Any, error: Exception) -> bool:
        s.failed = type(error).__name__
        return s.args.forgive

    outer = Builder("outer")
    outer.mount(inner, id="run", catch=catch)
    outer.stage(id="after")(lambda s: s.failed)
    built = outer.build()
    result = await built.run({"forgive": True})
    assert result.value == "KeyError"
    assert [one.facts.get("caught") for one in result.commits if one.node == "run"][-1] == {
        "error": "'gone'",
        "name": "KeyError",
    }
    with pytest.raises(StepFailed) as raised:
        await built.run({"forgive": False})
    assert isinstance(cause_of(raised.value), KeyError)
    assert "failed" not in raised.value.result.state
