"""Promise: the story of a stored conversation, told from parts of it, is that of its whole record.

Who tells all of it reads long texts only as far as a sentence shows them; nobody can tell.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from saywhy import Agent, CallerError, Engine, LLMInstruction, SqliteStore, define_tool
from saywhy.models.scripted import ScriptedModel
from saywhy.runtime.recorded import AT_ONCE
from saywhy.trace.narrative.formats import Format
from saywhy.trace.narrative.story import narrative, stream
from saywhy.trace.paged import PagedTrace
from saywhy.trace.pages import MAX_PASSED, MAX_TOLD
from saywhy.trace.trace import Trace

ROW = """id >> 32 = (SELECT turn_key FROM turn WHERE turn_no = ?)"""
DAMAGE = f"""UPDATE "commit" SET doc = CAST('[2,0,' AS BLOB) WHERE {ROW}"""
FORGET = (
    f"""DELETE FROM "commit" WHERE {ROW}""",
    "DELETE FROM message WHERE turn_no = ?",
    "DELETE FROM turn WHERE turn_no = ?",
)
LONG = "All of this was said in one message. " * 40
STEPS: list[dict[str, Any]] = [
    {"id": "ask", "type": "SAY-GET", "variable": "note", "value": "And then?"},
    {"id": "set", "type": "SET", "variable": "kept", "value": "({ note, n: [1, note] })"},
    {"id": "half", "type": "SET", "variable": "half", "value": "note.slice(0, 400)"},
    {
        "id": "long",
        "type": "SWITCH",
        "variable": "half",
        "branches": {
            "short": {"id": "a", "type": "SAY", "value": "Short."},
            "default": {"id": "b", "type": "SAY", "value": "{{note}}"},
        },
    },
]
AGENT: list[dict[str, Any]] = [
    {"id": "agent", "type": "AGENT", "agent": "d", "value": "{{note}}", "variable": "told"},
    {"id": "say", "type": "SAY", "value": "{{told}}"},
]


def helper() -> Agent:
    """An agent whose tool gives a little, and whose rule adds much that its reply repeats."""
    rule = LLMInstruction("all", text=LONG)

    def look(given: dict[str, Any]) -> str:
        return "it is there"

    tool = define_tool("look", "Looks.", {}, look, instructions=[rule])
    wants = {"tool_calls": [{"name": "look", "arguments": {}}]}
    answer = {"reply": f"it is there\n\n[INSTRUCTION] {LONG}"}
    return Agent(ScriptedModel([wants, answer] * 20), name="d", tools=[tool])


async def talked(folder: Path, turns: int, steps: list[dict[str, Any]]) -> Trace:
    """A stored conversation with long words, in which each second one starts the flow again."""
    about = {"name": "Talk", "version": "1", "primary": True, "prompt": "talk"}
    flow = {"id": "talk", "description": "Talks", "steps": steps, **about}
    store, quiet = SqliteStore(folder / "s.db"), {"enabled": False}
    engine = Engine(flows=[flow], agents=[helper()], store=store, guidance=quiet)
    async with engine:
        for number in range(turns):
            await engine.take_turn("c", f"{number} {LONG}" if number % 2 else "talk")
        return await engine.trace("c")


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
async def test_from_parts_or_whole(form: Format, tmp_path: Path) -> None:
    """Line for line, with agents and rules, and for more turns than are kept at a time."""
    trace = await talked(tmp_path, 2 * MAX_PASSED + 4, [*STEPS, *AGENT])
    assert isinstance(trace, PagedTrace)
    whole = "".join(stream(trace.whole, format=form))
    assert "".join(stream(trace, format=form)) == whole
    assert narrative(trace, format=form, most=None) == whole
    assert 'look() gave \\"it is there\\".' in whole or 'look() gave "it is there".' in whole


async def test_long_texts_are_read_as_far_as_they_are_shown(tmp_path: Path) -> None:
    """In the values of commits; messages are whole, and so is the trace it was asked of."""
    trace = await talked(tmp_path, 2 * MAX_PASSED + 4, STEPS)
    said = f"1 {LONG}".strip()

    def value(record: Trace) -> Any:
        steps = record.turn(2).commits
        return next(one for one in steps if one.phase == "answered").ops[0].value

    told = trace.for_a_story()
    assert value(told) == said[:MAX_TOLD]
    assert told.messages(2)[0].text.strip() == said
    assert value(trace) == said
    assert Trace(trace, trace.charts).for_a_story().last == trace.last


async def test_why_it_failed_is_told_whole(tmp_path: Path) -> None:
    """However long the reason is, and although the reply says it as well."""

    def nested(*args: Any) -> Any:
        value: Any = 1
        for _ in range(300):
            value = [value]
        return value

    about = {"name": "Talk", "version": "1", "primary": True, "prompt": "talk"}
    steps = [{"id": "call", "type": "CALL-TOOL", "tool": "t", "variable": "x"}]
    flow = {"id": "talk", "description": "Talks", "steps": steps, **about}
    local = {"type": "local", "function": "f"}
    tool = {"id": "t", "name": "T", "effect": "reads", "implementation": local}
    store, quiet = SqliteStore(tmp_path / "s.db"), {"enabled": False}
    async with Engine(
        flows=[flow], tools=[tool], functions={"f": nested}, store=store, guidance=quiet,
        validate_on_init=False,
    ) as engine:  # fmt: skip
        for _ in range(AT_ONCE + 2):
            await engine.take_turn("c", "talk")
        trace = await engine.trace("c")
    assert isinstance(trace, PagedTrace)
    told = "".join(stream(trace))
    assert told.count(f"{'.0' * MAX_TOLD}") >= AT_ONCE
    assert told == "".join(stream(trace.whole))


@pytest.mark.parametrize("turn", [1, 2, 9, 22])
async def test_a_turn_that_cannot_be_read(turn: int, tmp_path: Path) -> None:
    """All that was told before it is there; then it is said what is wrong."""
    trace = await talked(tmp_path, 2 * MAX_PASSED + 4, STEPS)
    whole = list(stream(trace))
    with closing(sqlite3.connect(tmp_path / "s.db")) as db, db:
        assert db.execute(DAMAGE, (turn,)).rowcount == 1
    told: list[str] = []
    async with Engine(flows=[], store=SqliteStore(tmp_path / "s.db")) as engine:
        with pytest.raises(CallerError, match="this is no row of commits"):
            for piece in stream(await engine.trace("c")):
                told.append(piece)
    assert told == whole[: turn - 1]


async def test_turns_that_left_nothing(tmp_path: Path) -> None:
    """They are passed over, wherever they lie."""
    trace = await talked(tmp_path, 2 * MAX_PASSED + 4, STEPS)
    whole = list(stream(trace))
    gone = {2, 7, 8, 15, 20, 21, 22, 31}
    with closing(sqlite3.connect(tmp_path / "s.db")) as db, db:
        for turn in gone:
            for statement in FORGET:
                db.execute(statement, (turn,))
    async with Engine(flows=[], store=SqliteStore(tmp_path / "s.db")) as engine:
        left = list(stream(await engine.trace("c")))
    kept = [piece for number, piece in enumerate(whole, 1) if number not in gone]
    assert left == kept
