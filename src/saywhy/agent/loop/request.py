"""The request of a model call, rebuilt from the state it was asked from.

What is asked is small: which call, in which scope. The request itself stands in that scope, so
nothing is copied to ask, and a record of the state is a record of what was handed over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from saywhy.agent.loop.state import EMPTY, NOTHING
from saywhy.chart.cursor import Cursor
from saywhy.chart.outcome import Need
from saywhy.models.provider import CHAT, Ask
from saywhy.values import UNDEFINED, FrozenList, seal

Lookup = Callable[[str], Any]
"""Name of a variable → its value, `UNDEFINED` or None where there is none."""


def request_of(cursor: Cursor, need: Need) -> Ask:
    """The request that `need`, of kind `model`, asks for. Shares the values of the state."""
    scope, state = str(need.args["scope"]), cursor.state
    if scope not in state.bases and scope in state.scopes:
        return ask_from(state.scopes[scope])
    return ask_from(lambda name: state.get(scope, name))


def ask_from(held: Lookup | Mapping[str, Any]) -> Ask:
    """The request that these variables make up."""
    find: Lookup = held if callable(held) else held.get
    system = find("assembledSystem")
    messages = find("assembledMessages")
    if messages is None or messages is UNDEFINED:
        messages = find("messages")
    settings = find("settings")
    return Ask(
        CHAT,
        system if isinstance(system, str) and system else None,
        _list(messages) or EMPTY,
        _list(find("toolDescriptions")) or None,
        seal(settings) if settings and settings is not UNDEFINED else NOTHING,
        stream=find("streaming") is True,
    )


def _list(value: Any) -> FrozenList | None:
    return (
        value if type(value) is FrozenList else FrozenList(value) if type(value) is list else None
    )
