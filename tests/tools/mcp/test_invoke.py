"""Promise: a call of an MCP tool gives its value, or says what went wrong and what is not known."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saywhy.clock import SystemClock
from saywhy.testing.stub_client import StubClient
from saywhy.tools.call import CallContext, call_tool
from saywhy.tools.limit import MemoryLimiter
from saywhy.tools.registry import Registry
from saywhy.values import raw
from tests.tools.mcp.calls import KEY, call, mcp_tool
from tests.tools.mcp.conftest import Bank

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_values(bank: Bank) -> None:
    """Structured content, data in a text, and text each are a value; one attempt is listed."""
    answer = await bank("balance", {"account": "a"})
    assert raw(answer.value) == {"amount": 80.5, "currency": "EUR"}
    assert [one.implementation for one in answer.attempts] == ["mcp"]
    charged = await bank("charge", {"account": "a", "amount": 3.0})
    assert raw(charged.value) == {"charged": 3.0, "account": "a"}
    assert (await bank("rename", {"account": "a", "name": "x"})).value == "007"


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("none", None),
        ("text", "three"),
        ("object", {"a": 1}),
        ("objects", [{"a": 1}, [2]]),
        (
            "resource",
            {
                "content": [
                    {
                        "type": "resource",
                        "uri": "file:///a.bin",
                        "mimeType": "x/y",
                        "blob": "aGk=",
                    }
                ]
            },
        ),
    ],
)
async def test_contents(bank: Bank, kind: str, value: Any) -> None:
    """Each kind of content arrives as data."""
    assert raw((await bank("contents", {"kind": kind})).value) == value


async def test_key_travels(bank: Bank) -> None:
    """What acts carries the idempotency key in `_meta`, under the name the definition says."""
    await bank("charge", {"account": "k", "amount": 1})
    await bank("charge", {"account": "k", "amount": 2}, idempotencyKey="bank/key")
    await bank("charge", {"account": "k", "amount": 3}, idempotencyKey=False)
    await bank("charge", {"account": "k", "amount": 4}, keys={"effect": "reads"})
    keys = [one["key"] for one in bank.asked_for("charge") if one["args"]["account"] == "k"]
    assert keys == [KEY, KEY, None, None]


async def test_whole_numbers_stay_whole(bank: Bank) -> None:
    """A number of the flow language without a fraction is sent as a whole one."""
    await bank("die_not", {"code": 3.0})  # unknown there: nothing is sent
    answer = await bank("fail", {"reason": "because"})
    assert (answer.fault_message, answer.fault_name) == ("because", "ToolError")


async def test_error_of_the_tool(bank: Bank) -> None:
    """What the tool reports as an error is an answer: no doubt whether something happened."""
    answer = await bank("fail", {"reason": ""}, keys={"effect": "once"}, retries=2)
    assert answer.fault_message == "the tool failed and did not say why"
    assert not answer.may_have_happened
    assert len(answer.attempts) == 1


async def test_unknown_tool(bank: Bank) -> None:
    """A tool that the server does not have is refused before anything is sent."""
    answer = await bank("chrage")
    assert answer.refused
    assert answer.fault_message is not None
    assert answer.fault_message.endswith("has no tool chrage")
    assert answer.fault_hint == 'did you mean "charge"?'
    assert answer.attempts == ()


async def test_time_limit(bank: Bank) -> None:
    """A call that takes too long is given up, the server is told, and the connection stays."""
    process = raw((await bank("environment")).value)["pid"]
    answer = await bank("hang", {"seconds": 30}, timeout=200)
    assert answer.fault_message == "Request timeout after 200ms"
    assert answer.fault_name == "TimeoutError"
    assert answer.may_have_happened
    assert answer.fault_hint == "the request was sent; its effect may have happened"
    await _until(lambda: bool(bank.asked_for("hang cancelled")))
    assert raw((await bank("environment")).value)["pid"] == process


async def test_time_limit_of_a_reader(bank: Bank) -> None:
    """What only reads leaves no doubt."""
    answer = await bank("hang", {"seconds": 30}, timeout=100, keys={"effect": "reads"})
    assert not answer.may_have_happened


async def test_retries(bank: Bank) -> None:
    """`retries` tries again what may pass, with the same key."""
    before = len(bank.asked_for("hang"))
    answer = await bank("hang", {"seconds": 30}, timeout=100, retries=2, retryDelay=1)
    assert answer.fault_message == "Request timeout after 100ms"
    assert len(answer.attempts) == 3
    await _until(lambda: len(bank.asked_for("hang")) == before + 3)


async def test_cancelled_turn(bank: Bank) -> None:
    """Whoever cancels the turn has the server told, and the next call works."""
    before = len(bank.asked_for("hang cancelled"))
    task = asyncio.create_task(bank("hang", {"seconds": 30}))
    count = len(bank.asked_for("hang"))
    await _until(lambda: len(bank.asked_for("hang")) > count)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await _until(lambda: len(bank.asked_for("hang cancelled")) > before)
    assert (await bank("contents", {"kind": "text"})).value == "three"


async def test_side_by_side(bank: Bank) -> None:
    """Calls on one connection do not wait for each other, nor get each other's answers."""
    slow = asyncio.create_task(bank("hang", {"seconds": 0.5}))
    answers = await asyncio.gather(
        *(bank("charge", {"account": str(number), "amount": number}) for number in range(20))
    )
    assert [raw(one.value)["account"] for one in answers] == [str(number) for number in range(20)]
    assert not slow.done()
    assert (await slow).value == "done"


async def test_response_mapping(bank: Bank) -> None:
    """A response mapping applies to what the server answered."""
    answer = await bank(
        "balance", {"account": "a"}, responseMapping={"type": "object", "mappings": {"m": "amount"}}
    )
    assert raw(answer.value) == {"m": 80.5}


async def test_environment(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program sees PATH, HOME and what was declared, and nothing of our own secrets."""
    seen = raw((await bank("environment")).value)
    assert set(seen["names"]) - {"LC_CTYPE"} == {"GREETING", "HOME", "PATH"}
    assert seen["greeting"] == "hello there"


async def test_expressions(bank: Bank) -> None:
    """An expression in `env` is filled in by the flow; without it the call is refused."""
    env = {"GREETING": "{{cargo.word}}"}
    tool = mcp_tool("environment", dict(bank.server) | {"env": env})
    pointer = "/implementation/server/env/GREETING"
    answer = await call(bank.client, tool, filled={pointer: "from the flow"})
    assert raw(answer.value)["greeting"] == "from the flow"
    refused = await call(bank.client, tool)
    assert refused.refused
    assert (
        refused.fault_message
        == f"nothing was put in for the expression at {pointer} of tool environment"
    )


async def test_flow_tests_start_nothing(bank: Bank) -> None:
    """With the client of flow tests no program is started."""
    answer = await call(StubClient(""), mcp_tool("balance", bank.server))
    assert answer.refused
    assert answer.fault_message is not None
    assert answer.fault_message.startswith("flow tests start no programs, and ")
    assert answer.fault_hint == "make the tool a mock while testing the flow"


async def test_without_a_client() -> None:
    """A call without a way out is refused with what to hand in."""
    tool, clock = mcp_tool("t", {"command": ["x"]}), SystemClock()
    answer = await call_tool(
        Registry([tool]),
        "t",
        {},
        CallContext(),
        functions={},
        limiter=MemoryLimiter(clock),
        clock=clock,
    )
    assert (answer.refused, answer.fault_hint) == (True, "hand in http=HttpClient()")


async def _until(happened: Any) -> None:
    async with asyncio.timeout(10):
        while not happened():
            await asyncio.sleep(0.01)
