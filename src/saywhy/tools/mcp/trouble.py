"""Why a call of an MCP tool brought no answer that can be used, as data for the conversation."""

from __future__ import annotations


class McpTrouble(Exception):
    """What went wrong.

    `passing`: another attempt may fare better. `doubtful`: the server may have carried the call
    out. `stale`: it no longer knows our connection, and has done nothing. `refused`: the call could
    never work, and was not sent.
    """

    def __init__(
        self,
        message: str,
        name: str = "McpError",
        hint: str = "",
        *,
        passing: bool = False,
        doubtful: bool = False,
        stale: bool = False,
        refused: bool = False,
        status: int | None = None,
    ) -> None:
        self.message = message
        self.name = name
        self.hint = hint
        self.passing = passing
        self.doubtful = doubtful
        self.stale = stale
        self.refused = refused
        self.status = status
        super().__init__(message)
