"""Promise: every way to authenticate gives the same headers wherever it is written down."""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import Any

import pytest

from saywhy.tools.http.address import Unfit
from saywhy.tools.http.auth import credentials_of, kind_named, signature


@pytest.mark.parametrize(
    ("definition", "implementation"),
    [
        ({"apiKey": "t0ken"}, {}),
        ({}, {"apiKey": "t0ken"}),
        ({"authentication": {"type": "bearer", "token": "t0ken"}}, {}),
        ({}, {"authentication": {"type": "Bearer", "token": "t0ken"}}),
    ],
)
def test_bearer(definition: dict[str, Any], implementation: dict[str, Any]) -> None:
    """`Authorization: Bearer …`; the token is a secret."""
    found = credentials_of({**definition, "implementation": implementation})
    assert found.headers == (("Authorization", "Bearer t0ken"),)
    assert found.secrets == ("t0ken", "Bearer t0ken")


@pytest.mark.parametrize(
    "implementation",
    [
        {"basicAuth": {"username": "ann", "password": "pä:w"}},
        {"authentication": {"type": "basic", "username": "ann", "password": "pä:w"}},
    ],
)
def test_basic(implementation: dict[str, Any]) -> None:
    """Name and password, in UTF-8 and base64; both spellings of the password are secrets."""
    encoded = base64.b64encode("ann:pä:w".encode()).decode()
    found = credentials_of({"implementation": implementation})
    assert found.headers == (("Authorization", f"Basic {encoded}"),)
    assert found.secrets == ("pä:w", f"Basic {encoded}")


def test_api_keys() -> None:
    """In a header of any name, or in the query."""
    header = {"apiKeyHeader": {"name": "X-Key", "value": "v1"}}
    assert credentials_of({"implementation": header}).headers == (("X-Key", "v1"),)
    block = {"type": "api_key", "key": "v2"}
    assert credentials_of({"authentication": block}).headers == (("X-API-Key", "v2"),)
    query = {"type": "apikey", "in": "query", "name": "key", "value": "v3"}
    found = credentials_of({"authentication": query})
    assert (found.headers, found.query, found.secrets) == ((), (("key", "v3"),), ("v3",))


def test_the_implementation_wins() -> None:
    """Of two signatures or tokens the implementation's is meant."""
    both = {"apiKey": "outer", "implementation": {"apiKey": "inner"}}
    assert credentials_of(both).headers == (("Authorization", "Bearer inner"),)


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("bearer", "bearer"),
        ("API-Key", "apikey"),
        ("apiKey", "apikey"),
        ("HMAC", "hmac"),
        ("x", ""),
    ],
)
def test_kinds(word: str, kind: str) -> None:
    """However they are spelled."""
    assert kind_named(word) == kind


@pytest.mark.parametrize("algorithm", ["sha256", "sha1", "sha512", None, "SHA-256"])
@pytest.mark.parametrize("encoding", ["hex", "base64", None])
@pytest.mark.parametrize("location", ["header", "argument", "query"])
def test_signatures(algorithm: str | None, encoding: str | None, location: str) -> None:
    """Every algorithm in every encoding, as a header and among the arguments."""
    block = {"secret": "s", "fields": ["order.id", "amount", "none"], "keyName": "X-Sig"}
    block |= {"algorithm": algorithm, "encoding": encoding, "location": location}
    name, value, is_header = signature(block, {"order": {"id": 1}, "amount": 2.0})
    digest = hmac.new(
        b"s", b"1|2|", getattr(hashlib, (algorithm or "sha256").lower().replace("-", ""))
    )
    wanted = (
        base64.b64encode(digest.digest()).decode() if encoding == "base64" else digest.hexdigest()
    )
    assert (name, value, is_header) == ("X-Sig", wanted, location == "header")


def test_a_known_signature() -> None:
    """The value that other systems compute for key `s` over `1|2`."""
    block = {"secret": "s", "fields": ["a", "b"]}
    name, value, is_header = signature(block, {"a": 1, "b": "2"})
    assert value.startswith("2d8c403af1c7a2e4")
    assert (name, is_header) == ("signature", True)


def test_an_algorithm_that_is_none() -> None:
    """An expression may give one; the call is refused."""
    with pytest.raises(Unfit, match="no signature is made by md5"):
        signature({"secret": "s", "fields": [], "algorithm": "md5"}, {})
