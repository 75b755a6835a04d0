"""Promise: a conversation runs again from its record, and nobody is called for it."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy import MemoryStore
from saywhy.errors import CallerError, FlowExecutionError, TooManySteps, UnknownSession
from saywhy.runtime.session import Session
from tests.runtime.replay.conftest import (
    PAYING,
    Outside,
    ask,
    call,
    engine_of,
    flow_of,
    put,
    run_flow,
    say,
    talk,
)


async def test_a_conversation_runs_again_to_the_same_commits() -> None:
    """Messages, answers of tools and functions come from the record; the tools are gone."""
    outside = Outside()
    flow = flow_of(
        ask("amount", "How much?"),
        call("fee", amount="{{amount}}"),
        put("total", "rounded(amount) + fee.value"),
        say("tell", "{{total}} in all."),
    )
    engine = engine_of(outside, [flow])
    session = await talk(engine, "Pay", "80.4")
    assert session.response == "88 in all."
    outside.gone, before = True, list(outside.calls)
    found = await engine.replay(session)
    assert found.same, found.text()
    assert found.turns == 2
    assert found.commits == len(session.commits)
    assert outside.calls == before


@pytest.mark.parametrize("limit", range(20, 26))
async def test_a_turn_that_ended_at_the_limit_of_steps(limit: int) -> None:
    """Wherever in a loop that was: also where a tool had been asked, and its answer came too late
    to be taken in. Nothing else was changed, so it is the same."""
    outside = Outside()
    loop = flow_of(
        call("fee", amount="{{x}}"), put("x", "String(fee.value)"), run_flow("Pay", "replace")
    )
    engine = engine_of(outside, [loop], max_steps=limit)
    with pytest.raises(TooManySteps) as failed:
        await talk(engine, "Pay")
    session = failed.value.session
    assert isinstance(session, Session)
    outside.gone = True
    found = await engine.replay(session)
    assert found.same, found.text()
    assert found.commits == len(session.commits)


async def test_cargo_language_and_starts_of_the_host_come_from_the_record() -> None:
    """What the host set, took away and said of the session is on record, turn by turn."""
    outside = Outside()
    flow = flow_of(
        ask("x", "{{cargo.a}} {{cargo.b}} {{y}}", value_es="es {{cargo.a}}"), say("end", "{{x}}")
    )
    engine = engine_of(outside, [{**flow, "parameters": [{"name": "y", "type": "string"}]}])
    session = engine.init_session("ann", "c1")
    session.cargo.update({"a": 1, "b": [2]})
    entry = {"role": "user", "content": "go", "start": {"flow": "pay", "arguments": {"y": "why"}}}
    session = await engine.update_activity(entry, session)
    assert session.response == "1 [2] why"
    del session.cargo["b"]
    session.language, session.authenticated = "es", True
    session = await engine.update_activity({"role": "assistant", "content": "a word"}, session)
    session = await engine.update_activity("5", session)
    found = await engine.replay(session)
    assert found.same, found.text()
    assert found.turns == 3


async def test_a_stored_conversation_runs_again_and_nothing_is_written() -> None:
    """Another engine on the same store finds it as it was."""
    outside, store = Outside(), MemoryStore()
    async with engine_of(outside, store=store) as engine:
        for text in ("Pay", "Bob", "80"):
            await engine.take_turn("c1", text)
        before = await store.session("c1")
        outside.gone = True
        found = await engine.replay("c1")
        after = await store.session("c1")
    assert found.same, found.text()
    assert before is not None
    assert after is not None
    assert (before.version, before.doc) == (after.version, after.doc)


async def test_decisions_of_people_come_from_the_record() -> None:
    """An approval asked for, granted, and the call made: none of it happens again."""
    outside = Outside()
    tool = {**engine_of(outside).library.tools[0].raw, "approval": {}}
    engine = engine_of(outside, tools=[tool])
    session = await talk(engine, "Pay", "Bob", "80")
    waiting = session.pending_approval
    assert waiting is not None
    session = await engine.approve(session, waiting["id"], by="eve", note="fine")
    assert "the fee is 8" in (session.response or "")
    outside.gone = True
    found = await engine.replay(session)
    assert found.same, found.text()


async def test_a_turn_that_failed_fails_again() -> None:
    """The repaired conversation goes on from there, on record and again."""
    outside = Outside()
    again = {"id": "b", "type": "FLOW", "value": "Loop", "callType": "replace"}
    flows = [flow_of(ask("x", "?"), again, say("e", "end")), flow_of(again, name="Loop")]
    engine = engine_of(outside, flows, max_steps=50)
    session: Session = await talk(engine, "Pay")
    with pytest.raises(FlowExecutionError, match="more than 50 steps") as raised:
        await engine.update_activity("5", session)
    session = raised.value.session
    session = await engine.update_activity("Pay", session)
    found = await engine.replay(session)
    assert found.same, found.text()
    assert found.turns == 3


async def test_a_masked_value_that_is_needed_is_never_equal() -> None:
    """The PIN is masked in the record, so the step that works on it cannot be run again."""
    outside = Outside()
    flow = flow_of(
        ask("pin", "Your PIN?", pii=True), put("last", "pin.slice(-1)"), say("tell", "Thank you.")
    )
    engine = engine_of(outside, [flow])
    session = await talk(engine, "Pay", "4711")
    found = await engine.replay(session)
    assert not found.same
    assert found.difference is None
    assert found.outcome == "not replayable"
    (gap,) = found.not_replayable
    assert (gap.turn, gap.what, gap.why) == (2, "message:3", "masked")
    assert "not replayable from turn 2" in found.text()
    assert "message:3 is needed and is masked" in found.text()


CALLING = call("fee", amount="{{pin}}")
CASE = {
    "id": "long",
    "type": "CASE",
    "branches": {"condition: pin.length > 3": say("long", "Long."), "default": say("s", "Short.")},
}
INNER = {"id": "sub", "type": "FLOW", "value": "Sub", "parameters": {"p": "{{pin}}", "q": "plain"}}
SUB = flow_of(say("in", "In: {{p}}, {{q}}"), name="Sub")


@pytest.mark.parametrize(
    ("steps", "same"),
    [
        ([say("tell", "Your PIN is {{pin}}.")], True),
        ([put("again", "pin"), say("tell", "{{again}}!")], True),
        ([CALLING, say("tell", "The fee is {{fee}}.")], True),
        ([INNER], True),
        ([put("both", "({a: pin, n: pin.length})"), say("tell", "{{both.a}}")], True),
        ([put("both", "({a: pin, n: pin.length})"), put("x", "both.n > 3")], False),
        ([put("n", "pin.length")], False),
        ([say("tell", "{{pin ? 'Yes' : 'No'}}")], False),
        ([CASE], False),
        ([put("r", "rounded(pin)")], False),
    ],
)
async def test_a_masked_value_that_is_only_handed_on(
    steps: list[dict[str, Any]], same: bool
) -> None:
    """Into a text, another variable, a call, a flow: that is told. Whoever works on it, or
    decides by it, needs it."""
    flow = flow_of(ask("pin", "Your PIN?", pii=True), *steps, ask("more", "More?"))
    engine = engine_of(Outside(), [flow, SUB])
    session = await talk(engine, "Pay", "4711", "no")
    found = await engine.replay(session)
    assert found.same == same, found.text()
    assert found.difference is None
    assert found.handed_on >= same
    if same:
        assert "handed on what is masked" in found.text()
        assert found.to_json()["handedOn"] == found.handed_on


@pytest.mark.parametrize(
    ("new", "step"),
    [
        (say("tell", "Goodbye {{more}}."), "Pay/tell"),
        (say("tell", "Thanks {{more}} {{pin.length > 20}}."), ""),
    ],
)
async def test_new_flows_go_on_past_what_is_masked(new: dict[str, Any], step: str) -> None:
    """A difference at a step that has nothing to do with it is told, whatever was needed before;
    at one that has, nothing is proven."""
    before = (ask("pin", "Your PIN?", pii=True), put("n", "pin.length"), ask("more", "More?"))
    engine = engine_of(Outside(), [flow_of(*before, say("tell", "Thanks {{more}}."))])
    session = await talk(engine, "Pay", "4711", "Ann")
    found = await engine.replay(session, flows=[flow_of(*before, new)])
    assert [gap.what for gap in found.not_replayable[:1]] == ["message:3"]
    if not step:
        assert found.outcome == "not replayable"
        return
    assert found.outcome == "different"
    assert found.difference is not None
    assert (found.difference.step, found.difference.cause) == (step, "flow")
    assert found.difference.replies == ("Thanks Ann.", "Goodbye Ann.")
    assert "message:3 is needed and is masked" in found.text()


async def test_a_masked_value_that_nobody_reads_is_in_nobodys_way() -> None:
    """A tool tells a token beside what is used of its answer: every step is still the same."""
    outside = Outside()

    def do_fee(args: dict[str, Any]) -> dict[str, Any]:
        return {"value": 8, "token": "s3cr3t-t0ken"}

    engine = engine_of(outside, functions={"do_fee": do_fee})
    session = await talk(engine, "Pay", "Bob", "80")
    found = await engine.replay(session)
    assert found.same, found.text()
    assert "s3cr3t" not in found.text()


async def test_a_record_without_its_beginning_is_not_replayable() -> None:
    """A conversation too long to be kept whole says what is missing."""
    engine = engine_of(Outside())
    session = await talk(engine, "Pay", "Bob", "80")
    first = session.commits[0].seq
    session.commits = session.commits[4:]
    found = await engine.replay(session)
    assert (first, found.outcome) == (1, "not replayable")
    assert "commits 1 to 4 is needed and is not on record" in found.text()


async def test_only_the_first_turns() -> None:
    """`turns` bounds the work; a senseless bound is refused."""
    engine = engine_of(Outside())
    session = await talk(engine, "Pay", "Bob", "80")
    assert (await engine.replay(session, turns=2)).turns == 2
    with pytest.raises(CallerError, match="turns is 0"):
        await engine.replay(session, turns=0)


async def test_a_conversation_nobody_knows() -> None:
    """An id that no conversation of the store has."""
    async with engine_of(Outside(), store=MemoryStore()) as engine:
        with pytest.raises(UnknownSession):
            await engine.replay("nobody")


async def test_changed_flows_show_the_first_difference_with_its_cause() -> None:
    """Which step was changed, what it said and says, and how the reply changes."""
    outside = Outside()
    engine = engine_of(outside)
    session = await talk(engine, "Pay", "Bob", "80")
    outside.gone = True
    changed = {**PAYING, "steps": [*PAYING["steps"][:3], say("tell", "It costs {{fee.value}}.")]}
    found = await engine.replay(session, flows=[changed])
    difference = found.difference
    assert difference is not None
    assert difference.cause == "flow"
    assert difference.step == "Pay/tell"
    assert difference.replies == ("80 to Bob, the fee is 8.", "It costs 8.")
    assert "value was {{amount}} to {{payee}}, the fee is {{fee.value}}." in difference.why
    assert "is It costs {{fee.value}}." in difference.why
    assert (await engine.replay(session, flows=[PAYING])).same


async def test_a_step_that_is_new_and_one_that_is_gone() -> None:
    """The difference names what came there, and what comes now."""
    engine = engine_of(Outside())
    session = await talk(engine, "Pay", "Bob", "80")
    steps = PAYING["steps"]
    more = {**PAYING, "steps": [*steps[:2], say("new", "One moment."), *steps[2:]]}
    found = (await engine.replay(session, flows=[more])).difference
    assert found is not None
    assert "CALL-TOOL call-fee" in found.why
    assert "now SAY new" in found.why
    less = {**PAYING, "steps": [steps[0], *steps[2:]]}
    found = (await engine.replay(session, flows=[less])).difference
    assert found is not None
    assert found.turn == 2


async def test_a_call_with_other_arguments_has_no_answer_on_record() -> None:
    """It would have been made, and is told with its arguments."""
    outside = Outside()
    engine = engine_of(outside)
    session = await talk(engine, "Pay", "Bob", "80")
    outside.gone = True
    steps = PAYING["steps"]
    other = {**PAYING, "steps": [*steps[:2], call("fee", amount="{{payee}}"), *steps[3:]]}
    found = (await engine.replay(session, flows=[other])).difference
    assert found is not None
    assert found.cause == "flow"
    assert "args was" in found.why


async def test_steps_that_only_stand_elsewhere_are_the_same() -> None:
    """A branch that nobody took moves the steps behind it; they count as what they say."""
    engine = engine_of(Outside(), [flow_of(ask("x", "?"), say("end", "{{x}}"))])
    session = await talk(engine, "Pay", "1")
    branches = {"condition: false": say("no", "never"), "default": put("y", "1")}
    case = {"id": "check", "type": "CASE", "branches": branches}
    moved = flow_of(ask("x", "?"), case, say("end", "{{x}}"))
    found = (await engine.replay(session, flows=[moved])).difference
    assert found is not None
    assert "CASE check" in found.why


async def test_flows_are_those_of_then() -> None:
    """A conversation that two versions of a flow took part in runs on both, each in its turns."""
    store = MemoryStore()
    before = flow_of(ask("x", "Old?"), say("end", "old {{x}}"))
    after = flow_of(ask("x", "New?"), say("end", "new {{x}}"))
    said: list[str | None] = []
    for flow, texts in ((before, ("Pay",)), (after, ("1", "Pay", "2"))):
        async with engine_of(Outside(), [flow], store=store) as engine:
            said += [(await engine.take_turn("c1", text)).response for text in texts]
    assert said == ["Old?", "old 1", "New?", "new 2"]
    async with engine_of(Outside(), [after], store=store) as engine:
        found = await engine.replay("c1")
        newest = engine.charts.find("pay")
        changed = await engine.replay("c1", flows=[after])
        assert engine.charts.find("pay") is newest
    assert found.same, found.text()
    assert changed.difference is not None
    assert changed.difference.turn == 1


async def test_replies_that_differ_show_nothing_that_a_record_masks() -> None:
    """What was made sensitive in an earlier turn is still so in a later one that runs again."""
    steps = (ask("amount", "How much?"), {**put("twice", "Number(amount) * 2"), "pii": True})
    flow = flow_of(*steps, ask("more", "More?"), say("tell", "{{more}} {{twice}}."))
    other = flow_of(*steps, ask("more", "More?"), say("tell", "{{more}} {{twice}}!"))
    engine = engine_of(Outside(), [flow])
    session = await talk(engine, "Pay", "80", "yes")
    found = await engine.replay(session, flows=[other])
    assert found.difference is not None
    assert found.difference.replies == ("yes [REDACTED].", "yes [REDACTED]!")
    assert "160" not in f"{found.to_json()} {found.text()}"
