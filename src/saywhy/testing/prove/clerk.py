"""The agent in the proofs: it pays, has a flow ask the user, and says what came of it.

What its model answers follows from what it is handed alone, so that one conversation goes like the
other. Each time it is asked is a line in the ledger.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Final

from saywhy.models.chat import text_of
from saywhy.models.provider import Ask, ModelReply, ToolCallPiece
from saywhy.runtime.agents.agent import Agent
from saywhy.runtime.agents.flow_tool import flow_tool
from saywhy.testing.faults import Faults
from saywhy.testing.ledger import Ledger
from saywhy.tools.registry import Registry
from saywhy.values import loads_raw

MODEL: Final = "model"
"""The place of a model's call, for faults."""

NAME: Final = "clerk"
ASKING: Final[ContextVar[tuple[str, str]]] = ContextVar("asking", default=("", ""))
"""The conversation that asks, and which of its questions this is."""

Call = tuple[str, Mapping[str, Any]]

ERRANDS: Final[Mapping[str, Sequence[Sequence[Call]]]] = {
    "pay": (
        [("charge-once", {"what": "agent", "amount": 41})],
        [("agent-inner", {"why": "to be sure"})],
    ),
    "both": (
        [
            ("charge-by-key", {"what": "agent-left", "amount": 42}),
            ("charge-looked-up", {"what": "agent-right", "amount": 43}),
        ],
    ),
}
"""What it is told → the calls it wants made, round by round."""


class ClerkModel:
    """Answers by what was said since it was last spoken to."""

    def __init__(self, ledger: Ledger, faults: Faults, pause_seconds: float) -> None:
        self._ledger = ledger
        self._faults = faults
        self._pause_seconds = pause_seconds

    async def ask(self, ask: Ask) -> ModelReply:
        """The calls of the next round, or what came of them."""
        session_id, question = ASKING.get()
        self._ledger.note("asked", question, session=session_id)
        fault = self._faults.reach(MODEL)
        await asyncio.sleep(self._pause_seconds)
        reply = _reply_to(ask.messages)
        self._ledger.note("replied", question, session=session_id)
        self._faults.end(fault)
        return reply


def _reply_to(messages: Sequence[Mapping[str, Any]]) -> ModelReply:
    said = max(at for at, one in enumerate(messages) if one["role"] == "user")
    rounds = ERRANDS[text_of(messages[said]["content"])]
    newer = messages[said + 1 :]
    done = sum(one["role"] == "assistant" for one in newer)
    if done < len(rounds):
        calls = tuple(
            ToolCallPiece(f"{done}-{at}", name, dict(arguments))
            for at, (name, arguments) in enumerate(rounds[done])
        )
        return ModelReply("", tool_calls=calls, stop="tool_calls")
    results = [text_of(one["content"]) for one in newer if one["role"] == "tool"]
    return ModelReply(f"Paid {', '.join(map(_receipt, results))}.")


def _receipt(result: str) -> str:
    tree: Any = loads_raw(result)
    found: Any = tree.get("variables", {}).get("got", tree)
    return str(found.get("receipt", result))


def clerk(tools: Iterable[Any], model: ClerkModel) -> Agent:
    """The agent, with the tools of the proofs that it may call."""
    wanted = {name for rounds in ERRANDS.values() for calls in rounds for name, _ in calls}
    own = [tool for tool in Registry(tools) if tool.id in wanted]
    inner = flow_tool("agent-inner", returns=["got"])
    return Agent(model, name=NAME, tools=[*own, inner], tool_concurrency=2)


__all__ = ["ASKING", "MODEL", "NAME", "ClerkModel", "clerk"]
