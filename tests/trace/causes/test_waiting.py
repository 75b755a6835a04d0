"""What is said while a call waits for a person, as an effect of the step that waits."""

from __future__ import annotations

from typing import Any

from saywhy import Trace
from tests.faults.playing import had

ASK = {"id": "ask", "type": "SAY-GET", "variable": "sum", "value": "How much?"}
PAY = {"id": "pay", "type": "CALL-TOOL", "tool": "pay", "args": {"sum": "{{sum}}"}}
TOOL = {"takes": {"sum": "string"}, "effect": "once", "approval": True, "gives": {"number": 7}}


async def traced(turns: list[str]) -> Trace:
    """The record of a payment that somebody has to approve."""
    application: dict[str, Any] = {
        "flows": {"Pay": {"steps": [ASK, {**PAY, "variable": "paid"}]}},
        "tools": {"pay": TOOL},
        "turns": turns,
    }
    played = await had(application)
    await played.close()
    return played.trace


async def test_words_while_an_approval_is_waited_for() -> None:
    """Whatever the user says then, the answer leads to the step that waits and what it read."""
    chain = (await traced(["Pay", "50", "are you there?"])).why()
    [waits] = chain.find("step:Pay/pay")
    assert (
        waits.sentence == 'CALL-TOOL "pay" of Pay waits until somebody approves pay({"sum": "50"})'
    )
    assert waits.also == ("tool:pay",)
    assert chain.ranked[0] is waits
    assert {"message:3", "step:Pay/ask"} <= {name for each in chain.causes for name in each.names}
    assert not chain.find("message:5")


async def test_the_step_itself_says_so_first() -> None:
    """In the turn in which it begins to wait, the step says it, not routing."""
    chain = (await traced(["Pay", "50"])).why()
    assert chain.causes[1].ref == "step:Pay/pay"
    assert chain.causes[1].kind == "said"
