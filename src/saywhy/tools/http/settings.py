"""What HTTP tools may do, said once by the host for a whole engine.

Nothing a flow file says widens it: a file names addresses, the host decides which may be called.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from saywhy.errors import CallerError

if TYPE_CHECKING:
    from ssl import SSLContext  # slow to import, and wanted with the first request only

MEGABYTE: Final = 1024 * 1024
ENVIRONMENT: Final = "environment"
"""The word for `proxies` that takes them from `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`."""

Verify: TypeAlias = "bool | str | Path | SSLContext"


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings:
    """Limits of all HTTP tools of an engine. The defaults reach the public internet and no more."""

    allow_hosts: tuple[str, ...] | None = None
    """The only hosts that may be called: `api.example.com`, `*.example.com`; with `:8443` only
    on that port. None: any."""
    allow_private: bool | tuple[str, ...] = False
    """Which hosts may have private, loopback or link-local addresses: all of them, or those named
    here as hosts, addresses or networks (`10.1.0.0/16`). `localhost` stands for the loopback
    addresses as well, where the address of a tool is written with one: `127.0.0.1`, `[::1]`."""
    proxies: str | None = None
    """The address of a proxy, or `environment` for those the environment names. With a proxy it is
    the proxy that looks hosts up, so only addresses written as numbers can be refused."""
    verify: Verify = True
    """How certificates are checked: True with the system's authorities, a path or a context with
    one's own. False checks nothing."""
    max_bytes: int = 10 * MEGABYTE
    """The largest answer that is read, unpacked."""
    max_redirects: int = 5
    max_wait_seconds: float = 30.0
    """The longest pause before another attempt, whatever `Retry-After` asks for."""
    max_connections: int = 100
    keepalive_seconds: float = 30.0
    """How long a connection is kept open for the next request."""
    user_agent: str = "saywhy/1.0"

    def __post_init__(self) -> None:
        for name in ("allow_hosts", "allow_private"):
            self._check_names(name)
        for name in ("max_bytes", "max_redirects", "max_wait_seconds", "max_connections"):
            figure = getattr(self, name)
            least = 0 if name in ("max_redirects", "max_wait_seconds") else 1
            if isinstance(figure, bool) or not isinstance(figure, int | float) or figure < least:
                raise CallerError(f"{name} of HttpSettings is a number from {least}, not {figure}")
        proxy = self.proxies
        if proxy is not None and proxy != ENVIRONMENT and "://" not in proxy:
            raise CallerError(
                f'proxies of HttpSettings is an address or "{ENVIRONMENT}", not "{proxy}"',
                hint="http://proxy.example:3128",
            )

    def _check_names(self, name: str) -> None:
        given = getattr(self, name)
        if isinstance(given, list | set | frozenset):
            object.__setattr__(self, name, tuple(given))
        elif isinstance(given, str):
            raise CallerError(
                f"{name} of HttpSettings is a list of hosts, not a text",
                hint=f'{name}=("{given}",)',
            )
