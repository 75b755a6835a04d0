"""The lines of an audit bundle: what each says, and how content stands in it byte for byte.

A bundle is JSON lines. Where a line holds what digests are over, that is the text between a head
of a fixed form and the end of the line, as the store has it: nothing is parsed and written anew.
What is no JSON on one line stands there in base64. The order of lines is `export`'s and `verify`'s.
"""

from __future__ import annotations

import binascii
import json
import re
from base64 import b64decode, b64encode
from typing import Any, Final, Literal, cast

import msgspec

from saywhy.stores.audit import RowKind, StoredAnchor, StoredChain, StoredLink
from saywhy.values import dumps

FORMAT: Final = 1

_ROW: Final = re.compile(
    rb'\{"(message|commit)":(\d{1,18}),"digest":"([0-9a-f]{64})","(doc|base64)":(.*)\}\n', re.S
)
_PART: Final = re.compile(
    rb'\{"part":\{"run":("(?:[^"\\]|\\.)*"),"domain":"(system|message|tool|params)",'
    rb'"hash":"([0-9a-f]{64})"\},"(doc|base64)":(.*)\}\n',
    re.S,
)


class Row(msgspec.Struct, frozen=True):
    """A message or a row of commits, with the digest of its turn's content up to it."""

    kind: RowKind
    seq: int
    digest: str
    doc: bytes
    plain: bool
    """Whether it stands there as it is."""


class RequestPart(msgspec.Struct, frozen=True):
    """A part of what a model was handed, in the form that its receipt hashed."""

    run: str
    domain: Literal["system", "message", "tool", "params"]
    hash: str
    doc: bytes


class Counts(msgspec.Struct):
    """What a bundle holds. A row holds the commits of one write of a turn."""

    chains: int = 0
    turns: int = 0
    messages: int = 0
    commits: int = 0
    erased: int = 0


def line(tree: Any) -> bytes:
    """A line that holds nothing but what it says."""
    return dumps(tree) + b"\n"


def row_line(kind: RowKind, seq: int, digest: bytes, doc: bytes) -> bytes:
    """The line of a message or of a row of commits."""
    head = f'{{"{kind}":{seq},"digest":"{digest.hex()}",'.encode()
    return head + _body(doc)


def part_line(part: RequestPart) -> bytes:
    """The line of a part of a request."""
    about = f'"domain":"{part.domain}","hash":"{part.hash}"}},'.encode()
    run = json.dumps(part.run).encode()
    return b'{"part":{"run":' + run + b"," + about + _body(part.doc)


def _body(doc: bytes) -> bytes:
    if is_plain(doc):
        return b'"doc":' + doc + b"}\n"
    return b'"base64":"' + b64encode(doc) + b'"}\n'


def is_plain(doc: bytes) -> bool:
    """Whether it is JSON that needs only one line."""
    if b"\n" in doc or not doc:
        return False
    try:
        msgspec.json.decode(doc)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True


def row_in(text: bytes) -> Row | None:
    """The message or the row of commits in a line; None where it holds another thing."""
    found = _ROW.fullmatch(text)
    if found is None:
        return None
    kind, seq, digest, how, body = found.groups()
    plain = how == b"doc"
    return Row(cast(RowKind, kind.decode()), int(seq), digest.decode(), _doc(how, body), plain)


def part_in(text: bytes) -> RequestPart | None:
    """The part of a request in a line; None where it holds another thing."""
    found = _PART.fullmatch(text)
    if found is None:
        return None
    run, domain, digest, how, body = found.groups()
    return RequestPart(
        json.loads(run), cast(Any, domain.decode()), digest.decode(), _doc(how, body)
    )


def _doc(how: bytes, body: bytes) -> bytes:
    if how == b"doc":
        return body
    if len(body) < 2:
        raise ValueError("no base64")
    try:
        return b64decode(body[1:-1], validate=True)
    except binascii.Error as error:
        raise ValueError(f"no base64: {error}") from error


def chain_entry(chain: StoredChain) -> dict[str, Any]:
    """What a line says of a chain."""
    return {
        "id": chain.chain_id.hex(),
        "first": chain.first,
        "turns": chain.turns,
        "session": chain.session_id,
        "user": chain.user_id,
        "salt": chain.salt and chain.salt.hex(),
        "owner": chain.owner.hex(),
    }


def turn_entry(link: StoredLink) -> dict[str, Any]:
    """What a line says of a turn."""
    return {
        "no": link.turn_no,
        "status": link.status,
        "messages": link.messages,
        "rows": link.commits,
        "salt": link.salt and link.salt.hex(),
        "erased": link.erased,
        "content": link.content.hex(),
        "digest": link.digest.hex(),
    }


def anchor_entry(anchor: StoredAnchor) -> dict[str, Any]:
    """What a line says of an anchor."""
    heads = [[head.chain_id.hex(), head.turn_no, head.digest.hex()] for head in anchor.heads]
    return {
        "number": anchor.number,
        "at": anchor.at_ms,
        "digest": anchor.digest.hex(),
        "heads": heads,
    }
