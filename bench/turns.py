"""Whole turns of a conversation: the engine's work included, in memory and on disk.

In memory: `update_activity`, trace kept, over every turn of the project's conversation cases that
need neither a model nor HTTP. `in awaits` is the same against what an await costs, measured in
between: a slow or busy machine makes both slow. 1,500 is the limit.

`resumes a question` is the least that a turn can be: the answer is stored, the next question asked.
1,000 awaits are the limit, 0.1 ms where an await takes 0.1 µs.

On disk: `take_turn` with a flow that calls two tools which do nothing, in a session of 8 kB,
against the bare statements of `bare_store` writing the very same documents at the same points. Both
run block by block in one folder, so that a busy disk strikes both; `ratio` is the median time of
ours over that of the bare one, block by block. It has no limit: what our side does besides the
statements is to run a conversation (read the session, route the words, run the steps, call the
tools, keep the trace, write the documents), which the bare side finds done. What the store itself
adds to its statements, and may add, is the figure of `stores`.
"""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.bare_store import BareStore
from bench.figures import Figure, figure
from saywhy import Engine, SqliteStore, quick

CASES = Path(__file__).parent.parent / "tests" / "cases" / "flows"
PASSES = 20
AWAITS = 500
ROUNDS = 7
TURNS = {1: 40, 8: 160, 64: 640}
"""Conversations at once → turns in a block."""


def run() -> list[Figure]:
    """A turn in memory; a turn on disk with 1, 8 and 64 conversations, ours, bare and the ratio."""
    logging.getLogger("saywhy").setLevel(logging.CRITICAL)
    found = asyncio.run(in_memory()) + asyncio.run(questions())
    with tempfile.TemporaryDirectory() as folder:
        for conversations in TURNS:
            found += asyncio.run(on_disk(Path(folder), conversations))
    return found


# ------------------------------------------------------------------ in memory


async def in_memory() -> list[Figure]:
    """Every turn of the cases, the first pass not counted."""
    cases = [json.loads(path.read_text("utf-8")) for path in sorted(CASES.glob("*.json"))]
    played = [(case, engine_for(case)) for case in cases if is_plain(case)]
    times: list[float] = []
    ratios: list[float] = []
    for number in range(PASSES + 1):
        gc.collect()
        taken: list[float] = []
        awaits: list[float] = []
        for case, engine in played:
            awaits.append(await await_milliseconds())
            taken += await play(engine, case)
        if number:
            times += taken
            ratios.append(middle(taken) / middle(awaits))
    return [
        figure("turn: in memory, with its trace", times, "ms"),
        figure("turn: in memory, in awaits", ratios, "x"),
    ]


async def await_milliseconds() -> float:
    async def nothing() -> None:
        pass

    start = time.perf_counter()
    for _ in range(AWAITS):
        await nothing()
    return (time.perf_counter() - start) / AWAITS * 1000


QUESTIONS = 40
ASKING: dict[str, Any] = {
    "id": "ask",
    "name": "Ask",
    "primary": True,
    "steps": [
        {"id": f"q{number}", "type": "SAY-GET", "variable": f"v{number}", "value": f"And {number}?"}
        for number in range(QUESTIONS + 1)
    ],
}


async def questions() -> list[Figure]:
    """Turns that store an answer and ask the next question, the first pass not counted."""
    engine = Engine(flows=[ASKING], validate_on_init=False)
    times: list[float] = []
    ratios: list[float] = []
    for number in range(PASSES + 1):
        session = await engine.update_activity("ask", engine.init_session("ann", "s"))
        gc.collect()
        taken: list[float] = []
        awaits: list[float] = []
        for _ in range(QUESTIONS):
            awaits.append(await await_milliseconds())
            start = time.perf_counter()
            session = await engine.update_activity("an answer", session)
            taken.append((time.perf_counter() - start) * 1000)
        if number:
            times += taken
            ratios.append(middle(taken) / middle(awaits))
    return [
        figure("turn: resumes a question", times, "ms"),
        figure("turn: resumes a question, in awaits", ratios, "x"),
    ]


def is_plain(case: dict[str, Any]) -> bool:
    """No model, no HTTP, no function of the scenario's: what is left is the engine."""
    return not (case.get("ai") or case.get("http") or case["functions"])


def engine_for(case: dict[str, Any]) -> Engine:
    return Engine(
        flows=case["flows"],
        tools=case["tools"],
        globals=case["globals"],
        guidance=(case.get("engine") or {}).get("guidance"),
        validate_on_init=False,
    )


async def play(engine: Engine, case: dict[str, Any]) -> list[float]:
    times: list[float] = []
    session = engine.init_session("ann", "s", case["language"])
    session.cargo.update(case.get("cargo") or {})
    for turn in case["turns"]:
        entry = {key: turn[key] for key in ("role", "content", "start") if key in turn}
        start = time.perf_counter()
        try:
            session = await engine.update_activity(entry, session)
        except Exception as error:  # some cases are about errors; their time counts as well
            session = getattr(error, "session", None) or session
        times.append((time.perf_counter() - start) * 1000)
    return times


# ------------------------------------------------------------------ on disk

FLOW: dict[str, Any] = {
    "id": "ask",
    "name": "Ask",
    "primary": True,
    "steps": [
        {"id": "what", "type": "SAY-GET", "variable": "what", "value": "What next?"},
        {"type": "CALL-TOOL", "tool": "look", "args": {"q": "{{what}}"}, "variable": "a"},
        {"type": "CALL-TOOL", "tool": "look", "args": {"q": "{{a.q}}"}, "variable": "b"},
        {"id": "say", "type": "SAY", "value": "Found {{b.q}}."},
        {"id": "again", "type": "FLOW", "value": "ask", "callType": "replace"},
    ],
}  # fmt: skip
TOOL: dict[str, Any] = {
    "id": "look",
    "name": "Look",
    "effect": "reads",
    "parameters": {"type": "object", "properties": {"q": {"type": "string"}}},
    "implementation": {"type": "local", "function": "look"},
}
CARGO = {f"fact{number}": "what the host knows of the caller " * 4 for number in range(55)}


@quick
def look(args: dict[str, Any]) -> dict[str, Any]:
    """Nothing but an answer."""
    return {"q": args["q"]}


class Tape:
    """What one turn wrote: the arguments of the store's calls, in order."""

    def __init__(self) -> None:
        self.words = b""
        self.intents: list[tuple[Any, ...]] = []
        self.end: tuple[Any, ...] = ()


class TapedStore(SqliteStore):
    """The SQLite store, noting what it is told to write."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.tapes: dict[str, list[Tape]] = {}

    async def accept_and_claim(self, session_id: str, message_id: str, input: bytes, **more: Any):  # type: ignore[override]
        tape = Tape()
        tape.words = input
        self.tapes.setdefault(session_id, []).append(tape)
        return await super().accept_and_claim(session_id, message_id, input, **more)

    async def intent(self, claim: Any, seq: int, call: Any, doc: bytes, commits: Any, **more: Any):  # type: ignore[override]
        self.tapes[claim.session_id][-1].intents.append((call, doc, commits, more))
        return await super().intent(claim, seq, call, doc, commits, **more)

    async def finish(self, claim: Any, doc: bytes, reply: bytes, **more: Any):  # type: ignore[override]
        self.tapes[claim.session_id][-1].end = (doc, reply, more)
        return await super().finish(claim, doc, reply, **more)


async def bare_turn(store: BareStore, session_id: str, number: int, tape: Tape) -> None:
    """The statements of a taped turn, and nothing around them."""
    turn = await store.begin(session_id, f"m{number}", tape.words)
    for seq, (call, doc, commits, more) in enumerate(tape.intents, 1):
        before = more.get("previous_result")
        result = before[1] if before else None
        await store.intent(turn, seq, call.args, call.key, doc, commits, result)
    doc, reply, more = tape.end
    await store.finish(
        turn, doc, reply, more["messages"], more["commits"], more["previous_result"][1]
    )


async def our_block(engine: Engine, conversations: int, first: int, turns: int) -> list[float]:
    times: list[float] = []

    async def converse(name: str) -> None:
        for number in range(first, first + turns // conversations):
            start = time.perf_counter()
            await engine.take_turn(name, "the next thing", message_id=f"m{number}", user_id="ann")
            times.append((time.perf_counter() - start) * 1000)

    await asyncio.gather(*(converse(f"s{n}") for n in range(conversations)))
    return times


async def bare_block(store: BareStore, tapes: dict[str, list[Tape]], first: int) -> list[float]:
    times: list[float] = []

    async def converse(name: str) -> None:
        for number, tape in enumerate(tapes[name], first):
            start = time.perf_counter()
            await bare_turn(store, name, number, tape)
            times.append((time.perf_counter() - start) * 1000)

    await asyncio.gather(*(converse(name) for name in tapes))
    return times


async def on_disk(folder: Path, conversations: int) -> list[Figure]:
    """Blocks of ours and of the bare statements in turn."""
    ours: list[float] = []
    bare: list[float] = []
    ratios: list[float] = []
    turns = TURNS[conversations]
    bare_store = BareStore(folder / f"bare{conversations}.db")
    store = TapedStore(folder / f"ours{conversations}.db")
    engine = Engine(
        flows=[FLOW], tools=[TOOL], functions={"look": look}, store=store, validate_on_init=False
    )
    async with engine:
        await open_conversations(engine, conversations)
        for number in range(ROUNDS + 1):
            store.tapes.clear()
            gc.collect()
            one = await our_block(engine, conversations, number * turns, turns)
            gc.collect()
            two = await bare_block(bare_store, store.tapes, number * turns)
            if number:  # the first round fills caches
                ours += one
                bare += two
                ratios.append(middle(one) / middle(two))
    bare_store.close()
    name = f"turn: on disk, {conversations} at once"
    return [
        figure(name, ours, "ms"),
        figure(f"{name}, bare", bare, "ms"),
        figure(f"{name}, ratio", ratios, "x"),
    ]


async def open_conversations(engine: Engine, conversations: int) -> None:
    for number in range(conversations):
        await engine.take_turn(f"s{number}", "ask", user_id="ann", cargo=CARGO)


def middle(times: Sequence[float]) -> float:
    return figure("", times, "")["median"]
