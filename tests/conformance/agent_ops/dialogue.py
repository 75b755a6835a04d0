"""The operation `dialogue` of the corpus: a whole conversation with the public `Agent`.

The cases record what an agent may be built with, so what our agents refuse at build is let pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from saywhy.agent.instructions.recorder import InstructionRecorder
from saywhy.agent.loop.build import build_agent_loop
from saywhy.agent.recorders.tokens import TokenRecorder
from saywhy.agent.recorders.tool_usage import ToolUsageRecorder
from saywhy.agent.recorders.turns import TurnRecorder
from saywhy.errors import DefinitionError
from saywhy.models.provider import Ask, ModelReply, ToolCallPiece
from saywhy.runtime.agents.agent import Agent
from saywhy.values import thaw
from tests.conformance.agent_ops import pieces
from tests.conformance.agent_ops.slots import prompt_in, strategy_in, tools_in

SCOPE = {
    "system_prompt": "systemPrompt",
    "matched_instructions": "matchedInstructions",
    "prompt_injections": "promptInjections",
    "loop_count": "loopCount",
    "max_iterations": "maxIterations",
    "result": "result",
}
"""State keys that cases capture, by the name they have there."""


TURN = (
    "turn_number",
    "message",
    "status",
    "content",
    "message_count",
    "total_loop_iterations",
    "error",
)
TOKEN = ("total_calls", "total_input_tokens", "total_output_tokens")
"""Figures that cases show; what a clock or a run's id is part of is none of them."""


def shown(figures: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Those of the figures that a case shows."""
    return {name: figures[name] for name in names if name in figures}


class Script:
    """A model that answers from the case, and writes down what it was handed."""

    def __init__(self, entries: list[dict[str, Any]]) -> None:
        self.entries = list(entries)
        self.calls: list[dict[str, Any]] = []

    async def ask(self, ask: Ask) -> ModelReply:
        system = [] if ask.system is None else [{"role": "system", "content": ask.system}]
        handed: dict[str, Any] = {
            "messages": [*system, *thaw(list(ask.messages))],
            "tools": None if ask.tools is None else thaw(list(ask.tools)),
        }
        if "response_format" in ask.settings:
            handed["response_format"] = thaw(ask.settings["response_format"])
        self.calls.append(handed)
        entry = self.entries.pop(0)
        if "raise" in entry:
            raise RuntimeError(entry["raise"])
        calls = tuple(
            ToolCallPiece(one["id"], one["name"], one["arguments"])
            for one in entry.get("tool_calls") or ()
        )
        usage = entry.get("usage") or {"input_tokens": 10, "output_tokens": 20}
        return ModelReply(
            entry.get("content", ""),
            entry.get("model", "mock"),
            usage["input_tokens"],
            usage["output_tokens"],
            calls,
            "tool_calls" if calls else "stop",
        )


class Store:
    """Keeps histories as they are saved."""

    def __init__(self, kept: Mapping[str, Any]) -> None:
        self.kept: dict[str, Any] = dict(kept)

    async def load(self, conversation_id: str) -> Any:
        return self.kept.get(conversation_id)

    async def save(self, conversation_id: str, messages: Any) -> None:
        self.kept[conversation_id] = thaw(messages)


class Dialogue:
    """One case while it is played."""

    def __init__(self, given: Mapping[str, Any], *, as_loop: bool = False) -> None:
        self.given = given
        self.as_loop = as_loop
        """On the chart of `build_agent_loop`, instead of the one agents run on."""
        self.script = Script(given["llm"])
        self.store = Store(given.get("store") or {})
        self.events: list[dict[str, Any]] = []
        self.turns = TurnRecorder()
        self.tokens = TokenRecorder()
        self.usage = ToolUsageRecorder()
        self.instructions = InstructionRecorder()
        self.agent = self.made()

    def made(self) -> Agent:
        """A fresh agent on the same store and script."""
        spec = self.given["agent"]
        builder = Agent.create(self.script, spec.get("name", "agent")).options(
            allow_unsafe=True,
            allow_clashes=True,
            allow_unknown_targets=True,
            recorders=[self.turns, self.tokens, self.usage, self.instructions],
        )
        builder = builder.system(spec.get("system", ""))
        builder = builder.tools(map(pieces.tool, spec.get("tools") or ()))
        builder = builder.instructions(pieces.agent_instructions(spec.get("instructions")) or ())
        if "prompt_provider" in spec:
            builder = builder.prompt_provider(prompt_in(spec["prompt_provider"]))
        if "tool_provider" in spec:
            builder = builder.tool_provider(tools_in(spec["tool_provider"]))
        if "max_iterations" in spec:
            builder = builder.max_iterations(spec["max_iterations"])
        if "pattern" in spec:
            builder = builder.pattern(spec["pattern"])
        if "decision" in spec:
            builder = builder.decision(spec["decision"])
        for tool_id, change in (spec.get("instruction_overrides") or {}).items():
            builder = builder.instruction_override(tool_id, pieces.override(change))
        if "output_schema" in spec:
            form = spec["output_schema"]
            builder = builder.output_schema(form["schema"], **(form.get("options") or {}))
        if "memory" in spec:
            kept = spec["memory"]
            strategy = strategy_in(kept["strategy"]) if kept.get("strategy") else None
            builder = builder.memory(self.store, kept["conversation_id"], strategy)
        agent = builder.build()
        if self.as_loop:
            agent.built = build_agent_loop(agent.definition.loop_config(agent.model)).chart
        return agent

    async def play(self) -> dict[str, Any]:
        """All turns, and what the case wants to see of them."""
        turns = [await self.turn(turn) for turn in self.given["turns"]]
        told: dict[str, Any] = {
            "calls": self.script.calls,
            "turns": turns,
            "final_messages": self.agent.get_messages(),
        }
        for name in self.given.get("capture") or ():
            key, value = getattr(self, f"_{name}")()
            told[key] = value
        if "memory" in self.given["agent"]:
            told["store"] = self.store.kept
        return told

    async def turn(self, turn: Any) -> dict[str, Any]:
        """One turn, as the case tells it."""
        if isinstance(turn, dict) and turn.get("reset"):
            self.agent.reset_conversation()
            return {"reset": True}
        if isinstance(turn, dict) and turn.get("new_agent"):
            self.agent = self.made()
            return {"new_agent": True}
        try:
            if isinstance(turn, dict):
                result = await self.agent.resume(turn["resume"], on_event=self._heard)
            else:
                result = await self.agent.run(turn, on_event=self._heard)
        except Exception as error:
            return {"error": str(error)}
        told: dict[str, Any] = {"content": result.content, "iterations": result.iterations}
        if result.paused:
            told |= {"paused": True, "pause_data": thaw(result.pause_data)}
        return told

    def _heard(self, event: Any) -> None:
        value = event.to_value()
        value.pop("latency_ms", None)
        self.events.append(value)

    # ------------------------------------------------------------ what a case captures

    def _events(self) -> tuple[str, Any]:
        return "events", self.events

    def _narrative(self) -> tuple[str, Any]:
        return "narrative", self.agent.get_narrative().splitlines()

    def _decision(self) -> tuple[str, Any]:
        return "decision", thaw(self.agent.get_snapshot().state.get("decision"))

    def _scope(self) -> tuple[str, Any]:
        state = self.agent.get_snapshot().state
        return "scope", {name: thaw(state[key]) for name, key in SCOPE.items() if key in state}

    def _turn(self) -> tuple[str, Any]:
        entries = self.turns.get_summary().to_value()["entries"]
        return "turn_recorder", [shown(entry, TURN) for entry in entries]

    def _token(self) -> tuple[str, Any]:
        return "token_recorder", shown(self.tokens.get_summary().to_value(), TOKEN)

    def _tool_usage(self) -> tuple[str, Any]:
        usage = self.usage.get_summary().to_value()
        tools = {name: shown(one, ("calls", "errors")) for name, one in usage["by_tool"].items()}
        return "tool_usage", {**usage, "by_tool": tools}

    def _instruction_summary(self) -> tuple[str, Any]:
        return "instruction_summary", self.instructions.get_summary().to_value()


async def dialogue(given: Mapping[str, Any]) -> dict[str, Any]:
    """Play a conversation."""
    return await _played(given)


async def dialogue_as_loop(given: Mapping[str, Any]) -> dict[str, Any]:
    """Play a conversation on the other form of the loop."""
    return await _played(given, as_loop=True)


async def _played(given: Mapping[str, Any], *, as_loop: bool = False) -> dict[str, Any]:
    try:
        played = Dialogue(given, as_loop=as_loop)
    except DefinitionError as error:
        return {"error": error.problems[0].message}
    return await played.play()


OPS = {"dialogue": dialogue}
