"""How a connection to the store's file is opened, and what its failures are called.

What SQLite raises becomes an `OutsideError` that names the file and what to try. What is asked of
the connection is left to others.
"""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import Final, Literal, TypeAlias
from urllib.parse import quote

from saywhy.errors import CallerError, OutsideError, SaywhyError

Synchronous: TypeAlias = Literal["FULL", "NORMAL"]
"""FULL: what was acknowledged survives a power cut. NORMAL: it survives the process, but a power
cut may take the last few transactions; they are lost whole, the file stays sound."""

NOW: Final = "CAST(round((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER)"
"""Milliseconds since 1970 by the database's clock; newer SQLite has a shorter word for it."""

FOLD_SECONDS: Final = 0.1
"""How long to wait before the log is folded in once more."""

BUSY_SECONDS: Final = 10.0
"""How long a connection waits for another process to let go of the file."""

_OLDEST_SQLITE: Final = (3, 35, 0)  # RETURNING

FAILURES: Final = (sqlite3.Error, UnicodeError)
"""What comes of a statement: an id may hold half a character, which is none in UTF-8, and damaged
definitions of tables, which SQLite quotes, anything."""

_MEANINGS: Final = {
    "SQLITE_FULL": (
        "there is no room left for it",
        "free disk space; nothing of this was stored, and the same process can go on afterwards",
    ),
    "SQLITE_READONLY": (
        "it may not be written to",
        "check the permissions of the file and its folder, and whether the disk is read-only",
    ),
    "SQLITE_BUSY": (
        "another process kept it locked for too long",
        "look for a process that holds a transaction open, such as a backup or a database browser",
    ),
    "SQLITE_CANTOPEN": (
        "it cannot be opened",
        "check that its folder exists and may be written to",
    ),
    "SQLITE_IOERR": (
        "the disk reported an error",
        "check the disk and the system's log; nothing of this was stored",
    ),
    "SQLITE_CORRUPT": (
        "its contents are damaged",
        "restore the newest backup; a copy must be made of the file and its -wal together",
    ),
    "SQLITE_NOTADB": (
        "it is not an SQLite database",
        "check the path; a store makes its own file when there is none",
    ),
}


def connect(path: Path, synchronous: Synchronous, busy_seconds: float) -> sqlite3.Connection:
    """A connection in write-ahead mode that begins and ends transactions only when told to."""
    db = _connect(path, path, busy_seconds)
    try:
        _set_up(db, path, synchronous)
    except FAILURES as error:
        db.close()
        raise named(error, path) from error
    except SaywhyError:
        db.close()
        raise
    return db


def connect_to_read(path: Path, busy_seconds: float) -> sqlite3.Connection:
    """A connection that only reads, of a file and folder that need not be writable.

    SQLite keeps a lock beside a file with a write-ahead log. Where that cannot be written, a file
    whose log is folded in is read as one that nobody changes.
    """
    if not path.exists():
        raise CallerError(f"there is no store {path}", hint="check the path")
    try:
        # SQLite reads only where it may not write; where it may, it leaves no file behind.
        return _to_read(path, "mode=rw", busy_seconds)
    except OutsideError as error:
        log = path.with_name(f"{path.name}-wal")
        if not log.exists() or log.stat().st_size == 0:
            return _to_read(path, "mode=ro&immutable=1", busy_seconds)
        raise OutsideError(
            f"the store {path} cannot be read here: what is in {log.name} was not folded into it,"
            " and for that the file and its folder must be writable",
            hint="copy both files together to a folder that may be written to, and read the copy",
        ) from error


def _to_read(path: Path, how: str, busy_seconds: float) -> sqlite3.Connection:
    db = _connect(f"file:{quote(str(path.absolute()))}?{how}", path, busy_seconds)
    try:
        db.execute("PRAGMA query_only = ON")
        db.execute("SELECT 1 FROM sqlite_master").fetchone()  # opening alone looks at nothing
    except FAILURES as error:
        db.close()
        raise named(error, path) from error
    return db


def _connect(target: Path | str, path: Path, busy_seconds: float) -> sqlite3.Connection:
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        raise CallerError(
            f"SQLite {sqlite3.sqlite_version} is too old: the store needs 3.35 or newer",
            hint="use a Python that was built with a newer SQLite",
        )
    try:
        return sqlite3.connect(
            target,
            timeout=busy_seconds,
            isolation_level=None,
            check_same_thread=False,  # made by one thread, used by one other, closed by a third
            cached_statements=256,
            uri=isinstance(target, str),
        )
    except sqlite3.Error as error:
        raise named(error, path) from error


def _set_up(db: sqlite3.Connection, path: Path, synchronous: Synchronous) -> None:
    mode = db.execute("PRAGMA journal_mode = WAL").fetchone()[0]
    if mode != "wal":
        raise OutsideError(
            f"the store {path} cannot keep a write-ahead log (SQLite chose {mode!r})",
            hint="put the file on a local disk; network file systems will not do",
        )
    db.execute(f"PRAGMA synchronous = {synchronous}")
    db.execute("PRAGMA fullfsync = ON")  # macOS keeps writes in the drive's cache without it
    db.execute("PRAGMA checkpoint_fullfsync = ON")
    db.execute("PRAGMA secure_delete = ON")  # blanked and forgotten values leave the file as well
    db.execute("PRAGMA cache_size = -16000")
    # Pages that many turns change are copied from the log to the file once for all of them.
    db.execute("PRAGMA wal_autocheckpoint = 4000")
    db.execute("PRAGMA journal_size_limit = 33554432")  # after a burst the log shrinks again


def fold_in(db: sqlite3.Connection, tries: int = 20) -> bool:
    """Bring the write-ahead log into the file and empty it; False where readers never let go.

    The connection waits for nobody long afterwards: it is one that is closed then.
    """
    db.execute(f"PRAGMA busy_timeout = {int(FOLD_SECONDS * 1000)}")  # for each of the tries
    for _ in range(tries):
        busy = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        if not busy:
            return True
        time.sleep(FOLD_SECONDS)
    return False


_MISUSE: Final = (
    *(sqlite3.ProgrammingError, sqlite3.InterfaceError, sqlite3.DataError),
    UnicodeEncodeError,
)


def named(error: sqlite3.Error | UnicodeError, path: Path) -> OutsideError | CallerError:
    """What an SQLite error means for whoever runs the store."""
    if isinstance(error, _MISUSE):
        return CallerError(
            f"the store {path} was handed something it cannot keep ({error})",
            hint="documents are bytes, below a gigabyte; ids are text",
        )
    is_damage = isinstance(error, UnicodeDecodeError)
    code = "SQLITE_CORRUPT" if is_damage else getattr(error, "sqlite_errorname", "") or ""
    for start, (meaning, hint) in _MEANINGS.items():
        if code.startswith(start):
            return OutsideError(f"the store {path} failed: {meaning} ({error})", hint=hint)
    return OutsideError(f"the store {path} failed: {error}")
