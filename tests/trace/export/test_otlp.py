"""Spans as JSON lines: one line a turn, in the form of OpenTelemetry's protocol."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from saywhy.stores.memory import MemoryStore
from saywhy.trace.export.otlp import otlp_lines
from saywhy.trace.trace import Trace
from tests.runtime.audit.desk import PIN, SECRET, engine_on, talk


@pytest.fixture(scope="module")
def trace() -> Trace:
    async def scene() -> Trace:
        async with engine_on(MemoryStore()) as engine:
            await talk(engine)
            return await engine.trace("s1")

    return asyncio.run(scene())


def spans_in(line: bytes) -> list[dict[str, Any]]:
    (resource,) = json.loads(line)["resourceSpans"]
    assert resource["resource"]["attributes"] == [
        {"key": "service.name", "value": {"stringValue": "saywhy"}}
    ]
    (scope,) = resource["scopeSpans"]
    assert scope["scope"] == {"name": "saywhy"}
    return scope["spans"]


def attributes(span: dict[str, Any]) -> dict[str, Any]:
    return {one["key"]: one["value"] for one in span["attributes"]}


def test_a_line_a_turn(trace: Trace) -> None:
    """Each turn is a trace with its own id, and every parent stands in the same line."""
    lines = [spans_in(line) for line in otlp_lines(trace, conversation_id="s1")]
    assert len(lines) == 5
    assert len({spans[0]["traceId"] for spans in lines}) == 5
    for spans in lines:
        assert {span["traceId"] for span in spans} == {spans[0]["traceId"]}
        ids = {span["spanId"] for span in spans}
        assert len(ids) == len(spans)
        assert "parentSpanId" not in spans[0]
        assert {span["parentSpanId"] for span in spans[1:]} <= ids
        for span in spans:
            assert int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"])
            assert (len(span["traceId"]), len(span["spanId"])) == (32, 16)


def test_names_are_those_of_the_conventions(trace: Trace) -> None:
    """Flows, agents, models and tools have the names and attributes of the GenAI conventions."""
    third = spans_in(list(otlp_lines(trace, conversation_id="s1"))[2])
    names = [span["name"] for span in third]
    assert names[:3] == ["turn", "invoke_workflow Help", "invoke_agent desk"]
    assert "execute_tool look_up" in names
    assert names.count("chat") == 2
    told = {span["name"]: attributes(span) for span in third}
    assert told["invoke_workflow Help"]["gen_ai.operation.name"] == {
        "stringValue": "invoke_workflow"
    }
    for name in ("gen_ai.agent.name", "gen_ai.workflow.name"):
        assert told["invoke_workflow Help"][name] == {"stringValue": "Help"}
    assert told["invoke_agent desk"]["gen_ai.conversation.id"] == {"stringValue": "s1"}
    assert told["invoke_agent desk"]["saywhy.turn"] == {"intValue": "3"}
    assert {span["name"]: span["kind"] for span in third}["chat"] == 3
    steps = [event["name"] for span in third for event in span.get("events", ())]
    assert "saywhy.step" in steps


def test_the_same_record_gives_the_same_lines(trace: Trace) -> None:
    """Ids are made from what is told; another conversation has others."""
    lines = list(otlp_lines(trace, conversation_id="s1"))
    assert lines == list(otlp_lines(trace, conversation_id="s1"))
    assert lines[0] != next(otlp_lines(trace, conversation_id="s2"))


def test_what_was_said_only_where_asked_for(trace: Trace) -> None:
    """Without content there is none; with it, it is masked as the record is."""
    plain = b"".join(otlp_lines(trace))
    told = b"".join(otlp_lines(trace, content=True))
    assert b"The order is 7." not in plain
    assert b"The order is 7." in told
    assert PIN.encode() not in told
    assert SECRET.encode() not in plain
