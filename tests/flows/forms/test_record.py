"""What is kept of a running form, and whether it is fit to go on with."""

from __future__ import annotations

import json
from typing import Any

import pytest

from saywhy.errors import DamagedSession
from saywhy.runtime.engine import Engine
from saywhy.runtime.session import Session
from tests.flows.conftest import engine_of, flow, put, say, talk

AMOUNT = {"name": "amount", "kind": "amount", "prompt": "How much?"}
TO = {"name": "to", "kind": "name", "prompt": "To whom?"}


def engine(*more: dict[str, Any]) -> Engine:
    form = {"type": "FORM", "variable": "form", "inputs": [AMOUNT, TO], "confirm": "ok?"}
    return engine_of(flow(form, *more))


async def resting() -> tuple[Engine, Session]:
    made = engine(say("done"))
    return made, await talk(made, "Main", "80")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"completion": "done"}, r"frame 0 \(flow Main\): it cannot be read: .*form\.completion"),
        ({"recovery": None}, r"it cannot be read: .*form\.recovery"),
        ({"filled": "amount"}, r"it cannot be read: .*form\.filled"),
        ({"tie": {"words": 5}}, r"it cannot be read: .*form\.tie"),
        ({"phase": "dance"}, r"it cannot be read: .*form\.phase"),
    ],
)
async def test_a_damaged_draft_is_found_when_it_is_loaded(
    change: dict[str, Any], problem: str
) -> None:
    """By frame and flow, before a turn begins."""
    made, session = await resting()
    tree = json.loads(session.to_json())
    tree["cursor"]["frames"][0]["data"]["form"].update(change)
    with pytest.raises(DamagedSession, match=problem):
        made.load_session(json.dumps(tree))


async def test_a_host_sees_how_a_form_stands() -> None:
    """In the frame, in its dict, and in the session; a flow without a form shows none."""
    _, session = await resting()
    wanted = {
        "step": "s0",
        "completion": "open",
        "recovery": "resumption",
        "asking": "to",
        "filled": ["amount"],
    }
    assert session.frame is not None
    assert session.frame.form == wanted
    assert session.frame.to_dict()["form"] == wanted
    assert session.forms == [wanted]
    plain = await talk(engine_of(flow({"type": "SAY-GET", "variable": "x", "value": "?"})), "Main")
    assert plain.frame is not None
    assert plain.frame.form is None
    assert plain.forms == []


async def test_a_variable_that_is_no_object_any_more() -> None:
    """Whatever became of the form's variable, the form goes on with an object."""
    made, session = await resting()
    tree = json.loads(session.to_json())
    for variables in tree["cursor"]["state"]["scopes"].values():
        if "form" in variables:
            variables["form"] = "a text"
    session = await talk(made, "Ann", session=made.load_session(json.dumps(tree)))
    assert session.frame is not None
    assert session.frame.variables["form"] == {"to": "Ann"}
    assert session.response == "How much?"


async def test_two_forms_in_one_flow() -> None:
    """Each stands for itself; what is told is how the newer one stands."""
    second = {"type": "FORM", "variable": "more", "inputs": [{**TO, "prompt": "Who else?"}]}
    made = engine(put("x", 1), second, say("{{form.to}} and {{more.to}}"))
    session = await talk(made, "Main", "80", "Ann", "yes")
    assert session.response == "Who else?"
    assert [one["step"] for one in session.forms] == ["s2"]
    session = await talk(made, "Bob", session=session)
    assert session.response == "Ann and Bob"
    assert session.last_flow_outcome is not None
    assert session.last_flow_outcome["form"]["step"] == "s2"
