"""Promise: a tool and its arguments make one request, the same each time, without any I/O."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.tools.http.address import Unfit
from saywhy.tools.http.request import HttpRequest, build, method_of
from tests.tools.http.calls import http_tool

URL = "https://a.example/b"
NOT_WEB = "an HTTP tool calls http:// and https:// addresses only"


def made(
    method: str, args: dict[str, Any], keys: dict[str, Any] | None = None, **more: Any
) -> HttpRequest:
    url = more.pop("url", URL)
    return build(http_tool(url, method, keys, **more), args, key="s:1:2")


def headers_of(request: HttpRequest) -> dict[str, str]:
    return {name.lower(): value for name, value in request.headers}


def test_a_plain_request() -> None:
    """A GET has its arguments in the query, two headers and nothing else."""
    assert made("GET", {"q": "a b"}) == HttpRequest(
        "GET", URL + "?q=a+b", (("User-Agent", "saywhy/1.0"), ("Accept", "*/*"))
    )


def test_the_method() -> None:
    """POST where none is given; small letters do."""
    assert method_of(http_tool(URL, "patch")) == "PATCH"
    assert method_of(http_tool(URL, "")) == "POST"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_where_arguments_go(method: str) -> None:
    """Path first, then the query for those named, the body for the rest."""
    request = made(
        method, {"id": 7, "key": "k", "a": 1}, url=URL + "/{id}", queryParams=["key", "gone"]
    )
    assert request.url == URL + "/7?key=k"
    assert request.body == b'{"a":1}'
    assert headers_of(request)["content-type"] == "application/json"


def test_all_to_the_query() -> None:
    """`useQueryParams` leaves no body."""
    request = made("POST", {"a": 1}, useQueryParams=True)
    assert (request.url, request.body) == (URL + "?a=1", None)
    assert "content-type" not in headers_of(request)


def test_the_custom_query() -> None:
    """Comes last, and sees all arguments."""
    request = made("GET", {"q": "x", "v": 2}, customQuery="format=json&v={v}")
    assert request.url == URL + "?q=x&v=2&format=json&v=2"


def test_headers_that_say_more_win() -> None:
    """User agent, defaults, content type, credentials, own headers, signature: later ones win."""
    everything = {
        "defaultHeaders": {"X-A": "default", "content-TYPE": "default", "User-Agent": "default"},
        "basicAuth": {"username": "u", "password": "p"},
        "apiKeyHeader": {"name": "X-Key", "value": "from key"},
        "authHeaders": {"X-Auth": "from authHeaders", "X-Key": "from authHeaders"},
        "headers": {"x-auth": "own", "X-A": "own", "x-sig": "own", "X-Gone": None},
        "hashAuth": {"secret": "s", "fields": ["a"], "keyName": "X-Sig"},
    }
    found = headers_of(made("POST", {"a": 1}, {"apiKey": "t"}, **everything))
    assert found["user-agent"] == "default"
    assert found["content-type"] == "application/json"
    assert found["authorization"].startswith("Basic ")
    assert found["x-key"] == "from authHeaders"
    assert found["x-auth"] == "own"
    assert found["x-a"] == "own"
    assert len(found["x-sig"]) == 64
    assert "x-gone" not in found


def test_signatures_among_the_arguments() -> None:
    """They go where arguments go, and cover the arguments before them."""
    block = {"secret": "s", "fields": ["a", "b"], "keyName": "sig", "location": "argument"}
    request = made("GET", {"a": 1, "b": 2}, hashAuth=block)
    assert request.url.startswith(URL + "?a=1&b=2&sig=2d8c403af1c7a2e4")


@pytest.mark.parametrize(
    ("method", "more", "key"),
    [
        ("POST", {}, "s:1:2"),
        ("DELETE", {}, "s:1:2"),
        ("GET", {}, None),
        ("HEAD", {}, None),
        ("POST", {"idempotencyHeader": False}, None),
        ("POST", {"headers": {"idempotency-key": "own"}}, "own"),
    ],
)
def test_the_idempotency_key(method: str, more: dict[str, Any], key: str | None) -> None:
    """Goes along with what acts; the author may rename it, give another or leave it out."""
    assert headers_of(made(method, {}, **more)).get("idempotency-key") == key
    renamed = headers_of(made("POST", {}, idempotencyHeader="X-Once"))
    assert (renamed["x-once"], renamed.get("idempotency-key")) == ("s:1:2", None)


def test_a_key_with_odd_letters() -> None:
    """Ids of conversations may be anything; a header may not."""
    request = build(http_tool(URL, "POST"), {}, key="a\r\nX: é")
    assert headers_of(request)["idempotency-key"] == "a%0D%0AX: %C3%A9"


def test_expressions_are_filled_in() -> None:
    """At the pointers where they stand; the tool itself stays as it is."""
    tool = http_tool(
        "{{cargo.base}}/x", "POST", {"apiKey": "{{t}}"}, headers={"X~A": "{{a}}", "X-B": "b"}
    )
    filled = {
        "/implementation/url": "https://b.example",
        "/apiKey": "s3cret",
        "/implementation/headers/X~0A": "a",
    }
    request = build(tool, {}, filled=filled)
    found = headers_of(request)
    assert request.url == "https://b.example"
    assert (found["authorization"], found["x~a"], found["x-b"]) == ("Bearer s3cret", "a", "b")
    assert "s3cret" in request.secrets
    assert tool.raw["apiKey"] == "{{t}}"


@pytest.mark.parametrize(
    ("url", "filled", "message"),
    [
        ("{{a}}", {}, "nothing was put in for the expression at /implementation/url of tool Bird"),
        ("{{a}}", {"problem": "{{a}} gives nothing"}, "{{a}} gives nothing"),
        (
            "{{a}}",
            {"/implementation/url": "file:///etc/passwd"},
            NOT_WEB,
        ),
        (
            "{{a}}",
            {"/implementation/url": "gopher"},
            NOT_WEB,
        ),
        (
            "{{a}}",
            {"/implementation/url": "https://u:p@h/"},
            "the address of a tool holds no user names or passwords",
        ),
    ],
)
def test_no_request(url: str, filled: dict[str, str], message: str) -> None:
    """An expression that was not filled, an address that is none of the web."""
    with pytest.raises(Unfit) as raised:
        build(http_tool(url), {}, filled=filled)
    assert raised.value.message == message


def test_a_line_break_in_a_header() -> None:
    """It would begin another header."""
    tool = http_tool(URL, headers={"X-Name": "{{name}}"})
    with pytest.raises(Unfit, match="the header X-Name holds a line break"):
        build(tool, {}, filled={"/implementation/headers/X-Name": "a\r\nX-Admin: 1"})
