"""What is wrong with the definition of an HTTP tool, beyond what `tools.check` asks of every tool.

An error is what could never work or would do something else than it says; a warning is what is
probably not meant. Whether the address can be reached is nobody's business before a call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from saywhy.errors import Place, Problem, did_you_mean
from saywhy.expr.names import read_expression
from saywhy.expr.template import Hole, parse_template
from saywhy.tools.http.address import ARRAY_FORMATS, placeholders_in
from saywhy.tools.http.auth import (
    ALGORITHMS,
    ENCODINGS,
    LOCATIONS,
    TYPES,
    algorithm_named,
    kind_named,
)
from saywhy.tools.http.body import KNOWN, is_known, media_type
from saywhy.tools.http.templates import SPOTS, texts_at
from saywhy.tools.schema import is_object_form
from saywhy.tools.wording import below, word

_HEADER_NAME: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_ORIGIN: Final = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<host>[^/?#]*)", re.IGNORECASE)


def http_problems(raw: Mapping[str, Any], place: Place) -> Iterator[Problem]:
    """Every problem of the definition at `place`, whose implementation is of type http."""
    implementation: Mapping[str, Any] = raw["implementation"]
    where = below(place, "implementation")
    for check in (_url, _lists, _words, _figures, _headers):
        yield from check(implementation, where)
    yield from _placeholders(raw, implementation, where)
    for holder, spot in ((raw, place), (implementation, where)):
        yield from _credentials(holder, spot)
    yield from _in_the_open(raw, implementation, where)
    yield from expression_problems(raw, place, SPOTS)


# ------------------------------------------------------------------ the address


def _url(implementation: Mapping[str, Any], where: Place) -> Iterator[Problem]:
    url = implementation.get("url")
    if not isinstance(url, str) or not url or url.lstrip().startswith("{{"):
        return  # missing: said by `tools.check`; an expression: known when it is evaluated
    spot = below(where, "url")
    origin = _ORIGIN.match(url.strip())
    if origin is None or origin["scheme"].lower() not in ("http", "https"):
        yield Problem(
            f"`url` must begin with http:// or https://, not {word(url[:40])}",
            spot,
            hint="write the whole address; `{{cargo.base}}/path` takes its beginning from the flow",
        )
    elif not origin["host"]:
        yield Problem("`url` names no host", spot, hint="https://api.example.com/path")
    elif "@" in origin["host"]:
        yield Problem(
            "`url` holds a user name or password",
            spot,
            hint='write "basicAuth": {"username": …, "password": …}',
        )


_SENT_KEYS: Final = ("apiKey", "authentication", "basicAuth", "apiKeyHeader", "authHeaders")
"""What is sent as it stands; the secret of a signature is not."""
_OWN_HOSTS: Final = ("localhost", "127.", "[::1]")


def _in_the_open(
    raw: Mapping[str, Any], implementation: Mapping[str, Any], where: Place
) -> Iterator[Problem]:
    """Credentials that would travel unencrypted, unless to this machine."""
    origin = _ORIGIN.match(str(implementation.get("url") or "").strip())
    if origin is None or origin["scheme"].lower() != "http":
        return
    if origin["host"].lower().startswith(_OWN_HOSTS):
        return
    key = next((key for key in _SENT_KEYS if raw.get(key) or implementation.get(key)), "")
    block = raw.get(key) or implementation.get(key)
    if key and not (isinstance(block, Mapping) and kind_named(block.get("type")) == "hmac"):
        yield Problem(
            f"`{key}` is sent to an http:// address, where anybody on the way can read it",
            below(where, "url"),
            hint="write https:// if the server speaks it",
            severity="warning",
        )


def _placeholders(
    raw: Mapping[str, Any], implementation: Mapping[str, Any], where: Place
) -> Iterator[Problem]:
    """Path parameters that no argument fills, and names that are in no path."""
    url = str(implementation.get("url") or "")
    names = placeholders_in(url)
    parameters = raw.get("parameters") or raw.get("schema") or {}
    for name in _names(implementation.get("pathParams")):
        if name not in names and "{{" not in url:
            yield Problem(
                f"`pathParams` names {name}, but `url` has no {{{name}}}",
                below(where, "pathParams"),
                hint=did_you_mean(name, names) or f"add {{{name}}} to the address",
                severity="warning",
            )
    if not isinstance(parameters, Mapping):
        return
    known = parameters.get("properties") if is_object_form(parameters) else parameters
    if not isinstance(known, Mapping) or not known:
        return
    closed = parameters.get("additionalProperties") is False
    for name in names:
        if name not in known:
            yield Problem(
                f"no parameter of the tool fills {{{name}}} in `url`",
                below(where, "url"),
                hint=did_you_mean(name, tuple(known)) or f"declare {name} among the parameters",
                severity="error" if closed else "warning",
                known_names=tuple(known),
            )


# ------------------------------------------------------------------ single keys


def _names(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list | tuple) else []


def _lists(implementation: Mapping[str, Any], where: Place) -> Iterator[Problem]:
    for key in ("pathParams", "queryParams"):
        value = implementation.get(key)
        if value is not None and (not isinstance(value, list | tuple) or _names(value) != [*value]):
            yield Problem(
                f"`{key}` must be a list of parameters, not {word(value)}",
                below(where, key),
                hint=f'write "{key}": ["id"]',
            )
    statuses = implementation.get("acceptStatus")
    if statuses is not None and not (
        isinstance(statuses, list | tuple) and all(_is_status(one) for one in statuses)
    ):
        yield Problem(
            f"`acceptStatus` must be a list of HTTP statuses, not {word(statuses)}",
            below(where, "acceptStatus"),
            hint='write "acceptStatus": [400, 404]: answers with these are results as well',
        )


def _is_status(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 100 <= value <= 599


def _words(implementation: Mapping[str, Any], where: Place) -> Iterator[Problem]:
    kind = implementation.get("contentType")
    if kind is not None and not (isinstance(kind, str) and is_known(media_type(kind))):
        yield Problem(
            f"the content type {word(kind)} is unknown; the body is sent as JSON",
            below(where, "contentType"),
            hint=did_you_mean(str(kind), KNOWN) or "known are JSON, forms, text and XML",
            severity="warning",
            known_names=KNOWN,
        )
    yield from _one_of(implementation, "arrayFormat", ARRAY_FORMATS, where)
    header = implementation.get("idempotencyHeader")
    if header is not None and header is not False and not _is_header(header):
        yield Problem(
            f"`idempotencyHeader` must be the name of a header or false, not {word(header)}",
            below(where, "idempotencyHeader"),
            hint="false sends no key; without the key it is Idempotency-Key",
        )
    for key in ("customQuery", "userAgent"):
        if not isinstance(implementation.get(key, ""), str):
            yield Problem(
                f"`{key}` must be text, not {word(implementation[key])}",
                below(where, key),
                hint='write "format=json&v=2"' if key == "customQuery" else "put it in quotes",
            )


def _one_of(
    holder: Mapping[str, Any], key: str, known: Sequence[str], where: Place
) -> Iterator[Problem]:
    value = holder.get(key)
    if value is not None and value not in known:
        yield Problem(
            f"`{key}` must be {', '.join(known[:-1])} or {known[-1]}, not {word(value)}",
            below(where, key),
            hint=did_you_mean(str(value), known) or f"leave it out for {known[0]}",
            known_names=tuple(known),
        )


def _figures(implementation: Mapping[str, Any], where: Place) -> Iterator[Problem]:
    delay = implementation.get("retryDelay")
    if delay is not None and (
        isinstance(delay, bool) or not isinstance(delay, int | float) or delay < 0
    ):
        yield Problem(
            f"`retryDelay` must be a number from 0, not {word(delay)}",
            below(where, "retryDelay"),
            hint="milliseconds; leave it out for 1, 2, 4 … seconds",
        )


def _headers(implementation: Mapping[str, Any], where: Place) -> Iterator[Problem]:
    for key in ("headers", "defaultHeaders", "authHeaders"):
        headers = implementation.get(key)
        if headers is None:
            continue
        if not isinstance(headers, Mapping):
            yield Problem(
                f"`{key}` must be an object, not {word(headers)}",
                below(where, key),
                hint='write {"X-Tenant": "acme"}',
            )
            continue
        for name, value in headers.items():
            if not _is_header(name):
                yield Problem(
                    f"{word(name)} cannot be the name of a header",
                    below(where, key, str(name)),
                    hint="letters, digits and dashes",
                )
            if isinstance(value, Mapping | list | tuple):
                yield Problem(
                    f"the header {name} must be text, not {word(value)}",
                    below(where, key, name),
                    hint="one header is one line",
                )


def _is_header(name: Any) -> bool:
    return isinstance(name, str) and _HEADER_NAME.fullmatch(name) is not None


# ------------------------------------------------------------------ credentials


_NEEDED: Final[Mapping[str, Sequence[tuple[str, ...]]]] = {
    "bearer": (("token", "apiKey", "value"),),
    "basic": (("username",), ("password",)),
    "apikey": (("value", "key", "apiKey"),),
    "hmac": (("secret",), ("fields",)),
}
"""What each kind cannot do without; any of the names in brackets will do."""


def _credentials(holder: Mapping[str, Any], where: Place) -> Iterator[Problem]:
    if not isinstance(holder.get("apiKey", ""), str):
        yield Problem(
            f"`apiKey` must be text, not {word(holder['apiKey'])}",
            below(where, "apiKey"),
            hint="it is sent as `Authorization: Bearer …`",
        )
    blocks = {"basicAuth": "basic", "apiKeyHeader": "apikey", "hashAuth": "hmac"}
    for key, kind in blocks.items():
        if holder.get(key) is not None:
            yield from _block(holder[key], key, kind, below(where, key))
    block = holder.get("authentication")
    if block is None:
        return
    spot = below(where, "authentication")
    kind = kind_named(block.get("type")) if isinstance(block, Mapping) else "bearer"
    if kind:
        yield from _block(block, "authentication", kind, spot)
        return
    yield Problem(
        f"`authentication` is of the unknown type {word(block.get('type'))}",
        below(spot, "type") if "type" in block else spot,
        hint=did_you_mean(str(block.get("type")), TYPES) or f"use {', '.join(TYPES)}",
        known_names=TYPES,
    )


def _block(block: Any, key: str, kind: str, where: Place) -> Iterator[Problem]:
    if not isinstance(block, Mapping):
        yield Problem(
            f"`{key}` must be an object, not {word(block)}",
            where,
            hint="write "
            + {
                "basic": '{"username": …, "password": …}',
                "apikey": '{"name": "X-Key", "value": …}',
                "hmac": '{"secret": …, "fields": ["amount"], "keyName": "X-Signature"}',
                "bearer": '{"type": "bearer", "token": …}',
            }[kind],
        )
        return
    for names in _NEEDED[kind]:
        if not any(block.get(name) for name in names):
            yield Problem(f"`{key}` has no `{names[0]}`", where, hint=f'add "{names[0]}": …')
    name = block.get("name")
    if kind == "apikey" and name is not None and not _is_header(name):
        yield Problem(
            f"{word(name)} cannot be the name of a header",
            below(where, "name"),
            hint="letters, digits and dashes",
        )
    if kind == "hmac":
        yield from _signature(block, where)


def _signature(block: Mapping[str, Any], where: Place) -> Iterator[Problem]:
    if not algorithm_named(block.get("algorithm")):
        yield from _one_of(block, "algorithm", ALGORITHMS, where)
    yield from _one_of(block, "encoding", ENCODINGS, where)
    yield from _one_of(block, "location", LOCATIONS, where)
    fields = block.get("fields")
    if fields and _names(fields) != [*fields]:
        yield Problem(
            f"`fields` of a signature must be a list of arguments, not {word(fields)}",
            below(where, "fields"),
            hint='write ["order.id", "amount"]; the values are joined by | and signed',
        )


# ------------------------------------------------------------------ expressions


def expression_problems(
    raw: Mapping[str, Any], place: Place, spots: Sequence[tuple[str, ...]]
) -> Iterator[Problem]:
    """Expressions in addresses, headers and credentials that do not parse."""
    for path in spots:
        value: Any = raw
        for step in path:
            value = value.get(step) if isinstance(value, Mapping) else None
        for pointer, text in texts_at(value, path):
            where = below(place, *pointer)
            template = parse_template(text)
            for found in template.problems:
                yield Problem(found.message, where, hint=found.hint, excerpt=text, span=found.span)
            for hole in template.parts:
                if isinstance(hole, Hole):
                    yield from _expression(hole, text, where)


def _expression(hole: Hole, text: str, where: Place) -> Iterator[Problem]:
    error = read_expression(hole.source).error
    if error is None:
        return
    start, end = error.span
    yield Problem(
        f"not an expression: {error.message}",
        where,
        hint=error.hint or "one JavaScript expression may stand here, like `cargo.base`",
        excerpt=text,
        span=(hole.at + start, hole.at + end),
    )
