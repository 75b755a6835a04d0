"""The store in an SQLite file keeps what `saywhy.stores.store` promises."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from saywhy.stores.sqlite import SqliteStore
from saywhy.testing.check_store import STORE_CHECKS, check_promise
from saywhy.testing.store_parts import Check


@pytest.fixture
def make_store(tmp_path: Path) -> Callable[[], SqliteStore]:
    numbers = itertools.count()
    return lambda: SqliteStore(tmp_path / f"{next(numbers)}.db")


@pytest.mark.parametrize("check", STORE_CHECKS, ids=lambda check: check.__name__)
def test_keeps_its_promise(check: Check, make_store: Callable[[], SqliteStore]) -> None:
    """Each promise of a store holds in a file."""
    asyncio.run(check_promise(check, make_store))
