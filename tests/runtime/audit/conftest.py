"""A bundle of two conversations, one of which an agent took part in; made once."""

from __future__ import annotations

import asyncio

import pytest

from saywhy.stores.memory import MemoryStore
from tests.runtime.audit.desk import engine_on, lines_of, talk


async def _made() -> list[bytes]:
    store = MemoryStore()
    async with engine_on(store) as engine:
        await talk(engine, "s1", "ann")
        await talk(engine, "s2", "bob", ("help", "9"))
        await store.anchor()
        return await lines_of(store)


@pytest.fixture(scope="session")
def whole() -> list[bytes]:
    """The lines of the bundle of everything."""
    while True:  # chains come in the order of their random ids; tests count on that of "s1" first
        lines = asyncio.run(_made())
        if b'"session":"s1"' in lines[1]:
            return lines
