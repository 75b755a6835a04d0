"""What stands between the engine and its store in a process of the proofs.

It notes which messages were acknowledged. It is also the place where a rule of the engine's is
broken on request, so that everybody can see that a proof finds it: see `PLANTS`. The engine itself
has no such switch.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Final, Self, cast

import msgspec

from saywhy.errors import CallerError, did_you_mean
from saywhy.stores.store import Accepted, Call, Claim, Prior, Store
from saywhy.testing.ledger import Ledger
from saywhy.testing.prove.clerk import ASKING

PLANTS: Final = {
    "repeat-once": "a call of a `once` tool that was cut off is made again",
    "forget-result": "a result that is on record is not found, so its call is made again",
    "ask-again": "the answer of a model that is on record is not found, so it is asked again",
    "new-key": "each process makes up an idempotency key of its own",
    "forget-turn": "a message is acknowledged before it is stored",
    "leave-unknown": "nobody settles what became unknown",
}
"""The faults that can be planted in the proof of effects, and what goes wrong then."""

ORDER_PLANTS: Final = {"new-ids": "each process makes up a message id of its own"}
"""Likewise in the proof of order."""

APPROVAL_PLANTS: Final = {"careless": "somebody approves whatever is open, whatever it is"}
"""Likewise in the proof of approval."""

IDS_PLANTS: Final = {"unmarked": "the tool does not say that its identifier has to be known"}
"""Likewise in the proof of identifiers."""


def check_plant(plant: str, known: Mapping[str, str]) -> None:
    """Refuse the name of a fault that does not exist. Raises `CallerError`."""
    if plant and plant not in known:
        hint = did_you_mean(plant, tuple(known)) or f"known are {', '.join(known)}"
        raise CallerError(f"no fault is called {plant!r}", hint=hint)


class Seam:
    """A store in front of the one that is tested."""

    def __init__(self, store: Store, ledger: Ledger, plant: str = "") -> None:
        self._store = store
        self._ledger = ledger
        self._plant = plant

    @classmethod
    def around(cls, store: Store, ledger: Ledger, plant: str) -> Store:
        """The store with the seam in front."""
        return cast(Store, cls(store, ledger, plant))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def __aenter__(self) -> Self:
        await self._store.open()
        return self

    async def __aexit__(self, *ignored: object) -> None:
        await self._store.close()

    async def accept_and_claim(
        self, session_id: str, message_id: str, input: bytes, **named: Any
    ) -> tuple[Accepted, Claim | None]:
        """Take a message in; from here on the sender does not send it again."""
        if self._plant == "forget-turn":
            self._ledger.note("accepted", message_id, session=session_id)
        taken = await self._store.accept_and_claim(session_id, message_id, input, **named)
        if taken[0].status == "new" and self._plant != "forget-turn":
            self._ledger.note("accepted", message_id, session=session_id)
        return taken

    async def intent(self, claim: Claim, seq: int, call: Call, *args: Any, **named: Any) -> Prior:
        """What the journal knows of a call, or what a planted fault makes of it."""
        prior = await self._store.intent(claim, seq, call, *args, **named)
        if call.kind == "model":
            self._note_question(claim, seq, prior)
        again = prior.status == "interrupted" and call.effect == "once"
        if self._plant == "repeat-once" and again:
            return Prior("fresh")
        if self._plant == "forget-result" and prior.status == "answered":
            return Prior("fresh")
        if self._plant == "ask-again" and prior.status == "answered" and call.kind == "model":
            return Prior("fresh")
        return prior

    def _note_question(self, claim: Claim, seq: int, prior: Prior) -> None:
        """Which question to a model comes now, and whether its answer was on record before."""
        question = f"{claim.turn_no}:{seq}"
        ASKING.set((claim.session_id, question))
        if prior.status == "answered":
            self._ledger.note("remembered", question, session=claim.session_id)


def planted(functions: dict[str, Callable[..., Any]], plant: str) -> dict[str, Callable[..., Any]]:
    """The functions of the tools, which get another key where that is the fault."""
    if plant != "new-key":
        return functions
    return {name: _with_own_key(function) for name, function in functions.items()}


def _with_own_key(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def call(arguments: Any, context: Any) -> Any:
        key = f"{context.key}-{os.getpid()}"
        return function(arguments, msgspec.structs.replace(context, key=key))

    return call


__all__ = [
    "APPROVAL_PLANTS",
    "IDS_PLANTS",
    "ORDER_PLANTS",
    "PLANTS",
    "Seam",
    "check_plant",
    "planted",
]
