"""Promise: a chat-completions server is asked in its own words, and its answer is read."""

from __future__ import annotations

import asyncio
from typing import Any

import openai
import pytest

from saywhy.errors import ModelError, OutsideError
from saywhy.models.openai import OpenAIModel
from saywhy.models.provider import Ask, ModelReply, question, reply_of
from saywhy.testing import StubServer

STRICT = (
    '{"type":"json_schema","json_schema":{"name":"select_flow","strict":true,'
    '"schema":{"type":"object"}}}'
)
OPEN = '{"type":"json_schema","json_schema":{"name":"detect_flow","strict":false,"schema":{}}}'
PLAIN = question("voice", "sys", "user")
PATH = "/chat/completions"


def completion(content: str | None = "hello", **choice: Any) -> dict[str, Any]:
    """An answer as the server words it."""
    message = {"role": "assistant", "content": content, "refusal": None, "annotations": []}
    first = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop", **choice}
    usage = {"prompt_tokens": 21, "completion_tokens": 4, "total_tokens": 25}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1764500000,
        "model": "small-2026-11-01",
        "choices": [first],
        "usage": usage,
    }


def ask(stub: StubServer, ask: Ask = PLAIN, **options: Any) -> ModelReply:
    async def run() -> ModelReply:
        model = OpenAIModel("small", api_key="sk-test", base_url=stub.base, **options)
        try:
            return await reply_of(model, ask)
        finally:
            await model.close()

    return asyncio.run(run())


def test_it_asks_and_reads() -> None:
    """The two texts go as messages, the cap and the sampling beside them; usage comes back."""
    with StubServer([], ["authorization"]).on("POST", PATH, body=completion()) as stub:
        assert ask(stub) == ModelReply("hello", "small-2026-11-01", 21, 4, stop="stop")
        (request,) = stub.take_requests()
    assert request["headers"] == {"authorization": "Bearer sk-test"}
    assert request["body"] == {
        "model": "small",
        "messages": [
            {"role": "system", "content": "sys"},
            {"role": "user", "content": "user"},
        ],
        "max_completion_tokens": 1024,
        "temperature": 0,
        "seed": 1024,
        "top_p": 1e-06,
        "n": 1,
        "frequency_penalty": 0,
        "presence_penalty": 0,
    }


def test_another_server_is_told_what_it_takes() -> None:
    """The name of the cap, no sampling, and keys that only it knows."""
    extra = {"min_p": 0.1, "reasoning": {"effort": "none"}}
    options = {"token_param": "max_tokens", "fixed_sampling": True, "extra_params": extra}
    with StubServer().on("POST", PATH, body=completion()) as stub:
        ask(stub, reserved_reply_size=64, **options)
        body = stub.take_requests()[0]["body"]
    del body["messages"]
    assert body == {"model": "small", "max_tokens": 64, **extra}


@pytest.mark.parametrize(
    ("schema", "supports", "form"),
    [
        (STRICT, True, "json_schema"),
        (STRICT, False, "json_object"),
        (OPEN, True, None),
        (None, True, None),
        ("no JSON", True, None),
    ],
)
def test_the_form_of_the_answer(schema: str | None, supports: bool, form: str | None) -> None:
    """Only what the server can hold an answer to is asked of it."""
    with StubServer().on("POST", PATH, body=completion("{}")) as stub:
        ask(stub, question("detect_flow", "s", "u", schema), supports_schema=supports)
        body = stub.take_requests()[0]["body"]
    assert body.get("response_format", {}).get("type") == form


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (completion("x", finish_reason="length"), "cut off at 1024 tokens"),
        (completion(None, message={"role": "assistant", "refusal": "no"}), "refused to answer: no"),
        ({**completion(), "choices": []}, "small gave no answer"),
    ],
    ids=["cut off", "refused", "none"],
)
def test_an_answer_that_is_none_is_an_error(answer: dict[str, Any], error: str) -> None:
    """Half a JSON text must not be read as a whole one."""
    with (
        StubServer().on("POST", PATH, body=answer) as stub,
        pytest.raises(OutsideError, match=error),
    ):
        ask(stub)


def test_what_the_server_says_is_told() -> None:
    """A refusal with its words; a failure in passing is not tried again behind our back."""
    said = {"error": {"message": "Unknown model: small", "type": "invalid_request_error"}}
    with (
        StubServer().on("POST", PATH, status=404, body=said) as stub,
        pytest.raises(ModelError, match="small: Unknown model: small") as caught,
    ):
        ask(stub)
    assert (caught.value.code, caught.value.status_code) == ("invalid_request", 404)
    again = {"status": 503, "headers": {"retry-after-ms": "1500"}, "body": {}}
    with StubServer().on("POST", PATH, **again) as stub:
        with pytest.raises(ModelError, match="HTTP 503") as caught:
            ask(stub)
        assert len(stub.take_requests()) == 1
    assert (caught.value.retryable, caught.value.retry_after) == (True, 1.5)


def test_a_client_of_the_hosts_stays_open() -> None:
    """Who made it closes it."""

    async def run(stub: StubServer) -> None:
        async with openai.AsyncOpenAI(api_key="k", base_url=stub.base) as client:
            model = OpenAIModel("small", client=client)
            await reply_of(model, question("voice", "s", "u"))
            await model.close()
            assert not client.is_closed()

    with StubServer().on("POST", PATH, body=completion()) as stub:
        asyncio.run(run(stub))
