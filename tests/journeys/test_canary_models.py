"""Promise: what models hear and say of a sensitive value is in the live state and nowhere else.

A model finds a sensitive parameter in the first words; an agent is told it, calls a tool with it,
and answers with it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from saywhy import Agent, Engine, RecordingModel, SqliteStore, define_tool, masked_record
from saywhy.models.scripted import ScriptedModel
from tests.journeys.searched import Place

CARD = "K-7719-ö 04"
FIRST = f"please block {CARD} at once"
PARAMETER = {"name": "card", "description": "the card's number", "type": "string"}


def echo(args: dict[str, Any]) -> dict[str, Any]:
    """Give back what was given, turned round."""
    return {"back": str(args.get("card"))[::-1]}


def lookup(args: dict[str, Any]) -> str:
    """What is known of a card."""
    return f"{str(args.get('card'))[::-1]} is a fine card"


def flows(declared: bool) -> list[dict[str, Any]]:
    """A flow that a model starts, and which asks an agent."""
    steps: list[dict[str, Any]] = [
        {"type": "CALL-TOOL", "tool": "echo", "args": {"card": "{{card}}"}, "variable": "heard"},
        {
            "type": "AGENT",
            "agent": "desk",
            "value": "What about {{card}}?",
            "variable": "told",
            "history": "none",
        },
        {"type": "SAY", "value": "{{told}} {{heard.back}}"},
        {"type": "SAY-GET", "variable": "color", "value": "Which color has {{card}}?"},
        {"type": "SAY-GET", "variable": "more", "value": "So {{card}} is {{color}}?"},
        {"type": "RETURN", "value": "'bye ' + card"},
    ]
    numbered = [{"id": f"s{number}", **step} for number, step in enumerate(steps)]
    main = {
        "id": "block",
        "name": "Block",
        "version": "1.0",
        "primary": True,
        "prompt": "Block a card",
        "description": "Blocks a card",
        "parameters": [{**PARAMETER, "pii": True} if declared else PARAMETER],
        "steps": numbered,
    }
    say = {"id": "o", "type": "SAY", "value": "Something else."}
    other = {**main, "id": "other", "name": "Other", "parameters": [], "steps": [say]}
    return [main, other]


def tool(name: str) -> dict[str, Any]:
    """A local tool that takes a card."""
    return {
        "id": name,
        "name": name,
        "description": name,
        "parameters": {"type": "object", "properties": {"card": {"type": "string"}}},
        "implementation": {"type": "local", "function": name},
        "effect": "reads",
    }


def engine_on(place: Place, declared: bool, records: list[dict[str, Any]]) -> Engine:
    """An engine with a model that finds the flow, and an agent with a model of its own."""
    found = {"flowName": "Block", "parameters": {"card": CARD}}
    wants = {"for": "chat", "tool_calls": [{"name": "lookup", "arguments": {"card": CARD}}]}
    agent = ScriptedModel(
        [wants, {"for": "chat", "reply": f"{CARD} is {CARD[::-1]}"}],
    )
    return Engine(
        flows=flows(declared),
        tools=[tool("echo")],
        functions={"echo": echo},
        agents={
            "desk": Agent(
                RecordingModel(agent, records, redact=masked_record),
                name="desk",
                tools=[
                    define_tool("lookup", "About a card.", {"card": {"type": "string"}}, lookup)
                ],
            )
        },
        model=ScriptedModel([{"for": "detect_flow", "reply": found}, {"reply": {}}, {"reply": {}}]),
        guidance={"enabled": False},
        logger=place.log,
        store=SqliteStore(place.path),
    )


async def written(folder: Path, *, declared: bool) -> str:
    """All that is written of a conversation, and what was said to the user."""
    records: list[dict[str, Any]] = []
    place = Place(folder / "s.db").with_engine(lambda own: engine_on(own, declared, records))
    async with place.engine:
        said = await place.say("c", FIRST)
        assert said is not None
        assert CARD in said
        assert CARD[::-1] in said
        place.see(await place.say("c", "status"))
        await place.say("c", "green")
        assert await place.say("c", "yes") == f"bye {CARD}"
        await place.say("c", "nothing")  # until then the newest reply can be given again
        await place.look("c")
    assert len(records) == 2
    place.see(json.dumps(records, ensure_ascii=False))
    data = place.written()
    return data.decode("utf-8", "replace")


@pytest.mark.parametrize("text", [CARD, CARD[::-1], FIRST])
async def test_it_is_nowhere_else(text: str, tmp_path: Path) -> None:
    """Neither the number, nor what was made of it, nor the words it was found in."""
    assert text not in await written(tmp_path, declared=True)


async def test_without_the_declaration_it_is_found(tmp_path: Path) -> None:
    """So the search would find it."""
    open_data = await written(tmp_path, declared=False)
    assert CARD in open_data
    assert FIRST in open_data
