"""Promise: what a record holds is shown as spans with the conventional names, and no content."""

from __future__ import annotations

from typing import Any

from saywhy.trace.export.spans import Span, spans_of
from saywhy.trace.record import decode, encode
from tests.agent.recorders.conftest import all_runs


def shown(spans: list[Span]) -> list[str]:
    """Each span behind those it stands in, with the kind of its failure."""
    depth = {0: -1}
    lines: list[str] = []
    for span in spans:
        depth[span.id] = depth[span.parent] + 1
        error = f" !{span.error}" if span.error else ""
        lines.append("  " * depth[span.id] + span.name + error)
    return lines


async def test_runs_calls_and_tools() -> None:
    """A run holds the calls of its model and its tools, refused and unknown ones included."""
    first, second, failed, paused, denied = await all_runs([])
    assert shown(spans_of(first)) == [
        "invoke_agent agent",
        "  chat",
        "  execute_tool order",
        "  execute_tool broken !error",
        "  chat",
        "  execute_tool trace",
        "  execute_tool order !INVALID_INPUT",
        "  execute_tool gone !error",
        "  chat",
    ]
    assert shown(spans_of(second)) == ["invoke_agent agent", "  chat"]
    assert shown(spans_of(failed)) == ["invoke_agent agent !server", "  chat !server"]
    assert shown(spans_of(paused)) == [
        "invoke_agent agent",
        "  chat",
        "invoke_agent agent",
        "  execute_tool ask_human",
        "  chat",
    ]
    assert shown(spans_of(denied))[2:3] == ["  execute_tool danger !error"]


async def test_attributes() -> None:
    """Models, tokens, finish reasons and times are those of the call."""
    (first, *_) = await all_runs([])
    run, chat, order, *_ = spans_of(first, conversation_id="u1")
    assert run.attributes == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "agent",
        "gen_ai.conversation.id": "u1",
        "saywhy.turn": 1,
        "saywhy.run.id": "r0",
    }
    assert chat.attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.conversation.id": "u1",
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 10,
        "gen_ai.response.model": "big",
        "gen_ai.response.finish_reasons": ["tool_calls"],
    }
    assert (chat.kind, run.kind, order.kind) == ("client", "internal", "internal")
    assert (chat.end or 0) - chat.start == 200
    assert (run.end or 0) - run.start == 360
    assert order.attributes["gen_ai.tool.call.id"] == "c1"


async def test_no_content_unless_asked_for() -> None:
    """Neither words nor arguments nor results are in a span, and with `content` they are."""
    (first, *_) = await all_runs([])

    def told(spans: list[Span]) -> str:
        return repr([(span.attributes, span.events) for span in spans])

    plain, full = told(spans_of(first)), told(spans_of(first, content=True))
    for secret in ("Where is order 7?", "Help.", "line 7", "t7", "Denied", "looking"):
        assert secret not in plain
        assert secret in full
    _, chat, order, *_ = spans_of(first, content=True)
    assert chat.attributes["gen_ai.input.messages"] == (
        '[{"role":"user","parts":[{"type":"text","content":"Where is order 7?"}]}]'
    )
    assert chat.attributes["gen_ai.system_instructions"] == '[{"type":"text","content":"Help."}]'
    assert '"finish_reason":"tool_calls"' in chat.attributes["gen_ai.output.messages"]
    assert order.attributes["gen_ai.tool.call.arguments"] == '{"id":7}'


async def test_decisions_and_rules_are_events() -> None:
    """Which way a run took and which rules fired stand in its span."""
    (first, *_) = await all_runs([])
    run = spans_of(first)[0]
    steps = [one.attributes for one in run.events if one.name == "saywhy.step"]
    assert {
        "saywhy.step": "sf-route",
        "saywhy.step.kind": "decider",
        "saywhy.branch": "final",
    } in steps
    rules = [
        (one.attributes["saywhy.instruction.id"], one.attributes["saywhy.instruction.outcome"])
        for one in run.events
        if one.name == "saywhy.instruction"
    ]
    assert rules == [("kind", "fired"), ("paid", "false"), ("odd", "raised")]


async def test_stored_records_have_the_same_spans() -> None:
    """A record that went through JSON gives equal spans."""
    for record in await all_runs([]):
        stored: list[Any] = [decode(encode(commit)) for commit in record]
        assert spans_of(stored, content=True) == spans_of(record, content=True)
