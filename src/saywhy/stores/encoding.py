"""How a document lies in a store: as it is, or compressed.

`br-v1` is Brotli behind a head: the magic bytes, the length of what was compressed, and a checksum
of it, since Brotli itself notices few changes of a bit. No JSON begins like that, so a reader can
always tell, and takes both. What a document says is none of this file's business.
"""

from __future__ import annotations

import struct
from hashlib import blake2b
from types import ModuleType
from typing import Any, Final, Literal, TypeAlias

from saywhy.errors import DamagedSession, DocumentTooLarge, LibraryMissing

Encoding: TypeAlias = Literal["plain", "br-v1"]

MAX_DOCUMENT_BYTES: Final = 64 * 2**20
"""What a compressed document may become. A larger one is written as it is, so none is refused."""

_MAGIC: Final = b"br-v1\x00"
_HEAD: Final = struct.Struct(">6sQ8s")
_STEP_BYTES: Final = 1 << 20

# Levels beyond make a session of 8 kB a sixth smaller, and take five to five hundred times as long.
_QUALITY: Final = 1
_WINDOW: Final = 18


def encoding_of(data: bytes) -> Encoding:
    """How a document lies there."""
    return "br-v1" if data.startswith(_MAGIC) else "plain"


def encode(document: bytes, encoding: Encoding) -> bytes:
    """A document as it is to be stored. Raises `LibraryMissing`."""
    if encoding == "plain" or len(document) > MAX_DOCUMENT_BYTES:
        return document
    brotli = library("write")
    packed = brotli.compress(document, quality=_QUALITY, lgwin=_WINDOW)
    return _HEAD.pack(_MAGIC, len(document), _checksum(document)) + packed


def decode(data: bytes) -> bytes:
    """The document behind stored bytes, whichever way they lie there.

    Raises `LibraryMissing`, `DocumentTooLarge` and, for bytes that were cut or changed,
    `DamagedSession`.
    """
    if encoding_of(data) == "plain":
        return data
    if len(data) < _HEAD.size:
        raise DamagedSession(f"its br-v1 document was cut off after {len(data)} bytes")
    _, size, checksum = _HEAD.unpack_from(data)
    if size > MAX_DOCUMENT_BYTES:
        raise _too_large(f"says that it holds {size:,} bytes")
    document = _unpacked(library("read"), memoryview(data)[_HEAD.size :], size)
    if len(document) != size or _checksum(document) != checksum:
        raise DamagedSession("its br-v1 document is not what was stored: the checksum differs")
    return document


def recoded(data: bytes, encoding: Encoding) -> bytes:
    """The same document in another encoding; the very bytes where nothing is to be done.

    What comes out was read back and compared. Raises what `encode` and `decode` raise.
    """
    if encoding_of(data) == encoding:
        return data
    document = decode(data)
    made = encode(document, encoding)
    if decode(made) != document:  # never, unless the library fails: then the old bytes stay
        raise DamagedSession("a document did not come back as it was when it was written anew")
    return made


def library(use: Literal["read", "write"]) -> ModuleType:
    """The module `brotli`. Raises `LibraryMissing`, which says what to install."""
    try:
        import brotli
    except ImportError as error:
        raise LibraryMissing(
            f"to {use} documents in br-v1 the library brotli is needed, and it is not installed",
            hint="pip install 'saywhy[brotli]'",
        ) from error
    return brotli


def _unpacked(brotli: Any, packed: memoryview, size: int) -> bytes:
    """What was compressed; never more than `size` and one step are made of it, whatever it is."""
    reader = brotli.Decompressor()
    made = bytearray()
    try:
        piece = reader.process(bytes(packed), output_buffer_limit=_STEP_BYTES)
        while piece:
            made += piece
            if len(made) > size:
                raise _too_large(f"says that it holds {size:,} bytes, and holds more")
            piece = reader.process(b"", output_buffer_limit=_STEP_BYTES)
    except brotli.error as error:
        raise DamagedSession(f"its br-v1 document cannot be read: {error}") from error
    if not reader.is_finished():
        raise DamagedSession("its br-v1 document was cut off")
    return bytes(made)


def _too_large(what: str) -> DocumentTooLarge:
    return DocumentTooLarge(
        f"its br-v1 document {what}; at most {MAX_DOCUMENT_BYTES:,} are taken from one"
    )


def _checksum(document: bytes) -> bytes:
    return blake2b(document, digest_size=8).digest()
