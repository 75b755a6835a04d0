"""Promise: every mistake in a definition of an MCP tool is found, with its place and a way out."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.errors import Place
from saywhy.tools.check import problems_of

GOOD = {"command": ["python", "server.py"]}


def found(**implementation: Any) -> list[tuple[str, str, str]]:
    """Place, message and hint of each problem."""
    raw = {"id": "T", "parameters": {"type": "object"}}
    given = {"type": "mcp", "tool": "t", "server": GOOD, **implementation}
    kept = {key: value for key, value in given.items() if value is not ...}
    problems = problems_of(raw | {"implementation": kept}, Place("t.json"))
    return [(one.place.pointer, one.message, one.hint) for one in problems]


@pytest.mark.parametrize(
    "implementation",
    [
        {},
        {"server": {**GOOD, "env": {"A": "b"}, "inherit": ["LANG"], "cwd": "x"}},
        {"server": {"url": "https://example.com/mcp", "headers": {"X-A": "b"}}},
        {"server": {"url": "{{cargo.base}}/mcp", "headers": {"Authorization": "Bearer {{t}}"}}},
        {"timeout": 100, "retries": 2, "retryDelay": 0, "idempotencyKey": False},
        {"idempotencyKey": "bank/key"},
    ],
)
def test_fine(implementation: dict[str, Any]) -> None:
    """What can work has no problem."""
    assert found(**implementation) == []


ONE_SERVER = 'write "server": {"command": ["python", "server.py"]}, or {"url": "https://…"}'
COMMAND = 'write ["python", "server.py"]: the program, then its arguments, without a shell'


@pytest.mark.parametrize(
    ("implementation", "pointer", "message", "hint"),
    [
        ({"server": ...}, "", "the mcp tool T has no `server`", ONE_SERVER),
        (
            {"server": "python"},
            "/server",
            'the mcp tool T has as `server` "python", no object',
            ONE_SERVER,
        ),
        ({"server": {"cwd": "a"}}, "/server", "`server` has neither `command` nor `url`", None),
        (
            {"server": {**GOOD, "url": "https://a.example"}},
            "/server",
            "`server` has both `command` and `url`",
            "`command` starts a program, `url` calls a server that runs already: keep one",
        ),
        (
            {"server": {**GOOD, "comand": []}},
            "/server/comand",
            'unknown key "comand" of `server`',
            'did you mean "command"?',
        ),
        (
            {"server": {"command": "python server.py"}},
            "/server/command",
            '`command` must be a list of texts, not "python server.py"',
            COMMAND,
        ),
        ({"server": {"command": []}}, "/server/command", None, COMMAND),
        (
            {"server": {"command": ["{{program}}"]}},
            "/server/command",
            "`command` holds an expression",
            "which program runs is not for a conversation to say; use `env` for values",
        ),
        (
            {"server": {**GOOD, "inherit": "LANG"}},
            "/server/inherit",
            '`inherit` must be a list of names, not "LANG"',
            'write ["GITHUB_TOKEN"]: these variables are handed on; PATH and HOME always are',
        ),
        ({"server": {**GOOD, "cwd": 5}}, "/server/cwd", "`cwd` must be a folder, not 5", None),
        (
            {"server": {**GOOD, "env": ["A"]}},
            "/server/env",
            "`env` must be an object, not a list",
            'write {"NAME": "…"}',
        ),
        (
            {"server": {**GOOD, "env": {"A": {}}}},
            "/server/env/A",
            "A in `env` must be text, not an object",
            "put it in quotes",
        ),
        (
            {"server": {**GOOD, "env": {"A=B": "c"}}},
            "/server/env/A=B",
            '"A=B" cannot be the name of a variable',
            None,
        ),
        (
            {"server": {**GOOD, "headers": {"A": "b"}}},
            "/server/headers",
            "`headers` means nothing beside `command`",
            "remove it",
        ),
        (
            {"server": {"url": "ftp://a.example"}},
            "/server/url",
            '`url` must begin with http:// or https:// and name a host, not "ftp://a.example"',
            "https://example.com/mcp",
        ),
        ({"server": {"url": "https:///mcp"}}, "/server/url", None, "https://example.com/mcp"),
        ({"server": {"url": 5}}, "/server/url", "`url` must be text, not 5", None),
        (
            {"server": {"url": "https://ann:pw@a.example"}},
            "/server/url",
            "`url` holds a user name or password",
            'write "headers": {"Authorization": …}',
        ),
        (
            {"server": {"url": "https://a.example", "headers": {"A B": "c"}}},
            "/server/headers/A B",
            '"A B" cannot be the name of a header',
            "letters, digits and dashes",
        ),
        (
            {"server": {"url": "https://a.example", "headers": {"X-A": "{{ 1 + }}"}}},
            "/server/headers/X-A",
            None,
            None,
        ),
        (
            {"tool": ...},
            "",
            "an mcp tool says with `tool` what the server calls it",
            'write "tool": "search"; `saywhy tools import mcp` writes whole definitions',
        ),
        ({"tool": 5}, "/tool", "`tool` must be text, not 5", None),
        (
            {"idempotencyKey": 5},
            "/idempotencyKey",
            "`idempotencyKey` must be a name in `_meta` or false, not 5",
            "false sends no key; without it the name is saywhy/idempotencyKey",
        ),
        ({"retryDelay": -1}, "/retryDelay", "`retryDelay` must be a number from 0, not -1", None),
        (
            {"timeout": 0},
            "/timeout",
            "`timeout` of tool T must be a number above 0, not 0",
            "milliseconds; leave it out for 5000 (local) or 20000 (http, mcp)",
        ),
    ],
)
def test_mistakes(
    implementation: dict[str, Any], pointer: str, message: str | None, hint: str | None
) -> None:
    """Each is found once, where it stands."""
    problems = found(**implementation)
    assert len(problems) == 1
    assert problems[0][0] == f"/implementation{pointer}"
    assert message in (None, problems[0][1])
    assert hint in (None, problems[0][2])
