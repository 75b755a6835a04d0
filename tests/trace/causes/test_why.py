"""Why something was said: the chain from a reply or a variable down to its roots."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from saywhy.chart.commit import Answered, Asked, Commit, Op
from saywhy.errors import CallerError
from saywhy.messages import Message
from saywhy.trace.causes.chain import Cause, Chain
from saywhy.trace.causes.why import At, Reply, Variable, why
from saywhy.trace.masking.redact import MARK, Policy
from saywhy.trace.trace import Trace
from saywhy.values import freeze

Make = Callable[..., Any]


def lines(chain: Chain) -> list[str]:
    """The text with single blanks, places and indentation told apart by ` | `."""
    found: list[str] = []
    for line in chain.text(400).splitlines():
        text, *place = line.strip().split("  ")
        depth = (len(line) - len(line.lstrip())) // 2
        where = "".join(place).strip()
        found.append("> " * depth + text + (f" | {where}" if where else ""))
    return found


def root_of(chain: Chain, name: str) -> Cause:
    """The root that a variable goes back to."""
    cause = next(each for each in chain.causes if each.name == name)
    while not cause.root:
        link = next(link for link in chain.links if link.effect == cause.id)
        cause = chain.causes[link.cause]
    return cause


# ------------------------------------------------------------------ a whole explanation


def test_a_reply_down_to_its_roots(payment: Any) -> None:
    """The last reply: said by a step, for a condition, on a tool's result and the user's words."""
    assert lines(why(payment.trace)) == [
        '"Your payment of 80 to Ann is done." (turn 3)',
        '> said by SAY "done" of Charge | Charge.flows.json:10',
        '> > sum = "80" was passed by FLOW "charge" of Pay | Pay.flows.json:60',
        '> > > amount is what the user said in turn 2: "80" | Pay.flows.json:10',
        '> > to = "Ann" was passed by FLOW "charge" of Pay | Pay.flows.json:60',
        '> > > payee is what the user said in turn 3: "Ann" | Pay.flows.json:20',
        '> because Charge was called by FLOW "charge" of Pay | Pay.flows.json:60',
        '> > because CASE "check-fee" of Pay chose `fee.total > 5` (fee.total = 8)'
        " | Pay.flows.json:40",
        "> > > `fee.total > limit` was false (fee.total = 8, limit = 100)",
        '> > > fee.total = 8 comes from the result of tool quote_fee({"amount": "80"})'
        " | Pay.flows.json:30",
        "> > > > amount (explained above)",
        "> > > limit = 100 is the declared default of Pay | Pay.flows.json",
        '> > because Pay was started, as the user said in turn 1: "pay"',
    ]


# ------------------------------------------------------------------ targets


def test_earlier_replies(payment: Any) -> None:
    """A question is explained by the step that asked it."""
    assert lines(why(payment.trace, Reply(2))) == [
        '"To whom?" (turn 2)',
        '> asked by SAY-GET "ask-payee" of Pay | Pay.flows.json:20',
        '> because Pay was started, as the user said in turn 1: "pay"',
    ]
    assert why(payment.trace, Reply(2)).causes[1].root == "authored"


def test_a_variable_of_a_flow_that_ended(payment: Any) -> None:
    """The scope is gone from the state, but not from the record."""
    chain = why(payment.trace, Variable("sum"))
    assert lines(chain)[:2] == [
        'sum = "80" was passed by FLOW "charge" of Pay | Pay.flows.json:60',
        '> amount is what the user said in turn 2: "80" | Pay.flows.json:10',
    ]
    assert root_of(chain, "sum").root == "words"
    assert why(payment.trace, "sum").text() == chain.text()


def test_a_variable_as_it_was_in_a_turn(make_flow: Make, make_talk: Make) -> None:
    """With a turn, the variable is explained as it was when that turn ended."""
    talk = make_talk(
        make_flow(
            "Ask",
            {"id": "one", "type": "SAY-GET", "variable": "x", "value": "One?"},
            {"id": "two", "type": "SAY-GET", "variable": "x", "value": "Two?"},
        )
    )
    for text in ("go", "first", "second"):
        talk.says(text)
    assert lines(why(talk.trace, Variable("x", 2)))[0] == (
        'x is what the user said in turn 2: "first" | Ask.flows.json:10'
    )
    assert lines(why(talk.trace, Variable("x")))[0] == (
        'x is what the user said in turn 3: "second" | Ask.flows.json:20'
    )


def test_a_key_and_a_step(payment: Any) -> None:
    """A key and a commit can be asked about as well."""
    trace = payment.trace
    assert why(trace, trace.key("fee")).target.name == "fee"
    decision = trace.decisions[0]
    chain = why(trace, At(decision.seq))
    assert chain.target.sentence == 'CASE "check-fee" of Pay (turn 3)'
    assert {cause.name for cause in chain.causes if cause.name} == {"fee.total", "limit", "amount"}


@pytest.mark.parametrize(
    ("target", "message", "hint"),
    [
        (Reply(9), "no reply is recorded for turn 9", "turns 1 to 3 are recorded"),
        (
            Variable("amont"),
            'no recorded step touched a variable "amont"',
            'did you mean "amount"?',
        ),
        (Variable("amount", 9), "no step of turn 9 is in this trace", "turns 1 to 3 are recorded"),
        (At(99), "commit 99 is not in this trace", "it holds 1 to 20"),
    ],
)
def test_what_cannot_be_asked(payment: Any, target: Any, message: str, hint: str) -> None:
    """A target that is not there is refused, with what is."""
    with pytest.raises(CallerError) as caught:
        why(payment.trace, target)
    assert str(caught.value) == message
    assert caught.value.hint == hint


def test_an_empty_trace_has_no_reply() -> None:
    """Without a record there is nothing to explain, nor where nothing was said."""
    with pytest.raises(CallerError, match="no reply is recorded in this trace") as caught:
        why(Trace())
    assert caught.value.hint == "the trace is empty"
    with pytest.raises(CallerError, match="no reply is recorded for turn 1") as caught:
        why(Trace(messages=[Message(1, "user", "hello", turn=1)]), Reply(1))
    assert caught.value.hint.startswith("nothing was said in it: no flow took the words")


def test_a_turn_that_failed_has_no_reply(make_flow: Make, make_talk: Make) -> None:
    """Where a step failed instead of speaking, the refusal says which; it can be asked about."""
    talk = make_talk(
        make_flow("Sum", {"id": "sum", "type": "SET", "variable": "sum", "value": "{{ 1 / 0 }}"})
    )
    talk.says("go")
    with pytest.raises(CallerError, match="no reply is recorded for turn 1") as caught:
        why(talk.trace, Reply(1))
    assert caught.value.hint == "Sum failed in turn 1, at commit 3: division by zero"
    chain = why(talk.trace, At(3))
    assert chain.target.sentence == 'SET "sum" of Sum failed: division by zero (turn 1)'
    assert chain.target.place.line == 10


# ------------------------------------------------------------------ kinds of cause


def test_several_texts_in_one_reply(make_flow: Make, make_talk: Make) -> None:
    """Each stretch of a reply has its own step; what stands between them is nobody's."""
    talk = make_talk(
        make_flow(
            "Hello",
            {"id": "hi", "type": "SAY", "value": "Hi there."},
            {"id": "ask", "type": "SAY-GET", "variable": "x", "value": "And you?"},
        )
    )
    talk.says("hello")
    assert lines(why(talk.trace)) == [
        '"Hi there.⏎⏎And you?" (turn 1)',
        '> "Hi there." was said by SAY "hi" of Hello | Hello.flows.json:10',
        '> > because Hello was started, as the user said in turn 1: "hello"',
        '> "And you?" was asked by SAY-GET "ask" of Hello | Hello.flows.json:20',
    ]


def test_a_default_branch_names_what_did_not_hold(make_flow: Make, make_talk: Make) -> None:
    """The default was taken because of conditions that were false: they are the evidence."""
    talk = make_talk(
        make_flow(
            "Pick",
            {
                "id": "pick",
                "type": "CASE",
                "branches": {
                    "condition: cargo.age > 17": {"id": "a", "type": "SAY", "value": "Wine."},
                    "condition: cargo.age > 11": {"id": "b", "type": "SAY", "value": "Cola."},
                    "default": {"id": "c", "type": "SAY", "value": "Milk."},
                },
            },
        )
    )
    assert talk.says("drink", age=7) == "Milk."
    assert lines(why(talk.trace)) == [
        '"Milk." (turn 1)',
        '> said by SAY "c" of Pick | Pick.flows.json:40',
        '> because CASE "pick" of Pick chose default, as no condition held | Pick.flows.json:10',
        "> > `cargo.age > 17` was false (cargo.age = 7)",
        "> > `cargo.age > 11` was false (cargo.age = 7)",
        "> > cargo.age = 7 was set by the host before turn 1",
        '> because Pick was started, as the user said in turn 1: "drink"',
    ]
    assert root_of(why(talk.trace), "cargo.age").root == "host"


def test_values_that_were_computed(make_flow: Make, make_talk: Make) -> None:
    """A computed value goes back to what its expression read, and to the functions it called."""
    talk = make_talk(
        make_flow(
            "Sum",
            {"id": "price", "type": "SET", "variable": "price", "value": 40},
            {"id": "vat", "type": "SET", "variable": "vat", "value": "{{ rate(price) }}"},
            {"id": "sum", "type": "SET", "variable": "sum", "value": "{{ price + vat }}"},
            {"id": "say", "type": "SAY", "value": "{sum} in all."},
        )
    )
    assert talk.says("sum") == "44.0 in all."
    assert lines(why(talk.trace))[1:6] == [
        '> said by SAY "say" of Sum | Sum.flows.json:40',
        '> > sum = 44 was set by SET "sum" of Sum: `price + vat` | Sum.flows.json:30',
        '> > > price = 40 is written in SET "price" of Sum | Sum.flows.json:10',
        '> > > vat = 4 was set by SET "vat" of Sum: `rate(price)` | Sum.flows.json:20',
        "> > > > function rate(40) gave 4 | Sum.flows.json:20",
    ]
    roots = {cause.root for cause in why(talk.trace).roots}
    assert roots == {"authored", "function", "words"}


def test_a_tool_that_failed(make_flow: Make, make_talk: Make) -> None:
    """The step that ran on failure is explained by the failure, and the failure by the call."""

    def refuse(args: Any) -> Any:
        raise ValueError("card refused")

    talk = make_talk(
        make_flow(
            "Pay",
            {"id": "ask", "type": "SAY-GET", "variable": "amount", "value": "How much?"},
            {
                "id": "charge",
                "type": "CALL-TOOL",
                "tool": "charge",
                "args": {"amount": "amount"},
                "variable": "receipt",
                "onFail": {"id": "sorry", "type": "SAY", "value": "Sorry: {receipt}."},
            },
        ),
        tools={"charge": refuse},
    )
    talk.says("pay")
    assert talk.says("80") == "Sorry: card refused."
    assert lines(why(talk.trace)) == [
        '"Sorry: card refused." (turn 2)',
        '> said by SAY "sorry" of Pay | Pay.flows.json:30',
        '> > receipt = "card refused" is the error of tool charge({"amount": "80"})'
        " | Pay.flows.json:20",
        '> > > amount is what the user said in turn 2: "80" | Pay.flows.json:10',
        '> because CALL-TOOL "charge" of Pay failed: card refused | Pay.flows.json:20',
        '> because Pay was started, as the user said in turn 1: "pay"',
    ]


def test_the_flow_that_took_over(make_flow: Make, make_talk: Make) -> None:
    """A flow that replaced another is explained by the step that wanted it."""
    first = make_flow(
        "First", {"id": "go", "type": "FLOW", "value": "Second", "callType": "replace"}
    )
    second = make_flow("Second", {"id": "hi", "type": "SAY", "value": "Hi."})
    talk = make_talk(first, second)
    talk.says("start")
    assert lines(why(talk.trace)) == [
        '"Hi." (turn 1)',
        '> said by SAY "hi" of Second | Second.flows.json:10',
        '> because Second took over by FLOW "go" of First | First.flows.json:10',
        '> > because First was started, as the user said in turn 1: "start"',
    ]


def test_parameters_given_at_the_start(make_flow: Make, make_talk: Make) -> None:
    """What a flow was started with is explained by its start."""
    talk = make_talk(
        make_flow("Pay", {"id": "say", "type": "SAY", "value": "Paying {amount}."}),
        parameters={"amount": 80},
    )
    assert talk.says("pay 80") == "Paying 80."
    assert "> > amount = 80 was given when Pay was started" in lines(why(talk.trace))


def test_a_variable_nothing_ever_set(make_flow: Make, make_talk: Make) -> None:
    """That a variable was never set is an explanation too."""
    talk = make_talk(make_flow("Say", {"id": "say", "type": "SAY", "value": "Hi {name}."}))
    talk.says("hi")
    assert "> > name was never set" in lines(why(talk.trace))
    assert root_of(why(talk.trace), "name").root == "unset"


def commit(seq: int, *ops: Op, **fields: Any) -> Commit:
    return Commit(
        **{"seq": seq, "turn": 1, "frame": 1, "chart": "c", "flow": "Pay"}
        | {"node": "say", "kind": "SAY", "ops": ops}
        | fields
    )


@pytest.mark.parametrize(
    ("key", "sentence", "root"),
    [
        (("globals", "bank"), "bank is a global variable of the engine", "global"),
        (("args", "x"), "args.x is input that the run was started with", "input"),
        (("session", "language"), "language was set by the host for this session", "host"),
        (
            ("cargo", "plan"),
            "cargo.plan was never set: neither the host nor a step wrote it",
            "unset",
        ),
        (("v1", "x"), "x was never set", "unset"),
        (("input", "4"), "the user's words", "words"),
    ],
)
def test_values_no_step_wrote(key: Any, sentence: str, root: str) -> None:
    """Globals, run input and what the host set are roots of their own."""
    chain = why(Trace([commit(1, reads=(key,))]), At(1))
    assert (chain.causes[1].sentence, chain.causes[1].root) == (sentence, root)


def test_what_a_model_answered() -> None:
    """A model's reply is a root, like a tool's."""
    asked = commit(
        1, phase="asked", kind="think", asked=Asked("model", "gpt"), reads=(("v1", "q"),)
    )
    answered = commit(
        2,
        Op("set", ("v1", "text"), "hello"),
        phase="answered",
        kind="think",
        answered=Answered("model", "gpt", "hello"),
    )
    chain = why(Trace([asked, answered]), Variable("text"))
    assert (
        chain.target.sentence == 'text = "hello" is what the model answered to think "say" of Pay'
    )
    assert [cause.root for cause in chain.causes] == ["", "model", "unset"]


# ------------------------------------------------------------------ honesty


def test_masked_values_are_marked(make_flow: Make, make_talk: Make) -> None:
    """A sensitive answer explains without being shown, and the chain says that it was masked."""
    talk = make_talk(
        make_flow(
            "Login",
            {"id": "ask", "type": "SAY-GET", "variable": "pin", "value": "PIN?", "pii": True},
            {"id": "say", "type": "SAY", "value": "Your PIN is {pin}."},
        )
    )
    talk.says("login")
    talk.says("481516")
    chain = why(talk.trace)
    assert talk.messages[-1].text == "Your PIN is 481516."
    assert chain.target.sentence == f'"Your PIN is {MARK}." (turn 2)'
    assert "481516" not in chain.text() + json.dumps(chain.to_json())
    assert f"> > pin is what the user said in turn 2: {MARK} [pin: masked in the record]" in [
        line.split(" | ")[0] for line in lines(chain)
    ]
    assert "pin: masked in the record" in chain.marks


def test_reads_that_are_not_exactly_known_are_marked(payment: Any) -> None:
    """Where a step read more than can be known beforehand, the chain says so."""
    commits = [
        msgspec.structs.replace(each, exact=False) if each.kind == "CASE" else each
        for each in payment.commits
    ]
    chain = why(Trace(commits, payment.charts, payment.messages))
    assert chain.marks == ["not all that is named here need have been read"]
    assert "[not all that is named here need have been read]" in chain.text(400)


def test_a_record_that_begins_late(payment: Any) -> None:
    """What happened before the record begins is not invented."""
    trace = Trace(payment.commits[10:], payment.charts, payment.messages)
    chain = why(trace)
    assert "amount was last set before this record begins" in chain.text()
    assert "amount: the record begins too late" in chain.marks
    assert root_of(chain, "amount").root == "unrecorded"


def test_missing_messages_and_charts(payment: Any) -> None:
    """Without messages the reply is taken from the commits; without charts places are unknown."""
    chain = why(Trace(payment.commits, payment.charts))
    assert chain.target.sentence == '"Your payment of 80 to Ann is done." (turn 3)'
    assert "message 3 is not part of this record" in chain.marks
    bare = why(Trace(payment.commits, (), payment.messages))
    assert "the flow or agent itself is not in this record, only what it did" in bare.marks
    assert bare.text().count("the flow or agent itself") == len(
        {one.flow for one in bare.causes if one.marks}
    )
    assert "amount" in bare.text()


def test_a_reply_without_its_parts(payment: Any) -> None:
    """Where a message does not say which step wrote what, the steps that spoke are named."""
    messages = [msgspec.structs.replace(each, spans=()) for each in payment.messages]
    commits = [each for each in payment.commits if each.phase != "closed"]
    chain = why(Trace(commits, payment.charts, messages))
    assert "which step said what was not recorded" in chain.marks
    assert 'said by SAY "done" of Charge' in chain.text()


# ------------------------------------------------------------------ limits


def test_a_limit_cuts_off_what_is_farthest(payment: Any) -> None:
    """With few causes allowed the nearest are kept, and the text says that there is more."""
    full = why(payment.trace)
    chain = why(payment.trace, most=5)
    assert [cause.sentence for cause in chain.causes] == [
        cause.sentence for cause in full.causes[:5]
    ]
    assert chain.left_out == 4
    assert chain.text().endswith("... and 4 more causes, not followed because a limit was reached")


def test_a_limit_of_depth(payment: Any) -> None:
    """Causes that are too many links away are counted, not followed."""
    chain = why(payment.trace, deepest=1)
    assert [cause.kind for cause in chain.causes] == ["target", "said"]
    assert chain.left_out == 3


def test_a_value_made_of_many_changes(make_flow: Make, make_talk: Make) -> None:
    """Of a list that grew item by item the newest changes are followed, and the rest is said."""
    steps = [
        {"id": f"add-{n}", "type": "SET", "variable": "list", "value": n, "append": True}
        for n in range(30)
    ]
    talk = make_talk(make_flow("Grow", *steps, {"id": "say", "type": "SAY", "value": "{list}"}))
    talk.says("go")
    chain = why(talk.trace)
    written = [cause for cause in chain.causes if cause.name == "list"]
    assert len(written) == 9
    assert "list: only the newest 8 changes are followed" in chain.marks


def test_a_long_conversation_is_explained_quickly(make_flow: Make, make_talk: Make) -> None:
    """The work depends on the chain, not on the length of the record."""
    talk = make_talk(
        make_flow(
            "Count",
            {"id": "ask", "type": "SAY-GET", "variable": "x", "value": "More?"},
            {"id": "again", "type": "FLOW", "value": "Count", "callType": "replace"},
        )
    )
    for number in range(300):
        talk.says(str(number))
    trace = talk.trace
    looked_at = 0
    plain = trace.commit

    def counting(seq: int) -> Commit:
        nonlocal looked_at
        looked_at += 1
        return plain(seq)

    trace.commit = counting
    chain = why(trace)
    assert len(chain.causes) < 200
    assert looked_at < 500


def test_masking_by_policy_reaches_the_chain(make_flow: Make, make_talk: Make) -> None:
    """A tool argument that a policy masks is masked in the explanation."""
    talk = make_talk(
        make_flow(
            "Look",
            {"id": "ask", "type": "SAY-GET", "variable": "who", "value": "Who?"},
            {"id": "look", "type": "CALL-TOOL", "tool": "look"}
            | {"args": {"ssn": "who"}, "variable": "found"},
            {"id": "say", "type": "SAY", "value": "Found {found.n}."},
        ),
        tools={"look": lambda args: freeze({"n": 1})},
        policy=Policy(names=("ssn",)),
    )
    talk.says("look")
    talk.says("12")
    assert f'tool look({{"ssn": "{MARK}"}})' in why(talk.trace).text()
