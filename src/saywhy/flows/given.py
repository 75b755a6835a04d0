"""What a conversation remembers of what it was given, for tools that take known values only.

Nothing is noted unless a tool of the engine has a parameter with `x-known`. spec: `tools.known`
"""

from __future__ import annotations

from typing import Any, Final

from saywhy.chart.scope import Scope
from saywhy.flows.world import World
from saywhy.tools.known import Known
from saywhy.values import UNDEFINED, freeze

KNOWN: Final = ("session", "known")


def note_given(world: World, scope: Scope, value: Any) -> None:
    """A tool or the host gave a value: all texts and numbers in it are known from here on."""
    known = _held(world, scope)
    if known is not None and value is not None and value is not UNDEFINED:
        _keep(scope, known.with_given(value))


def note_said(world: World, scope: Scope, text: str) -> None:
    """The user said something."""
    known = _held(world, scope)
    if known is not None:
        _keep(scope, known.with_said(text))


def _held(world: World, scope: Scope) -> Known | None:
    if not world.tools.wants_known:
        return None
    held = scope.peek(KNOWN)
    return None if held is UNDEFINED else Known.of(held)


def _keep(scope: Scope, known: Known) -> None:
    scope.staged[KNOWN] = freeze(known.to_value())  # bookkeeping, so no operation
