"""The payment service over HTTP: it outlives the processes that are killed while they ask it.

It runs in the process of the proof, behind a real server on this machine. A request says which
process sent it, so that a kill planned at the service's act hits whoever asked; what was sent
before takes effect all the same, as it would anywhere.
"""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final, Self
from urllib.parse import urlsplit

import msgspec

from saywhy.errors import OutsideError
from saywhy.testing.faults import Faults
from saywhy.testing.ledger import Ledger
from saywhy.testing.payments import EFFECT, PaymentStub
from saywhy.testing.prove.child import Job
from saywhy.testing.prove.scenes import definitions
from saywhy.testing.prove.service_client import PROCESS
from saywhy.testing.stub_server import StubRequest, StubServer
from saywhy.tools.http.request import IDEMPOTENCY
from saywhy.tools.invocation import CallContext

CONVERSATION: Final = "x-conversation"
"""The header in which the tools of the proofs name the conversation."""
PATIENCE_SECONDS: Final = 20.0
POLL_SECONDS: Final = 0.001
_QUIET: Final = b"GET /quiet HTTP/1.1\r\nhost: quiet\r\n\r\n"


class PaymentService:
    """A `PaymentStub` that HTTP tools ask, for one job after the other. Close it in the end."""

    def __init__(self) -> None:
        self._server = StubServer()
        for method, path in _routes():
            self._server.on(method, path, answer=self._answer)
        self._server.on("GET", "/quiet")
        self._job = Job(store="", ledger="", sessions=[])
        self._faults = Faults()
        self._stub: PaymentStub | None = None
        self._process = 0

    def __enter__(self) -> Self:
        self._server.__enter__()
        return self

    def __exit__(self, *ignored: object) -> None:
        self._server.__exit__()

    @property
    def passed(self) -> list[str]:
        """The places that were passed here in the job: where a fault can be planned."""
        return self._faults.passed

    def begin(self, job: Job) -> Job:
        """Serve this job from now on; gives it with the address of the service."""
        self._job, self._stub = job, None
        plan = [fault for fault in job.plan if fault.at == EFFECT]
        self._faults = Faults(plan, kill=self._kill)
        return msgspec.structs.replace(job, service=self._server.base)

    def wait_until_quiet(self) -> None:
        """Come back when all that was sent by the process that is gone has taken its course.

        Connections are taken in order, so whoever is answered after them knows that they were.
        """
        with socket.create_connection(("127.0.0.1", self._server.port), PATIENCE_SECONDS) as own:
            own.sendall(_QUIET)
            own.recv(1)
        end = time.monotonic() + PATIENCE_SECONDS
        while self._server.open_connections:
            if time.monotonic() > end:
                raise OutsideError("the payment service of the proof does not come to rest")
            time.sleep(POLL_SECONDS)

    # ------------------------------------------------------------ inside

    def _answer(self, request: StubRequest) -> Mapping[str, Any]:
        process = int(request.headers.get(PROCESS, 0))
        if self._stub is None:  # one job is one process
            self._process = process
            ledger = Ledger(self._job.ledger, pid=process)
            pause = self._job.pause_seconds
            self._stub = PaymentStub(ledger, faults=self._faults, pause_seconds=pause)
        _, tool, act = request.path.split("/")
        key = request.headers.get(IDEMPOTENCY.lower(), "")
        own = f"-{process}" if key and self._job.plant == "new-key" else ""
        context = CallContext(
            session_id=request.headers.get(CONVERSATION, ""), key=key + own, tool=tool
        )
        arguments = request.data if request.body else dict(_pairs(request.query))
        try:
            return {"body": getattr(self._stub, act)(arguments, context)}
        except ConnectionError as error:
            return {"status": 503, "headers": {"retry-after": "0"}, "body": {"error": str(error)}}

    def _kill(self) -> None:
        with suppress(ProcessLookupError):  # it was killed already
            os.kill(self._process, signal.SIGKILL)


def _routes() -> Iterator[tuple[str, str]]:
    """Method and path of each HTTP tool: the tool, then what the service is to do."""
    for tool in definitions().tools:
        implementation = tool.raw["implementation"]
        if implementation["type"] == "http":
            yield implementation["method"], urlsplit(implementation["url"]).path


def _pairs(query: str) -> Iterator[tuple[str, str | int]]:
    for pair in query.split("&"):
        name, _, value = pair.partition("=")
        yield name, int(value) if value.isdecimal() else value


__all__ = ["PaymentService"]
