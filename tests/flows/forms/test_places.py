"""A form may stand wherever a step may: in branches, behind failures, in a wrapper."""

from __future__ import annotations

from typing import Any

from saywhy.flows.load import load_definitions
from tests.flows.conftest import engine_of, flow, local_tool, put, run, say, talk, use

AMOUNT = {"name": "amount", "kind": "amount", "prompt": "How much?"}


def form(**keys: Any) -> dict[str, Any]:
    return {"id": "form", "type": "FORM", "variable": "form", "inputs": [AMOUNT], **keys}


def pay(**keys: Any) -> dict[str, Any]:
    return {"tool": "Pay", "args": {"amount": "{{form.amount}}"}, "variable": "receipt", **keys}


def tools(*results: Any) -> dict[str, Any]:
    left = list(results)

    def take(args: dict[str, Any]) -> Any:
        result = left.pop(0)
        if isinstance(result, Exception):
            raise result
        return result

    return {"tools": [local_tool("Pay", effect="reads")], "functions": {"Pay": take}}


async def test_in_a_branch() -> None:
    """The flow goes on behind the CASE, with or without a submission."""
    case = {
        "type": "CASE",
        "branches": {
            "condition: x === 1": form(confirm="Pay?", submit=pay()),
            "default": say("no"),
        },
    }
    engine = engine_of(flow(put("x", 1), case, say("{{receipt}}.")), **tools("r1"))
    session = await talk(engine, "Main", "80", "yes")
    assert session.response == "r1."


async def test_behind_a_failure() -> None:
    """A form in `onFail` asks, and its own submission may be the second try."""
    step = use("Pay", args={}, variable="first", onFail=form(submit=pay()))
    engine = engine_of(flow(step, say("{{first}}, then {{receipt}}.")), **tools(ValueError(), "r2"))
    session = await talk(engine, "Main", "80")
    assert (session.response or "").endswith("then r2.")


async def test_a_failed_submission_goes_to_another_flow() -> None:
    """A FLOW in `onFail` or `onDecline` takes the place of the flow, as it does elsewhere."""
    step = form(confirm="Pay?", submit=pay(onFail=run("Help")), onDecline=run("Help"))
    flows = [flow(step, say("never")), flow(say("Let me help."), name="Help")]
    failed = await talk(engine_of(*flows, **tools(ValueError("x"))), "Main", "80", "yes")
    assert failed.response == "Let me help."
    declined = await talk(engine_of(*flows, **tools()), "Main", "80", "no")
    assert declined.response == "Let me help."


async def test_submission_is_tried_again() -> None:
    """The retry keys of a call count in `submit`; the form is not asked again meanwhile."""
    submit = pay(maxRetries=2, retryOnConditions=[{"errorPattern": "busy", "action": "retry"}])
    engine = engine_of(
        flow(form(submit=submit), say("{{receipt}}")), **tools(ValueError("busy"), "r")
    )
    session = await talk(engine, "Main", "80")
    assert session.response == "r"
    assert len(session.last_turn_tool_calls) == 2


async def test_a_rule_that_skips_or_falls_back() -> None:
    """The flow goes on, and the form has failed all the same."""
    for action, more in (("skip", {}), ("fallback", {"fallbackStep": say("Later.", id="fb")})):
        rule = {"errorPattern": "closed", "action": action, **more}
        step = form(submit=pay(retryOnConditions=[rule]))
        engine = engine_of(flow(step, say("Bye.")), **tools(ValueError("closed")))
        session = await talk(engine, "Main", "80")
        assert (session.response or "").endswith("Bye.")
        assert session.last_flow_outcome is not None
        stands = session.last_flow_outcome["form"]
        assert (stands["completion"], stands["recovery"]) == ("failed", "required restart")


def test_every_step_of_a_form_has_its_place() -> None:
    """The call, what runs behind it, and what runs after a no."""
    step = form(submit=pay(onFail=say("f", id="f"), onUnknown=say("u", id="u")), onDecline=say("d"))
    (loaded,) = load_definitions([flow(step)]).flows
    assert [one.pointer for one in loaded.walk()] == [
        "/steps/0",
        "/steps/0/submit",
        "/steps/0/submit/onFail",
        "/steps/0/submit/onUnknown",
        "/steps/0/onDecline",
    ]
