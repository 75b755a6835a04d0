"""Checks of a store: turns that are held, modes that are kept, documents in another form."""

from __future__ import annotations

import asyncio
from itertools import pairwise

from saywhy.errors import CallerError, Fenced, PersistenceMismatch, SessionBusy
from saywhy.stores.store import Claim, Store
from saywhy.testing.store_parts import (
    Check,
    abandoned,
    begin,
    call,
    finish,
    refuses,
    same,
    take_over,
)


async def _interrupted(store: Store, session_id: str = "s") -> Claim:
    """The claim of a worker who takes up a turn that stopped in a call."""
    first = await abandoned(store, session_id)
    await store.intent(first, 1, call(1, effect="once"), b"cursor", [(1, b"c1")])
    return await take_over(store, session_id)


async def holds(store: Store) -> None:
    """A held turn keeps all that is on record of it and is claimed by nobody."""
    claim = await _interrupted(store)
    journal = await store.journal("s", 1)
    await store.hold(claim, "its flows are gone")
    same("a claim on it", await store.claim("three", 30, "s"), None)
    same("a claim on anything", await store.claim("three", 30), None)
    same("renewing the claim that held it", await store.renew(claim, 30), False)
    late = store.intent(claim, 2, call(2), b"late", ())
    await refuses("an intent with that claim", Fenced, late)
    await refuses("an end with that claim", Fenced, finish(store, claim, b"late"))
    await refuses("holding it twice", Fenced, store.hold(claim, "again"))
    (turn,) = await store.turns("s")
    told = (turn.status, turn.input, turn.error)
    same("the turn", told, ("held", b"hi", "its flows are gone"))
    same("the journal", await store.journal("s", 1), journal)
    same("the commits", [one.doc for one in await store.commits("s")], [b"c1"])
    session = await store.session("s")
    same("the conversation", session and (session.running, session.held), (True, True))
    await refuses("a save beside it", SessionBusy, store.save("s", "ann", b"doc", 0))
    await store.result(claim, 1, b"late")
    (entry,) = await store.journal("s", 1)
    same("a result that comes late", (entry.status, entry.result), ("answered", b"late"))


async def lists_held_turns(store: Store) -> None:
    """Held turns are listed with what was saved, in the order of their conversations."""
    same("the list of a new store", await store.held(), ())
    for name in ("b", "a", "c", "d"):
        claim = await _interrupted(store, name)
        if name != "d":
            await store.hold(claim, f"why {name}")
    found = await store.held()
    told = [(one.session_id, one.turn_no, one.message_id, one.why, one.turn_doc) for one in found]
    same("the list", told, [(name, 1, "m1", f"why {name}", b"cursor") for name in "abc"])
    same("whose they are", {(one.user_id, one.released) for one in found}, {("ann", None)})
    if not all(one.since_ms > 0 for one in found):
        raise AssertionError(f"since when is not told: {[one.since_ms for one in found]}")
    pages = [await store.held(None, 2), await store.held(None, 2, "b")]
    same("page by page", [[o.session_id for o in page] for page in pages], [["a", "b"], ["c"]])
    same("one of them", [one.session_id for one in await store.held("b")], ["b"])
    same("of a conversation with a turn that runs", await store.held("d"), ())
    same("of one that is not there", await store.held("e"), ())


async def queues_behind_held_turns(store: Store) -> None:
    """Messages to a conversation with a held turn are accepted, told so, and wait."""
    await store.hold(await _interrupted(store), "why")
    accepted = await store.accept("s", "m2", b"two", user_id="ann")
    told = (accepted.status, accepted.turn_no, accepted.held)
    same("a message behind it", told, ("new", 2, True))
    accepted, claim = await store.accept_and_claim(
        "s", "m3", b"three", user_id="ann", worker="w", ttl_seconds=30
    )
    told = (accepted.status, accepted.turn_no, accepted.held)
    same("another one, to be claimed", (*told, claim), ("new", 3, True, None))
    for message_id in ("m1", "m2"):
        again = await store.accept("s", message_id, b"", user_id="ann")
        same(f"{message_id} once more", (again.status, again.held), ("running", True))
    same("a claim", await store.claim("w", 30), None)


async def releases(store: Store) -> None:
    """A released turn is taken up where it was, and those behind it follow."""
    await store.hold(await _interrupted(store), "why")
    await store.accept("s", "m2", b"two", user_id="ann")
    same("releasing another turn", await store.release("s", 2), False)
    same("releasing one of nobody", await store.release("nobody", 1), False)
    same("releasing it", await store.release("s", 1, "by ann"), True)
    same("releasing it twice", await store.release("s", 1, "by bob"), False)
    same("the list", await store.held(), ())
    claim = await take_over(store, None)
    told = (claim.turn_no, claim.input, claim.turn_doc, claim.released)
    same("the claim", told, (1, b"hi", b"cursor", "by ann"))
    same("its journal", [entry.status for entry in claim.journal], ["asked"])
    first = (await store.turns("s"))[0]
    same("the turn", (first.status, first.error), ("running", None))
    await store.hold(claim, "not yet")
    (again,) = await store.held()
    same("held again", (again.why, again.released), ("not yet", "by ann"))
    same("releasing without a note", await store.release("s", 1), True)
    claim = await take_over(store)
    same("the note of before", claim.released, "by ann")
    await finish(store, claim, b"one")
    claim = await take_over(store)
    told = (claim.turn_no, claim.input, claim.doc, claim.released)
    same("the one behind it", told, (2, b"two", b"doc-one", None))
    await finish(store, claim)


async def abandons(store: Store) -> None:
    """A held turn that is given up ends without a reply; its call is on record as unknown."""
    await finish(store, await begin(store, "s", "m0"), b"zero")
    await store.hold(await _interrupted(store), "why")
    await store.accept("s", "m2", b"two", user_id="ann")
    same("giving up another", await store.abandon("s", 1, "x"), False)
    same("giving it up", await store.abandon("s", 2, "ann gave it up"), True)
    same("giving it up twice", await store.abandon("s", 2, "x"), False)
    seen = await store.accept("s", "m1", b"hi", user_id="ann")
    same("what its sender is told", (seen.status, seen.error), ("ended", "ann gave it up"))
    (entry,) = await store.journal("s", 2)
    same("its call", (entry.status, entry.args), ("unknown", b'{"n":1}'))
    claim = await take_over(store)
    told = (claim.turn_no, claim.doc, claim.turn_doc, [one.status for one in claim.earlier])
    same("the turn behind it", told, (3, b"doc-zero", None, ["unknown"]))
    await finish(store, claim)
    session = await store.session("s")
    same("the conversation", session and (session.version, session.held), (2, False))


async def keeps_modes(store: Store) -> None:
    """A conversation keeps the mode it began with; another is refused and changes nothing."""
    await store.accept("s", "m1", b"hi", user_id="ann", mode="session-only")
    session = await store.session("s")
    same("the mode", session and session.mode, "session-only")
    for message_id in ("m1", "m2"):
        one = store.accept("s", message_id, b"hi", user_id="ann")
        error = await refuses("a message in another mode", PersistenceMismatch, one)
        said = (
            'conversation "s" began with action_persistence "session-only" and keeps to it; '
            '"durable" was asked for'
        )
        same("what is said", error.message, said)
        both = store.accept_and_claim(
            "s", message_id, b"hi", user_id="ann", worker="w", ttl_seconds=30
        )
        await refuses("one to be claimed", PersistenceMismatch, both)
    await refuses("a save", PersistenceMismatch, store.save("s", "ann", b"doc", 0))
    same("the number of turns", len(await store.turns("s")), 1)
    await store.accept("t", "m1", b"hi", user_id="ann")
    same("a claim of the other mode", await store.claim("w", 30, "s", "durable"), None)
    found = await store.claim("w", 30, None, "session-only")
    same("a claim of one mode", found and found.session_id, "s")
    found = await store.claim("w", 30, None, None)
    same("a claim of any", found and found.session_id, "t")


async def recodes(store: Store) -> None:
    """Documents are written in another form, and nothing else about a conversation changes."""
    await finish(store, await begin(store), b"one")
    first = await abandoned(store, "s", "m2")
    await store.intent(first, 1, call(1), b"cursor", ())
    await asyncio.sleep(0.05)
    before = await store.session("s")
    same("how many changed", await store.recode("s", bytes.upper), 2)
    same("and the second time", await store.recode("s", bytes.upper), 0)
    same("in a conversation that is not there", await store.recode("t", bytes.upper), 0)
    after = await store.session("s")
    same("the document", after and after.doc, b"DOC-ONE")
    told = [one and (one.version, one.running, one.turn_no) for one in (before, after)]
    same("everything else", [a == b for a, b in pairwise(told)], [True])
    claim = await take_over(store)
    same("the cursor", (claim.turn_no, claim.doc, claim.turn_doc), (2, b"DOC-ONE", b"CURSOR"))
    error = await refuses("under a lease", SessionBusy, store.recode("s", bytes.lower))
    same("what is said", error.message, 'somebody is running a turn of conversation "s"')
    await store.hold(claim, "why")
    same("with a held turn", await store.recode("s", bytes.lower), 2)

    def breaks(document: bytes) -> bytes:
        if document == b"cursor":
            raise CallerError("not this one")
        return b"half"

    await refuses("what raises", CallerError, store.recode("s", breaks))
    session = await store.session("s")
    same("what it left", session and session.doc, b"doc-one")


CHECKS: tuple[Check, ...] = (
    holds,
    lists_held_turns,
    queues_behind_held_turns,
    releases,
    abandons,
    keeps_modes,
    recodes,
)
