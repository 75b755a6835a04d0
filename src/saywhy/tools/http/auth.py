"""How a tool proves who it is: bearer token, name and password, API key, signature.

Each may stand under its own key or in an `authentication` block; both end up as the same few
values. Pure. spec: flow-engine 6.3
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from saywhy.tools.http.address import Unfit
from saywhy.tools.http.texts import at_path, text_of

ALGORITHMS: Final = ("sha256", "sha1", "sha512")
ENCODINGS: Final = ("hex", "base64")
LOCATIONS: Final = ("header", "argument", "body", "query")
"""Where a signature goes: `header`, or among the arguments, whatever the other words say."""

TYPES: Final = ("bearer", "basic", "apikey", "hmac")
KEY_HEADER: Final = "X-API-Key"
SIGNATURE: Final = "signature"


@dataclass(frozen=True, slots=True)
class Credentials:
    """What goes along with every request of a tool. `secrets` must not be seen anywhere."""

    headers: tuple[tuple[str, str], ...] = ()
    query: tuple[tuple[str, str], ...] = ()
    signing: tuple[Mapping[str, Any], ...] = ()
    secrets: tuple[str, ...] = ()


def kind_named(word: Any) -> str:
    """The kind of authentication a word means, `API_Key` as much as `apikey`; else empty."""
    plain = str(word or "").lower().replace("-", "").replace("_", "").replace(" ", "")
    return plain if plain in TYPES else ""


def credentials_of(definition: Mapping[str, Any]) -> Credentials:
    """The credentials of a tool's definition, later ones taking the place of earlier ones."""
    headers: list[tuple[str, str]] = []
    query: list[tuple[str, str]] = []
    signing: list[Mapping[str, Any]] = []
    secrets: list[str] = []
    for kind, block in _blocks(definition):
        if kind == "hmac":
            signing.append(block)
            secrets.append(text_of(block.get("secret")))
            continue
        name, value, secret = _header(kind, block)
        secrets += [secret, value]
        if kind == "apikey" and _location(block) == "query":
            query.append((name, value))
        else:
            headers.append((name, value))
    shown = tuple(dict.fromkeys(secret for secret in secrets if secret))
    return Credentials(tuple(headers), tuple(query), tuple(signing), shown)


def _blocks(definition: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Kind and block of each way to authenticate, the weakest first."""
    implementation: Mapping[str, Any] = definition.get("implementation") or {}
    token = implementation.get("apiKey") or definition.get("apiKey")
    if token:
        yield "bearer", {"token": token}
    if implementation.get("basicAuth"):
        yield "basic", implementation["basicAuth"]
    if implementation.get("apiKeyHeader"):
        yield "apikey", implementation["apiKeyHeader"]
    for holder in (definition, implementation):
        block = holder.get("authentication")
        if isinstance(block, Mapping) and kind_named(block.get("type")):
            yield kind_named(block["type"]), block
    signature = implementation.get("hashAuth") or definition.get("hashAuth")
    if isinstance(signature, Mapping):
        yield "hmac", signature


def _location(block: Mapping[str, Any]) -> str:
    return str(block.get("location") or block.get("in") or "header").lower()


def _header(kind: str, block: Mapping[str, Any]) -> tuple[str, str, str]:
    """Name, value and the secret in it."""
    if kind == "bearer":
        token = text_of(block.get("token") or block.get("apiKey") or block.get("value"))
        return "Authorization", f"Bearer {token}", token
    if kind == "basic":
        password = text_of(block.get("password"))
        pair = f"{text_of(block.get('username'))}:{password}".encode()
        return "Authorization", f"Basic {base64.b64encode(pair).decode()}", password
    value = text_of(block.get("value") or block.get("key") or block.get("apiKey"))
    return text_of(block.get("name")) or KEY_HEADER, value, value


def algorithm_named(word: Any) -> str:
    """The algorithm a word means, `SHA-256` as much as `sha256`; empty for others."""
    plain = str(word or ALGORITHMS[0]).lower().replace("-", "")
    return plain if plain in ALGORITHMS else ""


def signature(block: Mapping[str, Any], arguments: Mapping[str, Any]) -> tuple[str, str, bool]:
    """Name and value of a signature over the arguments, and whether it is a header.

    Signed are the fields' values, as text, with a `|` between them; a missing one is empty.
    """
    fields = block.get("fields") or ()
    texts = [text_of(at_path(dict(arguments), str(field).split("."))) for field in fields]
    algorithm = algorithm_named(block.get("algorithm"))
    if not algorithm:
        raise Unfit(f"no signature is made by {block.get('algorithm')}", f"use {ALGORITHMS[0]}")
    secret = text_of(block.get("secret")).encode()
    made = hmac.new(secret, "|".join(texts).encode(), getattr(hashlib, algorithm))
    encoded = (
        base64.b64encode(made.digest()).decode()
        if block.get("encoding") == "base64"
        else made.hexdigest()
    )
    return text_of(block.get("keyName")) or SIGNATURE, encoded, _location(block) == "header"
