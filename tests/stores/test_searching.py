"""Promise: a text is found wherever it stands in a file, in each of its spellings."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from saywhy.stores import searching
from saywhy.stores.searching import (
    Searchable,
    rows_with,
    search_file,
    search_files,
    search_kept,
    search_memory,
    spellings,
)
from saywhy.stores.sqlite import SqliteStore

TEXT = 'Zoë "4711" lives here'


@pytest.mark.parametrize("written", [TEXT, json.dumps(TEXT), json.dumps(TEXT, ensure_ascii=False)])
def test_each_spelling_is_found(written: str, tmp_path: Path) -> None:
    """As it is, and in JSON of both kinds; the byte is told where it begins."""
    path = tmp_path / "f"
    path.write_bytes(b"\x00\xff" * 10 + written.encode())
    found = search_file(path, [TEXT, "not there"]).found
    assert found == ((TEXT, 20 + (written[0] == '"')),)


def test_a_text_across_two_pieces_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large file is read in parts; one that is cut by them is seen all the same."""
    monkeypatch.setattr(searching, "PIECE", 16)
    path = tmp_path / "f"
    for start in range(16, 40):
        path.write_bytes(b"." * start + b"0123456789ab" + b"." * 20)
        searched = search_file(path, ["0123456789ab"])
        assert searched.found == (("0123456789ab", start),)
        assert searched.size == start + 32


def test_of_a_long_text_its_parts_are_found(tmp_path: Path) -> None:
    """A database may put a long value in pages that lie apart."""
    text = "".join(f"{number:04}-" for number in range(60))
    path = tmp_path / "f"
    path.write_bytes(b"...." + text[:100].encode() + b"\x00\x00\x00\x07" + text[100:].encode())
    assert search_file(path, [text]).found == ((text, 4),)
    assert len(list(spellings(text))) == 3


def test_files_that_are_not_there_are_passed_by(tmp_path: Path) -> None:
    """A store has a log beside it, or none."""
    (tmp_path / "a").write_bytes(b"x")
    assert [one.size for one in search_files([tmp_path / "a", tmp_path / "b"], ["y"])] == [1]


def test_what_is_in_memory_is_walked() -> None:
    """Texts and bytes in all that lists, sets and objects hold."""
    tree = {"a": [b"one 4711", {"two 4712"}], "three 4713": (1, None)}
    texts = ["one 4711", "two 4712", "three 4713", "four 4714"]
    assert {text for text, _ in search_memory("m", tree, texts).found} == set(texts[:3])
    kept = search_kept("m", tree, [tree["a"]], texts)
    assert kept.rows == {"one 4711", "two 4712"}


def test_rows_that_hold_a_text() -> None:
    """In any table and any column."""
    with sqlite3.connect(":memory:") as db:
        db.execute("CREATE TABLE a (x TEXT, y BLOB)")
        db.execute("INSERT INTO a VALUES ('first text', x'00')")
        db.execute("INSERT INTO a VALUES ('', ?)", (b"\x00second text",))
        assert rows_with(db, ["first text", "second text", "third"]) == {
            "first text",
            "second text",
        }
    db.close()


async def test_the_log_is_folded_in_before(tmp_path: Path) -> None:
    """What was there earlier and was written over is not found in it."""
    async with SqliteStore(tmp_path / "s.db") as store:
        assert isinstance(store, Searchable)
        for number in range(3):
            await store.save("c", "ann", f"document {number} of c".encode(), number)
        texts = [f"document {number} of c" for number in range(3)]
        searched = await store.search(texts)
        assert [text for one in searched for text, _ in one.found] == [texts[2]]
        assert searched[0].rows == {texts[2]}
