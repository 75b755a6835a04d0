"""RETURN, END and DISPATCH."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.chart.outcome import Return
from saywhy.flows.endings import dispatch, end, reply_text, return_value
from saywhy.flows.speech import QUEUE, REPLY, TENTATIVE, plain
from saywhy.values import UNDEFINED, BigInt, Date, NonFinite, freeze, thaw
from tests.flows.conftest import Lines, ask, engine_of, flow, say, scope_at, talk, world_of


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (UNDEFINED, ""),
        ("", ""),
        ("a", "a"),
        (0, "0"),
        (1.5, "1.5"),
        (True, "true"),
        (NonFinite(float("nan")), "NaN"),
        (NonFinite(float("-inf")), "-Infinity"),
        (BigInt(2**70), str(2**70)),
        (Date(0), '"1970-01-01T00:00:00.000Z"'),
        ([], ""),
        ([1, None, [2, UNDEFINED], {"a": []}], '1,,2,,{"a":[]}'),
        ({"a": None}, '{"a":null}'),
    ],
)
def test_what_a_user_sees_of_a_value(value: Any, text: str) -> None:
    """Lists by commas, objects as JSON, nothing for nothing."""
    assert reply_text(freeze(value)) == text


@pytest.mark.parametrize(
    ("step", "reply"),
    [
        ({"value": "'v'"}, "v"),
        ({"value": "'v'", "keepSay": True}, "said\n\nv"),
        ({"value": "''", "keepSay": True}, "said"),
        ({"value": "''"}, ""),
        ({}, ""),
        ({"value": 5}, "5"),
    ],
)
def test_a_return_ends_all_with_its_value(step: dict[str, Any], reply: str) -> None:
    """What was queued goes along or is dropped, the placeholder is always dropped."""
    world = world_of(flow({"type": "RETURN", **step}))
    scope = scope_at(world)
    scope.state.scopes["session"] |= {"queue": [["said", 1]], "tentative": "Processing"}
    outcome = return_value(world, scope.node, scope)
    assert isinstance(outcome, Return)
    assert (outcome.unwind, outcome.how) == ("all", "returned")
    assert plain(thaw(scope.peek(REPLY))) == reply
    assert scope.peek(QUEUE) is UNDEFINED
    assert scope.peek(TENTATIVE) is UNDEFINED


def test_an_end_ends_one_flow() -> None:
    """Queue and variables stay as they are."""
    world = world_of(flow({"type": "END"}))
    scope = scope_at(world)
    assert end(world, scope.node, scope) == Return()
    assert scope.ops == []


def test_a_dispatch_leaves_no_words() -> None:
    """Nothing that was said, and the name of the flow for the record."""
    world = world_of(flow({"type": "DISPATCH"}))
    scope = scope_at(world)
    scope.state.scopes["session"] |= {"queue": [["said", 1]], "tentative": "Processing"}
    scope.state.scopes["turn"]["reply"] = [["earlier", 1]]
    outcome = dispatch(world, scope.node, scope)
    assert isinstance(outcome, Return)
    assert (outcome.unwind, outcome.how) == ("all", "dispatched")
    assert [scope.peek(key) for key in (QUEUE, TENTATIVE, REPLY)] == [UNDEFINED] * 3
    assert scope.peek(("turn", "dispatched")) == "Main"


async def test_a_flow_that_dispatches_at_once_is_an_error_in_the_log() -> None:
    """Routed once, it is not routed again."""
    log = Lines()
    loop = flow({"type": "DISPATCH"}, name="Loop")
    session = await talk(engine_of(loop, logger=log), "Loop")
    assert session.response is None
    assert session.last_turn_dispatch == {"fromFlow": "Loop", "matchedFlow": "Loop"}
    assert log.lines == ["E Loop reached DISPATCH before any SAY-GET: not routed again"]


async def test_dispatched_flows_end_in_order() -> None:
    """Bottom first, the dispatching one last; only those that declared nothing have failed."""
    engine = engine_of(
        flow(ask("x"), {"type": "FLOW", "value": "Sub"}),
        flow({"type": "DISPATCH", "outcome": "moved"}, name="Sub"),
    )
    session = await talk(engine, "Main", "elsewhere")
    assert [(one["flowName"], one["state"]) for one in session.completed_transactions] == [
        ("Main", "failed"),
        ("Sub", "completed"),
    ]
    assert session.completed_transactions[0]["failureReason"] == "dispatched"
    assert session.last_chat_turn["user"]["content"] == "elsewhere"


async def test_returned_flows_are_complete() -> None:
    """All of them; only the executing one carries what its RETURN declares."""
    engine = engine_of(
        flow(say("a"), {"type": "FLOW", "value": "Sub"}),
        flow({"type": "RETURN", "value": "'r'", "outcome": "unresolved"}, name="Sub"),
    )
    session = await talk(engine, "Main")
    assert [(one["flowName"], one["state"]) for one in session.completed_transactions] == [
        ("Main", "completed"),
        ("Sub", "failed"),
    ]


async def test_a_return_in_the_users_language() -> None:
    """The expression of the language is evaluated, and it is the one that the record names."""
    main = flow({"type": "RETURN", "value": "'Total ' + 2", "value_es": "'Suma ' + 3"})
    engine = engine_of(main)
    session = engine.init_session("u", language="es-MX")
    session = await talk(engine, "Main", session=session)
    assert session.response == "Suma 3"
    told = session.trace.why().causes[1].sentence
    assert told == """returned by RETURN "s0" of Main: `'Suma ' + 3`"""
    plain = await talk(engine, "Main")
    assert plain.response == "Total 2"
    assert plain.trace.why().causes[1].sentence.endswith("`'Total ' + 2`")
