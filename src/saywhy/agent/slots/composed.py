"""What a slot came to when it was composed: how much of which source, and what was left out.

One small value for each time a slot ran, beside the records of the pieces. `injected` reads both
from a trace; nothing else does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from saywhy.agent.receipts.canon import Salt
from saywhy.agent.slots.injection import Evaluated
from saywhy.agent.slots.record import SlotName
from saywhy.chart.view import View, sight_of
from saywhy.values import UNDEFINED, FrozenDict, FrozenList

COMPOSED: Final = "slotComposed"
"""Variable of a slot's chart that holds it."""

RECORDS: Final[Mapping[str, SlotName]] = {
    "systemPromptInjections": "system-prompt",
    "messagesInjections": "messages",
    "toolsInjections": "tools",
}
"""Variable of a slot's chart that holds the records of its pieces → the slot."""

PROMPT_CHARS: Final = 4_000
MESSAGES_CHARS: Final = 10_000
"""Characters beyond which a slot warns. It is filled all the same."""

MOST_DROPPED: Final = 20
"""So many of what was left out are named."""

SaltOf: TypeAlias = Callable[[View], Salt | None]
"""Finds the salt of a run among the live objects of the host."""

Sources: TypeAlias = dict[str, list[int]]
"""By source: how many pieces, and how many characters."""


def salt_in(salt: SaltOf | None, s: View) -> Salt | None:
    """The salt of the run, where the slot was told how to find one."""
    return None if salt is None else salt(s)


def frozen_in(s: View, name: str) -> Any:
    """A variable as it is kept, None where there is none. Noted as one read, whatever it holds."""
    sight = sight_of(s)
    found = sight.scope.read((sight.owner, name))
    return None if found is UNDEFINED else found


def list_in(s: View, name: str) -> FrozenList:
    """A variable that is a list, or an empty one."""
    found = frozen_in(s, name)
    return found if type(found) is FrozenList else _EMPTY


_EMPTY: Final = FrozenList([])


def number_in(s: View, name: str, default: int) -> int:
    """A variable that is a number."""
    found = frozen_in(s, name)
    return found if type(found) is int else default


def put(s: View, name: str, value: Any) -> None:
    """Write a variable; a frozen value as it is."""
    sight = sight_of(s)
    sight.scope.set((sight.owner, name), value)


def counted(records: Iterable[Mapping[str, Any]], into: Sources) -> Sources:
    """By source: pieces and characters, those of `records` added to what is there."""
    for one in records:
        source = one["source"]
        pieces, chars = into.get(source) or (0, 0)
        into[source] = [pieces + 1, chars + one["chars"]]
    return into


def compose(
    s: View,
    slot: SlotName,
    iteration: int,
    sources: Sources,
    cap: int | None,
    *,
    ordering: str = "",
    dropped: Sequence[str] = (),
    evaluated: Evaluated | None = None,
) -> None:
    """Note what the slot came to, and warn where that is more than its budget."""
    used = 0
    for _, chars in sources.values():
        used += chars
    noted: dict[str, Any] = {"slot": slot, "iteration": iteration, "used": used, "sources": sources}
    if cap is not None:
        noted["cap"] = cap
        if used > cap:
            over = f"the {slot} has {used} characters, {used - cap} more than its budget of {cap}"
            sight_of(s).scope.warn(over)
    if ordering:
        noted["ordering"] = ordering
    if dropped:
        noted["dropped"] = len(dropped)
        noted["droppedSummaries"] = list(dropped[:MOST_DROPPED])
    if evaluated is not None and (evaluated.active or evaluated.skipped):
        noted["active"] = [one.injection.id for one in evaluated.active]
        noted["skipped"] = [list(one) for one in evaluated.skipped]
    put(s, COMPOSED, FrozenDict(noted))


def unchanged(s: View, slot: SlotName, iteration: int) -> None:
    """Note that the slot holds what it held before."""
    put(s, COMPOSED, FrozenDict({"slot": slot, "iteration": iteration, "unchanged": True}))
