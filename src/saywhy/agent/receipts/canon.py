"""How a value becomes bytes, and bytes a salted hash.

The canonical form is called `json-1`: JSON in UTF-8, keys sorted, no spaces, letters as they are,
integers as integers, other numbers in the shortest form that reads back as the same. NaN and the
infinities have no such form and are refused. A hash is an HMAC whose key is the id of the run, so
equal texts of two runs have nothing in common, and whose message begins with a domain, so equal
texts in two places of one request have nothing in common either.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any, Final, Literal

import msgspec

from saywhy.errors import CallerError
from saywhy.values import FrozenDict, FrozenList, NonFinite, tagged

ALGORITHM: Final = "hmac-sha256"
CANON: Final = "json-1"

Domain = Literal["system", "message", "tool", "params", "slot", "root", "label"]
DOMAINS: Final[tuple[Domain, ...]] = (
    "system",
    "message",
    "tool",
    "params",
    "slot",
    "root",
    "label",
)

_BLOCK: Final = 64
"""Bytes that SHA-256 takes at a time; a key is filled up to it."""


def canon(value: Any) -> bytes:
    """A frozen value, or a Struct of such values, in the form `json-1`.

    Raises `CallerError` for a number that JSON lacks. A plain NaN has to be frozen first: only then
    can it be told from null.
    """
    try:
        return _ENCODER.encode(value)
    except UnicodeEncodeError:  # half of a surrogate pair, which only a JavaScript text may hold
        return _with_surrogates(value)


def _with_surrogates(value: Any) -> bytes:
    tree = msgspec.to_builtins(value) if isinstance(value, msgspec.Struct) else value
    try:
        text = json.dumps(
            tree,
            default=_extra,
            ensure_ascii=False,
            separators=(",", ":"),
            sort_keys=True,
            allow_nan=False,
        )
    except ValueError as error:
        raise _refused("a number that is none") from error
    return text.encode("utf-8", "surrogatepass")


def _refused(what: Any) -> CallerError:
    return CallerError(
        f"{what} has no canonical form, so nothing that holds it can get a receipt",
        hint="hand the model null, or the number as text",
    )


def _extra(value: Any) -> Any:
    if isinstance(value, NonFinite):
        raise _refused(float(value))
    kind = type(value)
    if kind is FrozenList or (kind is FrozenDict and len(value) != 1):
        return value.raw
    return tagged(value)


_ENCODER: Final = msgspec.json.Encoder(enc_hook=_extra, order="sorted")


_RECENT: Final = 32
"""Of so many objects the hash is remembered."""


class Salt:
    """Hashes of one run. With `secret_salt` only who knows it can compute them again."""

    __slots__ = ("_inner", "_outer", "_recent", "keyed_by", "run_id")

    def __init__(self, run_id: str, secret_salt: str | bytes | None = None) -> None:
        if not run_id:
            raise CallerError(
                "a receipt needs the id of its run: it is what the hashes are salted with",
                hint="hand in a run id, or mint no receipt",
            )
        self.run_id = run_id
        self.keyed_by: Literal["run", "host"] = "host" if secret_salt else "run"
        key = run_id.encode("utf-8", "surrogatepass")
        if secret_salt:
            secret = secret_salt if isinstance(secret_salt, bytes) else secret_salt.encode()
            key = hmac.digest(secret, key, "sha256")
        if len(key) > _BLOCK:
            key = hashlib.sha256(key).digest()
        key = key.ljust(_BLOCK, b"\0")
        # HMAC by its two halves, each begun once: a hash then costs two copies, not a new key.
        begun = hashlib.sha256(bytes(byte ^ 0x36 for byte in key))
        self._outer = hashlib.sha256(bytes(byte ^ 0x5C for byte in key))
        self._recent: dict[tuple[str, int], tuple[Any, str]] = {}
        self._inner: dict[str, Any] = {}
        for domain in DOMAINS:
            inner = begun.copy()
            inner.update(domain.encode() + b"\0")
            self._inner[domain] = inner

    def hash(self, domain: Domain, data: bytes) -> str:
        """The hash of canonical bytes: HMAC-SHA256 over domain, NUL and data; 64 digits."""
        inner = self._inner[domain].copy()
        inner.update(data)
        outer = self._outer.copy()
        outer.update(inner.digest())
        return outer.hexdigest()

    def of(self, domain: Domain, value: Any) -> str:
        """The hash of a frozen value.

        Of the newest objects it is remembered: the record of a message and its receipt ask for the
        same. What is frozen does not change, and one that is held keeps its id.
        """
        if type(value) is not dict:
            return self.hash(domain, canon(value))
        key = (domain, id(value))
        kept = self._recent.get(key)
        if kept is not None:
            return kept[1]
        made = self.hash(domain, canon(value))
        if len(self._recent) >= _RECENT:
            del self._recent[next(iter(self._recent))]
        self._recent[key] = (value, made)
        return made

    def start(self, slot: str) -> str:
        """What the chain of a slot without parts has come to."""
        return self.of("slot", slot)

    def link(self, before: str, part: str) -> str:
        """What the chain has come to with one more part: one hash, however long it is."""
        return self.hash("slot", f'"{before}{part}"'.encode())
