"""The store in memory keeps what `saywhy.stores.store` promises."""

from __future__ import annotations

import asyncio

import pytest

from saywhy.stores.memory import MemoryStore
from saywhy.testing.check_store import STORE_CHECKS, check_promise
from saywhy.testing.store_parts import Check


@pytest.mark.parametrize("check", STORE_CHECKS, ids=lambda check: check.__name__)
def test_keeps_its_promise(check: Check) -> None:
    """Each promise of a store holds in memory."""
    asyncio.run(check_promise(check, MemoryStore))
