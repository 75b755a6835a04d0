"""The scripted web server: answers in order, and what it was asked."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

from saywhy.testing.stub_server import StubServer


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
