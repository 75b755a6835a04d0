"""Promise: agents that are handed something sensitive leave a record that is masked and verifies.

Conditions of instructions are evidence: what they read of a sensitive answer is masked like it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from saywhy import Agent, Engine, LLMInstruction, define_tool
from saywhy.models.scripted import ScriptedModel
from saywhy.runtime.audit.verify import verify_bundle
from saywhy.stores.memory import MemoryStore

NUMBER = "INS-4417-9921-QZ"


def who(value: str) -> dict[str, Any]:
    """A flow that asks for something sensitive, then an agent."""
    return {
        "id": "w",
        "name": "Who",
        "version": "1",
        "primary": True,
        "prompt": "who",
        "description": "who",
        "variables": {"n": {"type": "string", "pii": True}},
        "steps": [
            {"id": "a", "type": "SAY-GET", "variable": "n", "value": "Number?"},
            {"id": "g", "type": "AGENT", "agent": "d", "value": value},
        ],
    }


def lab(**more: Any) -> Any:
    """A tool with an answer that an instruction looks at."""

    def fits(ctx: Any) -> bool:
        return bool(ctx.content.age > 50 and ctx.content.smoker and ctx.content.hiv == "pos")

    def values(arguments: Any) -> Any:
        return {"hiv": "pos", "age": 571234, "smoker": True}

    return define_tool(
        "lab",
        "Lab values",
        {"type": "object", "properties": {"n": {"type": "string"}}, "required": ["n"]},
        values,
        effect="reads",
        instructions=[LLMInstruction("old", when=fits, text="y")],
        **more,
    )


async def bundle_of(agent: Agent, value: str, path: Path) -> str:
    """Two messages to the flow, and the bundle with the record of them."""
    store = MemoryStore()
    async with Engine(flows=[who(value)], agents=[agent], store=store) as engine:
        for message in ("Who", NUMBER):
            await engine.take_turn("s", message)
        await engine.audit.export(path, session_id="s")
    return path.read_text()


async def test_a_receipt_after_a_masked_message_agrees(tmp_path: Path) -> None:
    """Whose run it is stays in the record, so that the bundle verifies."""
    agent = Agent(ScriptedModel([{"when": {}, "reply": "Found."}]), name="d", system="r")
    text = await bundle_of(agent, "number {{n}}", tmp_path / "b.jsonl")
    assert NUMBER not in text
    report = verify_bundle(tmp_path / "b.jsonl")
    assert (report.ok, report.receipts) == (True, 1), report.text()


RETURNS = {
    "type": "object",
    "properties": {
        name: {"type": kind, "pii": True}
        for name, kind in (("hiv", "string"), ("age", "number"), ("smoker", "boolean"))
    },
}


@pytest.mark.parametrize(("value", "more"), [("number {{n}}", {}), ("A", {"returns": RETURNS})])
async def test_what_an_instruction_read_is_masked(
    value: str, more: dict[str, Any], tmp_path: Path
) -> None:
    """Numbers and booleans as well, whether the arguments are sensitive or the answer is."""
    script = [
        {"when": {"last": "hiv"}, "reply": "Fine."},
        {"when": {}, "tool_calls": [{"name": "lab", "arguments": {"n": NUMBER}}]},
    ]
    agent = Agent(ScriptedModel(script), name="d", system="r", tools=[lab(**more)])
    text = await bundle_of(agent, value, tmp_path / "b.jsonl")
    mark = "[REDACTED]"
    for name in ("age", "smoker", "hiv"):
        assert f'["content.{name}","{mark}"]' in text
    assert "571234" not in text
    assert verify_bundle(tmp_path / "b.jsonl").ok
