"""`saywhy tools import`: what is written, what is told, and that the result passes the check."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from .conftest import Run, write

CASES = Path(__file__).parent.parent / "cases"
SHOP = CASES / "openapi" / "shop.yaml"
BANK = CASES / "mcp" / "bank.py"


def test_openapi(run: Run, folder: Path) -> None:
    """Tools go to the file, notes and a figure to standard error, and `check` is content."""
    done = run("tools", "import", "openapi", SHOP, "--out", "shop.json")
    assert (done.code, done.out) == (0, "")
    assert "POST /batch (batch): left out: the body is array\n" in done.err
    assert done.err.endswith("8 tools written to shop.json\n")
    checked = run("check", "shop.json")
    assert (checked.code, checked.out) == (
        0,
        "checked 0 flows, 0 primary, 0 steps, 8 tools: 0 errors, 0 warnings\n",
    )


def test_openapi_to_standard_output(run: Run) -> None:
    """Without a file the tools are written to standard output and nothing else is."""
    done = run(
        "tools", "import", "openapi", SHOP, "--only", "orders", "--base", "https://b.example"
    )
    tools = json.loads(done.out)["tools"]
    assert [tool["id"] for tool in tools] == ["listOrders", "createOrder"]
    assert tools[0]["implementation"]["url"] == "https://b.example/orders"


def test_a_file_that_is_there(run: Run, folder: Path) -> None:
    """Nothing is written over without `--force`."""
    write(folder / "t.json", "mine")
    done = run("tools", "import", "openapi", SHOP, "--out", "t.json")
    assert (done.code, (folder / "t.json").read_text()) == (2, "mine")
    assert done.err.endswith("saywhy: t.json is there already\n    --force writes over it\n")
    assert run("tools", "import", "openapi", SHOP, "--out", "t.json", "--force").code == 0
    assert len(json.loads((folder / "t.json").read_text())["tools"]) == 8


def test_other_files(run: Run, folder: Path) -> None:
    """A file that is missing, no description, or empty of operations is named with its place."""
    done = run("tools", "import", "openapi", "none.yaml")
    assert (done.code, done.err) == (
        1,
        "none.yaml: error: cannot read this file: no such file or directory\n    check the path\n",
    )
    write(folder / "flows.json", [])
    done = run("tools", "import", "openapi", "flows.json")
    assert done.code == 1
    assert done.err.startswith("flows.json: error: an OpenAPI description is an object\n")
    write(folder / "empty.json", {"openapi": "3.1.0", "paths": {}})
    done = run("tools", "import", "openapi", "empty.json")
    assert (done.code, done.err) == (
        1,
        "empty.json: error: there is no operation to import\n    see the notes above\n",
    )
    done = run("tools", "import", "openapi", SHOP, "--only", "ordres")
    assert (done.code, done.err) == (
        2,
        'saywhy: no operation has the id or tag ordres\n    did you mean "orders"?\n',
    )


def test_mcp(run: Run, folder: Path) -> None:
    """The tools of a real server, written once; secrets stay out of the file."""
    done = run(
        *("tools", "import", "mcp", "--out", "bank.json", "--only", "balance", "--only", "charge"),
        *("--env", "API_TOKEN=t0psecret", "--env", "GREETING=hi", "--inherit", "LANG"),
        *(sys.executable, BANK, "ledger.jsonl"),
    )
    assert done.code == 0, done.err
    assert done.err.endswith("2 tools written to bank.json\n")
    assert ": the value of API_TOKEN is not written: set it where the flows run\n" in done.err
    text = (folder / "bank.json").read_text()
    assert "t0psecret" not in text
    balance, charge = json.loads(text)["tools"]
    assert (balance["effect"], charge["effect"]) == ("reads", "once")
    assert balance["returns"]["properties"].keys() == {"amount", "currency"}
    assert charge["implementation"] == {
        "type": "mcp",
        "server": {
            "command": [sys.executable, str(BANK), "ledger.jsonl"],
            "env": {"GREETING": "hi"},
            "inherit": ["LANG", "API_TOKEN"],
        },
        "tool": "charge",
    }
    checked = run("check", "bank.json")
    assert (checked.code, checked.out) == (
        0,
        "checked 0 flows, 0 primary, 0 steps, 2 tools: 0 errors, 0 warnings\n",
    )
    assert not (folder / "ledger.jsonl").exists(), "importing calls no tool"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("no-such-program-here",),
            "saywhy: the MCP server no-such-program-here cannot be started: "
            "no such file or directory\n    is no-such-program-here installed, and in the PATH?\n",
        ),
        (
            ("http://127.0.0.1:9/mcp",),
            "saywhy: fetch failed: 127.0.0.1:9 refused the connection (ECONNREFUSED)\n"
            "    is it running?\n",
        ),
        (
            ("https://a.example", "x"),
            "saywhy: an address has no arguments\n    put options before it\n",
        ),
        (("--env", "A", "x"), "saywhy: --env takes NAME=VALUE, not 'A'\n"),
        (("--header", "A=b", "x"), "saywhy: --header takes NAME:VALUE, not 'A=b'\n"),
        (
            ("--header", "A: b", "x"),
            "saywhy: a program gets no headers\n    --env gives it variables\n",
        ),
        (
            ("--env", "A=b", "https://a.example"),
            "saywhy: an address gets no variables\n    --header gives it headers\n",
        ),
    ],
)
def test_no_server(run: Run, arguments: tuple[str, ...], message: str) -> None:
    """A server that cannot be asked, and options that make no sense, give one clear message."""
    done = run("tools", "import", "mcp", *arguments)
    assert (done.code, done.out, done.err) == (2, "", message)
