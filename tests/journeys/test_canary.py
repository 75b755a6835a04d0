"""Promise: what is declared sensitive is nowhere but in the live state, whatever was done with it.

Every byte that is written is searched: the store's files, exports, explanations, logs, errors.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from saywhy import Agent, Engine, SqliteStore
from saywhy.models.scripted import ScriptedModel
from tests.journeys import canary
from tests.journeys.canary import NAMES, found_in, only_plain
from tests.journeys.searched import Place, overheard


def engine_of(place: Place, left_out: str) -> Engine:
    """An engine whose conversations are full of canaries."""
    answers = [{"for": "chat", "reply": f"it is {canary.canary('agent')}"}] * 4
    return Engine(
        flows=canary.without(left_out, canary.flows()),
        tools=canary.without(left_out, canary.tools()),
        functions={**canary.FUNCTIONS, **canary.TOOL_FUNCTIONS},
        agents={"helper": Agent(ScriptedModel(answers), name="helper")},
        guidance={"enabled": False},
        logger=place.log,
        log_tool_failures=True,
        validate_tool_returns=True,
        store=SqliteStore(place.path),
    )


@asynccontextmanager
async def opened(folder: Path, left_out: str = "") -> AsyncGenerator[Place]:
    """A place, open."""
    place = Place(folder / "talk.sqlite3").with_engine(lambda own: engine_of(own, left_out))
    async with place.engine:
        yield place


async def talk(place: Place) -> None:
    """Every conversation, each to its end."""
    say, word = place.say, canary.canary
    await say("question", "Question")
    place.see(await say("question", "help"))
    await say("question", word("question"))
    await say("variable", "Variable")
    await say("variable", word("variable"))
    place.see(await say("variable", "status"))
    assert await place.engine.run_due(time.time() * 1000 + 61_000) == 1
    await say("variable", "Other")
    await say("variable", "yes")
    await place.look("variable")
    (waits,) = await place.engine.approvals("variable")
    await place.engine.approve("variable", waits["id"], by="somebody")
    await say("form", "Form")
    await say("form", word("form"))
    await say("correction", "Correction")
    await say("correction", "something else")
    await say("correction", f"no, the pin code is {word('correction')}")
    await say("early", "Early")
    await say("early", f"my card number is {word('early')}")
    await say("late", "Late")
    await say("late", f"try {word('late')}")
    await say("late", word("late"))
    await say("late", "yes")
    await say("parameter", "Parameter", cargo={"card": word("parameter")})
    customer = {"ssn": word("cargo"), "city": "Basel"}
    await say("cargo", "Cargo", cargo={"customer": customer})
    await say("argument", "Argument", cargo={"five": word("argument")})
    await say("flow", "Flow", cargo={"given": word("flow")})
    for name in ("Answer", "Set", "Say", "Tool", "Return", "Agent"):
        await say(name.lower(), name)
    store = place.engine.store
    assert store is not None
    for output in await store.unsent():  # the words themselves, until they are on their way
        assert await store.mark_sent(output.output_id)
    gone = {"customer": None, "five": None, "given": None, "card": None}
    for name in NAMES:
        await say(name, "nothing", cargo=gone)
        value = f"it is {word(name)}" if name == "agent" else word(name)
        await say(name, f"well, {value}, I said")  # once all is over
        await place.look(name)


async def written(folder: Path, left_out: str = "") -> bytes:
    """Everything that the conversations left anywhere."""
    async with opened(folder, left_out) as place:
        await talk(place)
    return place.written()


async def test_no_canary_is_anywhere(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """With every declaration in its place, nothing of the canaries is written at all."""
    caplog.set_level(logging.DEBUG)
    data = await written(tmp_path) + overheard(caplog, capfd)
    assert found_in(data) == set()
    assert b"Bern" in data
    assert b"Basel" in data
    assert b"plain words" in data


@pytest.mark.parametrize("name", NAMES)
async def test_a_declaration_left_out_lets_its_canary_escape(name: str, tmp_path: Path) -> None:
    """Each declaration guards its canary, alone: without it the search finds that one."""
    data = await written(tmp_path, name)
    assert only_plain(data, name)
    assert found_in(data) == {name}


def test_the_search_finds_a_canary() -> None:
    """In each spelling that it may be written in."""
    for name in NAMES:
        for spelling in canary.spellings(name):
            assert found_in(b"before " + spelling.encode() + b" after") == {name}


if __name__ == "__main__":
    asyncio.run(written(Path.cwd()))
