"""A turn at the store's interface, against the same statements on a bare connection.

No engine runs here, only what a turn asks of the store. This is the figure that durable turns are
held to: at most 1.3 times the bare statements, for 1, 8 and 64 conversations. Whole turns, with the
engine's work, are in `turns`.

A turn is: accept and claim, two intents, two results (the first kept with the second intent, the
second with the end), an end, with an 8 kB document at each point. The bare one writes the same rows
with the same statements on a writer thread of its own with group commit, and does nothing else: no
checks, no values made of rows. Both run in turns in the same folder, so that a busy disk strikes
both. `ratio` is the median time of ours over that of the bare one, block by block.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import NamedTuple

from bench.bare_store import BareStore
from bench.figures import Figure, figure
from saywhy.stores.sqlite import SqliteStore
from saywhy.stores.store import Call

TURNS = {1: 40, 8: 160, 64: 1280}
"""Conversations at once → turns in a block."""

ROUNDS = 7

Turn = Callable[[str, "Rows"], Awaitable[None]]


class Rows(NamedTuple):
    """What one turn writes."""

    message_id: str
    cursors: list[bytes]
    doc: bytes
    args: bytes
    result: bytes
    reply: bytes
    messages: list[tuple[int, bytes]]
    commits: list[list[tuple[int, bytes]]]


def rows_of(number: int) -> Rows:
    """Rows of a turn: 8 kB documents, and small ones the size of a flow's steps."""
    text = (f'"{number:06d} what was said and set so far"' * 400).encode()
    small = text[:300]
    return Rows(
        message_id=f"m{number}",
        cursors=[text[start : start + 8000] for start in (3, 5)],
        doc=text[7:8007],
        args=small[:200],
        result=small,
        reply=small,
        messages=[(2 * number, small), (2 * number + 1, small)],
        commits=[[(3 * part + n, small) for n in range(3)] for part in range(3)],
    )


async def our_turn(store: SqliteStore, session_id: str, rows: Rows) -> None:
    _, claim = await store.accept_and_claim(
        session_id, rows.message_id, rows.args, user_id="ann", worker="bench"
    )
    assert claim is not None
    for seq in (1, 2):
        key = f"{session_id}:{claim.turn_no}:{seq}"
        call = Call("tool", "look", "repeatable", rows.args, key)
        before = (1, rows.result) if seq == 2 else None
        await store.intent(
            claim, seq, call, rows.cursors[seq - 1], rows.commits[seq - 1], previous_result=before
        )
    await store.finish(
        claim, rows.doc, rows.reply, messages=rows.messages, commits=rows.commits[2],
        previous_result=(2, rows.result),
    )  # fmt: skip


async def bare_turn(store: BareStore, session_id: str, rows: Rows) -> None:
    turn = await store.begin(session_id, rows.message_id, rows.args)
    for seq in (1, 2):
        key = f"{session_id}:{turn.turn_no}:{seq}"
        before = rows.result if seq == 2 else None
        await store.intent(
            turn, seq, rows.args, key, rows.cursors[seq - 1], rows.commits[seq - 1], before
        )
    await store.finish(turn, rows.doc, rows.reply, rows.messages, rows.commits[2], rows.result)


async def block(turn: Turn, conversations: int, first: int, turns: int) -> list[float]:
    """Milliseconds of each turn."""
    times: list[float] = []
    written = [rows_of(number) for number in range(first, first + turns // conversations)]

    async def converse(name: str) -> None:
        for rows in written:
            start = time.perf_counter()
            await turn(name, rows)
            times.append((time.perf_counter() - start) * 1000)

    await asyncio.gather(*(converse(f"s{n}") for n in range(conversations)))
    return times


async def compare(folder: Path, conversations: int) -> list[Figure]:
    ours: list[float] = []
    bare: list[float] = []
    ratios: list[float] = []
    turns = TURNS[conversations]
    bare_store = BareStore(folder / f"bare{conversations}.db")
    async with SqliteStore(folder / f"ours{conversations}.db") as store:
        for number in range(ROUNDS + 1):
            first = number * turns
            gc.collect()
            one = await block(partial(our_turn, store), conversations, first, turns)
            two = await block(partial(bare_turn, bare_store), conversations, first, turns)
            if number:  # the first round fills caches
                ours += one
                bare += two
                ratios.append(figure("", one, "")["median"] / figure("", two, "")["median"])
    bare_store.close()
    assert contents(folder / f"ours{conversations}.db") == contents(bare_store.path), (
        "the bare store did not write the same rows: bring its statements up to date"
    )
    name = f"store: a turn, {conversations} at once"
    return [
        figure(name, ours, "ms"),
        figure(f"{name}, bare", bare, "ms"),
        figure(f"{name}, ratio", ratios, "x"),
    ]


def contents(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """What a store's file holds, without times, salts and what is made from them."""
    passing = {"accepted", "ended", "started", "finished", "args_hash", "salt", "turn_key"}
    passing |= {"link_salt", "content", "link", "chain_id", "chain_key", "owner", "session_key"}
    found: dict[str, list[tuple[object, ...]]] = {}
    with closing(sqlite3.connect(path)) as db:
        for (table,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'"):
            columns = [row[1] for row in db.execute(f'PRAGMA table_xinfo("{table}")')]
            own = passing | {"id"} if table == "commit" else passing  # made of the turn's key
            kept = ", ".join(column for column in columns if column not in own)
            found[table] = sorted(db.execute(f'SELECT {kept} FROM "{table}"').fetchall(), key=repr)
    return found


def run() -> list[Figure]:
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(dir=os.environ.get("SAYWHY_BENCH_FOLDER")) as folder:
        for conversations in TURNS:
            figures += asyncio.run(compare(Path(folder), conversations))
    return figures
