"""Which MCP server a tool belongs to: a program to start, or an address to call.

Two tools with the same `server` share one connection, so this value is what a connection is known
by. How a server is named to people, without any secret, is answered here as well. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
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


def without_secrets(server: McpServer) -> tuple[McpServer, tuple[str, ...]]:
    """The server as it may be written into a file, and what to do so that it works all the same.

    A secret header becomes an expression on a global variable, a secret variable is handed on.
    """
    notes: list[str] = []
    headers: list[tuple[str, str]] = []
    for name, value in server.headers:
        variable = re.sub(r"\W+", "_", f"mcp_{name.lower()}", flags=re.ASCII)
        if is_sensitive(name) and "{{" not in value:
            notes.append(f"the header {name} is not written: give the global variable {variable}")
            headers.append((name, f"{{{{{variable}}}}}"))
        else:
            headers.append((name, value))
    kept = tuple((name, value) for name, value in server.env if not is_sensitive(name))
    handed = tuple(name for name, _ in server.env if is_sensitive(name))
    notes += [f"the value of {name} is not written: set it where the flows run" for name in handed]
    inherit = tuple(dict.fromkeys((*server.inherit, *handed)))
    return replace(server, headers=tuple(headers), env=kept, inherit=inherit), tuple(notes)


def _pairs(raw: Any) -> tuple[tuple[str, str], ...]:
    if not isinstance(raw, Mapping):
        return ()
    return tuple((str(name), text_of(value)) for name, value in raw.items() if value is not None)
