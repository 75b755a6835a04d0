"""How stages of a loop look at the state: whole values, shared and never copied.

A list of messages that is read as a view would be looked at message by message; here it is one
value, noted as one read, and appending to it costs the same however long it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from saywhy.chart.view import args_of, sight_of
from saywhy.values import UNDEFINED, FrozenDict, FrozenList, freeze

EMPTY: Final = FrozenList([])
NOTHING: Final = FrozenDict({})


_KEYS: Final[dict[tuple[str, str], tuple[str, str]]] = {}
_MOST_KEYS: Final = 4096


def key_of(owner: str, name: str) -> tuple[str, str]:
    """Where a variable stands: one object for all records of it, since each round writes some."""
    key = (owner, name)
    return _KEYS.get(key) or _kept(key)


def _kept(key: tuple[str, str]) -> tuple[str, str]:
    if len(_KEYS) >= _MOST_KEYS:
        _KEYS.clear()
    return _KEYS.setdefault(key, key)


def listener(s: Any) -> Callable[[str, Any], None] | None:
    """Who is shown what happens; None where nobody is, so that nothing need be told."""
    return sight_of(s).emit


def look(s: Any, name: str, default: Any = None) -> Any:
    """A variable, frozen and noted as read; `default` where there is none."""
    sight = sight_of(s)
    scope, owner = sight.scope, sight.owner
    state = scope.state
    if scope.staged or state.bases:
        value = scope.read((owner, name))
        return default if value is UNDEFINED else value
    scope.reads.append((owner, name))  # the common case, without a further call
    value = state.scopes[owner].get(name, UNDEFINED)
    return default if value is UNDEFINED else value


def glance(s: Any, name: str, default: Any = None) -> Any:
    """Like `look`, not noted: for housekeeping that causes nothing."""
    sight = sight_of(s)
    scope, owner = sight.scope, sight.owner
    state = scope.state
    if scope.staged or state.bases:
        value = scope.peek((owner, name))
    else:
        value = state.scopes[owner].get(name, UNDEFINED)
    return default if value is UNDEFINED else value


def given(s: Any, name: str, default: Any = None) -> Any:
    """What the chart was run with, frozen and noted as read."""
    sight = sight_of(s)
    scope, owner = sight.scope, args_of(sight)
    if not scope.has(owner, name):
        return default
    return scope.read((owner, name))


def write(s: Any, name: str, value: Any) -> None:
    """Put a value under a name."""
    sight = sight_of(s)
    key = (sight.owner, name)
    sight.scope.set(_KEYS.get(key) or _kept(key), value)


def append(s: Any, name: str, item: Any) -> None:
    """Put an item at the end of a list; a missing one begins here."""
    sight = sight_of(s)
    key = (sight.owner, name)
    sight.scope.append(_KEYS.get(key) or _kept(key), item)


def facts(s: Any) -> dict[str, Any]:
    """What is told of this step besides reads and writes."""
    return sight_of(s).scope.facts


def tell(s: Any, name: str, value: Any) -> None:
    """Add to a list in the facts of this step."""
    facts(s).setdefault(name, []).append(value)


def frozen_messages(messages: Any) -> FrozenList:
    """Messages as a list of the state."""
    if type(messages) is FrozenList:
        return messages
    frozen: FrozenList = freeze(list(messages or ()), ("messages",))
    return frozen
