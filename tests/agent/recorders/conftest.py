"""An agent that does everything recorders count, and records of its runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from saywhy.agent.instructions.follow_up import follow
from saywhy.agent.instructions.rule import LLMInstruction
from saywhy.agent.slots.offers import gated_tools
from saywhy.agent.tools import ask_human, define_tool
from saywhy.errors import ModelError
from saywhy.models.provider import Ask, ModelReply, ToolCallPiece
from saywhy.runtime.agents.agent import Agent
from saywhy.testing.clock import FakeClock
from saywhy.trace.trace import Trace

ORDER = {"type": "object", "properties": {"id": {"type": "integer"}}}


class Timed:
    """Gives these answers, each after its milliseconds on a clock."""

    def __init__(self, clock: FakeClock, *replies: tuple[int, ModelReply | Exception]) -> None:
        self.clock = clock
        self.left = list(replies)

    async def ask(self, ask: Ask) -> ModelReply:
        milliseconds, reply = self.left.pop(0)
        await self.clock.sleep(milliseconds / 1000)
        if isinstance(reply, Exception):
            raise reply
        return reply


def wants(*calls: tuple[str, str, dict[str, Any]], model: str = "big") -> ModelReply:
    """An answer that wants tools called: id, name, arguments."""
    pieces = tuple(ToolCallPiece(*call) for call in calls)
    return ModelReply("looking", model, 100, 10, pieces, "tool_calls")


def says(text: str, model: str = "small") -> ModelReply:
    """An answer in words."""
    return ModelReply(text, model, 50, 5, (), "stop")


def order(arguments: dict[str, Any]) -> dict[str, Any]:
    """An order that was denied."""
    return {"status": "denied", "trace": f"t{arguments['id']}"}


def broken(arguments: dict[str, Any]) -> None:
    """A tool that cannot do what it should."""
    raise RuntimeError("no line")


RULES = [
    LLMInstruction(
        "kind",
        text="Be kind.",
        when=lambda ctx: ctx.content["status"] == "denied",
        follow_up=follow("trace", lambda ctx: {"id": ctx.content["trace"]}, "Follow the trace"),
    ),
    LLMInstruction("paid", text="Say thanks.", when=lambda ctx: ctx.content["status"] == "paid"),
    LLMInstruction("odd", text="Odd.", when=lambda ctx: ctx.content["nothing"] == 1),
]


def tools() -> list[Any]:
    """An order, its trace, a broken one, a gated one, and a person."""
    return [
        define_tool("order", "Finds an order.", ORDER, order, instructions=RULES),
        define_tool("trace", "Follows a trace.", {}, lambda arguments: "line 7"),
        define_tool("broken", "Breaks.", {}, broken),
        ask_human(),
    ]


REPLIES = (
    (200, wants(("c1", "order", {"id": 7}), ("c2", "broken", {}))),
    (100, wants(("c3", "trace", {"id": "t7"}), ("c4", "order", {"id": "x"}), ("c5", "gone", {}))),
    (60, says("Denied in line 7.")),
    (30, says("You are welcome.")),
    (10, ModelError("down", code="server")),
    (20, wants(("c6", "ask_human", {"question": "Sure?"}))),
    (40, says("Done.")),
    (70, wants(("c7", "danger", {}))),
    (80, says("I may not.")),
)


async def all_runs(recorders: Iterable[Any], replies: Any = REPLIES) -> list[Trace]:
    """A conversation with everything in it; the records of its runs."""
    clock = FakeClock()
    danger = define_tool("danger", "Deletes.", {}, lambda arguments: "deleted")
    model = Timed(clock, *replies)
    agent = Agent(
        model,
        system="Help.",
        tools=tools(),
        tool_provider=gated_tools([*tools(), danger], ["order", "trace", "broken", "ask_human"]),
        recorders=recorders,
        clock=clock,
        new_id=iter(f"r{number}" for number in range(9)).__next__,
    )
    records: list[Trace] = []
    for words in ("Where is order 7?", "Thanks", "And now?", "Delete it", "Really"):
        try:
            result = await agent.run(words)
            if result.paused:
                await agent.resume("yes")
        except ModelError:
            pass
        records.append(agent.trace)
    await agent.settled()
    return records
