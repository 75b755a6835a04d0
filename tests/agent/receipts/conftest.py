"""A chart of the shape that agents have: it assembles a request, asks a model, runs a tool, loops.

It stands for no agent in particular, so that these tests say what holds for any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from saywhy.agent.receipts.minters import Minters
from saywhy.agent.receipts.receipt import Receipt
from saywhy.chart.build import Builder
from saywhy.chart.built import Built, Result
from saywhy.chart.drive import Emit
from saywhy.chart.outcome import Answer, Need
from saywhy.models.provider import Ask
from saywhy.values import FrozenDict, freeze

TOOLS = [
    {"name": name, "description": f"does {name}", "input_schema": {"type": "object"}}
    for name in ("look", "book", "cancel")
]
SETTINGS = {"model": "m-1", "temperature": 0.5}


def ask(*texts: str, system: str | None = "Be brief.", **fields: Any) -> Ask:
    """A request whose messages are these texts of a user."""
    messages = freeze([{"role": "user", "content": text} for text in texts])
    tools = fields.get("tools", TOOLS)
    settings = freeze(fields.get("settings", SETTINGS))
    return Ask("chat", system, messages, None if tools is None else freeze(tools), settings)


def hashes(receipt: Receipt) -> set[str]:
    """Every hash on a receipt."""
    parts = [receipt.system, receipt.params, *receipt.messages, *(receipt.tools or ())]
    return {part.hash for part in parts if part} | {*receipt.slots.values(), receipt.root}


def talking(
    rounds: int, run_id: Callable[[], str | None] = lambda: "run-1", **options: Any
) -> Built:
    """A chart that asks the model `rounds` times; `options` are those of `Minters`."""
    minters = Minters(**options)
    chart = Builder("talking")

    @chart.stage
    def seed(s: Any) -> None:
        s.assembledSystem = s.args.get("system", "Be brief.")
        s.messages = [{"role": "user", "content": s.args.get("message", "Where is my order?")}]
        s.toolDescriptions = s.args.get("tools", TOOLS)
        s.settings = SETTINGS
        s.loopCount = 0
        s.receipts = []

    @chart.pausable(id="call-llm", asks="model", effect="reads")
    def call_llm(s: Any) -> Need:
        s.loopCount += 1
        request = Ask("chat", s.assembledSystem, s.messages, s.toolDescriptions, s.settings)
        entry = minters.entry(
            request, run_id(), s.receipts, call=s.loopCount, iteration=s.loopCount
        )
        if entry is not None:
            s.receipts.append(entry)
        return Need("model", "chat", {"call": s.loopCount, "scope": "state"}, "reads")

    @call_llm.resume
    def _(s: Any, answer: Any) -> None:
        calls = [{"id": f"c-{s.loopCount}", "name": "look", "arguments": {"n": s.loopCount}}]
        s.messages.append({"role": "assistant", "content": answer, "tool_calls": calls})

    @chart.decider
    def route(s: Any) -> str:
        return "tools" if s.loopCount < rounds else "final"

    def tools(s: Any) -> None:
        call_id = f"c-{s.loopCount}"
        s.messages.append({"role": "tool", "content": f"at {call_id}", "tool_call_id": call_id})

    route.branch("tools", tools, loop_to="call-llm", max_iter=10_000)
    route.branch("final").end()
    return chart.build()


async def answered(need: Need, emit: Emit) -> Answer:
    """Says something for each call."""
    return Answer(f"answer to call {need.args['call']}")


async def run(
    rounds: int, args: Mapping[str, Any] | None = None, run_id: str | None = "run-1", **options: Any
) -> Result:
    """What a run of `talking` has come to."""
    built = talking(rounds, lambda: run_id, **options)
    return await built.run(args, answerers={"model": answered})


def plain_state(result: Result) -> FrozenDict:
    """The state at the end as it comes back from JSON."""
    from saywhy.values import dumps, loads

    return loads(dumps(result.state))
