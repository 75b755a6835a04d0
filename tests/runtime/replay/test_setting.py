"""Promise: what a stored conversation ran with is kept beside its charts, without any secret."""

from __future__ import annotations

from saywhy import MemoryStore
from saywhy.runtime.replay.setting import NAME, digest_of, options_in, read_setting
from tests.runtime.replay.conftest import FEE, PAYING, Outside, ask, engine_of, flow_of, tool_of

SECRET = "sk-4711-secret"


async def test_a_stored_conversation_names_what_it_ran_with() -> None:
    """The document is in the store under its digest, with flows, tools and options."""
    store = MemoryStore()
    async with engine_of(Outside(), store=store, language="es", clarify=True) as engine:
        await engine.take_turn("c1", "Pay")
        session = await engine.session("c1")
        assert session is not None
        digest = session.state.get("session", NAME)
        document = await store.chart(digest)
    assert document is not None
    assert digest == digest_of(document)
    told = read_setting(document)
    assert [flow["id"] for flow in told["flows"]] == [PAYING["id"]]
    assert [tool["id"] for tool in told["tools"]] == [FEE["id"]]
    assert told["options"]["language"] == "es"
    assert told["options"]["clarify"] is True
    assert told["model"] is False


async def test_secrets_of_tools_are_not_in_it() -> None:
    """Keys and passwords of tools are masked wherever they stand."""
    store = MemoryStore()
    http = {"type": "http", "url": "https://api.example.com/pay", "method": "POST"}
    tool = tool_of("pay", "amount") | {"implementation": http, "apiKey": SECRET}
    async with engine_of(Outside(), tools=[tool, FEE], store=store) as engine:
        await engine.take_turn("c1", "Pay")
        session = await engine.session("c1")
        assert session is not None
        document = await store.chart(session.state.get("session", NAME))
    assert document is not None
    assert SECRET.encode() not in document
    assert b"api.example.com" in document


async def test_other_flows_are_another_setting() -> None:
    """The newest turn says what it ran with; the one before stays in the store."""
    store = MemoryStore()
    found = []
    for flow in (PAYING, flow_of(ask("x", "?"))):
        async with engine_of(Outside(), [flow], store=store) as engine:
            await engine.take_turn("c1", "Pay")
            session = await engine.session("c1")
            assert session is not None
            found.append(session.state.get("session", NAME))
    assert found[0] != found[1]
    assert await store.chart(found[0]) is not None


def test_only_what_decides_how_a_conversation_goes() -> None:
    """Stores, clocks and functions are no part of it."""
    assert options_in({"language": "en", "store": object(), "clarify": False}) == {
        "language": "en",
        "clarify": False,
    }
