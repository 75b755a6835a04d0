"""Bundles are written for one conversation, a person or everything; nothing else gets in."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from saywhy.errors import CallerError, UnknownSession
from saywhy.runtime.audit.requests import parts_of
from saywhy.runtime.audit.verify import verify_lines
from saywhy.stores.memory import MemoryStore
from saywhy.stores.store import Store
from saywhy.testing.store_parts import begin
from tests.runtime.audit.desk import PIN, engine_on, lines_of, talk


def kinds(lines: list[bytes]) -> list[str]:
    return [next(iter(json.loads(line))) for line in lines]


async def _filled() -> Store:
    store = MemoryStore()
    async with engine_on(store) as engine:
        await talk(engine, "s1", "ann")
        await talk(engine, "s2", "bob", ("help", "9"))
        await talk(engine, "s3", "bob", ("help",))
    return store


def test_only_what_was_asked_for() -> None:
    """One conversation, or a person's; anchors speak of everybody, so they are in neither."""

    async def scene() -> None:
        store = await _filled()
        await store.anchor()
        one = await lines_of(store, session_id="s2")
        assert [json.loads(x)["chain"]["session"] for x in one if b'{"chain"' in x] == ["s2"]
        assert b"ann" not in b"".join(one)
        bobs = await lines_of(store, user_id="bob")
        assert kinds(bobs).count("chain") == 2
        for lines in (one, bobs):
            assert verify_lines(lines).ok
            assert "anchor" not in kinds(lines)
        assert kinds(await lines_of(store)).count("anchor") == 1
        with pytest.raises(UnknownSession):
            await lines_of(store, session_id="none")
        with pytest.raises(CallerError, match='there is no conversation of user "eve"'):
            await lines_of(store, user_id="eve")

    asyncio.run(scene())


def test_a_file_is_only_made_for_something(tmp_path: Path) -> None:
    """What there is none of leaves no empty file behind."""

    async def scene() -> None:
        async with engine_on(await _filled()) as engine:
            with pytest.raises(UnknownSession):
                await engine.audit.export(tmp_path / "b.jsonl", session_id="none")
            assert not (tmp_path / "b.jsonl").exists()
            seal = await engine.audit.export(tmp_path / "b.jsonl", session_id="s1")
            lines = [line async for line in engine.audit.lines(session_id="s1")]
            assert (tmp_path / "b.jsonl").read_bytes() == b"".join(lines)
            assert json.loads(lines[-1])["end"]["seal"] == seal

    asyncio.run(scene())


def test_an_engine_without_a_store_has_no_audit() -> None:
    """The message says what to give it."""
    from saywhy import Engine

    with pytest.raises(CallerError) as refusal:
        _ = Engine(flows=[]).audit
    assert refusal.value.hint == "Engine(..., store=SqliteStore(path))"


def test_documents_of_any_kind_are_carried() -> None:
    """A store of another program's documents is exported and verified as well."""

    async def scene() -> list[bytes]:
        store = MemoryStore()
        for number in range(1, 260):  # more than a page of turns and messages
            claim = await begin(store, "s", f"m{number}")
            rows = [(number, bytes([number % 256, 10, 0, 255]))]
            await store.finish(claim, b"", b"", messages=rows, commits=())
        return await lines_of(store)

    report = verify_lines(asyncio.run(scene()))
    assert (report.wrong, report.turns, report.messages) == ("", 259, 259)


def test_parts_of_requests_are_there_once() -> None:
    """Each part of what the model was handed stands there once; the PIN in none of them."""

    async def scene() -> list[Any]:
        async with engine_on(MemoryStore()) as engine:
            await talk(engine)
            return list(parts_of(await engine.trace("s1")))

    parts = asyncio.run(scene())
    assert len({part.hash for part in parts}) == len(parts) == 9
    assert [part.domain for part in parts].count("tool") == 2
    assert all(PIN.encode() not in part.doc for part in parts)
    assert {part.run for part in parts} == {"s1/3/13"}
