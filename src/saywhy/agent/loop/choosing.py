"""Which slots are filled anew before a call of the model, with the evidence for each.

A slot is filled when what it is made of has changed since it was filled last. In the Regular
pattern that is asked of the messages only; prompt and tools stay as the first pass made them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any, Final

from saywhy.agent.loop.config import AgentLoopConfig, AgentPattern
from saywhy.agent.loop.slots import MESSAGES, PROMPT, TOOLS
from saywhy.agent.loop.state import EMPTY, glance, key_of, look, write
from saywhy.agent.slots.offers import StaticTools
from saywhy.agent.slots.prompts import StaticPrompt, prompt_of
from saywhy.chart.commit import Condition, Decision
from saywhy.chart.view import sight_of
from saywhy.values import FrozenDict, FrozenList, dumps, raw

Fingerprint = Callable[[Any], Any]
"""Of one input as it is now: a small value, which differs where the input does."""

LABELS: Final = {
    PROMPT: "engineer system-prompt",
    MESSAGES: "engineer messages",
    TOOLS: "engineer tools",
}


def _count(s: Any) -> int:
    return len(glance(s, "messages", EMPTY))


def _loop_count(s: Any) -> int:
    return int(glance(s, "loopCount", 0))


def _hash_of(name: str) -> Fingerprint:
    def fingerprint(s: Any) -> str:
        value = glance(s, name)
        if type(value) is FrozenList and not len(value):
            return ""
        return blake2b(dumps(value), digest_size=8).hexdigest()

    return fingerprint


class Chooser:
    """The selector `context` of one loop."""

    def __init__(self, config: AgentLoopConfig, slots: tuple[str, ...]) -> None:
        self.slots = slots
        self.dynamic = config.pattern is AgentPattern.DYNAMIC
        self.inputs = _inputs(config)
        self.settled = [
            Condition("first entry", False, slot, rule=number, label=LABELS[slot])
            for number, slot in enumerate(slots)
        ]
        """The evidence for slots that stay as the first pass made them."""

    def choose(self, s: Any) -> Decision:
        """The slots to fill, each with what changed."""
        before: Any = raw(look(s, "slotInputs"))
        first = before is None
        known: dict[str, Any] = {} if first else dict(before)
        conditions: list[Condition] = []
        selected: list[str] = []
        for number, slot in enumerate(self.slots):
            if not first and slot != MESSAGES and not self.dynamic:
                condition = self.settled[number]
            else:
                condition = self._asked(s, slot, number, known, first=first)
            conditions.append(condition)
            if condition.result:
                selected.append(slot)
        if selected:
            write(s, "slotInputs", FrozenDict(known))
        return Decision(", ".join(selected), tuple(conditions), selected=tuple(selected))

    def _asked(
        self, s: Any, slot: str, number: int, known: dict[str, Any], *, first: bool
    ) -> Condition:
        """Whether an input of the slot has changed; `known` learns what it is now."""
        owner = sight_of(s).owner
        had: Mapping[str, Any] = known.get(slot) or {}
        now = {name: of(s) for name, of in self.inputs[slot].items()}
        changed = [name for name in now if name not in had or had[name] != now[name]]
        if changed or first:
            known[slot] = now
        text = "first entry" if first else f"{' and '.join(changed) or 'nothing'} changed"
        read = tuple([(key_of(owner, name), value) for name, value in now.items()])
        return Condition(text, first or bool(changed), slot, read, rule=number, label=LABELS[slot])


def _inputs(config: AgentLoopConfig) -> dict[str, dict[str, Fingerprint]]:
    """By slot: what it is made of. A resolver that is a function may look at anything."""
    anything: dict[str, Fingerprint] = {"messages": _count, "loopCount": _loop_count}
    prompt: dict[str, Fingerprint] = {}
    tools: dict[str, Fingerprint] = {}
    if config.instructions:
        prompt["promptInjections"] = _hash_of("promptInjections")
        tools["toolInjections"] = _hash_of("toolInjections")
    if type(prompt_of(config.system_prompt)) is not StaticPrompt:
        prompt |= anything
    provider = config.tool_provider
    if provider is not None and not isinstance(provider, StaticTools):
        tools |= anything
    return {PROMPT: prompt, MESSAGES: {"messages": _count}, TOOLS: tools}
