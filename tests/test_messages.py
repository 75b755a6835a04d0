"""Messages as a store keeps them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from saywhy.errors import CallerError
from saywhy.messages import Message, read_message
from saywhy.runtime.engine import Engine
from saywhy.stores.memory import MemoryStore
from saywhy.values import dumps
from tests.flows.conftest import ask, engine_of, flow


def test_a_message_is_read_as_it_was_written() -> None:
    """Also with a text that is half a character."""
    for text in ("hi", "\ud800"):
        message = Message(1, "user", text, metadata={"a": 1})
        assert read_message(dumps(message)) == message


@pytest.mark.parametrize("doc", [b"", b'{"seq":1', b"\xff\xfe", b"[]", b'{"seq":"x"}', b"[" * 5000])
def test_what_is_no_message(doc: bytes) -> None:
    """A damaged one is told as such, and what to do."""
    with pytest.raises(CallerError, match="this is no message of a conversation: ") as refused:
        read_message(doc)
    assert refused.value.hint == "restore the newest backup of the store"


class Damaged(MemoryStore):
    """A store whose messages have one byte that is another one."""

    async def messages(self, *args: Any, **options: Any) -> Any:
        """What was kept, damaged."""
        found = await super().messages(*args, **options)
        return [msgspec.structs.replace(one, doc=b"\x8b" + one.doc[1:]) for one in found]


async def test_a_conversation_with_a_damaged_message() -> None:
    """Whatever explains it names the damage."""
    store = Damaged()
    async with engine_of(flow(ask("x", "x?")), store=store) as engine:
        await engine.take_turn("c1", "Main", user_id="ann")
        for asked in (Engine.trace, Engine.why, Engine.replay):
            with pytest.raises(CallerError, match="this is no message of a conversation"):
                await asked(engine, "c1")
