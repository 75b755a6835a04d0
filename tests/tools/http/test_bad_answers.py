"""Promise: whatever a server does instead of answering has an error of its own, and an end."""

from __future__ import annotations

import asyncio
import gzip
import time
from typing import Any

import pytest

from saywhy.testing import FakeClock, StubServer
from saywhy.tools.call import call_tool
from saywhy.tools.http.settings import HttpSettings
from tests.tools.http.calls import call_once, http_tool


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
        "HttpSettings(allow_private=…) of the engine allows hosts of one's own network, "
        "and so does --allow-private HOST of saywhy chat, approvals, unknown and mcp"
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
