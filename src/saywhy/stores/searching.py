"""Looking for texts in every byte that a store keeps, whatever its tables say.

Deleting a row proves little: the bytes may lie in a free page, in the write-ahead log, in an index.
So the files are read as they are, in pieces that overlap, and what is only in memory is walked. How
a text may be spelt in there is decided here; which texts to look for is not.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Final, Protocol, runtime_checkable

import msgspec

PIECE: Final = 4 * 1024 * 1024
"""Bytes read at once."""
LONGEST: Final = 64
"""Bytes of a text that is looked for as a whole."""
WINDOW: Final = 48
"""Bytes of each piece of a longer one."""


@dataclass(frozen=True, slots=True)
class Searched:
    """One place that was searched, and what was found in it."""

    where: str
    """A file, or the memory of a process."""
    size: int
    """Bytes that were looked at."""
    found: tuple[tuple[str, int], ...] = ()
    """Texts that are there, each with the byte at which it begins."""
    rows: frozenset[str] = frozenset()
    """Those of them that rows hold which are meant to stay: what others said, what flows say."""


@runtime_checkable
class Searchable(Protocol):
    """A store whose every byte can be searched."""

    async def search(self, texts: Sequence[str]) -> tuple[Searched, ...]:
        """Every place that holds what the store keeps, with those of the texts found there."""
        ...


def spellings(text: str) -> Iterator[bytes]:
    """How a text may stand in a file: as it is, and inside JSON in both its ways.

    Of a long one pieces are looked for, as a file may hold it in parts that lie apart.
    """
    plain = (text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1])
    for spelling in dict.fromkeys(plain):
        data = spelling.encode("utf-8", "surrogatepass")
        if len(data) <= LONGEST:
            yield data
            continue
        middle = (len(data) - WINDOW) // 2
        for start in (0, middle, len(data) - WINDOW):
            yield data[start : start + WINDOW]


def search_files(paths: Iterable[Path], texts: Sequence[str]) -> tuple[Searched, ...]:
    """Each file that exists, with what was found in it."""
    return tuple(search_file(path, texts) for path in paths if path.exists())


def search_file(path: Path, texts: Sequence[str]) -> Searched:
    """One file, read to its end."""
    wanted = {spelling: text for text in texts for spelling in spellings(text)}
    longest = max(map(len, wanted), default=1)
    found: dict[str, int] = {}
    size = 0
    with path.open("rb") as file:
        rest = b""
        while piece := file.read(PIECE):
            data = rest + piece
            _note(found, wanted, data, size - len(rest))
            size += len(piece)
            rest = data[-(longest - 1) :] if longest > 1 else b""
    return Searched(str(path), size, tuple(found.items()))


def search_memory(where: str, things: Any, texts: Sequence[str]) -> Searched:
    """Whatever can be reached from some objects: texts and bytes in lists, objects and values."""
    wanted = {spelling: text for text in texts for spelling in spellings(text)}
    found: dict[str, int] = {}
    size = 0
    for data in _bytes_in(things):
        _note(found, wanted, data, size)
        size += len(data)
    return Searched(where, size, tuple(found.items()))


def search_kept(where: str, store: Any, rows: Any, texts: Sequence[str]) -> Searched:
    """A store that lives in memory; `rows` is the part of it that is meant to stay."""
    searched = search_memory(where, store, texts)
    kept = search_memory(where, rows, [text for text, _ in searched.found])
    return replace(searched, rows=frozenset(text for text, _ in kept.found))


def _note(found: dict[str, int], wanted: Mapping[bytes, str], data: bytes, start: int) -> None:
    for spelling, text in wanted.items():
        if text not in found:
            at = data.find(spelling)
            if at >= 0:
                found[text] = start + at


def _bytes_in(thing: Any) -> Iterator[bytes]:
    seen: set[int] = set()
    todo = [thing]
    while todo:
        one = todo.pop()
        if isinstance(one, bytes | bytearray):
            yield bytes(one)
        elif isinstance(one, str):
            yield one.encode("utf-8", "surrogatepass")
        elif id(one) not in seen:
            seen.add(id(one))
            todo.extend(_parts(one))


def _parts(thing: Any) -> Iterable[Any]:
    if isinstance(thing, Mapping):
        return [*thing.keys(), *thing.values()]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(thing, list | tuple | set | frozenset):
        return thing  # pyright: ignore[reportUnknownVariableType]
    if isinstance(thing, msgspec.Struct):
        return [getattr(thing, name) for name in thing.__struct_fields__]
    if is_dataclass(thing) and not isinstance(thing, type):
        return [getattr(thing, one.name) for one in fields(thing)]
    if type(thing).__module__.startswith("saywhy.stores"):
        return list(vars(thing).values()) if hasattr(thing, "__dict__") else []
    return ()


def rows_with(db: sqlite3.Connection, texts: Sequence[str]) -> frozenset[str]:
    """Those of some texts that stand in a row of a database, in whichever table and column."""
    tables = [
        row[0]
        for row in db.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        )
    ]
    columns = [
        (table, row[1]) for table in tables for row in db.execute(f'PRAGMA table_info("{table}")')
    ]
    found: set[str] = set()
    for text in texts:
        pieces = tuple(spellings(text))
        if any(_has(db, table, column, pieces) for table, column in columns):
            found.add(text)
    return frozenset(found)


def _has(db: sqlite3.Connection, table: str, column: str, pieces: tuple[bytes, ...]) -> bool:
    tests = " OR ".join([f'instr(CAST("{column}" AS BLOB), ?) > 0'] * len(pieces))
    statement = f'SELECT 1 FROM "{table}" WHERE {tests} LIMIT 1'
    return db.execute(statement, pieces).fetchone() is not None
