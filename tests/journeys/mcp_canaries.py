"""Two applications full of canaries that talk over MCP: flows and an agent here, a server there.

What one side declares is masked on that side. Where both sides see a value, each declares it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from saywhy import Agent
from saywhy.models.scripted import ScriptedModel
from saywhy.tools.tool import tool_from_definition
from tests.journeys.canary import canary, flow, step, turned, without

GUARDS = {
    "near": {
        "near-argument": "argument",
        "near-answer": "answer",
        "near-variable": "variable",
        "near-agent-argument": "agent-argument",
        "near-agent-answer": "agent-answer",
        "near-begin": "card",
        "near-reply": "pin",
    },
    "far": {
        "far-argument": "argument",
        "far-answer": "answer",
        "far-variable": "variable",
        "far-agent-argument": "agent-argument",
        "far-agent-answer": "agent-answer",
        "far-card": "card",
        "far-pin": "pin",
    },
}
"""Side → what is declared there → the canary that it guards."""
CANARIES = tuple(GUARDS["near"].values())
DYING = Path(__file__).parent.parent / "cases" / "mcp" / "dying.py"


# ------------------------------------------------------------------ the server


def echo(args: Mapping[str, Any]) -> dict[str, Any]:
    """Give back what was given, turned round."""
    return {"echo": args["text"], "turned": turned(args["text"]), "city": "Bern"}


def fail(args: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a failure that quotes what was given, or fail with it."""
    text = str(args["text"])
    if args.get("hard"):
        raise ValueError(f"cannot work on {text} or {turned(text)}")
    return {"success": False, "error": {"code": text, "message": f"{text} is {turned(text)}"}}


def person(args: Mapping[str, Any]) -> dict[str, Any]:
    """Somebody's data, one field of it sensitive; and it fails with it."""
    ssn = canary(str(args["whose"]))
    return {"ssn": ssn, "city": "Basel", "success": False, "message": f"{ssn} is {turned(ssn)}"}


FAR_FUNCTIONS = {"echo": echo, "fail": fail, "person": person}


def _local(name: str, function: str, guard: str, returns: str = "") -> dict[str, Any]:
    text: dict[str, Any] = {"type": "string"}
    ssn = {"type": "string", "pii": returns}
    shape = {"type": "object", "properties": {"ssn": ssn}, "required": ["zip"]}
    return {
        "id": name,
        "name": name,
        "description": name,
        "effect": "reads",
        "parameters": {
            "type": "object",
            "properties": {
                "text": {**text, "pii": guard} if guard else text,
                "hard": {"type": "boolean"},
                "whose": text,
            },
        },
        "implementation": {"type": "local", "function": function},
        **({"returns": shape} if returns else {}),
    }


def far_tools() -> list[dict[str, Any]]:
    """What the server offers: an echo and a failure for each guarded text, and two persons."""
    made = [_local(f"person-{of}", "person", "", f"far-{of}") for of in ("answer", "agent-answer")]
    for of in ("argument", "variable", "agent-argument"):
        made += [
            _local(f"echo-{of}", "echo", f"far-{of}"),
            _local(f"fail-{of}", "fail", f"far-{of}"),
        ]
    return made


def far_flows() -> list[dict[str, Any]]:
    """A conversation that a client of the server may begin."""
    card = {"name": "card", "type": "string", "description": "card", "pii": "far-card"}
    return [
        flow(
            "Talk",
            step("SAY", value="Card {{card}}, or {{card.toUpperCase()}}."),
            step("SAY-GET", variable="pin", value="The PIN of {{card}}?", pii="far-pin"),
            step("SET", variable="back", value="pin.split('').reverse().join('')"),
            step("SAY", value="It is {{pin}}, or {{back}}."),
            step(
                "CALL-TOOL",
                tool="fail-argument",
                args={"text": "{{back}}", "hard": True},
                maxRetries=0,
                onFail=step("SAY", value="No {{pin}}."),
            ),
            step("SAY-GET", variable="more", value="Anything else about {{back}}?"),
            parameters=[card],
        )
    ]


# ------------------------------------------------------------------ the client


def mcp_tool(name: str, server: Mapping[str, Any], **properties: Any) -> dict[str, Any]:
    """A tool of a server, as it is called here."""
    return {
        "id": name,
        "name": name,
        "description": name,
        "effect": "reads",
        "parameters": {"type": "object", "properties": properties},
        "implementation": {"type": "mcp", "server": server, "tool": name},
    }


def _returns(guard: str) -> dict[str, Any]:
    ssn = {"type": "string", "pii": guard}
    return {"returns": {"type": "object", "properties": {"ssn": ssn}}}


def near_tools(address: str) -> list[dict[str, Any]]:
    """The tools of the server that flows call, and one of a program that dies with it."""
    far = {"url": address}
    plain = {"type": "string"}
    argument = {"type": "string", "pii": "near-argument"}
    dying = {"command": [sys.executable, str(DYING)]}
    return [
        mcp_tool("echo-argument", far, text=argument),
        mcp_tool("fail-argument", far, text=argument, hard={"type": "boolean"}),
        mcp_tool("echo-variable", far, text=plain),
        mcp_tool("fail-variable", far, text=plain, hard={"type": "boolean"}),
        mcp_tool("person-answer", far, whose=plain) | _returns("near-answer"),
        mcp_tool("die", dying, text=plain),
        mcp_tool("talk", far, card={"type": "string", "pii": "near-begin"}),
        mcp_tool("reply", far, conversation=plain, text={"type": "string", "pii": "near-reply"}),
    ]


def near_flows() -> list[dict[str, Any]]:
    """Flows that send canaries through the tools of the server."""
    secret = {"secret": {"type": "string", "pii": "near-variable"}}
    return [
        flow("Argument", *_sent("argument", "{{cargo.given}}")),
        flow("Answer", *_asked("answer")),
        flow(
            "Variable",
            step("SAY-GET", variable="secret", value="Secret?"),
            *_sent("variable", "{{secret}}"),
            variables=secret,
        ),
        flow(
            "Dead",
            step("SAY-GET", variable="secret", value="Secret?"),
            _call("die", {"text": "{{secret}}"}, "dead"),
            variables=secret,
        ),
        flow("Desk", *_agent_asked("desk")),
        flow("Clerk", *_agent_asked("clerk")),
        flow("Talk", *_talk()),
    ]


def _call(tool: str, args: dict[str, Any], variable: str) -> dict[str, Any]:
    no = step("SAY", value=f"{tool} failed.")
    return step("CALL-TOOL", tool=tool, args=args, variable=variable, maxRetries=0, onFail=no)


def _sent(of: str, value: str) -> list[dict[str, Any]]:
    return [
        _call(f"echo-{of}", {"text": value}, "told"),
        step("SAY", value="Told {{told.turned}}, {{told.echo.toUpperCase()}} of {{told.city}}."),
        _call(f"fail-{of}", {"text": value}, "soft"),
        step("SAY", value="Failed: {{soft.error.message}}"),
        _call(f"fail-{of}", {"text": value, "hard": True}, "hard"),
    ]


def _asked(of: str) -> list[dict[str, Any]]:
    return [
        _call(f"person-{of}", {"whose": of}, "found"),
        step("SAY", value="{{found.ssn}} lives in {{found.city}}"),
        step("SET", variable="back", value="found.ssn.split('').reverse().join('')"),
        step("SAY", value="{{back}}"),
    ]


def _agent_asked(name: str) -> list[dict[str, Any]]:
    ask = step("AGENT", agent=name, value="Do it.", variable="said", history="none")
    return [ask, step("SAY", value="The agent: {{said}}")]


def _talk() -> list[dict[str, Any]]:
    again = {"conversation": "{{begun.conversation}}", "text": "{{cargo.given}}"}
    return [
        _call("talk", {"card": "{{cargo.card}}"}, "begun"),
        step("SAY-GET", variable="ready", value="{{begun.reply}} Ready?"),
        _call("reply", again, "next"),
        step("SAY", value="{{next.reply}}"),
    ]


def agents(address: str, left_out: str) -> dict[str, Agent]:
    """Agents with tools of the server: one hands something sensitive over, one is given it."""
    far = {"url": address}
    text = {"type": "string", "pii": "near-agent-argument"}
    handing = [
        mcp_tool("echo-agent-argument", far, text=text),
        mcp_tool("fail-agent-argument", far, text=text, hard={"type": "boolean"}),
    ]
    secret = canary("agent-argument")
    handed = [
        {"name": "echo-agent-argument", "arguments": {"text": secret}},
        {"name": "fail-agent-argument", "arguments": {"text": secret}},
        {"name": "fail-agent-argument", "arguments": {"text": secret, "hard": True}},
    ]
    asking = mcp_tool("person-agent-answer", far, whose={"type": "string"})
    asking |= _returns("near-agent-answer")
    asked = [{"name": "person-agent-answer", "arguments": {"whose": "agent-answer"}}]
    return {
        "desk": _agent("desk", without(left_out, handing), handed, secret),
        "clerk": _agent("clerk", without(left_out, [asking]), asked, canary("agent-answer")),
    }


def _agent(name: str, tools: list[dict[str, Any]], calls: list[Any], told: str) -> Agent:
    script = [{"for": "chat", "tool_calls": [call]} for call in calls]
    model = ScriptedModel([*script, {"for": "chat", "reply": f"{told} and {turned(told)}"}])
    return Agent(model, name=name, tools=[tool_from_definition(one) for one in tools])
