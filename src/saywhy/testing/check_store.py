"""A public attempt to break a store, for whoever writes one.

It tries the promises of `saywhy.stores.store` one by one, many of them from several workers at
once. What survives a kill or a power cut it cannot see from inside a process.
"""

from __future__ import annotations

from collections.abc import Callable

from saywhy.stores.store import Store
from saywhy.testing import (
    store_audit,
    store_crashes,
    store_held,
    store_rows,
    store_timers,
    store_turns,
    store_waiting,
)
from saywhy.testing.store_parts import Check

STORE_CHECKS: tuple[Check, ...] = (
    *store_turns.CHECKS,
    *store_crashes.CHECKS,
    *store_held.CHECKS,
    *store_waiting.CHECKS,
    *store_timers.CHECKS,
    *store_rows.CHECKS,
    *store_audit.CHECKS,
)


async def check_store(make_store: Callable[[], Store]) -> None:
    """Raise `AssertionError` for the first promise that does not hold, naming it.

    `make_store` gives a new, empty store each time it is called; it is opened and closed here.
    """
    for check in STORE_CHECKS:
        await check_promise(check, make_store)


async def check_promise(check: Check, make_store: Callable[[], Store]) -> None:
    """Try one promise on a new store."""
    try:
        async with make_store() as store:
            await check(store)
    except AssertionError as error:
        promise = (check.__doc__ or check.__name__).strip()
        raise AssertionError(f"{check.__name__}: {promise}\n    {error}") from error
