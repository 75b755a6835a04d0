"""Which MCP server a tool belongs to: a program to start, or an address to call.

Two tools with the same `server` share one connection, so this value is what a connection is known
by. How a server is named to people, without any secret, is answered here as well. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from saywhy.tools.http.secrets import is_sensitive
from saywhy.tools.http.texts import text_of

SERVER_KEYS: Final = ("command", "env", "inherit", "cwd", "url", "headers")
INHERITED: Final = ("PATH", "HOME")
"""What a program cannot do without. Nothing else of our environment reaches it unasked."""
_LONGEST: Final = 80


@dataclass(frozen=True, slots=True)
class McpServer:
    """A server as a tool file describes it. With `command` it is a program, else at `url`."""

    command: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    inherit: tuple[str, ...] = ()
    """Names of variables that are handed on from our own environment."""
    cwd: str = ""
    url: str = ""
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @property
    def label(self) -> str:
        """How messages name it."""
        if not self.command:
            return self.url.partition("?")[0].partition("#")[0]
        text = " ".join(self.command)
        return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"

    @property
    def secrets(self) -> tuple[str, ...]:
        """Every text of it that must not be told to anybody."""
        pairs = (*self.env, *self.headers)
        found = [value for name, value in pairs if is_sensitive(name)]
        found += [value.rpartition(" ")[2] for name, value in self.headers if is_sensitive(name)]
        found += [self.url.partition("?")[2]]
        return tuple(dict.fromkeys(one for one in found if one and "{{" not in one))

    def environment(self, own: Mapping[str, str]) -> dict[str, str]:
        """What the program gets as its environment, out of our own and what is declared."""
        names = (*INHERITED, *self.inherit)
        return {name: own[name] for name in names if name in own} | dict(self.env)


def server_of(raw: Mapping[str, Any]) -> McpServer:
    """The server behind a checked `server` block."""
    return McpServer(
        command=tuple(str(part) for part in raw.get("command") or ()),
        env=_pairs(raw.get("env")),
        inherit=tuple(str(name) for name in raw.get("inherit") or ()),
        cwd=str(raw.get("cwd") or ""),
        url=str(raw.get("url") or "").strip(),
        headers=_pairs(raw.get("headers")),
    )


def server_block(server: McpServer) -> dict[str, Any]:
    """The server as a tool file has it."""
    given: dict[str, Any] = {
        "command": list(server.command),
        "env": dict(server.env),
        "inherit": list(server.inherit),
        "cwd": server.cwd,
        "url": server.url,
        "headers": dict(server.headers),
    }
    return {name: value for name, value in given.items() if value}


def _pairs(raw: Any) -> tuple[tuple[str, str], ...]:
    if not isinstance(raw, Mapping):
        return ()
    return tuple((str(name), text_of(value)) for name, value in raw.items() if value is not None)
