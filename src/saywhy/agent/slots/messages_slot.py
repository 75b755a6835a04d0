"""The slot of the messages, as a chart: the history, through a strategy, with what is put in front.

Given are `currentMessages` and `loopCount`; it gives `messages`. Where the strategy leaves the
history as it is, the very list is given on and only what is new is looked at, so that a round
costs the same however long the conversation is. With a store there are two stages more: one that
loads, one that remembers what was loaded and what was made of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from saywhy.agent.own import OWN
from saywhy.agent.slots.accounting import Seen, account, left_out
from saywhy.agent.slots.composed import (
    MESSAGES_CHARS,
    SaltOf,
    compose,
    frozen_in,
    list_in,
    number_in,
    put,
    salt_in,
)
from saywhy.agent.slots.context import SlotContext, is_async
from saywhy.agent.slots.history import as_history, grown, without_marks
from saywhy.agent.slots.injection import (
    NOTHING,
    Evaluated,
    Injection,
    evaluate_injections,
    evaluate_injections_later,
)
from saywhy.agent.slots.mounting import context_of
from saywhy.agent.slots.record import INJECTED
from saywhy.agent.slots.resolved import Resolved, resolved_of
from saywhy.agent.slots.strategies import (
    FullHistory,
    leading_systems,
    safe_strategy,
    sliding_window,
)
from saywhy.chart.build import Builder
from saywhy.chart.built import Built
from saywhy.chart.view import View
from saywhy.errors import CallerError
from saywhy.values import FrozenList, freeze, raw

SLOT: Final = "messages"
ID: Final = "sf-messages"
WINDOW: Final = 100
"""Messages that a model is shown of a stored conversation, unless told otherwise."""


@dataclass(frozen=True, slots=True)
class _Options:
    store: Any
    conversation_id: str | Callable[[View], str]
    budget_chars: int
    salt: SaltOf | None


def messages_slot(
    strategy: Any = None,
    *,
    store: Any = None,
    conversation_id: str | Callable[[View], str] = "",
    injections: Iterable[Injection] = (),
    budget_chars: int = MESSAGES_CHARS,
    salt: SaltOf | None = None,
) -> Built:
    """The chart of the messages. Without a `strategy` all are shown, the last hundred of a store.

    Whatever leaves messages out leaves whole pairs of calls and results. With a `store` the history
    is loaded in the first round, and `conversation_id` (else that of the run's `env`) names it.
    What `injections` put in is marked, holds for a round or a run, and is never saved. More
    characters than `budget_chars` are warned of.
    """
    if strategy is None and store is not None:
        strategy = sliding_window(WINDOW)
    options = _Options(store, conversation_id, budget_chars, salt)
    made = _Slot(strategy, injections, options)
    chart = Builder(
        "Messages", id=ID, describe="Chooses what is shown of the conversation.", own=OWN
    )
    if store is not None:
        load = made.load_later if is_async(store.load) else made.load
        chart.stage(id="load-history", name="LoadHistory", describe="Loads what is stored.")(load)
    apply = made.apply_later if made.is_async else made.apply
    chart.stage(
        id="apply-strategy", name="ApplyStrategy", describe="Applies the message strategy."
    )(apply)
    if store is not None:
        chart.stage(
            id="track-prepared",
            name="TrackPrepared",
            describe="Remembers what was loaded and what was made of it.",
        )(made.track)
    return chart.build()


class _Moment(msgspec.Struct):
    """What the slot looks at in one round."""

    iteration: int
    current: FrozenList
    """The messages of the loop."""
    whole: FrozenList
    """The history, without what this slot has put in."""
    context: SlotContext
    stays: list[Any] = []
    """What it has put in and stays in."""


_NOBODY: Final = SlotContext("")


class _Slot:
    def __init__(self, strategy: Any, injections: Iterable[Injection], options: _Options) -> None:
        self.strategy = safe_strategy(strategy)
        self.injections = tuple(injections)
        for one in self.injections:
            if one.slot != SLOT:
                raise CallerError(
                    f"injection {one.id} is for the slot {one.slot}, not for the messages",
                    hint="hand it to the slot it is for",
                )
        self.marks = frozenset(one.mark for one in self.injections)
        self.lasting = frozenset(one.mark for one in self.injections if one.expires_after == "run")
        self.options = options
        self.store = options.store
        self.is_async = self.strategy.is_async or any(one.is_async for one in self.injections)
        self.is_plain = isinstance(self.strategy, FullHistory) and not self.injections

    # ------------------------------------------------------------ the stored history

    def load(self, s: View) -> None:
        if not self._goes_on(s):
            self._take(s, self.store.load(self._conversation(s)))

    async def load_later(self, s: View) -> None:
        if not self._goes_on(s):
            self._take(s, await self.store.load(self._conversation(s)))

    def _conversation(self, s: View) -> str:
        given = self.options.conversation_id
        found = given(s) if callable(given) else given or s.env.get("conversation_id")
        if isinstance(found, str) and found:
            return found
        raise CallerError(
            "the messages are kept in a store, but nobody said which conversation it is",
            hint='name it: conversation_id="c-1", or env={"conversation_id": "c-1"}',
        )

    def _goes_on(self, s: View) -> bool:
        """In later rounds nothing is loaded again: what was loaded has grown."""
        stored = frozen_in(s, "memory_storedHistory") if number_in(s, "loopCount", 0) else None
        if type(stored) is not FrozenList:
            return False
        prepared = list_in(s, "memory_preparedMessages")
        put(s, "history", grown(stored, prepared, current_in(s)))
        return True

    def _take(self, s: View, loaded: Any) -> None:
        put(s, "history", as_history(loaded).appended(*current_in(s).raw))

    def track(self, s: View) -> None:
        """Lists that are one need not be remembered anew: the loop's messages are the history."""
        history, prepared = list_in(s, "history"), list_in(s, "messages")
        if prepared is not history or not number_in(s, "loopCount", 0):
            put(s, "memory_storedHistory", history)
            put(s, "memory_preparedMessages", prepared)

    # ------------------------------------------------------------ the strategy

    def apply(self, s: View) -> None:
        moment = self._moment(s)
        if self.is_plain:
            self._put(s, moment, Resolved(moment.whole, "full-history"), NOTHING)
            return
        resolved = self.strategy.prepare(moment.whole, moment.context)
        evaluated = NOTHING
        if self.marks:
            evaluated = evaluate_injections(self._due(moment.iteration), moment.context)
        self._put(s, moment, resolved_of(resolved), evaluated)

    async def apply_later(self, s: View) -> None:
        moment = self._moment(s)
        resolved = self.strategy.prepare(moment.whole, moment.context)
        if self.strategy.is_async:
            resolved = await resolved
        due = self._due(moment.iteration)
        evaluated = await evaluate_injections_later(due, moment.context)
        self._put(s, moment, resolved_of(resolved), evaluated)

    def _moment(self, s: View) -> _Moment:
        iteration, current = number_in(s, "loopCount", 0), current_in(s)
        whole = current if self.store is None else list_in(s, "history")
        if self.is_plain:
            return _Moment(iteration, current, whole, _NOBODY)
        context = context_of(s, whole)
        if not self.marks:
            return _Moment(iteration, current, whole, context)
        stays: list[Any] = []
        if iteration:
            stays = [one for one in current.raw if one.get(INJECTED) in self.lasting]
        whole = without_marks(whole, self.marks.__contains__)
        return _Moment(iteration, current, whole, context, stays)

    def _due(self, iteration: int) -> tuple[Injection, ...]:
        """In later rounds only what does not hold for the whole run is asked again."""
        if not iteration:
            return self.injections
        return tuple(one for one in self.injections if one.expires_after != "run")

    def _put(self, s: View, moment: _Moment, resolved: Resolved[Any], evaluated: Evaluated) -> None:
        whole, iteration = moment.whole, moment.iteration
        prepared = _marked(whole, resolved)
        if moment.stays or evaluated.active:
            prepared = self._injected(prepared, moment.stays, evaluated)
        seen = Seen.from_value(frozen_in(s, "messagesSeen"))
        salt, evidence = salt_in(self.options.salt, s), _evidence(evaluated)
        records, seen = account(moment.current, prepared, seen, salt, evidence)
        # Giving the same list again would put all of it into the record of every round.
        if prepared is not moment.current or not iteration:
            put(s, "messages", prepared)
        put(s, "messagesSeen", seen.to_value())
        put(s, "messagesInjections", FrozenList(records))
        compose(
            s,
            SLOT,
            iteration,
            seen.sources,
            self.options.budget_chars,
            ordering=resolved.told.removeprefix("Chose: "),
            dropped=left_out(moment.current if iteration else whole, prepared),
            evaluated=evaluated,
        )

    def _injected(self, prepared: FrozenList, stays: list[Any], evaluated: Evaluated) -> FrozenList:
        """The messages with what is put in, behind the system messages in front, in given order."""
        added = {one[INJECTED]: one for one in stays}
        for one in evaluated.active:
            mark = one.injection.mark
            added[mark] = {"role": one.injection.role, "content": one.piece.text, INJECTED: mark}
        order = [added[one.mark] for one in self.injections if one.mark in added]
        items = prepared.raw
        at = leading_systems(items)
        return FrozenList([*items[:at], *order, *items[at:]], owned=True)


def current_in(s: View) -> FrozenList:
    """The messages of the loop, under the name that the slot is given them by."""
    found = frozen_in(s, "currentMessages")
    return found if type(found) is FrozenList else list_in(s, "messages")


def _marked(whole: FrozenList, resolved: Resolved[Any]) -> FrozenList:
    """What a strategy gave, with a mark on each system message that it made itself."""
    given = resolved.value
    if given is whole:
        return whole
    frozen: FrozenList = freeze(given if type(given) is FrozenList else list(given), (SLOT,))
    known = {id(one) for one in whole.raw}
    items: list[Any] = []
    for one in frozen.raw:
        own = one.get("role") == "system" and id(one) not in known and INJECTED not in one
        own = own and not any(one == other for other in whole.raw)
        items.append({**raw(one), INJECTED: f"memory:{resolved.chosen}"} if own else one)
    return FrozenList(items, owned=True)


def _evidence(evaluated: Evaluated) -> dict[str, Any]:
    """By mark: what the record of a message is to say besides."""
    return {
        one.injection.mark: {
            **one.piece.evidence,
            "section_tag": one.injection.section_tag,
            "expires_after": one.injection.expires_after,
            "reason": one.injection.reason,
        }
        for one in evaluated.active
    }
