"""Promise: stages, mounts and questions do what their builder methods say, on the one machine."""

from __future__ import annotations

import asyncio
from typing import Any, TypedDict

import pytest

from saywhy.chart.build import Builder
from saywhy.chart.built import Result
from saywhy.chart.commit import Commit
from saywhy.chart.decide import select
from saywhy.chart.failure import StepFailed
from saywhy.chart.merge import Merge
from saywhy.chart.outcome import Answer, BranchAnswer
from saywhy.chart.view import interrupt
from saywhy.errors import CallerError
from saywhy.testing.clock import FakeClock


def steps(result: Result) -> list[Commit]:
    return [commit for commit in result.commits if commit.phase != "closed"]


def put(name: str, value: Any) -> Any:
    def stage(s: Any) -> None:
        s[name] = value

    return stage


# ------------------------------------------------------------------ plain stages


def test_what_a_stage_writes_is_net(run: Any) -> None:
    """A commit has what differs in the end; setting what is there is no write."""
    b = Builder("net")

    @b.stage
    def work(s: Any) -> None:
        s.n = 1
        s.n += 1
        s.same = "x"

    result = run(b, state={"same": "x"})
    assert [(op.key, op.value) for op in result.commits[0].ops] == [(("state", "n"), 2)]
    assert result.commits[0].reads == (("state", "n"),)


def test_tags_are_on_the_commit(run: Any) -> None:
    """Tags of a stage mark each of its commits."""
    b = Builder("tags")
    b.stage(id="a", tags=["money", "slow"])(lambda s: None)
    b.stage(id="b")(lambda s: None)
    assert [commit.tags for commit in steps(run(b))] == [("money", "slow"), ()]


def test_only_the_last_stage_gives_the_value(run: Any) -> None:
    """What earlier stages return is nobody's, whatever it is."""
    b = Builder("value")
    b.stage(id="a")(lambda s: object())
    b.stage(id="b")(lambda s: {"n": [1]})
    assert run(b).value == {"n": [1]}


def test_a_coroutine_that_nobody_awaits_is_named(failure: Any) -> None:
    """A plain function that gives something to await was meant to be async."""

    async def later(s: Any) -> None:
        pass

    b = Builder("lost")
    b.stage(id="a")(lambda state: later(s=state))
    error = failure(b)
    assert str(error) == "stage a is no async function, but gave something to await"
    assert error.hint == "write it with `async def`"


def test_a_stage_may_end_its_chart(run: Any) -> None:
    """`stop` ends the chart after the stage, with its reason; its writes count."""
    b = Builder("stop")

    @b.stage
    def work(s: Any) -> str:
        s.done = True
        s.stop("nothing to do")
        return "early"

    b.stage(id="never")(put("x", 1))
    result = run(b)
    assert (result.value, result.state) == ("early", {"done": True})
    assert result.commits[-1].facts == {"how": "stopped", "reason": "nothing to do"}


@pytest.mark.parametrize(("everything", "state"), [(True, {}), (False, {"after": 1})])
def test_a_stop_may_end_the_charts_around(
    run: Any, everything: bool, state: dict[str, Any]
) -> None:
    """A mounted chart ends alone unless it says everything."""
    inner, b = Builder("inner"), Builder("outer")
    inner.stage(id="stop")(lambda s: s.stop(everything=everything))
    b.mount(inner)
    b.stage(id="after")(put("after", 1))
    assert run(b).state == state


def test_a_strict_state_refuses_other_names(failure: Any) -> None:
    """With `strict`, a misspelt variable fails its stage."""

    class Turn(TypedDict, total=False):
        amount: int

    b = Builder("strict", state=Turn, strict=True)
    b.stage(id="a")(put("amuont", 1))
    error = failure(b)
    assert (str(error), error.hint) == (
        'the state of this chart has no "amuont"',
        'did you mean "amount"?',
    )


# ------------------------------------------------------------------ async stages


def test_an_async_stage_is_one_need_and_all_or_nothing(run: Any) -> None:
    """Its reads and writes arrive together, in the commit that answers its need."""
    b = Builder("later")

    @b.stage
    async def work(s: Any) -> None:
        s.list.append(s.args.x)
        await asyncio.sleep(0)
        s.n = len(s.list)

    asked, answered = steps(run(b, state={"list": [1]}, x=2))
    assert asked.asked is not None
    assert answered.answered is not None
    assert (asked.asked.kind, asked.asked.name, asked.asked.effect) == (
        "task",
        "work",
        "repeatable",
    )
    assert (asked.reads, asked.ops) == ((), ())
    assert answered.reads == (("args", "x"), ("state", "list"))
    assert [(op.verb, op.key, op.value) for op in answered.ops] == [
        ("append", ("state", "list"), 2),
        ("set", ("state", "n"), 2),
    ]
    assert answered.answered.value is None


def test_async_deciders_leave_their_evidence(run: Any) -> None:
    """A decision made while awaiting is on the commit like any other."""
    b = Builder("decide")

    @b.decider
    async def route(s: Any) -> Any:
        await asyncio.sleep(0)
        return select(s, []) if s.args.odd else "x"

    route.branch("x", put("x", 1))
    result = run(b, odd=False)
    assert result.state == {"x": 1}
    assert [commit.decision.chosen for commit in result.commits if commit.decision] == ["x"]
    assert "decider route gave" not in str(result.commits)


def test_an_async_stage_may_ask() -> None:
    """Its questions pause the run; what it computed once is not computed again."""
    b = Builder("ask")
    calls: list[int] = []

    @b.stage
    async def work(s: Any) -> Any:
        s.n = s.get("n", 0) + 1

        async def costly() -> int:
            calls.append(1)
            return 7

        s.seven = await s.once("costly", costly)
        s.name = interrupt(s, "Who?")
        s.more = interrupt(s, "More?")
        return s.name

    built = b.build()

    async def talk() -> Result:
        result = await built.run()
        for answer in ("Ada", "no"):
            assert result.state == {}
            result = await built.resume(result.checkpoint(), answer)
        return result

    result = asyncio.run(talk())
    assert result.state == {"n": 1, "seven": 7, "name": "Ada", "more": "no"}
    assert (result.value, calls) == ("Ada", [1])


# ------------------------------------------------------------------ mounts


def mounted(**options: Any) -> Builder:
    inner = Builder("inner")

    @inner.stage
    def work(s: Any) -> str:
        s.seen = s.keys()
        s.raw = s.raw.upper()
        s.out = {"text": f"{s.args.raw}{s.raw}"}
        return "returned"

    b = Builder("outer")
    b.mount(inner, id="m", inputs={"raw": "args.text"}, **options)
    return b


def test_a_mount_has_a_state_of_its_own(run: Any) -> None:
    """Inputs are arguments and, until written, variables; only outputs come back."""
    result = run(mounted(outputs={"res": "out.text", "inside": "seen", "no": "nothing"}), text="a")
    assert result.state == {"res": "aA", "inside": ["raw"]}


def test_what_crosses_a_mount_can_be_followed(run: Any) -> None:
    """In and out are copies in the log: each read has its writer, across both borders."""
    result = run(mounted(outputs={"res": "out.text"}), text="a")
    enter, inside, leave = steps(result)
    args = enter.ops[0].key[0]
    assert enter.reads == (("args", "text"),)
    assert [op.key for op in enter.ops] == [(args, "raw")]
    assert inside.reads[0] == (args, "raw")
    inner = inside.ops[-1].key[0]
    assert leave.reads == ((inner, "out", "text"),)
    assert [op.key for op in leave.ops] == [("state", "res")]
    assert list(result.cursor.state.scopes) == ["args", "state"]


def test_mappings_may_be_names_or_functions(run: Any) -> None:
    """Names mean themselves; functions see the state and give a mapping, and are noted."""
    inner = Builder("inner")
    inner.stage(id="add")(lambda s: s.__setattr__("sum", s.a + s.b))
    b = Builder("outer")
    b.mount(inner, id="one", inputs=["a", "b"], outputs=["sum"])
    b.mount(
        inner,
        id="two",
        inputs=lambda s: {"a": s.sum, "b": 100},
        outputs=lambda inside: {"total": inside.sum + inside.args.b},
    )
    result = run(b, state={"a": 1, "b": 2})
    assert result.state == {"a": 1, "b": 2, "sum": 3, "total": 203}
    entered = next(commit for commit in steps(result) if commit.node == "two")
    assert entered.reads == (("state", "sum"),)


def test_outputs_replace_unless_told_otherwise(run: Any) -> None:
    """A mount entered again replaces its result; a policy may add to it."""
    for merge, expected in (({}, ["x"]), ({"list": Merge.APPEND}, ["x", "x", "x"])):
        inner, b = Builder("inner"), Builder("outer")
        inner.stage(id="give")(put("list", ["x"]))
        b.stage(id="start")(lambda s: None)
        b.mount(inner, outputs=["list"], merge=merge)
        count = b.decider(id="count")(
            lambda s: "again" if len(s.list) < 3 and s.get("n", 0) < 2 else "no"
        )
        count.branch("again", lambda s: s.__setattr__("n", s.get("n", 0) + 1), loop_to="start")
        count.branch("no")
        assert run(b).state["list"] == expected


def test_a_returned_value_may_be_taken(run: Any) -> None:
    """`into` takes what the mounted chart returns."""
    assert run(mounted(into="value"), text="a").state == {"value": "returned"}


def test_a_failure_inside_a_mount_has_the_path(run: Any) -> None:
    """The mount has failed, with what was raised as the cause behind the cause."""
    inner, b = Builder("inner"), Builder("outer")
    inner.stage(id="bad")(lambda s: 1 / 0)
    b.mount(inner, id="m")
    with pytest.raises(StepFailed, match="division by zero") as caught:
        run(b)
    assert caught.value.path == ("m", "bad")
    cause = caught.value.__cause__
    assert isinstance(cause, StepFailed)
    assert isinstance(cause.__cause__, ZeroDivisionError)


def test_inputs_that_are_no_mapping(failure: Any) -> None:
    """A function for the inputs must give a mapping."""
    inner, b = Builder("inner"), Builder("outer")
    inner.stage(id="a")(lambda s: None)
    b.mount(inner, id="m", inputs=lambda s: [1])
    assert str(failure(b)) == "the inputs of m are no mapping, but [1]"


# ------------------------------------------------------------------ pausing


def test_a_pausable_that_asks_nothing_goes_on(run: Any) -> None:
    """None from the first half is no question."""
    b = Builder("pause")
    ask = b.pausable(id="ask")(lambda s: None if s.args.known else "Who?")
    ask.resume(lambda s, answer: s.__setattr__("name", answer))
    b.stage(id="after")(put("after", 1))
    assert run(b, known=True).state == {"after": 1}


def test_both_halves_may_be_async_and_interrupted() -> None:
    """Questions of one half are not taken for those of the other."""
    b = Builder("pause")

    @b.pausable
    async def ask(s: Any) -> Any:
        s.first = interrupt(s, "first?")
        return {"q": s.first}

    @ask.resume
    async def _(s: Any, answer: Any) -> Any:
        s.second = interrupt(s, "second?")
        s.answer = answer
        return answer

    built = b.build()

    async def talk() -> list[Any]:
        result = await built.run()
        seen = [result.need and result.need.args]
        for answer in ("1st", "main", "2nd"):
            result = await built.resume(result.checkpoint(), answer)
            seen.append(result.need.args if result.need else result.state)
        return [*seen, result.value]

    assert asyncio.run(talk()) == [
        "first?",
        {"q": "1st"},
        "second?",
        {"first": "1st", "second": "2nd", "answer": "main"},
        "main",
    ]


def test_a_second_half_that_fails_is_tried_again_with_its_answer() -> None:
    """A retry of the second half does not ask again."""
    b = Builder("pause")
    ask = b.pausable(id="ask", retry={"attempts": 3})(lambda s: "Who?")

    @ask.resume
    def _(s: Any, answer: Any) -> None:
        if s.attempt < 2:
            raise OSError("down")
        s.name = answer

    built = b.build()

    async def talk() -> Result:
        paused = await built.run()
        return await built.resume(paused.checkpoint(), "Ada", clock=FakeClock())

    assert asyncio.run(talk()).state == {"name": "Ada"}


def test_what_a_stage_kept_for_itself_is_gone_afterwards() -> None:
    """Attempts and answers are bookkeeping of one stage; the next one starts with none."""
    b = Builder("clean")

    @b.stage(retry={"attempts": 3})
    def first(s: Any) -> None:
        if s.attempt < 1:
            raise OSError("x")
        s.tries = s.attempt

    @b.stage
    def second(s: Any) -> Any:
        s.attempts = s.attempt
        return interrupt(s, "?")

    built = b.build()

    async def talk() -> Result:
        paused = await built.run(clock=FakeClock())
        return await built.resume(paused.checkpoint(), "fine")

    result = asyncio.run(talk())
    assert result.state == {"tries": 1, "attempts": 0}
    assert result.value == "fine"


def test_a_fork_inside_a_mount_inside_a_fork_pauses_and_resumes() -> None:
    """All kinds nest, through JSON at each pause."""
    inner = Builder("inner")
    deep = inner.fork("deep")
    deep.branch("x", lambda s: s.__setattr__("x", interrupt(s, "x?")))
    deep.branch("y", lambda s: s.__setattr__("y", interrupt(s, "y?") + s.args.base))
    b = Builder("outer")
    wide = b.fork("wide")
    wide.branch("left").mount(inner, id="m", inputs={"base": "args.base"}, outputs=["x", "y"])
    wide.branch("right", lambda s: s.__setattr__("z", interrupt(s, "z?")))
    built = b.build()

    async def talk() -> Result:
        result = await built.run({"base": "!"})
        for branch, within, answer in ((1, (), "Z"), (0, (1,), "Y"), (0, (0,), "X")):
            given = BranchAnswer(branch, Answer(answer), within)
            result = await built.resume(result.checkpoint(), given)
        return result

    result = asyncio.run(talk())
    assert result.state == {"x": "X", "y": "Y!", "z": "Z"}
    assert list(result.cursor.state.scopes) == ["args", "state"]
    assert result.cursor.state.bases == {}


def test_a_view_kept_past_its_stage_raises(failure: Any) -> None:
    """A later stage that uses an earlier one's view is told to read again."""
    kept: list[Any] = []
    b = Builder("stale")
    b.stage(id="first")(lambda s: kept.append(s.list))
    b.stage(id="second")(lambda s: kept[0].append(2))
    error = failure(b, state={"list": [1]})
    assert isinstance(error, CallerError)
    assert str(error) == "a view of the state was used after its stage first was over"


def test_what_a_fresh_stage_writes_is_not_compared(run: Any) -> None:
    """A write of the value that was there is one all the same, where the author wants it so."""
    b = Builder("fresh")
    for name, fresh in (("first", False), ("same", False), ("again", True)):
        b.stage(id=name, fresh=fresh)(put("value", [1]))
    writes = [len(commit.ops) for commit in run(b).commits if commit.phase == "enter"]
    assert writes == [1, 0, 1]
