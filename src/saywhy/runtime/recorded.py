"""A stored conversation as a trace: a short one read at once, a long one from its end.

Reading all of ten thousand turns to explain the newest would take seconds. What a long trace reads
when is answered by `saywhy.trace.paged`.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final

import msgspec

from saywhy.chart.commit import Commit
from saywhy.errors import SaywhyError
from saywhy.messages import Message, read_message
from saywhy.runtime.held import know_chart, take_chart
from saywhy.runtime.machinery import Machinery
from saywhy.stores.encoding import decode as document_of
from saywhy.stores.parts import Parts, ReadInParts
from saywhy.stores.store import Store
from saywhy.trace.block import read_block
from saywhy.trace.paged import PagedTrace
from saywhy.trace.pages import Pages
from saywhy.trace.trace import Trace
from saywhy.trace.writers import Writers
from saywhy.values import loads_into

AT_ONCE: Final = 32
"""Turns up to which a conversation is read as a whole."""


class _Kept(msgspec.Struct):
    """What of a session's document says who wrote what."""

    writers: Any = None


_KEPT: Final = msgspec.json.Decoder(_Kept)


async def trace_of(machinery: Machinery, store: Store, session_id: str) -> Trace:
    """Everything recorded of a conversation that is in the store."""
    if isinstance(store, ReadInParts):
        parts = await store.parts(session_id)
        if parts is not None and parts.last - parts.first >= AT_ONCE:
            return paged(machinery, parts)
    return await _whole(machinery, store, session_id)


def paged(machinery: Machinery, parts: Parts) -> PagedTrace:
    """The trace that reads as it is asked."""

    def learn(digest: str) -> None:
        if digest not in machinery.charts:
            take_chart(machinery, parts.chart(digest))

    pages = Pages(parts, learn)
    newest = pages.newest()
    last = newest.commits[-1].seq if newest is not None else 0
    return PagedTrace(pages, machinery.charts, _writers(parts.doc, last + 1))


def _writers(doc: bytes | None, next_seq: int) -> Writers:
    with suppress(SaywhyError, ValueError, RecursionError):
        if doc is not None:
            return Writers.from_tree(loads_into(document_of(doc), _KEPT).writers, next_seq)
    return Writers(next_seq)


async def _whole(machinery: Machinery, store: Store, session_id: str) -> Trace:
    rows = await store.commits(session_id)
    commits: list[Commit] = []
    for row in rows:
        fresh = read_block(row.doc).commits
        # A turn that was given up counts for nothing: the next one takes its numbers again.
        while commits and fresh and commits[-1].seq >= fresh[0].seq:
            commits.pop()
        commits += fresh
    messages: list[Message] = []
    after = 0
    while found := await store.messages(session_id, after=after, limit=500):
        messages += [read_message(row.doc) for row in found]
        after = found[-1].seq
    for digest in {commit.chart for commit in commits}:
        await know_chart(machinery, store, digest)
    return Trace(commits, machinery.charts, messages)
