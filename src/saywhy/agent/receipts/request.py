"""The request of a model call that the record remembers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saywhy.agent.receipts.log import ModelCall
from saywhy.models.provider import CHAT, Ask
from saywhy.values import FrozenDict, FrozenList, seal


def handed_at(call: ModelCall) -> Ask:
    """The request as the state of that moment gives it."""
    held = call.variables
    system = _first(held, "assembledSystem", "systemPrompt")
    messages = _first(held, "assembledMessages", "messages")
    tools = _first(held, "toolDescriptions")
    settings = _first(held, "settings")
    return Ask(
        CHAT,
        system if isinstance(system, str) else None,
        messages if isinstance(messages, FrozenList) else FrozenList([]),
        tools if isinstance(tools, FrozenList) else None,
        settings if isinstance(settings, Mapping) else FrozenDict({}),
    )


def _first(held: Mapping[str, Any], *names: str) -> Any:
    for name in names:
        if name in held:
            return seal(held[name])
    return None
