"""Promise: expressions in a tool's address, headers and credentials are the calling flow's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from saywhy import Engine, HttpSettings, MemoryStore, Session
from saywhy.testing import StubServer
from saywhy.trace.export.file import lines_of


@pytest.fixture
def web() -> Iterator[StubServer]:
    with StubServer().on("GET", "/v1/birds", body={"n": 1}) as server:
        yield server


async def run(
    web: StubServer,
    url: str,
    *,
    keys: Mapping[str, Any] | None = None,
    functions: Mapping[str, Any] | None = None,
    **more: Any,
) -> Session:
    """The session after a flow that sets variables and calls a tool at `url`."""
    implementation = {"type": "http", "method": "GET", "url": url, **more}
    steps = [
        {"id": "s0", "type": "SET", "variable": "version", "value": "'v1'"},
        {
            "id": "s1",
            "type": "CALL-TOOL",
            "tool": "Bird",
            "variable": "r",
            "onFail": {"id": "f", "type": "RETURN", "value": "r"},
        },
        {"id": "s2", "type": "SAY", "value": "got {{r.n}}"},
        {"id": "s3", "type": "SAY-GET", "variable": "z", "value": "ok?"},
    ]
    engine = Engine(
        flows=[{"id": "main", "name": "Main", "version": "1.0", "steps": steps}],
        guidance={"enabled": False},
        tools=[{"id": "Bird", "name": "Bird", "implementation": implementation, **(keys or {})}],
        functions=functions,
        validate_on_init=False,
        http=HttpSettings(allow_private=True),
    )
    async with engine:
        session = engine.init_session("ann", "s")
        session.cargo |= {"base": web.base, "token": "tok-12345", "nothing": None, "port": web.port}
        return await engine.update_activity("Main", session)


async def test_variables_cargo_and_functions(web: StubServer) -> None:
    """Anywhere in the address, several of them, and functions that are awaited."""

    async def path(name: str) -> str:
        return f"{name}s"

    url = "{{cargo.base}}/{{version}}/{{path('bird')}}"
    session = await run(web, url, functions={"path": path}, headers={"X-Who": "{{userId}}!"})
    assert session.response == "got 1\n\nok?"
    assert web.requests[0].headers["x-who"] == "ann!"


async def test_numbers_are_written_as_text(web: StubServer) -> None:
    """As JavaScript writes them."""
    session = await run(web, "http://127.0.0.1:{{cargo.port}}/v1/birds")
    assert session.response == "got 1\n\nok?"


async def test_what_was_read_is_recorded(web: StubServer) -> None:
    """The commit of the step names the variables that made the address."""
    session = await run(web, "{{cargo.base}}/{{version}}/birds")
    asked = next(commit for commit in session.trace if ("cargo", "base") in commit.reads)
    assert asked.asked is not None
    assert any(key[1:] == ("version",) for key in asked.reads)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("{{cargo.none}}/x", "{{cargo.none}} gives nothing"),
        ("{{cargo.nothing}}/x", "{{cargo.nothing}} gives nothing"),
        (
            "{{unheard}}/x",
            "{{unheard}} cannot be evaluated: ReferenceError: unheard is not defined",
        ),
    ],
)
async def test_no_address_nobody_meant(web: StubServer, url: str, told: str) -> None:
    """An expression that fails or gives nothing makes the call fail; nothing is sent."""
    session = await run(web, url)
    assert session.response == f"{told}, at /implementation/url of tool Bird"
    assert session.last_turn_tool_calls == []
    assert web.requests == ()


@pytest.mark.parametrize(
    "more",
    [
        {"keys": {"apiKey": "{{getToken()}}"}},
        {"headers": {"Authorization": "Bearer {{getToken()}}"}},
        {"authentication": {"type": "bearer", "token": "{{getToken()}}"}},
    ],
)
async def test_secrets_of_the_flow(web: StubServer, more: dict[str, Any]) -> None:
    """A credential that an expression gives is sent, and recorded nowhere."""
    token = "fresh-token-9"
    session = await run(web, web.base + "/v1/birds", functions={"getToken": lambda: token}, **more)
    assert session.response == "got 1\n\nok?"
    assert web.requests[0].headers["authorization"] == f"Bearer {token}"
    assert token not in b"\n".join(lines_of(session.trace)).decode()
    assert token not in session.to_json().decode()


async def test_a_later_call_starts_afresh(web: StubServer) -> None:
    """What one tool had filled in is not handed to the next."""
    web.on("GET", "/plain", body={"n": 2})
    definitions = [
        {"id": name, "name": name, "implementation": {"type": "http", "method": "GET", "url": url}}
        for name, url in (("A", "{{cargo.base}}/v1/birds"), ("B", web.base + "/plain"))
    ]
    steps = [
        {"id": name, "type": "CALL-TOOL", "tool": name, "variable": name} for name in ("A", "B")
    ]
    steps.append({"id": "end", "type": "RETURN", "value": "A.n + B.n"})
    engine = Engine(
        flows=[{"id": "main", "name": "Main", "version": "1.0", "steps": steps}],
        tools=definitions,
        validate_on_init=False,
        http=HttpSettings(allow_private=True),
    )
    async with engine:
        session = engine.init_session("ann", "s")
        session.cargo["base"] = web.base
        session = await engine.update_activity("Main", session)
    assert session.response == "3"


async def test_an_approved_call_is_filled_in_anew(web: StubServer) -> None:
    """A call that waited for its approval goes out with the credential of now, not of then."""
    tokens = iter(["token-of-then", "token-of-now"])
    definition = {
        "id": "Bird",
        "name": "Bird",
        "approval": True,
        "implementation": {
            "type": "http",
            "method": "GET",
            "url": web.base + "/v1/birds",
            "headers": {"Authorization": "Bearer {{getToken()}}"},
        },
    }
    steps = [
        {"id": "s1", "type": "CALL-TOOL", "tool": "Bird", "variable": "r"},
        {"id": "s2", "type": "RETURN", "value": "'got ' + r.n"},
    ]
    engine = Engine(
        flows=[
            {"id": "main", "name": "Main", "version": "1.0", "primary": True, "steps": steps},
        ],
        tools=[definition],
        functions={"getToken": lambda: next(tokens)},
        validate_on_init=False,
        store=MemoryStore(),
        http=HttpSettings(allow_private=True),
    )
    async with engine:
        await engine.take_turn("c", "Main", message_id="m1")
        (shown,) = await engine.approvals("c")
        await engine.approve("c", shown["id"], by="Ann")
        session = await engine.session("c")
    assert session is not None
    assert session.response == "got 1"
    assert [one.headers["authorization"] for one in web.requests] == ["Bearer token-of-now"]
