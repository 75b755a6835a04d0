"""An MCP server for tests, made with the official library. It runs as a program or over HTTP.

    python bank.py LEDGER                 over its streams
    python bank.py LEDGER --http PORT     at http://127.0.0.1:PORT/mcp

Every call of a tool is written to the file LEDGER, one JSON object a line, before it is answered.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp_types import (
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    ToolAnnotations,
)
from pydantic import BaseModel

LEDGER = Path(sys.argv[1])
bank = MCPServer("bank")
HOLD = 0.0


def note(tool: str, /, meta: Any = None, **given: Any) -> None:
    keys = dict(meta or {})
    key = keys.get("saywhy/idempotencyKey") or keys.get("bank/key")
    with LEDGER.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"tool": tool, "key": key, "args": given}) + "\n")


class Balance(BaseModel):
    amount: float
    currency: str


@bank.tool(annotations=ToolAnnotations(read_only_hint=True))
def balance(account: str) -> Balance:
    """The balance of an account."""
    note("balance", account=account)
    return Balance(amount=80.5, currency="EUR")


@bank.tool(structured_output=False)
def charge(account: str, amount: float, ctx: Context) -> str:
    """Charge an account."""
    note("charge", ctx.request_context.meta, account=account, amount=amount)
    return json.dumps({"charged": amount, "account": account})


@bank.tool(annotations=ToolAnnotations(idempotent_hint=True), structured_output=False)
def rename(account: str, name: str, ctx: Context) -> str:
    """Give an account a name."""
    note("rename", ctx.request_context.meta, account=account, name=name)
    return "007"


@bank.tool(structured_output=False)
def fail(reason: str) -> CallToolResult:
    """Always fails."""
    note("fail", reason=reason)
    return CallToolResult(content=[TextContent(text=reason)] if reason else [], is_error=True)


@bank.tool(structured_output=False)
def die(code: int) -> str:
    """Ends the server in the middle of the call."""
    note("die", code=code)
    print("the vault is open", file=sys.stderr, flush=True)
    os._exit(code)


@bank.tool(structured_output=False)
async def hang(seconds: float) -> str:
    """Takes its time."""
    note("hang", seconds=seconds)
    try:
        await asyncio.sleep(seconds)
    except BaseException:
        note("hang cancelled")
        raise
    return "done"


@bank.tool(structured_output=False)
def flood(size: int) -> str:
    """Answers with a text of this size."""
    note("flood", size=size)
    return "x" * size


@bank.tool(structured_output=False)
def contents(kind: str) -> CallToolResult:
    """Answers with content of each kind."""
    texts = [TextContent(text=one) for one in ('{"a": 1}', "[2]", "three", "")]
    picture = ImageContent(data="aGk=", mime_type="image/png")
    blob = BlobResourceContents(uri="file:///a.bin", blob="aGk=", mime_type="x/y")
    chosen: dict[str, list[Any]] = {
        "none": [],
        "text": texts[2:3],
        "texts": texts[2:],
        "object": texts[:1],
        "objects": texts[:2],
        "mixed": [texts[0], picture],
        "resource": [EmbeddedResource(resource=blob)],
        "link": [ResourceLink(uri="https://example.com/a", name="a", mime_type="text/html")],
    }
    return CallToolResult(content=chosen[kind])


@bank.tool(structured_output=False)
def environment() -> str:
    """The names of the variables this program has, its folder and its process."""
    data = {"names": sorted(os.environ), "folder": str(Path.cwd()), "pid": os.getpid()}
    return json.dumps(data | {"greeting": os.environ.get("GREETING")})


def main() -> None:
    if "--http" in sys.argv:
        port = int(sys.argv[sys.argv.index("--http") + 1])
        options: dict[str, Any] = {"json_response": "--json" in sys.argv}
        bank.run("streamable-http", port=port, **options)
    else:
        bank.run("stdio")


if __name__ == "__main__":
    main()
