"""What a conversation keeps of each agent it has met: what was said, and what is pending.

It stands in a scope of its own, and what a run is given lies over it: nothing is copied, and only
what is new is written. Which variables a run reads and leaves is the loop's (`agent.loop`).
"""

from __future__ import annotations

from typing import Any, Final

from saywhy.chart.scope import Scope
from saywhy.values import UNDEFINED, FrozenList

MOST_MESSAGES: Final = 400
"""So many messages of one agent a conversation keeps."""
CUT_TO: Final = 200
"""So many are left when there are more. Cutting rarely keeps what is written for a turn small."""


def scope_of(agent: str) -> str:
    """Id of the scope that keeps what belongs to an agent."""
    return f"agent:{agent}"


def given(scope: Scope, agent: str) -> dict[str, Any]:
    """What the next run is told besides what stands in the agent's own scope."""
    owner = scope_of(agent)
    turn = int(scope.peek((owner, "turnNumber")) or 0) + 1
    session = scope.peek(("session", "sessionId")) or ""
    return {
        "turnNumber": turn,
        "runId": f"{session}/{scope.state.turn}/{scope.state.seq + 1}",
        "conversationId": f"{session}/{agent}",
    }


def take(scope: Scope, agent: str, inner: str) -> None:
    """Keep what a run that ran on the scope `inner` has left."""
    owner = scope_of(agent)
    _set(scope, owner, "turnNumber", int(scope.peek((inner, "turnNumber")) or 1))
    _set(scope, owner, "strictCalls", int(scope.peek((inner, "strictCalls")) or 0))
    _set(scope, owner, "pending", scope.peek((inner, "strictFollowUp")))
    messages = scope.peek((inner, "messages"))
    if isinstance(messages, FrozenList):
        _grow(scope, owner, messages)


def has_acted(scope: Scope, inner: str) -> bool:
    """Whether a run on `inner` has had tools called: another one would have them called again."""
    wanted = scope.peek((inner, "parsedResponse", "hasToolCalls"))
    return wanted is True or int(scope.peek((inner, "loopCount")) or 0) > 0


def _set(scope: Scope, owner: str, name: str, value: Any) -> None:
    held = scope.peek((owner, name))
    if value is UNDEFINED or value is None:
        if held is not UNDEFINED:
            scope.delete((owner, name))
    elif held is UNDEFINED or held != value:
        scope.set((owner, name), value)


def _grow(scope: Scope, owner: str, messages: FrozenList) -> None:
    """Write what is new: the messages behind those that are there, or all where they differ."""
    items: list[Any] = messages.raw
    if len(items) > MOST_MESSAGES:
        scope.set((owner, "history"), FrozenList(_newest(items), owned=True))
        return
    before = scope.peek((owner, "history"))
    known: list[Any] = before.raw if isinstance(before, FrozenList) else []
    if known and known == items[: len(known)]:
        for message in items[len(known) :]:
            scope.append((owner, "history"), message)
    else:
        scope.set((owner, "history"), messages)


def _newest(items: list[Any]) -> list[Any]:
    """The newest messages, from one of the user's on: no call is parted from its result."""
    for at in range(len(items) - CUT_TO, len(items)):
        if items[at].get("role") == "user":
            return items[at:]
    return []


__all__ = ["CUT_TO", "MOST_MESSAGES", "given", "has_acted", "scope_of", "take"]
