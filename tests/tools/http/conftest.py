"""What the tests of HTTP tools share: a stub server, and a tool on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from saywhy.testing import StubServer
from saywhy.tools.answer import ToolAnswer
from tests.tools.http.calls import call_once, http_tool


@pytest.fixture
def web() -> Iterator[StubServer]:
    """A stub server without any answer yet."""
    with StubServer() as server:
        yield server


@pytest.fixture
def bird(web: StubServer) -> Callable[..., ToolAnswer]:
    """Call the tool Bird at `/birds` of the stub server; `more` is of its implementation."""

    def run(
        method: str = "GET",
        args: Mapping[str, Any] | None = None,
        *,
        path: str = "/birds",
        keys: Mapping[str, Any] | None = None,
        options: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> ToolAnswer:
        return call_once(http_tool(web.base + path, method, keys, **more), args, **(options or {}))

    return run
