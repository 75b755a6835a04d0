"""Promise: a crash anywhere between a person's word and its end leaves that word said once."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.errors import AlreadyDecided
from saywhy.runtime.engine import Engine
from saywhy.stores.memory import MemoryStore
from saywhy.testing import FakeClock
from tests.flows.conftest import ask, engine_of, flow, local_tool, say, use
from tests.runtime.test_journal import Crash, Dying, Outside

MAIN = flow(
    ask("n", "how many?"),
    use("pay", variable="paid", args={"n": "{{n}}"}),
    say("{{paid}}"),
    use("look", variable="seen", args={"n": "{{n}}"}),
    say("{{seen}}"),
)


def engine_on(store: Any, outside: Outside, *, approval: bool) -> Engine:
    pay = local_tool("pay", **({"approval": True} if approval else {}))
    return engine_of(
        MAIN,
        tools=[pay, {**local_tool("look"), "effect": "reads"}],
        functions={"pay": outside.tool("pay"), "look": outside.tool("look")},
        store=store,
        lease_seconds=30,
    )


async def begun(store: Any, outside: Outside, *, approval: bool) -> Engine:
    engine = engine_on(store, outside, approval=approval)
    await engine.take_turn("c1", "Main", message_id="m1", user_id="ann")
    await engine.take_turn("c1", "5", message_id="m2", user_id="ann")
    return engine


async def approve(store: Any, outside: Outside) -> None:
    """Ask for an approval, and give it."""
    engine = await begun(store, outside, approval=True)
    (waiting,) = await engine.approvals("c1")
    await engine.approve("c1", waiting["id"], by="eve")


async def places_of_an_approval() -> list[str]:
    """Where the process could die while the word is taken."""
    dying = Dying(MemoryStore(FakeClock(auto=False)))
    await approve(dying, Outside(dying))
    return dying.points


async def test_the_places() -> None:
    """Two turns, then the word: accepted, the call with its intent, another call, the end."""
    points = await places_of_an_approval()
    assert points[8:] == [
        "before accept_and_claim", "after accept_and_claim",
        "before intent", "after intent", "before pay", "after pay",
        "before intent", "after intent", "before look", "after look",
        "before finish", "after finish",
    ]  # fmt: skip


@pytest.mark.parametrize("place", range(8, 20))
async def test_an_approval_is_used_once(place: int) -> None:
    """The call is made once, or it is openly unknown; nothing waits to be approved any more."""
    clock = FakeClock(auto=False)
    store = MemoryStore(clock)
    dying = Dying(store, place)
    outside = Outside(dying)
    with pytest.raises(Crash):
        await approve(dying, outside)
    clock.advance(31)
    outside.dying = None
    engine = engine_on(store, outside, approval=True)
    await engine.recover()
    for waiting in await engine.approvals():
        assert place == 8, "later the word has been taken in"
        await engine.approve("c1", waiting["id"])
    assert await engine.approvals() == []
    unknown = await engine.unknown()
    assert len(outside.of("pay")) <= 1
    if unknown:
        assert place in (11, 12, 13, 14), "between the intent and the result"
        await engine.settle("c1", done="settled", by="bob")
        assert await engine.unknown() == []
    else:
        assert len(outside.of("pay")) == 1
    session = await engine.session("c1")
    assert session is not None
    assert str(session.response).endswith("look for 5")
    assert [turn.status for turn in await store.turns("c1")][2:3] == [
        "unknown" if unknown else "done"
    ]


@pytest.mark.parametrize("place", range(20))
async def test_a_settled_call_is_settled_once(place: int) -> None:
    """Whatever the process died in: the word counts once, and the flow ends with it."""
    clock = FakeClock(auto=False)
    store = MemoryStore(clock)
    outside = Outside(Dying(store, 9))
    with pytest.raises(Crash):  # in the payment
        assert outside.dying is not None
        await begun(outside.dying, outside, approval=False)
    clock.advance(31)
    outside.dying = None
    engine = engine_on(store, outside, approval=False)
    await engine.recover()
    (call,) = await engine.unknown()

    dying = Dying(store, place)
    outside.dying = dying
    engine = engine_on(dying, outside, approval=False)
    try:
        await engine.settle("c1", call["id"], done="settled", by="bob")
    except Crash:
        clock.advance(31)
        outside.dying = None
        engine = engine_on(store, outside, approval=False)
        await engine.recover()
        if await engine.unknown():
            await engine.settle("c1", call["id"], done="settled", by="bob")
    session = await engine.session("c1")
    assert session is not None
    assert session.response == "settled\n\nlook for 5"
    assert session.flow_stacks == []
    assert len(outside.of("pay")) <= 1
    outside.dying = None
    with pytest.raises(AlreadyDecided):
        await engine_on(store, outside, approval=False).settle("c1", call["id"], failed="no")
