"""Checks of a store: the audit chain of each conversation, what stays of it, anchors over all."""

from __future__ import annotations

from saywhy.stores.audit import (
    StoredChain,
    StoredLink,
    anchor_digest,
    content_digest,
    link_digest,
    owner_digest,
    packed_heads,
    start_digest,
)
from saywhy.stores.store import Store
from saywhy.testing.store_parts import Check, begin, call, finish, same, take_over


async def links_each_turn(store: Store) -> None:
    """Every end of a turn adds a link over its status, messages, commits and the one before."""
    claim = await begin(store, "s", "m1")
    await store.intent(claim, 1, call(1), b"", [(1, b"c1"), (2, b"c2")])
    await store.finish(
        claim, b"", b"", messages=[(2, b"b"), (1, b"a")], commits=[(3, b"c3")],
        previous_result=(1, b""), ended_as="unknown",
    )  # fmt: skip
    claim = await begin(store, "s", "m2")
    await store.fail(claim, "error", "why", messages=[(3, b"c")])
    claim = await begin(store, "s", "m3")
    await store.hold(claim, "why")
    await store.abandon("s", 3, "over")
    chain, links = await chain_of(store, "s")
    same("the chain", (chain.first, chain.turns, chain.user_id), (1, 3, "ann"))
    told = [(link.turn_no, link.status, link.messages, link.commits) for link in links]
    same("the links", told, [(1, "unknown", 2, 3), (2, "error", 1, 0), (3, "cancelled", 0, 0)])
    rows = [
        ([(1, b"a"), (2, b"b")], [(1, b"c1"), (2, b"c2"), (3, b"c3")]),
        ([(3, b"c")], []),
        ([], []),
    ]
    for link, (messages, commits) in zip(links, rows, strict=True):
        expected = content_digest(link.salt or b"", messages, commits)
        same(f"the content of turn {link.turn_no}", link.content, expected)
    same("salts", len({link.salt for link in links}), 3)
    check_links(chain, links)


async def keeps_what_was_linked(store: Store) -> None:
    """A commit handed in again by a resumed turn is linked as it was kept the first time."""
    claim = await begin(store, "s", "m1", ttl_seconds=0.02)
    await store.intent(claim, 1, call(1), b"", [(1, b"first")])
    claim = await take_over(store)
    await store.finish(claim, b"", b"", messages=(), commits=[(1, b"again"), (2, b"new")])
    _, (link,) = await chain_of(store, "s")
    kept = [(row.seq, row.doc) for row in await store.commits("s")]
    same("the commits", kept, [(1, b"first"), (2, b"new")])
    same("the content", link.content, content_digest(link.salt or b"", [], kept))


async def links_apart(store: Store) -> None:
    """Each conversation has a chain of its own, and a turn that did not end has no link."""
    await finish(store, await begin(store, "a", user_id="ann"))
    await begin(store, "a", "m2", user_id="ann")
    await finish(store, await begin(store, "b", user_id="bob"))
    await begin(store, "c", user_id="bob")
    chains = await store.chains()
    same("the order of chains", [c.chain_id for c in chains], sorted(c.chain_id for c in chains))
    same(
        "conversations with links",
        sorted(c.session_id or "" for c in chains if c.turns),
        ["a", "b"],
    )
    (a,) = await store.chains(session_id="a")
    same("turns in a chain", a.turns, 1)
    found = await store.chains(user_id="bob")
    same("the chains of a person", [c.session_id for c in found if c.turns], ["b"])
    after = await store.chains(after=chains[0].chain_id, limit=1)
    same("the next chain", after, chains[1:2])
    same("no such chain", await store.links(b"\0"), ())


async def keeps_the_chain_of_the_forgotten(store: Store) -> None:
    """Of a forgotten person the digests stay, and nothing that tells whose they are."""
    for number in (1, 2):
        claim = await begin(store, "s", f"m{number}")
        rows = [(number, b"text")]
        await store.finish(claim, b"", b"", messages=rows, commits=rows)
    await finish(store, await begin(store, "other", user_id="bob"))
    before, links = await chain_of(store, "s")
    await store.forget("ann")
    same("a chain under the old name", await store.chains(session_id="s"), ())
    kept = [chain for chain in await store.chains() if chain.session_id is None]
    same("chains of nobody", [chain.chain_id for chain in kept], [before.chain_id])
    same("what tells whose it was", (kept[0].salt, kept[0].user_id), (None, None))
    same("the digest of that", kept[0].owner, before.owner)
    left = await store.links(before.chain_id)
    same("the salts", [(link.salt, link.erased) for link in left], [(None, "forgotten")] * 2)
    same("the digests", [link.digest for link in left], [link.digest for link in links])
    check_links(kept[0], left)
    await finish(store, await begin(store, "s", user_id="ann"))
    again, anew = await chain_of(store, "s")
    same("a new chain", (again.chain_id != before.chain_id, len(anew)), (True, 1))
    other, (link,) = await chain_of(store, "other")
    same("the salts of others", (other.salt is None, link.salt is None), (False, False))


async def keeps_the_chain_of_the_pruned(store: Store) -> None:
    """A pruned turn keeps its link, without the salt; the newest one keeps both."""
    for number in (1, 2, 3):
        claim = await begin(store, "s", f"m{number}")
        rows = [(number, b"text")]
        await store.finish(claim, b"", b"", messages=rows, commits=rows)
    same("pruning", await store.prune(0, limit=1), 1)
    chain, links = await chain_of(store, "s")
    same("why", [link.erased for link in links], ["pruned", "", ""])
    same("salts", [link.salt is None for link in links], [True, False, False])
    check_links(chain, links)


async def anchors_all_chains(store: Store) -> None:
    """An anchor speaks of the chains that moved since the last one, and is linked to it."""
    await finish(store, await begin(store, "a", user_id="ann"))
    await finish(store, await begin(store, "b", user_id="bob"))
    first = await store.anchor()
    same("an anchor with nothing new", await store.anchor(), first)
    await finish(store, await begin(store, "b", "m2", user_id="bob"))
    await finish(store, await begin(store, "b", "m3", user_id="bob"))
    second = await store.anchor()
    same("numbers", (first.number, second.number), (1, 2))
    same("the anchors", await store.anchors(), (first, second))
    same("those after the first", await store.anchors(after=1), (second,))
    same("one of them", await store.anchors(limit=1), (first,))
    moved = [[head.turn_no for head in one.heads] for one in (first, second)]
    same("the turns they speak of", moved, [[1, 1], [3]])
    chain, links = await chain_of(store, "b")
    same(
        "a head",
        (second.heads[0].chain_id, second.heads[0].digest),
        (chain.chain_id, links[-1].digest),
    )
    before = b""
    for one in (first, second):
        before = anchor_digest(before, one.number, one.at_ms, packed_heads(one.heads))
        same(f"the digest of anchor {one.number}", one.digest, before)


async def chain_of(store: Store, session_id: str) -> tuple[StoredChain, tuple[StoredLink, ...]]:
    """The chain of a conversation with all its links."""
    chains = await store.chains(session_id=session_id)
    same(f'the number of chains of "{session_id}"', len(chains), 1)
    return chains[0], await store.links(chains[0].chain_id)


def check_links(chain: StoredChain, links: tuple[StoredLink, ...]) -> None:
    """Each link is over the one before, the first over whose chain it is."""
    if chain.salt is not None:
        owner = owner_digest(chain.salt, chain.session_id or "", chain.user_id or "")
        same("the digest of whose chain it is", chain.owner, owner)
    before = start_digest(chain.chain_id, chain.first, chain.owner)
    for link in links:
        counts = link.messages, link.commits
        before = link_digest(before, link.turn_no, link.status, *counts, link.content)
        same(f"the link of turn {link.turn_no}", link.digest, before)


CHECKS: tuple[Check, ...] = (
    links_each_turn,
    keeps_what_was_linked,
    links_apart,
    keeps_the_chain_of_the_forgotten,
    keeps_the_chain_of_the_pruned,
    anchors_all_chains,
)
