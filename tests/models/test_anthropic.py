"""Promise: Anthropic's server is asked in its own words, and its answer is read."""

from __future__ import annotations

import asyncio
from typing import Any

import anthropic
import pytest

from saywhy.errors import ModelError, OutsideError
from saywhy.models.anthropic import AnthropicModel
from saywhy.models.provider import Ask, ModelReply, question, reply_of
from saywhy.testing import StubServer

STRICT = (
    '{"type":"json_schema","json_schema":{"name":"select_flow","strict":true,'
    '"schema":{"type":"object"}}}'
)
OPEN = '{"type":"json_schema","json_schema":{"name":"detect_flow","strict":false,"schema":{}}}'
PLAIN = question("voice", "sys", "user")
PATH = "/v1/messages"


def message(*texts: str, stop: str = "end_turn") -> dict[str, Any]:
    """An answer as the server words it."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "small-20261101",
        "content": [{"type": "text", "text": text, "citations": None} for text in texts],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 21, "output_tokens": 4},
    }


def ask(stub: StubServer, ask: Ask = PLAIN, **options: Any) -> ModelReply:
    async def run() -> ModelReply:
        model = AnthropicModel("small", api_key="sk-test", base_url=stub.base, **options)
        try:
            return await reply_of(model, ask)
        finally:
            await model.close()

    return asyncio.run(run())


def test_it_asks_and_reads() -> None:
    """The system text has its own place; the blocks of the answer are one text."""
    with StubServer([], ["authorization"]).on("POST", PATH, body=message("hel", "lo")) as stub:
        found = ask(stub, extra_params={"temperature": 0})
        (request,) = stub.take_requests()
    assert found == ModelReply("hello", "small-20261101", 21, 4, stop="stop")
    assert request["headers"] == {"authorization": "Bearer sk-test"}
    assert request["body"] == {
        "model": "small",
        "max_tokens": 1024,
        "system": "sys",
        "messages": [{"role": "user", "content": "user"}],
        "temperature": 0,
    }


@pytest.mark.parametrize(
    ("schema", "supports", "form"),
    [
        (STRICT, True, {"type": "object"}),
        (STRICT, False, None),
        (OPEN, True, None),
        (None, True, None),
    ],
)
def test_the_form_of_the_answer(schema: str | None, supports: bool, form: Any) -> None:
    """Only a strict schema is one that the server can hold an answer to."""
    with StubServer().on("POST", PATH, body=message("{}")) as stub:
        ask(stub, question("detect_flow", "s", "u", schema), supports_schema=supports)
        body = stub.take_requests()[0]["body"]
    wanted = {"format": {"type": "json_schema", "schema": form}} if form else None
    assert body.get("output_config") == wanted


@pytest.mark.parametrize(
    ("stop", "error"),
    [("max_tokens", "cut off at 1024 tokens"), ("refusal", "small refused to answer")],
)
def test_an_answer_that_is_none_is_an_error(stop: str, error: str) -> None:
    """Half a JSON text must not be read as a whole one."""
    body = message('{"flow', stop=stop)
    with StubServer().on("POST", PATH, body=body) as stub, pytest.raises(OutsideError, match=error):
        ask(stub)


def test_what_the_server_says_is_told() -> None:
    """A refusal with its words."""
    said = {"type": "error", "error": {"type": "not_found_error", "message": "model: small"}}
    with (
        StubServer().on("POST", PATH, status=404, body=said) as stub,
        pytest.raises(ModelError, match="model: small"),
    ):
        ask(stub)


def test_a_client_of_the_hosts_stays_open() -> None:
    """Who made it closes it."""

    async def run(stub: StubServer) -> None:
        async with anthropic.AsyncAnthropic(api_key="k", base_url=stub.base) as client:
            model = AnthropicModel("small", client=client)
            await reply_of(model, question("voice", "s", "u"))
            await model.close()
            assert not client.is_closed()

    with StubServer().on("POST", PATH, body=message("x")) as stub:
        asyncio.run(run(stub))
