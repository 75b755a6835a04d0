"""The story of a conversation in sentences."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from saywhy.trace.narrative.story import narrative, tell
from saywhy.trace.trace import Trace

Make = Callable[..., Any]


def refuse(args: Any) -> Any:
    raise ValueError("card refused")


def test_a_turn_as_text(payment: Any) -> None:
    """What happened, step by step, the steps of a called flow beneath the call."""
    assert narrative(payment.trace, 3).splitlines() == [
        "Turn 3 (1970-01-01T00:16:40.007Z)",
        '  3.1  The user said "Ann".',
        '  3.2  The answer is payee = "Ann".',
        '  3.3  Called quote_fee(amount = "80"): fee = {total, for}.',
        '  3.4  CASE "check-fee" chose `fee.total > 5` (fee.total = 8), after `fee.total > limit`'
        " was false (fee.total = 8, limit = 100).",
        '  3.5  Called flow Charge with sum = "80", to = "Ann".',
        '    3.5.1  Said "Your payment of 80 to Ann is done.".',
        "    3.5.2  Flow Charge ended: completed.",
        "  3.6  Flow Pay ended: completed.",
        '  Reply: "Your payment of 80 to Ann is done."',
    ]


def test_the_whole_conversation(payment: Any) -> None:
    """All turns in order, numbered by turn."""
    text = narrative(payment.trace)
    assert [line for line in text.splitlines() if line.startswith("Turn")] == [
        f"Turn {number} (1970-01-01T00:16:40.00{milliseconds}Z)"
        for number, milliseconds in ((1, 1), (2, 4), (3, 7))
    ]
    assert '  1.3  Asked "How much?".' in text
    assert '  2.1  The user said "80".' in text


def test_numbers_do_not_depend_on_what_is_told(payment: Any) -> None:
    """A turn told alone has the numbers it has in the whole story."""
    assert narrative(payment.trace, 2) in narrative(payment.trace)


def test_as_markdown(payment: Any) -> None:
    """A heading for the turn and a nested list."""
    assert narrative(payment.trace, 3, format="markdown").splitlines()[:2] == [
        "### Turn 3 (1970-01-01T00:16:40.007Z)",
        "",
    ]
    assert '  - **3.5.1** Said "Your payment of 80 to Ann is done.".' in narrative(
        payment.trace, 3, format="markdown"
    )


def test_as_json(payment: Any) -> None:
    """Every step with its number, commit and place."""
    [turn] = json.loads(narrative(payment.trace, 3, format="json"))
    assert turn["turn"] == 3
    assert turn["at"] == "1970-01-01T00:16:40.007Z"
    assert turn["replies"] == ["Your payment of 80 to Ann is done."]
    case = turn["steps"][3]
    assert (case["number"], case["flow"], case["step"], case["place"]) == (
        "3.4",
        "Pay",
        "check-fee",
        "Pay.flows.json:40:3",
    )
    assert payment.trace.commit(case["commit"]).decision is not None
    assert [step["number"] for step in turn["steps"][4]["steps"]] == ["3.5.1", "3.5.2"]


def test_repeated_steps_are_told_once_and_counted(make_flow: Make, make_talk: Make) -> None:
    """A loop is told the first and the last time; numbers in between stay taken."""
    again = {"id": "again", "type": "FLOW", "value": "Loop", "callType": "replace"}
    talk = make_talk(
        make_flow(
            "Start",
            {"id": "n", "type": "SET", "variable": "n", "value": 0},
            {"id": "go", "type": "FLOW", "value": "Loop", "parameters": {"n": "n"}},
        ),
        make_flow(
            "Loop",
            {"id": "add", "type": "SET", "variable": "n", "value": "{{ n + 1 }}"},
            {
                "id": "more",
                "type": "CASE",
                "branches": {
                    "condition: n < 40": again | {"parameters": {"n": "n"}},
                    "default": {"id": "done", "type": "SAY", "value": "{n} times."},
                },
            },
        ),
    )
    assert talk.says("loop") == "40 times."
    told = [line.strip() for line in narrative(talk.trace).splitlines()]
    beneath = told[5:]
    assert beneath[:4] == [
        "1.4.1  Set n = 1, from `n + 1`.",
        '1.4.2  CASE "more" chose `n < 40` (n = 1).',
        "1.4.3  Went over to flow Loop with n = 1.",
        "1.4.4  Flow Loop ended: Replaced by flow Loop.",
    ]
    assert beneath[4] == "1.4.5 to 1.4.152  the same 4 steps 37 more times"
    assert beneath[5] == "1.4.153  Set n = 39, from `n + 1`."
    assert 'Said "40 times.".' in beneath[11]
    assert len(told) < 25


def test_a_failure_is_told(make_flow: Make, make_talk: Make) -> None:
    """A tool that failed, and the flow that failed with it."""
    talk = make_talk(
        make_flow(
            "Pay",
            {
                "id": "charge",
                "type": "CALL-TOOL",
                "tool": "charge",
                "args": {},
                "variable": "receipt",
            },
        ),
        tools={"charge": refuse},
    )
    talk.says("pay")
    text = narrative(talk.trace)
    assert "1.3  Called charge(), which failed: card refused." in text
    assert "1.4  Flow Pay ended as failed: card refused." in text


def test_the_hosts_part_is_told(make_flow: Make, make_talk: Make) -> None:
    """What the host put into cargo before a turn is part of the story."""
    talk = make_talk(make_flow("Say", {"id": "say", "type": "SAY", "value": "Hi."}))
    talk.says("hi", plan="gold")
    assert '1.1  The user said "hi". The host set cargo.plan = "gold".' in narrative(talk.trace)


def test_a_sensitive_answer_is_not_told(make_flow: Make, make_talk: Make) -> None:
    """What is masked in the record is masked in the story, in the reply as well."""
    talk = make_talk(
        make_flow(
            "Login",
            {"id": "ask", "type": "SAY-GET", "variable": "pin", "value": "PIN?", "pii": True},
            {"id": "say", "type": "SAY", "value": "Your PIN is {pin}."},
        )
    )
    talk.says("login")
    assert talk.says("481516") == "Your PIN is 481516."
    for wanted in ("text", "markdown", "json"):
        assert "481516" not in narrative(talk.trace, format=wanted)
    assert '  Reply: "Your PIN is [REDACTED]."' in narrative(talk.trace)


def test_a_limit_of_lines(payment: Any) -> None:
    """Of a story that is too long the newest turns stay, and it says what is not there."""
    assert narrative(payment.trace, most=4).splitlines() == [
        "(Turns 1 to 2 are left out.)",
        "Turn 3 (1970-01-01T00:16:40.007Z)",
        '  3.1  The user said "Ann".',
        '  3.2  The answer is payee = "Ann".',
        "  ... 6 more lines",
        '  Reply: "Your payment of 80 to Ann is done."',
    ]
    assert narrative(payment.trace, most=17).startswith("(Turn 1 is left out.)\nTurn 2 ")
    assert narrative(payment.trace, most=100) == narrative(payment.trace, most=None)


def test_without_charts(payment: Any) -> None:
    """Without the flows a story is poorer, but whole."""
    bare = narrative(Trace(payment.commits, (), payment.messages), 3)
    assert '3.5.1  Said "Your payment of 80 to Ann is done.".' in bare


def test_it_is_told_turn_by_turn(payment: Any) -> None:
    """The story is made as it is asked for."""
    stories = tell(payment.trace)
    assert next(stories).turn == 1
    assert next(stories).replies == ("To whom?",)


def test_nothing_recorded() -> None:
    """An empty trace has no story."""
    assert narrative(Trace()) == ""
