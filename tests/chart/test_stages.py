"""Promise: each kind of stage does what its builder method says, on the one machine."""

from __future__ import annotations

import asyncio
from typing import Any, TypedDict

import pytest

from saywhy.chart.build import Builder
from saywhy.chart.built import Built, Result
from saywhy.chart.commit import Commit
from saywhy.chart.decide import select, when
from saywhy.chart.failure import ForkFailed, StepFailed
from saywhy.chart.merge import Merge
from saywhy.chart.outcome import Answer, BranchAnswer
from saywhy.chart.plan import LoopLimit
from saywhy.chart.view import interrupt
from saywhy.errors import CallerError, ChartError, MergeConflict
from saywhy.testing.clock import FakeClock
from saywhy.values import UNDEFINED


def run(builder: Builder | Built, /, *, state: Any = None, **args: Any) -> Result:
    built = builder.build() if isinstance(builder, Builder) else builder
    return asyncio.run(built.run(args, state=state, clock=FakeClock()))


def failure(builder: Builder, /, **args: Any) -> Any:
    with pytest.raises(StepFailed) as caught:
        run(builder, **args)
    return caught.value.error


def steps(result: Result) -> list[Commit]:
    return [commit for commit in result.commits if commit.phase != "closed"]


def put(name: str, value: Any) -> Any:
    def stage(s: Any) -> None:
        s[name] = value

    return stage


# ------------------------------------------------------------------ plain stages


def test_what_a_stage_writes_is_net() -> None:
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


def test_tags_are_on_the_commit() -> None:
    """Tags of a stage mark each of its commits."""
    b = Builder("tags")
    b.stage(id="a", tags=["money", "slow"])(lambda s: None)
    b.stage(id="b")(lambda s: None)
    assert [commit.tags for commit in steps(run(b))] == [("money", "slow"), ()]


def test_only_the_last_stage_gives_the_value() -> None:
    """What earlier stages return is nobody's, whatever it is."""
    b = Builder("value")
    b.stage(id="a")(lambda s: object())
    b.stage(id="b")(lambda s: {"n": [1]})
    assert run(b).value == {"n": [1]}


def test_a_coroutine_that_nobody_awaits_is_named() -> None:
    """A plain function that gives something to await was meant to be async."""

    async def later(s: Any) -> None:
        pass

    b = Builder("lost")
    b.stage(id="a")(lambda state: later(s=state))
    error = failure(b)
    assert str(error) == "stage a is no async function, but gave something to await"
    assert error.hint == "write it with `async def`"


def test_a_stage_may_end_its_chart() -> None:
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
def test_a_stop_may_end_the_charts_around(everything: bool, state: dict[str, Any]) -> None:
    """A mounted chart ends alone unless it says everything."""
    inner, b = Builder("inner"), Builder("outer")
    inner.stage(id="stop")(lambda s: s.stop(everything=everything))
    b.mount(inner)
    b.stage(id="after")(put("after", 1))
    assert run(b).state == state


def test_a_strict_state_refuses_other_names() -> None:
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


def test_an_async_stage_is_one_need_and_all_or_nothing() -> None:
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


def test_async_deciders_leave_their_evidence() -> None:
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


# ------------------------------------------------------------------ retries


def flaky(failures: int, error: Exception, *, later: bool) -> Any:
    """Fails the first times, leaving a write behind each time."""

    def work(s: Any) -> None:
        s.tries = [*s.get("tries", []), s.attempt]
        if s.attempt < failures:
            raise error

    async def work_later(s: Any) -> None:
        work(s)

    return work_later if later else work


@pytest.mark.parametrize("later", [False, True])
def test_a_stage_is_tried_again_after_a_wait(later: bool) -> None:
    """Each failed attempt is asked and answered as a timer; its writes are gone."""
    b = Builder("retry")
    b.stage(id="work", retry={"attempts": 3, "backoff": [0.5, 2]})(
        flaky(2, OSError("down"), later=later)
    )
    clock = FakeClock()
    start = clock.now()
    result = asyncio.run(b.build().run(clock=clock))
    assert clock.now() - start == 2500
    assert result.state == {"tries": [2]}
    waits = [c.asked.args for c in result.commits if c.asked and c.asked.kind == "timer"]
    assert waits == [{"seconds": 0.5, "retry": 1}, {"seconds": 2, "retry": 2}]
    warnings = [warning for commit in result.commits for warning in commit.warnings]
    assert warnings == ["attempt 1 of 3 failed: down", "attempt 2 of 3 failed: down"]


@pytest.mark.parametrize("later", [False, True])
def test_after_the_last_attempt_the_stage_fails(later: bool) -> None:
    """The error of the last attempt is the failure."""
    b = Builder("retry")
    b.stage(id="work", retry={"attempts": 2})(flaky(9, OSError("down"), later=later))
    assert isinstance(failure(b), OSError)


def test_retries_are_for_what_may_pass() -> None:
    """Errors that are not named, and mistakes in the program, are not tried again."""
    for error, keys in (
        (ValueError("no"), {"on": (OSError,)}),
        (ChartError("mistake"), {}),
        (KeyError("no"), {"on": OSError}),
    ):
        b = Builder("retry")
        b.stage(id="work", retry={"attempts": 5, **keys})(flaky(1, error, later=False))
        assert failure(b) is error


def test_the_wait_may_be_a_function_of_the_attempt() -> None:
    """`backoff` is called with the number of the failed attempt, from 1."""
    b = Builder("retry")
    b.stage(id="work", retry={"attempts": 4, "backoff": lambda n: 10.0**n})(
        flaky(3, OSError("down"), later=False)
    )
    result = run(b)
    waits = [c.asked.args["seconds"] for c in result.commits if c.asked]
    assert waits == [10, 100, 1000]


def test_a_mounted_chart_is_tried_again_as_a_whole() -> None:
    """A retry on a mount runs the chart anew on a fresh state."""
    tries: list[int] = []
    inner = Builder("inner")
    inner.stage(id="count")(lambda s: s.__setattr__("n", s.get("n", 0) + 1))

    @inner.stage
    def fail(s: Any) -> Any:
        tries.append(s.n)
        if len(tries) < 3:
            raise OSError("down")
        return s.n

    b = Builder("outer")
    b.mount(inner, into="n", retry={"attempts": 3})
    assert run(b).state == {"n": 1}
    assert tries == [1, 1, 1]


# ------------------------------------------------------------------ deciding


@pytest.mark.parametrize(
    ("given", "text", "hint"),
    [
        ("lft", 'decider d chose "lft", which is no branch of it', 'did you mean "left"?'),
        ("zz", 'decider d chose "zz", which is no branch of it', "branches: left, right"),
        (7, "decider d gave 7", "return the name of a branch, or what decide() gives"),
        (None, "decider d gave None", "return the name of a branch, or what decide() gives"),
    ],
)
def test_a_decider_must_name_a_branch(given: Any, text: str, hint: str) -> None:
    """Anything else fails the stage: there is no silent way to a default."""
    b = Builder("d")
    d = b.decider(id="d")(lambda s: given)
    d.branch("left")
    d.branch("right")
    error = failure(b)
    assert (str(error), error.hint) == (text, hint)


def test_rules_as_data_decide() -> None:
    """With rules there is no function to write; the evidence is the same."""
    b = Builder("rules")
    d = b.decider(
        id="d", rules=[when({"args.n": {"gt": 5}}).then("big", label="big!")], default="small"
    )
    d.branch("big", put("size", "big"))
    d.branch("small", put("size", "small"))
    assert run(b, n=9).state == {"size": "big"}
    result = run(b, n=1)
    assert result.state == {"size": "small"}
    decision = result.commits[0].decision
    assert decision is not None
    assert decision.default
    assert decision.conditions[0].read == ((("args", "n"), 1),)


# ------------------------------------------------------------------ loops


def looping(most: int, on_limit: str = "") -> Builder:
    b = Builder("loop")
    b.stage(id="work")(lambda s: s.__setattr__("n", s.get("n", 0) + 1))
    d = b.decider(id="more")(lambda s: "done" if s.n >= s.args.wanted else "again")
    d.branch("again", loop_to="work", max_iter=most, on_limit=on_limit)
    d.branch("done")
    b.stage(id="after")(put("after", True))
    return b


def test_a_loop_goes_round_as_often_as_allowed() -> None:
    """max_iter counts how often the back edge is taken."""
    assert run(looping(4), wanted=5).state == {"n": 5, "after": True}


def test_a_loop_at_its_limit_names_itself_and_the_last_decision() -> None:
    """The failure says which loop, how often, and what was decided last."""
    error = failure(looping(4), wanted=6)
    assert isinstance(error, LoopLimit)
    assert str(error) == (
        'the loop from more back to work was taken 4 times; last decision: more chose "again"'
    )
    assert error.hint == "raise max_iter, or name a node to go to with on_limit"
    assert (error.loop, error.limit) == (("more", "work"), 4)


def test_a_loop_at_its_limit_may_go_elsewhere() -> None:
    """`on_limit` is where it goes on then, with a warning on the commit."""
    result = run(looping(4, "after"), wanted=6)
    assert result.state == {"n": 5, "after": True}
    warnings = [warning for commit in result.commits for warning in commit.warnings]
    assert warnings == ["the loop back to work was taken 4 times; on to after"]


def test_an_inner_loop_counts_anew_each_time_round() -> None:
    """Limits are for one stay in a loop, not for all of a run."""
    b = Builder("nested")
    b.stage(id="outer")(put("j", 0))

    @b.stage
    def inner(s: Any) -> None:
        s.j += 1
        s.total = s.get("total", 0) + 1

    again = b.decider(id="again")(lambda s: "yes" if s.j < 4 else "no")
    again.branch("yes", loop_to="inner", max_iter=3)
    again.branch("no")
    more = b.decider(id="more")(lambda s: "yes" if s.total < 20 else "no")
    more.branch("yes", loop_to="outer", max_iter=4)
    more.branch("no")
    assert run(b).state == {"j": 4, "total": 20}


def test_ten_thousand_rounds_do_not_deepen_the_stack() -> None:
    """A loop is no recursion."""
    b = looping(20_000)
    assert run(b, wanted=10_000).state["n"] == 10_000


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


def test_a_mount_has_a_state_of_its_own() -> None:
    """Inputs are arguments and, until written, variables; only outputs come back."""
    result = run(mounted(outputs={"res": "out.text", "inside": "seen", "no": "nothing"}), text="a")
    assert result.state == {"res": "aA", "inside": ["raw"]}


def test_what_crosses_a_mount_can_be_followed() -> None:
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


def test_mappings_may_be_names_or_functions() -> None:
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


def test_outputs_replace_unless_told_otherwise() -> None:
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


def test_a_returned_value_may_be_taken() -> None:
    """`into` takes what the mounted chart returns."""
    assert run(mounted(into="value"), text="a").state == {"value": "returned"}


def test_a_failure_inside_a_mount_has_the_path() -> None:
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


def test_inputs_that_are_no_mapping() -> None:
    """A function for the inputs must give a mapping."""
    inner, b = Builder("inner"), Builder("outer")
    inner.stage(id="a")(lambda s: None)
    b.mount(inner, id="m", inputs=lambda s: [1])
    assert str(failure(b)) == "the inputs of m are no mapping, but [1]"


# ------------------------------------------------------------------ forks


def test_a_fork_joins_the_writes_of_its_branches() -> None:
    """Keys arrive under their own names; what two branches write needs a policy."""
    b = Builder("fork")
    fork = b.fork("f", merge={"list": Merge.APPEND})

    def one(s: Any) -> None:
        s.k1 = s.v + 1
        s.list.append("one")

    async def two(s: Any) -> None:
        s.k2 = s.v + 2
        s.list.append("two")

    fork.branch("one", one)
    fork.branch("two", two)
    result = run(b, state={"v": 1, "list": [0]})
    assert result.state == {"v": 1, "list": [0, "one", "two"], "k1": 2, "k2": 3}
    joined = next(commit for commit in result.commits if "joined" in commit.facts)
    assert [(side["branch"], side["keys"]) for side in joined.facts["joined"]] == [
        ("one", ["k1", "list"]),
        ("two", ["k2", "list"]),
    ]
    last = {side["branch"]: side["commit"] for side in joined.facts["joined"]}
    assert result.commits[last["two"] - 1].flow == "fork/f/two"


def test_two_branches_writing_one_key_conflict() -> None:
    """The fork fails with a conflict that names key and branches."""
    b = Builder("fork")
    fork = b.fork("f")
    fork.branch("one", put("k", 1))
    fork.branch("two", put("k", 2))
    error = failure(b)
    assert isinstance(error, MergeConflict)
    assert str(error) == "k was written by the branches one and two"


def test_a_policy_may_be_a_function() -> None:
    """A function decides what the writes of several come to."""
    b = Builder("fork")
    fork = b.fork("f", merge={"best": lambda old, new: max(new)})
    fork.branch("one", put("best", 3))
    fork.branch("two", put("best", 8))
    fork.branch("three", put("best", 5))
    assert run(b).state == {"best": 8}


def test_a_failing_branch_fails_the_fork() -> None:
    """The run stops with what the branch raised, and no branch's write is kept."""
    b = Builder("fork")
    fork = b.fork("f")
    fork.branch("one", put("k", 1))
    fork.branch("two", lambda s: 1 / 0)
    with pytest.raises(StepFailed) as caught:
        run(b)
    assert isinstance(caught.value.error, ForkFailed)
    assert caught.value.path == ("f", "two")
    assert caught.value.result.state == {}


def test_collected_errors_are_given_to_the_join() -> None:
    """With `errors` the others' writes are joined, and the failures listed under the key."""
    b = Builder("fork")
    fork = b.fork("f", errors="problems")
    fork.branch("one", put("k", 1))
    fork.branch("two", lambda s: 1 / 0)
    result = run(b)
    assert result.state == {
        "k": 1,
        "problems": [{"branch": "two", "error": "division by zero", "name": "ZeroDivisionError"}],
    }


def test_a_selector_runs_what_its_rules_choose() -> None:
    """All branches that match run side by side; none is fine as well."""
    b = Builder("select")

    @b.selector
    def pick(s: Any) -> Any:
        return select(
            s, [when({"args.n": {"gt": 0}}).then("a"), when({"args.n": {"gt": 5}}).then("b")]
        )

    pick.branch("a", put("a", 1))
    pick.branch("b", put("b", 1))
    b.stage(id="after")(put("after", 1))
    assert run(b, n=9).state == {"a": 1, "b": 1, "after": 1}
    result = run(b, n=3)
    assert result.state == {"a": 1, "after": 1}
    assert result.commits[0].decision is not None
    assert result.commits[0].decision.selected == ("a",)
    assert run(b, n=0).state == {"after": 1}


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (["a", "x"], 'selector pick chose "x", which is no branch of it'),
        ({"a": 1}, "selector pick gave FrozenDict({'a': 1})"),
        ([1], "selector pick gave FrozenList([1])"),
    ],
)
def test_a_selector_must_name_branches(given: Any, text: str) -> None:
    """Anything else fails the stage."""
    b = Builder("select")
    b.selector(id="pick")(lambda s: given).branch("a", put("a", 1))
    assert str(failure(b)) == text


def test_a_selector_with_rules_and_merging() -> None:
    """Rules as data, and policies, work for selectors too."""
    b = Builder("select")
    rules = [when({"args.n": 1}).then("a"), when({"args.n": 1}).then("b")]
    pick = b.selector(id="pick", rules=rules, merge={"k": Merge.REPLACE})
    pick.branch("a", put("k", "a"))
    pick.branch("b", put("k", "b"))
    assert run(b, n=1).state == {"k": "b"}


# ------------------------------------------------------------------ for each


def test_for_each_gives_results_in_the_order_of_the_items() -> None:
    """A branch sees its item and number; what it returns is put into the list."""
    b = Builder("each")

    async def look(s: Any) -> str:
        await asyncio.sleep(0.001 * (3 - s.index))
        return f"{s.item.name}{s.index}"

    b.for_each(lambda s: s.args.items, look, id="look", max_branches=5, into="found")
    b.stage(id="after")(lambda s: s.keys())
    result = asyncio.run(b.build().run({"items": [{"name": "a"}, {"name": "b"}, {"name": "c"}]}))
    assert result.state == {"found": ["a0", "b1", "c2"]}
    assert result.value == ["found"]


def test_more_items_than_allowed_are_dropped_and_said() -> None:
    """The first ones are run; how many were not is on the commit."""
    b = Builder("each")
    b.for_each(lambda s: range(5), lambda s: s.item * 2, id="x", max_branches=3, into="found")
    assert str(failure(b)) == "x is a range, which a conversation cannot hold"
    b = Builder("each")
    b.for_each(lambda s: [*range(5)], lambda s: s.item * 2, id="x", max_branches=3, into="found")
    result = run(b)
    assert result.state == {"found": [0, 2, 4]}
    assert result.commits[0].facts == {"dropped": 2}
    assert result.commits[0].warnings == ("5 items, more than 3: the last 2 dropped",)


def test_a_failed_item_leaves_a_gap_when_errors_are_collected() -> None:
    """Its place in the list is undefined; its error is in the other list."""
    b = Builder("each")
    b.for_each(
        lambda s: [1, 0, 2],
        lambda s: 10 // s.item,
        id="x",
        max_branches=3,
        into="found",
        errors="problems",
    )
    result = run(b)
    assert list(result.state["found"]) == [10, UNDEFINED, 5]
    assert [problem["branch"] for problem in result.state["problems"]] == ["x~1"]


def test_branches_of_for_each_may_have_several_stages() -> None:
    """The branch is a line of stages like others; other writes are joined as in a fork."""
    b = Builder("each")
    line = b.for_each(
        lambda s: [1, 2], id="x", max_branches=2, into="r", merge={"log": Merge.APPEND}
    )
    line.stage(id="one")(lambda s: s.__setattr__("twice", s.item * 2))
    line.stage(id="two")(lambda s: s.log.append(s.twice) or s.twice)
    error = failure(b)
    assert isinstance(error, StepFailed | ForkFailed | MergeConflict)
    b = Builder("each")
    line = b.for_each(
        lambda s: [1, 2],
        id="x",
        max_branches=2,
        into="r",
        merge={"log": Merge.APPEND, "twice": Merge.REPLACE},
    )
    line.stage(id="one")(lambda s: s.__setattr__("twice", s.item * 2))
    line.stage(id="two")(lambda s: s.log.append(s.twice) or s.twice)
    assert run(b, state={"log": []}).state == {"log": [2, 4], "twice": 4, "r": [2, 4]}


def test_no_items_and_what_is_no_list() -> None:
    """Nothing gives an empty list; something else is named."""
    b = Builder("each")
    b.for_each(lambda s: s.args.items, lambda s: 1, id="x", max_branches=3, into="found")
    assert run(b, items=[]).state == {"found": []}
    assert str(failure(b, items={"a": 1})) == "the items of x are no list, but FrozenDict({'a': 1})"


# ------------------------------------------------------------------ pausing


def test_a_pausable_that_asks_nothing_goes_on() -> None:
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
    b.stage(id="a", retry={"attempts": 3})(flaky(1, OSError("x"), later=False))

    @b.stage
    def second(s: Any) -> Any:
        s.attempts = s.attempt
        return interrupt(s, "?")

    built = b.build()

    async def talk() -> Result:
        paused = await built.run(clock=FakeClock())
        return await built.resume(paused.checkpoint(), "fine")

    result = asyncio.run(talk())
    assert result.state == {"tries": [1], "attempts": 0}
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


def test_a_view_kept_past_its_stage_raises() -> None:
    """A later stage that uses an earlier one's view is told to read again."""
    kept: list[Any] = []
    b = Builder("stale")
    b.stage(id="first")(lambda s: kept.append(s.list))
    b.stage(id="second")(lambda s: kept[0].append(2))
    error = failure_of_state(b)
    assert isinstance(error, CallerError)
    assert str(error) == "a view of the state was used after its stage first was over"


def failure_of_state(builder: Builder) -> Any:
    with pytest.raises(StepFailed) as caught:
        run(builder, state={"list": [1]})
    return caught.value.error
