"""Promise: every method, content type and way to fail does what it should, really connected."""

from __future__ import annotations

import asyncio
import base64
import time
from typing import Any

import pytest

from saywhy.testing import FakeClock, StubServer
from saywhy.tools.call import call_tool
from saywhy.tools.http.client import HttpClient
from saywhy.tools.http.settings import HttpSettings
from tests.tools.http.calls import KEY, LOCAL, call_once, call_with, http_tool

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
    import gzip

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


# ------------------------------------------------------------------ bad answers


def test_a_body_that_is_no_json(web: StubServer, bird: Any) -> None:
    """It says so, what came, and that the act may have happened."""
    web.on("POST", "/birds", body="<html>proxy error</html>")
    answer = bird("POST")
    assert answer.fault_message == (
        "The answer says it is JSON and is not: JSON is malformed: invalid character (byte 0): "
        "<html>proxy error</html>"
    )
    assert (answer.fault_name, answer.may_have_happened) == ("AnswerUnreadable", True)


@pytest.mark.parametrize("declared", [True, False])
def test_a_huge_body(web: StubServer, declared: bool) -> None:
    """A gigabyte is cut off, not read, whether its length is announced or not."""
    if declared:
        web.on("GET", "/birds", raw=b"HTTP/1.1 200 OK\r\ncontent-length: 1073741824\r\n\r\n{")
    else:
        web.on("GET", "/birds", fill_bytes=1024**3)
    began = time.monotonic()
    answer = call_once(http_tool(web.base + "/birds"))
    assert answer.fault_message == "The answer of 127.0.0.1 is larger than 10485760 bytes"
    assert answer.fault_name == "AnswerTooLarge"
    assert answer.fault_hint == "HttpSettings(max_bytes=…) of the engine allows more"
    assert time.monotonic() - began < 5


def test_a_packed_bomb(web: StubServer) -> None:
    """A small answer that unpacks to a large one is cut off as well."""
    import gzip

    bomb = gzip.compress(b"0" * 50_000_000)
    assert len(bomb) < 100_000
    web.on("GET", "/birds", body=bomb, headers={"content-encoding": "gzip"})
    settings = HttpSettings(allow_private=True, max_bytes=1_000_000)
    answer = call_once(http_tool(web.base + "/birds"), settings=settings)
    assert answer.fault_message == "The answer of 127.0.0.1 is larger than 1000000 bytes"


def test_a_hung_server(web: StubServer, bird: Any) -> None:
    """The wait ends; what was sent may have been done, what only reads does no harm."""
    web.on("GET", "/birds", delay_ms=5000).on("POST", "/birds", delay_ms=5000)
    began = time.monotonic()
    answer = bird("POST", timeout=50)
    assert answer.fault_message == "Request timeout after 50ms"
    assert (answer.fault_name, answer.may_have_happened) == ("TimeoutError", True)
    assert answer.fault_hint == "the request was sent; its effect may have happened"
    assert bird("GET", timeout=50).may_have_happened is False
    assert time.monotonic() - began < 3


@pytest.mark.parametrize("drop", ["before", "midway"])
def test_a_dropped_answer(web: StubServer, bird: Any, drop: str) -> None:
    """The connection ends without an answer, or in the middle of one."""
    web.on("POST", "/birds", body="x" * 1000, drop=drop)
    answer = bird("POST")
    assert answer.fault_message == (
        f"fetch failed: 127.0.0.1:{web.port} closed the connection before its answer was complete "
        "(ECONNRESET)"
    )
    assert (answer.fault_name, answer.may_have_happened) == ("FetchFailed", True)
    assert len(answer.attempts) == 1


def test_an_answer_and_then_nothing(web: StubServer, bird: Any) -> None:
    """A connection that ends after the answer takes nothing from it."""
    web.on("POST", "/birds", body={"n": 1}, drop="after")
    assert bird("POST").value == {"n": 1}


def test_no_http(web: StubServer, bird: Any) -> None:
    """What answers in another language is told from a lost connection."""
    web.on("GET", "/birds", raw=b"SSH-2.0-OpenSSH\r\n\r\n")
    message = bird().fault_message
    assert message.startswith(f"fetch failed: 127.0.0.1:{web.port} answered what is no HTTP: ")


def test_a_refused_connection(bird: Any) -> None:
    """Nothing listens: nothing was sent, so nothing can have happened."""
    with StubServer() as gone:
        address = gone.base
    answer = call_once(http_tool(address + "/x", "POST"))
    port = address.rpartition(":")[2]
    assert answer.fault_message == (
        f"fetch failed: 127.0.0.1:{port} refused the connection (ECONNREFUSED)"
    )
    assert (answer.may_have_happened, answer.refused) == (False, False)


def test_an_unknown_host() -> None:
    """The name is told, and where it stands."""
    answer = call_once(http_tool("http://nowhere.invalid/x", "POST"))
    assert answer.fault_message in {
        "fetch failed: no host is named nowhere.invalid (ENOTFOUND)",
        "fetch failed: nowhere.invalid cannot be looked up just now (EAI_AGAIN)",
    }
    assert answer.may_have_happened is False


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://127.0.0.1:9/x", "Address refused: 127.0.0.1 is a loopback address"),
        ("http://[::1]:9/x", "Address refused: ::1 is a loopback address"),
        ("http://[::ffff:10.0.0.1]/x", "Address refused: ::ffff:10.0.0.1 is a private address"),
        (
            "http://169.254.169.254/latest",
            "Address refused: 169.254.169.254 is a link-local address",
        ),
        (
            "http://0x7f.1/x",
            "Address refused: 0x7f.1 leads to 127.0.0.1, which is a loopback address",
        ),
        (
            "http://2130706433/x",
            "Address refused: 2130706433 leads to 127.0.0.1, which is a loopback address",
        ),
        ("http://localhost:9/x", "Address refused: localhost leads to "),
    ],
)
def test_private_addresses(url: str, message: str) -> None:
    """Refused unless the host allows them, in whichever spelling, with the way to allow them."""
    answer = call_once(http_tool(url, "POST"), settings=HttpSettings())
    assert answer.fault_message is not None
    assert answer.fault_message.startswith(message)
    assert answer.fault_name in ("Error", "AddressRefused")
    assert answer.fault_hint == (
        "HttpSettings(allow_private=…) of the engine allows hosts of one's own network"
    )
    assert answer.may_have_happened is False


def test_only_listed_hosts(web: StubServer) -> None:
    """A call of another host is no attempt."""
    settings = HttpSettings(allow_hosts=("api.example",), allow_private=True)
    answer = call_once(http_tool(web.base), settings=settings)
    assert answer.fault_message == (
        "Address refused: 127.0.0.1 is not among the hosts that tools may call"
    )
    assert (answer.refused, answer.attempts, web.requests) == (True, (), ())


@pytest.mark.parametrize("url", ["http:///x", "http://a b/x", "http://h:99999/x", "http://h:x/"])
def test_addresses_that_are_none(url: str) -> None:
    """An expression may give any text; no request is begun."""
    tool = http_tool("{{url}}")
    answer = call_once(tool, filled={"/implementation/url": url})
    assert answer.fault_message is not None
    assert answer.fault is not None


def test_a_missing_path_parameter(web: StubServer, bird: Any) -> None:
    """Refused before anything is sent."""
    answer = bird(path="/birds/{id}", pathParams=["id"], args={"q": 1})
    assert answer.fault_message == "Missing required path parameter: id"
    assert (answer.refused, answer.attempts, web.requests) == (True, (), ())


def test_without_a_client() -> None:
    """Who calls a tool without an engine is told what is missing."""

    async def main() -> Any:
        from saywhy.tools.call import CallContext
        from saywhy.tools.limit import MemoryLimiter
        from saywhy.tools.registry import Registry

        clock = FakeClock()
        limiter = MemoryLimiter(clock)
        registry = Registry([http_tool("https://a.example")])
        return await call_tool(
            registry, "Bird", {}, CallContext(), functions={}, limiter=limiter, clock=clock
        )

    answer = asyncio.run(main())
    assert answer.fault_message == "HTTP tools need a client to call with"
    assert answer.fault_hint == "hand in http=HttpClient()"


# ------------------------------------------------------------------ again


@pytest.mark.parametrize(
    ("first", "count"),
    [
        ({"status": 503}, 2),
        ({"status": 500}, 2),
        ({"status": 429}, 2),
        ({"drop": "before"}, 2),
        ({"delay_ms": 3000}, 2),
        ({"status": 404}, 1),
        ({"status": 400}, 1),
        ({"status": 401}, 1),
        ({"body": "no json"}, 1),
    ],
)
def test_retries(web: StubServer, bird: Any, first: dict[str, Any], count: int) -> None:
    """What may pass by itself is tried again, under the same key; a refusal is not."""
    web.on("POST", "/birds", **first).on("POST", "/birds", body={"n": 1})
    answer = bird("POST", retries=1, retryDelay=10, timeout=300)
    assert len(web.requests) == len(answer.attempts) == count
    assert {request.headers["idempotency-key"] for request in web.requests} == {KEY}
    assert (answer.value == {"n": 1}) is (count == 2)


def test_retries_have_an_end(web: StubServer, bird: Any) -> None:
    """`retries: 2` makes three attempts, each of them listed."""
    web.on("GET", "/birds", status=503)
    answer = bird(retries=2, retryDelay=0)
    assert answer.fault_message == "HTTP 503 Service Unavailable"
    assert len(web.requests) == len(answer.attempts) == 3


@pytest.mark.parametrize(
    ("headers", "more", "seconds"),
    [
        ({"retry-after": "7"}, {}, [7, 7]),
        ({}, {"retryDelay": 250}, [0.25, 0.25]),
        ({}, {}, [1, 2]),
    ],
)
def test_pauses(
    web: StubServer, headers: dict[str, str], more: dict[str, Any], seconds: list[float]
) -> None:
    """What the server asks for, what the author wrote, else longer each time."""
    web.on("GET", "/birds", status=503, headers=headers)
    clock = _Waits()
    call_once(http_tool(web.base + "/birds", retries=2, **more), clock=clock)
    assert clock.waits == seconds


class _Waits(FakeClock):
    """Notes pauses instead of making them; time limits are real."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    async def wait_for(self, awaitable: Any, timeout_seconds: float | None) -> Any:
        async with asyncio.timeout(timeout_seconds):
            return await awaitable


def test_a_pause_that_is_too_long(web: StubServer, bird: Any) -> None:
    """A server that wants an hour is not asked again; the conversation goes on."""
    web.on("GET", "/birds", status=429, headers={"Retry-After": "3600"})
    answer = bird(retries=3)
    assert len(web.requests) == 1
    assert answer.fault_hint == "the server asks to come back in 3600 seconds"


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
