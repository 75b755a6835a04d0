"""What keeping a trace costs a turn: every turn of the flow cases, with the record and without.

Both engines play the same conversations in turns, `Policy(kept=False)` being the one without; the
ratio is of processor time, pass by pass, so that what else the machine does strikes both. 1.25 is
the limit. Steps make their commits in both; masking, keeping, packing and writing them is what the
record adds. `in a store` is the same in a store in memory, where the rows of commits are written as
well. `awaits` is how often a turn in the store comes back to the event loop with a record more than
without: 0 is the limit. `watched` compares turns that a recorder listens to with others.
"""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import time
from collections.abc import Awaitable, Callable, Generator, Iterable
from typing import Any

from bench.figures import Figure, figure
from bench.turns import CASES, is_plain
from saywhy import Engine
from saywhy.chart.commit import Commit
from saywhy.stores.memory import MemoryStore
from saywhy.trace.masking.redact import Policy

PASSES = 9

Case = dict[str, Any]


class Listener:
    """A recorder that does nothing."""

    def watch_run(self, conversation_id: str, before: Iterable[Commit] = ()) -> Any:
        return lambda commit: None  # pyright: ignore[reportUnknownLambdaType]


class Counted:
    """An awaitable that counts how often it comes back to the event loop."""

    def __init__(self, work: Awaitable[Any]) -> None:
        self._work = work
        self.times = 0

    def __await__(self) -> Generator[Any, Any, Any]:
        inner = self._work.__await__()
        try:
            while True:
                asked = next(inner)
                self.times += 1
                yield asked
        except StopIteration as over:
            return over.value


def run() -> list[Figure]:
    """Ratios of processor time, and the difference in awaits."""
    logging.getLogger("saywhy").setLevel(logging.CRITICAL)
    cases = [json.loads(path.read_text("utf-8")) for path in sorted(CASES.glob("*.json"))]
    return asyncio.run(figures([case for case in cases if is_plain(case)]))


async def figures(cases: list[Case]) -> list[Figure]:
    kept, not_kept = Policy(), Policy(kept=False)

    async def memory(policy: Policy, watched: bool = False) -> float:
        return await _played(cases, policy, None, watched=watched)

    async def stored(policy: Policy) -> float:
        return await _played(cases, policy, MemoryStore)

    return [
        await _ratios("trace: a turn with it", lambda: memory(kept), lambda: memory(not_kept)),
        await _ratios(
            "trace: a turn with it, in a store", lambda: stored(kept), lambda: stored(not_kept)
        ),
        await _ratios(
            "trace: a turn with it, watched", lambda: memory(kept, True), lambda: memory(kept)
        ),
        figure("trace: awaits it adds", await _awaits(cases[:40]), "x"),
    ]


async def _ratios(
    name: str, one: Callable[[], Awaitable[float]], other: Callable[[], Awaitable[float]]
) -> Figure:
    ratios: list[float] = []
    for number in range(PASSES + 1):
        gc.collect()
        ratio = await one() / await other()
        if number:  # the first fills caches
            ratios.append(ratio)
    return figure(name, ratios, "x")


async def _played(
    cases: list[Case],
    policy: Policy,
    store: Callable[[], MemoryStore] | None,
    *,
    watched: bool = False,
) -> float:
    """Seconds of processor time that all turns took, without making engines and sessions."""
    taken = 0.0
    for case in cases:
        engine = _engine(case, policy, store and store())
        if watched:
            engine.watch(Listener())
        session = engine.init_session("ann", "s", case["language"])
        for turn in case["turns"]:
            entry = _entry(turn)
            start = time.thread_time()
            try:
                if store is None:
                    session = await engine.update_activity(entry, session)
                else:
                    await engine.take_turn("s", entry, user_id="ann")
            except Exception as error:  # some cases are about errors; their time counts as well
                session = getattr(error, "session", None) or session
            taken += time.thread_time() - start
    return taken


async def _awaits(cases: list[Case]) -> list[float]:
    """By turn: awaits with a record less those without."""
    more: list[float] = []
    for case in cases:
        engines = [_engine(case, Policy(kept=kept), MemoryStore()) for kept in (True, False)]
        for turn in case["turns"]:
            counts = [Counted(engine.take_turn("s", _entry(turn))) for engine in engines]
            for count in counts:
                try:
                    await count
                except Exception:  # as above
                    continue
            more.append(counts[0].times - counts[1].times)
    return more


def _entry(turn: Case) -> Case:
    return {key: turn[key] for key in ("role", "content", "start") if key in turn}


def _engine(case: Case, policy: Policy, store: MemoryStore | None) -> Engine:
    return Engine(
        flows=case["flows"],
        tools=case["tools"],
        globals=case["globals"],
        guidance=(case.get("engine") or {}).get("guidance"),
        validate_on_init=False,
        redact=policy,
        store=store,
    )
