"""A store whose record was touched is told from one that was not, by its chains and anchors."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

import pytest

from saywhy.runtime.audit.check import verify_store
from saywhy.runtime.audit.report import Report
from saywhy.stores.memory import MemoryStore
from saywhy.stores.sqlite import SqliteStore
from saywhy.stores.store import Store
from tests.runtime.audit.desk import engine_on, talk

ROWS = '(SELECT min(id) FROM "commit")'
SECOND = "(SELECT turn_key FROM turn ORDER BY turn_key LIMIT 1 OFFSET 1)"


def forged(seq: int, turn: int, session: str = "s1") -> str:
    """A statement that puts a message into a conversation."""
    doc = f'{{"seq":{seq},"role":"assistant","text":"forged","turn":{turn}}}'
    return (
        f"INSERT INTO message (id, turn_no, doc) SELECT (session_key << 32) + {seq}, {turn}, "
        f"CAST('{doc}' AS BLOB) FROM session WHERE id = '{session}'"
    )


TOUCHED: dict[str, tuple[list[str], str]] = {
    "a commit changed": (
        [
            f"""UPDATE "commit" SET doc = CAST(replace(doc, 'help', 'hulp') AS BLOB)
            WHERE id = {ROWS}"""
        ],
        'conversation "s1", turn 1: a message or a commit was changed',
    ),
    "a commit removed": (
        [f'DELETE FROM "commit" WHERE id = {ROWS}'],
        'conversation "s1", turn 1 has 2 messages and 0 rows of commits, recorded were 2 and 1',
    ),
    "a commit inserted": (
        [
            f"""INSERT INTO "commit" (id, doc)
            SELECT id + 1000, doc FROM "commit" WHERE id = {ROWS}"""
        ],
        'conversation "s1", turn 1 has 2 messages and 2 rows of commits, recorded were 2 and 1',
    ),
    "commits exchanged": (
        [
            f"""UPDATE "commit" SET doc = (SELECT doc FROM "commit"
            WHERE id = ({SECOND} << 32) + 4) WHERE id = {ROWS}"""
        ],
        'conversation "s1", turn 1: a message or a commit was changed',
    ),
    "a message changed": (
        ["UPDATE message SET doc = CAST(replace(doc, 'Which', 'Whose') AS BLOB) WHERE seq = 2"],
        'conversation "s1", turn 1: a message or a commit was changed',
    ),
    "a message added in a turn that never was": (
        [forged(10, 6)],
        'conversation "s1": message 10 is of turn 6, which is missing',
    ),
    "a message added behind, in a turn that had ended": (
        [forged(10, 2)],
        'conversation "s1": message 10 is of turn 2, which had ended without it',
    ),
    "a message added in front": (
        [forged(0, 0)],
        'conversation "s1": message 0 is of turn 0, which had ended without it',
    ),
    "a message of no conversation's turn": (
        [
            "INSERT INTO session (id, user_id, version, fence, done_no, ended_no)"
            " VALUES ('eve', 'eve', 1, 1, 0, 0)",
            forged(1, 1, "eve"),
        ],
        'conversation "eve": message 1 is of turn 1, which is missing',
    ),
    "the last turn removed, with what anchors know of it": (
        ["DELETE FROM turn WHERE turn_no = 5", "DELETE FROM audit_anchor"],
        'conversation "s1": message 9 is of turn 5, which is missing',
    ),
    "a flow changed": (
        ["UPDATE chart SET doc = CAST(replace(doc, 'Which order', 'Which other') AS BLOB)"],
        "was changed",
    ),
    "flows exchanged": (
        ["UPDATE chart SET doc = (SELECT doc FROM chart ORDER BY digest LIMIT 1)"],
        "was changed",
    ),
    "another ending": (
        ["UPDATE turn SET status = 'unknown' WHERE turn_no = 2"],
        'conversation "s1", turn 2 does not follow the one before',
    ),
    "a turn removed": (
        ["DELETE FROM turn WHERE turn_no = 3"],
        'conversation "s1": turn 3 is missing in the chain',
    ),
    "the last turn removed": (
        ["DELETE FROM turn WHERE turn_no = 5"],
        "which is missing",
    ),
    "the last link removed": (
        ["UPDATE turn SET link = NULL WHERE turn_no = 5"],
        'conversation "s1", turn 5 ended, and the chain lacks it',
    ),
    "a chain removed": (
        ["DELETE FROM audit_chain"],
        'conversation "s1" has turns, and no chain',
    ),
    "a link changed": (
        ["UPDATE turn SET content = zeroblob(32) WHERE turn_no = 2"],
        'conversation "s1", turn 2 does not follow the one before',
    ),
    "another owner": (
        ["UPDATE session SET user_id = 'eve'"],
        "conversation \"s1\": the chain is another conversation's or person's",
    ),
    "a salt taken away": (
        ["UPDATE turn SET link_salt = NULL WHERE turn_no = 2"],
        'conversation "s1", turn 2 lacks its salt',
    ),
    "an erased turn with content": (
        ["UPDATE turn SET link_salt = NULL, erased = 'pruned' WHERE turn_no = 2"],
        'conversation "s1", turn 2 is erased, and has content',
    ),
    "an anchor changed": (
        ["UPDATE audit_anchor SET at = 1"],
        "anchor 1 was changed",
    ),
    "an anchor removed": (
        ["UPDATE audit_anchor SET number = 2"],
        "anchor 1 is missing",
    ),
}


async def _fill(store: Store) -> None:
    async with engine_on(store) as engine:
        await talk(engine)
        await store.anchor()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of a store with a conversation and an anchor."""
    path = tmp_path_factory.mktemp("audit") / "s.db"
    asyncio.run(_fill(SqliteStore(path)))
    return path.read_bytes()


async def _verify(path: Path, *known: str) -> Report:
    async with SqliteStore(path, read_only=True) as store:
        return await verify_store(store, known)


def test_an_untouched_store_holds(filled: bytes, tmp_path: Path) -> None:
    """Every turn is verified, and so is the anchor."""
    path = tmp_path / "s.db"
    path.write_bytes(filled)
    report = asyncio.run(_verify(path))
    assert report.ok, report.wrong
    assert (report.chains, report.turns, report.messages, report.anchors) == (1, 5, 9, 1)


@pytest.mark.parametrize("name", TOUCHED)
def test_what_was_touched_is_found(filled: bytes, tmp_path: Path, name: str) -> None:
    """Whoever changes, removes, inserts or exchanges something in the file is found out."""
    path = tmp_path / "s.db"
    path.write_bytes(filled)
    statements, text = TOUCHED[name]
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for statement in statements:
            assert db.execute(statement).rowcount > 0
    report = asyncio.run(_verify(path))
    assert text in report.wrong
    assert report.text().startswith("NOT VERIFIED: ")


def test_a_file_that_was_put_back_is_found_by_an_anchor(filled: bytes, tmp_path: Path) -> None:
    """A backup holds in itself; it lacks the anchor that was given away after it."""
    path = tmp_path / "s.db"
    path.write_bytes(filled)

    async def goes_on() -> str:
        async with engine_on(SqliteStore(path)) as engine:
            await engine.take_turn("s1", "help", message_id="again", user_id="ann")
            return (await engine.audit.anchor()).digest.hex()

    given_away = asyncio.run(goes_on())
    assert asyncio.run(_verify(path, given_away)).ok
    path.write_bytes(filled)
    assert asyncio.run(_verify(path)).ok
    assert asyncio.run(_verify(path, given_away)).wrong == (
        f"the digest {given_away} is not in this store: it was put back or made anew"
    )


STORES: list[Callable[[Path], Store]] = [lambda path: MemoryStore(), SqliteStore]


@pytest.mark.parametrize("make", STORES, ids=["memory", "sqlite"])
def test_erasing_leaves_a_chain_that_holds(make: Callable[[Path], Store], tmp_path: Path) -> None:
    """After pruning and forgetting everything still holds, and the erased turns are counted."""

    async def scene() -> list[Report]:
        reports: list[Report] = []
        store = make(tmp_path / "s.db")
        async with engine_on(store) as engine:
            await talk(engine)
            await talk(engine, "s2", "bob", ("help", "9"))
            await store.anchor()
            steps: list[Callable[[], Awaitable[object]]] = [
                lambda: store.prune(0, limit=2),
                lambda: store.forget("ann"),
                lambda: talk(engine, "s2", "bob", ("help", "9", "1111")),
            ]
            for step in steps:
                await step()
                reports.append(await engine.audit.verify())
        return reports

    reports = asyncio.run(scene())
    assert [report.wrong for report in reports] == ["", "", ""]
    assert [(report.turns, report.erased) for report in reports] == [(7, 2), (7, 5), (8, 5)]


def test_a_store_of_before_begins_its_chains(tmp_path: Path) -> None:
    """What was recorded before there were chains is no fault; the first link says where."""
    path = tmp_path / "s.db"
    asyncio.run(_fill(SqliteStore(path)))
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for table in ("audit_link", "audit_chain", "audit_anchor"):
            db.execute(f"DROP TABLE {table}")
        for column in ("message_rows", "commit_rows", "link_salt", "content", "link", "erased"):
            db.execute(f"ALTER TABLE turn DROP COLUMN {column}")
        db.execute("DELETE FROM migration WHERE name = 'm005_audit_chains'")

    async def scene() -> Report:
        async with engine_on(SqliteStore(path)) as engine:
            await engine.take_turn("s1", "help", message_id="again", user_id="ann")
            assert engine.store is not None
            (chain,) = await engine.store.chains(session_id="s1")
            assert (chain.first, chain.turns) == (6, 6)
            return await engine.audit.verify()

    report = asyncio.run(scene())
    assert (report.wrong, report.turns) == ("", 1)
