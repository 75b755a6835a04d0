"""Promise: what guards a tool holds in conversations, and the record tells it."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from saywhy import CallerError, Engine, MemoryStore, Session, SqliteStore, why
from saywhy.testing.clock import FakeClock
from saywhy.tools.wrappers import approve, limit
from saywhy.values import dumps


def flow(*steps: dict[str, Any]) -> dict[str, Any]:
    call = {
        "id": "call",
        "type": "CALL-TOOL",
        "tool": "find",
        "args": {"account": "DE89-3704"},
        "variable": "r",
        "onFail": [{"id": "sorry", "type": "RETURN", "value": "Sorry: {{r}}"}],
    }
    head = {"id": "go", "name": "Go", "version": "1.0", "prompt": "go", "description": "Goes"}
    return {**head, "steps": [call, *(steps or [SAY])]}


SAY = {"id": "say", "type": "SAY", "value": "{{r.owner}}"}
ASK = {"id": "ask", "type": "SAY-GET", "variable": "x", "value": "Is it {{r.owner}}?"}


def find_tool(**keys: Any) -> dict[str, Any]:
    implementation = {"type": "local", "function": "find", **keys.pop("implementation", {})}
    parameters = {"type": "object", "properties": {"account": {"type": "string"}}}
    return {
        "id": "find",
        "name": "Find",
        "parameters": parameters,
        "implementation": implementation,
        **keys,
    }


def owner(arguments: dict[str, Any]) -> dict[str, Any]:
    return {"owner": "Jane Miller", "balance": 417_250, "open": True}


def engine(tool: dict[str, Any], function: Any = owner, *steps: dict[str, Any], **options: Any):
    return Engine(flows=[flow(*steps)], tools=[tool], functions={"find": function}, **options)


def facts(session: Session) -> dict[str, Any]:
    """The facts of the newest call."""
    return [one.answered.facts for one in session.trace if one.answered is not None
            and one.answered.kind == "tool"][-1]  # fmt: skip


async def turn(made: Engine, session: Session | None = None, text: str = "go") -> Session:
    return await made.update_activity(text, session or made.init_session("ann", "c-1"))


def test_an_answer_from_memory_is_told_as_one() -> None:
    """The record says so, and the list of attempts is empty; another user is asked anew."""

    async def talk() -> None:
        made = engine(find_tool(effect="reads", cache={"ttl": "1m"}), clock=FakeClock())
        first = await turn(made)
        second = await turn(made, first)
        assert second.response == first.response == "Jane Miller"
        assert len(first.last_turn_tool_calls) == 1
        assert second.last_turn_tool_calls == []
        assert "cached" not in facts(first)
        assert facts(second)["cached"] is True
        told = 'find(account = "DE89-3704")'
        assert f"Called {told} (answered from memory): r =" in second.trace.narrative(2)
        assert f"Called {told}: r =" in second.trace.narrative(1)
        cause = " ".join(why(second.trace).text().split())
        assert 'tool find({"account": "DE89-3704"}) (answered from memory)' in cause
        other = await turn(made, made.init_session("bob"))
        assert "cached" not in facts(other)

    asyncio.run(talk())


def test_an_open_circuit_reaches_onfail() -> None:
    """As a sentence a flow can show, with no attempt, no retry and no row in the journal."""
    calls: list[int] = []

    def fails(arguments: dict[str, Any]) -> None:
        calls.append(1)
        raise RuntimeError("fetch failed")

    async def talk() -> None:
        tool = find_tool(implementation={"circuitBreaker": {"failures": 2}})
        store = MemoryStore()
        async with engine(tool, fails, store=store) as made:
            replies = [await made.take_turn("c-1", "go") for _ in range(3)]
            rows = [len(await store.journal("c-1", number)) for number in (1, 2, 3)]
            told = [one.answered.facts for one in await made.trace("c-1") if one.answered]
        assert [reply.response for reply in replies] == [
            "Sorry: fetch failed",
            "Sorry: fetch failed",
            "Sorry: Find was not called: it failed 2 times within 60 seconds",
        ]
        assert len(calls) == 2
        assert replies[2].last_turn_tool_calls == []
        assert rows == [1, 1, 0]
        opened, refused = (one for one in told if "circuit" in one)
        assert opened["circuit"] == "opened"
        assert (refused["circuit"], refused["refused"]) == ("open", True)

    asyncio.run(talk())


def test_a_session_that_is_authenticated() -> None:
    """The host says it, on the session or with a message, and takes it back; flows cannot."""

    async def talk() -> None:
        made = engine(find_tool(security={"requiresAuth": True}))
        session = await turn(made)
        assert session.response == (
            "Sorry: Find is for users who have signed in; this session is not authenticated"
        )
        session.cargo["authenticated"] = True
        assert str((await turn(made, session)).response).startswith("Sorry")
        session.authenticated = True
        session = await turn(made, made.load_session(session.to_json()))
        assert session.response == "Jane Miller"
        assert session.authenticated

    async def stored() -> None:
        tool = find_tool(security={"requiresAuth": True})
        async with engine(tool, store=MemoryStore()) as made:
            replies = [
                (await made.take_turn("c-1", "go", authenticated=said)).response
                for said in (None, True, None, False, None)
            ]
        ok = "Jane Miller"
        assert [reply if reply == ok else "no" for reply in replies] == ["no", ok, ok, "no", "no"]

    asyncio.run(talk())
    asyncio.run(stored())


def test_a_flow_that_asked_for_a_one_time_code() -> None:
    """`otpVerified` in cargo counts unless the host decides otherwise; what raises counts as no."""

    async def reply(**options: Any) -> str:
        made = engine(find_tool(security={"requiresAuth": True}), **options)
        session = made.init_session("ann")
        session.cargo = {"otpVerified": True, "level": 3}
        return str((await turn(made, session)).response)

    def trusted(cargo: dict[str, Any]) -> bool:
        return cargo["level"] > 2

    def very_trusted(cargo: dict[str, Any]) -> bool:
        return cargo["level"] > 3

    def broken(cargo: dict[str, Any]) -> bool:
        raise KeyError("levels")

    assert asyncio.run(reply()) == "Jane Miller"
    assert asyncio.run(reply(is_authenticated=None)).startswith("Sorry")
    assert asyncio.run(reply(is_authenticated=trusted)) == "Jane Miller"
    assert asyncio.run(reply(is_authenticated=very_trusted)).startswith("Sorry")
    assert asyncio.run(reply(is_authenticated=broken)).startswith("Sorry")


def test_whether_it_is_authenticated_is_yes_or_no() -> None:
    """A word is refused, it would count as yes."""

    async def talk() -> None:
        async with engine(find_tool(), store=MemoryStore()) as made:
            await made.take_turn("c-1", "go", authenticated="no")  # pyright: ignore[reportArgumentType]

    with pytest.raises(CallerError, match="authenticated is True or False, not 'no'"):
        asyncio.run(talk())


def test_calls_are_audited_where_it_is_asked_for() -> None:
    """Who called what when stands with the step, for a call that was refused as well."""

    async def talk() -> None:
        security = {"auditLevel": "full", "requiresAuth": True}
        made = engine(find_tool(security=security, riskLevel="high"), clock=FakeClock(1.7e12))
        refused = await turn(made)
        [event] = refused.trace.events("tool_audit")
        assert event.data == facts(refused)["audit"]
        assert event.data["outcome"] == "refused"
        assert facts(refused)["audit"]["authenticated"] is False
        refused.authenticated = True
        audit = facts(await turn(made, refused))["audit"]
        assert audit.pop("call").startswith("c-1:2:")
        assert audit == {
            "level": "full",
            "tool": "find",
            "user": "ann",
            "session": "c-1",
            "at": 1_700_000_000_000,
            "outcome": "done",
            "risk": "high",
            "authenticated": True,
            "arguments": {"account": "DE89-3704"},
            "attempts": 1,
        }

    asyncio.run(talk())


WORDS = ("DE89-3704", "Jane Miller", "417250")


@pytest.mark.parametrize(
    ("data_class", "told"),
    [
        ("internal", {"DE89-3704", "Jane Miller", "417250"}),
        ("confidential", {"Jane Miller"}),  # said to the user by a later step
        ("restricted", set[str]()),
    ],
)
def test_what_records_tell_of_confidential_data(data_class: str, told: set[str]) -> None:
    """Confidential: not with the call. Restricted: nowhere, also in later turns and in a store."""

    async def talk() -> None:
        security = {"dataClassification": data_class, "auditLevel": "full"}
        async with engine(
            find_tool(security=security), owner, ASK, SAY, store=MemoryStore()
        ) as made:
            first = await made.take_turn("c-1", "go")
            assert str(first.response).endswith("Is it Jane Miller?")
            second = await made.take_turn("c-1", "yes")
            assert second.response == "Jane Miller"
            trace = await made.trace("c-1")
            record = dumps(list(trace)).decode()
        assert {word for word in WORDS if word in record} == told
        shape = [
            one.answered.value for one in trace if one.answered and one.answered.name == "find"
        ]
        if data_class != "internal":
            mark = "[REDACTED]"
            assert shape == [{"owner": mark, "balance": mark, "open": mark}]

    asyncio.run(talk())


def test_what_a_confidential_tool_failed_with(caplog: pytest.LogCaptureFixture) -> None:
    """The flow gets the words; records and logs lose the numbers in them."""

    def fails(arguments: dict[str, Any]) -> None:
        raise ValueError("account 41725099 is closed")

    async def talk() -> None:
        security = {"dataClassification": "financial", "auditLevel": "full"}
        session = await turn(engine(find_tool(security=security), fails))
        assert session.response == "Sorry: account 41725099 is closed"
        errors = [one.answered.error for one in session.trace if one.answered is not None]
        assert "account [REDACTED] is closed" in errors
        assert facts(session)["audit"]["error"] == "account [REDACTED] is closed"

    with caplog.at_level(logging.DEBUG):
        asyncio.run(talk())
    assert "41725099" not in caplog.text


def test_a_reported_failure_of_a_confidential_tool_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """That it failed and with which code is logged, its words are not."""

    def fails(arguments: dict[str, Any]) -> dict[str, Any]:
        return {"success": False, "code": "E7", "message": "Jane Miller owes money"}

    async def talk() -> None:
        security = {"dataClassification": "confidential"}
        await turn(engine(find_tool(security=security), fails, log_tool_failures=True))

    with caplog.at_level(logging.WARNING, logger="saywhy"):
        asyncio.run(talk())
    assert "Tool find answered a failure (E7): [REDACTED]" in caplog.text


LIMITED = {"rateLimit": {"requests": 2, "window": 60_000}}
REFUSED = "Sorry: Rate limit exceeded for Find. Max 2 requests per 60 seconds."


def test_two_programs_on_one_file_share_a_limit(tmp_path: Path) -> None:
    """The limit is counted in the store: two engines allow no more than one; users are apart."""

    async def talk() -> None:
        path = tmp_path / "talks.db"
        one = engine(find_tool(security=LIMITED), store=SqliteStore(path))
        two = engine(find_tool(security=LIMITED), store=SqliteStore(path))
        async with one, two:
            replies = [
                (await made.take_turn(f"c-{number}", "go", user_id=user)).response
                for number, (made, user) in enumerate(
                    [(one, "ann"), (two, "ann"), (one, "ann"), (two, "ann"), (two, "bob")]
                )
            ]
        ok = "Jane Miller"
        assert replies == [ok, ok, REFUSED, REFUSED, ok]

    asyncio.run(talk())


def test_without_a_store_the_engine_counts_in_memory() -> None:
    """Over all its conversations of a user, in a window that slides by its clock."""

    async def talk() -> None:
        clock = FakeClock()
        made = engine(find_tool(security=LIMITED), clock=clock)
        replies: list[Any] = []
        for number in range(3):
            session = await turn(made, made.init_session("ann", f"c-{number}"))
            replies.append(session.response)
        clock.advance(60)
        replies.append((await turn(made)).response)
        assert replies == ["Jane Miller", "Jane Miller", REFUSED, "Jane Miller"]

    asyncio.run(talk())


def test_diagnostics_are_switched_at_any_time(caplog: pytest.LogCaptureFixture) -> None:
    """A program that is running can be asked to look at what its tools answer."""

    def fails(arguments: dict[str, Any]) -> dict[str, Any]:
        return {"success": False, "code": 12345, "message": "card 4111111111111111 refused"}

    async def talk() -> None:
        returns = {"type": "object", "required": ["id"]}
        made = engine(find_tool(returns=returns), fails)
        session = await turn(made)
        assert "find" not in caplog.text
        assert (made.validate_tool_returns, made.log_tool_failures) == (False, False)
        made.validate_tool_returns = made.log_tool_failures = True
        await turn(made, session)
        assert (made.validate_tool_returns, made.log_tool_failures) == (True, True)

    with caplog.at_level(logging.WARNING, logger="saywhy"):
        asyncio.run(talk())
    assert (
        "The answer of tool find does not match its `returns`: "
        'root must have the property "id"' in caplog.text
    )
    assert "Tool find answered a failure (****): card **** refused" in caplog.text


def test_calls_outside_of_conversations_pass_the_same_guards() -> None:
    """They share the cache, and nobody has signed in there."""

    async def talk() -> None:
        made = engine(find_tool(effect="reads", cache={"ttl": "1m"}))
        first = await made.call_tool("find", {"account": "1"}, user_id="ann")
        again = await made.call_tool("find", {"account": "1"}, user_id="ann")
        other = await made.call_tool("find", {"account": "1"}, user_id="bob")
        assert [one.cached for one in (first, again, other)] == [False, True, False]
        closed = engine(find_tool(security={"requiresAuth": True}))
        assert (await closed.call_tool("find", {})).fault_name == "NotAuthenticated"

    asyncio.run(talk())


def test_a_payment_as_tool_files_describe_it() -> None:
    """Signed in, audited in full, masked; its `returns` is compared where that is asked for."""
    payment = {
        "id": "PaymentProcessor",
        "name": "Process Payment",
        "description": "Processes financial transactions securely",
        "parameters": {"type": "object", "properties": {"amount": {"type": "number"}}},
        "implementation": {"type": "local", "function": "processPayment", "timeout": 10_000},
        "security": {
            "requiresAuth": True,
            "auditLevel": "critical",
            "dataClassification": "financial",
        },
        "returns": {
            "type": "object",
            "required": ["success"],
            "properties": {
                "success": {"type": "boolean"},
                "transaction": {"type": "object", "properties": {"id": {"type": "string"}}},
            },
        },
    }
    steps = [
        {
            "id": "pay",
            "type": "CALL-TOOL",
            "tool": "PaymentProcessor",
            "args": {"amount": 80},
            "variable": "payment_result",
        },
        {"id": "say", "type": "SAY", "value": "Paid: {{payment_result.transaction.id}}"},
    ]

    async def process(arguments: dict[str, Any]) -> dict[str, Any]:
        return {"success": True, "transaction": {"id": "tx-417250"}}

    async def talk() -> None:
        made = Engine(
            flows=[{**flow(), "steps": steps}],
            tools=[payment],
            functions={"processPayment": process},
            validate_tool_returns=True,
            strict=True,
        )
        session = made.init_session("ann")
        assert str((await turn(made, session)).response).startswith("Process Payment did not work:")
        session.authenticated = True
        session = await turn(made, session)
        assert session.response == "Paid: tx-417250"
        assert facts(session)["audit"]["arguments"] == {"amount": "[REDACTED]"}
        assert facts(session)["audit"]["level"] == "full"

    asyncio.run(talk())


def test_a_wrapper_that_asks_a_person() -> None:
    """What a wrapper asks for is asked for in a conversation, and nothing is called before."""
    calls: list[Any] = []

    def pay(arguments: dict[str, Any]) -> dict[str, Any]:
        calls.append(arguments)
        return owner(arguments)

    async def talk() -> None:
        tools = approve(limit([find_tool()], requests=1, window_ms=60_000), by="treasury")
        functions = {"find": pay}
        async with Engine(
            flows=[flow()], tools=tools, functions=functions, store=MemoryStore()
        ) as made:
            await made.take_turn("c-1", "go", user_id="ann")
            session = await made.session("c-1")
            assert session is not None
            waiting = session.pending_approval
            assert waiting is not None
            assert (waiting["tool"], waiting["by"]) == ("Find", "treasury")
            assert calls == []
            reply = await made.approve("c-1", waiting["id"], by="eve")
            assert reply is not None
            assert reply.response == "Jane Miller"
            assert calls == [{"account": "DE89-3704"}]

    asyncio.run(talk())
