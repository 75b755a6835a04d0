"""Checks of a store: lists, charts, limits, timers, what is to be sent, forgetting, waiting."""

from __future__ import annotations

import asyncio
import time

from saywhy.errors import CallerError, Fenced
from saywhy.stores.store import Claim, Store
from saywhy.stores.timers import Timer
from saywhy.testing.store_parts import Check, begin, call, finish, in_time, refuses, same


async def knows_nothing_new(store: Store) -> None:
    """An empty store says so, without an error."""
    same("a conversation", await store.session("s"), None)
    same("all conversations", await store.sessions(), ())
    same("a claim", await store.claim("one", 30), None)
    same("a claim on a conversation", await store.claim("one", 30, "s"), None)
    rows = (await store.turns("s"), await store.messages("s"), await store.commits("s"))
    same("turns, messages, commits", rows, ((), (), ()))
    same("a journal", await store.journal("s", 1), ())
    same("a chart", await store.chart("d"), None)
    same("timers and what to send", (await store.due(), await store.unsent()), ((), ()))
    same("forgetting a stranger", await store.forget("ann"), 0)


async def keeps_bytes(store: Store) -> None:
    """Documents come back byte for byte; ids may hold any text."""
    session_id, message_id, user_id = "ü'\";--\n%_", "m\U0001f600", "x\ty"
    odd = b"\x00\xff'\";" + bytes(range(256))
    long = odd * 4000
    claim = await begin(store, session_id, message_id, user_id=user_id)
    await store.intent(claim, 1, call(1, args=odd), b"", [(1, b"")])
    await store.finish(
        claim, long, odd, messages=[(1, odd)], commits=(), previous_result=(1, b""),
        blank=frozenset(),
    )  # fmt: skip
    session = await store.session(session_id)
    same("a long document", session and (session.doc == long, session.user_id), (True, user_id))
    same("a reply", (await store.turns(session_id))[0].reply, odd)
    same("an empty commit", (await store.commits(session_id))[0].doc, b"")
    (entry,) = await store.journal(session_id, 1)
    same("arguments and an empty result", (entry.args, entry.result), (odd, b""))


async def lists(store: Store) -> None:
    """Turns, messages, commits and conversations come in order, from a place on or the last."""
    for number in range(1, 6):
        claim = await begin(store, "s", f"m{number}")
        rows = [(2 * number - 1, b"a%d" % number), (2 * number, b"b%d" % number)]
        await store.finish(claim, b"", b"", messages=rows, commits=rows)
    numbers = [turn.turn_no for turn in await store.turns("s", after=2, limit=2)]
    same("two turns after the second", numbers, [3, 4])
    same("the last two turns", [t.turn_no for t in await store.turns("s", last=2)], [4, 5])
    found = [m.seq for m in await store.messages("s", after=3, limit=4)]
    same("four messages after the third", found, [4, 5, 6, 7])
    same("the first messages", [m.seq for m in await store.messages("s", limit=2)], [1, 2])
    same("the last messages", [m.seq for m in await store.messages("s", last=3)], [8, 9, 10])
    same("more than there are", len(await store.messages("s", last=99)), 10)
    same("the commits of a turn", [c.seq for c in await store.commits("s", turn_no=2)], [3, 4])
    found = [c.seq for c in await store.commits("s", last_turns=2)]
    same("the commits of the last turns", found, [7, 8, 9, 10])
    for name, user_id in (("a", "bob"), ("c", "ann"), ("b", "bob")):
        await store.save(name, user_id, b"", 0)
    names = [s.session_id for s in await store.sessions()]
    same("all conversations", names, ["a", "b", "c", "s"])
    names = [s.session_id for s in await store.sessions("bob")]
    same("one person's conversations", names, ["a", "b"])
    names = [s.session_id for s in await store.sessions(limit=2, after="a")]
    same("the next two", names, ["b", "c"])


async def keeps_charts(store: Store) -> None:
    """A chart is found by its digest, and is never replaced."""
    await store.put_charts({"d1": b"one", "d2": b"two"})
    await store.put_charts({"d2": b"other", "d3": b"three"})
    await store.put_charts({})
    charts = [await store.chart(digest) for digest in ("d1", "d2", "d3", "d4")]
    same("the charts", charts, [b"one", b"two", b"three", None])


async def limits_rates(store: Store) -> None:
    """So many requests fit in a window, for each person and tool; then it says how long to wait."""
    tries = await asyncio.gather(*(store.allow("ann", "pay", 3, 60_000) for _ in range(10)))
    same("how many of ten at once are allowed", tries.count(None), 3)
    waits = [wait for wait in tries if wait is not None]
    if not all(50_000 < wait <= 60_000 for wait in waits):
        raise AssertionError(f"the time to wait is not the rest of the window: {waits}")
    same("another tool", await store.allow("ann", "look", 3, 60_000), None)
    same("another person", await store.allow("bob", "pay", 3, 60_000), None)
    for requests, window_ms in ((0, 1000), (1, 0)):
        limit = store.allow("ann", "pay", requests, window_ms)
        await refuses("a limit that lets nothing through", CallerError, limit)


async def slides_windows(store: Store) -> None:
    """A refused request is not counted, and waiting as long as was said is enough."""
    same("the first", await store.allow("ann", "pay", 1, 400), None)
    await asyncio.sleep(0.2)
    wait = await store.allow("ann", "pay", 1, 400)
    if wait is None:
        return  # the machine slept through the window: nothing can be seen
    same("the time to wait is within the window", 0 <= wait <= 400, True)
    await asyncio.sleep(wait / 1000 + 0.005)
    same("after waiting as long as was said", await store.allow("ann", "pay", 1, 400), None)


async def keeps_timers(store: Store) -> None:
    """A timer shows when it is due, the oldest first, and one caller only can take it."""
    now = time.time() * 1000
    claim = await begin(store)
    timers = [Timer(now - 5, b"b"), Timer(now + 3_600_000, b"later"), Timer(now - 9, b"a")]
    await store.finish(claim, b"", b"", messages=(), commits=(), timers=timers)
    due = await store.due()
    same("what is due", [(t.session_id, t.payload) for t in due], [("s", b"a"), ("s", b"b")])
    same("a limit", [timer.payload for timer in await store.due(1)], [b"a"])
    taken = await asyncio.gather(*(store.take_timer(due[0].timer_id) for _ in range(5)))
    same("how many can take it", taken.count(True), 1)
    same("what is left", [timer.payload for timer in await store.due()], [b"b"])
    await store.take_timer(due[1].timer_id)
    claim = await begin(store, "s", "m2")
    await store.finish(claim, b"", b"", messages=(), commits=(), timers=[Timer(0, b"new")])
    (new,) = await store.due()
    known = {timer.timer_id for timer in due}
    same("whether an id comes back", new.timer_id in known, False)


async def keeps_what_to_send(store: Store) -> None:
    """What a finished turn wants sent is kept in order until it is marked as sent."""
    for number in (1, 2):
        claim = await begin(store, "s", f"m{number}")
        outbox = [b"%d.1" % number, b"%d.2" % number]
        await store.finish(claim, b"", b"", messages=(), commits=(), outbox=outbox)
    unsent = await store.unsent()
    found = [(one.session_id, one.turn_no, one.payload) for one in unsent]
    expected = [("s", 1, b"1.1"), ("s", 1, b"1.2"), ("s", 2, b"2.1"), ("s", 2, b"2.2")]
    same("what is to be sent", found, expected)
    first = unsent[0].output_id
    marked = [await store.mark_sent(first), await store.mark_sent(first)]
    same("marking it twice", marked, [True, False])
    same("what is left", [one.payload for one in await store.unsent(2)], [b"1.2", b"2.1"])


async def forgets(store: Store) -> None:
    """Everything of a person goes, also in mid-turn; everybody else's things and charts stay."""
    claims: dict[str, Claim] = {}
    for user_id in ("ann", "bob"):
        timers = [Timer(0, user_id.encode())]
        rows = [(1, user_id.encode())]
        claim = await begin(store, f"{user_id}1", user_id=user_id)
        await store.intent(claim, 1, call(1), b"", ())
        await store.finish(
            claim, b"", b"", messages=rows, commits=rows, timers=timers, outbox=[rows[0][1]]
        )
        claims[user_id] = await begin(store, f"{user_id}2", user_id=user_id)
        await store.intent(claims[user_id], 1, call(1), b"", ())
        await store.allow(user_id, "pay", 1, 60_000)
    await store.put_charts({"d": b"chart"})
    same("the conversations forgotten", await store.forget("ann"), 2)
    names = [session.session_id for session in await store.sessions()]
    same("the conversations left", names, ["bob1", "bob2"])
    rows = (await store.turns("ann1"), await store.messages("ann1"), await store.commits("ann1"))
    same("turns, messages, commits", rows, ((), (), ()))
    same("the journal", await store.journal("ann1", 1), ())
    same("timers", [timer.payload for timer in await store.due()], [b"bob"])
    same("what is to be sent", [one.payload for one in await store.unsent()], [b"bob"])
    same("the limit of requests", await store.allow("ann", "pay", 1, 60_000), None)
    same("the limit of others", await store.allow("bob", "pay", 1, 60_000) is None, False)
    await store.result(claims["ann"], 1, b"late")
    same("a late result", await store.journal("ann2", 1), ())
    await refuses("the end of a forgotten turn", Fenced, finish(store, claims["ann"]))
    same("what it left", await store.session("ann2"), None)
    await finish(store, claims["bob"])
    same("the chart", await store.chart("d"), b"chart")
    claim = await begin(store, "ann1", user_id="ann")
    same("a new beginning", (claim.turn_no, claim.doc, claim.version), (1, None, 0))


async def prunes(store: Store) -> None:
    """Old turns lose their calls, commits, messages and reply; the newest one does not."""
    for number in (1, 2):
        claim = await begin(store, "s", f"m{number}")
        await store.intent(claim, 1, call(1), b"", [(number, b"commit")])
        await store.finish(
            claim, b"doc", b"reply", messages=[(number, b"message")], commits=(),
            previous_result=(1, b"answer"), blank=frozenset(),
        )  # fmt: skip
    same("pruning what is young", await store.prune(3600), 0)
    same("pruning", (await store.prune(0), await store.prune(0)), (1, 0))
    kept = (await store.commits("s"), await store.messages("s"))
    same("what is kept", [[row.turn_no for row in rows] for rows in kept], [[2], [2]])
    calls = (await store.journal("s", 1), len(await store.journal("s", 2)))
    same("the calls", calls, ((), 1))
    same("the replies", [turn.reply for turn in await store.turns("s")], [None, b"reply"])
    again = await store.accept("s", "m1", b"hi", user_id="ann")
    same(
        "a message of a pruned turn", (again.status, again.turn_no, again.reply), ("done", 1, None)
    )
    await refuses("a negative age", CallerError, store.prune(-1))


async def wakes(store: Store) -> None:
    """Waiting ends when a message is accepted, a turn ends, or the time is over."""
    started = time.monotonic()
    await store.wait_work(0.03)
    same("waiting in vain takes its time", time.monotonic() - started >= 0.02, True)
    waiting = [asyncio.create_task(store.wait_work(30)) for _ in range(3)]
    await asyncio.sleep(0.01)
    await store.accept("s", "m1", b"hi", user_id="ann")
    await in_time(asyncio.gather(*waiting))
    claim = await store.claim("one", 30)
    if claim is None:
        raise AssertionError("what was accepted cannot be claimed")
    await store.accept("s", "m2", b"hi", user_id="ann")
    await in_time(store.wait_work(30))
    waiting = [asyncio.create_task(store.wait_work(30))]
    await asyncio.sleep(0.01)
    await finish(store, claim)
    await in_time(asyncio.gather(*waiting))
    claim = await store.claim("one", 30)
    if claim is None:
        raise AssertionError("the turn behind one that ended cannot be claimed")
    waiting = [asyncio.create_task(store.wait_work(30)) for _ in range(3)]
    await asyncio.sleep(0.01)
    await store.fail(claim, "error", "it raised")
    await in_time(asyncio.gather(*waiting))


CHECKS: tuple[Check, ...] = (
    knows_nothing_new,
    keeps_bytes,
    lists,
    keeps_charts,
    limits_rates,
    slides_windows,
    keeps_timers,
    keeps_what_to_send,
    forgets,
    prunes,
    wakes,
)
