"""Promise: what can be taken away is said, and whatever cannot is refused with what can."""

from __future__ import annotations

import pytest

from saywhy import Agent, Engine, ScriptedModel, memory
from saywhy.chart.outcome import Answer
from saywhy.errors import CallerError
from saywhy.models.provider import Ask
from saywhy.runtime.replay.removal import KINDS, RecalledTexts, Removal, nothing
from saywhy.runtime.replay.request import Request
from saywhy.trace.trace import Trace
from saywhy.values import freeze
from tests.flows.conftest import engine_of as flows_engine
from tests.flows.conftest import flow, say
from tests.runtime.replay.conftest import Outside, engine_of, talk


async def trace_of() -> Trace:
    return (await talk(engine_of(Outside()), "Pay", "Bob", "80")).trace


@pytest.mark.parametrize("ref", ["decision:Pay/x", "step:Pay/tell", "model:3", "phrase:x", "x"])
async def test_what_cannot_be_taken_away(ref: str) -> None:
    """The error names everything that can be."""
    with pytest.raises(CallerError, match="cannot be taken away") as raised:
        Removal(ref, await trace_of(), 3)
    assert all(f"{kind}:…" in str(raised.value.hint) for kind in KINDS)


async def test_a_near_miss_is_told() -> None:
    """The kind that was probably meant comes first."""
    with pytest.raises(CallerError) as raised:
        Removal("tool_results:3", await trace_of(), 3)
    assert "tool_result" in str(raised.value.hint).split(";")[0]


@pytest.mark.parametrize(
    ("ref", "text"),
    [
        ("tool_result:", "names nothing"),
        ("tool_result:x", "needs a number"),
        ("tool_result:1", "commit 1 took in no answer of a tool"),
        ("tool_result:999", "commit 999 took in no answer of a tool"),
        ("message:2", "message 2 is none that the user wrote"),
        ("default:Pay/x", 'no flow "Pay" began with a default of "x"'),
        ("host:cargo.x", 'the host gave no "cargo.x"'),
    ],
)
async def test_what_is_not_there(ref: str, text: str) -> None:
    """Numbers and names that the record does not have."""
    with pytest.raises(CallerError, match=text):
        Removal(ref, await trace_of(), 3)


async def test_the_first_turn_without_it() -> None:
    """A message and an answer are met in their turn; what an agent is told, from the start on."""
    trace = await trace_of()
    assert Removal("message:3", trace, 3).first == 2
    assert Removal("instruction:x", trace, 3).first == 1
    assert Removal("memory:x", trace, 3).first == 3


@pytest.mark.parametrize(
    ("value", "left"), [({"a": 1}, {}), ([1], []), ("text", None), (5, None), (None, None)]
)
def test_an_answer_that_tells_nothing(value: object, left: object) -> None:
    """Empty, of the same kind, and no error."""
    answer = nothing(Answer(freeze(value), "it failed", facts={"attempts": [1], "status": 500}))
    assert answer.value == freeze(left)
    assert answer.error is None
    assert answer.facts == {"attempts": [1]}


def test_an_answer_to_an_agent_is_an_empty_text() -> None:
    """What agents are handed is a reply with a content."""
    answer = nothing(Answer(freeze({"content": "80"}), facts={"reply": True}))
    assert answer.value == freeze({"content": ""})


async def test_a_request_without_memories_stays_as_it_is() -> None:
    """Nothing is taken out that is not what the memory gave."""
    trace = await trace_of()
    removal = Removal("memory:notes", trace, 3)
    request = Request(Ask("chat", "You help.", [{"role": "user", "content": "hi"}]), of_agent=True)
    assert removal.request(request, RecalledTexts(trace, 3)) is request
    assert not removal.applied


@pytest.mark.parametrize(
    ("ref", "hint"),
    [
        ("default:Pay/limt", 'did you mean "Pay/limit"?'),
        ("default:Pya/limit", 'did you mean "Pay/limit"?'),
        ("default:Pay/zzz", "there are Pay/limit"),
        ("default:zzz", "there are Pay/limit"),
        ("host:cargo.paln", 'did you mean "cargo.plan"?'),
        ("host:zzz", "there are cargo.plan"),
    ],
)
async def test_what_was_probably_meant(ref: str, hint: str) -> None:
    """Names that are like one that is there, or those that there are."""
    limit = {"type": "number", "description": "most", "value": 5}
    engine = flows_engine(flow(say("Hi."), name="Pay", primary=True, variables={"limit": limit}))
    session = engine.init_session("ann")
    session.cargo["plan"] = "gold"
    session = await engine.update_activity("Pay", session)
    with pytest.raises(CallerError) as raised:
        await engine.counterfactual(session, ref)
    assert raised.value.hint == hint


async def test_memories_that_are_none() -> None:
    """A misspelt name is told with what was recalled; so is a history, which is no memory."""
    rag_of = [memory(lambda ctx: "likes tea", id="prefs")]
    agent = Agent(ScriptedModel([{"reply": "yes"}, {"reply": "no"}]), injections=rag_of)
    await agent.run("hi")
    for ref, text, hint in (
        ("memory:pref", 'nothing called "pref" was recalled', 'did you mean "prefs"?'),
        ("retrieval:zzz", 'nothing called "zzz" was recalled', "there are prefs"),
        ("memory:history", "is what was said before, as an agent remembers it", "message:N takes"),
    ):
        with pytest.raises(CallerError, match=text) as raised:
            await agent.counterfactual(ref)
        assert raised.value.hint.startswith(hint)
    assert (await agent.counterfactual("memory:prefs")).assumed
    async with Engine(flows=[], agents=[agent], fallback_agent="agent") as engine:
        session = await engine.update_activity("hi", engine.init_session("ann"))
        with pytest.raises(CallerError, match='nothing called "pref" was recalled'):
            await engine.counterfactual(session, "memory:pref")
