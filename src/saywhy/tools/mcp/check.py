"""What is wrong with the definition of an MCP tool, beyond what `tools.check` asks of every tool.

Whether the server can be reached, and has the tool, is nobody's business before a call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final

from saywhy.errors import Place, Problem
from saywhy.tools.http.check import expression_problems
from saywhy.tools.http.templates import MCP_SPOTS
from saywhy.tools.mcp.server import SERVER_KEYS
from saywhy.tools.wording import below, word

EXAMPLE: Final = 'write "server": {"command": ["python", "server.py"]}, or {"url": "https://…"}'
_HEADER_NAME: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")


def mcp_problems(raw: Mapping[str, Any], place: Place) -> Iterator[Problem]:
    """Every problem of the definition at `place`, whose implementation is of type mcp."""
    implementation: Mapping[str, Any] = raw["implementation"]
    where = below(place, "implementation")
    yield from _names(implementation, where)
    server = implementation.get("server")
    spot = below(where, "server")
    if not isinstance(server, Mapping) or not server:
        missing = server is None
        message = "has no `server`" if missing else f"has as `server` {word(server)}, no object"
        name = raw.get("id") or raw.get("name")
        yield Problem(f"the mcp tool {name} {message}", where if missing else spot, EXAMPLE)
        return
    for key in server:
        if key not in SERVER_KEYS:
            near = get_close_matches(str(key), SERVER_KEYS, n=1)
            hint = f'did you mean "{near[0]}"?' if near else f"known: {', '.join(SERVER_KEYS)}"
            yield Problem(f"unknown key {word(key)} of `server`", below(spot, str(key)), hint)
    yield from _one_way(server, spot)
    yield from _program(server, spot)
    yield from _address(server, spot)
    for key in ("env", "headers"):
        yield from _pairs(server, key, spot)
    yield from expression_problems(raw, place, MCP_SPOTS)


def _names(implementation: Mapping[str, Any], where: Place) -> Iterator[Problem]:
    name = implementation.get("tool")
    if not isinstance(name, str) or not name:
        yield Problem(
            "an mcp tool says with `tool` what the server calls it"
            if name is None
            else f"`tool` must be text, not {word(name)}",
            where if name is None else below(where, "tool"),
            'write "tool": "search"; `saywhy tools import mcp` writes whole definitions',
        )
    key = implementation.get("idempotencyKey")
    if key is not None and key is not False and not (isinstance(key, str) and key):
        yield Problem(
            f"`idempotencyKey` must be a name in `_meta` or false, not {word(key)}",
            below(where, "idempotencyKey"),
            "false sends no key; without it the name is saywhy/idempotencyKey",
        )
    delay = implementation.get("retryDelay")
    if delay is not None and (
        isinstance(delay, bool) or not isinstance(delay, int | float) or delay < 0
    ):
        yield Problem(
            f"`retryDelay` must be a number from 0, not {word(delay)}",
            below(where, "retryDelay"),
            "milliseconds; leave it out for 1, 2, 4 … seconds",
        )


def _one_way(server: Mapping[str, Any], where: Place) -> Iterator[Problem]:
    ways = [key for key in ("command", "url") if server.get(key) is not None]
    if not ways:
        yield Problem("`server` has neither `command` nor `url`", where, EXAMPLE)
    elif len(ways) == 2:
        yield Problem(
            "`server` has both `command` and `url`",
            where,
            "`command` starts a program, `url` calls a server that runs already: keep one",
        )
    other = {"command": ("headers",), "url": ("env", "inherit", "cwd")}
    for key in other[ways[0]] if len(ways) == 1 else ():
        if server.get(key) is not None:
            yield Problem(
                f"`{key}` means nothing beside `{ways[0]}`",
                below(where, key),
                "remove it",
                severity="warning",
            )


def _program(server: Mapping[str, Any], where: Place) -> Iterator[Problem]:
    command = server.get("command")
    if command is not None and not (_is_texts(command) and command and command[0]):
        yield Problem(
            f"`command` must be a list of texts, not {word(command)}",
            below(where, "command"),
            'write ["python", "server.py"]: the program, then its arguments, without a shell',
        )
    elif command is not None and any("{{" in part for part in command):
        yield Problem(
            "`command` holds an expression",
            below(where, "command"),
            "which program runs is not for a conversation to say; use `env` for values",
        )
    inherit = server.get("inherit")
    if inherit is not None and not _is_texts(inherit):
        yield Problem(
            f"`inherit` must be a list of names, not {word(inherit)}",
            below(where, "inherit"),
            'write ["GITHUB_TOKEN"]: these variables are handed on; PATH and HOME always are',
        )
    cwd = server.get("cwd")
    if cwd is not None and (not isinstance(cwd, str) or "{{" in cwd):
        yield Problem(
            f"`cwd` must be a folder, not {word(cwd)}",
            below(where, "cwd"),
            "the folder in which the program runs; leave it out for the current one",
        )


def _is_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)


def _address(server: Mapping[str, Any], where: Place) -> Iterator[Problem]:
    url = server.get("url")
    if url is None:
        return
    spot = below(where, "url")
    if not isinstance(url, str) or not url.strip():
        yield Problem(f"`url` must be text, not {word(url)}", spot, "https://example.com/mcp")
        return
    if url.lstrip().startswith("{{"):
        return  # known when it is evaluated
    scheme, separator, rest = url.strip().partition("://")
    host = rest.partition("/")[0].partition("?")[0]
    if not separator or scheme.lower() not in ("http", "https") or not host:
        yield Problem(
            f"`url` must begin with http:// or https:// and name a host, not {word(url[:40])}",
            spot,
            "https://example.com/mcp",
        )
    elif "@" in host:
        yield Problem(
            "`url` holds a user name or password",
            spot,
            'write "headers": {"Authorization": …}',
        )


def _pairs(server: Mapping[str, Any], key: str, where: Place) -> Iterator[Problem]:
    given = server.get(key)
    if given is None:
        return
    spot = below(where, key)
    if not isinstance(given, Mapping):
        yield Problem(f"`{key}` must be an object, not {word(given)}", spot, 'write {"NAME": "…"}')
        return
    for name, value in given.items():
        if isinstance(value, Mapping | list | tuple):
            yield Problem(
                f"{name} in `{key}` must be text, not {word(value)}",
                below(spot, str(name)),
                "put it in quotes",
            )
        if key == "headers" and not _HEADER_NAME.fullmatch(str(name)):
            yield Problem(
                f"{word(name)} cannot be the name of a header",
                below(spot, str(name)),
                "letters, digits and dashes",
            )
        elif key == "env" and (not name or "=" in str(name)):
            yield Problem(
                f"{word(name)} cannot be the name of a variable",
                below(spot, str(name)),
                "letters, digits and underscores",
            )
