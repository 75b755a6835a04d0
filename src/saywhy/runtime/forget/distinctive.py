"""What texts tell that something of a person is still there, collected before it is erased.

Their words, the values of their variables, what their calls were given and gave, their id and the
ids of their conversations. A text that flows say to everybody, or that is short, proves nothing and
is not looked for: it is counted, so that a proof says how much it covers.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from saywhy.errors import SaywhyError
from saywhy.messages import read_message
from saywhy.stores.encoding import decode
from saywhy.stores.store import Store, StoredSession
from saywhy.values import dumps, loads_raw

SHORTEST: Final = 8
"""Bytes. A shorter text stands in a file by chance: in a number, in a page's header."""
MOST_TEXTS: Final = 5_000
"""The newest count; each is looked for in every byte."""
PAGE: Final = 100
_NO_VALUES: Final = frozenset(["turn", "routing"])


@dataclass(slots=True)
class Evidence:
    """Texts to look for, each with what it is; never shown as they are."""

    texts: dict[str, str] = field(default_factory=dict[str, str])
    ids: list[str] = field(default_factory=list[str])
    """Those of the person and of their conversations, short ones too."""
    begins: set[bytes] = field(default_factory=set[bytes])
    """The first message of each conversation, as its trace file has it: known by its moment."""
    short: int = 0
    """Texts that are too short to look for."""
    dropped: int = 0
    """Texts beyond the limit."""

    def add(self, text: str, what: str) -> None:
        """Look for a text, where that is worth it."""
        text = text.strip()
        if not text or text in self.texts:
            return
        if len(text.encode("utf-8", "surrogatepass")) < SHORTEST:
            self.short += 1
        elif len(self.texts) >= MOST_TEXTS:
            self.dropped += 1
        else:
            self.texts[text] = what

    def add_all(self, tree: Any, what: str) -> None:
        """Look for every text in a value."""
        for text in _texts_in(tree):
            self.add(text, what)


async def sessions_of(store: Store, user_id: str) -> list[StoredSession]:
    """Every conversation of a person."""
    found: list[StoredSession] = []
    while True:
        page = await store.sessions(user_id, PAGE, found[-1].session_id if found else "")
        found.extend(page)
        if len(page) < PAGE:
            return found


async def collect(store: Store, user_id: str, sessions: list[StoredSession]) -> Evidence:
    """What to look for once everything of a person is erased."""
    evidence = Evidence(ids=[user_id, *(one.session_id for one in sessions)])
    evidence.add(user_id, "the person's id")
    for stored in sessions:
        name = stored.session_id
        evidence.add(name, "the id of a conversation")
        evidence.begins |= {line async for line in _begins(store, name)}
        async for message in _messages(store, name):
            if message.get("role") == "user":
                evidence.add(str(message.get("text") or ""), f"message {message.get('seq')}")
        _add_values(evidence, stored)
        async for text in _turns(store, name):
            evidence.add_all(text, "what a turn was given")
    return evidence


def _add_values(evidence: Evidence, stored: StoredSession) -> None:
    if stored.doc is None:
        return
    with suppress(
        ValueError, KeyError, TypeError, AttributeError, RecursionError, SaywhyError
    ):  # a damaged document: the rest is searched all the same
        tree = loads_raw(decode(stored.doc))
        if not isinstance(tree, dict):
            return
        evidence.add_all(tree.get("cargo"), "what is in cargo")
        scopes = tree["cursor"]["state"]["scopes"]
        for scope, variables in scopes.items():
            if scope not in _NO_VALUES and scope != "session":
                evidence.add_all(variables, "the value of a variable")


async def _begins(store: Store, session_id: str) -> AsyncIterator[bytes]:
    for row in await store.messages(session_id, after=0, limit=1):
        with suppress(SaywhyError):
            message = read_message(decode(row.doc))
            if message.at:
                yield dumps({"message": message})


async def _messages(store: Store, session_id: str) -> AsyncIterator[Mapping[str, Any]]:
    after = 0
    while rows := await store.messages(session_id, after=after, limit=PAGE):
        for row in rows:
            after = row.seq
            tree = _tree(row.doc)
            if isinstance(tree, Mapping):
                yield tree


async def _turns(store: Store, session_id: str) -> AsyncIterator[Any]:
    after = 0
    while rows := await store.turns(session_id, after=after, limit=PAGE):
        for row in rows:
            after = row.turn_no
            if row.input:
                yield _tree(row.input)
            for entry in await store.journal(session_id, row.turn_no):
                for data in (entry.args, entry.result):
                    if data:
                        yield _tree(data)


def _tree(data: bytes) -> Any:
    try:
        return loads_raw(decode(data))
    except (ValueError, RecursionError, SaywhyError):
        return None


def _texts_in(tree: Any) -> Iterator[str]:
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, Mapping):
        for one in tree.values():  # pyright: ignore[reportUnknownVariableType]
            yield from _texts_in(one)
    elif isinstance(tree, list):
        for one in tree:  # pyright: ignore[reportUnknownVariableType]
            yield from _texts_in(one)
