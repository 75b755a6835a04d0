"""Promise: a sensitive value that goes to a web server is in no record, log, error or export.

The server repeats what it was sent: in its answers, in headers, in errors, in what is no JSON.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from saywhy import Engine, HttpSettings, SqliteStore
from saywhy.testing import StubServer
from tests.journeys.canary import canary, flow, found_in, only_plain, step, without
from tests.journeys.searched import Place

GUARDS = ("sent", "taken", "answered")
"""A variable that is sent, an argument of the tool, a part of its answer."""


def repeats(request: Any) -> Mapping[str, Any]:
    """An answer that holds all that came in, and something sensitive of its own."""
    heard = {"path": request.path, "query": request.query, "text": request.text}
    return {"body": {**heard, "ssn": canary("answered"), "city": "Bern"}}


def refuses(request: Any) -> Mapping[str, Any]:
    """An error that quotes what was wrong."""
    return {"status": 422, "body": {"message": f"not {request.text} of {request.query}"}}


def breaks(request: Any) -> Mapping[str, Any]:
    """What says it is JSON and is none."""
    return {"status": 200, "body": f"<p>{request.text}</p>"}


@pytest.fixture
def web() -> Iterator[StubServer]:
    """A server for each way to answer."""
    server = StubServer()
    for path, answer in (("/good", repeats), ("/bad", refuses), ("/odd", breaks)):
        server.on("POST", path, answer=answer)
        server.on("GET", path, answer=answer)
    with server:
        yield server


def tool(name: str, url: str, pii: str = "", **more: Any) -> dict[str, Any]:
    """An HTTP tool whose argument and answer may be declared."""
    text: dict[str, Any] = {"type": "string"}
    ssn = {"ssn": {"type": "string", "pii": "answered"}}
    return {
        "id": name,
        "name": name,
        "description": name,
        "parameters": {
            "type": "object",
            "properties": {"text": {**text, "pii": pii} if pii else text},
        },
        "returns": {"type": "object", "properties": ssn},
        "implementation": {"type": "http", "url": url, "retryDelay": 0, **more},
        "effect": "reads",
    }


def tools(web: StubServer) -> list[dict[str, Any]]:
    """In the body, the query, a header and the path; well, refused, broken, with nobody there."""
    good, bad, odd = (f"{web.base}/{path}" for path in ("good", "bad", "odd"))
    mapped = {"responseMapping": {"type": "object", "mappings": {"heard": "text", "of": "ssn"}}}
    return [
        tool("body", good),
        tool("query", good, method="GET"),
        tool("header", good, headers={"X-Word": "{{encodeURIComponent(word)}}"}),
        tool("path", f"{web.base}/{{text}}", method="GET"),
        tool("mapped", good, **mapped),
        tool("bad", bad),
        tool("odd", odd),
        tool("gone", "http://127.0.0.1:9/{text}"),
        tool("given", good, "taken"),
        tool("given_bad", bad, "taken"),
    ]


def flows() -> list[dict[str, Any]]:
    """What the user says goes to all tools; what the host has goes to those that declare it."""
    sent = [
        one
        for name in ("body", "query", "header", "path", "mapped", "bad", "odd", "gone")
        for one in call(name, "{{word}}")
    ]
    taken = [one for name in ("given", "given_bad") for one in call(name, "{{cargo.taken}}")]
    variables = {"word": {"type": "string", "pii": "sent"}}
    ask = step("SAY-GET", variable="word", value="Word?")
    more = step("SAY-GET", variable="more", value="More?")
    return [
        flow("Sent", ask, *sent, more, variables=variables),
        flow("Taken", *taken, more),
        flow("Answered", *call("body", "plain words"), *call("mapped", "plain words"), more),
    ]


def call(name: str, text: str) -> list[dict[str, Any]]:
    """A call that says what came of it, one way or the other."""
    failed = step("SAY", value=f"{name} failed: {{{{{name}}}}}")
    args = {"text": text}
    return [
        step("CALL-TOOL", tool=name, args=args, variable=name, maxRetries=0, onFail=failed),
        step("SAY", value=f"{name}: {{{{JSON.stringify({name})}}}}"),
    ]


def engine_of(place: Place, web: StubServer, left_out: str) -> Engine:
    """An engine with all of it."""
    return Engine(
        flows=without(left_out, flows()),
        tools=without(left_out, tools(web)),
        guidance={"enabled": False},
        validate_on_init=False,
        logger=place.log,
        log_tool_failures=True,
        store=SqliteStore(place.path),
        http=HttpSettings(allow_private=True),
    )


async def written(web: StubServer, folder: Path, left_out: str = "") -> bytes:
    """Everything that the conversations left anywhere."""
    place = Place(folder / "s.db").with_engine(lambda own: engine_of(own, web, left_out))
    async with place.engine:
        await place.say("sent", "Sent")
        await place.say("sent", canary("sent"))
        await place.say("taken", "Taken", cargo={"taken": canary("taken")})
        await place.say("answered", "Answered")
        for name in GUARDS:
            await place.say(name, "no more", cargo={"taken": None})
            await place.say(name, "nothing")
            await place.look(name)
    heard = "".join(f"{one.path} {one.query} {one.headers} {one.text}" for one in web.requests)
    assert found_in(heard.encode(), ["sent", "taken"]) == {"sent", "taken"}
    return place.written()


async def test_no_canary_is_anywhere(
    web: StubServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither in what the server took nor in what it refused; it did hear them."""
    caplog.set_level(logging.DEBUG)
    data = await written(web, tmp_path) + caplog.text.encode()
    assert found_in(data, GUARDS) == set()
    assert b"Bern" in data


@pytest.mark.parametrize("name", GUARDS)
async def test_a_declaration_left_out_lets_its_canary_escape(
    name: str, web: StubServer, tmp_path: Path
) -> None:
    """Each declaration guards its canary, alone."""
    data = await written(web, tmp_path, name)
    assert only_plain(data, name)
    assert found_in(data, GUARDS) == {name}
