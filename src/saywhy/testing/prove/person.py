"""The people in the proofs: who says what became of a call, and who approves one.

Whoever settles a call looks into the service's books first, and notes what was listed and what was
found.
"""

from __future__ import annotations

import asyncio
import os
from typing import Final

from saywhy.runtime.engine import Engine
from saywhy.testing.ledger import Ledger

PATIENCE_SECONDS: Final = 20.0


async def settle_all(engine: Engine, session_id: str, ledger: Ledger) -> None:
    """Settle what is open in a conversation, also what becomes unknown in the course of that."""
    while found := await engine.unknown(session_id):
        call = found[0]
        ledger.note("listed", call["id"], session=session_id)
        acted = await _acted(ledger, call["id"])
        ledger.note("decided", call["id"], session=session_id, acted=acted)
        if acted:
            receipt = {"receipt": f"R-{call['args']['amount']}"}
            await engine.settle(session_id, call["id"], done=receipt, by="the bookkeeper")
        else:
            await engine.settle(session_id, call["id"], not_done=True, by="the bookkeeper")


async def approve_all(engine: Engine, session_id: str) -> None:
    """Approve what waits for it in a conversation, as it is shown."""
    for call in await engine.approvals(session_id):
        await engine.approve(
            session_id, call["id"], digest=call["digest"], by="the head of accounts"
        )


async def _acted(ledger: Ledger, key: str) -> bool:
    """Whether the service acted; a call of this very process may still be at it."""
    end = asyncio.get_running_loop().time() + PATIENCE_SECONDS
    while not ledger.count("effect", key):
        asked = ledger.entries("call", key=key)
        here = any(entry.pid == os.getpid() for entry in asked)
        if not here or asyncio.get_running_loop().time() > end:
            return False
        await asyncio.sleep(0.005)
    return True
