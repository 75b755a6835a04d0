"""A conversation killed in a call that comes back to another program, and then to its own.

Real processes, a real file, SIGKILL: first with flows or tools that are not the same, then with
the program it began with; with a journal and without one; plain and compressed.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from saywhy.runtime.engine import Engine
from saywhy.stores.encoding import decode, encoding_of
from saywhy.stores.sqlite import SqliteStore
from saywhy.values import dumps, loads_raw

CASES = Path(__file__).parent.parent / "cases" / "journeys"
HOST = Path(__file__).with_name("kept_host.py")
WORDS = ("Trip", "Bern", "Rome", "two", "2", "yes", "3", "Ann", "help", "yes")
LAST = len(WORDS)
FINAL = "Booked for Ann: 335, ticket T-1."


class Journey:
    """A conversation in one folder; every few messages go to a process of their own."""

    def __init__(self, folder: Path, **options: Any) -> None:
        self.folder = folder
        self.store = folder / "journey.db"
        self.till = folder / "till.jsonl"
        self.options = options
        self.files = self.copy("files")

    def copy(self, name: str, **changes: tuple[str, str]) -> Path:
        """The files of the flows, with a text in one of them replaced by another."""
        files = self.folder / name
        shutil.copytree(CASES, files)
        for stem, (old, new) in changes.items():
            path = files / f"{stem}.yaml"
            text = path.read_text(encoding="utf-8")
            assert text.count(old) == 1
            path.write_text(text.replace(old, new), encoding="utf-8")
        return files

    def process(
        self, numbers: Iterable[int], files: Path, **environment: str
    ) -> subprocess.Popen[str]:
        known = {"FILES": files, "STORE": self.store, "TILL": self.till}
        return subprocess.Popen(
            [sys.executable, str(HOST), *(f"m-{each}:{WORDS[each - 1]}" for each in numbers)],
            env={
                **os.environ,
                **{name: str(path) for name, path in known.items()},
                "OPTIONS": json.dumps(self.options),
                **environment,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def say(self, *numbers: int, files: Path | None = None) -> list[str]:
        """The replies to some messages; the last may be a line of what the process died of."""
        with self.process(numbers, files or self.files) as process:
            told, error = process.communicate(timeout=60)
        replies = [json.loads(line) for line in told.splitlines()]
        if process.returncode:
            lines = reversed(error.splitlines())
            replies.append(next(line for line in lines if line.startswith("saywhy.errors")))
        return replies

    def killed_in(self, tool: str, number: int) -> None:
        """Play up to a message, and kill the process in the midst of a tool's work."""
        with self.process(range(1, number + 1), self.files, HOLD=tool) as process:
            deadline = time.monotonic() + 30
            while not self.till.with_name("held").exists():
                assert time.monotonic() < deadline, f"{tool} was not called"
                time.sleep(0.01)
            process.kill()
        time.sleep(1.1)  # its lease

    def charges(self) -> list[dict[str, Any]]:
        text = self.till.read_text(encoding="utf-8") if self.till.exists() else ""
        return [json.loads(line) for line in text.splitlines()]

    def cli(self, *words: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-m", "saywhy", *words, "--store", str(self.store)],
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    def document(self, table: str) -> bytes:
        with closing(sqlite3.connect(self.store)) as db:
            return db.execute(f"SELECT doc FROM {table}").fetchone()[0]


@pytest.fixture
def journey(tmp_path: Path) -> Journey:
    return Journey(tmp_path)


REPLIES: list[str] = []
"""What the conversation says when nothing happens to it."""


@pytest.fixture(scope="module", autouse=True)
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> None:
    REPLIES[:] = Journey(tmp_path_factory.mktemp("undisturbed")).say(*range(1, LAST + 1))
    assert REPLIES[-1] == FINAL


def test_an_upgrade_of_the_flows_holds_nothing(journey: Journey) -> None:
    """Other words, another version: the turn ends with the flow that it began with."""
    journey.killed_in("price", 3)
    newer = journey.copy("newer", **{"trip.flows": ("Booked for", "Yours,")})
    assert journey.say(*range(3, LAST + 1), files=newer) == REPLIES[2:]
    assert len(journey.charges()) == 1


def test_a_tool_that_is_gone_and_comes_back(journey: Journey) -> None:
    """Held by the program without it, with nothing done; ended by the program that has it."""
    journey.killed_in("price", 3)
    cursor = journey.document("cursor")
    without = journey.copy("without", **{"trip.tools": ("- id: price", "- id: prices")})
    for number in (4, 3):
        (told,) = journey.say(number, files=without)
        assert 'is held: the tool "price", whose call was cut off, is not loaded' in told
    code, listed = journey.cli("held", "list")
    assert code == 0
    assert listed.startswith("journey of ann: turn 3, held since ")
    assert journey.document("cursor") == cursor
    assert journey.charges() == []
    assert journey.say(*range(3, LAST + 1)) == REPLIES[2:]
    assert journey.cli("held", "list")[1] == "no turn is held\n"
    assert len(journey.charges()) == 1


def test_a_cursor_of_before(journey: Journey) -> None:
    """It names no runtime: held, until somebody says that it may go on."""
    journey.killed_in("price", 3)
    tree = loads_raw(journey.document("cursor"))
    del tree["identity"]
    with closing(sqlite3.connect(journey.store, isolation_level=None)) as db:
        db.execute("UPDATE cursor SET doc = ?", (dumps(tree),))
    assert "it does not say which runtime began it" in journey.say(3)[0]
    released = journey.cli("held", "release", "journey", "--by", "bob")
    assert released == (0, "turn 3 of journey may go on\n")
    assert journey.say(3) == [REPLIES[2]]


def test_given_up_after_a_charge(journey: Journey) -> None:
    """The call stays on record as unknown, is named to whoever gave up, and is never repeated."""
    journey.killed_in("charge", LAST)
    without = journey.copy("without", **{"trip.tools": ("- id: charge", "- id: debit")})
    assert "is held" in journey.say(LAST, files=without)[0]
    code, told = journey.cli("held", "abandon", "journey", "--by", "bob")
    (charge,) = journey.charges()
    assert code == 0
    assert f"nobody knows whether the call of charge (once, key {charge['key']}) took" in told
    assert "given up by bob" in journey.say(LAST)[0]
    assert len(journey.charges()) == 1


@pytest.mark.parametrize("encoding", ["plain", "br-v1"])
def test_converted_while_it_was_down(tmp_path: Path, encoding: str) -> None:
    """Killed in a call, written in the other encoding, and ended as if nothing had happened."""
    journey = Journey(tmp_path, session_encoding=encoding)
    journey.killed_in("price", 3)
    before = [journey.document(table) for table in ("document", "cursor")]
    other = "plain" if encoding == "br-v1" else "br-v1"
    code, told = journey.cli("store", "convert", "--to", other)
    assert (code, "2 documents written" in told) == (0, True)
    after = [journey.document(table) for table in ("document", "cursor")]
    assert [encoding_of(one) for one in (*before, *after)] == [encoding] * 2 + [other] * 2
    assert [decode(one) for one in after] == [decode(one) for one in before]
    assert journey.say(*range(3, LAST + 1)) == REPLIES[2:]
    assert len(journey.charges()) == 1
    assert encoding_of(journey.document("document")) == encoding
    asyncio.run(_reads(journey.store))


async def _reads(path: Path) -> None:
    """Why can be asked without writing, whatever the encoding."""
    async with Engine(validate_on_init=False, store=SqliteStore(path, read_only=True)) as engine:
        session = await engine.session("journey")
        assert session is not None
        assert session.response == FINAL
        assert FINAL in (await engine.trace("journey")).narrative()


def test_without_a_journal(tmp_path: Path) -> None:
    """Killed after a charge that nobody noted: it is charged again, under the same key."""
    journey = Journey(tmp_path, action_persistence="session-only")
    journey.killed_in("charge", LAST)
    assert journey.say(LAST, LAST) == ["Booked for Ann: 335, ticket T-2."] * 2
    first, second = journey.charges()
    assert first == second


def test_in_another_mode(journey: Journey) -> None:
    """Refused before it is accepted, and answered when it comes to a program like the first."""
    assert journey.say(1, 2, 3) == REPLIES[:3]
    journey.options = {"action_persistence": "session-only"}
    (told,) = journey.say(4)
    assert 'PersistenceMismatch: conversation "journey" began with action_persistence' in told
    journey.options = {}
    assert journey.say(4) == [REPLIES[3]]
