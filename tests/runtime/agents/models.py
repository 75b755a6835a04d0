"""Models and tools that the tests of agents share: written answers, and places to stop at."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

from saywhy.models.provider import (
    Ask,
    ModelReply,
    Piece,
    StopPiece,
    TextPiece,
    ToolCallPiece,
    UsagePiece,
)
from saywhy.values import thaw


def call(name: str, id: str = "1", **arguments: Any) -> ToolCallPiece:
    """A call that the model wants made."""
    return ToolCallPiece(id, name, arguments)


def calls(*wanted: ToolCallPiece, text: str = "") -> ModelReply:
    """An answer that wants tools called."""
    return ModelReply(text, "test", 10, 20, wanted, "tool_calls")


def says(text: str) -> ModelReply:
    """An answer in words."""
    return ModelReply(text, "test", 10, 20, (), "stop")


class Replies:
    """Gives these answers, one after the other; one that is an exception is raised."""

    def __init__(self, *replies: ModelReply | Exception | str) -> None:
        self.left = list(replies)
        self.asked: list[Ask] = []

    async def ask(self, ask: Ask) -> ModelReply:
        self.asked.append(ask)
        reply = self.left.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return says(reply) if isinstance(reply, str) else reply

    @property
    def messages(self) -> list[list[dict[str, Any]]]:
        """What each call was handed."""
        return [thaw(list(ask.messages)) for ask in self.asked]


class Gates:
    """Counts the awaits of a run, and stays at one of them after doing something."""

    def __init__(self, at: int = 0, then: Callable[[], Any] = lambda: None) -> None:
        self.at = at
        self.then = then
        self.passed = 0

    async def pass_one(self) -> None:
        """One place where a run waits."""
        self.passed += 1
        if self.passed == self.at:
            self.then()
            await asyncio.Event().wait()  # only being cancelled leads out of here
        await asyncio.sleep(0)


class GatedStream:
    """Streams its answers piece by piece, each behind a gate; knows which streams are open."""

    def __init__(self, gates: Gates, *replies: ModelReply) -> None:
        self.gates = gates
        self.left = list(replies)
        self.open = 0

    async def ask(self, ask: Ask) -> AsyncIterator[Piece]:
        self.open += 1
        try:
            await self.gates.pass_one()
            reply = self.left.pop(0)
            for word in reply.text.split():
                yield TextPiece(word)
                await self.gates.pass_one()
            for wanted in reply.tool_calls:
                yield wanted
                await self.gates.pass_one()
            yield UsagePiece(1, 2)
            yield StopPiece("tool_calls" if reply.tool_calls else "stop", "gated")
        finally:
            self.open -= 1
