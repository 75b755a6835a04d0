"""What becomes of words while a correction is being agreed on."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.runtime.engine import Engine
from tests.flows.conftest import ask, engine_of, flow, local_tool, say, talk, use


class Desk:
    """Sets money aside and gives it back, and remembers both."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []

    def reserve(self, args: dict[str, Any]) -> dict[str, Any]:
        self.calls.append(("reserve", args["sum"]))
        return {"id": len(self.calls)}

    def release(self, args: dict[str, Any]) -> dict[str, Any]:
        self.calls.append(("release", args["id"]))
        return {}


WHOLE = {"patterns": [{"field": "amount", "pattern": "^[0-9]+$", "message": "A whole number."}]}


def pay(desk: Desk) -> Engine:
    return engine_of(
        flow(
            ask("amount", "How much?", inputValidation=WHOLE),
            use(
                "reserve",
                args={"sum": "{{amount}}"},
                variable="aside",
                undo={"tool": "release", "args": {"id": "{{aside.id}}"}, "text": "Undo it?"},
            ),
            ask("payee", "To whom?"),
            ask("sure", "Sure?"),
            say("{{amount}} to {{payee}}."),
            corrections=True,
        ),
        tools=[local_tool("reserve", effect="once"), local_tool("release", effect="once")],
        functions={"reserve": desk.reserve, "release": desk.release},
    )


async def test_the_value_that_is_agreed_on_is_the_newest() -> None:
    """Who says yet another amount while asked for the undo agrees to that one."""
    desk = Desk()
    engine = pay(desk)
    session = await talk(engine, "Main", "50", "Ann", "no, the amount is 60")
    assert session.response == "Undo it?"
    session = engine.load_session(session.to_json())
    session = await talk(engine, "no, the amount is 70", session=session)
    assert session.response == "Undo it?"
    session = engine.load_session(session.to_json())
    session = await talk(engine, "yes", "yes", session=session)
    assert session.response == "70 to Ann."
    assert desk.calls == [("reserve", "50"), ("release", 1), ("reserve", "70")]


async def test_the_old_value_again_needs_no_undo() -> None:
    """Who comes back to what was answered at first has nothing undone."""
    desk = Desk()
    session = await talk(
        pay(desk), "Main", "50", "Ann", "no, the amount is 60", "no, the amount is 50"
    )
    assert session.response == "Sure?"
    assert desk.calls == [("reserve", "50")]


@pytest.mark.parametrize(
    ("words", "reply"),
    [
        ("no, the amount is little", "❌ A whole number.\n\nUndo it?"),
        ("no, the payee is Bea", "Undo it?"),
        ("well", "Undo it?"),
    ],
)
async def test_what_else_is_said_leaves_the_correction_as_it_was(words: str, reply: str) -> None:
    """A value that its question refuses, another answer, a doubt: the undo is asked for again."""
    desk = Desk()
    session = await talk(pay(desk), "Main", "50", "Ann", "no, the amount is 60", words)
    assert session.response == reply
    session = await talk(pay(desk), "yes", "yes", session=session)
    assert session.response == "60 to Ann."


async def test_status_tells_of_the_flow_that_is_corrected() -> None:
    """The frame that carries the correction out is no flow that a user knows of."""
    session = await talk(pay(Desk()), "Main", "50", "Ann", "no, the amount is 60", "status")
    told = str(session.response)
    assert "Flow: Main\nSteps remaining: 2\nStack depth: 1\nTransaction: " in told
    assert "{{" not in told


async def test_a_form_under_way_begins_anew() -> None:
    """What its inputs knew beforehand may depend on the answer that was corrected."""
    amount = {"name": "amount", "kind": "amount", "prompt": "How much?", "value": "{{limit}}"}
    day = {"name": "day", "kind": "date", "prompt": "When?"}
    form = {"type": "FORM", "variable": "form", "inputs": [amount, day], "confirm": "Right?"}
    engine = engine_of(
        flow(ask("limit", "Which limit?"), form, say("{{form.amount}}"), corrections=True)
    )
    session = await talk(engine, "Main", "50", "2031-07-04", "no, the limit is 70")
    assert session.response == "When?"
    assert session.frame is not None
    assert session.frame.variables == {"limit": "70", "form": {"amount": 70}}
    session = await talk(engine, "2031-07-05", "yes", session=session)
    assert session.response == "70"
