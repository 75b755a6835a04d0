"""What the tests of `saywhy agent` share: a file with agents, and answers of a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ..conftest import write

SHOP = """
from saywhy import (
    Agent, LLMCall, LLMInstruction, ScriptedModel, Sequence, ask_human, define_tool, follow,
)

FIND = define_tool(
    "find_order", "Finds an order.",
    {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
    lambda args: {"id": args["id"], "parcel": "PX-1"},
    instructions=[LLMInstruction("parcel", follow_up=follow("track",
        lambda ctx: {"parcel": ctx.content.parcel}, "Track the parcel", "User asks where"))],
)
TRACK = define_tool("track", "Tracks.", {"type": "object"}, lambda args: f"at {args['parcel']}")


def agent(model):
    return Agent(model, name="shop", system="You answer for a shop.",
                 tools=[FIND, TRACK, ask_human()])


def builder_function():
    return Agent.create(ScriptedModel([{"reply": "built"}]), name="b")


async def later():
    return Agent(ScriptedModel([{"reply": "later"}]), name="later")


def needy(shop, town="Rome"):
    return None


def broken():
    raise ValueError("no shelf")


def careful(ask):
    return "careful: " + ask.user


builder = Agent.create("openai:NOBODY", name="b").system("Be brief.")
call = LLMCall(ScriptedModel([{"reply": "one"}, {"reply": "two"}]), name="call")
pair = Sequence(
    LLMCall(ScriptedModel([{"reply": "first"}]), name="f"),
    LLMCall(ScriptedModel([{"reply": "second"}]), name="s"), name="pair")
number = 7
"""

FIND = {"tool_calls": [{"name": "find_order", "arguments": {"id": "17"}}]}
ASK = {"tool_calls": [{"name": "ask_human", "arguments": {"question": "Which town?"}}]}


@pytest.fixture(autouse=True)
def shop(folder: Path) -> None:
    """A file with agents, and others like them."""
    write(folder / "shop.py", SHOP)


def script(*answers: Any) -> str:
    """A file with answers of a model."""
    entries = [{"reply": one} if isinstance(one, str) else one for one in answers]
    return write(Path.cwd() / "script.json", entries)
