"""Small pieces the checks of a store are made of: a call, a whole turn, a comparison that talks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from saywhy.errors import SaywhyError
from saywhy.stores.store import Call, Claim, Effect, Store

Check: TypeAlias = Callable[[Store], Awaitable[None]]
"""One promise, tried on a store that is open and empty. Its docstring is the promise."""

PATIENCE_SECONDS = 20.0
"""How long something that should happen at once may take on a busy machine."""


def same(what: str, actual: Any, expected: Any) -> None:
    """Raise `AssertionError` saying what was expected of which thing."""
    if actual != expected:
        raise AssertionError(f"{what}: expected {expected!r}, got {actual!r}")


async def refuses(what: str, kind: type[SaywhyError], work: Awaitable[object]) -> SaywhyError:
    """The error that `work` raises, which must be of one kind."""
    try:
        got = await work
    except kind as error:
        return error
    except Exception as error:
        raise AssertionError(f"{what}: expected {kind.__name__}, got {error!r}") from error
    raise AssertionError(f"{what}: expected {kind.__name__}, got {got!r} and no error")


async def in_time(waiting: Awaitable[object]) -> None:
    """Wait for something that must not take long."""
    try:
        await asyncio.wait_for(waiting, PATIENCE_SECONDS)
    except TimeoutError as error:
        raise AssertionError(f"still waiting after {PATIENCE_SECONDS:g} seconds") from error


def call(
    seq: int,
    *,
    effect: Effect = "repeatable",
    args: bytes = b'{"n":1}',
    name: str = "pay",
    kind: str = "tool",
) -> Call:
    return Call(kind, name, effect, args, f"s:1:{seq}")


async def begin(
    store: Store,
    session_id: str = "s",
    message_id: str = "m1",
    *,
    user_id: str = "ann",
    ttl_seconds: float = 30.0,
) -> Claim:
    """A turn accepted and claimed, which must be possible at once."""
    accepted, claim = await store.accept_and_claim(
        session_id, message_id, b"hi", user_id=user_id, worker="one", ttl_seconds=ttl_seconds
    )
    same("the status of a message never seen before", accepted.status, "new")
    if claim is None:
        raise AssertionError("an idle conversation was not claimed with its new message")
    same("the turn that was claimed", claim.turn_no, accepted.turn_no)
    return claim


async def finish(store: Store, claim: Claim, text: bytes = b"reply") -> None:
    """The turn ends with a document and a reply made from `text`."""
    await store.finish(claim, b"doc-" + text, text, messages=(), commits=())


async def take_over(store: Store, session_id: str | None = "s", worker: str = "two") -> Claim:
    """The claim of a conversation as soon as the lease on it is over."""
    end = asyncio.get_running_loop().time() + PATIENCE_SECONDS
    while asyncio.get_running_loop().time() < end:
        if claim := await store.claim(worker, 30.0, session_id):
            return claim
        await asyncio.sleep(0.01)
    raise AssertionError(f"a lease that was over could not be taken in {PATIENCE_SECONDS:g} s")


async def abandoned(store: Store, session_id: str = "s", message_id: str = "m1") -> Claim:
    """The claim of a worker whose lease ends before it does anything."""
    return await begin(store, session_id, message_id, ttl_seconds=0.02)
