"""A long conversation in a store: how much it grows a turn, and what explaining its end costs.

`TURNS` turns of one conversation, 1,000 characters of the user's each, all different, in a file.
Two talks: one repeats the user's words in its reply, the other answers with three words. The text
is what user and flow said, each once. `bytes a turn` is how much the file grows, its log folded in,
over a hundred turns about the hundredth and over the last hundred: 10 % is how far they may be
apart, 3 how many times the text the file may be. Beside them, in a new trace each time, its loading
included: `why` of the newest reply (20 ms is the limit), who wrote a variable that was set in the
first turn, reading every commit, and the narrative: its newest thousand lines and 4,000 tokens of
it, and every line, streamed (1 s is the limit): that of its processor's time, which other programs
do not lengthen.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from bench.figures import Figure, figure
from saywhy import Engine, SqliteStore
from saywhy.trace.narrative.story import stream
from saywhy.trace.trace import Trace

TURNS = int(os.environ.get("SAYWHY_BENCH_TURNS", "10000"))
WINDOW = 100
RUNS = 9
WHOLE_RUNS = 5
LETTERS = 1000


def talk(*steps: dict[str, Any]) -> list[dict[str, Any]]:
    """A flow that asks who it is, and one that goes on for ever."""
    again = {"type": "FLOW", "id": "again", "value": "talk", "callType": "replace"}
    ask = {"type": "SAY-GET", "id": "ask", "variable": "note", "value": "And then?"}
    about = {"version": "1", "description": "Talks"}
    return [
        {
            "id": "main", "name": "main", "prompt": "main", **about,
            "steps": [
                {"type": "SAY-GET", "id": "who", "variable": "who", "value": "Who is there?"},
                again,
            ],
        },
        {"id": "talk", "name": "talk", "prompt": "talk", **about, "steps": [ask, *steps, again]},
    ]  # fmt: skip


TALKS = {
    "echoed": talk(
        {"type": "SET", "id": "set", "variable": "echo", "value": "note"},
        {"type": "SAY", "id": "say", "value": "{{echo}}"},
    ),
    "short replies": talk(),
}


def run() -> list[Figure]:
    """Growth of both talks; what explaining the first one costs."""
    logging.getLogger("saywhy").setLevel(logging.CRITICAL)
    found: list[Figure] = []
    with tempfile.TemporaryDirectory(dir=os.environ.get("SAYWHY_BENCH_FOLDER")) as folder:
        for name, flows in TALKS.items():
            path = Path(folder) / f"{len(found)}.db"
            found += asyncio.run(grown(name, flows, path))
        found += asyncio.run(explained(Path(folder) / "0.db"))
    return found


def words(number: int) -> str:
    return (f"{number} and what was said in it, " * LETTERS)[:LETTERS]


async def grown(name: str, flows: list[dict[str, Any]], path: Path) -> list[Figure]:
    """Bytes a turn early and late, and the whole file against its text."""
    sizes: dict[int, int] = {}
    text = 0
    marks = {WINDOW // 2, WINDOW // 2 + WINDOW, TURNS - WINDOW, TURNS}
    async with Engine(flows=flows, store=SqliteStore(path, synchronous="NORMAL")) as engine:
        for number, said in enumerate(["main", "Ann", *map(words, range(1, TURNS + 1))], start=-1):
            reply = await engine.take_turn("s", said, user_id="ann")
            text += len(said) + len(reply.response or "")
            if number in marks:
                sizes[number] = size_of(path)
    early = (sizes[WINDOW // 2 + WINDOW] - sizes[WINDOW // 2]) / WINDOW
    late = (sizes[TURNS] - sizes[TURNS - WINDOW]) / WINDOW
    return [
        figure(f"growth, {name}: bytes a turn at {WINDOW}", [early], "B"),
        figure(f"growth, {name}: bytes a turn at {TURNS}", [late], "B"),
        figure(f"growth, {name}: late to early", [late / early], "x"),
        figure(f"growth, {name}: file to text", [sizes[TURNS] / text], "x"),
    ]


def size_of(path: Path) -> int:
    """Bytes of the file, with what its log holds."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(PASSIVE)")
        pages, size = (db.execute(f"PRAGMA {one}").fetchone()[0] for one in _PAGES)
    return pages * size


_PAGES = ("page_count", "page_size")


async def explained(path: Path) -> list[Figure]:
    asked: dict[str, Callable[[Trace], object]] = {
        "why of the newest reply": lambda trace: trace.why(),
        "why of a variable of turn 1": lambda trace: trace.last_writer(trace.key("who")),
        "every commit": lambda trace: sum(1 for _ in trace),
        "the narrative, newest first": lambda trace: trace.narrative(),
        "the narrative in 4,000 tokens": lambda trace: trace.narrative(budget=4000),
    }
    whole = "the narrative, every line"
    asked[whole] = lambda trace: sum(map(len, stream(trace)))
    async with Engine(flows=TALKS["echoed"], store=SqliteStore(path)) as engine:
        found: list[Figure] = []
        for name, ask in asked.items():
            times: list[float] = []
            clock = time.process_time if name == whole else time.perf_counter
            runs = RUNS if name.startswith("why") else WHOLE_RUNS if name == whole else 2
            for _ in range(runs):
                start = clock()
                ask(await engine.trace("s"))
                times.append((clock() - start) * 1000)
            found.append(figure(f"growth: {name}, of {TURNS} turns", times, "ms"))
    return found
