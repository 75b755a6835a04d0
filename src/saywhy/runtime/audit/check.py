"""Whether the record in a store is what its audit chains say, and what earlier anchors said.

Every turn's content is digested anew and compared; so are links and anchors. What nobody linked is
found as well: turns that ended behind the end of their chain, conversations without one. The flows
that commits name are compared with their digests. It reads turn by turn, so it may take long, and
holds nobody up.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable

from saywhy.chart.model import Chart
from saywhy.runtime.audit.export import PAGE, TurnMessages, chains_of, links_of
from saywhy.runtime.audit.lines import is_plain
from saywhy.runtime.audit.report import Report, Wrong, all_given_away, check
from saywhy.stores.audit import (
    Head,
    StoredAnchor,
    StoredChain,
    StoredLink,
    anchor_digest,
    content_digest,
    link_digest,
    owner_digest,
    packed_heads,
    start_digest,
)
from saywhy.stores.store import Store, StoredSession
from saywhy.trace.block import read_block

_OPEN = frozenset({"queued", "running", "held"})


async def verify_store(store: Store, known: Iterable[str | bytes] = ()) -> Report:
    """Check a whole store.

    `known` are digests that were given away earlier: each must be in it, as the digest of a turn or
    as an anchor. (The seal of a bundle is checked with the bundle.)
    """
    digests = all_given_away(known)
    checking = _Checking(store)
    try:
        await checking.run()
        for one in digests:
            found = one in checking.digests
            check(found, f"the digest {one} is not in this store: it was put back or made anew")
    except Wrong as error:
        checking.report.wrong = str(error)
    return checking.report


class _Checking:
    """What was checked so far."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.report = Report()
        self.digests: set[str] = set()
        self.heads: dict[tuple[bytes, int], bytes] = {}
        self.wanted: dict[tuple[bytes, int], None] = {}
        self.charts: dict[str, None] = {}
        """Digests of the flows that commits name."""

    async def run(self) -> None:
        """Anchors first: chains may move on while they are checked."""
        anchors = [anchor async for anchor in self._anchors()]
        self.wanted = {(h.chain_id, h.turn_no): None for one in anchors for h in one.heads}
        chained: dict[str, int] = {}
        async for chain in chains_of(self.store, None, None, also_empty=True):
            if chain.session_id is not None:
                chained[chain.session_id] = chain.turns
            if chain.turns >= chain.first:
                self.report.chains += 1
                await self._chain(chain)
        async for session in self._sessions():
            await self._unlinked(session, chained.get(session.session_id))
        for anchor in anchors:
            for head in anchor.heads:
                self._head(anchor, head)
            self.report.anchors += 1
        for digest in self.charts:
            await self._chart(digest)

    async def _chart(self, digest: str) -> None:
        """Who explains a conversation shows what flows say, so they are those that ran."""
        doc = await self.store.chart(digest)
        if doc is None:
            return  # nothing is claimed by what is not there: explanations do without
        try:
            chart = Chart.from_json(doc)
        except ValueError as error:
            raise Wrong(f"the flow with the digest {digest} cannot be read") from error
        named = {"id": chart.id, "kind": chart.kind}
        nodes = chart.nodes.values()
        anew = Chart.of(chart.name, nodes, start=chart.start, meta=chart.meta, **named)
        check(digest == chart.digest == anew.digest, f"the flow {chart.name!r} was changed")

    # ------------------------------------------------------------ chains

    async def _chain(self, chain: StoredChain) -> None:
        name = _name(chain)
        if chain.salt is not None:
            made = owner_digest(chain.salt, chain.session_id or "", chain.user_id or "")
            check(chain.owner == made, f"{name}: the chain is another conversation's or person's")
        messages = TurnMessages(self.store, chain.session_id or "")
        before = start_digest(chain.chain_id, chain.first, chain.owner)
        expected = chain.first
        async for link in links_of(self.store, chain):
            where = f"{name}, turn {link.turn_no}"
            check(link.turn_no == expected, f"{name}: turn {expected} is missing in the chain")
            counts = link.messages, link.commits
            made = link_digest(before, link.turn_no, link.status, *counts, link.content)
            check(link.digest == made, f"{where} does not follow the one before")
            before, expected = made, expected + 1
            self.digests.add(made.hex())
            if (chain.chain_id, link.turn_no) in self.wanted:
                self.heads[chain.chain_id, link.turn_no] = made
            self.report.turns += 1
            await self._content(chain, link, messages, where)
        check(expected == chain.turns + 1, f"{name}: turn {expected} is missing in the chain")
        if chain.session_id is not None:
            await self._beyond(chain.session_id, messages)

    async def _beyond(self, session_id: str, messages: TurnMessages) -> None:
        """What was said since the last link was said in a turn that is there, and is open or ended
        while we were looking."""
        name = f'conversation "{session_id}"'
        while (row := await messages.left()) is not None:
            turns = await self.store.turns(session_id, after=row.turn_no - 1, limit=1)
            is_there = bool(turns) and turns[0].turn_no == row.turn_no
            check(is_there, f"{name}: message {row.seq} is of turn {row.turn_no}, which is missing")
        if messages.stray is not None:
            seq, turn = messages.stray.seq, messages.stray.turn_no
            raise Wrong(f"{name}: message {seq} is of turn {turn}, which had ended without it")

    async def _content(
        self, chain: StoredChain, link: StoredLink, messages: TurnMessages, where: str
    ) -> None:
        said: list[tuple[int, bytes]] = []
        did: list[tuple[int, bytes]] = []
        if chain.session_id is not None:
            said = await messages.of(link)
            rows = await self.store.commits(chain.session_id, turn_no=link.turn_no)
            did = [(row.seq, row.doc) for row in rows]
            await self._status(chain.session_id, link, where)
        if link.salt is None:
            check(link.erased, f"{where} lacks its salt")
            is_empty = link.erased == "masked" or (not said and not did)
            check(is_empty, f"{where} is erased, and has content")
            self.report.erased += 1
            return
        found = len(said), len(did)
        text = f"{where} has {found[0]} messages and {found[1]} rows of commits, recorded were "
        counts = f"{link.messages} and {link.commits}"
        check(found == (link.messages, link.commits), text + counts)
        same = content_digest(link.salt, said, did) == link.content
        check(same, f"{where}: a message or a commit was changed")
        self.report.messages += found[0]
        for _, doc in did:
            commits = read_block(doc).commits if is_plain(doc) else ()
            self.report.commits += len(commits)
            self.charts.update((commit.chart, None) for commit in commits)

    async def _status(self, session_id: str, link: StoredLink, where: str) -> None:
        turns = await self.store.turns(session_id, after=link.turn_no - 1, limit=1)
        check(turns and turns[0].turn_no == link.turn_no, f"{where}: the turn itself is missing")
        status = turns[0].status
        check(
            status == link.status, f"{where} is said to have ended as {status}, not {link.status}"
        )

    # ------------------------------------------------------------ what nobody linked

    async def _unlinked(self, session: StoredSession, linked: int | None) -> None:
        """A turn that ended has a link, unless it ended while we were looking."""
        if not linked:  # no link has asked for its messages
            messages = TurnMessages(self.store, session.session_id)
            await self._beyond(session.session_id, messages)
        turns = await self.store.turns(session.session_id, after=linked or 0, limit=1)
        if not turns or turns[0].status in _OPEN:
            return
        again = await self.store.chains(session_id=session.session_id)
        name = f'conversation "{session.session_id}"'
        check(again, f"{name} has turns, and no chain")
        text = f"{name}, turn {turns[0].turn_no} ended, and the chain lacks it"
        check(again[0].turns >= turns[0].turn_no, text)

    async def _sessions(self) -> AsyncIterator[StoredSession]:
        after = ""
        while page := await self.store.sessions(after=after, limit=PAGE):
            for session in page:
                yield session
            after = page[-1].session_id

    # ------------------------------------------------------------ anchors

    async def _anchors(self) -> AsyncIterator[StoredAnchor]:
        before, number = b"", 0
        while page := await self.store.anchors(after=number, limit=PAGE):
            for anchor in page:
                number += 1
                check(anchor.number == number, f"anchor {number} is missing")
                packed = packed_heads(anchor.heads)
                before = anchor_digest(before, number, anchor.at_ms, packed)
                check(anchor.digest == before, f"anchor {number} was changed")
                self.digests.add(before.hex())
                yield anchor

    def _head(self, anchor: StoredAnchor, head: Head) -> None:
        stands = self.heads.get((head.chain_id, head.turn_no))
        name = f"anchor {anchor.number} knows"
        chain = head.chain_id.hex()
        check(stands, f"{name} turn {head.turn_no} of chain {chain}, which is missing")
        check(stands == head.digest, f"{name} another turn {head.turn_no} of chain {chain}")


def _name(chain: StoredChain) -> str:
    if chain.session_id is None:
        return f"a forgotten conversation (chain {chain.chain_id.hex()})"
    return f'conversation "{chain.session_id}"'
