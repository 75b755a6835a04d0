"""`saywhy held`: what stands still is listed, let go on, or given up."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from saywhy.errors import TurnHeld
from saywhy.runtime.engine import Engine
from saywhy.stores.sqlite import SqliteStore
from tests.flows.conftest import local_tool
from tests.runtime.interrupted import Till, engine_on
from tests.runtime.test_journal import Crash, Dying

from .conftest import Run

REASON = 'the tool "pay", whose call was cut off, is not loaded'
NO_TOOLS: dict[str, Any] = {"tools": [], "functions": {}}


async def _held(path: Path, **options: Any) -> str:
    """A store in which a turn is held; gives the key of its call."""
    dying: Any = Dying(SqliteStore(path))  # pyright: ignore[reportArgumentType]
    till = Till(dying)
    engine: Engine = engine_on(dying, till, lease_seconds=0.05)
    await dying.store.open()
    await engine.take_turn("c1", "Main", message_id="m1", user_id="ann")
    with pytest.raises(Crash):
        await engine.take_turn("c1", "5", message_id="m2", user_id="ann")
    await dying.store.close()
    await asyncio.sleep(0.06)
    async with engine_on(SqliteStore(path), Till(), **options) as other:
        with pytest.raises(TurnHeld):
            await other.take_turn("c1", "7", message_id="m3", user_id="ann")
    return till.keys[0]


@pytest.fixture
def key(folder: Path) -> str:
    """A store `saywhy.db` whose conversation c1 has a held turn; the key of its call."""
    return asyncio.run(_held(folder / "saywhy.db", **NO_TOOLS))


def recovered(**options: Any) -> int:
    async def recover() -> int:
        async with engine_on(SqliteStore("saywhy.db"), Till(), **options) as engine:
            return await engine.recover()

    return asyncio.run(recover())


def test_list(run: Run, key: str) -> None:
    """Whose turn, since when, why, and which call nobody knows the end of."""
    lines = run("held", "list").lines
    assert lines[0].startswith("c1 of ann: turn 2, held since 20")
    assert lines[1:] == [
        f"    {REASON}",
        f"    what became of the call of pay (repeatable, key {key}) is not known",
    ]
    assert run("held", "list", "--session", "c2").out == "no turn is held\n"
    (turn,) = json.loads(run("held", "list", "--json").out)
    assert (turn["sessionId"], turn["turnNo"], turn["reasons"]) == ("c1", 2, [REASON])
    assert turn["call"] == {"tool": "pay", "effect": "repeatable", "key": key, "isAnswered": False}


def test_abandon(run: Run, key: str) -> None:
    """The turn ends, its call is named, and the message behind it is processed."""
    done = run("held", "abandon", "c1", "--by", "bob", "--why", "paid by hand")
    assert done.lines == [
        "turn 2 of c1 was given up",
        f"nobody knows whether the call of pay (repeatable, key {key}) took effect",
    ]
    assert run("held", "list").out == "no turn is held\n"
    assert recovered() == 1
    again = run("held", "abandon", "c1")
    assert (again.code, again.err) == (
        2,
        'saywhy: no turn of conversation "c1" is held\n    saywhy held list names them all\n',
    )


def test_release_of_what_is_missing(run: Run, key: str) -> None:
    """A word does not bring the tool back: the turn is held again, and goes on when it is there."""
    assert run("held", "release", "c1", "--by", "bob").out == "turn 2 of c1 may go on\n"
    assert recovered(**NO_TOOLS) == 1
    assert REASON in run("held", "list").out
    assert recovered() == 2
    assert run("held", "list").out == "no turn is held\n"
    assert key


def test_release_of_what_differs(run: Run, folder: Path) -> None:
    """The next program that takes it up runs it."""
    once = {"tools": [local_tool("pay")]}
    asyncio.run(_held(folder / "saywhy.db", **once))
    assert 'was "repeatable" when its call was cut off, and is "once"' in run("held", "list").out
    assert recovered(**once) == 0
    run("held", "release", "c1", "--by", "bob")
    assert recovered(**once) == 2
    assert run("held", "list").out == "no turn is held\n"


def test_no_store(run: Run, folder: Path) -> None:
    """None is made by asking."""
    for words in (["list"], ["release", "c1"], ["abandon", "c1"]):
        done = run("held", *words, "--store", "x.db")
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("saywhy: there is no store x.db\n")
    assert list(folder.iterdir()) == []
