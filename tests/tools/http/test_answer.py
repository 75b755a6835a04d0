"""Promise: an answer is what its content type says, or an error that says what came instead."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.tools.http.answer import MAX_QUOTED, status_trouble, value_of
from saywhy.tools.http.client import HttpAnswer
from saywhy.tools.http.trouble import HttpTrouble


def answer(
    body: bytes | str, kind: str = "application/json", status: int = 200, reason: str = "OK"
) -> HttpAnswer:
    content = body.encode() if isinstance(body, str) else body
    return HttpAnswer(status, reason, {"content-type": kind} if kind else {}, content)


@pytest.mark.parametrize(
    ("given", "value", "is_data"),
    [
        (answer('{"a": [1, null]}'), {"a": [1, None]}, True),
        (answer('\ufeff{"a": 1}'), {"a": 1}, True),
        (answer('{"a": 1}', "application/problem+json; charset=utf-8"), {"a": 1}, True),
        (answer("12345678901234567890"), 12345678901234567890, True),
        (answer('{"$date": "x"}'), {"$date": "x"}, True),
        (answer("just text", "text/plain"), "just text", False),
        (answer("{}", "text/plain"), "{}", False),
        (answer("é".encode("latin-1"), "text/plain; charset=ISO-8859-1"), "é", False),
        (answer(b"\xff", "text/plain"), "\ufffd", False),
        (answer("<a/>", "application/xml"), "<a/>", False),
        (answer("<a/>", "text/xml"), "<a/>", False),
        (answer('{"a": 1}', ""), {"a": 1}, True),
        (answer('{"a": 1}', "application/octet-stream"), {"a": 1}, True),
        (answer("no json", "application/octet-stream"), "no json", False),
        (answer("", "application/json"), "", False),
        (answer(" \r\n", "application/json"), "", False),
        (answer("", "", 204), "", False),
        (answer('{"a": 1}', "application/json", 204), "", False),
    ],
)
def test_values(given: HttpAnswer, value: Any, is_data: bool) -> None:
    """JSON is read; text and XML are text; what says nothing is tried as JSON; nothing is ''."""
    assert value_of(given) == (value, is_data)


def test_xml_to_walk_through() -> None:
    """Where a mapping wants it, XML is data."""
    assert value_of(answer("<a><b>1</b></a>", "text/xml"), walk_xml=True) == (
        {"a": {"b": "1"}},
        True,
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            answer("<html>down</html>"),
            "The answer says it is JSON and is not: JSON is malformed: invalid character (byte 0): "
            "<html>down</html>",
        ),
        (answer("[" * 5000), "The answer says it is JSON and is not: maximum recursion depth"),
        (
            answer("<a>", "text/xml"),
            "The answer says it is XML and cannot be read: no element found: line 1, column 3: <a>",
        ),
        (answer(b"\x89PNG\xff", "image/png"), "The answer is no text: image/png, 5 bytes"),
        (answer(b"\xff", ""), "The answer is no text: of no declared type, 1 bytes"),
        (
            answer("x", "application/x; charset=klingon"),
            "The answer is no text: application/x; charset=klingon, 1 bytes",
        ),
    ],
)
def test_unreadable(given: HttpAnswer, message: str) -> None:
    """Each tells what came."""
    with pytest.raises(HttpTrouble) as raised:
        value_of(given, walk_xml=True)
    assert raised.value.message.startswith(message)
    assert (raised.value.name, raised.value.passing) == ("AnswerUnreadable", False)
    assert raised.value.hint


@pytest.mark.parametrize(
    ("status", "reason", "body", "message", "passing"),
    [
        (404, "Not Found", '{"error":\n "none"}', 'HTTP 404 Not Found: {"error": "none"}', False),
        (404, "", "", "HTTP 404 Not Found", False),
        (799, "", "", "HTTP 799", True),
        (429, "Slow down", "", "HTTP 429 Slow down", True),
        (503, "", "", "HTTP 503 Service Unavailable", True),
        (401, "", "", "HTTP 401 Unauthorized", False),
    ],
)
def test_statuses(status: int, reason: str, body: str, message: str, passing: bool) -> None:
    """Status, reason and body on one line; 429 and 5xx may pass."""
    trouble = status_trouble(answer(body, status=status, reason=reason))
    assert (trouble.message, trouble.passing, trouble.status) == (message, passing, status)


def test_long_bodies_are_shortened() -> None:
    """An error repeats the beginning and says how long it was."""
    trouble = status_trouble(answer("é" * 5000, status=500, reason="Oops"))
    assert trouble.message == f"HTTP 500 Oops: {'é' * MAX_QUOTED}… (10000 bytes)"
