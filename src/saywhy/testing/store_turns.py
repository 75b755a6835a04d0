"""Checks of a store: messages are accepted once, turns run in order, ends are whole."""

from __future__ import annotations

import asyncio

from saywhy.errors import CallerError, Fenced, SessionBusy
from saywhy.stores.store import MAX_EARLIER, Blank, Store, StoredTurn
from saywhy.testing.store_parts import Check, begin, call, finish, refuses, same


async def accepts_once(store: Store) -> None:
    """The same message id again changes nothing and tells what became of the first."""
    claim = await begin(store)
    again = await store.accept("s", "m1", b"other words", user_id="ann")
    same(
        "a message seen before, while its turn runs", (again.status, again.turn_no), ("running", 1)
    )
    await finish(store, claim, b"hello")
    again = await store.accept("s", "m1", b"hi", user_id="ann")
    same("a message whose turn is done", (again.status, again.reply), ("done", b"hello"))
    accepted, none = await store.accept_and_claim(
        "s", "m1", b"hi", user_id="ann", worker="one", ttl_seconds=30
    )
    same("a message whose turn is done, to be claimed", (accepted, none), (again, None))
    same("the number of turns", len(await store.turns("s")), 1)


async def accepts_once_of_fifty(store: Store) -> None:
    """One message delivered fifty times at once makes one turn."""
    same_message = [store.accept("s", "m1", b"hi", user_id="ann") for _ in range(25)]
    claiming = [
        store.accept_and_claim("s", "m1", b"hi", user_id="ann", worker=f"w{n}", ttl_seconds=30)
        for n in range(25)
    ]
    accepted = list(await asyncio.gather(*same_message))
    both = await asyncio.gather(*claiming)
    accepted += [one for one, _ in both]
    same("how many deliveries were new", [one.status for one in accepted].count("new"), 1)
    same("the turn they all belong to", {one.turn_no for one in accepted}, {1})
    same("how many of them may run it", sum(claim is not None for _, claim in both), 1)
    same("the number of turns", len(await store.turns("s")), 1)


async def runs_in_order(store: Store) -> None:
    """The turns of one conversation run one after the other, in the order of acceptance."""
    claim = await begin(store)
    for number in (2, 3):
        accepted, none = await store.accept_and_claim(
            "s", f"m{number}", b"%d" % number, user_id="ann", worker="two", ttl_seconds=30
        )
        same("the number of a queued turn", accepted.turn_no, number)
        same("the claim on a turn behind a running one", none, None)
    for number in (2, 3):
        same("a claim while the turn before runs", await store.claim("two", 30, "s"), None)
        same("a claim on anything, likewise", await store.claim("two", 30), None)
        await finish(store, claim, b"%d" % claim.turn_no)
        following = await store.claim("two", 30)
        if following is None:
            raise AssertionError(f"turn {number} was queued, but cannot be claimed")
        claim = following
        same("the turn that comes next", (claim.turn_no, claim.input), (number, b"%d" % number))
        same("the document it begins with", claim.doc, b"doc-%d" % (number - 1))
        same("its version", claim.version, number - 1)
    await finish(store, claim)
    same("a claim when all turns ended", await store.claim("two", 30), None)


async def claims_once(store: Store) -> None:
    """Of many workers that claim at once, one gets the turn."""
    await store.accept("s", "m1", b"hi", user_id="ann")
    claims = await asyncio.gather(
        *(store.claim(f"w{n}", 30, "s" if n % 2 else None) for n in range(40))
    )
    same("how many workers hold the claim", sum(claim is not None for claim in claims), 1)


async def claims_the_oldest(store: Store) -> None:
    """A worker without a wish gets the conversation that has waited longest."""
    for name in "bca":
        await store.accept(name, "m1", b"hi", user_id="ann")
        await asyncio.sleep(0.005)  # the order is by time, which has milliseconds
    claims = [await store.claim("one", 30) for _ in range(4)]
    same(
        "the order of conversations claimed",
        [claim and claim.session_id for claim in claims],
        ["b", "c", "a", None],
    )


async def finishes_whole(store: Store) -> None:
    """The end of a turn stores document, version, reply, messages and commits."""
    claim = await begin(store)
    await store.intent(claim, 1, call(1), b"cursor", [(1, b"c1"), (2, b"c2")])
    during = await store.session("s")
    same("the version while the turn runs", during and during.version, 0)
    await store.finish(
        claim, b"doc", b"reply", messages=[(1, b"hi"), (2, b"hello")], commits=[(3, b"c3")],
        previous_result=(1, b"r1"), blank=frozenset(), blank_input=False,
    )  # fmt: skip
    session = await store.session("s")
    if session is None:
        raise AssertionError("the conversation is gone after its turn finished")
    same(
        "the finished conversation",
        (session.version, session.doc, session.running, session.turn_no, session.user_id),
        (1, b"doc", False, 1, "ann"),
    )
    turns = await store.turns("s")
    same("the turns", turns, (StoredTurn(1, "m1", "done", b"hi", b"reply", None),))
    messages = [(one.seq, one.turn_no, one.doc) for one in await store.messages("s")]
    same("the messages", messages, [(1, 1, b"hi"), (2, 1, b"hello")])
    commits = [(one.turn_no, one.seq, one.doc) for one in await store.commits("s")]
    same("the commits", commits, [(1, 1, b"c1"), (1, 2, b"c2"), (1, 3, b"c3")])
    (entry,) = await store.journal("s", 1)
    same("the result handed in with the end", (entry.status, entry.result), ("answered", b"r1"))


async def ends_once(store: Store) -> None:
    """After the end of its turn a claim is dead for every kind of write."""
    for number, end in enumerate(("finish", "fail"), start=1):
        claim = await begin(store, "s", f"m{number}")
        if end == "finish":
            await finish(store, claim)
        else:
            await store.fail(claim, "error", "it raised")
        before = await store.session("s")
        await refuses(f"finishing after {end}", Fenced, finish(store, claim, b"twice"))
        await refuses(f"failing after {end}", Fenced, store.fail(claim, "error", "again"))
        late = store.intent(claim, 1, call(1), b"late", [(9, b"late")])
        await refuses(f"an intent after {end}", Fenced, late)
        same(f"renewing after {end}", await store.renew(claim, 30), False)
        same(f"the conversation after {end}", await store.session("s"), before)
        same(f"the journal after {end}", await store.journal("s", number), ())
        same(f"the commits after {end}", await store.commits("s", turn_no=number), ())


async def refuses_halves(store: Store) -> None:
    """An end that cannot be stored whole is not stored at all, and can be tried again."""
    claim = await begin(store)
    await store.finish(claim, b"doc", b"reply", messages=[(1, b"hi")], commits=())
    claim = await begin(store, "s", "m2")
    error = await refuses(
        "a message whose number is taken",
        CallerError,
        store.finish(
            claim, b"doc2", b"reply2", messages=[(2, b"x"), (1, b"y")], commits=[(1, b"z")]
        ),
    )
    same(
        "what is said of it",
        error.message,
        'a message of conversation "s" has a number that is taken',
    )
    same("the messages", [one.doc for one in await store.messages("s")], [b"hi"])
    same("the commits", await store.commits("s"), ())
    error = await refuses("a result without an intent", CallerError, store.result(claim, 7, b"r"))
    same("what is said of it", error.message, 'turn 2 of conversation "s" has no call 7')
    await store.finish(claim, b"doc2", b"reply2", messages=[(2, b"x")], commits=[(1, b"z")])
    session = await store.session("s")
    same("the document in the end", session and (session.version, session.doc), (2, b"doc2"))


async def fails_openly(store: Store) -> None:
    """A turn that ends without a reply says why, keeps its calls and, if repaired, its document."""
    claim = await begin(store)
    await finish(store, claim)
    for number, status in enumerate(("cancelled", "unknown", "diverged", "error"), start=2):
        claim = await begin(store, "s", f"m{number}")
        await store.intent(claim, 1, call(1, args=b"secret"), b"cursor", ())
        repaired = b"repaired" if status == "error" else None
        await store.fail(
            claim, status, f"was {status}", doc=repaired, messages=[(number, b"hi")],
            commits=[(8, b"c")],
        )  # fmt: skip
        seen = await store.accept("s", f"m{number}", b"hi", user_id="ann")
        told = (seen.status, seen.turn_no, seen.reply, seen.error)
        same("what the sender is told", told, ("ended", number, None, f"was {status}"))
        (entry,) = await store.journal("s", number)
        same("the call that nobody answered", (entry.status, entry.args), ("unknown", b"secret"))
        (stored,) = await store.turns("s", after=number - 1)
        same("the turn", (stored.status, stored.input), (status, b"hi"))
        session = await store.session("s")
        expected = (2, b"repaired") if repaired else (1, b"doc-reply")
        same("version and document", session and (session.version, session.doc), expected)
        same("messages", len(await store.messages("s")), number - 1)
        same("commits", [c.doc for c in await store.commits("s", turn_no=number)], [b"c"])
    claim = await begin(store, "s", "m6")
    same("what the next turn knows", [e.status for e in claim.earlier], ["unknown"] * 4)
    same("what it begins with", (claim.version, claim.doc, claim.turn_doc), (2, b"repaired", None))
    await finish(store, claim)
    claim = await begin(store, "s", "m7")
    same("what a turn after a finished one is told of earlier calls", claim.earlier, ())


async def tells_of_earlier_calls(store: Store) -> None:
    """A claim brings the newest calls of abandoned turns, oldest first, and never too many."""
    for number in range(1, 4):
        claim = await begin(store, "s", f"m{number}")
        for seq in range(1, 31):
            await store.intent(claim, seq, call(seq, args=b"%d.%d" % (number, seq)), b"", ())
        await store.result(claim, 30, b"r")
        await store.fail(claim, "cancelled", "superseded")
    await store.accept("s", "m4", b"hi", user_id="ann")
    claim = await store.claim("one", 30, "s")
    if claim is None:
        raise AssertionError("a queued turn behind cancelled ones cannot be claimed")
    known = [entry.args for entry in claim.earlier]
    expected = [b"%d.%d" % (turn, seq) for turn in (1, 2, 3) for seq in range(1, 31)]
    same("the calls of abandoned turns", known, expected[-MAX_EARLIER:])
    same("how the last one stands", claim.earlier[-1].result, b"r")


async def blanks(store: Store) -> None:
    """What is sensitive goes when the turn ends; what happened stays."""
    wishes: tuple[tuple[Blank, bool, list[bytes | None], bytes | None], ...] = (
        ("all", True, [None, None, None], None),
        (frozenset({2}), False, [b"a1", None, b"a3"], b"hi"),
        (frozenset(), False, [b"a1", b"a2", b"a3"], b"hi"),
        (frozenset({1, 3}), True, [None, b"a2", None], None),
    )
    for number, (wish, blank_input, args, words) in enumerate(wishes, start=1):
        claim = await begin(store, "s", f"m{number}")
        for seq in (1, 2, 3):
            await store.intent(claim, seq, call(seq, args=b"a%d" % seq), b"cursor", ())
        await store.result(claim, 1, b"r1")
        await store.result(claim, 2, b"r2")
        hashes = [entry.args_hash for entry in await store.journal("s", number)]
        await store.finish(
            claim, b"doc", b"reply", messages=(), commits=(), previous_result=(2, b"r2"),
            blank=wish, blank_input=blank_input,
        )  # fmt: skip
        await store.result(claim, 3, b"r3")
        entries = await store.journal("s", number)
        same(f"arguments after blanking {wish!r}", [entry.args for entry in entries], args)
        results = [arg and b"r" + arg[1:] for arg in args]
        same(f"results after blanking {wish!r}", [entry.result for entry in entries], results)
        same("the status of the calls", {entry.status for entry in entries}, {"answered"})
        same("the hashes of blanked calls", [entry.args_hash for entry in entries], hashes)
        (turn,) = await store.turns("s", after=number - 1)
        same(f"the input after blanking it: {blank_input}", turn.input, words)


async def saves_between_turns(store: Store) -> None:
    """A document can be stored before and between turns, by whoever knows the newest version."""
    same("the version of a new document", await store.save("s", "ann", b"one", 0), 1)
    same("a claim on a conversation without turns", await store.claim("one", 30, "s"), None)
    error = await refuses("a stale save", CallerError, store.save("s", "ann", b"two", 0))
    same("what is said", error.message, 'conversation "s" is at version 1, not at 0')
    await refuses("a save to nowhere", CallerError, store.save("new", "ann", b"two", 3))
    same("what it left", await store.session("new"), None)
    await refuses("a save by another user", CallerError, store.save("s", "bob", b"two", 1))
    claim = await begin(store)
    same("the document of the first turn", (claim.doc, claim.version), (b"one", 1))
    error = await refuses("a save into a turn", SessionBusy, store.save("s", "ann", b"two", 1))
    same("what is said", error.message, 'a turn of conversation "s" is open')
    await finish(store, claim)
    same("a save after the turn", await store.save("s", "ann", b"three", 2), 3)
    session = await store.session("s")
    same("the document", session and (session.doc, session.version), (b"three", 3))


async def keeps_users_apart(store: Store) -> None:
    """A conversation id in use by one user is refused to another."""
    await finish(store, await begin(store))
    said = 'conversation "s" belongs to another user than "bob"'
    for message_id in ("m1", "m2"):
        error = await refuses(
            "another user's message", CallerError, store.accept("s", message_id, b"", user_id="bob")
        )
        same("what is said", error.message, said)
        claiming = store.accept_and_claim(
            "s", message_id, b"", user_id="bob", worker="one", ttl_seconds=30
        )
        await refuses("another user's message, to be claimed", CallerError, claiming)
    same("the number of turns", len(await store.turns("s")), 1)


async def runs_many(store: Store) -> None:
    """Sixty-four conversations at once each keep their own documents, in order."""

    async def converse(name: str) -> None:
        for number in range(1, 6):
            claim = await begin(store, name, f"m{number}", user_id=name)
            own = name.encode() + b"-%d" % number
            await store.intent(claim, 1, call(1), own, [(number, own)])
            await store.finish(
                claim, own, own, messages=[(number, own)], commits=(), previous_result=(1, own)
            )

    names = [f"s{number}" for number in range(64)]
    await asyncio.gather(*(converse(name) for name in names))
    for name in names:
        own = [name.encode() + b"-%d" % number for number in range(1, 6)]
        session = await store.session(name)
        same(f"the end of {name}", session and (session.version, session.doc), (5, own[-1]))
        same(f"the replies of {name}", [turn.reply for turn in await store.turns(name)], own)
        same(f"the messages of {name}", [one.doc for one in await store.messages(name)], own)
        same(f"the commits of {name}", [one.doc for one in await store.commits(name)], own)


CHECKS: tuple[Check, ...] = (
    accepts_once,
    accepts_once_of_fifty,
    runs_in_order,
    claims_once,
    claims_the_oldest,
    finishes_whole,
    ends_once,
    refuses_halves,
    fails_openly,
    tells_of_earlier_calls,
    blanks,
    saves_between_turns,
    keeps_users_apart,
    runs_many,
)
