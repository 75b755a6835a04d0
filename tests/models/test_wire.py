"""Promise: each vendor is asked in its own words, and its answers are read, whole or streamed."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from saywhy.errors import ModelError
from saywhy.models.provider import ModelReply, reply_of
from tests.models.line import Line
from tests.models.vendors import VENDORS, Vendor, ask_of, call_of

CASES = [
    pytest.param(vendor, case, id=f"{vendor.name}: {case['about']}")
    for vendor in VENDORS
    for case in vendor.cases()
]


JSON: Final = "application/json"


async def told(vendor: Vendor, case: dict[str, Any], *, stream: bool) -> tuple[ModelReply, Any]:
    """What comes of a case's question, and the body that was sent."""
    if stream:
        line = Line(vendor.sse(case["stream"]))
    else:
        line = Line([json.dumps(case["answer"]).encode()], kind=JSON)
    async with line:
        model = vendor.model(line.base)
        try:
            reply = await reply_of(model, ask_of(case["ask"], stream=stream))
        finally:
            await model.close()
        return reply, line.requests[0]


@pytest.mark.parametrize(("vendor", "case"), [one for one in CASES if "request" in one.values[1]])
async def test_the_request(vendor: Vendor, case: dict[str, Any]) -> None:
    """The body is the one that is written down, and one that the vendor's own types accept."""
    answers = next(one for one in vendor.cases() if "reply" in one and "answer" in one)
    _, body = await told(vendor, {**case, "answer": answers["answer"]}, stream=False)
    if vendor.name == "google":
        body.setdefault("generationConfig", {})  # left out where no configuration is given at all
    assert body == case["request"]
    vendor.accepts(body)


ANSWERS = [
    pytest.param(vendor, case, form == "stream", id=f"{vendor.name}, {form}: {case['about']}")
    for vendor in VENDORS
    for case in vendor.cases()
    for form in ("answer", "stream")
    if form in case
]


@pytest.mark.parametrize(("vendor", "case", "stream"), ANSWERS)
async def test_the_answer(vendor: Vendor, case: dict[str, Any], stream: bool) -> None:
    """Text, thoughts, calls, usage and the reason to stop; or the error that it is."""
    if "error" in case:
        with pytest.raises(ModelError) as caught:
            await told(vendor, case, stream=stream)
        assert (str(caught.value), caught.value.code) == (
            case["error"]["text"],
            case["error"]["code"],
        )
        assert caught.value.provider == vendor.name
        return
    wanted = dict(case["reply"])
    wanted["tool_calls"] = tuple(call_of(call) for call in wanted.get("tool_calls", ()))
    reply, _ = await told(vendor, case, stream=stream)
    assert reply == ModelReply(**wanted)


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
def test_the_shapes_are_those_of_the_vendors_package(vendor: Vendor) -> None:
    """What the cases answer with is what the installed package knows."""
    for case in vendor.cases():
        if "answer" in case and case["answer"].get("choices") != []:
            vendor.whole.validate_python(case["answer"])
        for event in case.get("stream", ()):
            if "error" not in event and event.get("type") != "ping":
                vendor.event.validate_python(event)


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
async def test_pieces_come_as_they_are_made(vendor: Vendor) -> None:
    """A text that came in two events is two pieces, in a stream that is asked to be one."""
    case = vendor.cases()[0]
    heard: list[Any] = []
    async with Line(vendor.sse(case["stream"])) as line:
        model = vendor.model(line.base)
        await reply_of(model, ask_of(case["ask"], stream=True), heard.append)
        await model.close()
    texts = [piece.text for piece in heard if type(piece).__name__ == "TextPiece"]
    assert texts == ["Look", "ing."]
    assert type(heard[-1]).__name__ == "StopPiece"
    if vendor.name != "google":  # there the address says it
        assert line.requests[0]["stream"] is True


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
async def test_a_tool_has_the_name_that_its_author_gave_it(vendor: Vendor, stream: bool) -> None:
    """Out there it has one that servers take; what comes back is translated."""
    case = json.loads(json.dumps(vendor.cases()[0]).replace('"weather"', '"shop_find"'))
    case["ask"] = json.loads(json.dumps(case["ask"]).replace('"shop_find"', '"shop.find"'))
    reply, body = await told(vendor, case, stream=stream)
    assert [call.name for call in reply.tool_calls] == ["shop.find", "now"]
    sent = json.dumps(body)
    assert '"shop_find"' in sent
    assert "shop.find" not in sent
