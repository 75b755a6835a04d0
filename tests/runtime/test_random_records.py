"""Promise: the record of any conversation explains it, and is the same wherever it is kept.

Flows and words are those of `test_random_flows`. Here their traces are asked everything.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from saywhy.errors import CallerError, SaywhyError
from saywhy.runtime.engine import Engine
from saywhy.runtime.session import Session
from saywhy.stores.memory import MemoryStore
from saywhy.trace.causes.chain import Chain
from saywhy.trace.causes.why import Reply, Variable, why
from saywhy.trace.export.file import lines_of, trace_of
from saywhy.trace.narrative.story import narrative
from saywhy.trace.trace import Trace
from saywhy.values import UNDEFINED, dumps, same
from tests.runtime.test_random_flows import World, entries, libraries

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
OWN = re.compile(r"Processing \S+ - You can also 'cancel flow' or request 'help'\.")
"""What no step says: the word of guidance before a question."""

conversations = st.lists(entries, min_size=1, max_size=6)
look = settings(
    max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


async def converse(flows: list[dict[str, Any]], said: list[Any]) -> Session:
    engine = World().engine(flows)
    session = engine.init_session("ann", "c1")
    for entry in ["Alpha", *said]:
        try:
            session = await engine.update_activity(entry, session)
        except SaywhyError as error:
            session = getattr(error, "session", None) or session
    return session


def comparable(trace: Trace) -> list[str]:
    return [UUID.sub("(id)", dumps(one).decode()) for one in (*trace, *trace.messages())]


def chains(trace: Trace) -> Iterator[Chain]:
    """Why each reply was said, and why each variable is what it is after each turn."""
    for turn in trace.turns:
        names = [name for name in trace.names if name]
        for target in (Reply(turn), *(Variable(name, turn) for name in names)):
            try:
                yield why(trace, target)
            except CallerError as error:
                assert re.search("no reply is recorded|no recorded step|no step of", str(error))


@look
@given(libraries(), conversations)
def test_the_record_explains_the_conversation(flows: list[dict[str, Any]], said: list[Any]) -> None:
    """Replayed it gives the state; each word has its step; every chain ends in named roots."""
    session = asyncio.run(converse(flows, said))
    trace = session.trace
    assert [commit.seq for commit in trace] == list(range(1, len(trace) + 1))
    for scope, variables in session.state.scopes.items():
        if scope != "cargo" and not re.fullmatch(r"v\d+", scope):
            continue
        for key in {*trace.variables(scope), *((scope, name) for name in variables)}:
            found = trace.value_at(key)
            assert found.doubt or same(found.value, variables.get(key[1], UNDEFINED)), key
    for message in trace.messages():
        if message.role == "assistant" and message.spans:
            rest = message.text
            for span in reversed(message.spans):
                assert span.commit in trace
                rest = rest[: span.start] + rest[span.end :]
            assert OWN.sub("", rest).strip() == ""
    for chain in chains(trace):
        followed = {link.effect for link in chain.links}
        for cause in chain.causes:
            assert cause.root or cause.marks or cause.id in followed or chain.left_out, cause
        assert chain.text()
    assert str(narrative(trace))


@look
@given(libraries(), conversations)
def test_the_record_is_the_same_wherever_it_is_kept(
    flows: list[dict[str, Any]], said: list[Any]
) -> None:
    """In a session, in a file, in a store; and the same conversation leaves the same once more."""
    trace = asyncio.run(converse(flows, said)).trace
    assert comparable(asyncio.run(converse(flows, said)).trace) == comparable(trace)
    assert comparable(trace_of(lines_of(trace))) == comparable(trace)
    stored = asyncio.run(stored_trace(World().engine(flows, store=MemoryStore()), said))
    assert comparable(stored) == comparable(trace)


async def stored_trace(engine: Engine, said: list[Any]) -> Trace:
    """The trace of the conversation in a store, every message delivered twice."""
    async with engine:
        for number, entry in enumerate(["Alpha", *said]):
            address = {"user_id": "ann", "message_id": f"m{number}"}
            try:
                reply = await engine.take_turn("c1", entry, **address)
            except SaywhyError as error:
                with pytest.raises(SaywhyError, match=re.escape(str(error))):
                    await engine.take_turn("c1", entry, **address)
            else:
                again = await engine.take_turn("c1", entry, **address)
                assert again.repeated
                assert again.response == reply.response
                assert again.last_turn_tool_calls == reply.last_turn_tool_calls
                assert again.last_flow_outcome == reply.last_flow_outcome
        return await engine.trace("c1")
