"""Promise: whatever an agent is handed something sensitive in, no record tells it.

A flow hands its sensitive answer to agents that put it into every slot: the system prompt, facts,
what is remembered and looked up, instructions, follow-ups, decisions, calls of tools and of flows,
specialists, questions to people, errors.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from saywhy import (
    Agent,
    AgentInstruction,
    Chunk,
    Engine,
    FollowUpBinding,
    LLMInstruction,
    RecordingModel,
    SqliteStore,
    Swarm,
    ask_human,
    define_tool,
    fact,
    flow_tool,
    masked_record,
    memory,
    rag,
    skill,
    template_prompt,
)
from saywhy.models.provider import Ask, ModelReply, ToolCallPiece
from saywhy.runtime.agents.swarm import Specialist
from tests.journeys.canary import canary, flow, found_in, only_plain, step, without
from tests.journeys.searched import Hooks, Place, overheard

GUARDS = ("slots", "rules", "flowed", "swarm", "asked", "broken")
"""What is declared, each with a canary called like it; agents are called so, too."""

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}}


def turned(text: str) -> str:
    """What is made of a text, in ways that no search for the text itself would find."""
    return f"{text[::-1]} and {text.upper()}"


class Echo:
    """A model that makes one call with what it was told last, if it has a tool, and repeats it."""

    def __init__(self, tool: str = "", key: str = "text") -> None:
        self.tool, self.key = tool, key

    async def ask(self, ask: Ask) -> ModelReply:
        words = [str(one["content"]) for one in ask.messages if one["role"] in ("user", "tool")]
        if self.tool and ask.messages[-1]["role"] == "user":
            call = ToolCallPiece("c1", self.tool, {self.key: words[-1]})
            return ModelReply(f"I look up {words[-1]}.", tool_calls=(call,))
        return ModelReply(f"{words[-1]}, {turned(words[-1])}, as {turned(ask.system or '')} says")


class Angry:
    """A model that fails and says on what."""

    async def ask(self, ask: Ask) -> ModelReply:
        raise RuntimeError(f"cannot read {ask.messages[-1]['content']}")


class Shelf:
    """Finds something for every question, which stands in what it finds."""

    async def retrieve(self, query: str, **more: Any) -> list[Chunk]:
        return [Chunk(f"page one of {query}, {turned(query)}", 0.9)]


def reversed_text(args: Any) -> str:
    """What a tool makes of it."""
    return turned(str(args["text"]))


def stumble(args: Any) -> str:
    """Fail, and quote what was given."""
    raise ValueError(f"no {turned(str(args['text']))}")


def agents(keep: Callable[[Any], Any]) -> dict[str, Agent]:
    """An agent for each guard, its model recorded by `keep`."""
    look = define_tool("look", "Looks it up", TEXT, reversed_text)
    follow = FollowUpBinding(
        "look", lambda ctx: {"text": str(ctx.content)}, "More of it", "yes", strict=True
    )
    quoting = LLMInstruction(
        "quote", when=lambda ctx: bool(ctx.content), text="Quote it.", follow_up=follow,
        decide=lambda decision, ctx: decision.update(seen=str(ctx.content)),
    )  # fmt: skip
    seen = AgentInstruction(
        "seen", active_when=lambda decision: bool(decision.get("seen")), prompt="It was seen."
    )
    return {
        "slots": Agent(
            keep(Echo()),
            name="slots",
            prompt_provider=template_prompt("Help with {{message}}."),
            injections=[
                fact(lambda context: f"It is about {turned(context.message)}."),
                skill("quoting", "Quote well.", lambda context: len(context.message) > 3),
                memory(lambda context: f"Before: {turned(context.message)}"),
                rag(Shelf()),
            ],
        ),
        "rules": Agent(
            keep(Echo("look")),
            name="rules",
            tools=[define_tool("look", "Looks it up", TEXT, reversed_text, instructions=[quoting])],
            instructions=[seen],
            decision={"seen": ""},
            pattern="dynamic",
        ),
        "flowed": Agent(keep(Echo("note")), name="flowed", tools=[flow_tool("Note", name="note")]),
        "swarm": Swarm(
            keep(Echo("helper", "message")),
            [Specialist("helper", Agent(keep(Echo("look")), name="helper", tools=[look]), "Helps")],
            name="swarm",
        ),
        "asked": Agent(keep(Echo("ask_human", "question")), name="asked", tools=[ask_human()]),
        "broken": Agent(
            keep(Echo("stumble")),
            name="broken",
            tools=[define_tool("stumble", "Fails", TEXT, stumble)],
        ),
        "angry": Agent(keep(Angry()), name="angry"),
    }


def flows() -> list[dict[str, Any]]:
    """A flow for each guard, which hands its answer to the agent."""
    note = step("SAY", value="Noted: {{text}}.")
    told = step("RETURN", value="'noted ' + text.split('').reverse().join('')")
    parameters = [{"name": "text", "description": "what to note", "type": "string"}]
    return [*map(handing, GUARDS), flow("Note", note, told, parameters=parameters)]


def handing(name: str) -> dict[str, Any]:
    """Asks for something, and hands it to the agents."""
    word = f"word{name}"
    ask = step("SAY-GET", variable=word, value="Word?")
    steps = [
        step("AGENT", agent=agent, value=f"What of {{{{{word}}}}}?", variable="said", say=True,
             history="none", onFail=step("SAY", value="It did not work."))
        for agent in ([name, "angry"] if name == "broken" else [name])
    ]  # fmt: skip
    more = step("SAY-GET", variable="more", value="More?")
    variables = {word: {"type": "string", "pii": name}}
    return flow(name.title(), ask, *steps, more, variables=variables)


class Kept:
    """What recorders and recordings keep."""

    def __init__(self) -> None:
        self.models: list[dict[str, Any]] = []
        self.hooks = Hooks()

    def model(self, model: Any) -> RecordingModel:
        """The model, recorded as the documentation says it."""
        return RecordingModel(model, self.models, redact=masked_record)

    def everything(self) -> bytes:
        """All of it."""
        return "\n".join([json.dumps(self.models, ensure_ascii=False), *self.hooks.told]).encode()


async def written(folder: Path, left_out: str = "") -> bytes:
    """Everything that the conversations left anywhere."""
    kept = Kept()

    def engine(place: Place) -> Engine:
        return Engine(
            flows=without(left_out, flows()),
            agents=agents(kept.model),
            guidance={"enabled": False},
            logger=place.log,
            store=SqliteStore(place.path),
        )

    place = Place(folder / "talk.sqlite3").with_engine(engine)
    async with place.engine:
        place.engine.watch(kept.hooks)
        for name in GUARDS:
            await place.say(name, name.title())
            said = await place.say(name, canary(name))
            assert canary(name) in (said or "") or name in ("broken",), said
            await place.say(name, "yes")
            await place.say(name, "more")
            await place.say(name, "nothing")
            await place.look(name)
            place.see((await place.engine.trace(name)).why().text())
        assert await place.engine.told(10)
    return place.written() + kept.everything()


async def test_no_canary_is_anywhere(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """In no slot, no call, no question, no error."""
    caplog.set_level(logging.DEBUG)
    data = await written(tmp_path) + overheard(caplog, capfd)
    assert found_in(data, GUARDS) == set()
    assert b"What of [REDACTED]?" in data
    assert b"Hooks raised" not in data


@pytest.mark.parametrize("name", GUARDS)
async def test_a_declaration_left_out_lets_its_canary_escape(name: str, tmp_path: Path) -> None:
    """Each declaration guards its canary, alone."""
    data = await written(tmp_path, name)
    assert only_plain(data, name)
    assert found_in(data, GUARDS) == {name}
    assert (b"It was seen." in data) is (name == "rules")
