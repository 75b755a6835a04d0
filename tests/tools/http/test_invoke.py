"""Promise: every method, content type and way to fail does what it should, really connected."""

from __future__ import annotations

import asyncio
import base64
import gzip
import time
from typing import Any

import pytest

from saywhy.testing import StubServer
from saywhy.tools.http.client import HttpClient
from tests.tools.http.calls import KEY, LOCAL, call_with, http_tool

ACTS = ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


# ------------------------------------------------------------------ what is sent


@pytest.mark.parametrize("method", ["GET", *ACTS])
def test_methods(web: StubServer, bird: Any, method: str) -> None:
    """Each method arrives as it is, its arguments in the query or the body."""
    web.on(method, "/birds", body={"id": 7})
    answer = bird(method, {"q": 1})
    request = web.requests[0]
    assert (answer.value, answer.http_status) == ({"id": 7}, 200)
    assert request.method == method
    assert (request.query, request.text) == (("q=1", "") if method == "GET" else ("", '{"q":1}'))
    assert request.headers.get("idempotency-key") == (None if method == "GET" else KEY)


def test_head(web: StubServer, bird: Any) -> None:
    """HEAD has no body and its value is an empty text."""
    web.on("HEAD", "/birds", body={"id": 7})
    answer = bird("HEAD", {"q": 1})
    assert (answer.value, web.requests[0].method, web.requests[0].query) == ("", "HEAD", "q=1")


FILE = {
    "filename": "a.txt",
    "contentType": "text/plain",
    "base64": base64.b64encode(b"hi").decode(),
}


@pytest.mark.parametrize(
    ("content_type", "args", "wanted"),
    [
        ("application/json", {"a": [1, None]}, '{"a":[1,null]}'),
        ("application/x-www-form-urlencoded", {"a": "x y", "b": "é&"}, "a=x+y&b=%C3%A9%26"),
        ("text/plain", {"body": "just text"}, "just text"),
        ("text/xml", {"body": "<a/>"}, "<a/>"),
        ("application/xml", {"data": "<a/>"}, "<a/>"),
        (
            "multipart/form-data",
            {"a": "1", "f": FILE},
            'filename="a.txt"\r\nContent-Type: text/plain\r\n\r\nhi\r\n',
        ),
    ],
)
def test_content_types(
    web: StubServer, bird: Any, content_type: str, args: dict[str, Any], wanted: str
) -> None:
    """The body arrives under its type, as long as its length says."""
    web.on("POST", "/birds", body={})
    bird("POST", args, contentType=content_type)
    request = web.requests[0]
    assert wanted in request.text
    assert request.headers["content-type"].startswith(content_type)
    assert int(request.headers["content-length"]) == len(request.body)


SOAP = """<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>
<m:PriceResponse xmlns:m="urn:m"><m:Price currency="EUR">34.5</m:Price></m:PriceResponse>
</soap:Body></soap:Envelope>"""


def test_soap(web: StubServer, bird: Any) -> None:
    """An XML request whose XML answer is mapped by path."""
    web.on("POST", "/birds", headers={"Content-Type": "text/xml; charset=utf-8"}, body=SOAP)
    path = "Envelope.Body.PriceResponse.Price"
    mappings = {"price": {"path": f"{path}.#text"}, "unit": {"path": f"{path}.@currency"}}
    answer = bird(
        "POST",
        {"body": "<soap:Envelope/>"},
        contentType="text/xml",
        headers={"SOAPAction": "urn:price"},
        responseMapping={"type": "object", "mappings": mappings},
    )
    assert answer.value == {"price": "34.5", "unit": "EUR"}
    assert web.requests[0].headers["soapaction"] == "urn:price"


ANN = {"username": "ann", "password": "pw"}
BASIC = f"Basic {base64.b64encode(b'ann:pw').decode()}"


@pytest.mark.parametrize(
    ("keys", "more", "header", "value"),
    [
        ({"apiKey": "t-1"}, {}, "authorization", "Bearer t-1"),
        ({"authentication": {"type": "bearer", "token": "t-1"}}, {}, "authorization", "Bearer t-1"),
        ({}, {"basicAuth": {"username": "ann", "password": "pw"}}, "authorization", BASIC),
        (
            {},
            {"authentication": {"type": "basic", "username": "ann", "password": "pw"}},
            "authorization",
            BASIC,
        ),
        ({}, {"apiKeyHeader": {"name": "X-Key", "value": "v1"}}, "x-key", "v1"),
        ({}, {"authentication": {"type": "apiKey", "name": "X-Key", "value": "v1"}}, "x-key", "v1"),
        ({}, {"authHeaders": {"X-Auth": "v1"}}, "x-auth", "v1"),
    ],
)
def test_authentication(
    web: StubServer, bird: Any, keys: dict[str, Any], more: dict[str, Any], header: str, value: str
) -> None:
    """Each kind of credentials arrives in its header."""
    web.on("GET", "/birds", body={})
    assert bird(keys=keys, **more).fault is None
    assert web.requests[0].headers[header] == value


def test_a_key_in_the_query(web: StubServer, bird: Any) -> None:
    """An API key may go to the query."""
    web.on("GET", "/birds", body={})
    bird(
        args={"q": 1}, authentication={"type": "apikey", "in": "query", "name": "k", "value": "v 1"}
    )
    assert web.requests[0].query == "q=1&k=v+1"


@pytest.mark.parametrize("location", ["header", "argument"])
def test_signed_requests(web: StubServer, bird: Any, location: str) -> None:
    """The signature arrives as a header or in the body."""
    web.on("POST", "/birds", body={})
    block = {"secret": "s", "fields": ["a", "b"], "keyName": "X-Sig", "location": location}
    bird("POST", {"a": 1, "b": 2}, keys={"hashAuth": block})
    request = web.requests[0]
    found = request.headers.get("x-sig") if location == "header" else request.data["X-Sig"]
    assert str(found).startswith("2d8c403af1c7a2e4")


# ------------------------------------------------------------------ what comes back


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ({"body": [{"n": 1}]}, [{"n": 1}]),
        ({"body": "just text", "headers": {"content-type": "text/plain"}}, "just text"),
        ({"body": "<a>1</a>", "headers": {"content-type": "application/xml"}}, "<a>1</a>"),
        ({"status": 204}, ""),
        ({"status": 201, "body": {"saved": True}}, {"saved": True}),
    ],
)
def test_answers(web: StubServer, bird: Any, entry: dict[str, Any], value: Any) -> None:
    """JSON, text, XML, nothing."""
    web.on("GET", "/birds", **entry)
    assert bird().value == value


def test_accepted_statuses(web: StubServer, bird: Any) -> None:
    """What `acceptStatus` lists is a result; other failures stay failures."""
    web.on("GET", "/birds", status=404, body={"error": "none"})
    accepted = bird(acceptStatus=[400, 404])
    assert (accepted.value, accepted.fault, accepted.http_status) == ({"error": "none"}, None, 404)
    assert bird(acceptStatus=[400]).fault_message == 'HTTP 404 Not Found: {"error": "none"}'


def test_a_refusal_is_an_answer(web: StubServer, bird: Any) -> None:
    """After a 4xx nothing has happened; after a 5xx nobody knows, except when reading."""
    for method in ("GET", "POST"):
        web.on(method, "/birds", status=409).on(method, "/birds", status=500)
    assert [bird("POST").may_have_happened for _ in range(2)] == [False, True]
    assert [bird("GET").may_have_happened for _ in range(2)] == [False, False]
    reads = bird("POST", keys={"effect": "reads"})
    assert (reads.http_status, reads.may_have_happened) == (500, False)


def test_packed_answers(web: StubServer, bird: Any) -> None:
    """gzip is asked for and read."""
    packed = gzip.compress(b'{"id": 7}')
    web.on("GET", "/birds", body=packed, headers={"content-encoding": "gzip"})
    assert bird().value == {"id": 7}
    assert web.requests[0].headers["accept-encoding"] == "gzip"


@pytest.mark.parametrize(
    ("encoding", "message"),
    [
        ("br", "The answer of 127.0.0.1 is packed as br, which cannot be read"),
        ("gzip", "The answer of 127.0.0.1 is not packed as its headers say"),
    ],
)
def test_packing_that_cannot_be_read(
    web: StubServer, bird: Any, encoding: str, message: str
) -> None:
    """Named, instead of a text full of noise."""
    web.on("GET", "/birds", body=b"{}{}{}{}", headers={"content-encoding": encoding})
    assert bird().fault_message == message


# ------------------------------------------------------------------ secrets, cancelling


def test_secrets_are_not_told(web: StubServer, bird: Any) -> None:
    """A server that repeats what it was sent gives nothing away."""

    def repeat(request: Any) -> dict[str, Any]:
        return {"status": 400, "body": f"{request.headers} {request.query}"}

    web.on("GET", "/birds", answer=repeat)
    answer = bird(
        keys={"apiKey": "bearer-secret-1"},
        headers={"X-Token": "header-secret-2"},
        apiKeyHeader={"name": "X-Key", "value": "key-secret-3"},
        customQuery="api_key=query-secret-4",
        hashAuth={"secret": "hmac-secret-5", "fields": ["a"], "keyName": "X-Sig"},
    )
    assert answer.fault_message is not None
    assert answer.fault_message.startswith("HTTP 400 Bad Request: ")
    assert "secret" not in answer.fault_message
    assert "[REDACTED]" in answer.fault_message


def test_nothing_is_logged(web: StubServer, bird: Any, caplog: pytest.LogCaptureFixture) -> None:
    """No log of any level holds an address's query or a header."""
    caplog.set_level("DEBUG")
    web.on("GET", "/birds", body={})
    bird(keys={"apiKey": "bearer-secret-1"}, customQuery="api_key=query-secret-4")
    assert "secret" not in caplog.text


def test_a_cancelled_call(web: StubServer) -> None:
    """Cancelling ends the call at once, and the client serves the next one."""
    web.on("GET", "/slow", delay_ms=5000).on("GET", "/fast", body={"n": 1})

    async def main() -> Any:
        client = HttpClient(LOCAL)
        slow = asyncio.create_task(call_with(client, http_tool(web.base + "/slow")))
        while not web.requests:
            await asyncio.sleep(0.01)
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow
        answer = await call_with(client, http_tool(web.base + "/fast"))
        await client.close()
        return answer

    began = time.monotonic()
    assert asyncio.run(main()).value == {"n": 1}
    assert time.monotonic() - began < 3
