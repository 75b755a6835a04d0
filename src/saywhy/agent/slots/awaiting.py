"""Waiting for several resolvers at once: the one place of the slots that touches an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable
from inspect import isawaitable
from typing import Any


async def all_of(given: Iterable[Any]) -> list[Any]:
    """The values of all, in order; what is to be awaited is awaited side by side.

    The first that raises ends the others.
    """
    found = list(given)
    later = [one for one in found if isawaitable(one)]
    if not later:
        return found
    async with asyncio.TaskGroup() as group:
        tasks = {id(one): group.create_task(_as_coroutine(one)) for one in later}
    return [tasks[id(one)].result() if id(one) in tasks else one for one in found]


async def _as_coroutine(given: Awaitable[Any]) -> Any:
    return await given
