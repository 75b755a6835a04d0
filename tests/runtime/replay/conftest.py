"""Conversations that the tests of replay share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from saywhy.runtime.engine import Engine
from saywhy.runtime.session import Session
from saywhy.testing.clock import FakeClock


def flow_of(*steps: dict[str, Any], name: str = "Pay", **keys: Any) -> dict[str, Any]:
    """A flow of these steps."""
    usual = {"id": name.lower(), "name": name, "prompt": name, "description": name}
    return {**usual, "version": "1.0", "primary": True, **keys, "steps": list(steps)}


def say(step: str, value: str) -> dict[str, Any]:
    """A step that says something."""
    return {"id": step, "type": "SAY", "value": value}


def ask(variable: str, value: str, **keys: Any) -> dict[str, Any]:
    """A step that asks something."""
    return {
        "id": f"ask-{variable}",
        "type": "SAY-GET",
        "variable": variable,
        "value": value,
        **keys,
    }


def put(variable: str, value: str) -> dict[str, Any]:
    """A step that works something out."""
    return {"id": f"put-{variable}", "type": "SET", "variable": variable, "value": value}


def call(tool: str, **args: str) -> dict[str, Any]:
    """A step that calls a tool, whose answer goes into a variable of its name."""
    return {"id": f"call-{tool}", "type": "CALL-TOOL", "tool": tool, "variable": tool, "args": args}


def run_flow(name: str, how: str = "call") -> dict[str, Any]:
    """A step that runs another flow."""
    return {"id": f"run-{name}", "type": "FLOW", "value": name, "callType": how}


def tool_of(name: str, *parameters: str, **keys: Any) -> dict[str, Any]:
    """A tool that is carried out by the function of its name."""
    properties = {one: {"type": "string"} for one in parameters}
    return {
        "id": name,
        "name": name,
        "description": name,
        "parameters": {"type": "object", "properties": properties},
        "implementation": {"type": "local", "function": f"do_{name}"},
        **keys,
    }


PAYING = flow_of(
    ask("payee", "To whom?"),
    ask("amount", "How much?"),
    call("fee", amount="{{amount}}"),
    say("tell", "{{amount}} to {{payee}}, the fee is {{fee.value}}."),
)
FEE = tool_of("fee", "amount")


class Outside:
    """The world outside, which can be told to be gone."""

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.gone = False

    def do_fee(self, args: dict[str, Any]) -> dict[str, Any]:
        """What a payment costs."""
        assert not self.gone, "nobody may be called any more"
        self.calls.append(args)
        return {"value": 8, "currency": "EUR"}

    def rounded(self, value: Any) -> Any:
        """An approved function."""
        assert not self.gone, "nobody may be called any more"
        self.calls.append(value)
        return round(float(value))


def engine_of(
    outside: Outside, flows: Sequence[dict[str, Any]] = (PAYING,), **options: Any
) -> Engine:
    """An engine with a tool and a function that go to `outside`."""
    functions = {"do_fee": outside.do_fee, "rounded": outside.rounded}
    given: dict[str, Any] = {"tools": [FEE], "clock": FakeClock(), "functions": functions}
    return Engine(flows=list(flows), guidance={"enabled": False}, **{**given, **options})


async def talk(engine: Engine, *entries: Any, **session: Any) -> Session:
    """A conversation in memory, after these entries."""
    conversation = engine.init_session("ann", "c1", **session)
    for entry in entries:
        conversation = await engine.update_activity(entry, conversation)
    return conversation
