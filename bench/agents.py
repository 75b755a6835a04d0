"""What a round of an agent costs: one answer of a model, one call of a tool, and the record.

The model is scripted and the tool adds two numbers, so nearly all of it is ours: slots with their
records, the request, its receipt, routing, the tool's checks, the trace. It is processor time, and
stands beside what an await costs at that moment, since this machine is shared: `in awaits` tells
more than the microseconds do. A round of ten and one of two hundred cost the same.
"""

from __future__ import annotations

import asyncio
import gc
import statistics
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

from bench.figures import Figure, figure
from saywhy.agent.loop.config import AgentLoopConfig
from saywhy.agent.loop.message_api import build_message_api_chart
from saywhy.agent.loop.request import ask_from
from saywhy.agent.receipts.minters import Minters
from saywhy.agent.tools import define_tool
from saywhy.chart.built import Built, Result
from saywhy.chart.commits import CommitLog
from saywhy.models.provider import Ask, ModelReply, ToolCallPiece
from saywhy.values import FrozenDict, FrozenList, freeze

FEW, MANY = 10, 200
RUNS = 15
TEXT = "thinking about the next step; " * 10


class Model:
    """Calls the tool so many times, then answers."""

    def __init__(self, rounds: int, text: str = TEXT) -> None:
        self.left = rounds
        self.text = text

    async def ask(self, ask: Ask) -> ModelReply:
        self.left -= 1
        if self.left < 0:
            return ModelReply("done")
        piece = ToolCallPiece(f"call-{self.left}", "add", {"a": self.left, "b": 2})
        return ModelReply(self.text, "scripted", 100, 20, (piece,))


async def add(args: dict[str, Any]) -> int:
    return int(args["a"]) + int(args["b"])


NUMBERS = {"a": {"type": "integer"}, "b": {"type": "integer"}}
SCHEMA = {"type": "object", "properties": NUMBERS, "required": ["a", "b"]}
ADD = define_tool("add", "Adds two numbers.", SCHEMA, add, effect="reads")


def run() -> list[Figure]:
    return [*rounds(), packing(), *memory(), *request()]


def loop(model: Model) -> Built:
    config = AgentLoopConfig(
        provider=model,
        system_prompt="Use the tool.",
        tools=[ADD],
        max_iterations=10_000,
        get_run_id=lambda: "run-1",
    )
    return build_message_api_chart(config, agent=True)


# ------------------------------------------------------------------ time


def rounds() -> list[Figure]:
    """One run after the other, few rounds and many in turn, each beside an await."""
    taken: dict[int, list[float]] = {FEW: [], MANY: []}
    relative: dict[int, list[float]] = {FEW: [], MANY: []}
    seconds(FEW)
    for _ in range(RUNS):
        for count in (FEW, MANY):
            await_seconds = an_await()
            one = (seconds(count) - seconds(0)) / count
            taken[count].append(one * 1e6)
            relative[count].append(one / await_seconds)
    ratio = statistics.median(taken[MANY]) / statistics.median(taken[FEW])
    return [
        figure(f"agent: a round, of {FEW}", taken[FEW], "us"),
        figure(f"agent: a round, of {MANY}", taken[MANY], "us"),
        figure(f"agent: a round, of {FEW}, in awaits", relative[FEW], "x"),
        figure(f"agent: a round, of {MANY}, in awaits", relative[MANY], "x"),
        figure("agent: a round, many to few", [ratio], "x"),
    ]


def seconds(count: int) -> float:
    """Processor time of a run with so many rounds."""
    built = loop(Model(count))
    return asyncio.run(timed(lambda: built.run({"message": "go"})))


async def timed(work: Callable[[], Any]) -> float:
    gc.collect()
    gc.disable()
    try:
        start = time.process_time()
        await work()
        return time.process_time() - start
    finally:
        gc.enable()


def an_await() -> float:
    """Processor time of an await that gives at once, in seconds."""

    async def nothing() -> None: ...

    async def many() -> float:
        start = time.process_time()
        for _ in range(20_000):
            await nothing()
        return (time.process_time() - start) / 20_000

    return asyncio.run(many())


def packing() -> Figure:
    """Packing the record of a round. It is done while a run waits, so rounds do not include it."""
    commits = tuple(asyncio.run(loop(Model(MANY)).run({"message": "go"})).commits)
    samples: list[float] = []
    for _ in range(RUNS):
        log = CommitLog(commits)
        start = time.process_time()
        log.pack()
        samples.append((time.process_time() - start) / MANY * 1e6)
    return figure("agent: packing a round's record, while it waits", samples, "us")


# ------------------------------------------------------------------ memory


def memory() -> list[Figure]:
    """What a run keeps, trace and receipts included, against the texts that went through it."""
    payload = 4_000
    text = "x" * payload
    built = loop(Model(0))
    asyncio.run(built.run({"message": "go"}))
    tracemalloc.start()
    try:
        model = Model(MANY)
        # A text of its own each time: one that is shared would weigh nothing.
        model.ask = _own_texts(model, text)  # type: ignore[method-assign]
        kept: Result = asyncio.run(loop(model).run({"message": "go"}))
        gc.collect()  # what Python has at hand for its next objects is not kept by a run
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    said = sum(len(str(one.get("content"))) for one in kept.state["messages"])
    return [figure(f"agent: kept after {MANY} rounds, to its payload", [held / said], "x")]


def _own_texts(model: Model, text: str) -> Callable[[Ask], Any]:
    async def ask(ask: Ask) -> ModelReply:
        model.text = f"{model.left}{text}"
        return await Model.ask(model, ask)

    return ask


# ------------------------------------------------------------------ the request


def request() -> list[Figure]:
    """A request of many tools and messages, made of the state, and its receipt."""
    tools: FrozenList = freeze(
        [{"name": f"tool-{n}", "description": TEXT, "input_schema": SCHEMA} for n in range(200)]
    )
    messages: FrozenList = freeze([{"role": "user", "content": f"{n} {TEXT}"} for n in range(100)])
    held: dict[str, Any] = {
        "assembledSystem": "Use the tools.",
        "toolDescriptions": tools,
        "settings": FrozenDict({"model": "m"}),
    }
    minters = Minters()
    entries: list[Any] = [_entry(minters, {**held, "messages": messages}, [])]
    samples: list[float] = []
    for _ in range(RUNS * 10):
        messages = messages.appended({"role": "user", "content": TEXT})
        start = time.process_time()
        entries.append(_entry(minters, {**held, "messages": messages}, entries))
        samples.append((time.process_time() - start) * 1e3)
    return [
        figure("agent: the request of 200 tools and 100 messages, receipt included", samples, "ms")
    ]


def _entry(minters: Minters, held: dict[str, Any], entries: list[Any]) -> Any:
    return minters.entry(ask_from(held), "run-1", entries, call=len(entries) + 1)
