"""What a wrapper around a provider costs an answer.

The provider gives twenty pieces at once, so all that is measured is ours; a real answer takes a
second. Each wrapper takes turns with the bare provider in short blocks, so that a busy machine
strikes both; and it is processor time. `extra` is the median of what an answer takes longer than
with its neighbour.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from typing import Any

from bench.figures import Figure, figure
from saywhy.models.chat import user_message
from saywhy.models.provider import Ask, Piece, Provider, StopPiece, TextPiece, UsagePiece, reply_of
from saywhy.models.recorder import RecordingModel
from saywhy.models.resilience.budgeted import with_budget
from saywhy.models.resilience.circuit_breaker import with_circuit_breaker
from saywhy.models.resilience.fallback import resilient
from saywhy.models.resilience.rate_limit import with_rate_limit
from saywhy.models.resilience.retries import with_retries
from saywhy.models.resilience.timeout import with_timeout

BLOCKS = 60
ASKS = 20
PIECES: tuple[Piece, ...] = (
    *(TextPiece(f"word {number} ") for number in range(18)),
    UsagePiece(100, 36),
    StopPiece("stop", "small"),
)
ASK = Ask("chat", "be brief", [user_message("hi")] * 20, stream=True)
PRICES = {"small": (1.0, 2.0)}

WRAPPERS: dict[str, Callable[[Provider], Provider]] = {
    "with_timeout": lambda model: with_timeout(model, 60),
    "with_retries": with_retries,
    "resilient": lambda model: resilient([model]),
    "with_circuit_breaker": with_circuit_breaker,
    "with_rate_limit": lambda model: with_rate_limit(model, requests=10**9, per_seconds=1),
    "with_budget": lambda model: with_budget(model, tokens=10**12, prices=PRICES),
    "RecordingModel": lambda model: RecordingModel(model, []),
    "timeout in limit in retries in budget": lambda model: with_budget(
        with_retries(
            with_rate_limit(with_timeout(model, 60), requests=10**9, per_seconds=1, tokens=10**9)
        ),
        tokens=10**12,
    ),
}


class Ready:
    """Has its answer ready."""

    async def ask(self, ask: Ask) -> AsyncGenerator[Piece, None]:
        for piece in PIECES:
            yield piece


def run() -> list[Figure]:
    """An answer of twenty pieces, and how much longer it takes with each wrapper."""
    return asyncio.run(_run())


async def _run() -> list[Figure]:
    found: list[Figure] = []
    bare = Ready()
    for name, wrap in WRAPPERS.items():
        extra: list[float] = []
        alone: list[float] = []
        for _ in range(BLOCKS):
            wrapped: Any = wrap(bare)
            alone.append(await _block(bare))
            extra.append(await _block(wrapped) - alone[-1])
        if not found:
            found.append(figure("an answer of twenty pieces", alone, "us"))
        found.append(figure(f"extra of {name}", extra, "us"))
    return found


async def _block(model: Provider) -> float:
    """Microseconds of one answer."""
    began = time.process_time()
    for _ in range(ASKS):
        await reply_of(model, ASK)
    return (time.process_time() - began) / ASKS * 1e6
