"""Waiting for several resolvers at once: the one place of the slots that touches an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable
from inspect import isawaitable
from typing import Any


async def all_of(given: Iterable[Any]) -> list[Any]:
    """The values of all, in order; what is to be awaited is awaited side by side.

    The first that raises ends the others, and its error is raised as it is. (A `TaskGroup` would
    wrap it, and before Python 3.13 leaves the task that waits marked as cancelled.)
    """
    found = list(given)
    later = {number: one for number, one in enumerate(found) if isawaitable(one)}
    if len(later) == 1:
        ((number, only),) = later.items()
        found[number] = await only
    elif later:
        for number, value in zip(later, await _side_by_side(later.values()), strict=True):
            found[number] = value
    return found


async def _side_by_side(later: Iterable[Awaitable[Any]]) -> list[Any]:
    tasks = [asyncio.ensure_future(one) for one in later]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
