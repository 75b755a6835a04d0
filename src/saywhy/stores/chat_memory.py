"""Where the messages of conversations with a model are kept between runs.

A store has two methods, `async def` or not: `load(conversation_id)` gives the messages or None, and
`save(conversation_id, messages)` keeps them. Those here keep them in memory, in a key-value store,
in a table; `sqlite_chat_memory` keeps them in a file.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from inspect import isawaitable
from typing import Any, Protocol, TypeAlias

from saywhy.errors import OutsideError
from saywhy.values import FrozenList, dumps, freeze, loads, thaw

Messages: TypeAlias = Sequence[Any]


class ChatMemory(Protocol):
    """Keeps the messages of conversations."""

    def load(self, conversation_id: str, /) -> Messages | Awaitable[Messages | None] | None:
        """The messages that were saved, None where nothing was."""
        ...

    def save(self, conversation_id: str, messages: Messages, /) -> Awaitable[None] | None:
        """Keep these messages in place of those kept before."""
        ...


class ConversationChanged(OutsideError):
    """Somebody else has saved this conversation meanwhile; saving would lose their messages."""

    name = "ConversationChanged"

    def __init__(self, conversation_id: str, stored: int) -> None:
        self.conversation_id = conversation_id
        super().__init__(
            f'the conversation "{conversation_id}" was saved by somebody else meanwhile: {stored} '
            "messages are stored that these do not begin with",
            hint="load it and run again, or let one run at a time have a conversation",
        )


class LocalChatMemory:
    """Keeps messages in this process. What is loaded or saved is a copy. The last save counts."""

    def __init__(self) -> None:
        self._kept: dict[str, FrozenList] = {}

    def load(self, conversation_id: str, /) -> list[Any] | None:
        """A copy of the messages."""
        kept = self._kept.get(conversation_id)
        return None if kept is None else thaw(kept)

    def save(self, conversation_id: str, messages: Messages, /) -> None:
        """Keep a copy of the messages."""
        self._kept[conversation_id] = freeze(list(messages), ("messages",))

    def forget(self, conversation_id: str, /) -> None:
        """Keep nothing of the conversation any more."""
        self._kept.pop(conversation_id, None)

    def ids(self) -> list[str]:
        """The conversations that are kept."""
        return list(self._kept)


class KeyValueChatMemory:
    """Keeps messages as JSON text in anything that has `get(key)` and `set(key, text)`.

    What these give is awaited where it has to be. Text that cannot be read counts as nothing kept.
    The last save counts.
    """

    def __init__(self, store: Any, *, prefix: str = "chat:") -> None:
        self._store = store
        self._prefix = prefix

    async def load(self, conversation_id: str, /) -> FrozenList | None:
        """The messages under the conversation's key."""
        return read_messages(await _awaited(self._store.get(self._prefix + conversation_id)))

    async def save(self, conversation_id: str, messages: Messages, /) -> None:
        """Keep the messages under the conversation's key."""
        await _awaited(self._store.set(self._prefix + conversation_id, written(messages)))


class TableChatMemory:
    """Keeps messages in a table with one row a conversation: `get(id)` gives a row, `put(row)`.

    A row is a mapping with the id and the messages as JSON text, in the columns named here; further
    columns stay as they were. What `get` and `put` give is awaited where it has to be. The last
    save counts.
    """

    def __init__(
        self, table: Any, *, id_column: str = "conversation_id", messages_column: str = "messages"
    ) -> None:
        self._table = table
        self._id = id_column
        self._messages = messages_column

    async def load(self, conversation_id: str, /) -> FrozenList | None:
        """The messages in the conversation's row."""
        row = await _awaited(self._table.get(conversation_id))
        return read_messages(row.get(self._messages)) if isinstance(row, Mapping) else None

    async def save(self, conversation_id: str, messages: Messages, /) -> None:
        """Put the messages into the conversation's row."""
        found = await _awaited(self._table.get(conversation_id))
        row: dict[str, Any] = dict(found) if isinstance(found, Mapping) else {}
        row |= {self._id: conversation_id, self._messages: written(messages)}
        await _awaited(self._table.put(row))


def written(messages: Messages) -> str:
    """Messages as JSON text."""
    return dumps(freeze(list(messages), ("messages",))).decode()


def read_messages(text: Any) -> FrozenList | None:
    """The messages in a JSON text; None where it is none, or holds something else."""
    if not isinstance(text, str | bytes):
        return None
    try:
        found = loads(text)
    except (ValueError, RecursionError):
        return None
    if type(found) is not FrozenList:
        return None
    return found if all(isinstance(one, Mapping) for one in found) else None


async def _awaited(given: Any) -> Any:
    return await given if isawaitable(given) else given
