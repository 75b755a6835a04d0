"""Which hosts and addresses HTTP tools may reach. Pure: it looks nothing up.

A flow file, an answer that redirects or a name server must not lead a tool to what only this
machine or its network can see: databases, routers, the credentials that cloud machines hand out at
a link-local address. Names are judged by what they were resolved to, right before connecting.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Final, TypeAlias

from saywhy.errors import CallerError
from saywhy.tools.http.settings import HttpSettings

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

LOCALHOST: Final = "localhost"
"""The name that stands for every loopback address as well."""

_NAT64: Final = IPv6Network("64:ff9b::/96")
_SHARED: Final = IPv4Network("100.64.0.0/10")


@lru_cache(maxsize=1024)
def kind_of(address: str) -> str:
    """What keeps an address off the public internet, `loopback`; empty for a public one.

    An IPv4 address wrapped into an IPv6 one counts as what it leads to.
    """
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return "unreadable"
    inner = _inside(found)
    if inner is not None:
        return kind_of(str(inner))
    for kind in ("loopback", "link_local", "unspecified", "multicast"):
        if getattr(found, f"is_{kind}"):
            return kind.replace("_", "-")
    if isinstance(found, IPv6Address) and found.is_site_local:
        return "private"
    if found.is_private or (found.version == 4 and found in _SHARED):
        return "private"
    return "" if found.is_global and not found.is_reserved else "reserved"


def _inside(address: Address) -> IPv4Address | None:
    """The IPv4 address that an IPv6 address carries in one of the known ways."""
    if isinstance(address, IPv4Address):
        return None
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if address in _NAT64 or (int(address) >> 32 == 0 and int(address) > 1):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return None


@lru_cache(maxsize=1024)
def _literal(host: str) -> bool:
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True


class Guard:
    """Applies the host's settings. Each question is answered with a reason, or empty for yes."""

    def __init__(self, settings: HttpSettings) -> None:
        private = settings.allow_private
        self._all_private = private is True
        self._hosts = settings.allow_hosts
        self._private_hosts: list[str] = []
        self._networks: list[Network] = []
        for entry in private if isinstance(private, tuple) else ():
            try:
                self._networks.append(ipaddress.ip_network(entry, strict=False))
            except ValueError:
                if "/" in entry:
                    raise CallerError(
                        f'allow_private of HttpSettings: "{entry}" is no network',
                        hint="write 10.0.0.0/8, an address or a host name",
                    ) from None
                self._private_hosts.append(entry.lower())

    def host(self, host: str, port: int) -> str:
        """Why a request to this host may not be begun, as far as its name tells."""
        if self._hosts is not None and not _named(host, port, self._hosts):
            return f"{host} is not among the hosts that tools may call"
        return self.address(host, port, host) if _literal(host) else ""

    def address(self, host: str, port: int, address: str) -> str:
        """Why no connection may be made to an address of a host."""
        kind = kind_of(address)
        # Only for an address that was written down: a name may lead here against the host's will.
        name = LOCALHOST if kind == "loopback" and _literal(host) else host
        if not kind or self._all_private or _named(host, port, self._private_hosts):
            return ""
        if name != host and _named(name, port, self._private_hosts):
            return ""
        if self._in_networks(address):
            return ""
        article = "an" if kind[0] in "aeiou" else "a"
        spot = host if host == address else f"{host} leads to {address}, which"
        return f"{spot} is {article} {kind} address"

    def _in_networks(self, address: str) -> bool:
        try:
            found = ipaddress.ip_address(address.partition("%")[0])
        except ValueError:
            return False
        found = _inside(found) or found
        return any(found in network for network in self._networks)


def _named(host: str, port: int, patterns: Iterable[str]) -> bool:
    """Whether one of the patterns is about this host."""
    name = host.lower().rstrip(".")
    for pattern in patterns:
        wanted, _, wanted_port = pattern.lower().rpartition(":")
        if not wanted or not wanted_port.isdecimal() or wanted.count(":") > 1:
            wanted, wanted_port = pattern.lower(), ""
        if fnmatchcase(name, wanted.strip("[]")) and wanted_port in ("", str(port)):
            return True
    return False
