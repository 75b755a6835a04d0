"""Promise: settings that make no sense are refused when they are made."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.errors import CallerError
from saywhy.tools.http.client import HttpClient
from saywhy.tools.http.settings import HttpSettings


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"allow_hosts": "a.example"},
            "allow_hosts of HttpSettings is a list of hosts, not a text",
        ),
        ({"allow_private": "a"}, "allow_private of HttpSettings is a list of hosts, not a text"),
        ({"max_bytes": 0}, "max_bytes of HttpSettings is a number from 1, not 0"),
        ({"max_redirects": -1}, "max_redirects of HttpSettings is a number from 0, not -1"),
        ({"max_connections": "5"}, "max_connections of HttpSettings is a number from 1, not 5"),
        (
            {"proxies": "proxy:3128"},
            'proxies of HttpSettings is an address or "environment", not "proxy:3128"',
        ),
    ],
)
def test_refused(given: dict[str, Any], message: str) -> None:
    """With the name of the setting."""
    with pytest.raises(CallerError) as raised:
        HttpSettings(**given)
    assert raised.value.message == message


def test_lists_are_taken() -> None:
    """Lists become tuples: settings are values."""
    settings = HttpSettings(allow_hosts=["a.example"], allow_private=["b"])  # type: ignore[arg-type]
    assert (settings.allow_hosts, settings.allow_private) == (("a.example",), ("b",))
    assert hash(settings) == hash(HttpSettings(allow_hosts=("a.example",), allow_private=("b",)))


def test_a_dict_is_no_settings() -> None:
    """What an engine is given as `http` is looked at when it is made."""
    with pytest.raises(CallerError) as raised:
        HttpClient({"allow_private": True})  # type: ignore[arg-type]
    assert raised.value.message == "http is an HttpSettings, not dict"
    assert raised.value.hint == "http=HttpSettings(allow_private=True), for instance"
