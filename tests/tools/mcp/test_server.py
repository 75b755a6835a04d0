"""Promise: a server is known by what was declared, and no secret of it is told."""

from __future__ import annotations

from saywhy.tools.mcp.server import McpServer, server_block, server_of, without_secrets

BLOCK = {
    "command": ["bank", "--fast"],
    "env": {"GREETING": "hi", "API_TOKEN": "t0psecret"},
    "inherit": ["LANG"],
    "cwd": "data",
}
REMOTE = {
    "url": "https://bank.example/mcp?key=k3y123#x",
    "headers": {"Authorization": "Bearer s3cret9", "X-Tenant": "acme"},
}


def test_same_block_same_server() -> None:
    """Two tools with the same block share a connection; another value is another server."""
    assert server_of(BLOCK) == server_of(dict(BLOCK)) != server_of(BLOCK | {"cwd": "other"})
    assert len({server_of(BLOCK), server_of(dict(BLOCK)), server_of(REMOTE)}) == 2


def test_block() -> None:
    """A server is written as it was read."""
    assert server_block(server_of(BLOCK)) == BLOCK
    assert server_block(server_of(REMOTE)) == REMOTE


def test_environment() -> None:
    """A program gets PATH and HOME, what is handed on, what is declared, and nothing else."""
    own = {"PATH": "/bin", "HOME": "/me", "LANG": "C", "AWS_SECRET": "x", "GREETING": "no"}
    assert server_of(BLOCK).environment(own) == {
        "PATH": "/bin",
        "HOME": "/me",
        "LANG": "C",
        "GREETING": "hi",
        "API_TOKEN": "t0psecret",
    }
    assert server_of({"command": ["x"], "inherit": ["GONE"]}).environment({"PATH": "p"}) == {
        "PATH": "p"
    }


def test_label_and_secrets() -> None:
    """Messages name a server without its secrets, and a long command is cut."""
    assert server_of(BLOCK).label == "bank --fast"
    assert server_of(REMOTE).label == "https://bank.example/mcp"
    assert McpServer(command=("x" * 200,)).label == "x" * 80 + "…"
    assert server_of(BLOCK).secrets == ("t0psecret",)
    assert set(server_of(REMOTE).secrets) == {"Bearer s3cret9", "s3cret9", "key=k3y123#x"}
    for server in (server_of(BLOCK), server_of(REMOTE)):
        assert not any(secret in repr(server) for secret in ("t0psecret", "s3cret9"))


def test_expressions_are_no_secrets() -> None:
    """An expression in a header is not masked: what it gives is."""
    assert server_of({"url": "https://a.example", "headers": {"X-Token": "{{t}}"}}).secrets == ()


def test_without_secrets() -> None:
    """What goes into a file has variables in place of secrets, with what to do about it."""
    server, notes = without_secrets(server_of(REMOTE))
    assert dict(server.headers) == {"Authorization": "{{mcp_authorization}}", "X-Tenant": "acme"}
    assert notes == (
        "the header Authorization is not written: give the global variable mcp_authorization",
    )
    server, notes = without_secrets(server_of(BLOCK))
    assert (dict(server.env), server.inherit) == ({"GREETING": "hi"}, ("LANG", "API_TOKEN"))
    assert notes == ("the value of API_TOKEN is not written: set it where the flows run",)
