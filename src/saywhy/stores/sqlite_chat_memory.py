"""The messages of conversations in an SQLite file, one row each.

A save is one transaction. It replaces what is stored only where that is the beginning of what is
saved, so that of two runs of one conversation at a time the second is told instead of wiping out
what the first one said. Several processes may use one file.
"""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from saywhy.errors import CallerError
from saywhy.stores.chat_memory import ConversationChanged, read_messages, written
from saywhy.stores.sqlite_file import BUSY_SECONDS, connect, fold_in
from saywhy.stores.sqlite_writer import Writer
from saywhy.values import FrozenList, freeze, same

OnConflict: TypeAlias = Literal["raise", "overwrite"]

TABLE_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}", re.ASCII)
MAX_MESSAGES_BYTES: Final = 64 * 1024 * 1024


class SqliteChatMemory:
    """Keeps messages in the file at `path`, which is made where there is none.

    A save that does not begin with what is stored raises `ConversationChanged`: somebody else saved
    meanwhile. System messages are not compared, they may change. `on_conflict="overwrite"` lets the
    last save count. Saving no messages at all always forgets the conversation.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        table: str = "chat_memory",
        on_conflict: OnConflict = "raise",
        busy_seconds: float = BUSY_SECONDS,
    ) -> None:
        self._table = checked_name(table)
        self._on_conflict = on_conflict
        self._path = Path(path)
        self._busy_seconds = busy_seconds
        db = connect(self._path, "FULL", busy_seconds)
        self._writer = Writer(db, self._path)
        self._ready = False

    async def load(self, conversation_id: str, /) -> FrozenList | None:
        """The messages of the conversation, None where there are none."""
        return await self._writer.do(self._read, conversation_id)

    async def save(self, conversation_id: str, messages: Sequence[Any], /) -> None:
        """Keep these messages. Raises `ConversationChanged` where that would lose others."""
        frozen: FrozenList = freeze(list(messages), ("messages",))
        text = written(frozen)
        if len(text) > MAX_MESSAGES_BYTES:
            raise CallerError(
                f'the conversation "{conversation_id}" has grown to {len(text)} characters of JSON',
                hint=f"at most {MAX_MESSAGES_BYTES} are kept: begin another one, or save a summary",
            )
        # Compared as it will come back: JSON knows one way to write a letter.
        await self._writer.do(self._write, conversation_id, read_messages(text) or frozen, text)

    async def forget(self, conversation_id: str, /) -> None:
        """Keep nothing of the conversation any more."""
        await self._writer.do(self._delete, conversation_id)
        await asyncio.to_thread(self._empty_log)

    def close(self) -> None:
        """Finish what was begun, then let go of the file."""
        self._writer.close()

    def _empty_log(self) -> None:
        """The write-ahead log holds what was there earlier, long after it was erased."""
        with closing(connect(self._path, "FULL", self._busy_seconds)) as db:
            fold_in(db)

    # ------------------------------------------------------------ on the writer's thread

    def _prepared(self, db: sqlite3.Connection) -> None:
        if not self._ready:
            db.execute(
                f"CREATE TABLE IF NOT EXISTS {self._table} "
                "(conversation_id TEXT PRIMARY KEY, messages TEXT NOT NULL) WITHOUT ROWID"
            )
            self._ready = True

    def _read(self, db: sqlite3.Connection, conversation_id: str) -> FrozenList | None:
        self._prepared(db)
        row = db.execute(
            f"SELECT messages FROM {self._table} WHERE conversation_id = ?", (conversation_id,)
        ).fetchone()
        return None if row is None else read_messages(row[0])

    def _write(
        self, db: sqlite3.Connection, conversation_id: str, messages: FrozenList, text: str
    ) -> None:
        if not len(messages):
            self._delete(db, conversation_id)
            return
        stored = self._read(db, conversation_id)
        if stored is not None and self._on_conflict == "raise" and not _begins(messages, stored):
            raise ConversationChanged(conversation_id, len(stored))
        db.execute(
            f"INSERT INTO {self._table} VALUES (?, ?) "
            "ON CONFLICT (conversation_id) DO UPDATE SET messages = excluded.messages",
            (conversation_id, text),
        )

    def _delete(self, db: sqlite3.Connection, conversation_id: str) -> None:
        self._prepared(db)
        db.execute(f"DELETE FROM {self._table} WHERE conversation_id = ?", (conversation_id,))


def checked_name(table: Any) -> str:
    """A name that may stand in a statement. Raises `CallerError` for any other."""
    if not isinstance(table, str) or TABLE_NAME.fullmatch(table) is None:
        raise CallerError(
            f"{table!r} is no name for a table",
            hint="letters, digits and _, at most 64, not beginning with a digit",
        )
    return table


def _begins(messages: FrozenList, stored: FrozenList) -> bool:
    """Whether `messages` begins with what is stored, system messages aside."""
    now, before = _said(messages), _said(stored)
    return len(now) >= len(before) and all(map(same, now, before))


def _said(messages: FrozenList) -> list[Any]:
    return [one for one in messages if one.get("role") != "system"]
