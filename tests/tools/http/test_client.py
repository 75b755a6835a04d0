"""Promise: connections are kept, redirects stay on their host, and addresses are judged late."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme

from saywhy.testing import StubServer
from saywhy.tools.http.client import HttpClient
from saywhy.tools.http.settings import HttpSettings
from tests.tools.http.calls import LOCAL, call_once, call_with, http_tool

# ------------------------------------------------------------------ connections


def test_connections_are_kept(web: StubServer) -> None:
    """Ten calls in a row use one connection; side by side they use several."""
    web.on("GET", "/birds", body={"n": 1})

    async def main() -> list[int]:
        client = HttpClient(LOCAL)
        tool = http_tool(web.base + "/birds")
        for _ in range(10):
            await call_with(client, tool)
        counts = [web.connections]
        await asyncio.gather(*(call_with(client, tool) for _ in range(5)))
        counts.append(len(web.requests))
        await client.close()
        await call_with(client, tool)  # a client that was closed opens a new connection
        await client.close()
        return [*counts, len(web.requests)]

    assert asyncio.run(main()) == [1, 15, 16]


def test_a_connection_the_server_closed(web: StubServer) -> None:
    """One that ended meanwhile is not used again."""
    web.on("POST", "/birds", body={"n": 1}, drop="after").on("POST", "/birds", body={"n": 2})

    async def main() -> list[Any]:
        client = HttpClient(LOCAL)
        tool = http_tool(web.base + "/birds", "POST")
        first = await call_with(client, tool)
        await asyncio.sleep(0.05)
        second = await call_with(client, tool)
        await client.close()
        return [first.value, second.value]

    assert asyncio.run(main()) == [{"n": 1}, {"n": 2}]
    assert web.connections == 2


def test_one_client_in_several_loops(web: StubServer) -> None:
    """A program that runs one loop after the other keeps its client."""
    web.on("GET", "/birds", body={"n": 1})
    client = HttpClient(LOCAL)

    async def main() -> Any:
        answer = await call_with(client, http_tool(web.base + "/birds"))
        await client.close()
        return answer.value

    assert [asyncio.run(main()) for _ in range(2)] == [{"n": 1}, {"n": 1}]


def test_no_cookies(web: StubServer) -> None:
    """What a server sets for one user is not sent for the next."""
    web.on("GET", "/birds", body={}, headers={"set-cookie": "session=ann"})

    async def main() -> None:
        client = HttpClient(LOCAL)
        for _ in range(2):
            await call_with(client, http_tool(web.base + "/birds"))
        await client.close()

    asyncio.run(main())
    assert "cookie" not in web.requests[1].headers


# ------------------------------------------------------------------ redirects


@pytest.mark.parametrize(
    ("status", "method", "becomes", "keeps"),
    [
        (301, "POST", "GET", False),
        (302, "POST", "GET", False),
        (303, "PUT", "GET", False),
        (307, "POST", "POST", True),
        (308, "PUT", "PUT", True),
        (302, "PUT", "PUT", True),
        (303, "HEAD", "HEAD", False),
        (301, "GET", "GET", False),
    ],
)
def test_redirects(
    web: StubServer, bird: Any, status: int, method: str, becomes: str, keeps: bool
) -> None:
    """On the same host they are followed, by the rules of HTTP for the method and the body."""
    web.on(method, "/birds", status=status, headers={"location": "/there?x=1"})
    web.on(becomes, "/there", body={"n": 1})
    answer = bird(method, {"a": 1}, keys={"apiKey": "t"})
    first, second = web.requests
    assert answer.fault is None
    assert (second.method, second.path, second.query) == (becomes, "/there", "x=1")
    assert second.text == (first.text if keeps else "")
    assert ("content-type" in second.headers) is (keeps and bool(first.text))
    assert second.headers["authorization"] == "Bearer t"


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("http://evil.example/x", "http://evil.example"),
        ("//evil.example/x", "http://evil.example"),
        ("http://127.0.0.1:1/x", "http://127.0.0.1:1"),
        ("http://127.0.0.1.evil.example/x", "http://127.0.0.1.evil.example"),
        ("file:///etc/passwd", "no address"),
        ("http://h:x/", "no address"),
    ],
)
def test_redirects_elsewhere(web: StubServer, bird: Any, target: str, told: str) -> None:
    """Another host, port or scheme is refused: the credentials are for this host alone."""
    web.on("POST", "/birds", status=307, headers={"location": target})
    answer = bird("POST", {"a": 1}, keys={"apiKey": "t"})
    assert answer.fault_message == f"Redirect refused: 127.0.0.1 answered 307 to {told}"
    assert (answer.fault_name, answer.may_have_happened) == ("RedirectRefused", True)
    assert answer.fault_hint == (
        "redirects are followed on the same host only; write the new address into `url`"
    )
    assert len(web.requests) == 1


def test_redirects_in_a_circle(web: StubServer, bird: Any) -> None:
    """They have an end."""
    web.on("GET", "/birds", status=302, headers={"location": "/birds"})
    assert bird().fault_message == "127.0.0.1 redirected more than 5 times"
    assert len(web.requests) == 6


def test_accepted_redirects(web: StubServer, bird: Any) -> None:
    """A status that `acceptStatus` lists is a result, not followed."""
    web.on("GET", "/birds", status=302, headers={"location": "/x"}, body={"moved": True})
    assert bird(acceptStatus=[302]).value == {"moved": True}
    web.on("GET", "/same", status=304)
    assert bird(path="/same").fault_message == "HTTP 304 Not Modified"


# ------------------------------------------------------------------ names


def client_for(*rounds: list[str], settings: HttpSettings) -> tuple[HttpClient, list[str]]:
    """A client whose name server answers with these addresses, round by round."""
    asked: list[str] = []

    async def resolve(host: str, port: int) -> list[str]:
        asked.append(f"{host}:{port}")
        return rounds[min(len(asked), len(rounds)) - 1]

    return HttpClient(settings, resolve=resolve), asked


def call_by(client: HttpClient, url: str) -> Any:
    async def main() -> Any:
        answer = await call_with(client, http_tool(url, "POST", timeout=2000))
        await client.close()
        return answer

    return asyncio.run(main())


def test_rebinding(web: StubServer) -> None:
    """A name that was public at first and private afterwards does not get through."""
    web.on("POST", "/x", body={})
    client, asked = client_for(["203.0.113.9"], ["127.0.0.1"], settings=HttpSettings())
    url = f"http://rebind.example:{web.port}/x"
    first, second = call_by(client, url), call_by(client, url)
    assert "203.0.113.9" in first.fault_message or "no connection" in first.fault_message
    assert second.fault_message == (
        "Address refused: rebind.example leads to 127.0.0.1, which is a loopback address"
    )
    assert len(asked) == 2
    assert web.requests == ()


def test_the_judged_address_is_the_one_called(web: StubServer) -> None:
    """The name is looked up once, and the connection made to what was found."""
    web.on("POST", "/x", body={"n": 1})
    client, asked = client_for(["127.0.0.1"], ["10.0.0.1"], settings=LOCAL)
    answer = call_by(client, f"http://mine.example:{web.port}/x")
    assert answer.value == {"n": 1}
    assert asked == [f"mine.example:{web.port}"]
    assert web.requests[0].headers["host"] == f"mine.example:{web.port}"


@pytest.mark.parametrize(
    "addresses", [["::ffff:127.0.0.1"], ["::1"], ["10.0.0.1", "fe80::1%eth0"], ["64:ff9b::7f00:1"]]
)
def test_private_behind_a_name(addresses: list[str]) -> None:
    """In IPv6 and wrapped IPv4 as well."""
    client, _ = client_for(addresses, settings=HttpSettings())
    answer = call_by(client, "http://name.example/x")
    assert answer.fault_name == "AddressRefused"
    assert f"leads to {addresses[0]}, which is a" in answer.fault_message


def test_the_next_address_is_tried(web: StubServer) -> None:
    """Of several addresses, those that are refused or do not answer are passed over."""
    web.on("POST", "/x", body={"n": 1})
    addresses = ["10.0.0.1", "127.0.0.2", "127.0.0.1"]
    settings = HttpSettings(allow_private=("127.0.0.0/8",))
    client, _ = client_for(addresses, settings=settings)
    assert call_by(client, f"http://name.example:{web.port}/x").value == {"n": 1}


def test_a_name_without_addresses() -> None:
    """It is no host that can be called."""
    client, _ = client_for([], settings=HttpSettings())
    answer = call_by(client, "http://name.example/x")
    assert answer.fault_message == (
        "fetch failed: no connection to name.example:80: name.example has no address"
    )


# ------------------------------------------------------------------ TLS


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def secure(authority: trustme.CA) -> Iterator[StubServer]:
    """A stub server with a certificate for 127.0.0.1 of an authority nobody knows."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    with StubServer([{"method": "POST", "path": "/x", "body": {"n": 1}}], context=context) as web:
        yield web


def test_a_certificate_of_nobody(secure: StubServer) -> None:
    """Refused before anything is sent, and not tried again."""
    answer = call_once(http_tool(secure.base + "/x", "POST", retries=2))
    assert answer.fault_message == (
        f"The certificate of 127.0.0.1:{secure.port} is not accepted: "
        "unable to get local issuer certificate"
    )
    assert answer.fault_name == "CertificateRefused"
    assert answer.fault_hint == (
        "HttpSettings(verify=PATH) of the engine names authorities of one's own"
    )
    assert (answer.may_have_happened, len(answer.attempts)) == (False, 1)
    assert secure.requests == ()


def test_authorities_of_ones_own(secure: StubServer, authority: trustme.CA, tmp_path: Path) -> None:
    """As a file, as a context, or without any check."""
    file = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(file))
    context = ssl.create_default_context(cafile=str(file))
    for verify in (file, str(file), context, False):
        settings = HttpSettings(allow_private=True, verify=verify)
        tool = http_tool(secure.base + "/x", "POST")
        assert call_once(tool, settings=settings).value == {"n": 1}


def test_a_certificate_for_another_name(secure: StubServer, authority: trustme.CA) -> None:
    """A known authority is not enough."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    authority.configure_trust(context)
    settings = HttpSettings(allow_private=True, verify=context)
    client, _ = client_for(["127.0.0.1"], settings=settings)
    answer = call_by(client, f"https://other.example:{secure.port}/x")
    assert answer.fault_message == (
        f"The certificate of other.example:{secure.port} is not accepted: Hostname mismatch, "
        "certificate is not valid for 'other.example'."
    )


def test_tls_where_there_is_none(web: StubServer) -> None:
    """An address with https:// at a port that speaks plain HTTP."""
    url = web.base.replace("http://", "https://")
    answer = call_once(http_tool(url, "POST"))
    assert answer.fault_message is not None
    assert answer.fault_message.startswith(f"No secure connection to 127.0.0.1:{web.port}: ")
    assert answer.fault_name == "TlsFailed"


# ------------------------------------------------------------------ proxies


def test_no_proxy_unless_asked(web: StubServer, bird: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the environment names is not used by itself."""
    with StubServer([{"path": "/", "body": {}}]) as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.base)
        web.on("GET", "/birds", body={"n": 1})
        assert bird().value == {"n": 1}
        assert proxy.requests == ()


@pytest.mark.parametrize("how", ["environment", "address"])
def test_a_proxy(monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    """Asked for, it gets the request with the whole address."""
    with StubServer() as proxy:
        proxy.on("GET", "http://api.example/birds", body={"n": 1})
        monkeypatch.setenv("http_proxy", proxy.base)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        settings = HttpSettings(proxies=proxy.base if how == "address" else "environment")
        answer = call_once(http_tool("http://api.example/birds"), settings=settings)
        assert answer.value == {"n": 1}
