"""What a store has recorded, written as an audit bundle: chains, content, flows, anchors, a seal.

Everything goes in as it was recorded, so what was masked stays masked. A bundle of everything holds
the anchors too; one of a conversation or a person doesn't, as they speak of everybody's. Whether a
bundle holds is `verify`'s question.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator
from contextlib import aclosing
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import msgspec

from saywhy.errors import CallerError, UnknownSession
from saywhy.messages import Message, read_message
from saywhy.runtime.audit.lines import (
    FORMAT,
    Counts,
    anchor_entry,
    chain_entry,
    is_plain,
    line,
    part_line,
    row_line,
    turn_entry,
)
from saywhy.runtime.audit.requests import parts_of
from saywhy.stores.audit import Content, RowKind, StoredChain, StoredLink
from saywhy.stores.store import Store, StoredMessage
from saywhy.trace.block import read_block
from saywhy.trace.export.written import written
from saywhy.trace.trace import Trace

SEAL: Final = b"saywhy-seal-1"
PAGE: Final = 200
_RECEIPTS: Final = b'"receipts"'


async def write_bundle(
    store: Store, path: str | Path, *, session_id: str | None = None, user_id: str | None = None
) -> str:
    """Write a bundle to a file; gives its seal. See `bundle`.

    Raises `CallerError` for a file that cannot be written, and for the store's own.
    """
    last = b""
    async with aclosing(bundle(store, session_id=session_id, user_id=user_id)) as found:
        first = await anext(found)  # what there is none of makes no file
        with written(path, store=getattr(store, "path", None)) as file:
            file.write(first)
            async for text in found:
                file.write(text)
                last = text
    return seal_of(last)


def seal_of(last: bytes) -> str:
    """The seal in the last line of a bundle."""
    return msgspec.json.decode(last)["end"]["seal"]


async def bundle(
    store: Store, *, session_id: str | None = None, user_id: str | None = None
) -> AsyncGenerator[bytes, None]:
    """The lines of a bundle: of one conversation, of a person's, or of everything.

    Raises `UnknownSession` for a conversation without a turn that ended, `CallerError` for a person
    of whom there is none.
    """
    writing = _Writing(store)
    is_whole = session_id is None and user_id is None
    newest = await _newest_anchor(store) if is_whole else 0  # before chains move on
    chains = [chain async for chain in chains_of(store, session_id, user_id)]
    if not chains and session_id is not None:
        raise UnknownSession(session_id, "a conversation is recorded from its first turn on")
    if not chains and user_id is not None:
        raise CallerError(f'there is no conversation of user "{user_id}" in this store')
    yield writing.sealed(line({"saywhy": "audit", "format": FORMAT}))
    for chain in chains:
        async for text in writing.chain(chain):
            yield writing.sealed(text)
    async for text in writing.charts():
        yield writing.sealed(text)
    if is_whole:
        async for text in _anchors(store, newest):
            yield writing.sealed(text)
    yield line({"end": writing.end()})


async def chains_of(
    store: Store, session_id: str | None, user_id: str | None, *, also_empty: bool = False
) -> AsyncIterator[StoredChain]:
    """The chains of a conversation, a person or all, in the order of their ids."""
    after = b""
    while page := await store.chains(
        session_id=session_id, user_id=user_id, after=after, limit=PAGE
    ):
        for chain in page:
            if also_empty or chain.turns >= chain.first:
                yield chain
        after = page[-1].chain_id


async def _newest_anchor(store: Store) -> int:
    newest = 0
    while page := await store.anchors(after=newest, limit=PAGE):
        newest = page[-1].number
    return newest


async def _anchors(store: Store, newest: int) -> AsyncIterator[bytes]:
    after = 0
    while after < newest:
        for anchor in await store.anchors(after=after, limit=min(PAGE, newest - after)):
            yield line({"anchor": anchor_entry(anchor)})
            after = anchor.number


class _Writing:
    """What has been written so far."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.counts = Counts()
        self.charts_used: dict[str, None] = {}
        self.missing: list[str] = []
        self.seal = blake2b(digest_size=32, person=SEAL)

    def sealed(self, text: bytes) -> bytes:
        self.seal.update(text)
        return text

    def end(self) -> dict[str, Any]:
        counts = msgspec.structs.asdict(self.counts)
        return {**counts, "missing_charts": self.missing, "seal": self.seal.hexdigest()}

    async def chain(self, chain: StoredChain) -> AsyncIterator[bytes]:
        """A chain with its turns and what they hold."""
        self.counts.chains += 1
        yield line({"chain": chain_entry(chain)})
        messages = TurnMessages(self.store, chain.session_id or "")
        asks = False
        async for link in links_of(self.store, chain):
            self.counts.turns += 1
            self.counts.erased += link.salt is None
            yield line({"turn": turn_entry(link)})
            if link.salt is None or chain.session_id is None:
                continue
            said = await messages.of(link)
            rows = await self.store.commits(chain.session_id, turn_no=link.turn_no)
            did = [(row.seq, row.doc) for row in rows]
            for text in self.turn(link.salt, said, did):
                yield text
            self.use(did)
            asks = asks or any(_RECEIPTS in doc for _, doc in did)
        if asks and chain.session_id is not None:
            for part in parts_of(await self.trace(chain.session_id)):
                yield part_line(part)

    def turn(
        self, salt: bytes, messages: list[tuple[int, bytes]], commits: list[tuple[int, bytes]]
    ) -> Iterator[bytes]:
        content = Content(salt)
        both: tuple[tuple[RowKind, list[tuple[int, bytes]]], ...]
        both = (("message", messages), ("commit", commits))
        for kind, rows in both:
            for seq, doc in rows:
                content.add(kind, seq, doc)
                yield row_line(kind, seq, content.digest(), doc)
        self.counts.messages += len(messages)

    def use(self, rows: Iterable[tuple[int, bytes]]) -> None:
        """Count the commits in rows, and remember the flows that they name."""
        for _, doc in rows:
            if is_plain(doc):
                commits = read_block(doc).commits
                self.counts.commits += len(commits)
                self.charts_used.update((commit.chart, None) for commit in commits)

    async def trace(self, session_id: str) -> Trace:
        """The record of a conversation, without its charts."""
        rows = await self.store.commits(session_id)
        commits = [commit for row in rows for commit in read_block(row.doc).commits]
        messages: list[Message] = []
        after = None
        while page := await self.store.messages(session_id, after=after, limit=PAGE):
            messages += [read_message(row.doc) for row in page]
            after = page[-1].seq
        return Trace(commits, (), messages)

    async def charts(self) -> AsyncIterator[bytes]:
        """The flows that commits speak of, as they are kept."""
        for digest in self.charts_used:
            doc = await self.store.chart(digest)
            if doc is None:
                self.missing.append(digest)
            else:
                yield b'{"chart":' + doc + b"}\n"


async def links_of(store: Store, chain: StoredChain) -> AsyncIterator[StoredLink]:
    """The links of a chain up to where it stood."""
    after = 0
    while after < chain.turns:
        page = await store.links(chain.chain_id, after=after, limit=PAGE)
        for link in page:
            if link.turn_no <= chain.turns:
                yield link
        if not page:
            return
        after = page[-1].turn_no


class TurnMessages:
    """The messages of a conversation, turn by turn, read in pages."""

    def __init__(self, store: Store, session_id: str) -> None:
        self.store = store
        self.session_id = session_id
        self.ahead: list[StoredMessage] = []
        self.last = -1
        self.over = False
        self.turn = 1
        """The turn of the newest message that was read: no later message is of an earlier one."""
        self.stray: StoredMessage | None = None
        """One that stands in a turn before those of earlier messages, where no link has it."""

    async def of(self, link: StoredLink) -> list[tuple[int, bytes]]:
        """The messages of the turn of a link; turns are asked for in order."""
        found: list[tuple[int, bytes]] = []
        while True:
            while self.ahead and self.ahead[0].turn_no <= link.turn_no:
                row = self._next()
                if row.turn_no == link.turn_no:
                    found.append((row.seq, row.doc))
            if self.ahead or self.over:
                return found
            await self._read()

    async def left(self) -> StoredMessage | None:
        """The next message that no link asked for; None after the last."""
        if not self.ahead and not self.over:
            await self._read()
        return self._next() if self.ahead else None

    def _next(self) -> StoredMessage:
        row = self.ahead.pop(0)
        if row.turn_no < self.turn:
            self.stray = self.stray or row
        self.turn = max(self.turn, row.turn_no)
        return row

    async def _read(self) -> None:
        after = None if self.last < 0 else self.last
        page = await self.store.messages(self.session_id, after=after, limit=PAGE)
        self.ahead = list(page)
        self.over = not page
        self.last = page[-1].seq if page else self.last
