"""Promise: loops and retries are bounded, and say so when the bound is reached."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saywhy.chart.build import Builder
from saywhy.chart.plan import LoopLimit
from saywhy.errors import ChartError
from saywhy.testing.clock import FakeClock


def put(name: str, value: Any) -> Any:
    def stage(s: Any) -> None:
        s[name] = value

    return stage


# ------------------------------------------------------------------ loops


def looping(most: int, on_limit: str = "") -> Builder:
    b = Builder("loop")
    b.stage(id="work")(lambda s: s.__setattr__("n", s.get("n", 0) + 1))
    d = b.decider(id="more")(lambda s: "done" if s.n >= s.args.wanted else "again")
    d.branch("again", loop_to="work", max_iter=most, on_limit=on_limit)
    d.branch("done")
    b.stage(id="after")(put("after", True))
    return b


def test_a_loop_goes_round_as_often_as_allowed(run: Any) -> None:
    """max_iter counts how often the back edge is taken."""
    assert run(looping(4), wanted=5).state == {"n": 5, "after": True}


def test_a_loop_at_its_limit_names_itself_and_the_last_decision(failure: Any) -> None:
    """The failure says which loop, how often, and what was decided last."""
    error = failure(looping(4), wanted=6)
    assert isinstance(error, LoopLimit)
    assert str(error) == (
        'the loop from more back to work was taken 4 times; last decision: more chose "again"'
    )
    assert error.hint == "raise max_iter, or name a node to go to with on_limit"
    assert (error.loop, error.limit) == (("more", "work"), 4)


def test_a_loop_at_its_limit_may_go_elsewhere(run: Any) -> None:
    """`on_limit` is where it goes on then, with a warning on the commit."""
    result = run(looping(4, "after"), wanted=6)
    assert result.state == {"n": 5, "after": True}
    warnings = [warning for commit in result.commits for warning in commit.warnings]
    assert warnings == ["the loop back to work was taken 4 times; on to after"]


def test_an_inner_loop_counts_anew_each_time_round(run: Any) -> None:
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


def test_ten_thousand_rounds_do_not_deepen_the_stack(run: Any) -> None:
    """A loop is no recursion."""
    b = looping(20_000)
    assert run(b, wanted=10_000).state["n"] == 10_000


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
    assert waits == [{"ms": 500, "retry": 1}, {"ms": 2000, "retry": 2}]
    warnings = [warning for commit in result.commits for warning in commit.warnings]
    assert warnings == ["attempt 1 of 3 failed: down", "attempt 2 of 3 failed: down"]


@pytest.mark.parametrize("later", [False, True])
def test_after_the_last_attempt_the_stage_fails(failure: Any, later: bool) -> None:
    """The error of the last attempt is the failure."""
    b = Builder("retry")
    b.stage(id="work", retry={"attempts": 2})(flaky(9, OSError("down"), later=later))
    assert isinstance(failure(b), OSError)


def test_retries_are_for_what_may_pass(failure: Any) -> None:
    """Errors that are not named, and mistakes in the program, are not tried again."""
    for error, keys in (
        (ValueError("no"), {"on": (OSError,)}),
        (ChartError("mistake"), {}),
        (KeyError("no"), {"on": OSError}),
    ):
        b = Builder("retry")
        b.stage(id="work", retry={"attempts": 5, **keys})(flaky(1, error, later=False))
        assert failure(b) is error


def test_the_wait_may_be_a_function_of_the_attempt(run: Any) -> None:
    """`backoff` is called with the number of the failed attempt, from 1."""
    b = Builder("retry")
    b.stage(id="work", retry={"attempts": 4, "backoff": lambda n: 10.0**n})(
        flaky(3, OSError("down"), later=False)
    )
    result = run(b)
    waits = [c.asked.args["ms"] for c in result.commits if c.asked]
    assert waits == [10_000, 100_000, 1_000_000]


def test_a_mounted_chart_is_tried_again_as_a_whole(run: Any) -> None:
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
