"""Which texts of a tool must never be seen, and texts without them.

An error tells what a server answered, and servers repeat what they were sent. So the secrets of a
request are taken out of every text that is told about it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, quote, quote_plus

from saywhy.tools.http.auth import credentials_of
from saywhy.tools.http.texts import text_of
from saywhy.tools.tool import Tool

MARK: Final = "[REDACTED]"
SHORTEST: Final = 6
"""A shorter secret is masked only as a word of its own: it would riddle every sentence."""

_SENSITIVE: Final = re.compile(
    r"authorization|cookie|token|secret|passw|signature|credential|(?:api|access|auth|private|x)"
    r"[-_]?key|^key$|^sig$",
    re.IGNORECASE,
)


def is_sensitive(name: str) -> bool:
    """Whether what stands under this name of a header or a query is a secret."""
    return _SENSITIVE.search(name) is not None


def is_secret_spot(pointer: str) -> bool:
    """Whether what stands at a JSON pointer of a definition is a secret."""
    parts = pointer.split("/")
    key = next((part for part in parts if part in _SECRET_KEYS), "")
    named = "eaders" in pointer or "/server/env/" in pointer
    return bool(key) or (named and is_sensitive(parts[-1]))


_SECRET_KEYS: Final = frozenset(
    ["apiKey", "basicAuth", "apiKeyHeader", "hashAuth", "authentication", "authHeaders"]
)


def secrets_of(definition: Mapping[str, Any]) -> tuple[str, ...]:
    """Every text of a definition that is a secret: credentials, telling headers and queries."""
    found = list(credentials_of(definition).secrets)
    implementation: Mapping[str, Any] = definition.get("implementation") or {}
    for key in ("defaultHeaders", "authHeaders", "headers"):
        for name, value in (implementation.get(key) or {}).items():
            if key == "authHeaders" or is_sensitive(name):
                found += [text_of(value), text_of(value).rpartition(" ")[2]]
    queries = (implementation.get("customQuery"), text_of(implementation.get("url")))
    for query in queries:
        text = text_of(query)
        pairs = parse_qsl(text.partition("?")[2] if "://" in text else text)
        found += [value for name, value in pairs if is_sensitive(name) and "{" not in value]
    return tuple(dict.fromkeys(one for one in found if one and "{{" not in one))


def static_secrets(tool: Tool) -> tuple[str, ...]:
    """The secrets that the tool's file holds; what expressions put in comes with each call."""
    if tool.implementation.type == "mcp":
        from saywhy.tools.mcp.server import server_of  # it builds on this module

        return server_of(tool.implementation.raw["server"]).secrets
    return secrets_of(tool.raw) if tool.implementation.type == "http" else ()


def masked(text: str, secrets: Iterable[str]) -> str:
    """`text` without the secrets, in whichever way they are spelled in it."""
    for secret in sorted(secrets, key=len, reverse=True):
        for spelling in dict.fromkeys((secret, quote(secret, safe=""), quote_plus(secret))):
            if len(spelling) >= SHORTEST:
                text = text.replace(spelling, MARK)
            else:
                text = re.sub(rf"(?<!\w){re.escape(spelling)}(?!\w)", MARK, text)
    return text
