"""Why a request brought no answer that can be used, as data for the conversation."""

from __future__ import annotations


class HttpTrouble(Exception):
    """What went wrong on the way. `passing`: another attempt may fare better.

    `answered`: the server had begun to answer, so it has seen the request.
    """

    def __init__(
        self,
        message: str,
        name: str,
        hint: str = "",
        *,
        passing: bool = False,
        answered: bool = False,
        status: int | None = None,
    ) -> None:
        self.message = message
        self.name = name
        self.hint = hint
        self.passing = passing
        self.answered = answered
        self.status = status
        super().__init__(message)
