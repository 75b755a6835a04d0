"""What becomes of a turn that a crash cut in two, wherever that was.

A crash is played by a store, or a tool, at which nothing goes on any more: what was written before
stays, what would come after is never written, not even what a dying process may still try.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saywhy.errors import SaywhyError
from saywhy.runtime.engine import Engine
from saywhy.runtime.journal import Diverged
from saywhy.stores.memory import MemoryStore
from saywhy.testing import FakeClock
from saywhy.values import dumps
from tests.flows.conftest import Lines, ask, engine_of, flow, local_tool, say, use
from tests.runtime.test_random_flows import World, entries, libraries

BOUNDARIES = ("accept_and_claim", "intent", "result", "finish", "fail")


class Crash(BaseException):
    """The process died here."""


class Dying:
    """A store that dies at the boundary number `at`, counted before and after each write.

    Everything later dies as well: there is no process left that could write.
    """

    def __init__(self, store: MemoryStore, at: int | None = None) -> None:
        self.store = store
        self.at = at
        self.points: list[str] = []
        self.dead = False

    def point(self, name: str) -> None:
        """A place where the process may die."""
        if self.dead:
            raise Crash
        if len(self.points) == self.at:
            self.dead = True
            raise Crash
        self.points.append(name)

    def __getattr__(self, name: str) -> Any:
        method: Callable[..., Awaitable[Any]] = getattr(self.store, name)
        if not asyncio.iscoroutinefunction(method):
            return method

        async def call(*args: Any, **keys: Any) -> Any:
            if name not in BOUNDARIES:
                if self.dead:
                    raise Crash
                return await method(*args, **keys)
            self.point(f"before {name}")
            given = await method(*args, **keys)
            self.point(f"after {name}")
            return given

        return call


class Outside:
    """The world that tools act on: every effect that really happened, with its key."""

    def __init__(self, dying: Dying | None = None) -> None:
        self.effects: list[tuple[str, str]] = []
        self.dying = dying

    def tool(self, name: str) -> Callable[..., Awaitable[Any]]:
        """A tool that may die before and after its effect."""

        async def act(args: dict[str, Any], *, context: Any) -> Any:
            await asyncio.sleep(0)
            if self.dying is not None:
                self.dying.point(f"before {name}")
            self.effects.append((name, context.key))
            if self.dying is not None:
                self.dying.point(f"after {name}")
            return f"{name} for {args['n']}"

        return act

    def of(self, name: str) -> list[str]:
        """The keys of the effects of one tool."""
        return [key for tool, key in self.effects if tool == name]


TOOLS = {"look": "reads", "book": "repeatable", "pay": "once", "tell": "once"}
MAIN = flow(
    ask("n", "how many?"),
    use("look", variable="seen", args={"n": "{{n}}"}),
    use("book", variable="booked", args={"n": "{{n}}"}),
    use("pay", variable="paid", args={"n": "{{n}}"}, onFail={"id": "f", **say("unpaid: {{paid}}")}),
    say("{{seen}}, {{booked}}, {{paid}}"),
    use("tell", args={"n": "{{n}}"}),
    ask("more", "more?"),
)


def engine_on(store: Any, outside: Outside) -> Engine:
    return engine_of(
        MAIN,
        tools=[{**local_tool(name), "effect": effect} for name, effect in TOOLS.items()],
        functions={name: outside.tool(name) for name in TOOLS},
        store=store,
        lease_seconds=30,
    )


async def until_the_crash(store: Any, outside: Outside) -> str | None:
    """Play two messages; gives the reply to the second unless the process dies at it."""
    engine = engine_on(store, outside)
    await engine.take_turn("c1", "Main", message_id="m1", user_id="ann")
    return (await engine.take_turn("c1", "5", message_id="m2", user_id="ann")).response


async def whole() -> tuple[list[str], str | None, MemoryStore]:
    """The conversation without a crash: the places where it could have died, and its reply."""
    store = MemoryStore(FakeClock(auto=False))
    dying = Dying(store)
    reply = await until_the_crash(dying, Outside(dying))
    return dying.points, reply, store


UNKNOWN = (
    "I asked for tell, but it is not known yet whether it happened. "
    "Somebody is looking at it; please do not ask for it again meanwhile."
)
PAID = "look for 5, book for 5, pay for 5\n\nmore?"
FIRST_OF_SECOND_TURN = 4
"""Places in the first turn: before and after accepting, before and after its end."""


async def test_the_places_where_a_turn_may_die() -> None:
    """An intent before each call, the result with the next intent, and one end."""
    points, reply, _ = await whole()
    assert reply == PAID
    assert points[FIRST_OF_SECOND_TURN:] == [
        "before accept_and_claim", "after accept_and_claim",
        *(f"{when} {what}" for name in TOOLS for what, when in (
            ("intent", "before"), ("intent", "after"), (name, "before"), (name, "after"))),
        "before finish", "after finish",
    ]  # fmt: skip


def unknown_call(points: list[str], place: int) -> str | None:
    """The `once` call whose intent is stored when the process dies, and whose result is not.

    A result is stored with the next write, be it an intent or the end of the turn.
    """
    writes = [n for n, name in enumerate(points) if name in ("before intent", "before finish")]
    for name in ("pay", "tell"):
        asked = points.index(f"before {name}") - 2
        if asked < place <= writes[writes.index(asked) + 1]:
            return name
    return None


PLACES = range(FIRST_OF_SECOND_TURN, FIRST_OF_SECOND_TURN + 20)


@pytest.mark.parametrize("place", PLACES)
async def test_a_turn_that_died_is_brought_to_its_end(place: int) -> None:
    """Whatever was recorded is not done again; a `once` call is never made twice."""
    clock = FakeClock(auto=False)
    store = MemoryStore(clock)
    dying = Dying(store, place)
    outside = Outside(dying)
    with pytest.raises(Crash):
        await until_the_crash(dying, outside)
    points, _, reference = await whole()

    clock.advance(31)
    outside.dying = None
    engine = engine_on(store, outside)
    reply = await engine.take_turn("c1", "5", message_id="m2", user_id="ann")

    unknown = unknown_call(points, place)
    assert reply.response is not None
    if unknown == "pay":
        assert reply.response.startswith("unpaid: pay was interrupted, and nobody knows")
    elif unknown == "tell":
        assert reply.response.endswith(UNKNOWN)
    else:
        assert reply.response == PAID
        assert [row.doc for row in await store.commits("c1")] == [
            row.doc for row in await reference.commits("c1")
        ]
    for name, effect in TOOLS.items():
        keys = outside.of(name)
        assert len(set(keys)) <= 1, "all attempts share one key"
        assert len(keys) <= (1 if effect == "once" else 2)
    assert len(reply.last_turn_tool_calls) == 4, "a call that may have happened is told"
    assert await engine.recover() == 0


@pytest.mark.parametrize("place", PLACES)
async def test_a_conversation_goes_on_after_a_crash(place: int) -> None:
    """Recovered at the start of the next process, it takes the next message as ever."""
    clock = FakeClock(auto=False)
    store = MemoryStore(clock)
    dying = Dying(store, place)
    with pytest.raises(Crash):
        await until_the_crash(dying, Outside(dying))
    clock.advance(31)
    engine = engine_on(store, Outside())
    recovered = await engine.recover()
    points, _, _ = await whole()
    accepted = points[place] not in ("before accept_and_claim", "after finish")
    assert recovered == (1 if accepted else 0)
    session = await engine.session("c1")
    assert session is not None
    if points[place] == "before accept_and_claim":  # nobody ever heard of the message
        assert session.flow_stacks == [["Main"]]
    again = await engine.take_turn("c1", "Main", message_id="m3", user_id="ann")
    assert again.response is not None


async def test_without_on_fail_a_flow_rests_at_an_unknown_call() -> None:
    """The user is told, the flow is open, and the host sees the call as attempted."""
    clock = FakeClock(auto=False)
    store = MemoryStore(clock)
    dying = Dying(store)
    outside = Outside(dying)
    main = flow(use("pay", args={"n": 1}), say("never"))

    def engine_of_one(on: Any) -> Engine:
        return engine_of(
            main,
            tools=[local_tool("pay")],
            functions={"pay": outside.tool("pay")},
            store=on,
            lease_seconds=30,
        )

    dying.at = 5  # after the effect: nobody was told of it any more
    with pytest.raises(Crash):
        await engine_of_one(dying).take_turn("c1", "Main", message_id="m1")
    assert [name for name, _ in outside.effects] == ["pay"]
    clock.advance(31)
    engine = engine_of_one(store)
    reply = await engine.take_turn("c1", "Main", message_id="m1")
    assert reply.response == UNKNOWN.replace("tell", "pay")
    assert [call["tool"] for call in reply.last_turn_tool_calls] == ["pay"]
    session = await engine.session("c1")
    assert session is not None
    (open_one,) = session.transactions()
    assert open_one["state"] == "active"
    (unknown,) = session.unknown
    text = "pay was interrupted, and nobody knows whether it took effect"
    assert (unknown["tool"], unknown["args"], unknown["error"]) == ("pay", {"n": 1}, text)
    assert unknown["id"] == outside.effects[0][1]
    assert len(outside.effects) == 1


async def test_a_retry_is_a_call_of_its_own_in_the_journal() -> None:
    """Each attempt has its row and its answer; all have the key of the first."""
    tries: list[str] = []

    async def flaky(args: dict[str, Any], *, context: Any) -> str:
        tries.append(context.key)
        if len(tries) < 3:
            raise RuntimeError("timeout")
        return "ok"

    store = MemoryStore()
    engine = engine_of(
        flow(use("t", variable="r"), say("{{r}}")),
        tools=[local_tool("t")],
        functions={"t": flaky},
        store=store,
    )
    reply = await engine.take_turn("c1", "Main")
    assert reply.response == "ok"
    assert len(set(tries)) == 1
    rows = await store.journal("c1", 1)
    assert [(row.key, row.status) for row in rows] == [(tries[0], "answered")] * 3
    assert len({row.seq for row in rows}) == 3


async def test_a_failed_attempt_before_a_crash_counts() -> None:
    """Retries go on where they were; an answered attempt is not made again."""
    clock = FakeClock(auto=False)
    store = MemoryStore(clock)
    dying = Dying(store)
    tries: list[int] = []

    async def fail(args: dict[str, Any]) -> None:
        await asyncio.sleep(0)
        tries.append(len(tries))
        if len(tries) == 2:
            dying.dead = True
            raise Crash
        raise RuntimeError("timeout")

    def made(on: Any) -> Engine:
        tool = {**local_tool("t"), "effect": "repeatable"}
        return engine_of(
            flow(use("t", variable="r", maxRetries=2, onFail={"id": "f", **say("gave up")})),
            tools=[tool],
            functions={"t": fail},
            store=on,
            lease_seconds=30,
        )

    with pytest.raises(Crash):
        await made(dying).take_turn("c1", "Main", message_id="m1")
    clock.advance(31)
    reply = await made(store).take_turn("c1", "Main", message_id="m1")
    assert reply.response == "gave up"
    assert len(tries) == 4, "the first answered, the second again, the third"
    assert len(reply.last_turn_tool_calls) == 3


async def test_a_turn_that_comes_back_with_another_call_is_stopped() -> None:
    """Nothing is guessed: the turn ends as diverged, and the conversation goes on."""
    clock = FakeClock(auto=False)
    store = MemoryStore(clock)
    dying = Dying(store)
    outside = Outside(dying)
    dying.at = 4
    main = flow(use("look", args={"n": 1}), say("done"))
    tools = [{**local_tool("look"), "effect": "reads"}]
    functions = {"look": outside.tool("look")}
    engine = engine_of(main, tools=tools, functions=functions, store=dying, lease_seconds=30)
    with pytest.raises(Crash):
        await engine.take_turn("c1", "Main", message_id="m1")
    clock.advance(31)
    claim = await store.claim("other", 30)
    assert claim is not None
    assert claim.turn_doc is not None
    changed = claim.turn_doc.replace(b'"n":1', b'"n":2')
    store._sessions["c1"].turns[1].doc = changed  # what no worker of ours would write
    clock.advance(31)
    outside.dying = None
    again = engine_of(main, tools=tools, functions=functions, store=store, lease_seconds=30)
    with pytest.raises(Diverged, match="another call of look than the one on record"):
        await again.take_turn("c1", "Main", message_id="m1")
    (turn,) = await store.turns("c1")
    assert turn.status == "diverged"
    assert (await again.take_turn("c1", "Main")).response == "done"


# ------------------------------------------------------------------ any conversation

Reply = tuple[str, str | None]


async def play(engine: Engine, entry: Any, message_id: str) -> Reply:
    """What a turn came to: its reply, or the error it ended with."""
    try:
        reply = await engine.take_turn("c1", entry, message_id=message_id, user_id="ann")
        return "reply", reply.response
    except SaywhyError as error:
        return error.name, str(error)


class DiesAtEachNewCall(Dying):
    """Dies once behind each new intent, so that every call is made by a process that resumed."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self.seen: set[tuple[int, int]] = set()

    def __getattr__(self, name: str) -> Any:
        if name != "intent":
            return super().__getattr__(name)

        async def intent(claim: Any, seq: int, *args: Any, **keys: Any) -> Any:
            prior = await self.store.intent(claim, seq, *args, **keys)
            if (claim.turn_no, seq) not in self.seen:
                self.seen.add((claim.turn_no, seq))
                self.dead = True
                raise Crash
            return prior

        return intent


async def play_through_crashes(made: Callable[[Any], Engine], entries: list[Any]) -> Any:
    clock = FakeClock(auto=False)
    store = MemoryStore(clock)
    dying = DiesAtEachNewCall(store)
    replies: list[Reply] = []
    for number, entry in enumerate(entries):
        while True:
            try:
                replies.append(await play(made(dying), entry, f"m{number}"))
                break
            except Crash:
                dying.dead = False
                clock.advance(31)
    return replies, store


@settings(max_examples=25)
@given(libraries(), st.lists(entries, min_size=1, max_size=4))
def test_resumed_at_every_call_it_is_the_same_conversation(
    flows: list[dict[str, Any]], said: list[Any]
) -> None:
    """Replies, errors, records and the last document: all as if nothing had happened."""

    async def both() -> None:
        whole, cut = World(), World()
        store = MemoryStore(FakeClock(auto=False))
        through = whole.engine(flows, store=store, effect="repeatable")
        words = ["Alpha", *said]
        replies = [await play(through, entry, f"m{n}") for n, entry in enumerate(words)]
        again, cut_store = await play_through_crashes(
            lambda on: cut.engine(flows, store=on, effect="repeatable"), words
        )
        assert again == replies
        for one, other in zip(
            await store.commits("c1"), await cut_store.commits("c1"), strict=True
        ):
            assert one.doc == other.doc
        one, other = await store.session("c1"), await cut_store.session("c1")
        assert one is not None
        assert other is not None
        assert one.doc == other.doc

    asyncio.run(both())


async def test_what_a_call_gave_survives_storage() -> None:
    """Values that JSON lacks, and changed arguments, come back from the journal as they were."""
    from saywhy.tools.answer import ToolAnswer
    from saywhy.values import UNDEFINED, BigInt, Date, freeze

    value = freeze({"d": Date(5), "n": float("nan"), "u": UNDEFINED, "b": BigInt(2**70)})
    answer = ToolAnswer(value=value, is_data=True, arguments_after=freeze({"k": [1]}))
    assert ToolAnswer.from_json(dumps(answer)) == answer
    failed = ToolAnswer(fault_message="no", fault_name="Odd", http_status=503, ran=True)
    assert ToolAnswer.from_json(dumps(failed)) == failed
    assert Lines().lines == []
