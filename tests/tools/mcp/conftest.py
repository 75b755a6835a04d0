"""What the tests of MCP tools share: one bank as a program, kept for a whole module."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from saywhy.tools.answer import ToolAnswer
from saywhy.tools.http.client import HttpClient
from tests.tools.mcp.calls import LOCAL, call, ledger_of, mcp_tool, program


class Bank:
    """A kept bank: call it, and see what it was asked."""

    def __init__(self, client: HttpClient, ledger: Path, server: Mapping[str, Any]) -> None:
        self.client = client
        self.ledger = ledger
        self.server = server

    async def __call__(
        self, name: str, args: Mapping[str, Any] | None = None, **more: Any
    ) -> ToolAnswer:
        options = {key: more.pop(key) for key in ("key", "clock", "filled") if key in more}
        keys = more.pop("keys", None)
        return await call(self.client, mcp_tool(name, self.server, keys, **more), args, **options)

    @property
    def asked(self) -> list[dict[str, Any]]:
        return ledger_of(self.ledger)

    def asked_for(self, name: str) -> list[dict[str, Any]]:
        return [one for one in self.asked if one["tool"] == name]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bank(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Bank]:
    """One program for all tests of a module, which share its connection."""
    ledger = tmp_path_factory.mktemp("bank") / "ledger.jsonl"
    client = HttpClient(LOCAL)
    yield Bank(client, ledger, program(ledger, env={"GREETING": "hello there"}))
    await client.close()


@pytest.fixture
def fresh(tmp_path: Path) -> Callable[..., Bank]:
    """A bank that nobody has called yet. Close its client."""

    def make(**more: Any) -> Bank:
        ledger = tmp_path / "ledger.jsonl"
        return Bank(HttpClient(LOCAL), ledger, program(ledger, **more))

    return make
