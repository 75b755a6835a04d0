"""`saywhy mcp`: the official client starts it, and what cannot be offered is said at once."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from saywhy.cli.mcp import address_of
from saywhy.errors import CallerError

from .conftest import PAY, Run, write

CODE = "import sys; from saywhy.cli.main import main; sys.exit(main(sys.argv[1:]))"
TOOLS = [
    {
        "id": "shout",
        "name": "shout",
        "parameters": {"type": "object", "properties": {"text": {"type": "string"}}},
        "implementation": {"type": "local", "function": "shout"},
    }
]
FUNCTIONS = """
def shout(args):
    print("this must not disturb the client")
    return args["text"].upper()
"""


def server(folder: Path, *arguments: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable, args=["-c", CODE, "mcp", *arguments], cwd=folder
    )


async def test_over_its_streams(folder: Path, pay: str) -> None:
    """A conversation over two runs of the program, and a tool that prints."""
    write(folder / "tools.json", TOOLS)
    write(folder / "shouting.py", FUNCTIONS)
    started = server(folder, pay, "tools.json", "--functions", "shouting", "--store", "m.db")
    async with Client(started) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names == ["pay", "reply", "shout"]
        begun = (await client.call_tool("pay", {})).structured_content
        assert begun["reply"] == "How much?"
        shouted = await client.call_tool("shout", {"text": "hey"})
        assert shouted.content[0].text == "HEY"
    async with Client(server(folder, pay, "--flows-only", "--store", "m.db")) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["pay", "reply"]
        words = {"conversation": begun["conversation"], "text": "80"}
        reply = (await client.call_tool("reply", words)).structured_content
        assert (reply["reply"], reply["question"]) == ("Fee 8.\n\nWho gets it?", "Who gets it?")


def test_nothing_to_offer(run: Run, folder: Path) -> None:
    """Files without a primary flow and without tools are nothing to serve."""
    write(folder / "inner.json", [{**PAY[0], "primary": False}])
    done = run("mcp", "inner.json")
    assert done.code == 2
    assert done.err.endswith(
        "saywhy: there is nothing to offer: no flow here is primary\n"
        '    "primary": true in a flow lets users begin it\n'
    )
    done = run("mcp", "none.json")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("none.json: error: cannot read this file")


def test_open_to_others(run: Run, pay: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond this machine it listens with a secret only."""
    monkeypatch.delenv("SAYWHY_MCP_TOKEN", raising=False)
    done = run("mcp", pay, "--http", "0.0.0.0:0")
    assert done.code == 2
    assert done.err.endswith(
        "saywhy: whoever reaches 0.0.0.0 could use every flow and tool\n"
        "    set SAYWHY_MCP_TOKEN to a secret that clients must send, or listen on 127.0.0.1\n"
    )


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("localhost:80", ("localhost", 80)),
        (":8000", ("127.0.0.1", 8000)),
        ("8000", ("127.0.0.1", 8000)),
        ("[::1]:0", ("::1", 0)),
    ],
)
def test_addresses(given: str, address: tuple[str, int]) -> None:
    """Host and port, or a port of this machine."""
    assert address_of(given) == address


@pytest.mark.parametrize("given", ["localhost", "a:b", "a:", "x:70000"])
def test_other_addresses(given: str) -> None:
    """Are refused with what to write."""
    with pytest.raises(CallerError, match=f"--http takes HOST:PORT, not {given}") as refusal:
        address_of(given)
    assert refusal.value.hint == "127.0.0.1:8000"
