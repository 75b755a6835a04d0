"""What becomes of a message, step by step of the routing chart."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.chart.commit import Commit
from saywhy.errors import FlowExecutionError
from saywhy.flows.turn import NODES, ROUTING, routing_chart
from saywhy.runtime.session import Session
from tests.flows.conftest import ask, engine_of, flow, say, talk

ALPHA = flow(ask("x"), say("a {{x}}"), name="Alpha", interruptable=True)
BETA = flow(say("b"), name="Beta")


def routed(session: Session) -> list[str]:
    """The routing steps of the last turn, in order, each once."""
    steps = [
        one.node
        for one in session.commits
        if one.flow == ROUTING and one.turn == session.state.turn
    ]
    return list(dict.fromkeys(steps))


def commit(session: Session, node: str) -> Commit:
    return next(one for one in reversed(session.commits) if one.node == node)


def test_the_chart_has_a_step_for_each_way() -> None:
    """It goes through JSON like any other, and its digest does not change by itself."""
    assert list(routing_chart().nodes) == [name for name, _ in NODES]
    assert routing_chart().digest == routing_chart().digest


async def test_the_ways_of_a_message() -> None:
    """Start, answer, command, interruption, host's start: each leaves its steps."""
    engine = engine_of(ALPHA, BETA)
    session = await talk(engine, "Alpha")
    assert routed(session) == ["receive", "intent"]
    helped = await talk(engine, "help", session=session)
    assert routed(helped) == ["receive", "command"]
    switched = await talk(engine, "beta", session=session)
    assert routed(switched) == ["receive", "interruption"]
    answered = await talk(engine, "hello", session=session)
    assert routed(answered) == ["receive", "interruption", "resume"]
    cancelled = await talk(engine, "cancel", session=session)
    assert routed(cancelled) == ["receive", "command"]
    started = await talk(engine, {"content": "", "start": {"flow": "Beta"}}, session=session)
    assert routed(started) == ["receive", "start"]
    nothing = await talk(engine, "hello")
    assert routed(nothing) == ["receive", "intent"]


async def test_routing_leaves_nothing_behind() -> None:
    """Its cursor is empty at rest, and so is its scope."""
    session = await talk(engine_of(ALPHA, BETA), "Alpha", "beta")
    assert session.routing.frames == []
    assert "routing" not in session.state.scopes
    assert "text" not in session.state.scopes["turn"]


async def test_the_decision_names_what_matched() -> None:
    """By name or id, or by a part of it; without a match the decision is none."""
    engine = engine_of(ALPHA, BETA)
    found = commit(await talk(engine, "alpha"), "intent").decision
    assert found is not None
    assert (found.chosen, found.conditions[0].text) == ("Alpha", "exact match of a name or id")
    found = commit(await talk(engine, "et"), "intent").decision
    assert found is not None
    assert (found.chosen, found.conditions[0].text) == ("Beta", "partial match of a name or id")
    found = commit(await talk(engine, "xyz"), "intent").decision
    assert found is not None
    assert (found.chosen, found.default) == ("none", True)


async def test_the_words_are_the_root_of_what_follows() -> None:
    """The first commit writes them, every later one points at them."""
    session = await talk(engine_of(ALPHA), "Alpha")
    received = commit(session, "receive")
    assert [(op.key, op.value) for op in received.ops] == [(("input", "1"), "Alpha")]
    assert received.facts == {"message": 1}
    assert commit(session, "intent").reads == (("input", "1"),)


async def test_the_hosts_changes_to_cargo_are_writes() -> None:
    """Set and taken away, in the record of the turn they came with."""
    engine = engine_of(ALPHA)
    session = engine.init_session("user-1", "c1")
    session.cargo["plan"] = "gold"
    session = await talk(engine, "Alpha", session=session)
    session.cargo["new"] = [1]
    del session.cargo["plan"]
    session = await engine.update_activity("x", session)
    written = [(op.verb, op.key) for op in commit(session, "receive").ops]
    assert written == [
        ("set", ("input", "3")),
        ("set", ("cargo", "new")),
        ("delete", ("cargo", "plan")),
    ]
    assert session.cargo == {"new": [1]}


async def test_a_flow_that_waits_for_nothing_takes_up_where_it_stood() -> None:
    """The next message is its userInput, and no answer to anything."""
    engine = engine_of(
        flow({"type": "FLOW", "value": "Bad"}, ask("x", "{{userInput}}?")),
        flow({"type": "SET", "variable": "v"}, name="Bad"),
    )
    with pytest.raises(FlowExecutionError) as caught:
        await talk(engine, "Main")
    session = await talk(engine, " go ", session=caught.value.session)
    assert session.response == "go?"


async def test_two_flows_of_one_name() -> None:
    """The first one given counts, by routing as well as by FLOW."""
    engine = engine_of(flow(say("first")), {**flow(say("second")), "id": "other"})
    assert (await talk(engine, "Main")).response == "first"
    assert (await talk(engine, "other")).response == "second"


async def test_entries_carry_their_own_language() -> None:
    """A message may change the language of the conversation from there on."""
    engine = engine_of(flow(ask("x", "q", value_es="p"), ask("y", "q", value_es="p")))
    session = engine.init_session("user-1", "c1")
    session = await talk(engine, "Main", session=session)
    assert session.response == "q"
    session.language = "es"
    assert (await talk(engine, "1", session=session)).response == "p"


async def test_the_same_words_twice_are_two_answers() -> None:
    """Nothing of a message is remembered by its text."""
    engine = engine_of(flow(ask("x"), ask("y"), say("{{x}} {{y}}")))
    session: Any = await talk(engine, "Main", "same", "same")
    assert session.response == "same same"


async def test_a_part_of_a_name_may_be_too_little() -> None:
    """With the safe guard only entry points start so, and not by a syllable."""
    helper = flow(say("nothing to do"), name="no-action-needed")
    pay = flow(say("paid"), name="Notify and pay", primary=True)
    assert (await talk(engine_of(helper, pay), "no")).response == "nothing to do"
    safe = engine_of(helper, pay, partial_match="safe")
    assert [(await talk(safe, text)).response for text in ("no", "action", "NOTIFY")] == [
        None,
        None,
        "paid",
    ]
    assert (await talk(safe, "no-action-needed")).response == "nothing to do"
