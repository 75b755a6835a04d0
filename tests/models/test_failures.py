"""Promise: whatever goes wrong with a call is told by one of nine codes, and asked only once."""

from __future__ import annotations

import asyncio
import gc
import json
import time
from typing import Any

import pytest

from saywhy.errors import ModelError
from saywhy.models.failures import code_of, failure_of, retry_after
from saywhy.models.provider import Piece, TextPiece, reply_of
from tests.models.line import Line
from tests.models.vendors import GOOGLE, VENDORS, Vendor, ask_of

HI = {"task": "chat", "messages": [{"role": "user", "content": "Hi"}]}
BOTH = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
EACH = pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)


def body_for(vendor: Vendor, text: str, kind: str, status: int) -> bytes:
    """An error as the vendor words it."""
    shapes: dict[str, Any] = {
        "openai": {"error": {"message": text, "type": kind, "param": None, "code": kind}},
        "anthropic": {"type": "error", "error": {"type": kind, "message": text}, "request_id": "r"},
        "google": {"error": {"code": status, "message": text, "status": kind.upper()}},
    }
    return json.dumps(shapes[vendor.name]).encode()


async def failure(vendor: Vendor, line: Line, *, stream: bool, **options: Any) -> ModelError:
    """How a call of the model at the end of the line fails."""
    async with line:
        model = vendor.model(line.base, **options)
        with pytest.raises(ModelError) as caught:
            await reply_of(model, ask_of(HI, stream=stream))
        await model.close()
        assert len(line.requests) == 1, "it was asked again behind our back"
    assert caught.value.provider == vendor.name
    return caught.value


@BOTH
@EACH
@pytest.mark.parametrize(
    ("status", "kind", "text", "code", "retryable"),
    [
        (400, "invalid_request_error", "messages: wrong", "invalid_request", False),
        (400, "invalid_request_error", "prompt is too long: 9 > 8 tokens", "context_length", False),
        (401, "authentication_error", "invalid key", "auth", False),
        (403, "permission_error", "not yours", "auth", False),
        (404, "not_found_error", "no such model", "invalid_request", False),
        (413, "request_too_large", "too large", "context_length", False),
        (422, "invalid_request_error", "cannot be processed", "context_length", False),
        (429, "rate_limit_error", "slow down", "rate_limit", True),
        (500, "api_error", "we broke", "server", True),
        (503, "unavailable", "come back", "server", True),
        (529, "overloaded_error", "overloaded", "server", True),
    ],
)
async def test_statuses(
    vendor: Vendor, stream: bool, status: int, kind: str, text: str, code: str, retryable: bool
) -> None:
    """The status decides, and the server's own sentence is told."""
    body = body_for(vendor, text, kind, status)
    line = Line([body], status=status, kind="application/json", headers={"retry-after": "7"})
    error = await failure(vendor, line, stream=stream)
    assert str(error) == f"small: {text} (HTTP {status})"
    assert (error.code, error.retryable, error.status_code) == (code, retryable, status)
    assert error.retry_after == 7.0


async def test_a_delay_in_the_body_counts_where_no_header_has_one() -> None:
    """Google says it among the details."""
    said = {"code": 429, "message": "quota", "status": "RESOURCE_EXHAUSTED"}
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3.5s"}]
    body = json.dumps({"error": {**said, "details": details}}).encode()
    error = await failure(GOOGLE, Line([body], status=429, kind="application/json"), stream=False)
    assert (error.code, error.retry_after) == ("rate_limit", 3.5)


@BOTH
@EACH
async def test_nobody_listens(vendor: Vendor, stream: bool) -> None:
    """A refused connection is the network's failure."""
    async with Line([]) as line:
        base = line.base
    model = vendor.model(base)
    began = time.monotonic()
    with pytest.raises(ModelError, match="small") as caught:
        await reply_of(model, ask_of(HI, stream=stream))
    await model.close()
    assert (caught.value.code, caught.value.retryable) == ("network", True)
    assert time.monotonic() - began < 1, "somebody tried again behind our back"


@EACH
async def test_a_line_that_is_cut(vendor: Vendor) -> None:
    """What had come by then is told, and no answer is made of it."""
    events = vendor.cases()[0]["stream"][:-2]
    pieces: list[Piece] = []
    async with Line(vendor.sse(events)[: len(events)], then="drop") as line:
        model = vendor.model(line.base)
        with pytest.raises(ModelError, match="broke off before it was complete") as caught:
            await reply_of(model, ask_of(HI, stream=True), pieces.append)
        await model.close()
    assert caught.value.code == "network"
    assert "".join(one.text for one in pieces if isinstance(one, TextPiece)) == "Looking."


@BOTH
@EACH
async def test_silence_ends(vendor: Vendor, stream: bool) -> None:
    """A server that says nothing for `timeout_seconds`, from the start or midway, is given up."""
    events = vendor.sse(vendor.cases()[0]["stream"][:3]) if stream else [b"{"]
    kind = "text/event-stream" if stream else "application/json"
    line = Line(events[:3], then="hang", kind=kind)
    error = await failure(vendor, line, stream=stream, timeout_seconds=0.2)
    assert (str(error), error.code) == ("small did not answer in time", "timeout")


@BOTH
@EACH
@pytest.mark.parametrize(
    "page",
    [
        "<html>Welcome</html>",
        "{}",
        "[]",
        "null",
        '{"choices": "x"}',
        '{"choices": [{}]}',
        '{"choices": [{"message": {"content": 7}}]}',
        '{"choices": [{"delta": {"content": 7}}]}',
        '{"content": [7]}',
        '{"content": [{"type": "text", "text": 7}]}',
        '{"type": "content_block_delta", "delta": {"type": "text_delta", "text": 7}}',
        '{"candidates": [{"content": {"parts": [{"functionCall": {"name": 7}}]}}]}',
    ],
)
async def test_what_is_no_answer_at_all(vendor: Vendor, stream: bool, page: str) -> None:
    """A page of some proxy, or JSON of another shape, is a server's failure and nothing worse."""
    before = "event: message_start\n" if vendor.name == "anthropic" else ""
    piece = f"{before}data: {page}\n\n" if stream else page
    kind = "text/event-stream" if stream else "application/json"
    error = await failure(vendor, Line([piece.encode()], kind=kind), stream=stream)
    assert error.code in ("server", "network"), str(error)
    assert error.retryable
    known = ("gave no answer", "gave an answer that cannot be read: ", "broke off before")
    assert "small" in str(error)
    assert any(words in str(error) for words in known), str(error)


# ------------------------------------------------------------------ cancelled


@BOTH
@EACH
async def test_a_cancelled_call_closes_its_connection(vendor: Vendor, stream: bool) -> None:
    """The server sees the other side hang up, and no task is left."""
    events = vendor.sse(vendor.cases()[0]["stream"][:3])[:3] if stream else [b"{"]
    before = asyncio.all_tasks()
    async with Line(events, then="hang") as line:
        model = vendor.model(line.base)
        call = asyncio.ensure_future(reply_of(model, ask_of(HI, stream=stream)))
        await asyncio.wait_for(line.reached.wait(), 5)
        await asyncio.sleep(0.05)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await asyncio.wait_for(line.hung_up.wait(), 5)
        await model.close()
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == before


@EACH
async def test_a_stream_that_nobody_reads_on_closes_its_connection(vendor: Vendor) -> None:
    """Whoever leaves after the first piece hangs up with it, at once and not at some collection."""
    events = vendor.sse(vendor.cases()[0]["stream"])[:4]
    before = asyncio.all_tasks()
    gc.disable()
    try:
        async with Line(events, then="hang") as line:
            model = vendor.model(line.base)
            pieces = model.ask(ask_of(HI, stream=True))
            await anext(pieces)
            await pieces.aclose()
            await asyncio.wait_for(line.hung_up.wait(), 5)
            assert asyncio.all_tasks() - before == line.tasks
            await model.close()
    finally:
        gc.enable()


# ------------------------------------------------------------------ words


@pytest.mark.parametrize(
    ("status", "kind", "text", "code"),
    [
        (400, "context_length_exceeded", "", "context_length"),
        (400, "", "This model's maximum context length is 8192 tokens", "context_length"),
        (
            400,
            "",
            "The input token count (9) exceeds the maximum number of tokens",
            "context_length",
        ),
        (500, "", "maximum context length", "server"),
        (408, "", "", "timeout"),
        (499, "", "", "aborted"),
        (None, "overloaded_error", "Overloaded", "server"),
        (200, "rate_limit_error", "", "rate_limit"),
        (None, "", "prompt is too long", "context_length"),
        (None, "novel", "", "unknown"),
    ],
)
def test_codes(status: int | None, kind: str, text: str, code: str) -> None:
    """The status first, then the kind of error, then the words for a conversation that is long."""
    assert code_of(status, kind, text) == code


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "2"}, 2.0),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after": "Tue, 01 Dec 2026 00:00:09 GMT"}, 9.0),
        ({"retry-after": "Mon, 30 Nov 2026 00:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({}, None),
    ],
)
def test_how_long_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    """Seconds, milliseconds or a date; what is none of these counts for nothing."""
    assert retry_after({"date": "Tue, 01 Dec 2026 00:00:00 GMT", **headers}) == seconds


def test_anybodys_exceptions() -> None:
    """A provider of a host's own raises what it likes."""
    known = ModelError("x", code="auth")
    assert failure_of(known) is known
    found = [failure_of(error) for error in (TimeoutError(), ConnectionError("cut"), KeyError("k"))]
    assert [(one.code, str(one)) for one in found] == [
        ("timeout", "TimeoutError"),
        ("network", "cut"),
        ("unknown", "KeyError: 'k'"),
    ]
