"""The scripted web server: answers in order, and what it was asked."""

from __future__ import annotations

import http.client
import json
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

import pytest

from saywhy.errors import CallerError
from saywhy.testing.stub_server import StubRequest, StubServer


def ask(
    url: str,
    method: str = "GET",
    body: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> tuple[int, str, str]:
    """Status, content type and body of an answer."""
    data = None if body is None else body.encode()
    request = urllib.request.Request(url, data=data, method=method, headers=dict(headers or {}))
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.status, response.headers["content-type"], response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers["content-type"], error.read().decode()


def entry(path: str = "/a", **keys: Any) -> dict[str, Any]:
    return {"method": "GET", "path": path, "status": 200, "body": {}, **keys}


def test_entries_come_in_order() -> None:
    """The nth request gets the nth entry, then the last one over and over."""
    with StubServer([entry(body={"n": 1}), entry(status=503, body="down")]) as web:
        answers = [ask(f"{web.base}/a") for _ in range(3)]
    assert answers[0] == (200, "application/json", '{"n": 1}')
    assert answers[1] == answers[2] == (503, "application/json", "down")


def test_path_and_query_decide() -> None:
    """An entry with a query answers that query alone; no entry is 418."""
    entries = [entry(query="q=1", body=1), entry("/b%20c", body=2)]
    with StubServer(entries) as web:
        assert ask(f"{web.base}/a?q=1")[2] == "1"
        assert ask(f"{web.base}/a?q=2")[0] == 418
        assert ask(f"{web.base}/b%20c?x=y")[2] == "2"
        assert ask(f"{web.base}/b%20c", "POST", "{}")[0] == 418


def test_headers_of_the_answer() -> None:
    """The content type is JSON unless the entry says otherwise."""
    with StubServer([entry(headers={"Content-Type": "text/plain"}, body="hi")]) as web:
        assert ask(f"{web.base}/a") == (200, "text/plain", "hi")


def test_requests_are_kept() -> None:
    """Method, path, query, body and the headers asked for, in order; taken once."""
    posts = entry(method="POST")
    with StubServer([posts], ["X-Key", "x-other"]) as web:
        ask(f"{web.base}/a?x=%20", "POST", '{"b": 1}', {"x-key": "k", "x-more": "no"})
        ask(f"{web.base}/a", "POST", "a=1", {"content-type": "application/x-www-form-urlencoded"})
        first, second = web.take_requests()
        assert web.take_requests() == []
    assert first == {
        "method": "POST",
        "path": "/a",
        "query": "x=%20",
        "body": {"b": 1},
        "headers": {"x-key": "k"},
    }
    assert json.dumps(second) == '{"method": "POST", "path": "/a", "body": "a=1"}'


def test_only_this_machine_is_served() -> None:
    """The server listens on the loopback address."""
    with StubServer([]) as web:
        assert web.base.startswith("http://127.0.0.1:")


def test_answers_can_be_added() -> None:
    """`on` adds entries one after the other; bytes are sent as they are."""
    with StubServer().on("GET", "/a", body=b"\xff\x00").on("POST", "/b", status=201) as web:
        with urllib.request.urlopen(f"{web.base}/a", timeout=10) as response:
            assert response.read() == b"\xff\x00"
        assert ask(f"{web.base}/b", "POST", "{}")[0] == 201


def test_an_answer_may_be_a_function() -> None:
    """It sees the request and gives what is not said yet: a server that counts, for instance."""
    seen: list[str] = []

    def answer(request: StubRequest) -> dict[str, Any]:
        seen.append(request.headers["x-once"])
        return {"status": 409 if seen.count(seen[-1]) > 1 else 200, "body": request.data}

    with StubServer().on("POST", "/pay", answer=answer) as web:
        answers = [ask(f"{web.base}/pay", "POST", '{"n": 1}', {"x-once": "k"}) for _ in range(2)]
    assert [(status, body) for status, _, body in answers] == [(200, '{"n": 1}'), (409, '{"n": 1}')]


def test_the_ledger() -> None:
    """Every request with all its headers, its body as text and as data."""
    with StubServer().on("POST", "/a") as web:
        ask(f"{web.base}/a?x=1", "POST", "no json", {"X-Key": "k"})
        request = web.requests[0]
    assert (request.method, request.path, request.query) == ("POST", "/a", "x=1")
    assert (request.headers["x-key"], request.text, request.data) == ("k", "no json", "no json")
    assert request.at > 1_700_000_000


@pytest.mark.parametrize(
    ("drop", "received"), [("before", b""), ("midway", b'"aaa'), ("after", b'"aaaaaa"')]
)
def test_dropped_connections(drop: str, received: bytes) -> None:
    """Before the answer, in the middle of its body, and after it."""
    with StubServer().on("GET", "/a", body='"aaaaaa"', drop=drop) as web:
        client = http.client.HTTPConnection("127.0.0.1", web.port, timeout=10)
        client.request("GET", "/a")
        try:
            body = client.getresponse().read()
        except http.client.IncompleteRead as error:
            body = error.partial
        except http.client.RemoteDisconnected:
            body = b""
        client.close()
    assert body == received


def test_large_and_broken_answers() -> None:
    """A body of any size without its length; bytes in place of HTTP."""
    with StubServer().on("GET", "/a", body="", fill_bytes=200_000).on("GET", "/b", raw=b"?") as web:
        with urllib.request.urlopen(f"{web.base}/a", timeout=10) as response:
            assert len(response.read()) == 200_000
        with pytest.raises(http.client.BadStatusLine):
            urllib.request.urlopen(f"{web.base}/b", timeout=10)


def test_the_end_does_not_wait() -> None:
    """A slow answer and an open connection do not keep the server from ending."""
    began = time.monotonic()
    with StubServer().on("GET", "/a", delay_ms=60_000) as web:
        client = http.client.HTTPConnection("127.0.0.1", web.port, timeout=10)
        client.request("GET", "/a")
        while not web.requests:
            time.sleep(0.01)
    client.close()
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    ("entry", "message", "hint"),
    [
        (
            {"path": "/a", "statsu": 200},
            '"statsu" is no key of an answer of the stub server',
            'did you mean "status"?',
        ),
        (
            {"path": "/a", "drop": "never"},
            'the stub server cannot drop "never"',
            "use before, midway, after",
        ),
    ],
)
def test_misspelt_entries(entry: dict[str, Any], message: str, hint: str) -> None:
    """They would make a test that cannot fail."""
    with pytest.raises(CallerError) as raised:
        StubServer([entry])
    assert (raised.value.message, raised.value.hint) == (message, hint)


def test_half_a_request_is_none() -> None:
    """A client that dies in the midst of its body has asked for nothing."""
    head = b"POST /a HTTP/1.1\r\nhost: h\r\ncontent-length: 20\r\n\r\n"
    with StubServer([entry(method="POST")]) as web:
        with socket.create_connection(("127.0.0.1", web.port), 10) as client:
            client.sendall(head + b'{"amount": ')
            client.shutdown(socket.SHUT_WR)
            assert client.recv(100) == b""
        assert web.requests == ()


def test_open_connections_are_counted() -> None:
    """A connection is open until whoever made it goes, and its last answer is given."""
    with StubServer([entry(delay_ms=50)]) as web:
        with socket.create_connection(("127.0.0.1", web.port), 10) as client:
            client.sendall(b"GET /a HTTP/1.1\r\nhost: h\r\n\r\n")
            assert client.recv(12) == b"HTTP/1.1 200"
            assert web.open_connections == 1
        end = time.monotonic() + 10
        while web.open_connections and time.monotonic() < end:
            time.sleep(0.001)
        assert web.open_connections == 0
