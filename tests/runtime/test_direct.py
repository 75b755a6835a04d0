"""Promise: a tool called outside every conversation takes the one path, without a journal."""

from __future__ import annotations

from typing import Any

from saywhy.runtime.engine import Engine
from saywhy.testing import StubServer
from saywhy.testing.stub_client import StubClient
from saywhy.values import raw


def engine(*tools: dict[str, Any], **options: Any) -> Engine:
    return Engine(tools=list(tools), validate_on_init=False, **options)


def local(name: str, **keys: Any) -> dict[str, Any]:
    implementation = {"type": "local", "function": name}
    return {"id": name, "name": name, "implementation": implementation, **keys}


async def test_value_and_context() -> None:
    """The function gets arguments and context; its value comes back with the attempt."""
    seen: list[Any] = []

    def pay(args: dict[str, Any], context: Any) -> dict[str, Any]:
        seen.append((args, context.user_id, context.key, context.session_id))
        return {"ok": True}

    made = engine(local("pay", parameters={"type": "object"}), functions={"pay": pay})
    answer = await made.call_tool("pay", {"a": 1}, user_id="ann", key="k")
    assert raw(answer.value) == {"ok": True}
    assert [one.tool for one in answer.attempts] == ["pay"]
    assert seen == [({"a": 1}, "ann", "k", "")]


async def test_checks_hold() -> None:
    """Unknown tools, wrong arguments, limits and approvals are refused as in a flow."""
    made = engine(
        local("flat", parameters={"a": {"type": "string"}}),
        local(
            "once",
            parameters={"type": "object"},
            security={"rateLimit": {"requests": 1, "window": 1000}},
        ),
        local("wire", parameters={"type": "object"}, approval=True),
        functions={"flat": lambda a: a, "once": lambda args: 1, "wire": lambda args: 1},
    )
    assert (await made.call_tool("nothing", {})).refused
    flat = await made.call_tool("flat", {"a": 5})
    assert flat.fault_message == "Tool argument validation failed: a must be text, not a number"
    assert (await made.call_tool("once", {})).value == 1
    assert (await made.call_tool("once", {})).refused
    wire = await made.call_tool("wire", {"amount": 5})
    assert (wire.refused, raw(wire.to_approve)) == (True, {"amount": 5})


async def test_guards_hold() -> None:
    """Nobody has signed in here, so a tool that wants it is refused; broken circuits count too."""

    def broken(args: dict[str, Any]) -> None:
        raise ValueError("down")

    made = engine(
        local("secret", parameters={"type": "object"}, security={"requiresAuth": True}),
        {
            "id": "down",
            "name": "down",
            "parameters": {"type": "object"},
            "implementation": {
                "type": "local",
                "function": "down",
                "circuitBreaker": {"failures": 1, "openMs": 60000},
            },
        },
        functions={"secret": lambda args: 1, "down": broken},
    )
    secret = await made.call_tool("secret", {})
    assert (secret.refused, secret.attempts) == (True, ())
    first, second = [await made.call_tool("down", {}) for _ in range(2)]
    assert (len(first.attempts), len(second.attempts)) == (1, 0)


async def test_expressions_read_globals() -> None:
    """Expressions in the definition can use what the whole engine knows, and nothing else."""
    implementation = {
        "type": "http",
        "method": "GET",
        "url": "https://api.example.com/x",
        "headers": {"Authorization": "Bearer {{token}}", "X-B": "{{cargo.b}}"},
    }
    tool = {"id": "get", "name": "get", "implementation": implementation}
    with StubServer() as web:
        web.on("GET", "/x", body={"a": 1})
        made = engine(tool, globals={"token": "t0p"}, http=StubClient(web.base))
        refused = await made.call_tool("get", {})
        assert refused.refused
        assert refused.fault_message == (
            "{{cargo.b}} gives nothing, at /implementation/headers/X-B of tool get"
        )
        implementation["headers"].pop("X-B")  # type: ignore[attr-defined]
        made = engine(tool, globals={"token": "t0p"}, http=StubClient(web.base))
        assert raw((await made.call_tool("get", {})).value) == {"a": 1}
        assert web.requests[0].headers["authorization"] == "Bearer t0p"
        await made.close()
