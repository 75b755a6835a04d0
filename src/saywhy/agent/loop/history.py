"""The conversation of a run: how it is shown as a whole, and what keeps it acceptable to vendors.

In the state the system prompt stands apart from the messages, so that a new one changes no list.
Whoever wants the conversation as it was always shown, the system message first, gets it here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from saywhy.agent.loop.state import EMPTY
from saywhy.agent.slots.history import saved_history
from saywhy.agent.slots.record import INJECTED
from saywhy.agent.tool_reply import failed
from saywhy.models.chat import system_message, tool_message
from saywhy.values import FrozenDict, FrozenList, raw, seal

NOT_MADE: Final = "This call was not made: the run had come to its limit of tool rounds."
"""What stands in place of the answer to a call that a run left open."""


class History(Sequence[Any]):
    """Messages with the system message before them, without a copy of either."""

    __slots__ = ("_messages", "_system")

    def __init__(self, system: str, messages: FrozenList) -> None:
        self._system = FrozenDict(system_message(system))
        self._messages = messages

    def __len__(self) -> int:
        return 1 + len(self._messages)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return list(self)[index]
        at = index + len(self) if index < 0 else index
        if at == 0:
            return self._system
        if not 0 < at < len(self):
            raise IndexError(f"message {index} of {len(self)}")
        return self._messages[at - 1]

    def __iter__(self) -> Iterator[Any]:
        yield self._system
        yield from self._messages


def history_of(system: str | None, messages: FrozenList) -> Sequence[Any]:
    """The messages, with the system prompt before them where there is one."""
    return History(system, messages) if system else messages


def conversation_of(state: Mapping[str, Any]) -> FrozenList:
    """The conversation as a run left it, the system message first, from the run's state."""
    lists = [state.get(name) for name in ("memory_storedHistory", "memory_preparedMessages")]
    stored, prepared = (None if one is None else seal(one) for one in lists)
    messages = saved_history(stored, prepared, seal(state.get("messages", EMPTY)))
    system = state.get("assembledSystem")
    if not isinstance(system, str) or not system:
        return messages
    kept = without_prompts(messages)
    return FrozenList([system_message(system), *kept.raw], owned=True)


def closed(messages: FrozenList) -> FrozenList:
    """The messages with every call answered: those left open get an error as answer, in order."""
    items = messages.raw
    kept: list[Any] = []
    at, end, changed = 0, len(items), False
    while at < end:
        message: Any = raw(items[at])
        kept.append(items[at])
        at += 1
        calls = raw(message.get("tool_calls")) if message.get("role") == "assistant" else None
        if not calls:
            continue
        start = at
        while at < end and items[at].get("role") == "tool":
            at += 1
        answers = _answered(calls, items[start:at])
        changed = changed or len(answers) != at - start
        kept += answers
    return FrozenList(kept, owned=True) if changed else messages


def _answered(calls: Sequence[Any], results: Sequence[Any]) -> list[Any]:
    """The results of these calls in their order, and an error for each that has none."""
    left: dict[Any, list[Any]] = {}
    for result in results:
        left.setdefault(result.get("tool_call_id"), []).append(result)
    if all(len(left.get(call.get("id"), ())) == 1 for call in calls):
        return list(results)
    found: list[Any] = []
    for call in calls:
        own = left.get(call.get("id"))
        found.append(own[0] if own else tool_message(failed(NOT_MADE).content, call.get("id", "")))
    return found


def has_system(messages: FrozenList) -> bool:
    """Whether a system message is among them."""
    return any(one.get("role") == "system" for one in messages.raw)


def without_prompts(messages: FrozenList) -> FrozenList:
    """The messages without system prompts of before; what a slot put in bears a mark, and stays.

    In a record a message may be masked as a whole: then it is a text.
    """
    items = [
        one
        for one in messages.raw
        if isinstance(one, str) or one.get("role") != "system" or INJECTED in one
    ]
    return messages if len(items) == len(messages) else FrozenList(items, owned=True)
