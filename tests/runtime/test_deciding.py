"""Promise: people decide about calls of stored conversations once, with their word on record."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saywhy.errors import (
    AlreadyDecided,
    ApprovalExpired,
    ApprovalMismatch,
    CallerError,
    NothingPending,
    SaywhyError,
    UnknownSession,
)
from saywhy.runtime.engine import Engine
from saywhy.runtime.noted import PAGE as NOTED_PAGE
from saywhy.stores.memory import MemoryStore
from saywhy.testing import FakeClock
from saywhy.trace.causes.why import Reply, why
from saywhy.trace.narrative.story import narrative
from saywhy.values import loads_raw
from tests.flows.conftest import NOW, ask, engine_of, flow, local_tool, say, use

SCHEMA = {"type": "object", "properties": {"n": {"type": "string"}}, "required": ["n"]}
WAITING = "pay has to be approved first. I am waiting for that."


class Desk:
    """Conversations in a store, a payment service, and the people behind it."""

    def __init__(self, *, slow: int = 0, **tool: Any) -> None:
        self.clock = FakeClock(NOW, auto=True)
        self.store = MemoryStore(self.clock)
        self.slow = slow
        self.charges: list[tuple[Any, str]] = []
        self.tool = {**local_tool("pay"), "parameters": SCHEMA, **tool}
        self.engine = self.another()

    def another(self, **step: Any) -> Engine:
        """An engine on the same store, as after a restart."""
        main = flow(
            ask("n", "how much?"),
            use("pay", variable="r", args={"n": "{{n}}"}, **step),
            say("paid {{r.id}}"),
            ask("more", "more?"),
        )
        functions = {"pay": self.pay}
        return engine_of(
            main, tools=[self.tool], functions=functions, store=self.store, clock=self.clock
        )

    async def pay(self, args: dict[str, Any], *, context: Any) -> Any:
        """Charge."""
        self.charges.append((args["n"], context.key))
        if len(self.charges) <= self.slow:
            await self.clock.sleep(60)
        return {"id": len(self.charges)}

    async def say(self, words: str, session: str = "c1") -> str | None:
        """One turn."""
        return (await self.engine.take_turn(session, words, user_id="ann")).response

    async def asked(self, session: str = "c1") -> dict[str, Any]:
        """What waits to be approved, after the user wanted to pay 5."""
        await self.say("Main", session)
        assert await self.say("5", session) == WAITING
        (waiting,) = await self.engine.approvals(session)
        return waiting


APPROVAL = {"approval": {"expires": "1h", "by": "treasury"}}


# ------------------------------------------------------------------ settling


async def unknown_desk() -> Desk:
    desk = Desk(slow=1)
    await desk.say("Main")
    await desk.say("5")
    return desk


async def test_unknown_calls_are_listed() -> None:
    """With conversation, user and arguments; the turn itself ended as unknown."""
    desk = await unknown_desk()
    (one,) = await desk.engine.unknown()
    assert (one["sessionId"], one["userId"], one["tool"]) == ("c1", "ann", "pay")
    assert (one["args"], one["turn"], one["since"]) == ({"n": "5"}, 2, NOW + 5000)
    assert one["id"] == desk.charges[0][1]
    assert await desk.engine.unknown("c2") == []
    assert await desk.engine.approvals() == []
    assert [turn.status for turn in await desk.store.turns("c1")] == ["done", "unknown"]


async def test_settling_goes_on_at_once_and_is_sent() -> None:
    """The reply is a message of the conversation, and stands among what is to be sent."""
    desk = await unknown_desk()
    reply = await desk.engine.settle("c1", done={"id": 7}, by="bob", note="saw it in the bank")
    assert reply is not None
    assert (reply.response, reply.turn_no) == ("paid 7\n\nmore?", 3)
    (output,) = await desk.store.unsent()
    assert loads_raw(output.payload) == {
        "sessionId": "c1", "turnNo": 3, "message": 5, "text": "paid 7\n\nmore?",
    }  # fmt: skip
    messages = await desk.store.messages("c1")
    assert loads_raw(messages[-1].doc)["text"] == "paid 7\n\nmore?"
    assert await desk.engine.unknown() == []
    assert await desk.say("no") == "Flow completed."


async def test_a_settled_call_is_on_record() -> None:
    """Who settled it, when and why is told, and stands behind what came of it."""
    desk = await unknown_desk()
    await desk.engine.settle("c1", done={"id": 7}, by="bob", note="saw it")
    trace = await desk.engine.trace("c1")
    told = narrative(trace)
    assert 'Nobody knows whether pay(n = "5") happened: somebody has to say.' in told
    assert 'Of pay: it was done, said bob at 2026-01-01T00:00:05.000Z: "saw it".' in told
    chain = why(trace, Reply()).text(200)
    assert "the result of tool pay" in chain
    assert 'it was done, said bob at 2026-01-01T00:00:05.000Z: "saw it"' in chain


async def test_settled_once() -> None:
    """The second word is refused by name, and says whose the first one was."""
    desk = await unknown_desk()
    (one,) = await desk.engine.unknown()
    await desk.engine.settle("c1", one["id"], done={"id": 7}, by="bob")
    with pytest.raises(AlreadyDecided) as raised:
        await desk.engine.settle("c1", one["id"], not_done=True)
    assert str(raised.value) == (
        f"{one['id']} was decided before by bob at 2026-01-01T00:00:05.000Z: done"
    )
    with pytest.raises(NothingPending, match="c1 has no call of unknown outcome to decide"):
        await desk.engine.settle("c1", failed="no")
    assert len(desk.charges) == 1


async def test_settled_by_two_at_once() -> None:
    """One word counts; the other is told."""
    desk = await unknown_desk()
    (one,) = await desk.engine.unknown()
    words = [desk.engine.settle("c1", one["id"], done={"id": n}) for n in (1, 2, 3)]
    given = await asyncio.gather(*words, return_exceptions=True)
    assert sorted(type(one).__name__ for one in given) == [
        "AlreadyDecided", "AlreadyDecided", "TurnReply",
    ]  # fmt: skip
    assert len(await desk.store.unsent()) == 1


async def test_decisions_left_to_the_next_turn_are_listed_as_such() -> None:
    """Until the flow follows, the list says who decided and how, and a second word is refused."""
    desk = Desk(**APPROVAL)
    waiting = await desk.asked()
    other = await desk.asked("c2")
    at = desk.clock.now()
    assert await desk.engine.deny("c1", waiting["id"], by="eve", run=False) is None
    word = {"how": "denied", "by": "eve", "at": at}
    assert await desk.engine.approvals() == [{**waiting, "decided": word}, other]
    await desk.clock.sleep(7200)  # the approval is over by now, which is no news any more
    for run in (False, True):
        with pytest.raises(AlreadyDecided) as raised:
            await desk.engine.approve("c1", waiting["id"], by="bob", digest="00", run=run)
        assert f"{waiting['id']} was decided before by eve at " in str(raised.value)
        assert str(raised.value).endswith(": denied")
    assert await desk.engine.approvals() == [other]
    assert desk.charges == []


async def test_many_words_may_wait_before_a_decision() -> None:
    """A decision is seen as noted however many messages were taken in after it."""
    desk = await unknown_desk()
    (one,) = await desk.engine.unknown()
    await desk.engine.settle("c1", not_done=True, by="bob", run=False)
    for number in range(NOTED_PAGE + 1):
        await desk.store.accept("c1", f"m{number}", b"{}", user_id="ann")
    (listed,) = await desk.engine.unknown()
    assert listed["decided"] == {"how": "not_done", "by": "bob", "at": desk.clock.now()}
    assert {**one, "decided": listed["decided"]} == listed


async def test_settled_without_flows() -> None:
    """Where nobody can run the conversation, its next turn takes the word up first."""
    desk = await unknown_desk()
    bare = Engine(store=desk.store, clock=desk.clock, validate_on_init=False)
    (one,) = await bare.unknown()
    assert await bare.settle("c1", str(one["seq"]), done={"id": 8}, run=False) is None
    assert await desk.say("no") == "Flow completed."  # it answers the question that came first
    told = [loads_raw(row.doc)["text"] for row in await desk.store.messages("c1")]
    assert told[-3:] == ["paid 8\n\nmore?", "no", "Flow completed."]
    with pytest.raises(AlreadyDecided):
        await bare.settle("c1", one["id"], done=1, run=False)


@pytest.mark.parametrize(
    ("keys", "error", "message"),
    [
        ({}, CallerError, "a call is settled in one way"),
        ({"done": 1, "failed": "x"}, CallerError, "a call is settled in one way"),
        ({"done": {1}}, CallerError, "done"),
        ({"call": "c9", "done": 1}, NothingPending, 'c1 has no call of unknown outcome "c9"'),
    ],
)
async def test_words_that_make_no_sense(
    keys: dict[str, Any], error: type[SaywhyError], message: str
) -> None:
    """They are refused and change nothing."""
    desk = await unknown_desk()
    with pytest.raises(error) as raised:
        await desk.engine.settle("c1", **keys)
    assert message in str(raised.value)
    with pytest.raises(UnknownSession):
        await desk.engine.settle("nobody", done=1)
    assert len(await desk.engine.unknown()) == 1


async def test_done_may_be_nothing() -> None:
    """None is an answer like any other."""
    desk = await unknown_desk()
    reply = await desk.engine.settle("c1", done=None)
    assert reply is not None
    assert reply.response is not None
    assert reply.response.endswith("more?")


async def test_lists_are_masked() -> None:
    """What the record masks is masked in the list as well; the call gets the real thing."""
    desk = Desk(slow=1)
    desk.tool["parameters"] = {"type": "object", "properties": {}}
    main = flow(use("pay", args={"n": "5", "password": "hunter22"}))
    desk.engine = engine_of(
        main,
        tools=[desk.tool],
        functions={"pay": desk.pay},
        store=desk.store,
        clock=desk.clock,
    )
    await desk.say("Main")
    (one,) = await desk.engine.unknown()
    assert one["args"] == {"n": "5", "password": "[REDACTED]"}


async def test_forgotten_with_the_person() -> None:
    """Nothing of them stays listed."""
    desk = await unknown_desk()
    await desk.store.forget("ann")
    assert await desk.engine.unknown() == []


# ------------------------------------------------------------------ approving


async def test_nothing_happens_before_the_word() -> None:
    """The user hears what is waited for, as often as they write; no call, no row, no record."""
    desk = Desk(**APPROVAL)
    waiting = await desk.asked()
    assert waiting["args"] == {"n": "5"}
    assert (waiting["by"], waiting["expires"]) == ("treasury", NOW + 3_600_000)
    assert await desk.say("hello?") == WAITING
    assert desk.charges == []
    assert await desk.store.journal("c1", 2) == ()
    session = await desk.engine.session("c1")
    assert session is not None
    assert session.last_turn_tool_calls == []
    assert session.pending_approval is not None
    assert session.pending_approval["id"] == waiting["id"]


async def test_approved() -> None:
    """The call is made once, with what was shown; who approved is on record."""
    desk = Desk(**APPROVAL)
    waiting = await desk.asked()
    reply = await desk.engine.approve("c1", waiting["id"], by="eve", digest=waiting["digest"])
    assert reply is not None
    assert (reply.response, len(reply.last_turn_tool_calls)) == ("paid 1\n\nmore?", 1)
    assert [n for n, _ in desk.charges] == ["5"]
    trace = await desk.engine.trace("c1")
    at = "2026-01-01T00:00:00.000Z"
    assert f"Of pay: approved by eve at {at}." in narrative(trace)
    assert f'tool pay({{"n": "5"}}), approved by eve at {at}' in why(trace, Reply()).text(200)


async def test_approved_after_a_restart() -> None:
    """The waiting outlives the program."""
    desk = Desk(**APPROVAL)
    waiting = await desk.asked()
    desk.engine = desk.another()
    await desk.engine.approve("c1", waiting["id"])
    assert len(desk.charges) == 1


async def test_denied() -> None:
    """The step fails with the reason, which `onFail` may handle."""
    desk = Desk(**APPROVAL)
    waiting = await desk.asked()
    reply = await desk.engine.deny("c1", waiting["id"], by="eve", reason="too much")
    assert reply is not None
    assert reply.response == "pay did not work: not approved: too much"
    desk.engine = desk.another(onFail={"id": "f", **say("told: {{r}}")})
    waiting = await desk.asked("c2")
    reply = await desk.engine.deny("c2", waiting["id"])
    assert reply is not None
    assert str(reply.response).startswith("told: not approved\n\n")
    assert desk.charges == []
    trace = await desk.engine.trace("c2")
    told = why(trace, Reply()).text(200)
    assert 'r = "not approved" is the error of tool pay({"n": "5"}): denied at ' in told


async def test_other_arguments_are_asked_for_anew() -> None:
    """The edited call waits under a new id; the old word is spent, wrong arguments are refused."""
    desk = Desk(**APPROVAL)
    waiting = await desk.asked()
    with pytest.raises(CallerError, match="Tool argument validation failed: n must be text"):
        await desk.engine.approve("c1", waiting["id"], args={"n": 5})
    reply = await desk.engine.approve("c1", waiting["id"], by="eve", args={"n": "4"})
    assert reply is not None
    assert reply.response == WAITING
    (again,) = await desk.engine.approvals("c1")
    assert again["args"] == {"n": "4"}
    assert again["id"] != waiting["id"]
    assert again["digest"] != waiting["digest"]
    with pytest.raises(AlreadyDecided):
        await desk.engine.approve("c1", waiting["id"])
    await desk.engine.approve("c1", again["id"], by="bob")
    assert [n for n, _ in desk.charges] == ["4"]


async def test_words_that_do_not_fit() -> None:
    """Used twice, tampered, of another conversation, too late: each has its name."""
    desk = Desk(**APPROVAL)
    waiting, other = await desk.asked("c1"), await desk.asked("c2")
    with pytest.raises(ApprovalMismatch, match="is for other arguments than were shown"):
        await desk.engine.approve("c1", waiting["id"], digest=other["digest"])
    with pytest.raises(NothingPending, match=f'c1 has no approval "{other["id"]}" to decide'):
        await desk.engine.approve("c1", other["id"])
    assert (len(await desk.engine.approvals()), desk.charges) == (2, [])
    await desk.engine.approve("c2", other["id"])
    with pytest.raises(AlreadyDecided):
        await desk.engine.approve("c2", other["id"])
    desk.clock.advance(3601)
    with pytest.raises(ApprovalExpired, match="was wanted until 2026-01-01T01:00:00"):
        await desk.engine.approve("c1", waiting["id"])
    assert len(desk.charges) == 1


async def test_approved_by_two_at_once() -> None:
    """The call is made once."""
    desk = Desk(**APPROVAL)
    waiting = await desk.asked()
    words = [desk.engine.approve("c1", waiting["id"], by=f"p{n}") for n in range(4)]
    words += [desk.engine.deny("c1", waiting["id"])]
    given = await asyncio.gather(*words, return_exceptions=True)
    assert sum(isinstance(one, AlreadyDecided) for one in given) == 4
    assert len(desk.charges) == 1


async def test_too_late() -> None:
    """The next message of the user ends the waiting: the step fails, and nothing stays listed."""
    desk = Desk(**APPROVAL)
    await desk.asked()
    desk.clock.advance(3601)
    assert await desk.say("well?") == "pay did not work: not approved in time"
    assert await desk.engine.approvals() == []
    assert desk.charges == []


async def test_withdrawn_with_its_flow() -> None:
    """A cancelled flow waits for nobody; there was no call to be known of."""
    desk = Desk(**APPROVAL)
    waiting = await desk.asked()
    await desk.say("cancel")
    assert await desk.engine.approvals() == []
    with pytest.raises(NothingPending):
        await desk.engine.approve("c1", waiting["id"])


async def test_only_where_the_condition_holds() -> None:
    """Other calls pass."""
    desk = Desk(approval={"when": "Number(args.n) > 3"})
    await desk.say("Main", "c1")
    assert await desk.say("3", "c1") == "paid 1\n\nmore?"
    waiting = await desk.asked("c2")
    assert waiting["args"] == {"n": "5"}


async def test_the_limit_counts_a_call_once() -> None:
    """Waiting for a word uses up no second request."""
    limit = {"security": {"rateLimit": {"requests": 1, "window": 86_400_000}}}
    desk = Desk(**APPROVAL, **limit)
    waiting = await desk.asked()
    reply = await desk.engine.approve("c1", waiting["id"])
    assert reply is not None
    assert reply.response == "paid 1\n\nmore?"


async def test_in_a_session_of_the_hosts_own() -> None:
    """Without a store the session itself is given back."""
    desk = Desk(**APPROVAL)
    engine = desk.engine
    session = engine.init_session("ann", "s1")
    for words in ("Main", "5"):
        session = await engine.update_activity(words, engine.load_session(session.to_json()))
    waiting = session.pending_approval
    assert waiting is not None
    approved = await engine.approve(engine.load_session(session.to_json()), waiting["id"])
    assert (approved.response, approved.pending_approval) == ("paid 1\n\nmore?", None)
    with pytest.raises(AlreadyDecided):
        await engine.approve(approved, waiting["id"])
    denied = await engine.deny(session, waiting["id"])
    assert denied.response == "pay did not work: not approved"


async def test_approved_and_then_unknown() -> None:
    """A word given is not asked for again when the call is settled as not done."""
    desk = Desk(slow=1, **APPROVAL)
    waiting = await desk.asked()
    await desk.engine.approve("c1", waiting["id"], by="eve")
    assert len(await desk.engine.unknown()) == 1
    reply = await desk.engine.settle("c1", not_done=True, by="bob")
    assert reply is not None
    assert reply.response == "paid 2\n\nmore?"
    assert len({key for _, key in desk.charges}) == 1


async def test_of_several_at_once_the_first_decides() -> None:
    """Whichever worker comes to run the turn: one is told what came of it, and the others that it
    was decided before."""
    desk = Desk(**APPROVAL)
    waiting = await desk.asked()
    engines = [desk.engine, desk.another()]
    given = await asyncio.gather(
        *(engine.approve("c1", waiting["id"]) for engine in engines for _ in range(3)),
        return_exceptions=True,
    )
    assert sum(isinstance(one, AlreadyDecided) for one in given) == 5, given
    assert len(desk.charges) == 1
