"""General signs that a value may be the wrong one, each in a small dialogue."""

from __future__ import annotations

from typing import Any

from saywhy import Reply, Trace
from saywhy.trace.causes.chain import Cause
from tests.faults.playing import had


async def traced(steps: list[dict[str, Any]], turns: list[str], **more: Any) -> Trace:
    """The record of a dialogue with one flow."""
    played = await had({"flows": {"Talk": {"steps": steps, **more}}, "turns": turns})
    await played.close()
    return played.trace


def likeliest(trace: Trace, part: str) -> Cause:
    return trace.why(Reply(None, part)).ranked[0]


def asks(name: str, **more: Any) -> dict[str, Any]:
    return {"id": f"ask-{name}", "type": "SAY-GET", "variable": name, "value": f"{name}?", **more}


def sets(step: str, name: str, value: str) -> dict[str, Any]:
    return {"id": step, "type": "SET", "variable": name, "value": value}


def says(text: str, step: str = "tell") -> dict[str, Any]:
    return {"id": step, "type": "SAY", "value": text}


async def test_a_list_that_grew_in_place() -> None:
    """Its length, taken before, is older than what it was made of."""
    steps = [
        asks("who"),
        sets("make", "items", "[1, 2]"),
        sets("count", "number", "items.length"),
        sets("add", "more", "items.push(3)"),
        says("{{number}} items"),
    ]
    found = likeliest(await traced(steps, ["Talk", "me"]), "2 items")
    assert found.ref == "step:Talk/count"
    assert found.details == ("items was changed after this, in turn 2",)


async def test_a_comparison_that_a_branch_passes_on() -> None:
    """The step that compares comes before the branch that only asks what came of it."""
    branches = {"true": says("Yes", "yes"), "default": says("No discount", "no")}
    steps = [
        asks("number"),
        sets("compare", "enough", "Number(number) > 100"),
        {"id": "choose", "type": "SWITCH", "variable": "enough", "branches": branches},
    ]
    trace = await traced(steps, ["Talk", "100"])
    found = likeliest(trace, "No discount")
    assert found.ref == "step:Talk/compare"
    assert "on the border: `Number(number) > 100`" in found.details
    [choice] = trace.why().find("decision:Talk/choose")
    assert choice.signs == ("only passes on",)


async def test_a_check_that_let_a_value_pass() -> None:
    """The answer comes first where it is what was asked about, and only there."""
    pattern = {"field": "rate", "pattern": "^[0-9]{1,2}", "message": "At most 99."}
    steps = [
        asks("rate", inputValidation={"patterns": [pattern]}),
        asks("bed"),
        says("Bed {{bed}} gets {{rate}} ml."),
    ]
    trace = await traced(steps, ["Talk", "450", "7"])
    assert likeliest(trace, "gets 450 ml").names == ("variable:rate", "step:Talk/ask-rate")
    reasons = likeliest(trace, "gets 450 ml").ranked_for
    assert "a check let it pass, and it is what was asked about" in reasons
    assert "variable:rate" not in likeliest(trace, "Bed 7").names


async def test_a_correction_that_was_refused() -> None:
    """The call for whose sake it was refused is told, as it cannot be undone."""
    call = {"id": "reserve", "type": "CALL-TOOL", "tool": "reserve", "args": {"sacks": "{{sacks}}"}}
    steps = [asks("sacks"), {**call, "variable": "got"}, asks("sure"), says("{{got.sacks}} sacks.")]
    tool = {"takes": {"sacks": "string"}, "effect": "once", "kind": "echo"}
    flows = {"Talk": {"corrections": True, "steps": steps}}
    turns = ["Talk", "3", "no, sacks is 5", "yes", "yes"]
    played = await had({"flows": flows, "tools": {"reserve": tool}, "turns": turns})
    await played.close()
    [cause] = [
        each
        for each in played.trace.why(Reply(None, "3 sacks.")).causes
        if "step:Talk/reserve" in each.names and each.kind == "value"
    ]
    assert "a correction was refused, as this cannot be undone" in cause.details


async def test_a_correction_that_was_made() -> None:
    """It is not said of it that it may have been meant for another value, as of one not taken."""
    steps = [asks("payee"), asks("amount"), asks("sure"), says("{{amount}} to {{payee}}.")]
    turns = ["Talk", "Ann", "60", "no, the amount is 80", "yes"]
    taken = await had({"flows": {"Talk": {"corrections": True, "steps": steps}}, "turns": turns})
    await taken.close()
    [said] = taken.trace.why(Reply(None, "80 to Ann.")).find("message:7")
    assert "said later" not in said.signs
    chain = (await traced(steps, turns)).why(Reply(None, "60 to Ann."))
    assert "said later" in chain.find("message:7")[0].signs
