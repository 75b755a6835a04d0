"""Promise: a body is written as its content type says, the same for the same arguments."""

from __future__ import annotations

import base64
from email import message_from_bytes
from typing import Any

import pytest

from saywhy.tools.http.address import Unfit
from saywhy.tools.http.body import body_of, is_known

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"


@pytest.mark.parametrize(
    ("content_type", "arguments", "body"),
    [
        (
            JSON,
            {"n": 3.0, "ok": True, "no": None, "o": {"a": ["é"]}},
            '{"n":3,"ok":true,"no":null,"o":{"a":["é"]}}',
        ),
        ("application/json; charset=utf-8", {"a": 1}, '{"a":1}'),
        ("application/vnd.api+json", {"a": 1}, '{"a":1}'),
        ("application/unheard-of", {"a": 1}, '{"a":1}'),
        (FORM, {"a": "x y", "b": "é&", "c": None, "d": [1, 2]}, "a=x+y&b=%C3%A9%26&d=1&d=2"),
        ("text/plain", {"body": "hi é"}, "hi é"),
        ("text/plain", {"data": "hi"}, "hi"),
        ("text/plain", {"a": 1}, '{"a":1}'),
        ("text/xml", {"body": "<a/>", "x": 1}, "<a/>"),
        ("application/xml", {"data": "<a/>"}, "<a/>"),
        ("application/soap+xml", {"body": "<a/>"}, "<a/>"),
        ("text/plain", {"body": {"a": 1}}, '{"a":1}'),
    ],
)
def test_body(content_type: str, arguments: dict[str, Any], body: str) -> None:
    """JSON, forms, text and XML; what is unknown is JSON."""
    assert body_of(content_type, arguments) == (body.encode(), content_type)


@pytest.mark.parametrize("content_type", [JSON, FORM, "multipart/form-data", "text/plain"])
def test_no_arguments(content_type: str) -> None:
    """No arguments make no body."""
    assert body_of(content_type, {}) == (None, content_type)


def test_multipart() -> None:
    """Fields and files as parts; a reader of e-mail finds each one whole."""
    picture = bytes(range(256))
    arguments = {
        "title": "Grüße",
        "tags": ["a", "b"],
        "none": None,
        "meta": {"x": 1},
        "photo": {
            "filename": 'a"b\r\n.png',
            "contentType": "image/png",
            "base64": base64.b64encode(picture).decode(),
        },
        "note": {"filename": "n.txt", "content": "hi"},
    }
    body, content_type = body_of("multipart/form-data", arguments)
    assert body is not None
    message = message_from_bytes(f"Content-Type: {content_type}\r\n\r\n".encode() + body)
    parts: list[Any] = message.get_payload()  # type: ignore[assignment]
    found = [
        (part.get_param("name", header="content-disposition"), part.get_payload(decode=True))
        for part in parts
    ]
    assert found == [
        ("title", "Grüße".encode()),
        ("tags", b"a"),
        ("tags", b"b"),
        ("meta", b'{"x":1}'),
        ("photo", picture),
        ("note", b"hi"),
    ]
    assert parts[4].get_content_type() == "image/png"
    assert parts[4].get_filename() == "a%22b%0D%0A.png"
    assert parts[5].get_content_type() == "application/octet-stream"
    assert body_of("multipart/form-data", arguments) == (body, content_type)


def test_a_boundary_in_the_content() -> None:
    """A file that holds the boundary gets another one."""
    boundary = body_of("multipart/form-data", {"a": "x"})[1].rpartition("=")[2]
    body, content_type = body_of("multipart/form-data", {"a": boundary})
    assert body is not None
    assert body.count(content_type.rpartition("=")[2].encode()) == 2


def test_a_file_that_is_no_base64() -> None:
    """The argument is named."""
    with pytest.raises(Unfit, match="The file in argument photo is no base64"):
        body_of("multipart/form-data", {"photo": {"filename": "a", "base64": "?"}})


def test_known_types() -> None:
    """Those that mean something here."""
    assert is_known("application/ld+json")
    assert is_known("text/csv")
    assert not is_known("application/jsn")
