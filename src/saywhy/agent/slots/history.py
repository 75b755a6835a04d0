"""Where the messages of a conversation come from when they are kept in a store, and what is saved.

A run loads them once. From then on it knows three lists: what is stored together with what was said
since (`memory_storedHistory`), what the strategy made of it (`memory_preparedMessages`), and the
messages of the loop, which began as the latter and have grown. While the strategy has left nothing
out these are one list; once it has, what is new is found behind the prepared part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from saywhy.agent.slots.context import items_of
from saywhy.agent.slots.record import INJECTED
from saywhy.errors import CallerError
from saywhy.values import FrozenList, freeze


def as_history(loaded: Any) -> FrozenList:
    """What a store gave, as the messages of a run."""
    if loaded is None:
        return FrozenList([])
    if isinstance(loaded, str | Mapping) or not isinstance(loaded, Sequence):
        raise CallerError(
            f"the store gave {type(loaded).__name__} instead of messages",
            hint="load(conversation_id) returns the list that was saved, or None",
        )
    found = freeze(list(loaded), ("history",))
    return FrozenList(list(found.raw), owned=True)


def grown(stored: FrozenList, prepared: FrozenList, current: FrozenList) -> FrozenList:
    """The whole history in a later round: what was stored and whatever was said since."""
    if is_whole(stored, prepared):
        return current  # nothing was left out: the loop's messages are the history
    return stored.appended(*tail_after(prepared, current))


def is_whole(stored: FrozenList, prepared: FrozenList) -> bool:
    """Whether the strategy left the history as it was."""
    return len(prepared) == len(stored) and prepared.raw == stored.raw


def tail_after(prepared: FrozenList, current: FrozenList) -> list[Any]:
    """The messages that came after the prepared ones. System messages in front may have changed."""
    before, now = prepared.raw, current.raw
    shift = int(_begins_with_system(now)) - int(_begins_with_system(before))
    end = len(before) + shift
    if before and 0 < end <= len(now) and now[end - 1] is before[-1]:
        return now[end:]
    left = sum(1 for one in before if one.get("role") != "system")
    at = 0
    while left and at < len(now):
        left -= now[at].get("role") != "system"
        at += 1
    while not left and at < len(now) and now[at].get("role") == "system":
        at += 1
    return now[at:]


def saved_history(stored: FrozenList | None, prepared: FrozenList | None, current: Any) -> Any:
    """What is to be saved at the end of a run, given its three lists.

    Nothing that was only put in front of the model is saved: neither what a retriever found nor
    the summary of what is stored in full anyway.
    """
    messages = current if type(current) is FrozenList else FrozenList(list(current))
    if stored is None or prepared is None:
        return unmarked(messages)
    return unmarked(grown(stored, prepared, messages))


def unmarked(messages: FrozenList) -> FrozenList:
    """The messages without those that were put among them."""
    return without_marks(messages, lambda mark: True)


def without_marks(messages: FrozenList, goes: Callable[[str], bool]) -> FrozenList:
    """The messages without those whose mark `goes`; the same list where there are none."""
    items = items_of(messages)
    kept = [one for one in items if not (INJECTED in one and goes(str(one[INJECTED])))]
    return messages if len(kept) == len(items) else FrozenList(kept)


def bare_message(message: Any) -> Any:
    """A message as it is sent: without our mark."""
    if INJECTED not in message:
        return message
    return {name: value for name, value in message.items() if name != INJECTED}


def _begins_with_system(messages: Sequence[Any]) -> bool:
    return bool(messages) and messages[0].get("role") == "system"
