"""Opening the store's file, and what its failures are called."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from saywhy.errors import CallerError, OutsideError
from saywhy.stores.sqlite import SqliteStore
from saywhy.stores.sqlite_file import NOW, connect, named


def opening(path: Path) -> OutsideError:
    with pytest.raises(OutsideError) as refusal:
        asyncio.run(SqliteStore(path).open())
    return refusal.value


def test_a_folder_that_is_missing(tmp_path: Path) -> None:
    """A path into nowhere says which file and what to look at."""
    error = opening(tmp_path / "missing" / "s.db")
    assert error.message == (
        f"the store {tmp_path / 'missing' / 's.db'} failed: it cannot be opened "
        "(unable to open database file)"
    )
    assert error.hint == "check that its folder exists and may be written to"


def test_a_file_that_is_something_else(tmp_path: Path) -> None:
    """A file that is no database is refused, and left as it was."""
    (tmp_path / "s.db").write_bytes(b"not a database " * 500)
    error = opening(tmp_path / "s.db")
    assert "it is not an SQLite database" in error.message
    assert error.hint.startswith("check the path")
    assert (tmp_path / "s.db").read_bytes() == b"not a database " * 500


def test_a_damaged_file(tmp_path: Path) -> None:
    """A damaged page is named as damage, to whoever reads it."""
    path = tmp_path / "s.db"

    async def scene() -> None:
        async with SqliteStore(path) as store:
            for number in range(50):
                await store.save(f"s{number}", "ann", b"x" * 3000, 0)
        contents = bytearray(path.read_bytes())
        begin = len(contents) // 4096 // 2 * 4096  # what says which tables there are lies before
        contents[begin:] = b"\xff" * (len(contents) - begin)
        path.write_bytes(contents)
        async with SqliteStore(path) as store:
            with pytest.raises(OutsideError, match="its contents are damaged") as refusal:
                await store.sessions()
            assert refusal.value.hint.startswith("restore the newest backup")

    asyncio.run(scene())


@pytest.mark.parametrize("read_only", [False, True])
def test_damaged_definitions(tmp_path: Path, read_only: bool) -> None:
    """What SQLite quotes of them need not be a text; it is named as damage all the same."""
    path = tmp_path / "s.db"

    async def scene() -> None:
        async with SqliteStore(path) as store:
            await store.save("s", "ann", b"doc", 0)
        contents = path.read_bytes()
        contents = contents.replace(b"CREATE INDEX", b"CREATE \xff\xfe\xfdEX")
        path.write_bytes(contents.replace(b"session_user", b"\xc8ession_user"))
        with pytest.raises(OutsideError, match="its contents are damaged") as refusal:
            await SqliteStore(path, read_only=read_only).open()
        assert refusal.value.hint.startswith("restore the newest backup")

    asyncio.run(scene())


def test_a_damaged_list_of_what_was_changed(tmp_path: Path) -> None:
    """Who only reads looks at it first, and says what is wrong with it."""
    path = tmp_path / "s.db"

    async def scene() -> None:
        async with SqliteStore(path) as store:
            await store.save("s", "ann", b"doc", 0)
        with closing(sqlite3.connect(path)) as db:
            (page,) = db.execute(
                "SELECT rootpage FROM sqlite_master WHERE name = 'migration'"
            ).fetchone()
            (size,) = db.execute("PRAGMA page_size").fetchone()
        contents = bytearray(path.read_bytes())
        contents[(page - 1) * size : page * size] = b"\xff" * size
        path.write_bytes(contents)
        with pytest.raises(OutsideError, match="its contents are damaged"):
            await SqliteStore(path, read_only=True).open()

    asyncio.run(scene())


def test_a_file_that_may_not_be_written(tmp_path: Path) -> None:
    """A refused write is named as such."""
    path = tmp_path / "s.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE t (x)")
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        with pytest.raises(sqlite3.Error) as caught:
            db.execute("INSERT INTO t VALUES (1)")
        error = named(caught.value, path)
    assert "it may not be written to" in error.message
    assert error.hint.startswith("check the permissions of the file and its folder")


def test_values_that_cannot_be_kept(tmp_path: Path) -> None:
    """A value that is no bytes is the caller's mistake, and nothing is stored."""

    async def scene() -> None:
        async with SqliteStore(tmp_path / "s.db") as store:
            with pytest.raises(CallerError, match="something it cannot keep") as refusal:
                await store.accept("s", "m", {"text": "hi"}, user_id="ann")  # type: ignore[arg-type]
            assert refusal.value.hint == "documents are bytes, below a gigabyte; ids are text"
            assert await store.session("s") is None

    asyncio.run(scene())


def test_an_id_that_holds_half_a_character(tmp_path: Path) -> None:
    """No such conversation can be kept, so asking for it is the caller's mistake as well."""

    async def scene() -> None:
        async with SqliteStore(tmp_path / "s.db") as store:
            for asked in (store.session, store.commits, store.messages, store.turns):
                with pytest.raises(CallerError, match="something it cannot keep"):
                    await asked("\ud800")
            with pytest.raises(CallerError, match="something it cannot keep"):
                await store.accept("\ud800", "m", b"{}", user_id="ann")

    asyncio.run(scene())


def test_an_error_without_a_name_of_its_own(tmp_path: Path) -> None:
    """Any other failure still names the file and repeats what SQLite said."""
    error = named(sqlite3.OperationalError("no such table: x"), tmp_path / "s.db")
    assert error.message == f"the store {tmp_path / 's.db'} failed: no such table: x"


def test_the_settings_that_durability_rests_on(tmp_path: Path) -> None:
    """The log is written ahead and synced at each commit; what is deleted is overwritten."""
    with closing(connect(tmp_path / "s.db", "FULL", 1)) as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert db.execute("PRAGMA synchronous").fetchone() == (2,)
        assert db.execute("PRAGMA secure_delete").fetchone() == (1,)
    with closing(connect(tmp_path / "s.db", "NORMAL", 1)) as db:
        assert db.execute("PRAGMA synchronous").fetchone() == (1,)


def test_the_clock_of_the_database(tmp_path: Path) -> None:
    """The database tells milliseconds since 1970, exactly."""
    with closing(connect(tmp_path / "s.db", "FULL", 1)) as db:
        moment, now = db.execute(
            f"SELECT strftime('%s', 'now') * 1000 + substr(strftime('%f', 'now'), 4), {NOW}"
        ).fetchone()
    assert now == moment
