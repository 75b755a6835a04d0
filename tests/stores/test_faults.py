"""What the SQLite store keeps when processes are killed or frozen, and disks fill up.

Children run turns (`crash_worker`) and write each effect they have into a ledger of their own,
which is then compared with what the store says. Everything random is seeded.
"""

from __future__ import annotations

import asyncio
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from saywhy.errors import OutsideError
from saywhy.stores.sqlite import SqliteStore
from saywhy.testing.store_parts import begin, call, finish, take_over
from saywhy.values import loads_raw

PROGRAM = Path(__file__).with_name("crash_worker.py")

pytestmark = pytest.mark.slow


class Place:
    """A store's file, the ledger beside it, and the children that work on them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.ledger = path.with_suffix(".ledger")
        self.ledger.touch()
        self.children: list[subprocess.Popen[str]] = []
        self._server: subprocess.Popen[str] | None = None

    def start(self, *options: object) -> subprocess.Popen[str]:
        """A process of its own, to be frozen and watched."""
        return self._program(str(self.path), str(self.ledger), *map(str, options))

    def run(self, *options: object) -> int:
        """The exit code of a child that runs to its end, or dies by its own hand."""
        if self._server is None:
            self._server = self._program("--serve")
        assert self._server.stdin is not None
        print(self.path, self.ledger, *options, file=self._server.stdin, flush=True)
        return int(said(self._server))

    def at(self, path: Path) -> Place:
        """The place of a copy; its children are ended with ours."""
        other = Place(path)
        other.children = self.children
        return other

    def _program(self, *arguments: str) -> subprocess.Popen[str]:
        child = subprocess.Popen(
            [sys.executable, str(PROGRAM), *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.children.append(child)
        return child

    def notes(self) -> list[list[str]]:
        return [line.split() for line in self.ledger.read_text().splitlines()]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place(tmp_path / "s.db")
    yield place
    for child in place.children:
        child.kill()
        child.communicate()


def ended(child: subprocess.Popen[str]) -> int:
    """Its exit code; its pipes are closed."""
    child.communicate(timeout=60)
    return child.returncode


def said(child: subprocess.Popen[str]) -> str:
    """The next line it prints."""
    assert child.stdout is not None
    return child.stdout.readline().strip()


async def open_and_close(path: Path) -> None:
    async with SqliteStore(path):
        pass


def rows(path: Path, statement: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as db:
        return db.execute(statement).fetchall()


def check_conversations(path: Path) -> None:
    """What must hold of a store's file at every moment."""
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]
    turns = rows(
        path,
        """SELECT id, turn_no, status, reply, version, document.doc
        FROM turn JOIN session USING (session_key) LEFT JOIN document USING (session_key)
        ORDER BY id, turn_no""",
    )
    done = Counter(turn[0] for turn in turns if turn[2] == "done")
    for name, _, _, _, version, doc in turns:
        assert version == done[name], f"{name} is at version {version}"
        assert (loads_raw(doc)["turns"] if doc else 0) == version
    numbers: dict[str, list[int]] = {}
    for name, turn_no, *_ in turns:
        numbers.setdefault(name, []).append(turn_no)
    assert all(found == list(range(1, len(found) + 1)) for found in numbers.values())
    messages = rows(
        path, "SELECT session.id, seq, turn_no, doc FROM message JOIN session USING (session_key)"
    )
    replies = {(name, number): reply for name, number, status, reply, *_ in turns if reply}
    assert len(messages) == 2 * done.total()
    for name, seq, turn_no, doc in messages:
        assert seq // 2 == turn_no
        assert seq % 2 == 0 or doc == replies[name, turn_no]


def check_ledger(place: Place, *, overlapping: bool = False) -> None:
    """What must hold of the effects, once everything ended."""
    open_turns = rows(place.path, "SELECT 1 FROM turn WHERE status IN ('queued', 'running')")
    assert open_turns == []
    stored = {
        (name, str(number))
        for name, number in rows(
            place.path, "SELECT id, turn_no FROM turn JOIN session USING (session_key)"
        )
    }
    calls: Counter[str] = Counter()
    recorded: set[str] = set()
    for kind, *words in place.notes():
        if kind == "accepted":
            assert (words[0], words[2]) in stored, f"{words} was acknowledged and is lost"
        elif kind == "recorded":
            recorded.add(words[0])
        elif kind == "call":
            key, effect = words
            assert overlapping or key not in recorded, f"{key} was called after its result"
            calls[key] += 1
            assert effect != "once" or calls[key] == 1, f"{key} was called again"
    answered = """
        SELECT id || ':' || turn_no || ':' || seq FROM step JOIN turn USING (turn_key)
        JOIN session USING (session_key) WHERE step.status = 'answered'"""
    for (key,) in rows(place.path, answered):
        assert calls[key] >= 1, f"{key} has a result, but was never called"
    silent = """
        SELECT turn_key FROM step JOIN turn USING (turn_key)
        WHERE step.effect = 'once' AND step.status = 'unknown' AND turn.status <> 'unknown'"""
    assert rows(place.path, silent) == [], "an outcome that nobody knows was passed over"


def test_killed_at_each_border_of_a_commit(place: Place) -> None:
    """Killed just before and just after each commit of a turn, every accepted message is processed
    to an end; no call is made after its result is on record, and none marked `once` twice."""
    killed = 0
    for border in range(1, 31):
        first = max(border - 2, 0)
        code = place.run("--deliver", f"s:{first}:{border - first}", "--kill-at", border)
        assert code in (0, -signal.SIGKILL)
        killed += code != 0
        asyncio.run(open_and_close(place.path))  # it may have died before there were tables
        check_conversations(place.path)
    assert killed > 20
    assert place.run("--deliver", "s:28:2") == 0
    check_conversations(place.path)
    check_ledger(place)
    assert rows(place.path, "SELECT count(*) FROM turn") == [(30,)]
    assert rows(place.path, "SELECT count(*) > 0 FROM turn WHERE status = 'unknown'") == [(1,)]


@pytest.mark.parametrize("seed", [1, 2])
def test_killed_at_random(place: Place, seed: int) -> None:
    """Killed again and again in the midst of four conversations, progress is made and all holds."""
    chance = random.Random(seed)
    progress: list[int] = []
    for number in range(10):
        deliver = [arg for c in range(4) for arg in ("--deliver", f"s{c}:{2 * number}:2")]
        seconds = round(chance.uniform(0.02, 0.25), 3)
        code = place.run(*deliver, "--kill-after", seconds)
        assert code in (0, -signal.SIGALRM)
        asyncio.run(open_and_close(place.path))
        check_conversations(place.path)
        progress.append(sum(note[0] == "ended" for note in place.notes()))
    assert progress[-1] > progress[0]
    deliver = [arg for c in range(4) for arg in ("--deliver", f"s{c}:0:20")]
    assert place.run(*deliver) == 0
    check_conversations(place.path)
    check_ledger(place)
    assert rows(place.path, "SELECT count(*) FROM turn") == [(80,)]


def test_two_processes_race(place: Place) -> None:
    """Of two processes that sometimes freeze for longer than their lease, one saves each turn."""
    deliver = [arg for c in range(3) for arg in ("--deliver", f"s{c}:0:8")]
    children = [
        place.start(*deliver, "--any", "--freeze", "--worker", worker, "--seed", seed)
        for seed, worker in enumerate(("one", "two"))
    ]
    assert [ended(child) for child in children] == [0, 0]
    check_conversations(place.path)
    check_ledger(place, overlapping=True)
    workers = {note[-1] for note in rows(place.path, "SELECT reply FROM turn WHERE reply NOT NULL")}
    assert {b"one" in b"".join(workers), b"two" in b"".join(workers)} == {True}
    assert ["fenced"] in [note[:1] for note in place.notes()]  # there was something to be seen
    ends = [tuple(words) for kind, *words in place.notes() if kind == "ended"]
    assert sorted(ends) == sorted({(f"s{c}", str(n)) for c in range(3) for n in range(1, 9)})


@pytest.mark.parametrize(
    ("point", "journal", "late"),
    [
        ("claimed", [], []),
        ("before1", [(1, 1, "asked")], [(1, 1, "answered")]),
        ("call3", [(1, 1, "answered"), (2, 1, "answered"), (3, 1, "asked")], [(3, 1, "answered")]),
        ("result2", [(1, 1, "answered"), (2, 1, "answered")], []),
        ("result3", [(n, 1, "answered") for n in (1, 2, 3)], []),
    ],
)
def test_frozen_beyond_its_lease(
    place: Place, point: str, journal: list[tuple[int, int, str]], late: list[tuple[int, int, str]]
) -> None:
    """A process frozen for longer than its lease can save nothing when it comes back; the result
    of the call it was in is kept."""
    child = place.start("--deliver", "s:0:1", "--stop-at", point)
    assert said(child) == f"at {point}"
    child.send_signal(signal.SIGSTOP)

    async def take() -> None:
        async with SqliteStore(place.path) as store:
            claim = await take_over(store)
            assert [(e.seq, e.attempt, e.status) for e in claim.journal] == journal
            await store.fail(claim, "unknown", "its worker is gone", doc=b'{"turns":1}')

    asyncio.run(take())
    child.send_signal(signal.SIGCONT)
    assert ended(child) == 0
    assert ["fenced", "s", "1"] in place.notes()

    async def look() -> None:
        async with SqliteStore(place.path) as store:
            session = await store.session("s")
            assert session is not None
            assert (session.version, session.doc) == (1, b'{"turns":1}')
            (turn,) = await store.turns("s")
            assert (turn.status, turn.reply, turn.error) == ("unknown", None, "its worker is gone")
            kept = [(e.seq, e.attempt, e.status) for e in await store.journal("s", 1)]
            assert kept == [entry for entry in journal if entry[2] == "answered"] + late
            assert await store.messages("s") == ()

    asyncio.run(look())


def copy_to(folder: Path, place: Place, chance: random.Random) -> list[Path]:
    """Copies of file and log as a power cut might leave them: all of the log, and part of it.

    What was not synced may be missing from the log's end. Only a log of which nothing was moved
    into the file yet is cut: what is moved was synced before.
    """
    folder.mkdir()
    found: list[Path] = []
    log = Path(f"{place.path}-wal").read_bytes()
    untouched = place.path.stat().st_size == 4096
    for name, end in (("whole", len(log)), ("cut", chance.randrange(len(log) + 1))):
        if name == "whole" or untouched:
            found.append(folder / f"{name}.db")
            shutil.copyfile(place.path, found[-1])
            Path(f"{found[-1]}-wal").write_bytes(log[:end])
    return found


def test_copies_of_file_and_log(place: Place, tmp_path: Path) -> None:
    """A copy of file and log taken at any moment opens, is sound, has all that was acknowledged,
    and its turns go on; one whose log lost its end is sound at an earlier moment."""
    chance = random.Random(7)
    child = place.start(*(arg for c in range(3) for arg in ("--deliver", f"s{c}:0:300")))
    cuts = 0
    for number in range(6):
        while len(place.notes()) < 20 * (number + 1):
            time.sleep(chance.uniform(0.01, 0.03))
        child.send_signal(signal.SIGSTOP)
        copies = copy_to(tmp_path / f"{number}", place, chance)
        acknowledged = place.notes()
        child.send_signal(signal.SIGCONT)
        cuts += len(copies) - 1
        for copy in copies:
            asyncio.run(open_and_close(copy))
            check_conversations(copy)
        check_acknowledged(copies[0], acknowledged)
    assert cuts >= 3
    going_on = place.at(tmp_path / "5" / "whole.db")
    assert going_on.run("--any", "--deliver", "s0:0:1") == 0
    check_conversations(going_on.path)
    open_turns = "SELECT count(*) FROM turn WHERE status IN ('queued', 'running')"
    assert rows(going_on.path, open_turns) == [(0,)]


def check_acknowledged(path: Path, notes: list[list[str]]) -> None:
    turns = "SELECT id, turn_no, status FROM turn JOIN session USING (session_key)"
    status = {(name, str(turn_no)): status for name, turn_no, status in rows(path, turns)}
    for kind, *words in notes:
        if kind == "accepted":
            assert (words[0], words[2]) in status
        elif kind == "ended":
            assert status[words[0], words[1]] == "done"


def test_full_disk_in_each_write(tmp_path: Path) -> None:
    """Each kind of write that does not fit is refused whole and says so; the same process makes it
    again when there is room."""
    long = b"x" * 300_000

    async def limit(store: SqliteStore, pages: int) -> None:
        # Only the writer's own connection can be told; the database has no other hook for it.
        await store._writer.do(lambda db: db.execute(f"PRAGMA max_page_count = {pages}"))

    async def scene() -> None:
        async with SqliteStore(tmp_path / "s.db") as store:
            claim = await begin(store)
            await store.intent(claim, 1, call(1), b"cursor", ())
            failing = await begin(store, "f")
            writes = (
                lambda: store.save("new", "ann", long, 0),
                lambda: store.put_charts({"d": long}),
                lambda: store.accept("a", "m1", long, user_id="ann"),
                lambda: begin(store, "b", "m" + long.decode()),
                lambda: store.result(claim, 1, long),
                lambda: store.intent(claim, 2, call(2), long, [(1, long)]),
                lambda: store.fail(failing, "error", "it raised", doc=long),
                lambda: finish(store, claim, long),
            )
            for number, write in enumerate(writes):
                before = rows(tmp_path / "s.db", CONTENTS)
                await limit(store, 1)  # as small as it is
                with pytest.raises(OutsideError, match="there is no room left for it") as refusal:
                    await write()
                assert refusal.value.hint.startswith("free disk space"), number
                assert rows(tmp_path / "s.db", CONTENTS) == before, number
                await limit(store, 1_000_000)
                await write()
                assert rows(tmp_path / "s.db", CONTENTS) != before, number
            session = await store.session("s")
            assert session is not None
            assert session.version == 1

    asyncio.run(scene())


CONTENTS = """
SELECT (SELECT count(*) FROM session), (SELECT sum(fence + version) FROM session),
       (SELECT count(*) FROM turn), (SELECT group_concat(status) FROM turn),
       (SELECT group_concat(status) FROM step), (SELECT count(*) FROM chart),
       (SELECT count(*) FROM "commit"), (SELECT sum(length(doc)) FROM document),
       (SELECT sum(length(doc)) FROM cursor)"""
