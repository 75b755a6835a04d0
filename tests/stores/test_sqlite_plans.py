"""The statements of the store find their rows by an index, whatever the tables hold."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from types import ModuleType

import pytest

from saywhy.stores import (
    sqlite_audit,
    sqlite_beside,
    sqlite_held,
    sqlite_journal,
    sqlite_parts,
    sqlite_reads,
    sqlite_turn,
)
from saywhy.stores.migrations import migrate

VERBS = ("SELECT", "INSERT", "UPDATE", "DELETE")


def explained(db: sqlite3.Connection, statement: str) -> list[str]:
    parameters = ("",) * statement.count("?")
    return [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)]


def statements_of(module: ModuleType) -> Iterator[tuple[str, str]]:
    """The whole statements among a module's constants; some constants are parts of others."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        migrate(db)
        for name, value in vars(module).items():
            for text in value if isinstance(value, tuple) else (value,):
                if isinstance(text, str) and text.strip().startswith(VERBS) and "{}" not in text:
                    with suppress(sqlite3.OperationalError):  # incomplete input
                        explained(db, text)
                        yield f"{module.__name__.rpartition('.')[2]}.{name}", text


STATEMENTS = [
    found
    for module in (
        sqlite_turn,
        sqlite_journal,
        sqlite_reads,
        sqlite_beside,
        sqlite_held,
        sqlite_audit,
        sqlite_parts,
    )
    for found in statements_of(module)
]


def test_there_are_statements() -> None:
    """The list is not empty by mistake, and includes the most important ones."""
    names = {name for name, _ in STATEMENTS}
    assert len(STATEMENTS) > 40
    assert {"sqlite_turn._CLAIM_ANY", "sqlite_journal._ASK", "sqlite_reads._COMMITS_LAST"} <= names


@pytest.mark.parametrize(("name", "statement"), STATEMENTS, ids=[name for name, _ in STATEMENTS])
def test_finds_rows_by_index(name: str, statement: str) -> None:
    """No statement reads a table from end to end or sorts what it could read in order."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        migrate(db)
        steps = explained(db, statement)
    whole = [step for step in steps if step.startswith("SCAN") and "CONSTANT" not in step]
    # Lists of everything have a limit: they read an index in order and stop.
    limited = [step for step in whole if "USING" in step and "LIMIT" in statement]
    # What is pruned, and what an anchor is made over, is looked for by a reader; nobody waits.
    assert whole == limited or name in ("sqlite_reads._OLD", "sqlite_audit._MOVED"), steps
    sorting = [step for step in steps if "TEMP B-TREE" in step]
    assert not sorting or name == "sqlite_journal._PRIOR", steps  # the few attempts of one step
