"""Promise: a run moves by outcomes, rests at needs, and can go on after whatever happens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from saywhy.chart.cursor import Cursor
from saywhy.chart.failure import AwaitedFailed, StepFailed
from saywhy.chart.machine import Language, Limits, Step, advance, cancel, open_frame
from saywhy.chart.model import Chart, Charts, Node
from saywhy.chart.outcome import Answer, BranchAnswer, Call, Fail, Goto, Need, Return
from saywhy.chart.scope import Scope, Suspend
from saywhy.errors import CallerError, DamagedSession, RunError, TooManySteps


def setter(name: str, value: Any) -> Callable[..., None]:
    def put(s: Scope, answer: Answer | None = None) -> None:
        s.set((s.frame.scope, name), value)

    return put


def asker(name: str) -> Callable[..., Any]:
    """Asks the user, and keeps the answer under `name`."""

    def ask(s: Scope, answer: Answer | None = None) -> Any:
        if answer is None:
            return Need("user", s.node.id)
        s.set((s.frame.scope, name), answer.value)
        return None

    return ask


def raiser(error: Exception) -> Callable[..., Any]:
    def fail(s: Scope, answer: Answer | None = None) -> Any:
        s.set((s.frame.scope, "half"), True)
        raise error

    return fail


def caller(chart: str, **keys: Any) -> Callable[..., Any]:
    """Calls a chart on a scope of its own and goes on with what it returns."""

    def call(s: Scope, answer: Answer | None = None) -> Any:
        if answer is not None:
            s.set((s.frame.scope, "got"), answer.value)
            return None
        return Call(chart, s.open({"given": 1}), **keys)

    return call


# ------------------------------------------------------------------ moving


def test_each_step_leaves_one_commit_that_says_what_it_did(play: Any) -> None:
    """A commit names frame, node, reads, writes and where the run went on."""

    def add(s: Scope) -> None:
        key = (s.frame.scope, "n")
        s.set(key, s.read(key) + s.read(("args", "by")) + s.read(key))

    play.chart("count", first=setter("n", 1), second=add)
    play.cursor.state.scopes["args"] = {"by": 3}
    assert play.start("count") is None
    first, second = play.steps
    assert (first.seq, first.node, first.to, first.phase) == (1, "first", "second", "enter")
    assert [op.key for op in first.ops] == [("state", "n")]
    assert second.reads == (("state", "n"), ("args", "by"))
    assert (second.to, second.ops[0].value, second.flow) == ("return", 5, "count")
    assert play.variables() == {"n": 5}


def test_a_need_rests_until_it_is_answered(play: Any) -> None:
    """Asking and answering are two commits of one node; the answer is in the second."""
    play.chart("talk", name=asker("name"), done=setter("done", True))
    assert play.start("talk") == Need("user", "name")
    assert play.go("Ada") is None
    asked, answered = play.steps[:2]
    assert (asked.node, asked.phase, asked.to) == ("name", "asked", "rest")
    assert (answered.node, answered.phase, answered.to) == ("name", "answered", "done")
    assert answered.answered is not None
    assert answered.answered.value == "Ada"
    assert play.variables() == {"name": "Ada", "done": True}


def test_the_same_words_without_json_and_through_it(play_of: Any) -> None:
    """A run through JSON at every need leaves the same commits as one that stays in memory."""
    plays = [play_of(json=json) for json in (True, False)]
    for play in plays:
        play.chart("inner", ask=asker("x"), back=lambda s: Return([s.peek((s.frame.scope, "x"))]))
        play.chart("outer", call=caller("inner", awaits=True), ask=asker("y"))
        play.start("outer")
        play.go("one")
        play.go("two")
    through, straight = plays
    assert through.commits == straight.commits
    assert through.variables() == straight.variables() == {"got": ["one"], "y": "two"}


def test_answers_are_refused_where_nothing_was_asked(play: Any) -> None:
    """An answer without a question and a question without its answer are the caller's misuse."""
    play.chart("talk", name=asker("name"))
    play.start("talk")
    with pytest.raises(CallerError, match="the run rests at a need for user: answer it"):
        play.go()
    with pytest.raises(CallerError, match="an answer for a branch was given, but nothing is fork"):
        play.go(BranchAnswer(0, Answer("Ada")))
    assert play.go("Ada") is None
    with pytest.raises(CallerError, match="an answer was given, but nothing was asked"):
        play.go("Bob")


# ------------------------------------------------------------------ failing


def test_writes_of_a_step_that_raised_vanish(play: Any) -> None:
    """The failed step leaves a commit with the error and no writes; its frame is closed."""
    play.chart("bad", ok=setter("before", 1), broken=raiser(ValueError("no such thing")))
    with pytest.raises(StepFailed, match="no such thing") as caught:
        play.start("bad")
    assert isinstance(caught.value.__cause__, ValueError)
    assert (caught.value.node, caught.value.flow, caught.value.commit) == ("broken", "bad", 2)
    assert play.variables() == {"before": 1}
    commit = play.steps[-1]
    assert (commit.ops, commit.error, commit.error_name) == ((), "no such thing", "ValueError")
    assert [(name, ending.how) for name, ending in play.closed] == [("bad", "failed")]
    assert play.cursor.frames == []


@pytest.mark.parametrize(
    ("error", "name", "text"),
    [
        (NameError("no x here", name="x"), "NameError", "no x here"),
        (TooManySteps("enough"), "TooManySteps", "enough"),
        (KeyError(), "KeyError", "KeyError"),
    ],
)
def test_an_error_is_recorded_by_its_class(
    play: Any, error: Exception, name: str, text: str
) -> None:
    """Our errors have names of their own; of others it is the class, and never no text at all."""
    play.chart("bad", broken=raiser(error))
    with pytest.raises(StepFailed):
        play.start("bad")
    assert (play.steps[-1].error_name, play.steps[-1].error) == (name, text)


def test_a_failing_frame_leaves_its_caller_going_on(play: Any) -> None:
    """A caller that does not await goes on after the failure; the cursor is fit for it."""
    play.chart("bad", broken=raiser(ValueError("no")))
    play.chart("outer", call=caller("bad", then="after"), after=setter("after", True))
    with pytest.raises(StepFailed):
        play.start("outer")
    assert [frame.at for frame in play.cursor.frames] == ["after"]
    assert play.go() is None
    assert play.variables() == {"after": True}


def test_a_failure_goes_up_to_who_awaits(play: Any) -> None:
    """Whoever awaits a chart that fails has failed at that step, with the way down as path."""
    play.chart("bad", broken=raiser(ValueError("no")))
    play.chart("middle", call=caller("bad", awaits=True))
    play.chart("outer", call=caller("middle", awaits=True))
    with pytest.raises(StepFailed) as caught:
        play.start("outer")
    assert caught.value.path == ("call", "call", "broken")
    answered = play.steps[-1].answered
    assert answered is not None
    assert (answered.kind, answered.error) == ("call", "no")
    assert play.cursor.frames == []
    assert list(play.cursor.state.scopes) == ["state"]


def test_a_step_may_take_care_of_a_failed_call(play: Any) -> None:
    """`failed` of the awaiting step decides what a failure below leads to."""
    seen: list[str] = []

    def rescue(s: Scope, error: Exception) -> Any:
        seen.append(str(error))
        return Goto("after")

    play.chart("bad", broken=raiser(ValueError("no")))
    play.chart("outer", failed=rescue, call=caller("bad", awaits=True), after=setter("ok", True))
    assert play.start("outer") is None
    assert seen == ["no"]
    assert play.variables() == {"ok": True}


def test_an_error_in_the_error_handler_is_the_failure(play: Any) -> None:
    """A step whose `failed` raises fails with that; nothing escapes without a commit."""

    def worse(s: Scope, error: Exception) -> Any:
        s.set((s.frame.scope, "half"), True)
        raise KeyError("worse")

    play.chart("bad", failed=worse, broken=raiser(ValueError("no")))
    with pytest.raises(StepFailed, match="worse"):
        play.start("bad")
    assert play.steps[-1].error_name == "KeyError"
    assert play.variables() == {}


def test_an_error_handler_may_need_a_function(play: Any) -> None:
    """A suspended error handler is run again with the answer, as any suspended step."""

    def careful(s: Scope, error: Exception) -> Any:
        if not s.frame.notes:
            raise Suspend(Need("function", "decide"))
        s.set((s.frame.scope, "decided"), _value(s.frame.notes[0]))
        return Return()

    play.chart("bad", failed=careful, broken=raiser(ValueError("no")))
    assert play.start("bad") == Need("function", "decide")
    assert play.go("fine") is None
    assert play.variables() == {"decided": "fine"}


def test_a_suspended_handler_of_a_failed_call_is_run_again(play: Any) -> None:
    """The failure of an awaited chart outlives JSON as text, and is not taken for an answer."""
    seen: list[Exception] = []

    def careful(s: Scope, error: Exception) -> Any:
        seen.append(error)
        if not s.frame.notes:
            raise Suspend(Need("function", "decide"))
        return Return(_value(s.frame.notes[0]))

    play.chart("bad", broken=raiser(ValueError("no")))
    play.chart("outer", failed=careful, call=caller("bad", awaits=True))
    assert play.start("outer") == Need("function", "decide")
    assert play.go("fine") is None
    assert play.cursor.returned == "fine"
    assert [type(error) for error in seen] == [StepFailed, AwaitedFailed]
    assert [str(error) for error in seen] == ["no", "no"]
    assert "got" not in play.variables()


def test_outcomes_that_lead_nowhere_fail_the_step(play: Any) -> None:
    """A target nobody has fails the step that named it; its writes vanish and nothing hangs."""

    def astray(s: Scope) -> Any:
        s.set((s.frame.scope, "half"), True)
        return Goto("secnd")

    def missing(s: Scope) -> Any:
        return Call("nobody", s.open())

    play.chart("goto", first=astray, second=setter("x", 1))
    play.chart("call", first=missing)
    with pytest.raises(StepFailed, match='chart goto has no node "secnd"') as caught:
        play.start("goto")
    assert caught.value.error.hint == 'did you mean "second"?'  # type: ignore[attr-defined]
    with pytest.raises(StepFailed, match='no chart has the digest, id or name "nobody"'):
        play.start("call")
    assert play.variables() == {}
    assert list(play.cursor.state.scopes) == ["state"]


def test_a_kind_without_a_step_names_those_that_are_known() -> None:
    """A node of a kind the language lacks fails, with the kinds there are."""
    chart = Chart.of("odd", [Node("a", "dance")])
    cursor = Cursor()
    open_frame(cursor, chart, Call("odd", "state"))
    language = Language({"walk": Step(lambda node, scope: Return())})
    with pytest.raises(StepFailed, match="there is no step of the type dance") as caught:
        advance(Charts([chart]), language, cursor, record=lambda commit: None)
    assert caught.value.error.hint == "known: walk"  # type: ignore[attr-defined]
    assert cursor.frames == []


def test_an_unknown_version_names_the_frame() -> None:
    """A frame of a chart that is not here is a damaged session, left untouched."""
    cursor = Cursor()
    open_frame(cursor, Chart.of("gone", [Node("a", "do")]), Call("gone", "state"))
    with pytest.raises(DamagedSession, match=r"frame 0 \(flow gone\): the version \w+ of this fl"):
        advance(Charts(), Language({}), cursor, record=lambda commit: None)
    assert len(cursor.frames) == 1


# ------------------------------------------------------------------ functions


def test_a_suspended_step_runs_again_from_its_top(play: Any) -> None:
    """What it staged is dropped, its notes stay, and it leaves one commit in the end."""
    runs: list[int] = []

    def twice(s: Scope) -> None:
        runs.append(1)
        s.set((s.frame.scope, "n"), len(runs))
        answers = s.frame.notes
        if len(answers) < 2:
            raise Suspend(Need("function", f"f{len(answers)}"))
        s.set((s.frame.scope, "sum"), sum(_value(note) for note in answers))

    play.chart("calc", calc=twice)
    assert play.start("calc") == Need("function", "f0")
    assert play.variables() == {}
    assert play.go(1) == Need("function", "f1")
    assert play.go(2) is None
    assert play.variables() == {"n": 3, "sum": 3}
    assert len(play.steps) == 1
    assert play.steps[0].phase == "enter"


def _value(note: Any) -> Any:
    return note.value if isinstance(note, Answer) else note["value"]


def test_a_resumed_step_that_is_suspended_gets_its_answer_again(play: Any) -> None:
    """A function needed in `resume` suspends it; the answer it worked on is handed in again."""

    def shout(s: Scope, answer: Answer | None = None) -> Any:
        if answer is None:
            return Need("user", "word")
        if not s.frame.notes:
            raise Suspend(Need("function", "upper", answer.value))
        s.set((s.frame.scope, "said"), [answer.value, _value(s.frame.notes[0])])
        return None

    play.chart("shout", shout=shout)
    play.start("shout")
    assert play.go("hey") == Need("function", "upper", "hey")
    assert play.go("HEY") is None
    assert play.variables() == {"said": ["hey", "HEY"]}
    assert [commit.phase for commit in play.steps] == ["asked", "answered"]


# ------------------------------------------------------------------ limits


def test_too_many_steps_name_the_place_and_close_the_frame(play_of: Any) -> None:
    """A loop without end stops at the limit, and the frame that ran it is closed."""
    play = play_of(limits=Limits(steps=50))
    play.chart("spin", a=lambda s: Goto("a"))
    with pytest.raises(TooManySteps, match=r"more than 50 steps .*, last in spin at a") as caught:
        play.start("spin")
    assert "a loop that never ends" in caught.value.hint
    assert play.cursor.frames == []
    assert [ending.how for _, ending in play.closed] == ["failed"]


def test_too_many_steps_close_those_that_await_as_well(play_of: Any) -> None:
    """No frame is left waiting for an answer that cannot come."""
    play = play_of(limits=Limits(steps=50))
    play.chart("spin", a=lambda s: Goto("a"))
    play.chart("middle", call=caller("spin", awaits=True))
    play.chart("outer", call=caller("middle", then="after"), after=setter("after", 1))
    with pytest.raises(TooManySteps):
        play.start("outer")
    assert [frame.name for frame in play.cursor.frames] == ["outer"]
    assert play.go() is None
    assert play.variables() == {"after": 1}


def test_a_stack_too_deep_fails_the_call(play_of: Any) -> None:
    """A chart that calls itself without end fails at the limit, and says how deep it was."""
    play = play_of(limits=Limits(depth=5))
    play.chart("self", call=caller("self", awaits=True))
    with pytest.raises(StepFailed, match="Maximum recursion depth reached: 5 frames, last self →"):
        play.start("self")
    assert play.cursor.frames == []
    assert list(play.cursor.state.scopes) == ["state"]


def test_a_tail_call_is_no_deeper(play_of: Any) -> None:
    """Replacing a frame does not count as another one on the stack."""
    play = play_of(limits=Limits(depth=2))

    def again(s: Scope) -> Any:
        n = s.read(("count", "n")) or 0
        s.set(("count", "n"), n + 1)
        return Return("done") if n == 20 else Call("self", s.open(), tail=True)

    play.chart("self", call=again)
    assert play.start("self", "v0") is None
    assert play.cursor.returned == "done"
    assert play.variables("count") == {"n": 21}
    assert list(play.cursor.state.scopes) == ["count"]


# ------------------------------------------------------------------ frames and scopes


def test_an_isolated_scope_lives_until_its_caller_went_on(play: Any) -> None:
    """The awaiting step can still read what its call came to; then the scope is gone."""
    seen: list[Any] = []

    def call(s: Scope, answer: Answer | None = None) -> Any:
        if answer is None:
            inner = s.open({"given": 1})
            s.keep("inner", inner)
            return Call("inner", inner, awaits=True)
        seen.append(s.read((s.kept("inner"), "x")))
        return None

    play.chart("inner", x=setter("x", "kept"))
    play.chart("outer", call=call, end=asker("y"))
    play.start("outer")
    assert seen == ["kept"]
    assert list(play.cursor.state.scopes) == ["state"]


def test_a_shared_scope_stays_while_somebody_names_it(play: Any) -> None:
    """Frames on one scope share variables, before and after JSON, and the last one drops it."""

    def share(s: Scope) -> Any:
        return Call("inner", s.frame.scope, then="after")

    play.chart("inner", ask=asker("x"))

    def copy(s: Scope) -> None:
        s.set((s.frame.scope, "y"), s.read((s.frame.scope, "x")))

    play.chart("outer", call=share, after=copy, end=asker("z"))
    play.start("outer", "v99")
    play.go("shared")
    assert play.variables("v99") == {"x": "shared", "y": "shared"}
    play.go("end")
    assert play.cursor.state.scopes == {}


def test_a_scope_of_a_cursor_beside_stays() -> None:
    """A routing cursor that ends on a shared scope leaves it to the other cursor."""
    chart = Chart.of("c", [Node("a", "do")])
    language = Language({"do": Step(lambda node, scope: Return())})
    main = Cursor()
    open_frame(main, chart, Call("c", "v7"))
    main.state.scopes["v7"] = {"x": 1}
    routing = main.beside()
    open_frame(routing, chart, Call("c", "v7"))
    advance(Charts([chart]), language, routing, record=lambda commit: None, beside=[main])
    assert main.state.scopes == {"v7": {"x": 1}}
    advance(Charts([chart]), language, main, record=lambda commit: None, beside=[routing])
    assert main.state.scopes == {}


def test_return_all_closes_every_frame_bottom_first(play: Any) -> None:
    """RETURN ends all frames with one reason; the frame that said so is closed last."""

    def leave(s: Scope) -> Any:
        return Return("bye", "all", "returned", "the user left")

    play.chart("inner", leave=leave)
    play.chart("outer", call=caller("inner", then="after"), after=setter("x", 1))
    assert play.start("outer") is None
    assert play.cursor.returned == "bye"
    assert [(name, e.how, e.reason, e.first) for name, e in play.closed] == [
        ("outer", "returned", "the user left", False),
        ("inner", "returned", "the user left", True),
    ]
    closings = [commit for commit in play.commits if commit.phase == "closed"]
    assert [commit.facts for commit in closings] == [
        {"how": "returned", "reason": "the user left"}
    ] * 2
    assert [commit.depth for commit in closings] == [0, 1]


def test_after_an_interruption_the_question_is_asked_again(play: Any) -> None:
    """A frame on a boundary that ends lets the one below be entered anew, not resumed."""
    play.chart("talk", name=asker("name"))
    play.chart("other", topic=asker("topic"))
    play.start("talk")
    chart = play.charts.find("other")
    open_frame(play.cursor, chart, Call("other", "v50", boundary=True))
    assert play.go() == Need("user", "topic")
    assert play.go("weather") == Need("user", "name")
    assert play.go("Ada") is None
    assert play.variables() == {"name": "Ada"}


def test_cancelling_closes_everything(play: Any) -> None:
    """`cancel` closes all frames, each with its commit, and drops their scopes."""
    play.chart("inner", ask=asker("x"))
    play.chart("outer", call=caller("inner", awaits=True))
    play.start("outer")
    language = Language({}, {"chart": play.close})
    cancel(play.charts, language, play.cursor, "too late", record=play.commits.append)
    assert play.cursor.frames == []
    assert [(name, ending.how, ending.reason) for name, ending in play.closed] == [
        ("outer", "cancelled", "too late"),
        ("inner", "cancelled", "too late"),
    ]
    assert list(play.cursor.state.scopes) == ["state"]


def test_a_step_that_gives_up_says_why(play: Any) -> None:
    """`Fail` is a failure like a raised exception."""
    play.chart("bad", give_up=lambda s: Fail(RunError("enough")))
    with pytest.raises(StepFailed, match="enough"):
        play.start("bad")
    assert play.steps[-1].to == "fail"
