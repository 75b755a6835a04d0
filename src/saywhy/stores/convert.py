"""Every document of a store in one encoding: before a reader that knows no other is put to work.

It goes through the conversations one by one, each in a transaction of its own, so it can be stopped
and run again, and what is in memory is a page of them. Encodings are `encoding`'s business.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from saywhy.errors import DamagedSession, SessionBusy
from saywhy.stores.encoding import MAX_DOCUMENT_BYTES, Encoding, encoding_of, recoded
from saywhy.stores.store import Store, StoredSession

PAGE: Final = 10
"""Conversations read at a time."""
WAIT_SECONDS: Final = 30.0
POLL_SECONDS: Final = 0.2
MAX_NAMED: Final = 20
"""Conversations that are named when they stayed as they were; the others are counted."""


@dataclass(slots=True)
class Converted:
    """What became of the conversations of a store.

    `documents` were written anew, from `before` bytes to `after`. `busy` and `damaged` name
    conversations that stayed as they were; `busy_count` and `damaged_count` count all of them.
    """

    conversations: int = 0
    documents: int = 0
    before: int = 0
    after: int = 0
    busy: list[str] = field(default_factory=list[str])
    busy_count: int = 0
    damaged: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    damaged_count: int = 0

    @property
    def is_complete(self) -> bool:
        """Whether every document is in the encoding that was asked for."""
        return not (self.busy_count or self.damaged_count)


async def convert(
    store: Store, encoding: Encoding, *, wait_seconds: float = WAIT_SECONDS
) -> Converted:
    """Write every document of a store in an encoding; whoever is asked again changes nothing.

    Each new document is read back and compared before it takes the place of the old one. For a
    conversation that somebody is running it waits, `wait_seconds` in all.
    """
    done = Converted()
    deadline = asyncio.get_running_loop().time() + wait_seconds
    after = ""
    while page := await store.sessions(limit=PAGE, after=after):
        for session in page:
            done.conversations += 1
            if not _is_done(session, encoding):
                await _convert_one(store, session.session_id, encoding, deadline, done)
        after = page[-1].session_id
    return done


def _is_done(session: StoredSession, encoding: Encoding) -> bool:
    """Whether there is nothing to do, as far as can be seen: a turn may have a document too."""
    if session.running:
        return False
    document = session.doc
    if document is None or encoding_of(document) == encoding:
        return True
    return encoding == "br-v1" and len(document) > MAX_DOCUMENT_BYTES


async def _convert_one(
    store: Store, session_id: str, encoding: Encoding, deadline: float, done: Converted
) -> None:
    while True:
        sizes: list[tuple[int, int]] = []
        try:
            done.documents += await store.recode(session_id, partial(_measured, encoding, sizes))
        except SessionBusy:
            if asyncio.get_running_loop().time() < deadline:
                await store.wait_work(POLL_SECONDS)
                continue
            done.busy_count += 1
            done.busy = [*done.busy, session_id][:MAX_NAMED]
        except DamagedSession as error:
            done.damaged_count += 1
            done.damaged = [*done.damaged, (session_id, error.message)][:MAX_NAMED]
        else:
            done.before += sum(before for before, _ in sizes)
            done.after += sum(after for _, after in sizes)
        return


def _measured(encoding: Encoding, sizes: list[tuple[int, int]], document: bytes) -> bytes:
    made = recoded(document, encoding)
    if made is not document:
        sizes.append((len(document), len(made)))
    return made
