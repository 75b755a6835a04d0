"""A web server for scenarios with HTTP tools: it answers as scripted and keeps what it was asked.

It listens on this machine only, on any free port, in a thread of its own.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

NO_ENTRY = 418
"""The answer to a request that no entry matches: a status no tool expects by accident."""


class WebStub:
    """Entries `{method, path, query?, status, headers?, body, delay_ms?}`, served in order.

    The nth request for a method and path gets the nth entry that matches it, then the last one
    over and over.
    """

    def __init__(
        self, entries: Sequence[Mapping[str, Any]], record_headers: Sequence[str] = ()
    ) -> None:
        self._entries = entries
        self._headers = [name.lower() for name in record_headers]
        self._lock = threading.Lock()
        self._counts: Counter[tuple[str, str]] = Counter()
        self._requests: list[dict[str, Any]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(self))
        self._server.daemon_threads = True
        # The default of half a second would be the longest part of most scenarios.
        serve = self._server.serve_forever
        self._thread = threading.Thread(target=serve, args=(0.01,), daemon=True)

    @property
    def base(self) -> str:
        """What `{{BASE}}` stands for."""
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}"

    def take_requests(self) -> list[dict[str, Any]]:
        """The requests since the last call, in order."""
        with self._lock:
            taken, self._requests = self._requests, []
        return taken

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *ignored: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, request: _Request) -> Mapping[str, Any]:
        """Note a request and choose what to answer."""
        with self._lock:
            self._requests.append(request.record(self._headers))
            key = (request.method, request.path)
            number = self._counts[key]
            self._counts[key] += 1
        matching = [entry for entry in self._entries if request.fits(entry)]
        return matching[min(number, len(matching) - 1)] if matching else {"status": NO_ENTRY}


class _Request:
    """A request as it came: method, raw path, raw query, headers and body."""

    def __init__(self, method: str, target: str, headers: Any, body: bytes) -> None:
        self.method = method
        self.path, _, self.query = target.partition("?")
        self.headers = headers
        self.body = body

    def fits(self, entry: Mapping[str, Any]) -> bool:
        """Whether an entry is about this request."""
        return (
            str(entry.get("method", "GET")).upper() == self.method
            and entry.get("path") == self.path
            and entry.get("query", self.query) == self.query
        )

    def record(self, headers: Sequence[str]) -> dict[str, Any]:
        """The request as an expectation names it; what is empty is left out."""
        record: dict[str, Any] = {"method": self.method, "path": self.path}
        if self.query:
            record["query"] = self.query
        if self.body:
            record["body"] = self._parsed_body()
        kept = {name: self.headers[name] for name in headers if name in self.headers}
        return {**record, "headers": kept} if kept else record

    def _parsed_body(self) -> Any:
        text = self.body.decode("utf-8", "replace")
        try:
            return json.loads(text)
        except ValueError:
            return text


def _handler_for(stub: WebStub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def serve(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            request = _Request(self.command, self.path, self.headers, self.rfile.read(length))
            entry = stub.answer(request)
            time.sleep((entry.get("delay_ms") or 0) / 1000)
            body = entry.get("body", "")
            payload = body if isinstance(body, str) else json.dumps(body)
            self._reply(entry, payload.encode())

        def _reply(self, entry: Mapping[str, Any], payload: bytes) -> None:
            headers = {str(name).lower(): value for name, value in _headers(entry).items()}
            self.send_response(int(entry.get("status", 200)))
            for name, value in {"content-type": "application/json", **headers}.items():
                self.send_header(name, str(value))
            self.send_header("content-length", str(len(payload)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(payload)

        def __getattr__(self, name: str) -> Any:
            """Every method is served: the base class looks for `do_GET` and the like."""
            if name.startswith("do_"):
                return self.serve
            raise AttributeError(name)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing: what was asked stands in the scenario's result."""

    return Handler


def _headers(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    return entry.get("headers") or {}
