"""How one call over HTTP fares, told by the wire to whoever makes the call.

The MCP library sends requests in tasks of its own and reports every failure of the wire in the same
few words. What really went wrong is noted here, found in the context that the task inherits.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

import msgspec

from saywhy.tools.http.progress import CURRENT, Progress
from saywhy.tools.mcp.trouble import McpTrouble


class Exchange(msgspec.Struct):
    """One call's."""

    progress: Progress = msgspec.field(default_factory=Progress)
    status: int | None = None
    trouble: McpTrouble | None = None


EXCHANGE: Final[ContextVar[Exchange | None]] = ContextVar("EXCHANGE", default=None)
"""That of the call being made in this task."""


@contextmanager
def watch(exchange: Exchange) -> Generator[None]:
    """Have the wire note in `exchange` what happens to requests that begin in here."""
    tokens = EXCHANGE.set(exchange), CURRENT.set(exchange.progress)
    try:
        yield
    finally:
        EXCHANGE.reset(tokens[0])
        CURRENT.reset(tokens[1])
