"""Promise: branches run side by side, are answered each for itself, and are joined in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from saywhy.chart.cursor import Cursor
from saywhy.chart.failure import ForkFailed, StepFailed
from saywhy.chart.fork import rest_of
from saywhy.chart.machine import Limits
from saywhy.chart.outcome import Answer, Branch, BranchAnswer, Fork, Goto, Need, Return
from saywhy.chart.scope import Scope
from saywhy.errors import CallerError, DamagedSession, TooManySteps


def forking(*charts: str, collect: bool = False) -> Callable[..., Any]:
    """Forks into these charts and keeps the joined results."""

    def fork(s: Scope, answer: Answer | None = None) -> Any:
        if answer is not None:
            s.set((s.frame.scope, "results"), answer.value)
            s.facts["failed"] = answer.facts.get("failed", {})
            return None if s.node.next else Return(answer.value)
        branches = [Branch(name, name, s.open(over=s.frame.scope)) for name in charts]
        return Fork(tuple(branches), collect)

    return fork


def asking(s: Scope, answer: Answer | None = None) -> Any:
    """Asks the user and returns the answer in capitals."""
    if answer is None:
        return Need("user", s.chart.name)
    s.set((s.frame.scope, s.chart.name), answer.value)
    return Return(str(answer.value).upper())


def failing(s: Scope) -> Any:
    s.set((s.frame.scope, "half"), True)
    raise ValueError("broken")


def items(need: Need | None) -> list[tuple[int, str]]:
    assert need is not None
    return [(number, item.name) for number, item in need.items]


def test_open_items_come_out_together_and_results_in_order(play: Any) -> None:
    """One need holds what every branch waits for; answered backwards, joined as declared."""
    play.chart("one", ask=asking)
    play.chart("two", give=lambda s: Return("at once"))
    play.chart("three", ask=asking)
    play.chart("main", fork=forking("one", "two", "three"))
    need = play.start("main")
    assert need.kind == "fork"
    assert items(need) == [(0, "one"), (2, "three")]
    assert items(play.go(BranchAnswer(2, Answer("c")))) == [(0, "one")]
    assert play.go(BranchAnswer(0, Answer("a"))) is None
    assert play.variables() == {"results": ["A", "at once", "C"]}
    assert play.cursor.returned == ["A", "at once", "C"]


def test_the_join_is_one_answered_step(play: Any) -> None:
    """Opening the fork and joining it are the two commits of its node; branches lie deeper."""
    play.chart("one", give=lambda s: Return(1))
    play.chart("main", fork=forking("one", "one"))
    play.start("main")
    opened, first, second, joined = play.steps
    assert (opened.node, opened.phase, opened.to) == ("fork", "enter", "fork")
    assert (first.flow, first.depth, first.caller) == ("one", 1, opened.seq)
    assert (second.flow, second.depth, second.caller) == ("one", 1, opened.seq)
    assert (joined.node, joined.phase, joined.answered.kind) == ("fork", "answered", "fork")
    assert joined.depth == 0


def test_a_branch_sees_its_parent_and_not_its_siblings(play: Any) -> None:
    """Each branch works on what the state was before; its writes are its own until the join."""
    seen: dict[str, Any] = {}

    def look(s: Scope) -> Any:
        own = s.frame.scope
        seen[s.chart.name] = [s.read((own, "base")), s.has(own, "mine")]
        s.set((own, "mine"), s.chart.name)
        s.set((own, "base"), 0)
        return Return()

    def prepare(s: Scope) -> None:
        s.set((s.frame.scope, "base"), 7)

    play.chart("one", look=look)
    play.chart("two", look=look)
    play.chart("main", prepare=prepare, fork=forking("one", "two"))
    play.start("main")
    assert seen == {"one": [7, False], "two": [7, False]}
    assert play.variables()["base"] == 7
    looks = [commit for commit in play.steps if commit.node == "look"]
    assert [commit.reads for commit in looks] == [(("state", "base"),)] * 2


def test_scopes_of_branches_go_with_the_fork(play: Any) -> None:
    """After the join no scope and no layer of a branch is left."""
    play.chart("one", ask=asking)
    play.chart("main", fork=forking("one", "one"), end=asking)
    play.start("main")
    assert len(play.cursor.state.scopes) == 3
    play.go(BranchAnswer(0, Answer("a")))
    play.go(BranchAnswer(1, Answer("b")))
    assert list(play.cursor.state.scopes) == ["state"]
    assert play.cursor.state.bases == {}
    assert play.cursor.top.results == []


def test_forks_inside_forks(play: Any) -> None:
    """An answer finds its branch through forks within forks, through JSON each time."""
    play.chart("leaf", ask=asking)
    play.chart("inner", fork=forking("leaf", "leaf"))
    play.chart("main", fork=forking("inner", "leaf", "inner"))
    need = play.start("main")
    assert [number for number, _ in need.items] == [0, 1, 2]
    play.go(BranchAnswer(2, Answer("f"), within=(1,)))
    play.go(BranchAnswer(0, Answer("a"), within=(0,)))
    play.go(BranchAnswer(1, Answer("c")))
    play.go(BranchAnswer(0, Answer("b"), within=(1,)))
    assert play.go(BranchAnswer(2, Answer("e"), within=(0,))) is None
    assert play.variables() == {"results": [["A", "B"], "C", ["E", "F"]]}


def test_a_forked_checkpoint_holds_the_state_once(play: Any) -> None:
    """Branches share the state: a checkpoint in the midst of a fork is little larger than it."""
    text = "x" * 50_000

    def prepare(s: Scope) -> None:
        s.set((s.frame.scope, "text"), text)

    play.chart("one", ask=asking)
    play.chart("main", prepare=prepare, fork=forking(*["one"] * 10))
    play.start("main")
    assert len(play.cursor.to_json()) < 1.1 * len(text) + 2_000


def test_a_failing_branch_fails_the_fork_and_closes_its_siblings(play: Any) -> None:
    """The fork's step fails with the branch's failure; nothing any branch wrote is kept."""
    play.chart("one", ask=asking)
    play.chart("two", fail=failing)
    play.chart("three", give=lambda s: Return(3))
    play.chart("main", fork=forking("one", "two", "three"))
    with pytest.raises(StepFailed, match="branch two failed: broken") as caught:
        play.start("main")
    fork_failed = caught.value.error
    assert isinstance(fork_failed, ForkFailed)
    assert list(fork_failed.failures) == ["two"]
    assert isinstance(fork_failed.failures["two"].__cause__, ValueError)
    assert caught.value.path == ("fork", "fail")
    assert [(name, ending.how) for name, ending in play.closed] == [
        ("two", "failed"),
        ("one", "cancelled"),
        ("three", "cancelled"),
        ("main", "failed"),
    ]
    assert play.cursor.frames == []
    assert list(play.cursor.state.scopes) == ["state"]


def test_a_branch_failing_on_its_answer_fails_the_fork(play: Any) -> None:
    """A failure after a rest closes the branches that still wait."""

    def picky(s: Scope, answer: Answer | None = None) -> Any:
        if answer is None:
            return Need("user", "picky")
        raise ValueError("not that")

    play.chart("one", ask=asking)
    play.chart("two", ask=picky)
    play.chart("main", fork=forking("one", "two"))
    play.start("main")
    with pytest.raises(StepFailed, match="branch two failed: not that"):
        play.go(BranchAnswer(1, Answer("x")))
    assert play.cursor.frames == []


def test_a_step_may_take_care_of_a_failed_fork(play: Any) -> None:
    """The fork's own `failed` decides, as for any exception in a step."""
    play.chart("two", fail=failing)
    play.chart(
        "main",
        failed=lambda s, error: Goto("after"),
        fork=forking("two"),
        after=lambda s: s.set((s.frame.scope, "saved"), True),
    )
    assert play.start("main") is None
    assert play.variables() == {"saved": True}


def test_collected_errors_are_results(play: Any) -> None:
    """With collect_errors the others go on, and the join is told what failed."""
    play.chart("one", ask=asking)
    play.chart("two", fail=failing)
    play.chart("main", fork=forking("one", "two", collect=True))
    assert items(play.start("main")) == [(0, "one")]
    assert play.go(BranchAnswer(0, Answer("a"))) is None
    joined = play.steps[-1]
    assert joined.facts == {"failed": {"two": "broken"}}
    assert play.cursor.returned[0] == "A"


def test_a_branch_answer_must_fit(play: Any) -> None:
    """Answers for branches that are not there, are done, or are not named are refused."""
    play.chart("one", ask=asking)
    play.chart("main", fork=forking("one", "one"))
    play.start("main")
    with pytest.raises(CallerError, match="several branches wait: say which one is answered"):
        play.go("a")
    with pytest.raises(CallerError, match="branch 5 was answered, but the fork has 2 branches"):
        play.go(BranchAnswer(5, Answer("a")))
    play.go(BranchAnswer(0, Answer("a")))
    with pytest.raises(CallerError, match=r"branch 0 \(one\) was answered, but it is done"):
        play.go(BranchAnswer(0, Answer("a")))
    assert items(play.go()) == [(1, "one")]


def test_a_fork_of_nothing_is_joined_at_once(play: Any) -> None:
    """No branches give an empty list."""
    play.chart("main", fork=forking())
    assert play.start("main") is None
    assert play.variables() == {"results": []}


def test_a_limit_reached_inside_a_branch_closes_the_fork(play_of: Any) -> None:
    """A branch that never ends stops the whole run, and no frame is left behind."""
    play = play_of(limits=Limits(steps=60))
    play.chart("one", ask=asking)
    play.chart("spin", a=lambda s: Goto("a"))
    play.chart("main", fork=forking("one", "spin"))
    with pytest.raises(TooManySteps, match="last in spin at a"):
        play.start("main")
    assert play.cursor.frames == []
    assert list(play.cursor.state.scopes) == ["state"]


def test_forks_count_for_the_depth(play_of: Any) -> None:
    """A fork that forks into itself without end fails at the depth limit."""
    play = play_of(limits=Limits(depth=6))
    play.chart("self", fork=forking("self"))
    with pytest.raises(StepFailed, match="Maximum recursion depth reached: 6 frames"):
        play.start("self")
    assert play.cursor.frames == []


def test_too_many_branches_fail_the_fork(play_of: Any) -> None:
    """How wide a fork may be is limited."""
    play = play_of(limits=Limits(branches=3))
    play.chart("one", ask=asking)
    play.chart("main", fork=forking(*["one"] * 4))
    with pytest.raises(StepFailed, match="4 branches in one fork, more than 3"):
        play.start("main")
    assert list(play.cursor.state.scopes) == ["state"]


def test_a_fork_into_an_unknown_chart_fails(play: Any) -> None:
    """The step that named a chart nobody has failed."""
    play.chart("main", fork=forking("nobody"))
    with pytest.raises(StepFailed, match='no chart has the digest, id or name "nobody"'):
        play.start("main")


def test_damaged_branches_are_named(play: Any) -> None:
    """A stored fork whose branches and results do not fit is a damaged session."""
    play.chart("one", ask=asking)
    play.chart("main", fork=forking("one", "one"))
    play.start("main")
    play.cursor.top.results.pop()
    with pytest.raises(DamagedSession, match=r"frame 0 \(flow main\): its branches do not fit"):
        Cursor.from_json(play.cursor.to_json())


def test_what_a_stored_cursor_rests_at(play: Any) -> None:
    """It is told from the frames alone: the open items, one question, or that it just runs on."""
    play.chart("one", ask=asking)
    play.chart("two", ask=asking)
    play.chart("main", fork=forking("one", "two"))
    need = play.start("main")
    found = rest_of(Cursor.from_json(play.cursor.to_json()))
    assert found is not None
    assert (found.kind, found.args) == (need.kind, need.args)
    assert items(found) == items(need)
    need = play.go(BranchAnswer(0, Answer("a")))
    assert items(rest_of(Cursor.from_json(play.cursor.to_json()))) == items(need) == [(1, "two")]
    assert play.go(BranchAnswer(1, Answer("b"))) is None
    assert rest_of(play.cursor) is None


def test_what_a_stored_cursor_rests_at_without_branches(play: Any) -> None:
    """The question of its newest frame."""
    play.chart("main", ask=asking)
    need = play.start("main")
    found = rest_of(Cursor.from_json(play.cursor.to_json()))
    assert found is not None
    assert (found.kind, found.name) == (need.kind, need.name)
