"""Texts found by the words of a query, in an SQLite file with its full-text index.

Every word of a query counts, and a rare one more than a common one: the score is the share of the
query's weight that stands in a text, from 0 to 1. Texts of the same score come in SQLite's order of
relevance (BM25), then in the order in which they were added, so a search always gives the same
list. What a query means to SQLite's own syntax is of no matter: only its words are taken.
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from saywhy.errors import CallerError
from saywhy.stores.retriever import MAX_TOP_K, Chunk, Document
from saywhy.stores.sqlite_chat_memory import checked_name
from saywhy.stores.sqlite_file import BUSY_SECONDS, connect
from saywhy.stores.sqlite_writer import Writer
from saywhy.values import dumps, freeze, loads

Tokenizer: TypeAlias = Literal["porter unicode61", "unicode61", "trigram"]
"""How texts are cut into words: English stems, words as they are, or any three letters in a row
(for languages that put no spaces between words; queries need three letters)."""

MAX_WORDS: Final = 32
"""So many different words of a query are looked for; further ones are left out."""
MAX_CANDIDATES: Final = 400
"""So many texts are weighed at most."""
MAX_CHARS: Final = 100_000
"""Characters of one text. Longer ones are cut by `passages` first."""
TOP_K: Final = 5

_WORD: Final = re.compile(r"\w+")


class SqliteRetriever:
    """Keeps documents in the file at `path`, and finds them by words.

    The file is made where there is none, and several processes may use it at once. `top_k` and
    `min_score` hold for searches that say nothing else.
    """

    is_async = True

    def __init__(
        self,
        path: str | Path,
        *,
        table: str = "documents",
        tokenizer: Tokenizer = "porter unicode61",
        top_k: int = TOP_K,
        min_score: float = 0.0,
        busy_seconds: float = BUSY_SECONDS,
    ) -> None:
        self._table = checked_name(table)
        if tokenizer not in _TOKENIZERS:
            raise CallerError(
                f"{tokenizer!r} is no way to cut texts into words",
                hint=f"one of: {', '.join(_TOKENIZERS)}",
            )
        self._tokenizer = _TOKENIZERS[tokenizer]
        self._top_k = _checked_top_k(top_k)
        self._min_score = min_score
        path = Path(path)
        db = connect(path, "NORMAL", busy_seconds)
        self._writer = Writer(db, path)
        self._ready = False

    async def add(self, documents: Iterable[Document | Mapping[str, Any]]) -> int:
        """Add documents, or replace those with the same id; all of them or none. How many."""
        rows = [_row(one) for one in documents]
        return await self._writer.do(self._put, rows)

    async def remove(self, ids: Iterable[str]) -> int:
        """Take documents away; how many were there."""
        return await self._writer.do(self._take, [str(one) for one in ids])

    async def count(self) -> int:
        """How many documents there are."""
        return await self._writer.do(self._count)

    async def retrieve(
        self, query: str, /, *, top_k: int | None = None, min_score: float | None = None
    ) -> list[Chunk]:
        """The best documents first, each with its score and the words that stand in it."""
        most = self._top_k if top_k is None else _checked_top_k(top_k)
        least = self._min_score if min_score is None else min_score
        words = words_of(query)
        return await self._writer.do(self._search, words, most, least) if words else []

    def close(self) -> None:
        """Finish what was begun, then let go of the file."""
        self._writer.close()

    # ------------------------------------------------------------ on the writer's thread

    def _prepared(self, db: sqlite3.Connection) -> None:
        if self._ready:
            return
        for statement in _SCHEMA:
            db.execute(statement.format(t=self._table, tokenizer=self._tokenizer))
        self._ready = True

    def _put(self, db: sqlite3.Connection, rows: list[tuple[str, str, str | None]]) -> int:
        self._prepared(db)
        db.executemany(
            f"INSERT INTO {self._table} (id, content, metadata) VALUES (?, ?, ?) ON CONFLICT (id) "
            "DO UPDATE SET content = excluded.content, metadata = excluded.metadata",
            rows,
        )
        return len(rows)

    def _take(self, db: sqlite3.Connection, ids: list[str]) -> int:
        self._prepared(db)
        gone = 0
        for one in ids:
            gone += db.execute(f"DELETE FROM {self._table} WHERE id = ?", (one,)).rowcount
        return gone

    def _count(self, db: sqlite3.Connection) -> int:
        self._prepared(db)
        return int(db.execute(f"SELECT count(*) FROM {self._table}").fetchone()[0])

    def _search(
        self, db: sqlite3.Connection, words: list[str], top_k: int, min_score: float
    ) -> list[Chunk]:
        self._prepared(db)
        weights = self._weights(db, words)
        total = sum(weights.values())
        ranked = self._candidates(db, words, top_k)
        matched = self._matched(db, words, list(ranked))
        scores = {
            row: sum(weights[word] for word in found) / total for row, found in matched.items()
        }
        best = sorted(scores, key=lambda row: (-scores[row], ranked[row], row))
        kept = [row for row in best if scores[row] >= min_score][:top_k]
        return [self._chunk(db, row, scores[row], matched[row]) for row in kept]

    def _weights(self, db: sqlite3.Connection, words: list[str]) -> dict[str, float]:
        """How much each word counts: more the fewer texts it stands in, never nothing.

        One that stands in none counts no more than the lightest that does: a question's small words
        would otherwise weigh most where few texts are kept.
        """
        texts = self._count(db)
        weights: dict[str, float] = {}
        unknown: list[str] = []
        for word in words:
            held = db.execute(
                f"SELECT count(*) FROM {self._table}_fts WHERE {self._table}_fts MATCH ?",
                (_quoted(word),),
            ).fetchone()[0]
            if held:
                weights[word] = math.log(1 + (texts - held + 0.5) / (held + 0.5))
            else:
                unknown.append(word)
        return weights | dict.fromkeys(unknown, min(weights.values(), default=1.0))

    def _candidates(self, db: sqlite3.Connection, words: list[str], top_k: int) -> dict[int, float]:
        """Row → its rank by SQLite, for the texts worth a closer look."""
        most = min(MAX_CANDIDATES, max(50, 4 * top_k))
        rows = db.execute(
            f"SELECT rowid, bm25({self._table}_fts) AS rank_by FROM {self._table}_fts "
            f"WHERE {self._table}_fts MATCH ? ORDER BY rank_by, rowid LIMIT ?",
            (" OR ".join(map(_quoted, words)), most),
        )
        return {int(row): float(rank) for row, rank in rows}

    def _matched(
        self, db: sqlite3.Connection, words: list[str], rows: list[int]
    ) -> dict[int, tuple[str, ...]]:
        """Row → the words of the query that stand in it."""
        found: dict[int, list[str]] = {row: [] for row in rows}
        places = ", ".join("?" * len(rows))
        for word in words:
            hits = db.execute(
                f"SELECT rowid FROM {self._table}_fts WHERE {self._table}_fts MATCH ? "
                f"AND rowid IN ({places})",
                (_quoted(word), *rows),
            )
            for (row,) in hits:
                found[row].append(word)
        return {row: tuple(listed) for row, listed in found.items()}

    def _chunk(
        self, db: sqlite3.Connection, row: int, score: float, matched: tuple[str, ...]
    ) -> Chunk:
        name, content, metadata = db.execute(
            f"SELECT id, content, metadata FROM {self._table} WHERE rowid = ?", (row,)
        ).fetchone()
        told = None if metadata is None else loads(metadata)
        return Chunk(content, round(score, 6), name, told, matched)


_TOKENIZERS: Final[dict[str, str]] = {
    "porter unicode61": "porter unicode61 remove_diacritics 2",
    "unicode61": "unicode61 remove_diacritics 2",
    "trigram": "trigram",
}

_SCHEMA: Final = (
    "CREATE TABLE IF NOT EXISTS {t} (rowid INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, "
    "content TEXT NOT NULL, metadata TEXT)",
    "CREATE VIRTUAL TABLE IF NOT EXISTS {t}_fts USING fts5(content, content='{t}', "
    "content_rowid='rowid', tokenize='{tokenizer}')",
    "CREATE TRIGGER IF NOT EXISTS {t}_added AFTER INSERT ON {t} BEGIN "
    "INSERT INTO {t}_fts (rowid, content) VALUES (new.rowid, new.content); END",
    "CREATE TRIGGER IF NOT EXISTS {t}_removed AFTER DELETE ON {t} BEGIN "
    "INSERT INTO {t}_fts ({t}_fts, rowid, content) VALUES ('delete', old.rowid, old.content); END",
    "CREATE TRIGGER IF NOT EXISTS {t}_changed AFTER UPDATE ON {t} BEGIN "
    "INSERT INTO {t}_fts ({t}_fts, rowid, content) VALUES ('delete', old.rowid, old.content); "
    "INSERT INTO {t}_fts (rowid, content) VALUES (new.rowid, new.content); END",
)
"""The texts, their index, and what keeps the two alike whoever writes."""


def words_of(query: str) -> list[str]:
    """The different words of a query, in order, as many as are looked for."""
    clean = query.encode("utf-8", "replace").decode().lower()
    return list(dict.fromkeys(_WORD.findall(clean)))[:MAX_WORDS]


def passages(text: str, *, max_chars: int = 1_000) -> list[str]:
    """A long text in passages of at most `max_chars`.

    Cut between paragraphs where that is possible, else between words, else anywhere.
    """
    if max_chars < 1:
        raise CallerError(f"a passage has at least one character, not {max_chars}")
    found: list[str] = []
    for paragraph in re.split(r"\n\s*\n", text):
        part = paragraph.strip()
        while len(part) > max_chars:
            at = part.rfind(" ", 1, max_chars + 1)
            at = at if at > 0 else max_chars
            found.append(part[:at].rstrip())
            part = part[at:].lstrip()
        if not part:
            continue
        if found and len(found[-1]) + len(part) + 2 <= max_chars:
            found[-1] += f"\n\n{part}"
        else:
            found.append(part)
    return found


def _quoted(word: str) -> str:
    """A word as SQLite's syntax has it: a text, whatever it says."""
    return f'"{word}"'


def _row(given: Document | Mapping[str, Any]) -> tuple[str, str, str | None]:
    one: Any = given if isinstance(given, Document) else Document(**given)
    if not isinstance(one.id, str) or not one.id or not isinstance(one.content, str):
        raise CallerError(
            f"a document has an id and a content, both text: {one.id!r}",
            hint='Document("faq-1", "Refunds take five days.")',
        )
    if len(one.content) > MAX_CHARS:
        raise CallerError(
            f"document {one.id} has {len(one.content)} characters, more than {MAX_CHARS}",
            hint="cut it with passages(text) and add each as a document of its own",
        )
    content = one.content.encode("utf-8", "replace").decode()
    metadata = None if one.metadata is None else dumps(freeze(one.metadata)).decode()
    return one.id, content, metadata


def _checked_top_k(top_k: int) -> int:
    if top_k < 1:
        raise CallerError(f"top_k is {top_k}", hint="ask for at least one")
    return min(top_k, MAX_TOP_K)
