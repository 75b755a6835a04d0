"""Checks of a store: what a worker that froze or died leaves behind, and who may go on from it."""

from __future__ import annotations

import asyncio

from saywhy.errors import Fenced
from saywhy.stores.store import Effect, Store
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


async def leases(store: Store) -> None:
    """Nobody gets a conversation while a lease on it runs, and anybody afterwards."""
    claim = await begin(store, ttl_seconds=30)
    same("a claim under a running lease", await store.claim("two", 30, "s"), None)
    same("renewing for a moment only", await store.renew(claim, 0.02), True)
    second = await take_over(store)
    same("the same turn", (second.turn_no, second.message_id), (claim.turn_no, claim.message_id))
    if second.fence <= claim.fence:
        raise AssertionError(f"the fence did not rise: {claim.fence}, then {second.fence}")
    same("renewing a lost claim", await store.renew(claim, 30), False)
    same("renewing the new one", await store.renew(second, 30), True)
    same("a claim after renewing", await store.claim("three", 30, "s"), None)
    await finish(store, second)


async def outlives_its_lease(store: Store) -> None:
    """A lease that is over costs nothing as long as nobody else came."""
    claim = await abandoned(store)
    await asyncio.sleep(0.05)
    same("an intent", (await store.intent(claim, 1, call(1), b"", ())).status, "fresh")
    await finish(store, claim)
    session = await store.session("s")
    same("the version", session and session.version, 1)


async def fences(store: Store) -> None:
    """A worker that was replaced can save nothing, but the result of its call is kept."""
    first = await abandoned(store)
    await store.intent(first, 1, call(1, effect="once"), b"cursor1", [(1, b"c1")])
    second = await take_over(store)
    late = store.intent(first, 2, call(2), b"late", [(2, b"late")], previous_result=(1, b"late"))
    error = await refuses("an intent of a replaced worker", Fenced, late)
    said = 'turn 1 of conversation "s" is no longer run by this worker (fence 1): it ended, or'
    same("what is said", error.message.startswith(said), True)
    await refuses("its end", Fenced, finish(store, first, b"late"))
    await refuses("its failure", Fenced, store.fail(first, "error", "late", doc=b"late"))
    same("the journal so far", [e.status for e in await store.journal("s", 1)], ["asked"])
    await store.result(first, 1, b"it happened")
    (entry,) = await store.journal("s", 1)
    same("the late result", (entry.status, entry.result), ("answered", b"it happened"))
    prior = await store.intent(second, 1, call(1, effect="once"), b"cursor1", ())
    same("what the new one is told", (prior.status, prior.result), ("answered", b"it happened"))
    await finish(store, second, b"second")
    session = await store.session("s")
    same("who saved", session and (session.version, session.doc), (1, b"doc-second"))
    same("the commits", [one.doc for one in await store.commits("s")], [b"c1"])


async def resumes(store: Store) -> None:
    """A new claim of a turn brings the cursor of its newest intent and its journal."""
    await finish(store, await begin(store, "s", "m0"), b"zero")
    first = await abandoned(store)
    for seq in (1, 2, 3):
        before = (seq - 1, b"r%d" % (seq - 1)) if seq > 1 else None
        await store.intent(
            first, seq, call(seq, args=b"a%d" % seq), b"cursor%d" % seq, [(seq, b"c%d" % seq)],
            previous_result=before,
        )  # fmt: skip
    second = await take_over(store, None)
    same("the conversation found", (second.session_id, second.user_id), ("s", "ann"))
    same("the turn", (second.turn_no, second.input, second.version), (2, b"hi", 1))
    same("both documents", (second.doc, second.turn_doc), (b"doc-zero", b"cursor3"))
    journal = [(e.seq, e.attempt, e.status, e.args, e.result) for e in second.journal]
    expected = [
        (1, 1, "answered", b"a1", b"r1"),
        (2, 1, "answered", b"a2", b"r2"),
        (3, 1, "asked", b"a3", None),
    ]
    same("the journal", journal, expected)
    entry = second.journal[0]
    known = (entry.kind, entry.name, entry.effect, entry.key)
    same("a call of it", known, ("tool", "pay", "repeatable", "s:1:1"))
    commits = [one.doc for one in await store.commits("s", turn_no=2)]
    same("the commits", commits, [b"c1", b"c2", b"c3"])
    same("the turn is still promised", (await store.turns("s"))[1].status, "running")


async def knows_calls_again(store: Store) -> None:
    """An intent that was there before is answered, interrupted or diverged; keys never change."""
    first = await abandoned(store)
    effects: tuple[Effect, ...] = ("reads", "repeatable", "once", "once", "once")
    for seq, effect in enumerate(effects, start=1):
        await store.intent(first, seq, call(seq, effect=effect), b"cursor", ())
    await store.result(first, 5, b"r5")
    second = await take_over(store)
    asked = [
        (await store.intent(second, 1, call(1, effect="reads"), b"", ())).status,
        (await store.intent(second, 2, call(2, effect="repeatable"), b"", ())).status,
        (await store.intent(second, 3, call(3, effect="once"), b"", ())).status,
        (await store.intent(second, 4, call(4, effect="once"), b"", (), again=True)).status,
    ]
    same("calls without a result", asked, ["interrupted"] * 4)
    prior = await store.intent(second, 5, call(5, effect="once"), b"new cursor", [(1, b"c")])
    same("a call with a result", (prior.status, prior.result), ("answered", b"r5"))
    attempts = [(e.seq, e.attempt, e.key) for e in await store.journal("s", 1)]
    expected = [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (4, 1), (4, 2), (5, 1)]
    same("the attempts", attempts, [(seq, n, f"s:1:{seq}") for seq, n in expected])
    same("the commit that came along", [c.doc for c in await store.commits("s")], [b"c"])
    prior = await store.intent(second, 6, call(6), b"", ())
    same("a call never seen", prior.status, "fresh")


async def notices_other_calls(store: Store) -> None:
    """A call that is not the one its intent named is diverged, and changes nothing."""
    first = await abandoned(store)
    await store.intent(first, 1, call(1), b"cursor", ())
    second = await take_over(store)
    for other in (call(1, args=b"else"), call(1, name="refund"), call(1, kind="model")):
        prior = await store.intent(second, 1, other, b"wrong", [(1, b"wrong")])
        same(f"the intent of {other}", prior.status, "diverged")
    same("the journal", len(await store.journal("s", 1)), 1)
    same("the commits", await store.commits("s"), ())
    await store.renew(second, 0.0)
    third = await take_over(store)
    same("the cursor", third.turn_doc, b"cursor")
    await store.fail(third, "diverged", "another call stood there")


async def keeps_attempts_apart(store: Store) -> None:
    """A late result belongs to the attempt that earned it; any answered attempt is the answer."""
    first = await abandoned(store)
    await store.intent(first, 1, call(1), b"cursor", ())
    second = await take_over(store)
    await store.intent(second, 1, call(1), b"cursor", ())
    await store.result(first, 1, b"late")
    journal = [(e.attempt, e.status, e.result) for e in await store.journal("s", 1)]
    same("the attempts", journal, [(1, "answered", b"late"), (2, "asked", None)])
    await store.renew(second, 0.0)
    third = await take_over(store)
    same("the journal of a claim", [(e.seq, e.result) for e in third.journal], [(1, b"late")])
    prior = await store.intent(third, 1, call(1), b"cursor", ())
    same("what the third is told", (prior.status, prior.result), ("answered", b"late"))
    await store.result(second, 1, b"later")
    await store.result(second, 1, b"latest")
    journal = [(e.attempt, e.status, e.result) for e in await store.journal("s", 1)]
    expected = [(1, "answered", b"late"), (2, "answered", b"later")]
    same("the attempts in the end", journal, expected)
    await store.renew(third, 0.0)
    fourth = await take_over(store)
    same("the newest answer counts", [e.result for e in fourth.journal], [b"later"])


async def takes_reconciled_results(store: Store) -> None:
    """Whoever finds out what became of a `once` call can note its result without a new attempt."""
    first = await abandoned(store)
    await store.intent(first, 1, call(1, effect="once"), b"cursor", ())
    second = await take_over(store)
    await store.intent(second, 1, call(1, effect="once"), b"cursor", ())
    await store.result(second, 1, b"looked up")
    journal = [(e.attempt, e.status, e.result) for e in await store.journal("s", 1)]
    same("the journal", journal, [(1, "answered", b"looked up")])


async def keeps_results_with_a_failure(store: Store) -> None:
    """A turn that raised after a call keeps that call's result."""
    claim = await begin(store)
    await store.intent(claim, 1, call(1), b"cursor", ())
    await store.fail(claim, "error", "it raised", previous_result=(1, b"r1"))
    (entry,) = await store.journal("s", 1)
    same("the call", (entry.status, entry.result), ("answered", b"r1"))
    claim = await begin(store, "s", "m2")
    same("what the next turn knows", [e.result for e in claim.earlier], [b"r1"])


async def takes_up_what_was_left(store: Store) -> None:
    """A new message to a conversation whose worker died is handed the turn left behind."""
    await abandoned(store)
    await asyncio.sleep(0.05)
    accepted, claim = await store.accept_and_claim(
        "s", "m2", b"second", user_id="ann", worker="two", ttl_seconds=30
    )
    same("the new message", (accepted.status, accepted.turn_no), ("new", 2))
    if claim is None:
        raise AssertionError("the turn left behind was not handed over")
    same("the turn left behind", (claim.turn_no, claim.message_id), (1, "m1"))
    await finish(store, claim)
    accepted, claim = await store.accept_and_claim(
        "s", "m2", b"second", user_id="ann", worker="two", ttl_seconds=30
    )
    same("the message again", (accepted.status, accepted.turn_no), ("running", 2))
    same("its turn is handed over", claim and (claim.turn_no, claim.input), (2, b"second"))


async def races(store: Store) -> None:
    """Workers with leases that keep ending save each turn once, whatever they do at once."""
    turns = 12
    for number in range(turns):
        await store.accept("s", f"m{number}", b"%d" % number, user_id="ann")
    saved: list[int] = []

    async def work(worker: str) -> None:
        while len(saved) < turns:
            claim = await store.claim(worker, 0.01)
            if claim is None:
                await asyncio.sleep(0.001)
                continue
            await asyncio.sleep(0.008 + 0.004 * (claim.fence % 3))
            try:
                await store.intent(claim, 1, call(1), b"cursor", ())
                text = b"%d by %s" % (claim.turn_no, worker.encode())
                number = claim.turn_no
                await store.finish(claim, text, text, messages=[(number, text)], commits=())
            except Fenced:
                continue
            saved.append(claim.turn_no)

    await asyncio.wait_for(asyncio.gather(*(work(f"w{n}") for n in range(4))), 60)
    same("the turns saved, in order", saved, list(range(1, turns + 1)))
    session = await store.session("s")
    same("the version", session and session.version, turns)
    replies = [turn.reply for turn in await store.turns("s")]
    same("messages and replies", [one.doc for one in await store.messages("s")], replies)


CHECKS: tuple[Check, ...] = (
    leases,
    outlives_its_lease,
    fences,
    resumes,
    knows_calls_again,
    notices_other_calls,
    keeps_attempts_apart,
    takes_reconciled_results,
    keeps_results_with_a_failure,
    takes_up_what_was_left,
    races,
)
