"""Promise: a turn runs again without a piece; what changes is told, and nothing is done again."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy import MemoryStore, ScriptedModel
from saywhy.errors import CallerError
from saywhy.runtime.replay.counterfactual import told_error
from saywhy.runtime.replay.masked import Gap
from saywhy.testing.clock import FakeClock
from tests.runtime.replay.conftest import (
    Outside,
    ask,
    call,
    engine_of,
    flow_of,
    put,
    say,
    talk,
    tool_of,
)


async def paid(outside: Outside, *flows: Any, **options: Any) -> tuple[Any, Any]:
    engine = engine_of(outside, flows, **options) if flows else engine_of(outside, **options)
    session = await talk(engine, "Pay", "Bob", "80")
    outside.gone = True
    return engine, session


async def test_a_tool_that_had_answered_nothing() -> None:
    """The reply without its answer, the first step that is another one, and no call made."""
    outside = Outside()
    engine, session = await paid(outside)
    number = next(
        one.seq for one in session.commits if one.answered and one.answered.kind == "tool"
    )
    before = list(outside.calls)
    found = await engine.counterfactual(session, f"tool_result:{number}")
    assert found.changed
    assert found.certain
    assert found.met
    assert found.reply == "80 to Bob, the fee is 8."
    assert found.reply_without == "80 to Bob, the fee is undefined."
    assert found.difference is not None
    assert found.difference.commit == number
    assert found.difference.step == "Pay/call-fee"
    assert outside.calls == before


async def test_words_that_were_never_said() -> None:
    """There is no turn of them: the next words answer the question that was open."""
    outside = Outside()
    flow = flow_of(
        ask("payee", "To whom?"), ask("amount", "How much?"), say("tell", "{{amount}}, {{payee}}.")
    )
    engine, session = await paid(outside, flow)
    found = await engine.counterfactual(session, "message:3")
    assert found.reply == "80, Bob."
    assert found.reply_without == "How much?"
    assert found.difference is not None
    assert found.difference.now == "the turn is left out"
    last = await engine.counterfactual(session, "message:5")
    assert (last.reply, last.reply_without) == ("80, Bob.", None)


async def test_a_call_that_was_never_made_is_told_and_not_made() -> None:
    """Other words would lead to another call: it is named with its arguments."""
    outside = Outside()
    flow = flow_of(
        ask("payee", "To whom?"),
        put("amount", "payee.length > 3 ? 1 : 2"),
        call("fee", amount="{{amount}}{{cargo.more}}"),
        say("tell", "{{fee.value}}"),
    )
    engine = engine_of(outside, [flow])
    session = engine.init_session("ann", "c1")
    session.cargo["more"] = "x"
    for text in ("Pay", "Bob"):
        session = await engine.update_activity(text, session)
    outside.gone = True
    found = await engine.counterfactual(session, "host:cargo.more")
    assert (
        found.would_call
        == ('would have called fee with {"amount":"2"}, and no answer is on record',)
        or "would have called fee" in found.would_call[0]
    )
    assert found.reply_without is None
    assert "it was not made" in found.text()
    assert (found.changed, found.certain) == (None, False)


async def test_the_turns_after_a_call_that_is_not_on_record() -> None:
    """A turn that stopped leaves nothing to go on with: the next words are no answer of its tool,
    and nothing is claimed of the reply."""
    outside = Outside()
    flow = flow_of(
        ask("a", "a?"),
        ask("b", "b?"),
        call("fee", amount="{{cargo.more}}"),
        ask("c", "c?"),
        say("tell", "{{c}}, fee {{fee.value}}"),
    )
    engine = engine_of(outside, [flow])
    session = engine.init_session("ann", "c1")
    session.cargo["more"] = "80"
    for text in ("Pay", "1", "2", "3"):
        session = await engine.update_activity(text, session)
    outside.gone = True
    found = await engine.counterfactual(session, "host:cargo.more")
    assert found.turn == 4
    assert found.would_call == (
        'would have called fee with {"amount":""}, and no answer is on record',
    )
    assert (found.changed, found.certain, found.reply_without) == (None, False, None)
    assert found.not_replayable == ()
    assert "whether the reply changes cannot be told" in found.text()


async def test_a_default_and_a_global_that_were_not_there() -> None:
    """The variable is unset then, and so is the global."""
    outside = Outside()
    flow = flow_of(
        ask("payee", "To whom?"),
        say("tell", "{{limit === undefined ? 'no limit' : limit}} {{bank || 'no bank'}}"),
    )
    flow["variables"] = {"limit": {"type": "number", "value": 50}}
    engine = engine_of(outside, [flow], globals={"bank": "Post"})
    session = await talk(engine, "Pay", "Bob")
    assert session.response == "50 Post"
    without = await engine.counterfactual(session, "default:Pay/limit")
    assert without.reply_without == "no limit Post"
    without = await engine.counterfactual(session, "global:bank")
    assert without.reply_without == "50 {{bank || 'no bank'}}"  # as of any unknown name


async def test_a_model_is_asked_only_what_it_was_never_asked() -> None:
    """The recorded answer stays with the recorded request; another request goes to the model."""
    flow = flow_of(ask("x", "?"), say("end", "{{x}}"), description="Pays money")
    other = flow_of(say("tell", "Good day."), name="Greet", description="Greets")
    script = [
        {"for": "detect_flow", "reply": {"flowName": "Pay", "parameters": {}}},
    ]
    engine = engine_of(Outside(), [flow, other], model=ScriptedModel(script))
    session = await talk(engine, "give me some cash", "5")
    asked = ScriptedModel([{"for": "detect_flow", "reply": {"flowName": "Greet"}}])
    found = await engine.counterfactual(session, "message:1", turn=2, model=asked)
    assert found.asked == 1
    assert found.reply_without == "Good day."
    same = await engine.counterfactual(session, "message:3", turn=2, model=asked)
    assert same.asked == 0


async def test_without_a_model_the_answer_on_record_is_assumed() -> None:
    """And the result says so: it is not certain."""
    flow = flow_of(ask("x", "?"), say("end", "{{x}}"), description="Pays money")
    script = [
        {"for": "detect_flow", "reply": {"flowName": None}},
        {"for": "detect_flow", "reply": {"flowName": "Pay", "parameters": {}}},
    ]
    engine = engine_of(Outside(), [flow], model=ScriptedModel(script))
    session = await talk(engine, "hm", "give me some cash")
    found = await engine.counterfactual(session, "message:1", turn=2)
    assert len(found.assumed) == 1
    assert found.assumed[0].startswith("model:")
    assert not found.certain
    assert "as far as can be told" in found.text()
    assert "though something else was asked" in found.text()


async def test_a_stored_conversation_and_an_earlier_turn() -> None:
    """`turn` says which reply is asked about; the store stays as it is."""
    outside, store = Outside(), MemoryStore()
    async with engine_of(outside, store=store) as engine:
        for text in ("Pay", "Bob", "80"):
            await engine.take_turn("c1", text)
        before = await store.session("c1")
        found = await engine.counterfactual("c1", "message:1", turn=2)
        assert await store.session("c1") == before
    assert (found.turn, found.reply) == (2, "How much?")
    assert found.changed
    with pytest.raises(CallerError, match="message:5 is of turn 3, and turn 2 is asked about"):
        async with engine_of(outside, store=store) as engine:
            await engine.counterfactual("c1", "message:5", turn=2)


async def test_a_piece_that_plays_no_part() -> None:
    """A tool whose answer nobody used changes nothing."""
    outside = Outside()
    flow = flow_of(ask("payee", "To whom?"), call("fee", amount="1"), say("tell", "To {{payee}}."))
    engine, session = await paid(outside, flow)
    number = next(
        one.seq for one in session.commits if one.answered and one.answered.kind == "tool"
    )
    found = await engine.counterfactual(session, f"tool_result:{number}", turn=2)
    assert not found.changed
    assert found.met
    assert "the same reply" in found.text()


async def test_masked_words_leave_it_open() -> None:
    """What was masked and is needed makes the answer no more than likely, and says so."""
    outside = Outside()
    flow = flow_of(
        ask("pin", "PIN?", pii=True),
        call("fee", amount="{{pin.length}}"),
        say("tell", "{{fee.value}}"),
    )
    engine = engine_of(outside, [flow], tools=[tool_of("fee", "amount")])
    session = await talk(engine, "Pay", "4711")
    number = next(
        one.seq for one in session.commits if one.answered and one.answered.kind == "tool"
    )
    found = await engine.counterfactual(session, f"tool_result:{number}")
    assert found.not_replayable
    assert not found.certain
    assert found.changed is None
    assert "whether the reply changes cannot be told" in found.text()
    assert "4711" not in found.text()


async def test_the_reply_of_a_masked_turn_is_the_one_on_record() -> None:
    """Not what a run on the mask says; and whether it changes is not claimed."""
    flow = flow_of(
        ask("pin", "PIN?", pii=True),
        {"id": "read", "type": "SET", "variable": "y", "value": "JSON.parse(pin).a"},
        ask("x", "X?"),
        say("tell", "Thanks {{y}}, {{x}}."),
    )
    session = await talk(engine := engine_of(Outside(), [flow]), "Pay", '{"a":5}', "7")
    found = await engine.counterfactual(session, "message:3")
    assert found.reply == "Thanks [REDACTED], 7."
    assert found.changed is None
    assert found.to_json()["changed"] is None
    assert "another reply" not in found.text()


HIDDEN = flow_of(
    ask("payee", "To whom?"),
    ask("amount", "How much?"),
    {**put("twice", "Number(amount) * 2"), "pii": True},
    {**say("tell", "You are {{payee}}"), "pii": True},
    ask("more", "Twice is {{twice}}. More?"),
    say("end", "{{more}} {{twice}}"),
)


@pytest.mark.parametrize(
    ("without", "turn"), [("message:3", 3), ("message:5", 3), ("message:7", 4)]
)
async def test_what_a_record_masks_is_masked(without: str, turn: int) -> None:
    """Also where it is short, and was found to be sensitive in an earlier turn."""
    engine = engine_of(Outside(), [HIDDEN])
    session = await talk(engine, "Pay", "Bob", "80", "yes", "more")
    found = await engine.counterfactual(session, without, turn=turn)
    told = f"{found.to_json()} {found.text()}"
    assert found.changed
    assert "160" not in told
    assert "You are" not in told


async def test_what_was_masked_before_is_in_nobodys_way() -> None:
    """A turn that needed it came to what is on record; one that does not need it can be tried."""
    pin = (ask("pin", "Your PIN?", pii=True), put("n", "pin.length"))
    steps = (*pin, ask("more", "More?"), ask("even", "{{more}}, and?"), ask("x", "{{even}}?"))
    engine = engine_of(Outside(), [flow_of(*steps)])
    session = await talk(engine, "Pay", "4711", "Ann", "Bob")
    found = await engine.counterfactual(session, "message:5", turn=4)
    assert (found.changed, found.certain) == (True, True)
    assert (found.reply, found.reply_without) == ("Bob?", "Bob, and?")
    needed = await engine.counterfactual(session, "message:3", turn=4)
    assert needed.changed is None or "4711" not in needed.text()


async def test_what_it_leads_to_may_need_something_masked_all_the_same() -> None:
    """Marks are known where the piece is taken away, so what then reads one is told."""
    pin = (ask("pin", "Your PIN?", pii=True), ask("more", "More?"))
    branches = {
        "condition: more === 'Ann'": say("a", "Hello"),
        "default": say("b", "{{pin.length}} letters"),
    }
    case = {"id": "case", "type": "CASE", "branches": branches}
    engine = engine_of(Outside(), [flow_of(*pin, case, ask("x", "So?"))])
    session = await talk(engine, "Pay", "4711", "Ann", "Bob")
    found = await engine.counterfactual(session, "message:5", turn=4)
    assert found.changed is None
    assert ("message:3", "masked") in [(gap.what, gap.why) for gap in found.not_replayable]


async def test_a_reply_that_differs_in_what_is_masked() -> None:
    """Is another one, although it looks the same; neither is shown."""
    short = flow_of(
        ask("payee", "To whom?"),
        {**put("name", "payee + cargo.more"), "pii": True},
        ask("end", "Dear {{name}}"),
    )
    engine = engine_of(Outside(), [short])
    session = engine.init_session("ann", "c1")
    session.cargo["more"] = "77"
    for words in ("Pay", "Bob"):
        session = await engine.update_activity(words, session)
    found = await engine.counterfactual(session, "host:cargo.more", turn=2)
    assert found.reply == found.reply_without == "Dear [REDACTED]"
    assert found.changed
    assert "differs  in what is masked" in found.text()
    assert found.to_json()["hidden"]


def test_a_mask_is_to_blame_for_what_fails_on_it() -> None:
    """And not the error that the step raised, which says nothing of the turn as it was."""
    gap = Gap(2, 4, "message:3", "masked")
    told = told_error(ValueError("bad input"), [gap])
    assert told == "message:3 is masked in the record, and a step cannot work with that"
    assert told_error(ValueError("bad input"), []) == "bad input"


async def test_a_step_is_refused_with_what_answers_that() -> None:
    """Flows without it are tried by a replay."""
    _, session = await paid(Outside())
    engine = engine_of(Outside())
    with pytest.raises(CallerError, match='"step:Pay/tell" cannot be taken away') as raised:
        await engine.counterfactual(session, "step:Pay/tell")
    assert "saywhy replay --flows NEW" in (raised.value.hint or "")


async def test_a_record_whose_beginning_is_gone() -> None:
    """What was set by then nobody knows, so nothing is claimed, and what is missing is named."""
    clock, outside = FakeClock(), Outside()
    flow = flow_of(
        ask("x", "x?"), say("tell", "{{cargo.more === 'y' ? 'plain' : 'it is ' + cargo.old}}")
    )
    engine = engine_of(outside, [flow], store=MemoryStore(clock), clock=clock)
    given = {"user_id": "ann"}
    await engine.take_turn("c1", "hm", cargo={"old": "set"}, **given)
    clock.advance(1000)
    await engine.take_turn("c1", "Pay", cargo={"more": "y"}, **given)
    assert engine.store is not None
    assert await engine.store.prune(500) == 1
    await engine.take_turn("c1", "9", **given)
    found = await engine.counterfactual("c1", "host:cargo.more")
    assert (found.reply, found.reply_without, found.changed) == ("plain", None, None)
    assert "commits 1 to 2 is needed and is not on record" in found.text()
