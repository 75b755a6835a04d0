"""A tool and its arguments as a request: method, address, headers, body. Pure.

The arguments go to the path first, then to the query or the body; the headers that say most win.
spec: flow-engine 6.3
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final, TypeAlias
from urllib.parse import quote

import msgspec

from saywhy.tools.http.address import Unfit, custom_query, joined, pairs_of, query_text, with_path
from saywhy.tools.http.auth import Credentials, credentials_of, signature
from saywhy.tools.http.body import JSON, body_of
from saywhy.tools.http.secrets import secrets_of
from saywhy.tools.http.templates import filled_or_unfit
from saywhy.tools.http.texts import text_of
from saywhy.tools.tool import Tool

IDEMPOTENCY: Final = "Idempotency-Key"
WITHOUT_BODY: Final = frozenset({"GET", "HEAD"})

Headers: TypeAlias = dict[str, tuple[str, str]]
"""Name in lower case → name as written, and value."""


class HttpRequest(msgspec.Struct, frozen=True):
    """One request, ready to be sent. What is in `secrets` must not be told to anybody."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes | None = None
    secrets: tuple[str, ...] = ()


def method_of(tool: Tool) -> str:
    """The method in capitals; POST where the definition names none."""
    return str(tool.implementation.raw.get("method") or "POST").upper()


def build(
    tool: Tool,
    arguments: Mapping[str, Any],
    *,
    key: str = "",
    filled: Mapping[str, str] | None = None,
    user_agent: str = "saywhy/1.0",
) -> HttpRequest:
    """The request that a call of the tool makes. Raises `Unfit` where there can be none.

    `key` is the idempotency key. `filled` has the texts of the definition's `{{expressions}}`, by
    JSON pointer.
    """
    definition = filled_or_unfit(tool, filled or {})
    implementation: Mapping[str, Any] = definition["implementation"]
    credentials, secrets = _proof(definition) if filled else _fixed_proof(tool)
    signed, signatures = _signed(credentials, arguments)
    method = method_of(tool)
    rest = dict(signed)
    path = with_path(text_of(implementation["url"]), rest, implementation.get("pathParams") or ())
    in_query, in_body = _divided(method, implementation, rest)
    arrays = str(implementation.get("arrayFormat") or "repeat")
    url = joined(
        path,
        (
            query_text(pairs_of(in_query, arrays)),
            query_text(credentials.query),
            custom_query(text_of(implementation.get("customQuery")), signed),
        ),
    )
    _must_be_web(url)
    body, content_type = body_of(
        text_of(implementation.get("contentType")) or JSON, in_body, arrays
    )
    headers: Headers = {}
    _put(headers, [("User-Agent", text_of(implementation.get("userAgent")) or user_agent)])
    _put(headers, [("Accept", "*/*"), *_idempotency(method, implementation, key)])
    _put(headers, _pairs(implementation.get("defaultHeaders")))
    if body is not None:
        _put(headers, [("Content-Type", content_type)])
    _put(headers, credentials.headers)
    _put(headers, _pairs(implementation.get("authHeaders")))
    _put(headers, _pairs(implementation.get("headers")))
    _put(headers, signatures)
    return HttpRequest(method, url, tuple(headers.values()), body, secrets)


def _proof(definition: Mapping[str, Any]) -> tuple[Credentials, tuple[str, ...]]:
    """The credentials of a definition, and all that is secret in it."""
    credentials = credentials_of(definition)
    return credentials, tuple(dict.fromkeys((*credentials.secrets, *secrets_of(definition))))


@lru_cache(maxsize=512)
def _fixed_proof(tool: Tool) -> tuple[Credentials, tuple[str, ...]]:
    """Those of a tool whose definition holds no expressions: always the same."""
    return _proof(tool.raw)


def _signed(
    credentials: Credentials, arguments: Mapping[str, Any]
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The arguments, with the signatures that go among them, and those that are headers."""
    signed = dict(arguments)
    headers: list[tuple[str, str]] = []
    for block in credentials.signing:
        name, value, is_header = signature(block, arguments)
        if is_header:
            headers.append((name, value))
        else:
            signed[name] = value
    return signed, headers


def _divided(
    method: str, implementation: Mapping[str, Any], rest: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What goes to the query, and what to the body."""
    if method in WITHOUT_BODY or implementation.get("useQueryParams"):
        return rest, {}
    named = [str(name) for name in implementation.get("queryParams") or ()]
    in_query = {name: rest[name] for name in named if name in rest}
    return in_query, {name: value for name, value in rest.items() if name not in in_query}


def _must_be_web(url: str) -> None:
    scheme, separator, rest = url.partition("://")
    if not separator or scheme.lower() not in ("http", "https"):
        raise Unfit(
            "an HTTP tool calls http:// and https:// addresses only",
            "see `url` in the tool's implementation",
        )
    host = rest.partition("/")[0].partition("?")[0]
    if "@" in host:
        raise Unfit(
            "the address of a tool holds no user names or passwords", "write them as `basicAuth`"
        )


def _idempotency(method: str, implementation: Mapping[str, Any], key: str) -> list[tuple[str, str]]:
    """The header by which the other side tells a repeat from a second act."""
    name = implementation.get("idempotencyHeader", IDEMPOTENCY)
    if method in WITHOUT_BODY or not key or name is False or not name:
        return []
    return [(str(name), quote(key, safe=":/@+,;=!~*'()$ -._"))]


def _pairs(headers: Any) -> list[tuple[str, str]]:
    """Headers as an author wrote them; those without a value are left out."""
    if not isinstance(headers, Mapping):
        return []
    return [(str(name), text_of(value)) for name, value in headers.items() if value is not None]


def _put(headers: Headers, given: Iterable[tuple[str, str]]) -> None:
    """Add headers; the same name, however spelled, takes the earlier one's place."""
    for name, value in given:
        if any(letter in value for letter in "\r\n\0"):
            raise Unfit(
                f"the header {name} holds a line break",
                "a header is one line; take the line break out of what is put into it",
            )
        headers[name.lower()] = (name, value.strip())
