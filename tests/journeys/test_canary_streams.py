"""Promise: of an answer that comes in pieces nothing sensitive is kept, however it is cut.

An agent streams what it was handed, alone and in an engine. Whoever looks on gets the pieces as
they are; what records, recorders, spans, recordings of models, logs and errors hold is searched,
pieces put together as well.
"""

from __future__ import annotations

import json
import logging
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from saywhy import (
    Agent,
    CallerError,
    CancelToken,
    Engine,
    ExplainRecorder,
    ModelError,
    OpenTelemetry,
    RecordingModel,
    RunCancelled,
    SqliteStore,
    define_tool,
    masked_record,
)
from saywhy.agent.events import AgentEvent, Thinking, Token
from saywhy.agent.tools import AgentTool
from saywhy.models.scripted import ScriptedModel
from saywhy.trace.export.file import lines_of
from saywhy.trace.narrative.story import narrative
from tests.journeys.canary import canary, flow, found_in, step, without
from tests.journeys.searched import Hooks, Place

GUARDS = ("argument", "answer", "variable")
"""What is declared, each with a canary called like it."""


def cut(text: str) -> list[str]:
    """A text in pieces of three characters, so that no canary is in one of them."""
    return [text[at : at + 3] for at in range(0, len(text), 3)]


def told(name: str) -> str:
    """What an agent makes of a canary."""
    return f"It is {canary(name)}, or {canary(name)[::-1]}, or {canary(name).upper()}."


def pieces(name: str, **more: Any) -> dict[str, Any]:
    """An answer of a model that thinks and speaks of a canary, in pieces."""
    return {"for": "chat", "thinking": told(name), "chunks": cut(told(name)), **more}


def call(name: str, text: str) -> dict[str, Any]:
    """A call of a tool, with words before it in pieces."""
    wanted = [{"id": f"c-{name}", "name": name, "arguments": {"text": text}}]
    return {"for": "chat", "chunks": cut("I look."), "tool_calls": wanted}


class Kept:
    """Everything that is kept of the runs of one test."""

    def __init__(self, left_out: str = "") -> None:
        self.left_out = left_out
        self.hooks, self.explains = Hooks(), ExplainRecorder()
        self.exporter = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.spans = OpenTelemetry(provider, content=True)
        self.models: list[dict[str, Any]] = []
        self.seen: list[str] = []

    @property
    def recorders(self) -> list[Any]:
        return [self.hooks, self.explains, self.spans]

    def agent(self, *script: dict[str, Any]) -> Agent:
        """An agent that streams, with its model recorded."""
        model = RecordingModel(ScriptedModel(list(script)), self.models, redact=masked_record)
        return Agent(
            model, name="desk", tools=self.tools(), streaming=True, recorders=self.recorders
        )

    def tools(self) -> list[AgentTool]:
        """One that is handed something sensitive, one that gives it."""
        given = {"text": {"type": "string", "pii": "argument"}}
        ssn = {"type": "object", "properties": {"ssn": {"type": "string", "pii": "answer"}}}
        given, ssn = without(self.left_out, given), without(self.left_out, ssn)
        shape = {"type": "object", "properties": given}
        return [
            define_tool("hand", "Takes it", shape, _fine),
            define_tool("give", "Gives it", {}, _person, returns=ssn),
        ]

    def look(self, agent: Agent) -> None:
        """What can be told of the last run."""
        trace = agent.trace
        self.seen.append(b"\n".join(lines_of(trace)).decode())
        with suppress(CallerError):  # nothing was said
            self.seen.append(trace.why().text())
        self.seen.append(narrative(trace, format="json"))

    def everything(self) -> str:
        """All of it as one text, the pieces of recorded answers put together as well."""
        spans = [one.to_json() for one in self.exporter.get_finished_spans()]
        joined = [
            "".join(str(piece.get(part) or "") for piece in record["pieces"])
            for record in self.models
            for part in ("text", "thinking")
        ]
        models = json.dumps(self.models, ensure_ascii=False)
        explained = [repr(self.explains.get_summary()), self.explains.explain()]
        return "\n".join([*self.hooks.told, *explained, *spans, *joined, models, *self.seen])


def _fine(args: Any) -> str:
    return f"{args['text'][::-1]} is fine"


def _person(args: Any) -> dict[str, str]:
    return {"ssn": canary("answer"), "city": "Bern"}


class Screen:
    """Somebody who looks on, and stumbles over a piece."""

    def __init__(self) -> None:
        self.shown: list[AgentEvent] = []

    def __call__(self, event: AgentEvent) -> None:
        self.shown.append(event)
        if isinstance(event, Token):
            raise ValueError(f"cannot show {self.text}")

    @property
    def text(self) -> str:
        """What was said, as far as it has come."""
        return "".join(one.content for one in self.shown if isinstance(one, Token | Thinking))


async def alone(kept: Kept) -> None:
    """Agents that run alone: to the end, into an error, and cancelled."""
    for name, tool in (("argument", "hand"), ("answer", "give")):
        begin = call(tool, canary(name) if tool == "hand" else "")
        agent = kept.agent(begin, pieces(name))
        events = [event async for event in agent.stream("go")]
        shown = [one.content for one in events if isinstance(one, Token)]
        assert "".join(shown).endswith(told(name))
        assert not found_in("|".join(shown).encode(), [name])
        kept.look(agent)
        agent = kept.agent(begin, pieces(name, **{"raise": "the line is dead", "code": "network"}))
        screen = Screen()
        with pytest.raises(ModelError):
            await agent.run("go", on_event=screen)
        assert told(name) in screen.text
        kept.look(agent)
        await cancelled(kept, kept.agent(begin, pieces(name, hang=True)), name)


async def cancelled(kept: Kept, agent: Agent, name: str) -> None:
    """A run that is cancelled when all pieces are there and the answer is not over."""
    token, seen = CancelToken(), [""]

    def listen(event: AgentEvent) -> None:
        if isinstance(event, Token):
            seen[0] += event.content
        if seen[0].endswith(told(name)):
            token.cancel("enough")

    with pytest.raises(RunCancelled):
        await agent.run("go", signal=token, on_event=listen)
    kept.look(agent)


def engine_of(kept: Kept, place: Place) -> Engine:
    """An engine with a flow that hands a sensitive answer to an agent."""
    ask = step("SAY-GET", variable="secret", value="Secret?")
    asked = step(
        "AGENT", agent="desk", value="What of {{secret}}?", variable="said", history="none"
    )
    variables = {"secret": {"type": "string", "pii": "variable"}}
    more = step("SAY-GET", variable="more", value="More?")
    engine = Engine(
        flows=without(kept.left_out, [flow("Talk", ask, asked, more, variables=variables)]),
        agents={"desk": kept.agent(pieces("variable"))},
        guidance={"enabled": False},
        logger=place.log,
        store=SqliteStore(place.path),
    )
    for recorder in kept.recorders:
        engine.watch(recorder)
    return engine


async def together(kept: Kept, folder: Path) -> bytes:
    """A conversation in an engine that somebody looks on at; everything it wrote."""
    place = Place(folder / "s.db").with_engine(lambda own: engine_of(kept, own))
    async with place.engine:
        await place.say("c", "Talk")
        screen = Screen()
        await place.say("c", canary("variable"), on_event=screen)
        assert told("variable") in screen.text
        await place.say("c", "no")
        await place.say("c", "nothing")
        await place.look("c")
        assert await place.engine.told(10)
    return place.written()


async def written(folder: Path, left_out: str = "") -> bytes:
    """Everything that is kept of all runs."""
    kept = Kept(left_out)
    await alone(kept)
    data = await together(kept, folder)
    assert "invoke_agent" in kept.everything()
    return data + kept.everything().encode()


async def test_no_canary_is_anywhere(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Neither whole nor in pieces; also where an answer breaks off, or is called off."""
    caplog.set_level(logging.DEBUG)
    data = await written(tmp_path)
    assert found_in(data + caplog.text.encode(), GUARDS) == set()


@pytest.mark.parametrize("name", GUARDS)
async def test_a_declaration_left_out_lets_its_canary_escape(name: str, tmp_path: Path) -> None:
    """Each declaration guards its canary, alone."""
    assert found_in(await written(tmp_path, name), GUARDS) == {name}
