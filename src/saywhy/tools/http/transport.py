"""The wire: connections to allowed addresses only, and what breaks on them by name.

The one file that imports the HTTP library; `client` imports it with the first request. Built from
the library's public parts, so that no update of it can quietly take the guard away.
"""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import contextmanager
from typing import Any, Final, TypeAlias, cast

import httpcore2
import httpx2

from saywhy.tools.http.guard import Guard
from saywhy.tools.http.progress import CURRENT
from saywhy.tools.http.settings import HttpSettings
from saywhy.tools.http.trouble import HttpTrouble

Resolve: TypeAlias = Callable[[str, int], Awaitable[list[str]]]
"""Host and port → its addresses."""

FIRST_TRY_SECONDS: Final = 2.0
"""How long one of several addresses may keep the others waiting."""


async def look_up(host: str, port: int) -> list[str]:
    """The addresses of a host, as the system knows them."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class WatchedStream(httpcore2.AsyncNetworkStream):
    """A connection that marks the attempt whose request it was handed."""

    def __init__(self, inner: httpcore2.AsyncNetworkStream) -> None:
        self._inner = inner

    async def read(
        self,
        max_bytes: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the library's own word
    ) -> bytes:
        """What came, at most this much."""
        return await self._inner.read(max_bytes, timeout)

    async def write(
        self,
        buffer: bytes,
        timeout: float | None = None,  # noqa: ASYNC109 - the library's own word
    ) -> None:
        """Hand over a part of the request. Marked before: a cut in the middle may be too late."""
        progress = CURRENT.get()
        if progress is not None:
            progress.sent = True
        await self._inner.write(buffer, timeout)

    async def aclose(self) -> None:
        """Close the connection."""
        await self._inner.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the library's own word
    ) -> httpcore2.AsyncNetworkStream:
        """The same connection, secured. What the handshake writes is no request."""
        return WatchedStream(await self._inner.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        """What the library asks of a connection."""
        return self._inner.get_extra_info(info)


class WatchedNetwork(httpcore2.AsyncNetworkBackend):
    """Connects to where it is told, a proxy for instance, and watches what is sent."""

    def __init__(self) -> None:
        self._plain = cast("httpcore2.AsyncNetworkBackend", httpcore2.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the library's own word
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """A watched connection."""
        return WatchedStream(
            await self._plain.connect_tcp(host, port, timeout, local_address, socket_options)
        )

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


class GuardedNetwork(WatchedNetwork):
    """Connects to addresses that the guard allows.

    The name is looked up once and the connection made to what was found and judged: a name server
    that gives another address the next time gains nothing.
    """

    def __init__(self, guard: Guard, resolve: Resolve) -> None:
        super().__init__()
        self._guard = guard
        self._resolve = resolve

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the library's own word
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """A connection to the first address that takes one."""
        addresses = self._allowed(host, port, await self._resolve(host, port))
        for number, address in enumerate(addresses, start=1):
            patience = FIRST_TRY_SECONDS if number < len(addresses) else None
            try:
                async with asyncio.timeout(patience):
                    return await super().connect_tcp(
                        address, port, timeout, local_address, socket_options
                    )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout, TimeoutError):
                if number == len(addresses):
                    raise
        raise httpcore2.ConnectError(f"{host} has no address")

    def _allowed(self, host: str, port: int, addresses: list[str]) -> list[str]:
        reasons = [self._guard.address(host, port, address) for address in addresses]
        allowed = [one for one, reason in zip(addresses, reasons, strict=True) if not reason]
        if addresses and not allowed:
            raise refused_address(reasons[0])
        return allowed


def refused_address(reason: str) -> HttpTrouble:
    """The error for an address that tools may not call."""
    hint = (
        "HttpSettings(allow_private=…) of the engine allows hosts of one's own network, "
        "and so does --allow-private HOST of saywhy chat, approvals, unknown and mcp"
    )
    return HttpTrouble(f"Address refused: {reason}", "AddressRefused", hint)


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Connections of one event loop, for one scheme and one way out."""

    def __init__(
        self,
        settings: HttpSettings,
        guard: Guard,
        resolve: Resolve,
        *,
        context: ssl.SSLContext | None = None,
        proxy: str = "",
    ) -> None:
        options: dict[str, Any] = {
            "ssl_context": context,
            "max_connections": settings.max_connections,
            "max_keepalive_connections": settings.max_connections,
            "keepalive_expiry": settings.keepalive_seconds,
        }
        if proxy:  # it is the host's own choice, and it is the one that looks names up
            url = httpx2.Proxy(proxy)
            target = httpcore2.URL(
                scheme=url.url.raw_scheme, host=url.url.raw_host, port=url.url.port, target=b"/"
            )
            self._pool: httpcore2.AsyncConnectionPool = httpcore2.AsyncHTTPProxy(
                proxy_url=target,
                proxy_auth=url.raw_auth,
                network_backend=WatchedNetwork(),
                **options,
            )
        else:
            network = GuardedNetwork(guard, resolve)
            self._pool = httpcore2.AsyncConnectionPool(network_backend=network, **options)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request and give the answer up to its body, which is read from its stream."""
        url = request.url
        target = httpcore2.URL(
            scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
        )
        sent = httpcore2.Request(
            method=request.method,
            url=target,
            headers=request.headers.raw,
            content=cast("httpx2.AsyncByteStream", request.stream),
            extensions=request.extensions,
        )
        with library_errors():
            answer = await self._pool.handle_async_request(sent)
        return httpx2.Response(
            status_code=answer.status,
            headers=answer.headers,
            stream=_Stream(answer),
            extensions=answer.extensions,
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._pool.aclose()


class _Stream(httpx2.AsyncByteStream):
    def __init__(self, answer: httpcore2.Response) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with library_errors():
            async for part in self._answer.aiter_stream():
                yield part

    async def aclose(self) -> None:
        await self._answer.aclose()


@contextmanager
def library_errors() -> Any:
    """Errors of the wire under the names that the library's users know."""
    try:
        yield
    except Exception as error:
        known = getattr(httpx2, type(error).__name__, None)
        if isinstance(error, httpx2.HTTPError) or known is None:
            raise
        raise known(str(error)) from error


# ------------------------------------------------------------------ what broke


_ENDED: Final = re.compile(r"disconnected|closed connection")
"""How the library words an answer that stops, which is no mistake in the protocol."""


def trouble_of(error: Exception, spot: str) -> HttpTrouble:
    """An error of the wire in words. `spot` is host and port."""
    for cause in _causes(error):
        if isinstance(cause, HttpTrouble):
            return cause
        if isinstance(cause, ssl.SSLError):
            return _of_tls(cause, spot)
        if isinstance(cause, socket.gaierror):
            return _of_names(cause, spot)
        if isinstance(cause, ConnectionRefusedError):
            return _lost(f"{spot} refused the connection (ECONNREFUSED)", "is it running?")
    if isinstance(error, httpx2.LocalProtocolError | httpx2.InvalidURL | ValueError | TypeError):
        return HttpTrouble(f"The request cannot be sent: {error}", "BadRequest")
    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout | TimeoutError):
        return _lost(f"no connection to {spot}: {_system_words(error)}", "can it be reached?")
    if isinstance(error, httpx2.RemoteProtocolError) and not _ENDED.search(str(error)):
        return _lost(f"{spot} answered what is no HTTP: {error}", "is it a web server?")
    return _lost(
        f"{spot} closed the connection before its answer was complete (ECONNRESET)",
        "what it did with the request is not known",
    )


def _lost(message: str, hint: str) -> HttpTrouble:
    # Authors write `errorPattern` rules for these words; they mark what another try may mend.
    return HttpTrouble(f"fetch failed: {message}", "FetchFailed", hint, passing=True)


def _causes(error: BaseException) -> Iterable[BaseException]:
    seen: BaseException | None = error
    for _ in range(10):
        if seen is None:
            return
        yield seen
        if isinstance(seen, BaseExceptionGroup):
            yield from seen.exceptions
        seen = seen.__cause__ or seen.__context__


def _system_words(error: Exception) -> str:
    words = [one.strerror for one in _causes(error) if isinstance(one, OSError) and one.strerror]
    return (words[0] if words else str(error) or "it does not answer").lower()


def _of_tls(error: ssl.SSLError, spot: str) -> HttpTrouble:
    if isinstance(error, ssl.SSLCertVerificationError):
        return HttpTrouble(
            f"The certificate of {spot} is not accepted: {error.verify_message}",
            "CertificateRefused",
            "HttpSettings(verify=PATH) of the engine names authorities of one's own",
        )
    return HttpTrouble(
        f"No secure connection to {spot}: {error.reason or error}",
        "TlsFailed",
        "does the address want https:// and this port?",
    )


def _of_names(error: socket.gaierror, spot: str) -> HttpTrouble:
    host = spot.rpartition(":")[0]
    if error.errno == socket.EAI_AGAIN:
        return _lost(f"{host} cannot be looked up just now (EAI_AGAIN)", "is there a name server?")
    return _lost(f"no host is named {host} (ENOTFOUND)", "check `url` of the tool")
