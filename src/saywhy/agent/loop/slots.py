"""The three slots of a request: system prompt, messages, tools; each says how it was chosen.

A slot is filled by a resolver, plain or async; only an async one makes its stage a task. What was
chosen, and why, stands in the facts of the step.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from inspect import isawaitable
from typing import Any, Final

from saywhy.agent.loop.config import AgentLoopConfig, AgentPattern
from saywhy.agent.loop.history import closed, has_system, history_of, systems_in
from saywhy.agent.loop.state import (
    EMPTY,
    facts,
    frozen_messages,
    given,
    glance,
    look,
    write,
)
from saywhy.agent.loop.toolbox import Toolbox
from saywhy.agent.slots.context import SlotContext, is_async
from saywhy.agent.slots.prompts import StaticPrompt, prompt_of, prompt_text
from saywhy.agent.slots.resolved import Resolved, resolved_of
from saywhy.agent.slots.strategies import FullHistory, safe_strategy
from saywhy.chart.view import Env
from saywhy.values import FrozenDict, FrozenList, freeze, raw

Stage = Callable[[Any], Any]

GAP: Final = "\n\n"
SHOWN: Final = 80

PROMPT: Final = ("systemPrompt", "promptSummary")
MESSAGES: Final = (
    "messages",
    "looseSystem",
    "injectedSystems",
    "prepared",
    "memory_storedHistory",
    "fullMessages",
)
TOOLS: Final = ("toolDescriptions", "resolvedTools", "toolRoutes")
"""What each slot writes."""


def context_of(s: Any) -> SlotContext:
    """The moment, for a resolver."""
    messages = look(s, "messages", EMPTY)
    return SlotContext(
        turn_number=int(look(s, "turnNumber", 1)),
        loop_iteration=int(look(s, "loopCount", 0)),
        messages=history_of(glance(s, "assembledSystem"), messages),
        signal=_signal(s),
    )


def _signal(s: Any) -> Any:
    env: Env = s.env
    return env.get("signal")


def stage_of(
    resolve: Callable[[Any], Any], take: Callable[[Any, Any], None], *, later: bool
) -> Stage:
    """The stage that resolves and takes what came of it."""
    if later:

        async def awaited(s: Any) -> None:
            found = resolve(s)
            take(s, await found if isawaitable(found) else found)

        return awaited

    def plain(s: Any) -> None:
        take(s, resolve(s))

    return plain


def _tell(s: Any, resolved: Resolved[Any]) -> None:
    told: dict[str, Any] = {"chosen": resolved.chosen}
    if resolved.rationale:
        told["rationale"] = resolved.rationale
    facts(s)["slot"] = told


# ------------------------------------------------------------------ system prompt


def prompt_slot(config: AgentLoopConfig) -> Stage:
    """The stage `resolve-prompt`: what the provider says, then what instructions add."""
    provider = prompt_of(config.system_prompt)
    fixed = type(provider) is StaticPrompt

    def resolve(s: Any) -> Any:
        return provider.resolve(SlotContext("") if fixed else context_of(s))

    def take(s: Any, given: Any) -> None:
        resolved = resolved_of(given)
        added = look(s, "promptInjections", EMPTY) if config.instructions else EMPTY
        parts = [prompt_text(resolved), *added]
        text = GAP.join(part for part in parts if part)
        s.systemPrompt = text
        s.promptSummary = text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
        _tell(s, resolved)

    return stage_of(resolve, take, later=provider.is_async)


# ------------------------------------------------------------------ messages


class MessagesSlot:
    """The stage `apply-strategy`: loads what is stored, once a run, and lets the strategy choose.

    In the Regular pattern the strategy chooses in the first pass; later ones only add.
    """

    def __init__(self, config: AgentLoopConfig) -> None:
        self.config = config
        self.strategy = safe_strategy(config.message_strategy)
        self.whole = isinstance(self.strategy, FullHistory)
        store = config.store
        self.later = self.strategy.is_async or (store is not None and is_async(store.load))

    def stage(self) -> Stage:
        """The stage; async where the store or the strategy is."""
        if self.later:
            return self._run_later
        return self._run

    def _run(self, s: Any) -> None:
        if self._is_done(s):
            return
        if self._must_load(s):
            self._loaded(s, self._load(s))
        self._take(s, self._prepare(s))

    async def _run_later(self, s: Any) -> None:
        if self._is_done(s):
            return
        if self._must_load(s):
            self._loaded(s, await _awaited(self._load(s)))
        self._take(s, await _awaited(self._prepare(s)))

    def _is_done(self, s: Any) -> bool:
        """Whether nothing is chosen anew: the messages grow behind what the first pass chose."""
        messages = look(s, "messages", EMPTY)
        known = glance(s, "prepared")
        if known is None or self.config.pattern is AgentPattern.DYNAMIC:
            return False
        facts(s)["slot"] = {"chosen": "appended", "rationale": f"{len(messages)} messages"}
        return True

    # ------------------------------------------------------------ what is stored

    def _must_load(self, s: Any) -> bool:
        return self.config.store is not None and glance(s, "memory_storedHistory") is None

    def _load(self, s: Any) -> Any:
        return self.config.store.load(conversation_id(self.config, s))

    def _loaded(self, s: Any, stored: Any) -> None:
        """Put what is stored before what was said in this run."""
        history = closed(frozen_messages(stored))
        write(s, "memory_storedHistory", len(history))
        if not len(history):
            return
        own = look(s, "messages", EMPTY)
        write(s, "messages", history.appended(*own.raw))
        if has_system(history):
            s.looseSystem = True

    # ------------------------------------------------------------ what is chosen

    def _prepare(self, s: Any) -> Any:
        messages = look(s, "messages", EMPTY)
        if self.whole:
            return Resolved(messages, "full-history", f"{len(messages)} messages")
        context = context_of(s)
        shown = context.messages
        if shown is not messages:  # with the system prompt, which windows and budgets count
            shown = FrozenList([raw(one) for one in shown], owned=True)
        return self.strategy.prepare(shown, context)

    def _take(self, s: Any, given: Any) -> None:
        resolved = resolved_of(given)
        before = look(s, "messages", EMPTY)
        system = glance(s, "assembledSystem")
        chosen = resolved.value if self.whole else _without(system, resolved.value)
        if chosen is not before and len(chosen) == len(before):
            chosen = before if _same_items(chosen, before) else chosen
        if chosen is not before:
            self._replace(s, before, chosen)
        write(s, "prepared", len(chosen))
        _tell(s, resolved)

    def _replace(self, s: Any, before: FrozenList, chosen: FrozenList) -> None:
        if self.config.store is not None and glance(s, "fullMessages") is None:
            write(s, "fullMessages", before)
        known = {*systems_in(before), *glance(s, "injectedSystems", ())}
        added = [text for text in systems_in(chosen) if text not in known]
        if added:
            write(s, "injectedSystems", [*glance(s, "injectedSystems", ()), *added])
            s.looseSystem = True
        write(s, "messages", chosen)


def _without(system: Any, messages: Any) -> FrozenList:
    """What a strategy kept, without the system prompt that it was shown in front."""
    kept = frozen_messages(messages)
    items = kept.raw
    first: Mapping[str, Any] = items[0] if items else {}
    is_ours = system and first.get("role") == "system" and first.get("content") == system
    return FrozenList(items[1:], owned=True) if is_ours else kept


def _same_items(one: FrozenList, other: FrozenList) -> bool:
    return all(left is right for left, right in zip(one.raw, other.raw, strict=True))


async def _awaited(found: Any) -> Any:
    return await found if isinstance(found, Awaitable) else found


def conversation_id(config: AgentLoopConfig, s: Any) -> str:
    """Under which id the history is kept."""
    return str(given(s, "conversationId") or config.conversation_id)


# ------------------------------------------------------------------ tools


def tools_slot(config: AgentLoopConfig, box: Toolbox) -> Stage:
    """The stage `resolve-tools`: what is offered, then what instructions add."""
    provider = box.provider

    def resolve(s: Any) -> Any:
        return provider.resolve(context_of(s)) if provider is not None else None

    def take(s: Any, found: Any) -> None:
        base, routes = box.described, {}
        if found is not None:
            resolved = resolved_of(found)
            base, routes = _offered(resolved.value or ())
            _tell(s, resolved)
        else:
            facts(s)["slot"] = {"chosen": "static", "rationale": f"{len(base)} tools"}
        added = look(s, "toolInjections", EMPTY) if config.instructions else EMPTY
        known = {one["name"] for one in base.raw}
        new = [one for one in added.raw if one["name"] not in known]
        offered = base.appended(*new) if new else base
        write(s, "toolDescriptions", offered)
        write(s, "resolvedTools", [one["name"] for one in offered.raw])
        if routes:
            write(s, "toolRoutes", FrozenDict(routes))

    later = provider is not None and provider.is_async
    return stage_of(resolve, take, later=later)


def _offered(offers: Any) -> tuple[FrozenList, dict[str, Any]]:
    """The descriptions of what is offered, and along which way each was."""
    described = [offer.description.to_value().raw for offer in offers]
    routes: Mapping[str, Any] = {offer.name: list(offer.route) for offer in offers if offer.route}
    frozen: Any = freeze(described, ("tools",))
    return frozen, dict(routes)
