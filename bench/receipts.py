"""What a receipt costs: one more message at 10, 100 and 1,000, a large request, memory, checking.

The lengths are measured side by side, one receipt of each in turn, so that what other programs on
the machine do meets all of them alike; `1,000 to 10 messages` is the ratio of such neighbours. The
cost is that of minting and of making the entry that is kept in the state; three hashes are in it.
"""

from __future__ import annotations

import gc
import hmac
import statistics
import time
import tracemalloc
from typing import Any

from bench.figures import Figure, figure
from saywhy.agent.receipts.log import KEY
from saywhy.agent.receipts.mint import Minter
from saywhy.agent.receipts.minters import Minters
from saywhy.agent.receipts.served import served_all
from saywhy.chart.commit import Asked, Commit, Op
from saywhy.models.provider import Ask
from saywhy.values import FrozenList, freeze

LENGTHS = (10, 100, 1000)
ROUNDS = 200
RUNS = 15
TOOLS = 200
MESSAGES = 100
CALLS = 1000

SYSTEM = "You answer questions about orders. " * 20
SETTINGS = freeze({"model": "m-1", "temperature": 0.2, "max_tokens": 1024})


def run() -> list[Figure]:
    return [*appended(), *large(), kept(), checked()]


def message(number: int) -> dict[str, Any]:
    """About 200 bytes."""
    return {"role": "user", "content": f"message {number}: " + "what became of my order " * 8}


def tool(number: int) -> dict[str, Any]:
    """About 500 bytes."""
    fields = {f"field_{at}": {"type": "string", "description": "a field"} for at in range(6)}
    schema = {"type": "object", "properties": fields, "required": ["field_0"]}
    return {"name": f"tool_{number}", "description": "does something", "input_schema": schema}


def messages_of(length: int) -> FrozenList:
    grown = FrozenList([])
    for number in range(length):
        grown = grown.appended(message(number))
    return grown


class Talk:
    """A conversation whose next request has one message more."""

    def __init__(self, length: int, tools: int = 10) -> None:
        self.minters = Minters()
        self.messages = messages_of(length)
        self.tools = freeze([tool(number) for number in range(tools)])
        self.held = FrozenList([])
        self.next()

    def next(self) -> float:
        """Seconds that the receipt of the next request took."""
        self.messages = self.messages.appended(message(len(self.messages)))
        ask = Ask("chat", SYSTEM, self.messages, self.tools, SETTINGS)
        call = len(self.held) + 1
        start = time.perf_counter()
        entry = self.minters.entry(ask, "run-1", self.held, call=call, step_id="call-llm")
        taken = time.perf_counter() - start
        self.held = self.held.appended(entry)
        return taken


def appended() -> list[Figure]:
    """Microseconds for the receipt of a request with one message more."""
    samples: dict[int, list[float]] = {length: [] for length in (0, *LENGTHS)}
    for _ in range(RUNS):
        talks = {length: Talk(length) for length in LENGTHS}
        taken: dict[int, list[float]] = {length: [] for length in (0, *LENGTHS)}
        gc.collect()
        gc.disable()
        for _ in range(ROUNDS):
            for length, talk in talks.items():
                taken[length].append(talk.next())
            taken[0].append(_bare_hash())
        gc.enable()
        for length, times in taken.items():
            samples[length].append(statistics.median(times) * 1e6)
    ratios = [long / short for short, long in zip(samples[10], samples[1000], strict=True)]
    return [
        *(figure(f"receipts: one more message at {n:,}", samples[n], "us") for n in LENGTHS),
        figure("receipts: one more message, 1,000 to 10 messages", ratios, ""),
        figure("receipts: one HMAC of 200 bytes, for comparison", samples[0], "us"),
    ]


def _bare_hash() -> float:
    start = time.perf_counter()
    hmac.digest(b"run-1", b"x" * 200, "sha256").hex()
    return time.perf_counter() - start


def large() -> list[Figure]:
    """Microseconds for a request of 200 tools and 100 messages: the first one, and the next."""
    first: list[float] = []
    later: list[float] = []
    for number in range(RUNS):
        tools = freeze([tool(each) for each in range(TOOLS)])
        messages = messages_of(MESSAGES)
        minter = Minter(f"run-{number}")
        for call in (1, 2):
            ask = Ask("chat", SYSTEM, messages, tools, SETTINGS)
            start = time.perf_counter()
            minter.mint(ask, minter.basis(call))
            (first if call == 1 else later).append((time.perf_counter() - start) * 1e6)
            messages = messages.appended(message(MESSAGES))
    return [
        figure("receipts: 200 tools and 100 messages, the first", first, "us"),
        figure("receipts: 200 tools and 100 messages, the next", later, "us"),
    ]


def kept() -> Figure:
    """Bytes that stay in the state for each of 1,000 receipts."""
    talk = Talk(10)
    gc.collect()
    tracemalloc.start()
    held: list[Any] = []
    for _ in range(CALLS):
        talk.next()
        held.append(talk.held.raw[-1])
    before = tracemalloc.get_traced_memory()[0]
    held.clear()
    talk.held = FrozenList([])
    gc.collect()
    size = (before - tracemalloc.get_traced_memory()[0]) / CALLS
    tracemalloc.stop()
    return figure("receipts: kept in the state for each", [size], "B")


def checked() -> Figure:
    """Microseconds a call to rebuild and verify all of a run with 1,000 of them."""
    talk = Talk(1)
    for _ in range(CALLS - 1):
        talk.next()
    commits = list(_recorded(talk))
    samples: list[float] = []
    for _ in range(3):
        start = time.perf_counter()
        served = served_all(commits)
        samples.append((time.perf_counter() - start) / CALLS * 1e6)
        assert all(each.verdict == "verified" for each in served)
    return figure("receipts: a call rebuilt and verified, of 1,000", samples, "us")


def _recorded(talk: Talk) -> list[Commit]:
    """The commits that such a conversation leaves."""
    first = [
        Op("set", ("state", "assembledSystem"), SYSTEM),
        Op("set", ("state", "toolDescriptions"), talk.tools),
        Op("set", ("state", "settings"), SETTINGS),
        Op("append", ("state", "messages"), talk.messages[0]),
    ]
    commits: list[Commit] = []
    for number, entry in enumerate(talk.held, 1):
        ops = [
            *(first if number == 1 else ()),
            Op("append", ("state", "messages"), talk.messages[number]),
            Op("append", ("state", KEY), entry),
        ]
        asked = Asked("model", "chat", freeze({"call": number, "scope": "state"}), "reads")
        commit = Commit(
            number,
            1,
            1,
            "",
            "talk",
            "call-llm",
            "stage",
            phase="asked",
            ops=tuple(ops),
            asked=asked,
        )
        commits.append(commit)
    return commits
