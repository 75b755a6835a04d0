"""`trace.export.written`: a file is written whole or not at all, and never over a store."""

from __future__ import annotations

from pathlib import Path

import pytest

from saywhy.errors import CallerError
from saywhy.trace.export.written import written


def test_an_older_file_stays_until_all_is_written(tmp_path: Path) -> None:
    """Whoever stops half way leaves the older file as it was, and nothing beside it."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"old")
    path.chmod(0o600)
    with pytest.raises(ValueError, match="stopped"), written(path) as file:
        file.write(b"half")
        raise ValueError("stopped")
    assert (path.read_bytes(), [one.name for one in tmp_path.iterdir()]) == (b"old", ["t.jsonl"])
    with written(path) as file:
        file.write(b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["s.db", "s.db-wal", "s.db-shm", "link", "twin", "a/../s.db"])
def test_a_store_is_not_written_over(tmp_path: Path, name: str) -> None:
    """By no name: none of its files, no link to it."""
    store = tmp_path / "s.db"
    store.write_bytes(b"all there is")
    (tmp_path / "a").mkdir()
    (tmp_path / "link").symlink_to(store)
    (tmp_path / "twin").hardlink_to(store)
    target = tmp_path / name
    with pytest.raises(CallerError) as caught, written(target, store=store):
        pass
    said = f"{target} is the store that is read: writing there would destroy it"
    assert (str(caught.value), caught.value.hint) == (said, "name another file")
    assert store.read_bytes() == b"all there is"


def test_what_cannot_be_written_is_named(tmp_path: Path) -> None:
    """A folder that is not there, and a folder in place of a file."""
    with pytest.raises(CallerError) as caught, written(tmp_path / "no" / "x"):
        pass
    assert str(caught.value) == f"cannot write {tmp_path}/no/x: no such file or directory"
    assert caught.value.hint == f"there is no folder {tmp_path}/no: make it first"
    with pytest.raises(CallerError) as caught, written(tmp_path):
        pass
    assert str(caught.value) == f"cannot write {tmp_path}: this is a folder"
    assert caught.value.hint == f"name a file in it, like {tmp_path}/record.jsonl"


def test_what_is_no_file_is_written_to(tmp_path: Path) -> None:
    """A device is not replaced."""
    with written("/dev/null") as file:
        file.write(b"gone")
    assert Path("/dev/null").is_char_device()
    assert not list(tmp_path.iterdir())
