"""Promise: Google's server is asked in its own words, and its answer is read."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saywhy.errors import ModelError, OutsideError
from saywhy.models.google import GoogleModel
from saywhy.models.provider import Ask, ModelReply, question, reply_of
from saywhy.testing import StubServer

STRICT = (
    '{"type":"json_schema","json_schema":{"name":"select_flow","strict":true,'
    '"schema":{"type":"object"}}}'
)
OPEN = '{"type":"json_schema","json_schema":{"name":"detect_flow","strict":false,"schema":{}}}'
PLAIN = question("voice", "sys", "user")
PATH = "/v1/models/small:generateContent"


def content(text: str = "hello", reason: str = "STOP") -> dict[str, Any]:
    """An answer as the server words it."""
    first = {"content": {"parts": [{"text": text}], "role": "model"}, "finishReason": reason}
    return {
        "candidates": [{**first, "index": 0}],
        "usageMetadata": {"promptTokenCount": 21, "candidatesTokenCount": 4, "totalTokenCount": 25},
        "modelVersion": "small-001",
    }


def ask(stub: StubServer, ask: Ask = PLAIN, **options: Any) -> ModelReply:
    async def run() -> ModelReply:
        model = GoogleModel("small", api_key="key-test", base_url=stub.base, **options)
        try:
            return await reply_of(model, ask)
        finally:
            await model.close()

    return asyncio.run(run())


def test_it_asks_and_reads() -> None:
    """The system text is an instruction, and usage comes back."""
    with StubServer([], ["x-goog-api-key"]).on("POST", PATH, body=content()) as stub:
        found = ask(stub, extra_params={"top_k": 1})
        (request,) = stub.take_requests()
    assert found == ModelReply("hello", "small-001", 21, 4, stop="stop")
    assert request["headers"] == {"x-goog-api-key": "key-test"}
    body = request["body"]
    assert body["contents"] == [{"parts": [{"text": "user"}], "role": "user"}]
    assert body["systemInstruction"]["parts"] == [{"text": "sys"}]
    config = body["generationConfig"]
    assert config == {"temperature": 0.0, "maxOutputTokens": 1024, "topK": 1.0}


@pytest.mark.parametrize(
    ("schema", "kind", "form"),
    [
        (STRICT, "application/json", {"type": "object"}),
        (OPEN, "application/json", None),
        (None, None, None),
    ],
)
def test_the_form_of_the_answer(schema: str | None, kind: str | None, form: Any) -> None:
    """JSON where it is wanted, and the schema where it is strict."""
    with StubServer().on("POST", PATH, body=content("{}")) as stub:
        ask(stub, question("detect_flow", "s", "u", schema))
        config = stub.take_requests()[0]["body"]["generationConfig"]
    assert config.get("responseMimeType") == kind
    assert config.get("responseJsonSchema") == form


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (content('{"flow', "MAX_TOKENS"), "cut off at 1024 tokens"),
        (content("", "SAFETY"), "did not answer to the end: SAFETY"),
        ({"promptFeedback": {"blockReason": "SAFETY"}}, "gave no answer: SAFETY"),
        ({"candidates": []}, "small gave no answer"),
    ],
    ids=["cut off", "stopped", "blocked", "none"],
)
def test_an_answer_that_is_none_is_an_error(answer: dict[str, Any], error: str) -> None:
    """Half a JSON text must not be read as a whole one."""
    with (
        StubServer().on("POST", PATH, body=answer) as stub,
        pytest.raises(OutsideError, match=error),
    ):
        ask(stub)


def test_what_the_server_says_is_told() -> None:
    """A refusal with its words."""
    said = {"error": {"code": 404, "message": "models/small is not found", "status": "NOT_FOUND"}}
    with (
        StubServer().on("POST", PATH, status=404, body=said) as stub,
        pytest.raises(ModelError, match="models/small is not found"),
    ):
        ask(stub)
