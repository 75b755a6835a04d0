"""Promise: a call whose data no record may show keeps its shape, and what is told about it."""

from __future__ import annotations

from typing import Any

import msgspec

from saywhy.chart.commit import Answered, Asked, Commit, Op
from saywhy.trace.masking.hide import hide_call
from saywhy.values import freeze

PLAIN = Commit(seq=4, turn=1, frame=1, chart="c", flow="Pay", node="call", kind="CALL-TOOL")
SPOT: Any = ("s1", "r")


def hidden(**fields: Any) -> Commit:
    return hide_call(
        msgspec.structs.replace(PLAIN, **fields), ("pay", "Pay a bill"), "###", "masked"
    )


def test_what_was_given() -> None:
    """Every leaf is masked, by id and by name; nothing stays nothing."""
    args = freeze({"to": "ann", "amounts": [80, 3.5], "note": None, "empty": "", "ok": True})
    for name in ("pay", "Pay a bill"):
        commit = hidden(asked=Asked("tool", name, args))
        assert commit.asked is not None
        assert commit.asked.args == {
            "to": "###",
            "amounts": ["###", "###"],
            "note": None,
            "empty": "",
            "ok": "###",
        }
        assert commit.tags == ("masked",)


def test_what_was_answered_and_stored() -> None:
    """The answer, the variable it went to, what the function changed, and the audit."""
    answer = freeze({"id": 17})
    facts = {
        "attempts": [{"tool": "Pay a bill", "at": 5}],
        "arguments_after": freeze({"to": "bob"}),
        "status": 200,
        "audit": {"user": "ann", "arguments": {"to": "bob"}, "error": "card 41111111 refused"},
    }
    calls = Op("append", ("turn", "calls"), {"tool": "Pay a bill"})
    commit = hidden(
        answered=Answered("tool", "pay", answer, "", facts),
        ops=(calls, Op("set", SPOT, answer)),
    )
    assert commit.answered is not None
    assert commit.answered.value == {"id": "###"}
    assert commit.ops == (calls, Op("set", SPOT, freeze({"id": "###"})))
    assert commit.answered.facts == {
        "attempts": [{"tool": "Pay a bill", "at": 5}],
        "arguments_after": {"to": "###"},
        "status": 200,
        "audit": {"user": "ann", "arguments": {"to": "###"}, "error": "card ### refused"},
    }


def test_how_it_failed() -> None:
    """The words stay, without the numbers in them."""
    commit = hidden(
        answered=Answered("tool", "pay", None, "card 4111111111111111 refused", {}),
        facts={"failure": {"message": "card 4111111111111111 refused", "action": "give_up"}},
        error="card 4111111111111111 refused in 2026",
        warnings=("response mapping of pay: 4111111111111111",),
    )
    assert commit.answered is not None
    assert commit.answered.error == "card ### refused"
    assert commit.facts["failure"] == {"message": "card ### refused", "action": "give_up"}
    assert commit.error == "card ### refused in ###"
    assert commit.warnings == ("response mapping of pay: ###",)


def test_what_a_person_is_asked() -> None:
    """An approval names the call by its id; the arguments in it are masked."""
    need = Asked("approval", "pay", freeze({"id": "a-17", "args": {"to": "ann"}}))
    commit = hidden(asked=need)
    assert commit.asked is not None
    assert commit.asked.args == {"id": "a-17", "args": {"to": "###"}}


def test_other_commits_stay_as_they_are() -> None:
    """Another tool, a question to the user, a timer of the step: the very same object."""
    for fields in (
        {"asked": Asked("tool", "look", freeze({"q": "tea"}))},
        {"asked": Asked("user", "pay", freeze({"q": "tea"}))},
        {"answered": Answered("timer", "pay")},
        {},
    ):
        commit = msgspec.structs.replace(PLAIN, **fields)
        assert hide_call(commit, ("pay",), "###", "masked") is commit
