"""How the HTTP tools of a process that is tested reach the payment service."""

from __future__ import annotations

import os
from typing import Final

import msgspec

from saywhy.testing.faults import Faults
from saywhy.testing.stub_client import StubClient
from saywhy.tools.http.client import HttpAnswer
from saywhy.tools.http.progress import Progress
from saywhy.tools.http.request import HttpRequest

PROCESS: Final = "x-process"
"""The header that says which process asks. It is no part of the tool: another process may go on."""


class ServiceClient(StubClient):
    """Sends every request to the service at `base`, with the faults planned at a call."""

    def __init__(self, base: str, faults: Faults) -> None:
        super().__init__(base)
        self._faulty = faults.tool(super().send)

    async def send(
        self, request: HttpRequest, progress: Progress, *, take: frozenset[int] = frozenset()
    ) -> HttpAnswer:
        """The answer of the service."""
        headers = (*request.headers, (PROCESS, str(os.getpid())))
        marked = msgspec.structs.replace(request, headers=headers)
        answer: HttpAnswer = await self._faulty(marked, progress, take=take)
        return answer


__all__ = ["PROCESS", "ServiceClient"]
