"""Promise: a tool that takes known values only is called with what this conversation was given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from saywhy import Engine, MemoryStore
from saywhy.flows.given import KNOWN

REFUSED = (
    "Tool argument validation failed: "
    "order must be a value that a tool or the host gave before in this conversation"
)


class Shop:
    """A shop's functions, and what they were asked."""

    def __init__(self) -> None:
        self.cancelled: list[Any] = []

    def find(self, arguments: Mapping[str, Any]) -> Any:
        if arguments.get("nothing"):
            raise ValueError("no order is called ord-17")
        return {"orders": [{"id": "ord-17"}, {"id": "ord-18"}]}

    def cancel(self, arguments: Mapping[str, Any]) -> Any:
        self.cancelled.append(arguments["order"])
        return {"cancelled": arguments["order"], "receipt": "r-99"}


def tool(name: str, properties: Mapping[str, Any], **keys: Any) -> dict[str, Any]:
    return {
        "id": name,
        "parameters": {"type": "object", "properties": properties},
        "implementation": {"type": "local", "function": name},
        **keys,
    }


def flow(name: str, *steps: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": name, "name": name, "version": "1.0", "primary": True, "steps": [*steps]}


FLOWS = [
    flow("find", {"id": "f", "type": "CALL-TOOL", "tool": "find", "variable": "found"}),
    flow(
        "find nothing",
        {
            "id": "f",
            "type": "CALL-TOOL",
            "tool": "find",
            "args": {"nothing": True},
            "onFail": {"id": "n", "type": "SAY", "value": "None."},
        },
    ),
    flow(
        "pin",
        {"id": "p", "type": "SAY-GET", "variable": "pin", "value": "PIN?", "pii": True},
        {"id": "t", "type": "SAY", "value": "Thanks."},
    ),
    flow(
        "cancel",
        {"id": "o", "type": "SET", "variable": "order", "value": "model()"},
        {
            "id": "c",
            "type": "CALL-TOOL",
            "tool": "cancel",
            "variable": "got",
            "args": {"order": "{{order}}"},
            "onFail": {"id": "no", "type": "RETURN", "value": "'No: ' + got"},
        },
        {"id": "yes", "type": "RETURN", "value": "'Yes: ' + got.receipt"},
    ),
]


class Talk:
    """A conversation with an engine whose model says what it is told to say."""

    def __init__(self, known: Any = True, *, store: Any = None, **keys: Any) -> None:
        self.shop = Shop()
        self.says: Any = None
        named = {"type": "string"} | ({} if known is None else {"x-known": known})
        tools = [
            tool("find", {"nothing": {"type": "boolean"}}, effect="reads"),
            tool("cancel", {"order": named}, **keys.pop("cancel", {})),
        ]
        self.store = store or MemoryStore()
        self.engine = Engine(
            flows=FLOWS,
            tools=tools,
            functions={
                "find": self.shop.find,
                "cancel": self.shop.cancel,
                "model": lambda: self.says,
            },
            store=self.store,
            guidance={"enabled": False},
            validate_on_init=False,
            **keys,
        )
        self._number = 0

    async def say(self, text: str, **named: Any) -> str:
        self._number += 1
        reply = await self.engine.take_turn("c", text, message_id=f"m{self._number}", **named)
        self.turn_no = reply.turn_no
        return reply.response or ""

    async def cancel(self, order: Any, **named: Any) -> str:
        self.says = order
        return await self.say("cancel", **named)


async def test_what_a_tool_gave_is_taken() -> None:
    """In any later turn, from anywhere inside the answer."""
    talk = Talk()
    await talk.say("find")
    assert await talk.cancel("ord-18") == "Yes: r-99"
    assert talk.shop.cancelled == ["ord-18"]
    assert await talk.cancel("r-99") == "Yes: r-99"  # the answer before gave it


async def test_what_was_made_up_is_refused() -> None:
    """It goes to `onFail` like any argument that breaks the schema, and was never made."""
    talk = Talk()
    await talk.say("find")
    assert await talk.cancel("ord-19") == f"No: {REFUSED}"
    assert talk.shop.cancelled == []
    session = await talk.engine.session("c")
    assert session is not None
    assert session.last_turn_tool_calls == []
    assert await talk.store.journal("c", talk.turn_no) == ()


async def test_an_error_gives_nothing() -> None:
    """What a tool says in an error may be what it was asked."""
    talk = Talk()
    await talk.say("find nothing")
    assert await talk.cancel("ord-17") == f"No: {REFUSED}"


async def test_another_conversation_gives_nothing() -> None:
    """Each remembers what it was given itself."""
    talk = Talk()
    await talk.engine.take_turn("other", "find", message_id="o1")
    assert await talk.cancel("ord-17") == f"No: {REFUSED}"


async def test_what_the_host_gave_is_taken() -> None:
    """Cargo with this message or an earlier one, and globals."""
    talk = Talk(globals={"default_order": "ord-1"})
    assert await talk.cancel("ord-17", cargo={"last": {"order": "ord-17"}}) == "Yes: r-99"
    assert await talk.cancel("ord-1") == "Yes: r-99"
    assert await talk.cancel("ord-2") == f"No: {REFUSED}"


async def test_what_the_user_said_counts_where_the_tool_says_so() -> None:
    """A word of any message of theirs, and only with `or-said`."""
    strict, generous = Talk(), Talk("or-said")
    for talk in (strict, generous):
        await talk.say("find the order ord-55, please")
    assert await strict.cancel("ord-55") == f"No: {REFUSED}"
    assert await generous.cancel("ord-55") == "Yes: r-99"
    assert (await generous.cancel("ord-56")).startswith("No: ")


async def test_a_sensitive_answer_leaves_no_mark() -> None:
    """Whoever reads the store could try out all numbers of four digits."""
    talk = Talk("or-said")
    await talk.say("pin")
    await talk.say("4711")
    assert (await talk.cancel("4711")).startswith("No: ")


async def test_it_is_remembered_in_the_store_and_in_json() -> None:
    """By another engine as well, and without a store."""
    first = Talk()
    await first.say("find")
    second = Talk(store=first.store)
    second._number = 10
    assert await second.cancel("ord-17") == "Yes: r-99"
    engine = first.engine
    session = engine.init_session("ann", "s")
    session = await engine.update_activity("find", session)
    first.says = "ord-17"
    session = await engine.update_activity("cancel", engine.load_session(session.to_json()))
    assert session.response == "Yes: r-99"
    assert b"ord-17" not in str(session.state.get(*KNOWN)).encode()


async def test_nothing_is_remembered_unless_a_tool_asks() -> None:
    """An engine without such a tool stores no marks."""
    talk = Talk(None)
    await talk.say("find")
    assert await talk.cancel("ord-99") == "Yes: r-99"
    session = await talk.engine.session("c")
    assert session is not None
    assert b'"known"' not in session.to_json()


@pytest.mark.parametrize(("edited", "told"), [(None, "Yes"), ({"order": "ord-77"}, "Yes")])
async def test_who_approves_may_give_a_value(edited: Any, told: str) -> None:
    """An edit is the host's word; what was approved as it stood was known before."""
    talk = Talk(cancel={"approval": True})
    await talk.say("find")
    await talk.cancel("ord-17")
    (shown,) = await talk.engine.approvals("c")
    if edited:
        await talk.engine.approve("c", shown["id"], args=edited, by="Ann")
        (shown,) = await talk.engine.approvals("c")
    reply = await talk.engine.approve("c", shown["id"], by="Ann")
    assert reply is not None
    assert (reply.response or "").startswith(told)
    assert talk.shop.cancelled == [(edited or {"order": "ord-17"})["order"]]


async def test_what_is_made_up_is_not_shown_for_approval() -> None:
    """Nobody is asked to approve what will not be called."""
    talk = Talk(cancel={"approval": True})
    assert await talk.cancel("ord-17") == f"No: {REFUSED}"
    assert await talk.engine.approvals("c") == []


async def test_the_program_vouches_for_its_own_calls() -> None:
    """A call outside every conversation takes what it is handed."""
    talk = Talk()
    made = await talk.engine.call_tool("cancel", {"order": "ord-3"})
    assert made.value["receipt"] == "r-99"
