"""Asking a trace who wrote what, when, and what the values were."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from saywhy.chart.commit import Commit, Op
from saywhy.chart.cursor import Cursor
from saywhy.chart.machine import Language, Step, advance, open_frame
from saywhy.chart.model import Chart, Charts, Node
from saywhy.chart.outcome import Call, Goto, Outcome
from saywhy.chart.scope import Scope
from saywhy.errors import CallerError
from saywhy.messages import Message
from saywhy.trace.causes.why import Reply, Variable, why
from saywhy.trace.masking.redact import MARK, Policy
from saywhy.trace.narrative.story import narrative
from saywhy.trace.record import Recorder
from saywhy.trace.shorten import shorten
from saywhy.trace.trace import Trace
from saywhy.trace.transactions import events, transactions
from saywhy.values import UNDEFINED, FrozenList, freeze, same, thaw

Make = Callable[..., Any]


def commit(seq: int, *ops: Op, **fields: Any) -> Commit:
    return Commit(
        **{"seq": seq, "turn": 1, "frame": 1, "chart": "c", "flow": "Pay"}
        | {"node": f"/steps/{seq}", "kind": "SET", "ops": ops}
        | fields
    )


# ------------------------------------------------------------------ looking up


def test_commits_turns_and_frames(payment: Any) -> None:
    """A trace finds its commits by number, by turn, by frame, by step and by flow."""
    trace = payment.trace
    assert len(trace) == trace.last == 20
    assert trace.first == 1
    assert trace.turns == [1, 2, 3]
    turn = trace.turn(2)
    assert [each.seq for each in turn.commits] == [5, 6, 7, 8, 9]
    assert [message.text for message in turn.messages] == ["80", "To whom?"]
    assert trace.turn(9).commits == ()
    frame = trace.steps_of(flow="Charge")[0].frame
    assert [each.kind for each in trace.steps_of(frame=frame)] == ["SAY", "end"]
    asked = trace.steps_of(flow="Pay", node="ask-amount")
    assert [each.phase for each in asked] == ["asked", "answered"]
    assert [each.node for each in trace.decisions] == ["check-fee"]
    assert str(trace.place_of(trace.decisions[0])) == "Pay.flows.json:40:3"


def test_a_commit_that_is_not_there() -> None:
    """Asking for a missing commit says what there is."""
    trace = Trace([commit(5), commit(7)])
    assert 5 in trace
    assert 6 not in trace
    with pytest.raises(CallerError, match="commit 6 is not in this trace") as caught:
        trace.commit(6)
    assert caught.value.hint == "it holds 5 to 7"
    with pytest.raises(CallerError, match="no step of turn 3 is in this trace"):
        trace.end_of(3)


def test_a_trace_only_grows() -> None:
    """Commits come in order; one that is no later than the last is refused."""
    trace = Trace([commit(1)])
    trace.append(commit(2))
    with pytest.raises(CallerError, match="commit 2 cannot follow commit 2"):
        trace.append(commit(2))
    assert [each.seq for each in trace] == [1, 2]


def test_a_sensitive_message_is_shown_masked() -> None:
    """Messages keep their text for resuming; whoever shows them gets a masked one."""
    trace = Trace(messages=[Message(1, "user", "4111", 1, pii=True), Message(2, "user", "hi", 1)])
    shown = trace.message(1)
    assert shown is not None
    assert shown.text == MARK
    assert trace.message(2) == Message(2, "user", "hi", 1)
    assert trace.message(3) is None


def test_what_opened_a_frame(make_flow: Make, make_talk: Make) -> None:
    """The opener is the step that wanted the flow, also where a closing commit stands between."""
    first = make_flow(
        "First", {"id": "go", "type": "FLOW", "value": "Second", "callType": "replace"}
    )
    second = make_flow("Second", {"id": "hi", "type": "SAY", "value": "Hi."})
    talk = make_talk(first, second)
    assert talk.says("start") == "Hi."
    trace = talk.trace
    said = trace.steps_of(flow="Second", node="hi")[0]
    assert trace.commit(said.caller).phase == "closed"
    opener = trace.opener(said)
    assert opener is not None
    assert (opener.flow, opener.node) == ("First", "go")
    routed = trace.turn(1).commits[0]
    assert trace.opener(routed) is None


# ------------------------------------------------------------------ keys and names


def test_names_stand_for_keys(payment: Any) -> None:
    """A name stands for the variable of the flow that wrote it last; a path goes on into it."""
    trace = payment.trace
    scope = trace.steps_of(node="ask-amount")[1].ops[0].key[0]
    assert trace.key("amount") == (scope, "amount")
    assert trace.key("fee.total") == (scope, "fee", "total")
    assert trace.key("cargo.plan") == ("cargo", "plan")
    assert trace.key("sum")[0] != scope
    assert trace.value_at(trace.key("userInput")).value == "Ann"
    assert trace.names == ["amount", "fee", "limit", "payee", "sum", "to"]


def test_unknown_names_get_a_hint(payment: Any) -> None:
    """A name nothing ever touched is refused, with the nearest one that was."""
    with pytest.raises(CallerError, match='no recorded step touched a variable "amuont"') as caught:
        payment.trace.key("amuont")
    assert caught.value.hint == 'did you mean "amount"?'
    with pytest.raises(CallerError, match='no recorded step touched a variable "zzz"') as caught:
        payment.trace.key("zzz")
    assert caught.value.hint == "recorded are amount, fee, limit, payee, sum, to"
    with pytest.raises(CallerError, match="a variable needs a name"):
        payment.trace.key("")


def test_a_session_is_not_asked_itself(payment: Any) -> None:
    """It has a trace; so it is said."""
    with pytest.raises(CallerError, match="why asks a trace, not list") as caught:
        why(list(payment.trace))  # pyright: ignore[reportArgumentType]
    assert caught.value.hint == "why(session.trace), or why(await engine.trace(session_id))"


def test_the_newest_of_two_flows_variables() -> None:
    """Two runs of a flow have two variables of one name; a turn may be named to get the older."""
    trace = Trace(
        [commit(1, Op("set", ("v1", "x"), 1)), commit(2, Op("set", ("v2", "x"), 2), turn=2)]
    )
    assert trace.key("x") == ("v2", "x")
    assert trace.key("x", trace.end_of(1)) == ("v1", "x")


def test_writers_and_readers(payment: Any) -> None:
    """Who wrote and who read a variable, from above and from beneath."""
    trace = payment.trace
    fee = trace.key("fee")
    assert [each.kind for each in trace.writers(fee)] == ["CALL-TOOL"]
    assert [each.kind for each in trace.readers(fee)] == ["CASE"]
    assert [each.kind for each in trace.writers((*fee, "total"))] == ["CALL-TOOL"]
    decision = trace.decisions[0]
    writer = trace.last_writer((*fee, "total"), before=decision.seq)
    assert writer is not None
    assert writer.phase == "answered"
    assert trace.last_writer(fee, before=writer.seq) is None


def test_a_timeline(payment: Any) -> None:
    """Reads and writes in order; each read with the write it saw."""
    trace = payment.trace
    touches = trace.timeline("amount")
    assert [(each.how, each.value) for each in touches] == [
        ("set", "80"),
        ("read", "80"),
        ("read", "80"),
    ]
    assert [each.source for each in touches] == [0, touches[0].seq, touches[0].seq]
    part = trace.timeline("fee.total")
    assert [(each.how, thaw(each.value)) for each in part] == [
        ("set", {"total": 8, "for": "80"}),
        ("read", 8),
    ]


# ------------------------------------------------------------------ values


def test_values_at_any_commit() -> None:
    """A value is rebuilt from the operations up to a commit, whole or in part."""
    trace = Trace(
        [
            commit(1, Op("set", ("v1", "o"), freeze({"items": [1], "n": 1}))),
            commit(2, Op("append", ("v1", "o", "items"), 2)),
            commit(3, Op("set", ("v1", "o", "n"), 9), Op("delete", ("v1", "o", "items", 0))),
            commit(4, Op("delete", ("v1", "o"))),
            commit(5, Op("append", ("v1", "o"), "new")),
        ]
    )
    seen = [thaw(trace.value_at(("v1", "o"), seq).value) for seq in range(6)]
    assert seen[1:4] == [
        {"items": [1], "n": 1},
        {"items": [1, 2], "n": 1},
        {"items": [2], "n": 9},
    ]
    assert seen[0] is UNDEFINED
    assert seen[4] is UNDEFINED
    assert seen[5] == ["new"]
    found = trace.value_at(("v1", "o", "items", 0), 3)
    assert (found.value, found.exact, found.commits) == (2, True, (1, 2, 3))
    assert thaw(trace.commit(1).ops[0].value) == {"items": [1], "n": 1}


def test_values_are_those_of_now() -> None:
    """What was asked for before is found anew once more was recorded, or said."""
    long = "a text so long that it is kept in the message alone, and pointed at by the steps"
    told = shorten([commit(1, Op("set", ("v1", "a"), long))], [Message(1, "user", long, 1)])
    trace = Trace(told)
    assert trace.value_at(("v1", "a")).doubt == "cut"
    trace.say(Message(1, "user", long, 1))
    assert [trace.value_at(("v1", "a"), seq).value for seq in (1, 9)] == [long, long]
    trace.append(commit(2, Op("set", ("v1", "a"), "new")))
    seen = [trace.value_at(("v1", "a"), seq).value for seq in (1, 9, None)]
    assert seen == [long, "new", "new"]


def test_an_unwritten_variable_is_undefined() -> None:
    """In a whole record, what nothing wrote was undefined, and that is certain."""
    found = Trace([commit(1)]).value_at(("v1", "x"))
    assert found.value is UNDEFINED
    assert found.exact


def test_a_whole_scope_as_one_value() -> None:
    """Reading `cargo` itself gives all its variables; those that were deleted are gone."""
    trace = Trace(
        [
            commit(1, Op("set", ("cargo", "plan"), "gold"), Op("set", ("cargo", "n"), 1)),
            commit(2, Op("delete", ("cargo", "n")), reads=(("cargo",),)),
        ]
    )
    assert thaw(trace.value_at(("cargo",), 1).value) == {"plan": "gold", "n": 1}
    assert thaw(trace.value_at(("cargo",)).value) == {"plan": "gold"}
    assert [each.seq for each in trace.writers(("cargo",))] == [1, 2]
    assert [each.seq for each in trace.readers(("cargo", "plan"))] == [2]


@pytest.mark.parametrize(
    ("trace", "doubt", "note"),
    [
        (
            Trace([commit(1, Op("set", ("v1", "x"), f"is {MARK}"), tags=("redacted",))]),
            "redacted",
            "masked in the record",
        ),
        (
            Trace([commit(1, Op("set", ("v1", "x"), "abc[CUT: 70000 characters]"), tags=("cut",))]),
            "cut",
            "too big to be kept whole",
        ),
        (
            Trace([commit(9, Op("append", ("v1", "x"), 1))]),
            "start",
            "the record begins after it was first written",
        ),
        (Trace([commit(9)]), "unrecorded", "not written by any recorded step"),
    ],
)
def test_what_is_not_exactly_known_says_so(trace: Trace, doubt: str, note: str) -> None:
    """A masked, cut or partly recorded value is marked as such."""
    found = trace.value_at(("v1", "x"))
    assert (found.doubt, found.note, found.exact) == (doubt, note, False)


def test_a_users_text_that_looks_masked_is_exact() -> None:
    """Only a commit that was masked casts doubt; a user may type anything."""
    assert Trace([commit(1, Op("set", ("v1", "x"), MARK))]).value_at(("v1", "x")).exact


def test_a_doubt_is_about_the_part_asked_for() -> None:
    """One masked field does not make its neighbours doubtful."""
    recorder = Recorder(Policy())
    recorder(commit(1, Op("set", ("v1", "o"), freeze({"password": "hunter2", "n": 1}))))
    trace = Trace(recorder.take())
    assert trace.value_at(("v1", "o", "n")).exact
    assert trace.value_at(("v1", "o", "password")).doubt == "redacted"
    assert trace.value_at(("v1", "o")).doubt == "redacted"


def test_a_part_of_what_was_masked_is_masked() -> None:
    """It is not told as nothing: nobody knows whether it was."""
    masked = Op("set", ("v1", "o"), {"whole": MARK, "plain": {"city": "Bern"}})
    trace = Trace([commit(1, masked, tags=("redacted",))])
    found = trace.value_at(("v1", "o", "whole", "deep", 0))
    assert (found.value, found.doubt) == (MARK, "redacted")
    assert trace.value_at(("v1", "o", "plain", "zip")).value is UNDEFINED


def test_changes_that_no_longer_fit_are_passed_over() -> None:
    """Where a list was masked, later changes to its items cannot be replayed; nothing breaks."""
    trace = Trace(
        [
            commit(1, Op("set", ("v1", "secret"), MARK), tags=("redacted",)),
            commit(2, Op("set", ("v1", "secret", 3), "x")),
        ]
    )
    assert trace.value_at(("v1", "secret")).doubt == "redacted"


def test_rebuilt_values_are_those_of_the_run() -> None:
    """At every step of a real run, the record gives the value the state had."""
    states: list[Any] = []

    def grow(node: Node, scope: Scope) -> Outcome:
        number = scope.read(("v1", "n"))
        scope.append(("v1", "log", "lines"), {"n": number})
        scope.set(("v1", "n"), number + 1)
        if number % 3 == 0:
            scope.set(("v1", "log", "last"), number)
        if number % 5 == 0:
            scope.delete(("v1", "log", "lines", 0))
        return Goto("grow" if number < 30 else None)

    recorder = Recorder()
    cursor = Cursor()
    cursor.state.scopes["v1"] = {}

    def begin(node: Node, scope: Scope) -> Outcome:
        scope.set(("v1", "n"), 1)
        scope.set(("v1", "log"), {"lines": [0], "last": None})
        return Goto("grow")

    chart = Chart.of("Grow", [Node("begin", "begin"), Node("grow", "grow")])

    def record(each: Commit) -> None:
        states.append(dict(cursor.state.scopes["v1"]))
        recorder(each)

    open_frame(cursor, chart, Call(chart.digest, "v1"))
    language = Language({"begin": Step(begin), "grow": Step(grow)})
    advance(Charts([chart]), language, cursor, record=record)
    trace = Trace(recorder.take(), [chart])
    after = [*states[1:], states[-1]]
    for each, state in list(zip(trace, after, strict=True))[:-1]:
        assert same(trace.value_at(("v1", "log"), each.seq).value, state["log"])
        assert trace.value_at(("v1", "n"), each.seq).value == state["n"]


def test_a_long_list_is_rebuilt_in_time() -> None:
    """Ten thousand appends are replayed in one go, and an item's writer is found among them."""
    commits = [commit(1, Op("set", ("v1", "list"), FrozenList([])))]
    commits += [commit(n, Op("append", ("v1", "list"), n)) for n in range(2, 10_002)]
    trace = Trace(commits)
    found = trace.value_at(("v1", "list"))
    assert len(found.value) == 10_000
    assert len(found.commits) == 10_001
    writer = trace.last_writer(("v1", "list"), before=5000)
    assert writer is not None
    assert writer.seq == 4999


def test_a_trace_explains_itself(payment: Any) -> None:
    """What the modules beside it work out can be asked of the trace: why, the story, the audit."""
    trace = payment.trace
    assert trace.why().text() == why(trace, Reply()).text()
    name = trace.names[0]
    assert trace.why(name).text() == why(trace, Variable(name)).text()
    assert trace.narrative() == narrative(trace)
    assert trace.transactions() == transactions(trace)
    assert trace.events() == events(trace)
