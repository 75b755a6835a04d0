"""A web server for tests: real requests on this machine, scripted answers, a ledger of what came.

It listens on the loopback address only, on any free port, in threads of its own, so that it serves
tests with and without an event loop. How a request looks in the ledger is answered here as well;
what a scenario file may say about it stands in `scenario_file`.
"""

from __future__ import annotations

import json
import ssl
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, Self

from saywhy.errors import CallerError, did_you_mean

NO_ENTRY: Final = 418
"""The answer to a request that no entry matches: a status no tool expects by accident."""

ENTRY_KEYS: Final = (
    *("method", "path", "query", "status", "headers", "body", "delay_ms"),
    *("drop", "fill_bytes", "raw", "answer"),
)
DROPS: Final = ("before", "midway", "after")
_CHUNK: Final = b"x" * 65536


@dataclass(frozen=True, slots=True)
class StubRequest:
    """A request as it came. Names of headers are in lower case."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes
    at: float
    """Seconds since 1970."""

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode("utf-8", "replace")

    @property
    def data(self) -> Any:
        """The body read as JSON; its text where it is none."""
        try:
            return json.loads(self.text)
        except ValueError:
            return self.text

    def fits(self, entry: Mapping[str, Any]) -> bool:
        """Whether an entry is about this request."""
        return (
            str(entry.get("method", "GET")).upper() == self.method
            and entry.get("path") == self.path
            and entry.get("query", self.query) == self.query
        )

    def record(self, headers: Sequence[str] = ()) -> dict[str, Any]:
        """The request as an expectation names it; what is empty is left out."""
        record: dict[str, Any] = {"method": self.method, "path": self.path}
        if self.query:
            record["query"] = self.query
        if self.body:
            record["body"] = self.data
        kept = {name: self.headers[name] for name in headers if name in self.headers}
        return {**record, "headers": kept} if kept else record


class StubServer:
    """Answers as scripted and keeps what it was asked.

    An entry is an object: `method` (GET), `path` and, where it matters, `query`, as they stand in
    the request; `status` (200), `headers`, `body` (text, bytes, or data sent as JSON), `delay_ms`.
    The nth request for a method and path gets the nth entry that matches it, then the last one over
    and over; what no entry matches gets 418.

    To go wrong: `drop` closes the connection `before` the answer, `midway` through its body or
    `after` it; `fill_bytes` sends a body of that many bytes without saying how long it is; `raw`
    sends these bytes in place of an answer. `answer` is a function from the `StubRequest` to the
    rest of the entry. With a `context` the server speaks TLS.
    """

    def __init__(
        self,
        entries: Iterable[Mapping[str, Any]] = (),
        record_headers: Sequence[str] = (),
        *,
        context: ssl.SSLContext | None = None,
    ) -> None:
        self._entries = [_checked(entry) for entry in entries]
        self._headers = [name.lower() for name in record_headers]
        self._lock = threading.Lock()
        self._counts: Counter[tuple[str, str]] = Counter()
        self._ledger: list[StubRequest] = []
        self._taken = 0
        self.over = threading.Event()
        """Set when the server ends, so that no delay outlives it."""
        self._scheme = "https" if context else "http"
        self._server = _Server(self, context)
        # The default of half a second would be the longest part of most scenarios.
        serve = self._server.serve_forever
        self._thread = threading.Thread(target=serve, args=(0.01,), daemon=True)

    def on(self, method: str, path: str, **entry: Any) -> Self:
        """Add an entry."""
        with self._lock:
            self._entries.append(_checked({"method": method, "path": path, **entry}))
        return self

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.server_address[1])

    @property
    def base(self) -> str:
        """The address, without a slash at its end: what `{{BASE}}` stands for in a scenario."""
        return f"{self._scheme}://127.0.0.1:{self.port}"

    @property
    def requests(self) -> tuple[StubRequest, ...]:
        """Every request so far, in order."""
        with self._lock:
            return tuple(self._ledger)

    @property
    def connections(self) -> int:
        """How many connections were opened so far."""
        return self._server.connections

    @property
    def open_connections(self) -> int:
        """How many are open now; one is until its last request was answered."""
        return self._server.open_connections

    def take_requests(self) -> list[dict[str, Any]]:
        """The requests since the last call, in order, as scenarios compare them."""
        with self._lock:
            taken, self._taken = self._ledger[self._taken :], len(self._ledger)
        return [request.record(self._headers) for request in taken]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *ignored: object) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()
        self._server.hang_up()
        self._thread.join()

    def answer(self, request: StubRequest) -> Mapping[str, Any]:
        """Note a request and choose what to answer."""
        with self._lock:
            self._ledger.append(request)
            key = (request.method, request.path)
            number = self._counts[key]
            self._counts[key] += 1
            matching = [entry for entry in self._entries if request.fits(entry)]
        if not matching:
            return {"status": NO_ENTRY}
        entry = matching[min(number, len(matching) - 1)]
        made: Callable[[StubRequest], Mapping[str, Any]] | None = entry.get("answer")
        return {**entry, **_checked(made(request))} if made else entry


def _checked(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """The entry. Raises `CallerError` for a misspelt key: it would make a test that cannot fail."""
    for name in entry:
        if name not in ENTRY_KEYS:
            hint = did_you_mean(name, ENTRY_KEYS) or f"known are {', '.join(ENTRY_KEYS)}"
            raise CallerError(f'"{name}" is no key of an answer of the stub server', hint=hint)
    if entry.get("drop") not in (None, *DROPS):
        raise CallerError(
            f'the stub server cannot drop "{entry["drop"]}"', hint=f"use {', '.join(DROPS)}"
        )
    return entry


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, stub: StubServer, context: ssl.SSLContext | None) -> None:
        self.stub = stub
        self.connections = 0
        self._open: set[Any] = set()
        super().__init__(("127.0.0.1", 0), _Handler)
        if context is not None:  # the handshake is the handler's: a client that fails holds up none
            self.socket = context.wrap_socket(
                self.socket, server_side=True, do_handshake_on_connect=False
            )

    @property
    def open_connections(self) -> int:
        return len(self._open)

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections += 1
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """Close the connections that clients keep open."""
        for request in list(self._open):
            self.shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: a client that hangs up or refuses the certificate is what tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def serve(self) -> None:
        assert isinstance(self.server, _Server)
        stub = self.server.stub
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length)
        if len(body) < length:  # whoever sent it died in the midst of it
            self.close_connection = True
            return
        path, _, query = self.path.partition("?")
        headers = {name.lower(): value for name, value in self.headers.items()}
        entry = stub.answer(StubRequest(self.command, path, query, headers, body, time.time()))
        stub.over.wait((entry.get("delay_ms") or 0) / 1000)
        self.close_connection = "drop" in entry or "fill_bytes" in entry or "raw" in entry
        if entry.get("drop") == "before":
            return
        if "raw" in entry:
            self.wfile.write(entry["raw"])
            return
        given = entry.get("body", "")
        payload = given.encode() if isinstance(given, str) else given
        if not isinstance(payload, bytes):
            payload = json.dumps(payload).encode()
        self._reply(entry, payload)

    def _reply(self, entry: Mapping[str, Any], payload: bytes) -> None:
        headers = {str(name).lower(): value for name, value in (entry.get("headers") or {}).items()}
        self.send_response(int(entry.get("status", 200)))
        for name, value in {"content-type": "application/json", **headers}.items():
            self.send_header(name, str(value))
        if "fill_bytes" not in entry:
            self.send_header("content-length", str(len(payload)))
        self.end_headers()
        if self.command == "HEAD":
            return
        if entry.get("drop") == "midway":
            payload = payload[: len(payload) // 2]
        self.wfile.write(payload)
        left = int(entry.get("fill_bytes", 0))
        while left > 0:
            self.wfile.write(_CHUNK[:left])
            left -= len(_CHUNK)

    def __getattr__(self, name: str) -> Any:
        """Every method is served: the base class looks for `do_GET` and the like."""
        if name.startswith("do_"):
            return self.serve
        raise AttributeError(name)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: what was asked stands in the ledger."""
