"""Promise: one value has one canonical form, and its hash tells nothing without the run's id."""

from __future__ import annotations

import hashlib
import hmac
import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saywhy.agent.receipts.canon import DOMAINS, Domain, Salt, canon
from saywhy.errors import CallerError
from saywhy.values import BigInt, freeze, loads, raw

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": {"d": [], "c": None}}, '{"a":{"c":null,"d":[]},"b":1}'),
        ({"é": "ü\n"}, '{"é":"ü\\n"}'),
        ([1, 1.0, -0.0, 0.1, 1e16], "[1,1.0,-0.0,0.1,1e16]"),
        (12345678901234567890123, "12345678901234567890123"),
        ("", '""'),
        ([True, False], "[true,false]"),
    ],
)  # fmt: skip
def test_the_form(value: Any, text: str) -> None:
    """Keys sorted, no spaces, letters as they are, integers apart from other numbers."""
    assert canon(raw(freeze(value))).decode() == text


@given(JSON)
def test_it_reads_back_as_the_same(value: Any) -> None:
    """The form is JSON of that value, and the form of what is read from it is the same again."""
    data = canon(freeze({"value": value}))
    assert json.loads(data) == {"value": value}
    assert canon(loads(data)) == data


def test_the_order_of_keys_is_no_difference() -> None:
    """Two objects with the same fields have one form."""
    assert canon({"a": 1, "b": 2}) == canon({"b": 2, "a": 1})


def test_half_a_pair_has_a_form() -> None:
    """A text cut in the middle of a character, as JavaScript cuts it, is hashed as it is."""
    data = canon({"b": "\ud83d", "a": 1})
    assert data == b'{"a":1,"b":"' + "\ud83d".encode("utf-8", "surrogatepass") + b'"}'


def test_what_json_lacks_has_a_tag() -> None:
    """Dates and BigInts are written as they are stored."""
    assert canon(freeze([BigInt(12)])) == b'[{"$bigint":"12"}]'


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_nan_is_refused(number: float) -> None:
    """It would read like null, which is another request."""
    with pytest.raises(CallerError, match="has no canonical form, so nothing that holds it can"):
        canon(raw(freeze({"temperature": number})))
    with pytest.raises(CallerError, match="a number that is none has no canonical form"):
        canon(raw(freeze({"temperature": number, "stop": "\ud83d"})))


@pytest.mark.parametrize("run_id", ["run-1", "läufe", "x" * 200])
@pytest.mark.parametrize("domain", DOMAINS)
def test_a_hash_is_the_hmac_of_domain_and_form(run_id: str, domain: Domain) -> None:
    """Whoever has the run's id can compute it with the tools of any language."""
    message = domain.encode() + b"\0" + b'"hi"'
    expected = hmac.new(run_id.encode(), message, hashlib.sha256).hexdigest()
    assert Salt(run_id).of(domain, "hi") == expected


def test_a_secret_goes_into_the_key() -> None:
    """With a secret of the host's, the run's id alone gives nothing."""
    key = hmac.digest(b"s3", b"run-1", "sha256")
    expected = hmac.new(key, b'tool\0"hi"', hashlib.sha256).hexdigest()
    assert Salt("run-1", "s3").of("tool", "hi") == expected == Salt("run-1", b"s3").of("tool", "hi")
    assert Salt("run-1").of("tool", "hi") != expected


def test_equal_values_in_two_places_differ() -> None:
    """A text as prompt, as message and as tool has three hashes."""
    assert len({Salt("run-1").of(domain, "same") for domain in DOMAINS}) == len(DOMAINS)


def test_a_chain_is_a_hash_over_the_one_before() -> None:
    """Each part costs one hash of two, and the order of parts matters."""
    salt = Salt("run-1")
    start = salt.of("slot", "messages")
    assert salt.start("messages") == start
    assert salt.link(start, "ab") == salt.of("slot", start + "ab")
    assert salt.link(salt.link(start, "a"), "b") != salt.link(salt.link(start, "b"), "a")


def test_without_a_run_there_is_no_salt() -> None:
    """Nothing is hashed without one."""
    with pytest.raises(CallerError, match="a receipt needs the id of its run"):
        Salt("")
