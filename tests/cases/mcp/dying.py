"""An MCP server for tests that writes what it is given to its error stream, and dies of it."""

from __future__ import annotations

import os
import sys

from mcp.server import MCPServer

dying = MCPServer("dying")


@dying.tool(structured_output=False)
def die(text: str) -> str:
    """Ends the server in the middle of the call."""
    print(f"cannot work on {text} or {text[::-1]}", file=sys.stderr, flush=True)
    os._exit(3)


if __name__ == "__main__":
    dying.run("stdio")
