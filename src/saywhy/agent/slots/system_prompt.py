"""The slot of the system prompt, as a chart: the provider's text, and what is put beside it.

Given are `messages`, `loopCount` and `promptInjections`; it gives `systemPrompt`. Where the prompt
is what it was in the round before, nothing is given and nothing is recorded anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from saywhy.agent.own import OWN
from saywhy.agent.slots.composed import (
    PROMPT_CHARS,
    SaltOf,
    compose,
    counted,
    frozen_in,
    list_in,
    number_in,
    put,
    salt_in,
    unchanged,
)
from saywhy.agent.slots.context import SlotContext
from saywhy.agent.slots.injection import (
    NOTHING,
    Evaluated,
    Injection,
    evaluate_injections,
    evaluate_injections_later,
)
from saywhy.agent.slots.mounting import context_of
from saywhy.agent.slots.prompts import BLANK_LINE, StaticPrompt, prompt_of, prompt_text
from saywhy.agent.slots.record import text_record
from saywhy.agent.slots.resolved import STATIC, Resolved, resolved_of
from saywhy.chart.build import Builder
from saywhy.chart.built import Built
from saywhy.chart.view import View
from saywhy.errors import CallerError
from saywhy.values import FrozenList

SLOT: Final = "system-prompt"
ID: Final = "sf-system-prompt"


def system_prompt_slot(
    prompt: Any = None,
    *,
    injections: Iterable[Injection] = (),
    budget_chars: int = PROMPT_CHARS,
    salt: SaltOf | None = None,
) -> Built:
    """The chart of the system prompt: the text of `prompt`, injections, instructions' texts.

    `prompt` is text, a function of the `SlotContext`, or a provider. Pieces are joined by a blank
    line, empty ones left out. More than `budget_chars` is warned of.
    """
    made = _Slot(prompt, injections, budget_chars, salt)
    chart = Builder("SystemPrompt", id=ID, describe="Composes the system prompt.", own=OWN)
    stage = made.resolve_later if made.is_async else made.resolve
    chart.stage(
        id="resolve-prompt", name="ResolvePrompt", describe="Asks the provider for the prompt."
    )(stage)
    return chart.build()


class _Slot:
    def __init__(
        self, prompt: Any, injections: Iterable[Injection], cap: int, salt: SaltOf | None
    ) -> None:
        self.provider = prompt_of(prompt)
        self.injections = tuple(injections)
        for one in self.injections:
            if one.slot != SLOT:
                raise CallerError(
                    f"injection {one.id} is for the slot {one.slot}, not for the system prompt",
                    hint="hand it to the slot it is for",
                )
        self.cap = cap
        self.salt = salt
        self.is_async = self.provider.is_async or any(one.is_async for one in self.injections)
        self.fixed = self.provider.resolved if isinstance(self.provider, StaticPrompt) else None

    def resolve(self, s: View) -> None:
        evaluated = NOTHING
        if self.fixed is not None and not self.injections:
            self._put(s, self.fixed, evaluated)
            return
        context = context_of(s)
        base = self.provider.resolve(context)
        if self.injections:
            evaluated = evaluate_injections(self.injections, context)
        self._put(s, base, evaluated)

    async def resolve_later(self, s: View) -> None:
        context = context_of(s)
        base = await self._base(context)
        self._put(s, base, await evaluate_injections_later(self.injections, context))

    async def _base(self, context: SlotContext) -> Any:
        given = self.provider.resolve(context)
        return await given if self.provider.is_async else given

    def _put(self, s: View, given: Any, evaluated: Evaluated) -> None:
        base: Resolved[Any] = resolved_of(given)
        first = prompt_text(base)
        added = list_in(s, "promptInjections")
        parts = [first, *(one.piece.text for one in evaluated.active), *added]
        text = BLANK_LINE.join(part for part in parts if part)
        iteration = number_in(s, "loopCount", 0)
        if iteration and frozen_in(s, "systemPrompt") == text:
            unchanged(s, SLOT, iteration)
            return
        records = self._records(s, base, first, evaluated, added)
        put(s, "systemPrompt", text)
        put(s, "promptSummary", _told(base, text, len(records)))
        put(s, "systemPromptInjections", FrozenList(records))
        compose(s, SLOT, iteration, counted(records, {}), self.cap, evaluated=evaluated)

    def _records(
        self, s: View, base: Resolved[Any], first: str, evaluated: Evaluated, added: Iterable[Any]
    ) -> list[dict[str, Any]]:
        salt = salt_in(self.salt, s)
        records: list[dict[str, Any]] = []
        if first:
            reason = _reason(base)
            records.append(text_record(first, "base", reason, salt=salt, position=0))
        for one in evaluated.active:
            injection = one.injection
            record = text_record(
                one.piece.text,
                injection.source,
                injection.reason or f"injection {injection.id} applies",
                salt=salt,
                position=len(records),
                source_id=injection.id,
                section_tag=injection.section_tag,
                expires_after=injection.expires_after,
                **one.piece.evidence,
            )
            records.append(record)
        for text in added:
            if text:
                at = len(records)
                reason = "an agent-level instruction is active"
                records.append(text_record(text, "instructions", reason, salt=salt, position=at))
        return records


def _reason(base: Resolved[Any]) -> str:
    if base.chosen == STATIC:
        return "the agent's system prompt"
    return f"chosen by the prompt provider: {base.chosen}" + (
        f" ({base.rationale})" if base.rationale else ""
    )


def _told(base: Resolved[Any], text: str, pieces: int) -> str:
    size = f"{len(text)} characters in {pieces} {'piece' if pieces == 1 else 'pieces'}"
    return f"{size}; {base.told}" if base.told else size
