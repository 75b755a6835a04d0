"""Promise: a trace file that somebody edited is refused or explained, never tripped over.

Values of a record are changed one at a time, at random and always the same way.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from saywhy import Agent, Failure, LLMInstruction, SaywhyError, ScriptedModel, Trace, define_tool
from saywhy.trace.export.file import lines_of, trace_of

MANY = 600
STRANGE: list[Any] = [None, 0, -1, "", "x", [], {}, [1], {"a": 1}, 1.5, True, "[REDACTED]", [None],
                      10**20, [{"a": []}], [[]]]  # fmt: skip


def three_left(_: Any) -> dict[str, int]:
    return {"left": 3}


async def desk() -> Trace:
    """A conversation in which an agent calls a tool that has rules."""
    rules = [
        LLMInstruction("late", when=lambda ctx: ctx.content.left < 0, text="Say no."),
        LLMInstruction("early", when=lambda ctx: ctx.content.left >= 0, text="Say yes."),
    ]
    tool = define_tool("days_left", "Tells.", {}, three_left, instructions=rules)
    script = [
        {"when": {"last": "left"}, "reply": "Yes, it can go back."},
        {"when": {}, "tool_calls": [{"name": "days_left", "arguments": {}}]},
    ]
    agent = Agent(ScriptedModel(script), system="Be nice.", tools=[tool])
    talk = agent.conversation()
    for words in ("Can it go back?", "Really?"):
        await talk.run(words)
    return talk.trace


def spots(tree: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Every place in a document."""
    yield path
    parts = (
        tree.items() if isinstance(tree, dict) else enumerate(tree if type(tree) is list else ())
    )
    for name, part in parts:
        yield from spots(part, (*path, name))


def edited(lines: list[bytes], chance: random.Random) -> list[bytes]:
    """The lines, one of them with another value somewhere, or without one."""
    lines = list(lines)
    number = chance.randrange(1, len(lines))
    tree = json.loads(lines[number])
    *way, last = chance.choice([path for path in spots(tree) if len(path) > 1])
    inner = tree
    for name in way:
        inner = inner[name]
    if isinstance(inner, dict) and chance.random() < 0.2:
        del inner[last]
    else:
        inner[last] = chance.choice(STRANGE)
    lines[number] = json.dumps(tree).encode() + b"\n"
    return lines


def ask_everything(trace: Trace) -> None:
    """Each question to a record; what it cannot answer it says."""
    for question in (
        lambda: trace.why().text(),
        lambda: trace.why().first_text(3),
        lambda: json.dumps(trace.why().to_json()),
        lambda: trace.why(Failure()).text(),
        lambda: trace.why_not("instruction:late").text(),
        lambda: trace.what_changed().text(),
        trace.narrative,
        trace.transactions,
    ):
        with suppress(SaywhyError):
            question()


@pytest.mark.parametrize("of", ["flows", "agent"])
async def test_any_edited_file(of: str, payment: Any) -> None:
    """Whatever a value was changed into."""
    lines = list(lines_of(payment.trace if of == "flows" else await desk()))
    chance = random.Random(11)
    read = 0
    for _ in range(MANY):
        try:
            trace = trace_of(edited(lines, chance), "edited.jsonl")
        except SaywhyError:
            continue
        read += 1
        ask_everything(trace)
    assert MANY / 10 < read < MANY
