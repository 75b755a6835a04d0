"""Promise: spans reach OpenTelemetry live and afterwards, and what it raises reaches no run."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from saywhy.agent.recorders.composite import AgentObservability
from saywhy.errors import CallerError, ModelError
from saywhy.models.provider import ModelReply
from saywhy.runtime.agents.agent import Agent
from saywhy.runtime.engine import Engine
from saywhy.stores.memory import MemoryStore
from saywhy.trace.export.otel import OpenTelemetry
from saywhy.trace.export.spans import spans_of
from tests.agent.recorders.conftest import all_runs

GREET: dict[str, Any] = {
    "id": "greet",
    "name": "Greet",
    "version": "1.0",
    "prompt": "Greet",
    "description": "Greets somebody",
    "primary": True,
    "steps": [
        {"id": "who", "type": "SAY-GET", "variable": "who", "value": "Who?"},
        {"id": "look", "type": "CALL-TOOL", "tool": "look", "variable": "found", "args": {}},
        {"id": "hi", "type": "SAY", "value": "Hi {{who}}"},
    ],
}
LOOK: dict[str, Any] = {
    "id": "look",
    "name": "Look",
    "description": "Looks",
    "parameters": {"type": "object", "properties": {}},
    "implementation": {"type": "local", "function": "look"},
}


class Sent:
    """Spans in memory."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))

    @property
    def spans(self) -> list[ReadableSpan]:
        """Those that are complete, in the order in which they began."""
        return sorted(self.exporter.get_finished_spans(), key=lambda one: one.context.span_id)

    def take(self) -> list[tuple[Any, ...]]:
        """What can be compared: names, parents' names, times, attributes, states, events."""
        spans = self.exporter.get_finished_spans()
        names = {one.context.span_id: one.name for one in spans}
        told = [
            (
                one.name,
                names[one.parent.span_id] if one.parent is not None else "",
                one.start_time,
                one.end_time,
                dict(one.attributes or {}),
                one.status.status_code,
                [
                    (event.name, event.timestamp, dict(event.attributes or {}))
                    for event in one.events
                ],
            )
            for one in spans
        ]
        self.exporter.clear()
        return told


async def test_live_and_afterwards_are_the_same() -> None:
    """The spans that were sent while runs went on are those of their records."""
    live, later = Sent(), Sent()
    records = await all_runs([OpenTelemetry(live.provider, provider="openai")])
    told = live.take()
    for span in told:
        span[4].pop("gen_ai.conversation.id")
    sending = OpenTelemetry(later.provider, provider="openai")
    for record in records:
        sending.send(record)
    assert later.take() == told
    assert len(told) == sum(len(spans_of(record)) for record in records)


async def test_what_a_span_says() -> None:
    """Kinds, states and attributes are those of the conventions."""
    sent = Sent()
    await all_runs([OpenTelemetry(sent.provider, provider="openai")])
    spans = sent.exporter.get_finished_spans()
    chats = [one for one in spans if one.name == "chat"]
    assert {one.kind for one in chats} == {SpanKind.CLIENT}
    assert {(one.attributes or {})["gen_ai.provider.name"] for one in chats} == {"openai"}
    failed = [one for one in chats if one.status.status_code is StatusCode.ERROR]
    assert [(one.attributes or {})["error.type"] for one in failed] == ["server"]
    assert all(one.status.description is None for one in spans)
    runs = [one for one in spans if one.name == "invoke_agent agent"]
    assert {one.kind for one in runs} == {SpanKind.INTERNAL}


async def test_spans_stand_below_the_current_one() -> None:
    """A run inside of a request is part of the request's trace."""
    sent = Sent()
    agent = Agent(lambda ask: ModelReply("hi"), recorders=[OpenTelemetry(sent.provider)])
    with sent.provider.get_tracer("web").start_as_current_span("request"):
        await agent.run("hello")
    parents = {name: parent for name, parent, *_ in sent.take()}
    assert parents == {"request": "", "invoke_agent agent": "request", "chat": "invoke_agent agent"}


class Broken(SpanExporter):
    """Cannot export."""

    def export(self, spans: Any) -> Any:
        raise OSError("the collector is gone")


async def test_an_exporter_that_raises_reaches_no_run(caplog: pytest.LogCaptureFixture) -> None:
    """The run gives its answer, and other recorders have their figures."""

    class Provider(TracerProvider):
        def get_tracer(self, *args: Any, **options: Any) -> Any:
            tracer = super().get_tracer(*args, **options)
            tracer.start_span = self.fail  # type: ignore[method-assign]
            return tracer

        def fail(self, *args: Any, **options: Any) -> Any:
            raise OSError("no spans today")

    broken = TracerProvider()
    broken.add_span_processor(SimpleSpanProcessor(Broken()))
    seen = AgentObservability()
    recorders = [OpenTelemetry(broken), OpenTelemetry(Provider()), seen]
    agent = Agent(lambda ask: ModelReply("fine", "m", 1, 2), recorders=recorders)
    assert (await agent.run("hi")).content == "fine"
    assert seen.tokens().total_calls == 1
    assert "no more spans of this run are sent; the run goes on" in caplog.text


async def test_a_failed_run_sends_all_its_spans() -> None:
    """None is left open, however the run ends."""
    sent = Sent()

    def model(ask: Any) -> ModelReply:
        raise ModelError("down", code="timeout")

    agent = Agent(model, recorders=[OpenTelemetry(sent.provider)])
    with pytest.raises(ModelError):
        await agent.run("hi")
    told = {name: attributes.get("error.type") for name, _, _, _, attributes, *_ in sent.take()}
    assert told == {"chat": "timeout", "invoke_agent agent": "timeout"}


@pytest.mark.parametrize("stored", [True, False])
async def test_conversations_of_an_engine(stored: bool) -> None:
    """Each turn is a span with its flows, tools and agents; recorders hear of the agents."""
    sent, seen = Sent(), AgentObservability()
    agent = Agent(lambda ask: ModelReply("hello", "m", 3, 4), name="helper")
    engine = Engine(
        flows=[GREET],
        tools=[LOOK],
        functions={"look": lambda args: {"found": "secret"}},
        agents=[agent],
        fallback_agent="helper",
        store=MemoryStore() if stored else None,
    )
    engine.watch(OpenTelemetry(sent.provider))
    engine.watch(seen)
    words = ["greet", "Bob", "what is the weather"]
    if stored:
        for number, text in enumerate(words):
            await engine.take_turn("s1", text, message_id=f"m{number}", user_id="u1")
    else:
        session = engine.init_session(user_id="u1", session_id="s1")
        for text in words:
            session = await engine.update_activity(text, session)
    assert await engine.told()
    told = sent.take()
    assert {one[4].get("gen_ai.conversation.id") for one in told} == {"s1"}
    assert sorted((name, parent) for name, parent, *_ in told) == sorted(
        [
            ("turn", ""),
            ("invoke_workflow Greet", "turn"),
            ("turn", ""),
            ("invoke_workflow Greet", "turn"),
            ("execute_tool look", "invoke_workflow Greet"),
            ("turn", ""),
            ("invoke_workflow (fallback)", "turn"),
            ("invoke_agent helper", "invoke_workflow (fallback)"),
            ("chat", "invoke_agent helper"),
        ]
    )
    assert "secret" not in repr(told)
    assert "Bob" not in repr(told)
    assert (seen.tokens().total_calls, seen.tokens().total_input_tokens) == (1, 3)


async def test_who_watches_has_something_to_watch_with() -> None:
    """What is no recorder is refused with the names of the hooks."""
    engine = Engine(flows=[GREET], tools=[LOOK], functions={"look": lambda args: 1})
    with pytest.raises(CallerError, match="int has none of the methods that are told of runs"):
        engine.watch(5)
