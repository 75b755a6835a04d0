"""A flow that calls an agent that calls a flow that asks: one session, one record, anywhere.

That it is killed at every boundary is tried by the proof of effects (`testing/test_prove_effects`).
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import pytest

from saywhy.errors import DamagedSession, OutsideError
from saywhy.runtime.engine import Engine
from saywhy.stores.sqlite import SqliteStore
from saywhy.testing import Fault, Faults, Ledger
from saywhy.testing.prove.record import played
from saywhy.trace.causes.why import Reply
from saywhy.trace.trace import Trace
from tests.journeys import agent_desk
from tests.journeys.agent_desk import REPLIES, SESSION, WORDS, engine_at


@dataclass
class Stopped:
    """How a conversation went that stopped at each need."""

    replies: list[str | None]
    engines: int = 0


def gone() -> NoReturn:
    raise OutsideError("the machine is gone")


async def plainly(folder: Path) -> list[str | None]:
    async with engine_at(folder) as engine:
        return [
            (await engine.take_turn(SESSION, text, message_id=f"m{number}")).response
            for number, text in enumerate(WORDS)
        ]


async def stopped_at_each_need(folder: Path) -> Stopped:
    """Each engine makes one call and is gone at the next, when that stands in the journal."""
    made = Stopped([])
    for number, text in enumerate(WORDS):
        while len(made.replies) == number:
            faults = Faults([Fault(action="kill", at="intent", side="after", number=2)], kill=gone)
            store = faults.store(SqliteStore(folder / "desk.db"))
            made.engines += 1
            async with engine_at(folder, store) as engine:
                try:
                    reply = await engine.take_turn(SESSION, text, message_id=f"m{number}")
                except OutsideError:
                    continue
            made.replies.append(reply.response)
    return made


async def record_of(folder: Path) -> tuple[object, ...]:
    async with engine_at(folder) as engine:
        return (await played(engine, SESSION)).trace


async def trace_of(folder: Path) -> Trace:
    async with engine_at(folder) as engine:
        return await engine.trace(SESSION)


@pytest.fixture
async def undisturbed(tmp_path: Path) -> Path:
    folder = tmp_path / "undisturbed"
    folder.mkdir()
    assert await plainly(folder) == list(REPLIES)
    return folder


async def test_through_json_at_every_need(undisturbed: Path, tmp_path: Path) -> None:
    """A fresh engine at every need: the same words and record, nothing asked or done twice."""
    made = await stopped_at_each_need(tmp_path)
    assert tuple(made.replies) == REPLIES
    assert made.engines == len(WORDS) + 3  # each call in an engine of its own
    ledger = Ledger(tmp_path / "ledger")
    asked = [entry.key for entry in ledger.entries("asked")]
    assert asked == ["0", "1", "2", "3"]
    assert len(ledger.entries("look_up")) == len(ledger.entries("paid")) == 1
    assert await record_of(tmp_path) == await record_of(undisturbed)


def test_each_turn_in_a_process_of_its_own(tmp_path: Path) -> None:
    """Questions of the flow, of the agent's flow and of the agent, each answered elsewhere."""
    told: list[str] = []
    for number in range(len(WORDS)):
        program = [sys.executable, agent_desk.__file__, str(tmp_path), str(number)]
        ended = subprocess.run(program, capture_output=True, text=True, check=True)
        told.append(json.loads(ended.stdout))
    assert tuple(told) == REPLIES
    ledger = Ledger(tmp_path / "ledger")
    assert [entry.key for entry in ledger.entries("asked")] == ["0", "1", "2", "3"]
    assert len({entry.pid for entry in ledger.entries()}) == 3


async def test_without_a_store_through_json_at_every_rest(undisturbed: Path) -> None:
    """The session alone carries it, also where each turn meets a fresh engine."""
    engine = engine_at(undisturbed)
    data = engine.init_session("u", SESSION).to_json()
    told: list[str | None] = []
    for text in WORDS:
        engine = engine_at(undisturbed)
        session = await engine.update_activity(text, engine.load_session(data))
        told.append(session.response)
        data = session.to_json()
    assert tuple(told) == REPLIES
    trace = engine.load_session(data).trace
    stored = await trace_of(undisturbed)
    assert [(one.flow, one.node, one.phase) for one in trace] == [
        (one.flow, one.node, one.phase) for one in stored
    ]


async def test_one_record(undisturbed: Path) -> None:
    """Steps of flows and agents stand in one order, each frame under its caller, without a gap."""
    trace = await trace_of(undisturbed)
    assert [commit.seq for commit in trace] == sorted({commit.seq for commit in trace})
    flows = list(dict.fromkeys(commit.flow for commit in trace))
    assert {"(routing)", "Help", "desk", "Refund", "(tool) look_up"} <= set(flows)
    step = next((commit for commit in trace if commit.flow == "Refund"), None)
    above: list[str] = []
    while step is not None:
        above.append(step.flow)
        step = trace.opener(step)
    assert above == ["Refund", "(flow) refund → amount, why", "desk", "Help", "(routing)"]
    kinds = [one.asked.kind for one in trace if one.asked is not None]
    assert {"model", "tool", "user"} <= set(kinds)


async def test_without_the_agent(tmp_path: Path) -> None:
    """Whoever opens the conversation without the agent is told so; with it, it goes on."""
    async with engine_at(tmp_path) as engine:
        for text in WORDS[:3]:
            await engine.take_turn(SESSION, text)
    store = SqliteStore(tmp_path / "desk.db")
    async with Engine(flows=agent_desk.FLOWS, store=store, validate_on_init=False) as engine:
        with pytest.raises(DamagedSession, match="this engine does not have the version") as told:
            await engine.take_turn(SESSION, "yes")
    assert told.value.flow == "desk"
    async with engine_at(tmp_path) as engine:
        assert (await engine.take_turn(SESSION, "yes")).response == REPLIES[3]


INNER = ("loopCount", "parsedResponse", "assembledMessages", "maxIterations", "RouteResponse")
"""What keeps an agent's loop going."""


async def test_why_a_reply_was_said(undisturbed: Path) -> None:
    """Each sentence leads to the step that said it, and on through agent, tool and flow."""
    trace = await trace_of(undisturbed)
    chain = trace.why(Reply(4))
    said = [cause for cause in chain.causes if cause.kind == "said"]
    assert [cause.sentence for cause in said] == [
        '"Refunded 9 for: it broke. Voucher: yes." was said by AGENT "desk" of Help',
        '"Anything else?" was asked by SAY-GET "more" of Help',
    ]
    told = {cause.sentence for cause in chain.causes}
    assert 'tool look_up({"order": "7"}) gave {"order": "7", "state": "late"}' in told
    assert 'the model wanted refund({"orderId": "7"})' in told
    assert any("tool pay_back(" in sentence for sentence in told), sorted(told)
    assert (
        'message = "Help with order 7" was set by AGENT "desk" of Help: `Help with {{order}}`'
        in told
    )
    assert not [name for name in INNER if any(name in sentence for sentence in told)]
    roots = {(cause.root, cause.value) for cause in chain.causes if cause.root == "words"}
    assert {("words", "it broke"), ("words", "yes")} <= roots


async def test_every_sentence_has_its_commit(undisturbed: Path) -> None:
    """No stretch of any reply is without the step that said it."""
    trace = await trace_of(undisturbed)
    for number, text in enumerate(REPLIES, start=1):
        said = [one for one in trace.why(Reply(number)).causes if one.kind == "said"]
        assert " ".join(str(one.value) for one in said).split() == text.split()
        assert all(one.commit in trace for one in said)


async def test_the_story(undisturbed: Path) -> None:
    """The narrative names the agent, its tool, its flow and what it was given."""
    story = (await trace_of(undisturbed)).narrative()
    for told in (
        'Asked agent desk: "Help with order 7".',
        'Called look_up(order = "7"): ',
        'The agent began flow Refund, with orderId = "7".',
        "The agent was given amount, why.",
        'Asked "Shall I send a voucher, too?".',
        'Agent desk answered "Refunded 9 for: it broke. Voucher: yes.".',
    ):
        assert told in story
