"""Promise: an agent that rests keeps what is sensitive in its live state alone, in any process.

Of a checkpoint the history, the state of the run that rests, its question, and what is known to be
sensitive are live: the run goes on from them, and masks by them. The record in it is not, nor is
anything that is kept when the run goes on elsewhere.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from saywhy import Agent, Engine, SqliteStore
from tests.journeys.canary import canary, flow, found_in, step
from tests.journeys.rest_canaries import GUARDS, Desk, Desks, apart, made_of, tools
from tests.journeys.searched import Place

ROOT = Path(__file__).parent.parent.parent


ANSWERS = [
    {"argument": "yes", "answer": f"for {canary('answer')}", "approved": True},
    {"argument": f"for {canary('argument')}", "answer": "yes", "approved": "well"},
]
"""What persons say, at the first rest and at the second."""


def elsewhere(given: dict[str, Any]) -> dict[str, Any]:
    """What another process does with checkpoints, and what it wrote to its error stream."""
    command = [sys.executable, "-m", "tests.journeys.rest_canaries"]
    text = json.dumps(given).encode()
    done = subprocess.run(command, input=text, capture_output=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr.decode()
    return {**json.loads(done.stdout), "errors": done.stderr.decode()}


class Left(NamedTuple):
    """What three processes left."""

    kept: bytes
    """All that is not live."""
    live: list[dict[str, str]]
    """The live parts of the checkpoints, each time."""


async def written(left_out: str = "") -> Left:
    """Everything that three processes left: one begins, two go on."""
    first = Desks(left_out)
    await first.begin()
    kept, live, saved = [first.everything()], list[dict[str, str]](), first.checkpoints()
    for answers in ANSWERS:
        live.append({name: apart(one)[0] for name, one in saved.items()})
        kept += [apart(one)[1] for one in saved.values()]
        given = {"left_out": left_out, "checkpoints": saved, "answers": answers}
        told = elsewhere(given)
        assert all(made_of(name)[:9] in one for name, one in zip(saved, told["told"], strict=True))
        kept += [told["kept"], told["errors"]]
        saved = told["checkpoints"]
    live.append({name: apart(one)[0] for name, one in saved.items()})
    kept += [apart(one)[1] for one in saved.values()]
    return Left("\n".join(kept).encode(), live)


async def test_no_canary_is_anywhere_else() -> None:
    """The live parts have what they need; no other byte of three processes has any of it."""
    left = await written()
    assert found_in(left.kept, GUARDS) == set()
    for checkpoints in left.live:
        for name, live in checkpoints.items():
            assert found_in(live.encode(), GUARDS) == {name}
    assert b"The model wants hand(" in left.kept


@pytest.mark.parametrize("name", GUARDS)
async def test_a_declaration_left_out_lets_its_canary_escape(name: str) -> None:
    """Each declaration guards its canary, alone: without it the record has that one."""
    assert found_in((await written(name)).kept, GUARDS) == {name}


# ------------------------------------------------------------------ in an engine


def engine_of(left_out: str, place: Place) -> Engine:
    """An engine with a flow for each of the agents."""
    steps = {
        name: step("AGENT", agent=name, value="go", variable="said", history="none")
        for name in GUARDS
    }
    agents = {name: Agent(Desk(name), name=name, tools=tools(left_out)) for name in GUARDS}
    return Engine(
        flows=[
            flow(name.title(), one, step("SAY", value="{{said}}")) for name, one in steps.items()
        ],
        agents=agents,
        guidance={"enabled": False},
        logger=place.log,
        store=SqliteStore(place.path),
    )


def tables_with_canaries(path: Path) -> dict[str, set[str]]:
    """Table of a store's file → the canaries in its rows."""
    with closing(sqlite3.connect(path)) as file:
        names = [
            row[0] for row in file.execute("SELECT name FROM sqlite_master WHERE type='table'")
        ]
        found: dict[str, set[str]] = {}
        for name in names:
            rows = file.execute(f'SELECT * FROM "{name}"').fetchall()
            cells = [
                one if isinstance(one, bytes) else str(one).encode() for r in rows for one in r
            ]
            found[name] = found_in(b"\n".join(cells), GUARDS)
    return {name: canaries for name, canaries in found.items() if canaries}


async def in_an_engine(folder: Path, left_out: str = "") -> tuple[dict[str, set[str]], bytes]:
    """The tables with canaries while the agents rest, and everything that is left in the end."""
    place = Place(folder / "s.db").with_engine(partial(engine_of, left_out))
    async with place.engine:
        for name in GUARDS:
            await place.say(name, name.title())
            await place.look(name)
    resting = tables_with_canaries(place.path)
    place.with_engine(partial(engine_of, left_out))
    async with place.engine:
        (waits,) = await place.engine.approvals("approved")
        await place.engine.approve("approved", waits["id"], by="somebody")
        await place.say("argument", "yes")
        await place.say("answer", "yes")
        for name in GUARDS:
            said = await place.say(name, "well")
            assert made_of(name) in (said or "")
            await place.say(name, "nothing")
            await place.look(name)
        store = place.engine.store
        assert store is not None
        for output in await store.unsent():
            assert await store.mark_sent(output.output_id)
    return resting, place.written()


async def test_no_canary_is_anywhere_else_in_an_engine(tmp_path: Path) -> None:
    """While its agents rest only the session has them, and when they are done nothing has."""
    resting, data = await in_an_engine(tmp_path)
    assert resting == {"document": set(GUARDS)}
    assert found_in(data, GUARDS) == set()


@pytest.mark.parametrize("name", GUARDS)
async def test_in_an_engine_a_declaration_left_out_lets_its_canary_escape(
    name: str, tmp_path: Path
) -> None:
    """Each guards its canary, alone; it is in the record as soon as the agent rests."""
    resting, data = await in_an_engine(tmp_path, name)
    assert resting["commit"] == {name}
    assert found_in(data, GUARDS) == {name}
