"""Promise: a client begins flows, goes on with them and calls tools, and nothing happens twice."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from saywhy.runtime.engine import Engine
from saywhy.server.mcp.offers import TURN_SCHEMA
from saywhy.server.mcp.service import McpService, Served, UnknownOffer
from saywhy.tools.schema import compile_schema
from tests.server.mcp.conftest import Shop, local


def data(served: Served) -> dict[str, Any]:
    assert not served.is_error, served.text
    found = dict(served.data or {})
    assert compile_schema(TURN_SCHEMA).is_valid(found)
    return found


async def test_a_conversation(shop: Shop) -> None:
    """The tool of a flow begins it, `reply` goes on, and each answer says what is waited for."""
    service = McpService(shop.engine)
    begun = await service.call("pay", {"amount": "80"})
    assert begun.text == "Who gets 80?"
    first = data(begun)
    conversation = first.pop("conversation")
    assert first == {
        "reply": "Who gets 80?",
        "waiting": True,
        "waitingFor": "answer",
        "question": "Who gets 80?",
        "sensitive": False,
    }
    asked = data(await service.call("reply", {"conversation": conversation, "text": "Bob"}))
    assert (asked["question"], asked["sensitive"]) == ("Your PIN?", True)
    ended = data(await service.call("reply", {"conversation": conversation, "text": "1234"}))
    assert ended == {
        "conversation": conversation,
        "reply": "Paid 80 to Bob.",
        "waiting": False,
        "waitingFor": "nothing",
    }
    assert [name for name, *_ in shop.calls] == ["charge"]


async def test_nothing_twice(shop: Shop) -> None:
    """The same key begins one conversation and is heard once, also when it comes side by side."""
    service = McpService(shop.engine)
    begun = await asyncio.gather(*(service.call("pay", {"amount": "80"}, "k-1") for _ in range(4)))
    (conversation,) = {data(one)["conversation"] for one in begun}
    other = data(await service.call("pay", {"amount": "80"}, "k-2"))["conversation"]
    assert other != conversation
    words = {"conversation": conversation, "text": "Bob"}
    replies = [data(await service.call("reply", words, "k-3")) for _ in range(3)]
    assert {one["reply"] for one in replies} == {"Your PIN?"}
    named = {"conversation": other, "text": "Ann", "message": "m-1"}
    replies = [data(await service.call("reply", named)) for _ in range(3)]
    assert {one["reply"] for one in replies} == {"Your PIN?"}
    assert [args["payee"] for _, args, _ in shop.calls] == ["Bob", "Ann"]


async def test_outlives_the_server(tmp_path: Path) -> None:
    """A conversation goes on in another engine on the same store."""
    async with Shop(tmp_path / "s.db").engine as engine:
        conversation = data(await McpService(engine).call("pay", {"amount": "5"}))["conversation"]
    second = Shop(tmp_path / "s.db")
    async with second.engine as engine:
        words = {"conversation": conversation, "text": "Bob"}
        assert data(await McpService(engine).call("reply", words))["reply"] == "Your PIN?"
    assert len(second.calls) == 1


async def test_other_conversations(shop: Shop) -> None:
    """A conversation of another user is as unknown as one that never began."""
    await shop.engine.take_turn("private", "Pay", user_id="ann")
    service = McpService(shop.engine)
    for name in ("private", "no-such"):
        served = await service.call("reply", {"conversation": name, "text": "Bob"})
        assert served == Served(
            f"there is no conversation {name}; begin one with the tool of a flow", is_error=True
        )
    same = McpService(shop.engine, user_id="ann")
    assert not (await same.call("reply", {"conversation": "private", "text": "Bob"})).is_error


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("pay", {"amount": 80}, "these arguments do not fit: amount must be text, not a number"),
        (
            "pay",
            {"secret": "x"},
            'these arguments do not fit: root must not have the property "secret"',
        ),
        (
            "reply",
            {"text": "x"},
            'these arguments do not fit: root must have the property "conversation"',
        ),
        (
            "Charge",
            {"amount": "1"},
            'Tool argument validation failed: root must have the property "payee" '
            "(see the parameters of tool Charge)",
        ),
        (
            "Wire",
            {},
            "Wire has to be approved first; nobody can be asked here, so it was not called",
        ),
    ],
)
async def test_refusals(shop: Shop, name: str, arguments: dict[str, Any], text: str) -> None:
    """What does not fit is refused with all that is wrong, and nothing was called."""
    served = await McpService(shop.engine).call(name, arguments)
    assert served == Served(text, is_error=True)
    assert shop.calls == []


async def test_no_flow_answers(shop: Shop) -> None:
    """Words that nothing handles are not an error; the answer says what can be begun."""
    service = McpService(shop.engine)
    conversation = data(await service.call("pay", {"amount": "80"}))["conversation"]
    await service.call("reply", {"conversation": conversation, "text": "cancel"})
    served = await service.call("reply", {"conversation": conversation, "text": "how are you"})
    assert served.text == "(no flow answers that; these begin one: pay)"
    assert data(served)["reply"] == ""


async def test_tools(shop: Shop) -> None:
    """A tool gives its value as data or as text, and takes the key along."""
    service = McpService(shop.engine)
    served = await service.call("Charge", {"amount": "1", "payee": "Bob"}, "k-9")
    assert served == Served('{"ok":true,"number":1}', {"ok": True, "number": 1})
    assert shop.calls == [("charge", {"amount": "1", "payee": "Bob"}, "k-9")]
    assert await service.call("Look", {}) == Served("seen")
    failed = await service.call("Fail", {})
    assert failed.is_error
    assert failed.text.startswith("the drawer is stuck")
    assert not (await service.call("Often", {})).is_error
    limited = await service.call("Often", {})
    assert limited.is_error
    assert "Often" in limited.text
    assert len([one for one in shop.calls if one[0] == "often"]) == 1


async def test_known_values() -> None:
    """A client may hand on what tools answered to it, and nothing that it made up."""
    order = {"type": "string", "x-known": True}
    engine = Engine(
        tools=[
            local("Look", effect="reads", parameters={"type": "object"}),
            local("Cancel", parameters={"type": "object", "properties": {"order": order}}),
        ],
        functions={"look": lambda args: ["o-17"], "cancel": lambda args: "done"},
        validate_on_init=False,
    )
    service = McpService(engine)
    refused = await service.call("Cancel", {"order": "o-17"})
    assert refused.is_error
    assert "order must be a value that a tool or the host gave before" in refused.text
    await service.call("Look", {})
    assert (await service.call("Cancel", {"order": "o-17"})).text == "done"
    assert (await service.call("Cancel", {"order": "o-71"})).is_error


async def test_unknown(shop: Shop) -> None:
    """A name that nothing has is an error of the protocol, with the nearest one."""
    with pytest.raises(UnknownOffer, match='there is no tool Chrage: did you mean "Charge"'):
        await McpService(shop.engine).call("Chrage", {})
