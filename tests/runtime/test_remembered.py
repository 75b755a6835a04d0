"""Promise: what was found to be sensitive is masked later too, as long as it is there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from saywhy import Engine, SqliteStore
from saywhy.trace.export.file import lines_of

CODE = "Kn0t-4711 b"
FLOWS: list[dict[str, Any]] = [
    {
        "id": "f",
        "name": "Flow",
        "variables": {"code": {"type": "string", "pii": True}},
        "steps": [
            {"id": "a", "type": "SAY-GET", "variable": "code", "value": "Code?"},
            {"id": "b", "type": "SET", "variable": "last", "value": "code.slice(-1)"},
            {"id": "c", "type": "SAY-GET", "variable": "x", "value": "Go on?"},
            {"id": "d", "type": "SET", "variable": "again", "value": "last + last"},
            {"id": "e", "type": "SET", "variable": "cargo_too", "value": "cargo.kept = again"},
            {"id": "g", "type": "SAY", "value": "It ends with {{last}}, {{again}} and {{x}}."},
        ],
    },
    {"id": "t", "name": "Tell", "steps": [{"id": "a", "type": "SAY", "value": "({{cargo.kept}})"}]},
]


def engine_on(path: Path) -> Engine:
    """An engine on a file."""
    store = SqliteStore(path)
    return Engine(flows=FLOWS, store=store, guidance={"enabled": False}, validate_on_init=False)


async def test_it_is_remembered_across_turns_and_processes(tmp_path: Path) -> None:
    """One letter is too short to be looked for: it is masked by where it stands."""
    for words in ("Flow", CODE, "plain"):
        async with engine_on(tmp_path / "s.db") as engine:
            reply = await engine.take_turn("c", words)
    assert reply.response == "It ends with b, bb and plain."
    async with engine_on(tmp_path / "s.db") as engine:
        trace = await engine.trace("c")
        told = trace.messages(3)[-1].text
        assert told == "It ends with [REDACTED], [REDACTED] and plain."
        records = b"".join(lines_of(trace)).decode()
        assert '"again"],"[REDACTED]"]' in records
        reply = await engine.take_turn("c", "Tell")
        assert reply.response == "(bb)"
        assert b'"(bb)"' not in b"".join(lines_of(await engine.trace("c")))


async def test_nothing_is_remembered_of_what_is_gone(tmp_path: Path) -> None:
    """When no flow runs, only what is in cargo is."""
    async with engine_on(tmp_path / "s.db") as engine:
        for words in ("Flow", CODE):
            await engine.take_turn("c", words)
        session = await engine.session("c")
        assert session is not None
        assert {tuple(key)[-1] for key, _ in session.sensitive["keys"]} >= {"code", "last"}
        await engine.take_turn("c", "plain")
        session = await engine.session("c")
        assert session is not None
        assert [tuple(key) for key, _ in session.sensitive["keys"]] == [("cargo", "kept")]


async def test_status_does_not_list_what_was_made_of_it(tmp_path: Path) -> None:
    """However short it is; other variables are listed."""
    async with engine_on(tmp_path / "s.db") as engine:
        for words in ("Flow", CODE):
            await engine.take_turn("c", words, cargo={"kept": "x"})
        told = (await engine.take_turn("c", "status")).response or ""
    assert "last" not in told
    assert "code" not in told
