"""How the charts of the slots stand in a loop: what each is given, and what is taken over.

All of it replaces what was there: a list that was joined with the one before would repeat the
conversation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from saywhy.agent.loop.history import history_of
from saywhy.agent.slots.composed import frozen_in, list_in, number_in
from saywhy.agent.slots.context import SlotContext
from saywhy.chart.build import Script
from saywhy.chart.built import Built
from saywhy.chart.merge import Merge, Policy
from saywhy.chart.view import View
from saywhy.errors import CallerError
from saywhy.values import FrozenList

OUTPUTS: Final[Mapping[str, tuple[str, ...]]] = {
    "sf-system-prompt": ("systemPrompt",),
    "sf-messages": ("messages", "messagesSeen"),
    "sf-tools": ("toolDescriptions", "toolRoutes"),
}
"""By id of a slot's chart: what is taken over from it."""


STORED: Final = ("memory_preparedMessages", "memory_storedHistory")
"""What is taken over as well from the messages of a stored conversation."""


def mount_slot(script: Script, slot: Built, **options: Any) -> None:
    """Mount a slot's chart over the variables of the loop. `options` are those of `mount`.

    It looks at the loop's own variables instead of being given them: what a chart is given is
    written down, and a conversation would be written down again in every round.
    """
    known = slot.chart.id
    if known not in OUTPUTS:
        raise CallerError(
            f"{known} is no slot", hint=f"slots: {', '.join(OUTPUTS)}; mount other charts yourself"
        )
    names = OUTPUTS[known] + (STORED if "load-history" in slot.chart.nodes else ())
    merge: dict[str, Policy] = dict.fromkeys(names, Merge.REPLACE)
    how: dict[str, Any] = {"id": known, **options}
    script.mount(slot, over=True, outputs=names, merge=merge, **how)


def context_of(s: View, messages: FrozenList | None = None) -> SlotContext:
    """The moment, as the variables tell it, with these messages or those of the loop."""
    told = s.get("userMessage")
    return SlotContext(
        told if isinstance(told, str) else None,
        turn_number=number_in(s, "turnNumber", 1),
        loop_iteration=number_in(s, "loopCount", 0),
        messages=_shown(s) if messages is None else messages,
        signal=s.env.get("signal"),
    )


def _shown(s: View) -> Sequence[Any]:
    """The messages of the loop, after the system prompt of the round before."""
    system = frozen_in(s, "assembledSystem")
    return history_of(system if isinstance(system, str) else None, list_in(s, "messages"))
