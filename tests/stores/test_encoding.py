"""Documents in br-v1: what comes back, what is refused, and what is said without the library."""

from __future__ import annotations

import sys
import tracemalloc
from typing import Any

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from saywhy.errors import DamagedSession, DocumentTooLarge, LibraryMissing
from saywhy.stores import encoding
from saywhy.stores.encoding import decode, encode, encoding_of, recoded

DOCUMENT = b'{"format":1,"messages":["' + b"How much would you like to pay? " * 200 + b'"]}'


@given(st.binary(max_size=5000))
def test_documents_come_back(content: bytes) -> None:
    """Whatever the bytes, in both encodings and from one to the other."""
    document = b"{" + content
    packed = encode(document, "br-v1")
    assert decode(packed) == document
    assert encoding_of(packed) == "br-v1"
    assert recoded(packed, "br-v1") is packed
    assert recoded(packed, "plain") == document


def test_plain_is_what_it_is() -> None:
    """Nothing is put before a plain document, and it is read as it lies there."""
    assert encode(DOCUMENT, "plain") is DOCUMENT
    assert decode(DOCUMENT) is DOCUMENT
    assert encoding_of(DOCUMENT) == encoding_of(b"") == "plain"
    assert recoded(DOCUMENT, "plain") is DOCUMENT


def test_is_much_smaller() -> None:
    """Which is what it is for."""
    assert len(encode(DOCUMENT, "br-v1")) < len(DOCUMENT) / 20


@pytest.mark.parametrize("cut", [7, 21, 22, 30, -1])
def test_cut_documents(cut: int) -> None:
    """Are refused, wherever they were cut."""
    packed = encode(bytes(range(256)) * 4, "br-v1")
    with pytest.raises(DamagedSession, match=r"cut off|checksum"):
        decode(packed[:cut])


def test_no_changed_bit_goes_unnoticed() -> None:
    """A session must not go on from words that nobody said."""
    document = b'{"amount":80,"payee":"Ann"}'
    packed = bytearray(encode(document, "br-v1"))
    refused = 0
    for place in range(6, len(packed)):
        for bit in range(8):
            packed[place] ^= 1 << bit
            try:
                assert decode(bytes(packed)) == document  # a bit that means nothing
            except DamagedSession:
                refused += 1
            packed[place] ^= 1 << bit
    assert refused > 8 * len(document)


def head(size: int, document: bytes = b"") -> bytes:
    packed: Any = encode(document, "br-v1")
    return packed[:6] + size.to_bytes(8, "big") + packed[14:22]


def test_a_bomb_that_admits_its_size() -> None:
    """Is refused before anything is unpacked."""
    bomb = head(10**12) + brotli.compress(b"x", quality=1)
    with pytest.raises(DocumentTooLarge) as refusal:
        decode(bomb)
    assert refusal.value.message == (
        "its br-v1 document says that it holds 1,000,000,000,000 bytes; "
        "at most 67,108,864 are taken from one"
    )


def test_a_bomb_that_lies() -> None:
    """Is left as soon as it has given more than it said, with little memory used."""
    bomb = head(1000) + brotli.compress(b"\0" * 200_000_000, quality=1)
    assert len(bomb) < 100_000
    tracemalloc.start()
    try:
        with pytest.raises(DocumentTooLarge) as refusal:
            decode(bomb)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert refusal.value.message.startswith(
        "its br-v1 document says that it holds 1,000 bytes, and holds more"
    )
    assert peak < 8_000_000


def test_too_large_a_document_stays_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """It can be stored and read; what could not be read again is never written."""
    monkeypatch.setattr(encoding, "MAX_DOCUMENT_BYTES", 100)
    assert encode(b"x" * 101, "br-v1") == b"x" * 101
    assert recoded(b"x" * 101, "br-v1") == b"x" * 101
    assert encoding_of(encode(b"x" * 100, "br-v1")) == "br-v1"


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain documents are read and written as ever; for the others it is said what to install."""
    packed = encode(DOCUMENT, "br-v1")
    monkeypatch.setitem(sys.modules, "brotli", None)
    assert decode(encode(DOCUMENT, "plain")) == DOCUMENT
    for use, work in (
        ("write", lambda: encode(DOCUMENT, "br-v1")),
        ("read", lambda: decode(packed)),
    ):
        with pytest.raises(LibraryMissing) as refusal:
            work()
        assert refusal.value.message == (
            f"to {use} documents in br-v1 the library brotli is needed, and it is not installed"
        )
        assert refusal.value.hint == "pip install 'saywhy[brotli]'"
