"""Promise: tools reach public addresses and what the host allowed, however they are spelled."""

from __future__ import annotations

import pytest

from saywhy.errors import CallerError
from saywhy.tools.http.guard import Guard, kind_of
from saywhy.tools.http.settings import HttpSettings


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("93.184.215.14", ""),
        ("2606:2800:21f:cb07:6820:80da:af6b:8b2c", ""),
        ("127.0.0.1", "loopback"),
        ("127.8.8.8", "loopback"),
        ("::1", "loopback"),
        ("0.0.0.0", "unspecified"),
        ("::", "unspecified"),
        ("10.0.0.1", "private"),
        ("172.16.5.4", "private"),
        ("192.168.1.1", "private"),
        ("100.64.0.1", "private"),
        ("169.254.169.254", "link-local"),
        ("fe80::1", "link-local"),
        ("fe80::1%eth0", "link-local"),
        ("fd00::1", "private"),
        ("fec0::1", "private"),
        ("224.0.0.1", "multicast"),
        ("ff02::1", "multicast"),
        ("255.255.255.255", "private"),
        ("240.0.0.1", "private"),
        ("::ffff:127.0.0.1", "loopback"),
        ("::ffff:10.0.0.1", "private"),
        ("::ffff:93.184.215.14", ""),
        ("::127.0.0.1", "loopback"),
        ("64:ff9b::a9fe:a9fe", "link-local"),
        ("2002:7f00:1::", "loopback"),
        ("2001:0:53aa:64c:0:0:f5ff:fffe", "private"),
        ("no address", "unreadable"),
    ],
)
def test_what_an_address_is(address: str, kind: str) -> None:
    """Private ones are known in IPv4 and IPv6, also where one is wrapped into the other."""
    assert kind_of(address) == kind


def test_names_are_judged_by_where_they_lead() -> None:
    """A name passes at first; its address is judged before connecting."""
    guard = Guard(HttpSettings())
    assert guard.host("intranet", 80) == ""
    assert guard.address("intranet", 80, "10.0.0.9") == (
        "intranet leads to 10.0.0.9, which is a private address"
    )
    assert guard.host("10.0.0.9", 80) == "10.0.0.9 is a private address"
    assert guard.host("::1", 80) == "::1 is a loopback address"
    assert guard.address("a.example", 443, "93.184.215.14") == ""


def test_unreadable_reads_well() -> None:
    """The article fits the word."""
    assert (
        Guard(HttpSettings()).address("h", 80, "?")
        == "h leads to ?, which is an unreadable address"
    )


@pytest.mark.parametrize(
    ("allowed", "host", "address", "passes"),
    [
        (True, "intranet", "10.0.0.9", True),
        (("intranet",), "intranet", "10.0.0.9", True),
        (("intranet",), "INTRANET", "10.0.0.9", True),
        (("intranet",), "other", "10.0.0.9", False),
        (("*.local",), "db.local", "10.0.0.9", True),
        (("intranet:8080",), "intranet", "10.0.0.9", False),
        (("intranet:80",), "intranet", "10.0.0.9", True),
        (("10.0.0.0/8",), "anything", "10.0.0.9", True),
        (("10.0.0.0/8",), "anything", "::ffff:10.0.0.9", True),
        (("10.0.0.0/8",), "anything", "192.168.0.1", False),
        (("::1",), "localhost", "::1", True),
        (("127.0.0.1",), "localhost", "127.0.0.1", True),
        (("127.0.0.1",), "localhost", "127.0.0.2", False),
    ],
)
def test_private_addresses_that_are_allowed(
    allowed: bool | tuple[str, ...], host: str, address: str, passes: bool
) -> None:
    """By host, with or without a port, by address, by network, or all of them."""
    guard = Guard(HttpSettings(allow_private=allowed))
    assert (guard.address(host, 80, address) == "") is passes


@pytest.mark.parametrize(
    ("host", "port", "passes"),
    [
        ("api.example.com", 443, True),
        ("API.example.com.", 443, True),
        ("evil.example.com", 443, False),
        ("api.example.com.evil.com", 443, False),
        ("a.shop.example", 443, True),
        ("shop.example", 443, False),
        ("only.example", 8443, True),
        ("only.example", 443, False),
    ],
)
def test_only_some_hosts(host: str, port: int, passes: bool) -> None:
    """A list of hosts leaves no others; stars and ports count."""
    names = ("api.example.com", "*.shop.example", "only.example:8443")
    reason = Guard(HttpSettings(allow_hosts=names)).host(host, port)
    assert reason == ("" if passes else f"{host} is not among the hosts that tools may call")


@pytest.mark.parametrize(
    ("allowed", "host", "address", "passes"),
    [
        ("localhost", "localhost", "127.0.0.1", True),
        ("localhost", "localhost", "::1", True),
        ("localhost", "127.0.0.1", "127.0.0.1", True),
        ("localhost", "127.8.8.8", "127.8.8.8", True),
        ("localhost", "::1", "::1", True),
        ("localhost", "::ffff:127.0.0.1", "::ffff:127.0.0.1", True),
        ("localhost:80", "127.0.0.1", "127.0.0.1", True),
        ("localhost:81", "127.0.0.1", "127.0.0.1", False),
        ("localhost", "10.0.0.1", "10.0.0.1", False),
        ("localhost", "0.0.0.0", "0.0.0.0", False),
        ("localhost", "evil.example", "127.0.0.1", False),
        ("other", "127.0.0.1", "127.0.0.1", False),
    ],
)
def test_localhost_stands_for_its_addresses(
    allowed: str, host: str, address: str, passes: bool
) -> None:
    """However a loopback address is written; but no name that only leads to one."""
    guard = Guard(HttpSettings(allow_private=(allowed,)))
    assert (guard.address(host, 80, address) == "") is passes


def test_a_network_that_is_none() -> None:
    """The host is told at construction."""
    with pytest.raises(CallerError, match=r'"10\.0\.0\.0/99" is no network') as raised:
        Guard(HttpSettings(allow_private=("10.0.0.0/99",)))
    assert raised.value.hint == "write 10.0.0.0/8, an address or a host name"
