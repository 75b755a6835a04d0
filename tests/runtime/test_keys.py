"""Idempotency keys: one for all attempts of a step, never given to another step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from saywhy.stores.memory import MemoryStore
from saywhy.stores.sqlite import SqliteStore
from saywhy.stores.store import Store
from tests.flows.conftest import engine_of, flow, local_tool, say, use


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "s.db")


async def test_keys(store: Store) -> None:
    """Attempts share one; turns, steps and a conversation begun again after `forget` do not."""
    keys: list[str] = []

    def pay(args: dict[str, Any], *, context: Any) -> str:
        keys.append(context.key)
        if len(keys) % 2:
            raise TimeoutError("timeout: connection lost")
        return "paid"

    engine = engine_of(
        flow(use("pay"), use("pay"), say("ok")),
        tools=[local_tool("pay", effect="repeatable")],
        functions={"pay": pay},
        store=store,
    )
    async with engine:
        for _ in range(2):
            assert (await engine.take_turn("c1", "Main", user_id="ann")).response == "ok"
            assert (await engine.take_turn("c1", "Main", user_id="ann")).response == "ok"
            await store.forget("ann")
    attempts = [tuple(keys[at : at + 2]) for at in range(0, len(keys), 2)]
    assert len(attempts) == 8
    assert all(first == second for first, second in attempts)
    assert len({first for first, _ in attempts}) == 8
    assert all(key.startswith(("c1:1:", "c1:2:")) for key in keys)
