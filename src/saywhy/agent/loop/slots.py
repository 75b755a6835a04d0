"""The slots of a loop: which stages fill them, and what is taken over from each.

What a slot does stands in `agent.slots`, as charts. Here their stages are put on a line of the
loop: a sub-chart of its own, or a branch of the selector.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import iscoroutinefunction
from typing import Any, Final

from saywhy.agent.loop.config import AgentLoopConfig, AgentPattern
from saywhy.agent.loop.state import EMPTY, given, glance, look
from saywhy.agent.loop.toolbox import Toolbox
from saywhy.agent.receipts.canon import Salt
from saywhy.agent.receipts.minters import Minters
from saywhy.agent.slots.messages_slot import WINDOW, messages_slot
from saywhy.agent.slots.mounting import OUTPUTS, STORED
from saywhy.agent.slots.resolved import Resolved
from saywhy.agent.slots.strategies import ToolPairSafety, safe_strategy, sliding_window
from saywhy.agent.slots.system_prompt import system_prompt_slot
from saywhy.agent.slots.tool_slot import tools_slot
from saywhy.chart.build import Script
from saywhy.chart.built import Built
from saywhy.chart.view import sight_of

PROMPT: Final = "sf-system-prompt"
MESSAGES: Final = "sf-messages"
TOOLS: Final = "sf-tools"
SLOTS: Final = (PROMPT, MESSAGES, TOOLS)

SUMMARIES: Final = {PROMPT: ("promptSummary",), MESSAGES: (), TOOLS: ("resolvedTools",)}

Stage = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Slot:
    """One slot: its mount, its stages, and what it gives."""

    id: str
    name: str
    built: Built
    outputs: tuple[str, ...]
    instead: dict[str, Callable[[Stage], Stage]]
    """By stage: what is put around it."""

    def fill(self, script: Script) -> None:
        """Put the slot's stages on a line."""
        chart = self.built.chart
        for node in chart.nodes.values():
            function = self.built.functions[f"{chart.id}/{node.id}"]
            around = self.instead.get(node.id)
            function = around(function) if around else function
            stage = script.stage(id=node.id, name=node.name, describe=node.describe, fresh=True)
            stage(function)


def slots_of(config: AgentLoopConfig, box: Toolbox, minters: Minters) -> dict[str, Slot]:
    """The slots of a loop, by id."""

    def salt(s: Any) -> Salt | None:
        run_id = glance(s, "runId")
        return minters.of(run_id).salt if run_id else None

    prompt = system_prompt_slot(
        config.system_prompt, injections=_for("system-prompt", config), salt=salt
    )
    tools: Any = box.provider if box.provider is not None else list(box.registry)
    return {
        PROMPT: _slot(PROMPT, "SystemPrompt", prompt),
        MESSAGES: _messages(config, salt),
        TOOLS: _slot(TOOLS, "Tools", tools_slot(tools, salt=salt)),
    }


def _for(slot: str, config: AgentLoopConfig) -> list[Any]:
    return [one for one in config.injections if one.slot == slot]


def _slot(id: str, name: str, built: Built) -> Slot:
    return Slot(id, name, built, (*OUTPUTS[id], *SUMMARIES[id]), {})


def _messages(config: AgentLoopConfig, salt: Callable[[Any], Salt | None]) -> Slot:
    strategy, regular = config.message_strategy, config.pattern is AgentPattern.REGULAR
    store = config.store
    if store is not None and strategy is None:
        strategy = sliding_window(WINDOW)
    if store is None and strategy is not None:
        store = Nowhere()  # so that what the strategy leaves out is not forgotten
    chosen = safe_strategy(strategy)
    if regular and strategy is not None:
        chosen = FirstPass(chosen)
    built = messages_slot(
        chosen,
        store=store,
        conversation_id=lambda s: conversation_id(config, s) or "run",
        injections=_for("messages", config),
        salt=salt,
    )
    slot = _slot(MESSAGES, "Messages", built)
    if store is None:
        return slot
    instead = _REGULAR if regular else {}
    return Slot(slot.id, slot.name, built, (*slot.outputs, *STORED), instead)


class Nowhere:
    """A store that holds nothing: the history of such a loop is handed to each run."""

    def load(self, conversation_id: str) -> None:
        """Nothing."""
        return

    def save(self, conversation_id: str, messages: Any) -> None:
        """Nothing."""


class FirstPass(ToolPairSafety):
    """A strategy that chooses in the first round; in later ones what is new is put behind."""

    def prepare(self, messages: Any, context: Any, /) -> Any:
        """What the strategy keeps, or in later rounds all."""
        if not context.loop_iteration:
            return super().prepare(messages, context)
        told = Resolved(messages, "appended", f"{len(messages)} messages")
        return _later(told) if self.is_async else told


async def _later(told: Resolved[Any]) -> Resolved[Any]:
    return told


def _first_only(stage: Stage) -> Stage:
    """The stage in the first round; nothing in later ones."""
    if iscoroutinefunction(stage):

        async def awaited(s: Any) -> None:
            if not glance(s, "loopCount", 0):
                await stage(s)

        return awaited

    def plain(s: Any) -> None:
        if not glance(s, "loopCount", 0):
            stage(s)

    return plain


def _on_current(stage: Stage) -> Stage:
    """The stage, for which in later rounds the messages of the loop are the history.

    They are what the first choice has grown to. Nothing is written down: it stands there already.
    """

    def put_current(s: Any) -> None:
        if glance(s, "loopCount", 0):
            sight = sight_of(s)
            sight.scope.replace((sight.owner, "history"), look(s, "messages", EMPTY), [])

    if iscoroutinefunction(stage):

        async def awaited(s: Any) -> None:
            put_current(s)
            await stage(s)

        return awaited

    def plain(s: Any) -> None:
        put_current(s)
        stage(s)

    return plain


_REGULAR: Final[dict[str, Callable[[Stage], Stage]]] = {
    "load-history": _first_only,
    "apply-strategy": _on_current,
    "track-prepared": _first_only,
}
"""How the stages of a stored conversation run in the Regular pattern."""


def conversation_id(config: AgentLoopConfig, s: Any) -> str:
    """Under which id the history is kept."""
    return str(given(s, "conversationId") or config.conversation_id)
