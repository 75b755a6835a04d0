"""Promise: a flow calls HTTP tools, hears of every way they fail, and gives no secret away."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from saywhy import Engine, HttpSettings, Reply, SqliteStore, why
from saywhy.testing import StubServer
from saywhy.trace.export.file import lines_of

SECRET = "sk-live-31337"
LOCAL = HttpSettings(allow_private=True, max_bytes=10_000)


@pytest.fixture
def web() -> Iterator[StubServer]:
    with StubServer() as server:
        yield server


def engine_for(web: StubServer, store: Any = None, http: Any = LOCAL, **more: Any) -> Engine:
    """An engine whose flow Pay calls the tool Charge at `/charges`, then goes on."""
    keys = more.pop("keys", {})
    implementation = {"type": "http", "url": web.base + "/charges", "retryDelay": 0, **more}
    call = {
        "id": "charge",
        "type": "CALL-TOOL",
        "tool": "Charge",
        "args": {"amount": 80},
        "variable": "receipt",
        "onFail": {"id": "sorry", "type": "SAY", "value": "Sorry: {{receipt}}"},
    }
    ask = {"id": "ask", "type": "SAY-GET", "variable": "more", "value": "Anything else?"}
    return Engine(
        flows=[{"id": "pay", "name": "Pay", "version": "1.0", "steps": [call, ask]}],
        tools=[{"id": "Charge", "name": "Charge", "implementation": implementation, **keys}],
        guidance={"enabled": False},
        validate_on_init=False,
        store=store,
        http=http,
    )


BAD: dict[str, tuple[dict[str, Any], str, str]] = {
    "no JSON": ({"body": "oops"}, "The answer says it is JSON and is not: ", "ask whoever runs"),
    "4xx": (
        {"status": 404, "body": "x" * 5000},
        "HTTP 404 Not Found: xxxx",
        "see `url` of the tool",
    ),
    "5xx": ({"status": 500, "body": "down"}, "HTTP 500 Internal Server Error: down", "may have"),
    "hung": ({"delay_ms": 3000}, "Request timeout after 100ms", "may have happened"),
    "huge": ({"fill_bytes": 1024**3}, "The answer of 127.0.0.1 is larger than", "max_bytes"),
    "elsewhere": (
        {"status": 302, "headers": {"location": "http://evil.example/"}},
        "Redirect refused: 127.0.0.1 answered 302 to http://evil.example",
        "on the same host only",
    ),
    "dropped": ({"drop": "before"}, "fetch failed: 127.0.0.1:", "is not known"),
    "picture": (
        {"body": b"\x89PNG\xff", "headers": {"content-type": "image/png"}},
        "The answer is no text: image/png, 5 bytes",
        "answer with a link",
    ),
}


@pytest.mark.parametrize("case", BAD)
async def test_bad_answers(web: StubServer, case: str) -> None:
    """Each has a line for `onFail`, a record with where to look, and the conversation goes on."""
    entry, message, hint = BAD[case]
    web.on("POST", "/charges", **entry)
    async with engine_for(web, timeout=100) as engine:
        session = await engine.update_activity("Pay", engine.init_session("ann", "s"))
        assert session.response is not None
        assert session.response.startswith(f"Sorry: {message}")
        assert session.response.endswith("\n\nAnything else?")
        assert [call["tool"] for call in session.last_turn_tool_calls] == ["Charge"]
        failure = next(one.facts["failure"] for one in session.trace if "failure" in one.facts)
        assert failure["message"].startswith(message)
        assert hint in failure["hint"]
        session = await engine.update_activity("no", session)
        assert session.response == "Flow completed."
    assert len(web.requests) == 1


@pytest.mark.parametrize(
    ("more", "settings", "message", "calls"),
    [
        ({}, HttpSettings(), "Address refused: 127.0.0.1 is a loopback address", 0),
        ({"url": "http://localhost:1/"}, HttpSettings(), "Address refused: localhost leads to ", 1),
        ({"url": "http://127.0.0.1:1/"}, LOCAL, "fetch failed: 127.0.0.1:1 refused the conn", 1),
        ({"url": "http://x.invalid/"}, LOCAL, "fetch failed: ", 1),
        ({"url": "https://127.0.0.1/{id}"}, LOCAL, "Missing required path parameter: id", 0),
        ({"url": "ftp://127.0.0.1/"}, LOCAL, "Tool Charge not found in registry", 0),
    ],
)
async def test_what_is_not_sent(
    web: StubServer, more: dict[str, Any], settings: HttpSettings, message: str, calls: int
) -> None:
    """A call that reaches nobody fails in the same way; one that was refused is no attempt."""
    async with engine_for(web, http=settings, **more) as engine:
        session = await engine.update_activity("Pay", engine.init_session("ann", "s"))
    assert session.response is not None
    assert session.response.startswith(f"Sorry: {message}")
    assert len(session.last_turn_tool_calls) == calls
    assert web.requests == ()


async def test_connections_last_from_turn_to_turn(web: StubServer) -> None:
    """Turns of several conversations share one connection; closing the engine ends it."""
    web.on("POST", "/charges", body={})
    async with engine_for(web) as engine:
        for name in ("a", "b", "c"):
            await engine.update_activity("Pay", engine.init_session("ann", name))
    assert len(web.requests) == 3
    assert web.connections == 1


@pytest.mark.parametrize(
    ("keys", "more"),
    [
        ({"apiKey": SECRET}, {}),
        ({}, {"basicAuth": {"username": "ann", "password": SECRET}}),
        ({}, {"apiKeyHeader": {"name": "X-Key", "value": SECRET}}),
        ({}, {"hashAuth": {"secret": SECRET, "fields": ["amount"], "keyName": "X-Sig"}}),
        ({}, {"authentication": {"type": "apikey", "in": "query", "name": "k", "value": SECRET}}),
        ({}, {"headers": {"X-Auth-Token": SECRET}}),
        ({}, {"customQuery": f"api_key={SECRET}"}),
    ],
)
async def test_secrets_are_kept_nowhere(
    web: StubServer, tmp_path: Path, keys: dict[str, Any], more: dict[str, Any]
) -> None:
    """Not in the record, the replies or the database, though the server repeats them."""

    def repeat(request: Any) -> dict[str, Any]:
        return {"status": 400, "body": f"you sent {SECRET} in {request.query}"}

    web.on("POST", "/charges", answer=repeat)
    file = tmp_path / "s.sqlite3"
    async with engine_for(web, SqliteStore(file), keys=keys, **more) as engine:
        reply = await engine.take_turn("c", "Pay", message_id="m-1")
        trace = await engine.trace("c")
    assert "you sent [REDACTED]" in str(reply.response)
    told = b"\n".join(
        [*lines_of(trace), *(why(trace, Reply(n)).text().encode() for n in trace.turns)]
    )
    assert SECRET.encode() not in told
    assert all(SECRET.encode() not in path.read_bytes() for path in tmp_path.iterdir())


async def test_what_may_have_happened_is_not_repeated(web: StubServer) -> None:
    """A charge that timed out is not made again by itself; a question that timed out is asked."""
    web.on("POST", "/charges", delay_ms=2000).on("GET", "/charges", delay_ms=2000)
    step = {"id": "c", "type": "CALL-TOOL", "tool": "Charge", "args": {"amount": 1}}
    for method in ("POST", "GET"):
        implementation = {"type": "http", "url": web.base + "/charges", "method": method}
        engine = Engine(
            flows=[{"id": "pay", "name": "Pay", "version": "1.0", "steps": [step]}],
            tools=[{"id": "Charge", "implementation": {**implementation, "timeout": 50}}],
            validate_on_init=False,
            http=LOCAL,
        )
        async with engine:
            session = await engine.update_activity("Pay", engine.init_session("ann", "s"))
        told = {"POST": "it is not known yet whether it happened", "GET": "timeout after 50ms"}
        assert told[method] in str(session.response)
    assert [request.method for request in web.requests] == ["POST", "GET", "GET", "GET"]


# ------------------------------------------------------------------ the usual configurations


async def result_of(tool: dict[str, Any], args: dict[str, Any]) -> Any:
    steps = [
        {"id": "s1", "type": "CALL-TOOL", "tool": "T", "args": args, "variable": "r"},
        {"id": "s2", "type": "SAY-GET", "variable": "z", "value": "ok"},
    ]
    engine = Engine(
        flows=[{"id": "f", "name": "F", "version": "1.0", "steps": steps}],
        tools=[{"id": "T", "name": "T", **tool}],
        validate_on_init=False,
        http=LOCAL,
    )
    async with engine:
        session = await engine.update_activity("F", engine.init_session("ann", "s"))
        return session.frame.variables["r"]


async def test_a_simple_get(web: StubServer) -> None:
    """An address and a method are enough."""
    web.on("GET", "/users", body=[{"id": 1}])
    tool = {"implementation": {"type": "http", "url": web.base + "/users", "method": "GET"}}
    assert await result_of(tool, {"page": 2}) == [{"id": 1}]
    assert web.requests[0].query == "page=2"


async def test_an_authenticated_post(web: StubServer) -> None:
    """JSON, with the tool's own key as bearer token."""
    web.on("POST", "/users", status=201, body={"id": 2})
    implementation = {
        "type": "http",
        "url": web.base + "/users",
        "method": "POST",
        "contentType": "application/json",
    }
    tool = {"implementation": implementation, "apiKey": "your-bearer-token"}
    assert await result_of(tool, {"name": "Ann"}) == {"id": 2}
    request = web.requests[0]
    assert request.data == {"name": "Ann"}
    assert request.headers["authorization"] == "Bearer your-bearer-token"
    assert request.headers["content-type"] == "application/json"


async def test_path_parameters_with_a_mapping(web: StubServer) -> None:
    """The id goes into the path, the answer gets the names the flow wants."""
    web.on("GET", "/users/u%2F1", body={"id": 7, "name": "Ann", "email": "a@b.c", "x": 1})
    mappings = {"user_id": "id", "full_name": "name", "contact_email": "email"}
    tool = {
        "implementation": {
            "type": "http",
            "url": web.base + "/users/{userId}",
            "method": "GET",
            "pathParams": ["userId"],
            "responseMapping": {"type": "object", "mappings": mappings},
        }
    }
    wanted = {"user_id": 7, "full_name": "Ann", "contact_email": "a@b.c"}
    assert await result_of(tool, {"userId": "u/1"}) == wanted
    assert web.requests[0].query == ""
