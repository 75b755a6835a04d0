"""Reading a store's file that may not be written to: a copy, a backup, somebody else's folder."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from saywhy.errors import CallerError, OutsideError
from saywhy.stores.sqlite import SqliteStore
from saywhy.stores.store import StoredSession

NOBODY = 65534


@pytest.fixture
def closed(tmp_path: Path) -> Path:
    """A store with one conversation, closed, so that its log is folded in."""
    path = tmp_path / "s.db"

    async def scene() -> None:
        async with SqliteStore(path) as store:
            await store.save("s", "ann", b"doc", 0)

    asyncio.run(scene())
    return path


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that everybody may enter; the usual one is its owner's alone."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o755)
    yield path
    path.chmod(0o755)
    shutil.rmtree(path)


@contextmanager
def without_rights(folder: Path) -> Generator[None]:
    """Nothing in the folder can be written, also where the tests are run by root."""
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555)
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)


def read(path: Path) -> StoredSession | None:
    async def scene() -> StoredSession | None:
        async with SqliteStore(path, read_only=True) as store:
            return await store.session("s")

    return asyncio.run(scene())


needs_users = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no users here")


@needs_users
def test_a_copy_that_may_not_be_written(closed: Path, folder: Path) -> None:
    """It is read, and nothing appears beside it."""
    copy = Path(shutil.copy(closed, folder))
    with without_rights(folder):
        found = read(copy)
    assert found is not None
    assert (found.user_id, found.doc) == ("ann", b"doc")
    assert [file.name for file in folder.iterdir()] == ["s.db"]


@needs_users
def test_an_empty_log_is_no_obstacle(closed: Path, folder: Path) -> None:
    """A reader of earlier left an empty log behind; nothing is in it."""
    copy = Path(shutil.copy(closed, folder))
    (folder / "s.db-wal").touch()
    with without_rights(folder):
        assert read(copy) is not None


@needs_users
def test_a_copy_whose_log_was_not_folded_in(tmp_path: Path, folder: Path) -> None:
    """What it holds is not known without its log: the error says so and what to do."""

    async def scene() -> None:
        async with SqliteStore(tmp_path / "s.db") as store:
            await store.save("s", "ann", b"doc", 0)
            for name in ("s.db", "s.db-wal"):
                shutil.copy(tmp_path / name, folder)

    asyncio.run(scene())
    with without_rights(folder), pytest.raises(OutsideError) as refusal:
        read(folder / "s.db")
    assert refusal.value.message == (
        f"the store {folder / 's.db'} cannot be read here: what is in s.db-wal was not folded "
        "into it, and for that the file and its folder must be writable"
    )
    assert refusal.value.hint.startswith("copy both files together to a folder")


def test_while_another_process_writes(tmp_path: Path) -> None:
    """A reader sees what was committed last, and leaves the file to the writer."""
    path = tmp_path / "s.db"

    async def scene() -> None:
        async with SqliteStore(path) as writer:
            await writer.save("s", "ann", b"one", 0)
            async with SqliteStore(path, read_only=True) as reader:
                assert (await reader.session("s")) == (await writer.session("s"))
                await writer.save("s", "ann", b"two", 1)
                found = await reader.session("s")
                assert found is not None
                assert found.doc == b"two"
            await writer.save("s", "ann", b"three", 2)

    asyncio.run(scene())
    assert [file.name for file in tmp_path.iterdir()] == ["s.db"]


def test_a_name_with_signs_that_mean_something_in_an_address(closed: Path) -> None:
    """A path is a path, whatever is in it."""
    odd = closed.rename(closed.with_name("50% of a?b#c.db"))
    assert read(odd) is not None


def test_writes_are_refused(closed: Path) -> None:
    """Each names the file and what to do; the file stays as it was."""
    before = closed.read_bytes()

    async def scene() -> None:
        async with SqliteStore(closed, read_only=True) as store:
            with pytest.raises(CallerError) as refusal:
                await store.save("s", "ann", b"x", 1)
            assert refusal.value.message == f"the store {closed} was opened for reading only"
            assert refusal.value.hint == "open it without read_only to write to it"

    asyncio.run(scene())
    assert closed.read_bytes() == before
    assert [file.name for file in closed.parent.iterdir()] == ["s.db"]


def refused(path: Path) -> CallerError:
    with pytest.raises(CallerError) as refusal:
        read(path)
    return refusal.value


def test_files_that_hold_no_conversations(closed: Path) -> None:
    """None is made where there was none, and another database is left alone."""
    missing, other = closed.with_name("missing.db"), closed.with_name("other.db")
    assert refused(missing).message == f"there is no store {missing}"
    assert not missing.exists()
    with closing(sqlite3.connect(other)) as db:
        db.execute("CREATE TABLE t (x)")
    assert refused(other).message == f"{other} holds no conversations"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("INSERT INTO migration VALUES ('m999_more')", "by a newer version of saywhy"),
        ("DELETE FROM migration", "by an older version of saywhy: it lacks the changes m001_"),
    ],
)
def test_files_of_other_versions(closed: Path, change: str, message: str) -> None:
    """They cannot be brought up to date by reading."""
    with closing(sqlite3.connect(closed)) as db:
        db.execute(change)
        db.commit()
    assert message in refused(closed).message
