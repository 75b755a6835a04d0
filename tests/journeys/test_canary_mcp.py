"""Promise: what is declared sensitive is masked on both sides of MCP, whoever declares it.

A flow and an agent call tools of a server, which is ours too. Everything that either side writes
is searched: stores, explanations, exports, logs, errors.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from saywhy import Engine, HttpSettings, SqliteStore
from saywhy.server.mcp.serve import serve_http
from saywhy.server.mcp.service import McpService
from tests.journeys import mcp_canaries
from tests.journeys.canary import canary, found_in, without
from tests.journeys.mcp_canaries import CANARIES, GUARDS
from tests.journeys.searched import Place, overheard


class Sides(NamedTuple):
    """All bytes that each side left."""

    near: bytes
    far: bytes

    def found(self) -> dict[str, set[str]]:
        """The canaries on each side."""
        return {"near": found_in(self.near, CANARIES), "far": found_in(self.far, CANARIES)}


def far_engine(left_out: str, place: Place) -> Engine:
    """The engine behind the server."""
    return Engine(
        flows=without(left_out, mcp_canaries.far_flows()),
        tools=without(left_out, mcp_canaries.far_tools()),
        functions=dict(mcp_canaries.FAR_FUNCTIONS),
        guidance={"enabled": False},
        logger=place.log,
        log_tool_failures=True,
        validate_tool_returns=True,
        store=SqliteStore(place.path),
    )


def near_engine(left_out: str, address: str, place: Place) -> Engine:
    """The engine whose flows and agent are clients of the server."""
    return Engine(
        flows=without(left_out, mcp_canaries.near_flows()),
        tools=without(left_out, mcp_canaries.near_tools(address)),
        agents=mcp_canaries.agents(address, left_out),
        guidance={"enabled": False},
        logger=place.log,
        log_tool_failures=True,
        validate_tool_returns=True,
        store=SqliteStore(place.path),
        http=HttpSettings(allow_private=True),
    )


@asynccontextmanager
async def serving(engine: Engine) -> AsyncGenerator[str]:
    """The address of a server for the engine."""
    told: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    work = serve_http(McpService(engine), "127.0.0.1", 0, on_ready=told.set_result)
    task = asyncio.create_task(work)
    try:
        yield await told
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def talk(place: Place, left_out: str) -> None:
    """Every conversation of the client."""
    say = place.say
    said = await say("argument", "Argument", cargo={"given": canary("argument")})
    assert canary("argument")[::-1] in (said or "")
    await say("variable", "Variable")
    assert canary("variable")[::-1] in (await say("variable", canary("variable")) or "")
    if not left_out:  # it takes a second to start
        await say("dead", "Dead")
        assert "die failed" in (await say("dead", canary("variable")) or "")
    assert canary("answer")[::-1] in (await say("answer", "Answer") or "")
    assert canary("agent-argument") in (await say("desk", "Desk") or "")
    assert canary("agent-answer") in (await say("clerk", "Clerk") or "")
    said = await say("talk", "Talk", cargo={"card": canary("card")})
    assert canary("card") in (said or "")
    said = await say("talk", "yes", cargo={"given": canary("pin")})
    assert canary("pin")[::-1] in (said or "")
    for name in ("argument", "variable", "answer", "desk", "clerk", "talk"):
        await say(name, "nothing", cargo={"given": None, "card": None})


async def look(place: Place) -> None:
    """Everything that can be told of all conversations."""
    store = place.engine.store
    assert store is not None
    for output in await store.unsent():
        assert await store.mark_sent(output.output_id)
    for session in await store.sessions():
        await place.look(session.session_id)


async def go_on(far: Place) -> None:
    """End the conversation that the client began: live state has its values until then."""
    store = far.engine.store
    assert store is not None
    (session,) = await store.sessions()
    for word in ("no", "nothing"):
        await far.say(session.session_id, word, user_id=session.user_id)


async def written(folder: Path, near_out: str = "", far_out: str = "") -> Sides:
    """Everything that the conversations left on either side."""
    (folder / "near").mkdir()
    (folder / "far").mkdir()
    far = Place(folder / "far" / "s.db").with_engine(partial(far_engine, far_out))
    async with far.engine, serving(far.engine) as address:
        near = Place(folder / "near" / "s.db")
        near.with_engine(partial(near_engine, near_out, address))
        async with near.engine:
            await talk(near, near_out)
            await look(near)
        await go_on(far)
        await look(far)
    return Sides(near.written(), far.written())


async def test_no_canary_is_anywhere(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """With every declaration in its place, neither side writes anything of the canaries."""
    caplog.set_level(logging.DEBUG)
    sides = await written(tmp_path)
    assert found_in(overheard(caplog, capfd), CANARIES) == set()
    assert sides.found() == {"near": set(), "far": set()}
    assert b"Anything else about" in sides.far
    assert b"Basel" in sides.near


def both_guards() -> list[tuple[str, str]]:
    """What is left out at the same time: a declaration here and one there, of different values."""
    far = list(GUARDS["far"])
    return list(zip(GUARDS["near"], [*far[1:], far[0]], strict=True))


@pytest.mark.parametrize(("near", "far"), both_guards())
async def test_declarations_left_out_let_canaries_escape(
    near: str, far: str, tmp_path: Path
) -> None:
    """Each declaration guards its canary, alone, and on its own side only."""
    sides = await written(tmp_path, near, far)
    assert sides.found() == {"near": {GUARDS["near"][near]}, "far": {GUARDS["far"][far]}}
