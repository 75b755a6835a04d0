"""An interruption that is offered: taken, declined, withdrawn, and kept through everything else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from saywhy.errors import CallerError, DamagedSession
from saywhy.runtime.engine import Engine
from saywhy.runtime.session import Session
from saywhy.testing import FakeClock
from tests.flows.conftest import ask, engine_of, flow, run, say, talk

MAIN = flow(
    ask("x", "How much?"),
    say("got {{x}}"),
    interruptable=True,
    prompt="Pay a bill",
    prompt_de="Rechnung zahlen",
)
OTHER = flow(
    ask("y", "Which order?"), say("order {{y}}"), name="Other", interruptable=True, prompt="Track"
)
STRICT = flow(ask("z", "PIN?"), say("thanks"), name="Strict")
OFFER = (
    'You are in the middle of "Pay a bill". '
    'Say "switch" to go to "Track", or "continue" to go on here.'
)
PENDING = {"flow": "other", "targetFlow": "Track", "currentFlow": "Pay a bill"}


def desk(**options: Any) -> Engine:
    return engine_of(MAIN, OTHER, STRICT, offer_interruptions=True, **options)


def offered(session: Session) -> Any:
    assert session.frame is not None
    return session.frame.pending_interruption


async def test_an_interruption_is_offered_and_not_made() -> None:
    """The flow stays, its question stays open, and hosts see what was offered."""
    session = await talk(desk(), "Main", "Other")
    assert session.response == OFFER
    assert session.frame is not None
    assert (session.frame.flow_name, session.frame.last_say_message) == ("Main", "How much?")
    assert offered(session) == PENDING
    assert json.loads(session.to_json())["cursor"]["state"]["scopes"]["session"][
        "pendingInterruption"
    ] == {"flow": "other", "targetFlow": "Track", "currentFlow": "Pay a bill"}


async def test_switch_takes_the_offer() -> None:
    """The other flow runs as after any interruption, and the first one is resumed with its
    question."""
    session = await talk(desk(), "Main", "Other", "switch")
    assert session.response == (
        'Switching to Track.\n\n(Your progress in "Pay a bill" is kept)\n\nWhich order?'
    )
    assert offered(session) is None
    session = await talk(desk(), "7", session=session)
    assert session.response == (
        "order 7\n\nResuming Pay a bill - Type 'cancel flow' or 'help' for options.\n\nHow much?"
    )


async def test_continue_declines_it() -> None:
    """The question is asked again, and "switch" is an answer from then on."""
    session = await talk(desk(), "Main", "Other", "go on")
    assert session.response == "Going on with Pay a bill.\n\nHow much?"
    assert offered(session) is None
    assert (await talk(desk(), "switch", session=session)).response == "got switch"


async def test_any_other_answer_withdraws_it() -> None:
    """It goes to the question that was open all along."""
    session = await talk(desk(), "Main", "Other", "80")
    assert session.response == "got 80"
    session = await talk(desk(), "Main", "switch", session=session)
    assert session.response == "got switch"


async def test_help_and_status_keep_it() -> None:
    """Both are no answer; help lists the words that are."""
    session = await talk(desk(), "Main", "Other", "status", "help")
    assert '• "switch" - Go to Track\n• "continue" - Go on with Pay a bill' in str(session.response)
    assert offered(session) == PENDING
    assert str((await talk(desk(), "switch", session=session)).response).startswith("Switching")


async def test_cancel_ends_the_flow_and_the_offer() -> None:
    """Nothing is left of it in the next flow."""
    session = await talk(desk(), "Main", "Other", "cancel", "Main")
    assert session.response == "How much?"
    assert offered(session) is None


async def test_a_host_that_starts_a_flow_withdraws_it() -> None:
    """What was offered belonged to the flow that was ended."""
    start = {"role": "user", "content": "x", "start": {"flow": "Strict"}}
    session = await talk(desk(), "Main", "Other", start)
    assert (session.response, offered(session)) == ("PIN?", None)


async def test_the_other_name_is_offered_anew() -> None:
    """An offer that is answered by naming the flow again is made again."""
    session = await talk(desk(), "Main", "Other", "Other")
    assert (session.response, offered(session)) == (OFFER, PENDING)


async def test_a_flow_that_cannot_be_interrupted_gets_no_offer() -> None:
    """The name is its answer; nor does a flow with a strict one above it."""
    assert (await talk(desk(), "Strict", "Other")).response == "thanks"
    caller = flow(run("Strict"), name="Caller", interruptable=True)
    engine = engine_of(caller, OTHER, STRICT, offer_interruptions=True)
    assert (await talk(engine, "Caller", "Other")).response == "thanks"


async def test_without_the_option_flows_switch_at_once() -> None:
    """As ever."""
    session = await talk(engine_of(MAIN, OTHER), "Main", "Other")
    assert str(session.response).startswith("Switched to Track")


async def test_an_offer_speaks_the_users_language() -> None:
    """In its sentences, its names and the words that answer it."""
    session = desk().init_session("u", language="de-AT")
    session = await talk(desk(), "Main", "Other", session=session)
    assert session.response == (
        "Sie sind mitten in „Rechnung zahlen“. Sagen Sie „wechseln“, um zu „Track“ zu gehen, "
        "oder „weiter“, um hier fortzufahren."
    )
    session = await talk(desk(), "weiter", session=session)
    assert session.response == "Weiter mit Rechnung zahlen.\n\nHow much?"


async def test_an_offer_of_a_flow_that_is_gone_is_none() -> None:
    """A conversation that goes on with other flows takes the words as the answer."""
    session = await talk(desk(), "Main", "Other")
    engine = engine_of(MAIN, STRICT, offer_interruptions=True)
    assert (await talk(engine, "switch", session=session)).response == "got switch"


async def test_a_damaged_offer_is_found_when_the_session_is_loaded() -> None:
    """And not when it is answered."""
    session = await talk(desk(), "Main", "Other")
    tree = json.loads(session.to_json())
    tree["cursor"]["state"]["scopes"]["session"]["pendingInterruption"] = {"flow": 3}
    with pytest.raises(DamagedSession, match="its scope session cannot be read"):
        desk().load_session(json.dumps(tree))


async def test_the_trace_tells_who_switched() -> None:
    """The reason for the first words is the offer that was taken."""
    engine = engine_of(MAIN, OTHER, offer_interruptions=True, clock=FakeClock())
    session = await talk(engine, "Main", "Other", "switch")
    said = [cause.sentence for cause in session.trace.why().causes]
    assert said[1].endswith("was said by the engine, because the user's message takes up an offer")
    assert said[3] == "Other interrupted another flow, as the user said in turn 3"
    assert "Flow Other interrupted the one that ran." in session.trace.narrative(3)


@pytest.mark.parametrize("commands", [False, ["cancel"], ["switch"]])
def test_an_offer_nobody_could_answer_is_refused(commands: Any) -> None:
    """Both words must be commands."""
    with pytest.raises(CallerError) as caught:
        desk(commands=commands)
    assert str(caught.value) == (
        "offer_interruptions needs the commands switch and continue, which answer an offer"
    )
    assert 'commands=["cancel", "switch", "continue"]' in caught.value.hint
