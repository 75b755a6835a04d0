"""Sends requests: connections kept from turn to turn, redirects on the same host, a bounded read.

One client serves an engine. Each event loop has connections of its own, because a connection is
bound to the loop that made it. No cookies are kept: the next request may be another user's.
"""

from __future__ import annotations

import asyncio
import zlib
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

import msgspec

from saywhy.errors import CallerError
from saywhy.tools.http.guard import Guard
from saywhy.tools.http.progress import CURRENT, Progress
from saywhy.tools.http.request import HttpRequest
from saywhy.tools.http.settings import ENVIRONMENT, HttpSettings
from saywhy.tools.http.trouble import HttpTrouble

if TYPE_CHECKING:
    import ssl

    import httpx2

    from saywhy.tools.http.transport import GuardedTransport, Resolve
    from saywhy.tools.mcp.client import McpClient

REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_PACKED: Final = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": 15}


class HttpAnswer(msgspec.Struct, frozen=True):
    """What a server answered. Names of headers are in lower case."""

    status: int
    reason: str
    headers: dict[str, str]
    body: bytes


class HttpClient:
    """The HTTP tools' way out, of one engine."""

    starts_programs = True
    """Whether MCP servers that are programs may be started."""

    def __init__(
        self, settings: HttpSettings | None = None, *, resolve: Resolve | None = None
    ) -> None:
        _check_settings(settings)
        self.settings = settings or HttpSettings()
        self.guard = Guard(self.settings)
        self._resolve = resolve
        self._context: ssl.SSLContext | None = None
        self._mcp: McpClient | None = None
        self._transports: WeakKeyDictionary[
            asyncio.AbstractEventLoop, dict[str, GuardedTransport]
        ] = WeakKeyDictionary()

    def destination(self, address: str) -> str:
        """Where a request really goes. A client for tests says: to my stub server."""
        return address

    def refusal(self, request: HttpRequest) -> HttpTrouble | None:
        """Why a request may not even be tried, as far as its address tells."""
        from saywhy.tools.http.transport import httpx2, refused_address, trouble_of

        try:
            url = _url_of(self.destination(request.url))
        except (httpx2.InvalidURL, ValueError) as error:
            return trouble_of(error, "the address")
        if not url.host:
            return trouble_of(ValueError("its address names no host"), "the address")
        reason = self.guard.host(url.host, _port(url))
        return refused_address(reason) if reason else None

    async def send(
        self, request: HttpRequest, progress: Progress, *, take: frozenset[int] = frozenset()
    ) -> HttpAnswer:
        """The answer, after redirects, except those whose status is in `take`.

        Raises `HttpTrouble`. Time limits are the caller's.
        """
        CURRENT.set(progress)
        method, body, headers = request.method, request.body, _encoded(request.headers)
        url = _url_of(self.destination(request.url))
        for _ in range(self.settings.max_redirects + 1):
            answer = await self._exchange(method, url, headers, body)
            target = answer.headers.get("location")
            if answer.status not in REDIRECTS or answer.status in take or target is None:
                return answer
            url = _redirected(url, target, answer.status)
            if answer.status == 303 or (answer.status in (301, 302) and method == "POST"):
                method, body = ("HEAD" if method == "HEAD" else "GET"), None
                headers = [pair for pair in headers if not pair[0].lower().startswith(b"content-")]
        raise HttpTrouble(
            f"{url.host} redirected more than {self.settings.max_redirects} times",
            "RedirectRefused",
            "its addresses lead in a circle",
            answered=True,
        )

    @property
    def mcp(self) -> McpClient:
        """The connections to MCP servers, which go out the same way and are closed with ours."""
        if self._mcp is None:
            from saywhy.tools.mcp.client import McpClient  # it builds on this module

            self._mcp = McpClient(self)
        return self._mcp

    async def close(self) -> None:
        """Close the connections of the running loop. The client can be used again."""
        if self._mcp is not None:
            await self._mcp.close()
        for transport in self._transports.pop(asyncio.get_running_loop(), {}).values():
            await transport.aclose()

    # ------------------------------------------------------------ one exchange

    async def _exchange(
        self,
        method: str,
        url: httpx2.URL,
        headers: list[tuple[bytes, bytes]],
        body: bytes | None,
    ) -> HttpAnswer:
        from saywhy.tools.http.transport import httpx2, trouble_of

        try:
            sent = httpx2.Request(method, url, headers=headers, content=body)
            response = await self._transport(url).handle_async_request(sent)
            try:
                content = b"" if method == "HEAD" else await self._read(response, url.host)
            finally:
                await response.aclose()
        except HttpTrouble:
            raise
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError, TypeError) as error:
            raise trouble_of(error, f"{url.host}:{_port(url)}") from None
        found = {name.lower(): value for name, value in response.headers.items()}
        return HttpAnswer(response.status_code, response.reason_phrase, found, content)

    async def _read(self, response: httpx2.Response, host: str) -> bytes:
        """The whole body, unpacked; cut off with an error where it is too large."""
        limit = self.settings.max_bytes
        length = response.headers.get("content-length", "")
        packing = response.headers.get("content-encoding", "identity").strip().lower()
        unpack = _Unpacker(packing, host)
        if length.isdecimal() and int(length) > limit:
            raise _too_large(host, limit, response.status_code)
        parts: list[bytes] = []
        size = 0
        async for part in response.stream:  # pyright: ignore[reportGeneralTypeIssues]
            unpacked = unpack(part, limit + 1 - size)
            size += len(unpacked)
            if size > limit:
                raise _too_large(host, limit, response.status_code)
            parts.append(unpacked)
        return b"".join(parts)

    # ------------------------------------------------------------ connections

    def _transport(self, url: httpx2.URL) -> GuardedTransport:
        transports = self._transports.setdefault(asyncio.get_running_loop(), {})
        proxy = self._proxy_for(url)
        key = f"{url.scheme} {proxy}"
        if key not in transports:
            transports[key] = self._new_transport(url, proxy)
        return transports[key]

    def own_transport(self, address: str) -> GuardedTransport:
        """Connections with the same guard and limits, for somebody else to hold and to close."""
        url = _url_of(address)
        return self._new_transport(url, self._proxy_for(url))

    def _new_transport(self, url: httpx2.URL, proxy: str) -> GuardedTransport:
        from saywhy.tools.http.transport import GuardedTransport, look_up

        context = self._tls() if url.scheme == "https" else None
        return GuardedTransport(
            self.settings, self.guard, self._resolve or look_up, context=context, proxy=proxy
        )

    def _proxy_for(self, url: httpx2.URL) -> str:
        if self.settings.proxies != ENVIRONMENT:
            return self.settings.proxies or ""
        from urllib.request import getproxies, proxy_bypass  # slow to import, and rarely wanted

        if proxy_bypass(url.host):
            return ""
        return getproxies().get(url.scheme, "")

    def _tls(self) -> ssl.SSLContext:
        """How certificates are checked; made once, it takes longer than a request."""
        if self._context is None:
            import ssl

            from saywhy.tools.http.transport import httpx2

            verify = self.settings.verify
            if isinstance(verify, str | Path):
                folder = Path(verify).is_dir()
                self._context = ssl.create_default_context(
                    cafile=None if folder else str(verify), capath=str(verify) if folder else None
                )
            else:
                self._context = httpx2.create_ssl_context(verify)
        return self._context


def _check_settings(given: object) -> None:
    if given is not None and not isinstance(given, HttpSettings):
        raise CallerError(
            f"http is an HttpSettings, not {type(given).__name__}",
            hint="http=HttpSettings(allow_private=True), for instance",
        )


class _Unpacker:
    """Undoes a packing, never making more than was asked for: a bomb does not go off."""

    def __init__(self, packing: str, host: str) -> None:
        if packing not in ("", "identity") and packing not in _PACKED:
            raise HttpTrouble(
                f"The answer of {host} is packed as {packing}, which cannot be read",
                "AnswerUnreadable",
                "gzip can; the request asked for nothing else",
                answered=True,
            )
        self._host = host
        self._packed = zlib.decompressobj(_PACKED[packing]) if packing in _PACKED else None

    def __call__(self, part: bytes, most: int) -> bytes:
        if self._packed is None:
            return part
        try:
            return self._packed.decompress(part, most)
        except zlib.error:
            raise HttpTrouble(
                f"The answer of {self._host} is not packed as its headers say",
                "AnswerUnreadable",
                answered=True,
            ) from None


@lru_cache(maxsize=256)
def _url_of(address: str) -> httpx2.URL:
    """The address read; most tools call one and the same again and again."""
    from saywhy.tools.http.transport import httpx2

    return httpx2.URL(address)


def _encoded(headers: tuple[tuple[str, str], ...]) -> list[tuple[bytes, bytes]]:
    given = [(name.encode("latin-1", "replace"), value.encode()) for name, value in headers]
    if not any(name.lower() == b"accept-encoding" for name, _ in given):
        given.append((b"Accept-Encoding", b"gzip"))
    return given


def _port(url: httpx2.URL) -> int:
    return url.port or (443 if url.scheme == "https" else 80)


def _redirected(url: httpx2.URL, target: str, status: int) -> httpx2.URL:
    """Where a redirect leads. Only the same host may be meant, and never a less secure way."""
    from saywhy.tools.http.transport import httpx2

    try:
        found = url.join(target)
    except (httpx2.InvalidURL, ValueError):
        found = httpx2.URL("")
    same = (found.scheme, found.host, _port(found)) == (url.scheme, url.host, _port(url))
    safer = (url.scheme, found.scheme, found.host) == ("http", "https", url.host)
    if same or (safer and _port(url) == 80 and _port(found) == 443):
        return found
    raise HttpTrouble(
        f"Redirect refused: {url.host} answered {status} to {_spot(found) or 'no address'}",
        "RedirectRefused",
        "redirects are followed on the same host only; write the new address into `url`",
        answered=True,
    )


def _spot(url: httpx2.URL) -> str:
    return f"{url.scheme}://{url.netloc.decode('ascii', 'replace')}" if url.host else ""


def _too_large(host: str, limit: int, status: int) -> HttpTrouble:
    return HttpTrouble(
        f"The answer of {host} is larger than {limit} bytes",
        "AnswerTooLarge",
        "HttpSettings(max_bytes=…) of the engine allows more",
        answered=True,
        status=status,
    )
