"""A flow as a tool of an agent: the model asks for it, and it runs exactly as written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from saywhy.agent.tool_reply import ToolReply, content_of, failed, reply_with
from saywhy.agent.tools import AgentTool, ChartRun, define_tool
from saywhy.errors import CallerError
from saywhy.flows.agents.carried import ARGUMENTS, flow_chart
from saywhy.flows.agents.fallback import ANSWER
from saywhy.flows.model import Flow
from saywhy.tools.tool_result import ToolResult
from saywhy.values import FrozenDict, thaw


@dataclass(frozen=True, slots=True)
class FlowRun(ChartRun):
    """A tool whose calls are carried out by a flow of the engine's."""

    flow: str = ""
    returns: tuple[str, ...] = ()
    described: bool = False
    """Whether description and parameters were given, and not to be taken from the flow."""


def flow_tool(
    flow: str,
    description: str = "",
    *,
    name: str = "",
    parameters: Mapping[str, Any] | None = None,
    returns: Sequence[str] = (),
    instructions: Iterable[Any] = (),
) -> AgentTool:
    """A tool that runs the flow with this id or name, for an agent that an `Engine` holds.

    The flow may ask the user, call other flows and tools, and be interrupted; the agent goes on
    when it is over. The model reads how it ended: `status`, its `outcome` and `reason`, what it
    `returned`, and those of its `variables` that `returns` names; no other is shown to a model.
    `description` and `parameters` (a JSON schema) are those of the flow unless given, `name` is the
    flow's id.
    Raises `CallerError`.
    """
    if not flow:
        raise CallerError("flow_tool needs the id or name of a flow", hint='flow_tool("refund")')
    if isinstance(returns, str):
        raise CallerError("returns is a list of variables, not text", hint=f'["{returns}"]')
    made = define_tool(
        name or flow,
        description or f"Runs {flow}",
        parameters,
        _outside,
        instructions=instructions,
    )
    run = FlowRun(
        flow_chart(flow, returns).name,
        reply_of,
        lambda arguments: {ARGUMENTS: arguments},
        None,
        flow,
        tuple(returns),
        bool(description and parameters is not None),
    )
    return AgentTool(made.tool, made.instructions, made.input_schema, runs=run)


def described_by(tool: AgentTool, flow: Flow) -> AgentTool:
    """The tool with what the flow says of itself, where nothing else was given."""
    run = tool.runs
    if not isinstance(run, FlowRun) or run.described:
        return tool
    given = tool.description
    text = flow.description or flow.prompt_for(None) if given == f"Runs {run.flow}" else given
    schema: Any = tool.input_schema or _schema(flow)
    made = define_tool(tool.id, text, schema, _outside, instructions=tool.instructions)
    return AgentTool(made.tool, made.instructions, made.input_schema, runs=run)


def _schema(flow: Flow) -> dict[str, Any]:
    """What a model may say about the parameters of a flow."""
    properties: dict[str, Any] = {}
    for one in flow.parameters:
        if one.internal:
            continue
        shown: dict[str, Any] = {"type": one.type} if one.type in _TYPES else {}
        if one.description:
            shown["description"] = one.description
        if one.enum:
            shown["enum"] = list(one.enum)
        properties[one.name] = shown
    return {"type": "object", "properties": properties} if properties else {}


_TYPES = ("string", "number", "integer", "boolean", "array", "object")


def reply_of(value: Any) -> ToolReply:
    """What the model reads of what a carried call or flow came to."""
    told: Any = value if isinstance(value, FrozenDict) else FrozenDict({"value": value})
    if "error" in told:
        return failed(content_of(told["error"]), str(told.get("code") or ""))
    found = told.get("value")
    if told.get("isResult"):
        return reply_with(ToolResult(**thaw(found)))
    return ToolReply(content_of(found))


def answer_reply(value: Any) -> ToolReply:
    """What the model reads of a question to the user: the answer alone."""
    reply = reply_of(value)
    told = value.get("value") if isinstance(value, FrozenDict) else None
    if reply.error is not None or not isinstance(told, FrozenDict):
        return reply
    answers: Any = told.get("variables") or FrozenDict({})
    return ToolReply(content_of(answers.get(ANSWER, "")))


def _outside(arguments: Mapping[str, Any]) -> Any:
    raise CallerError(
        "this tool runs a flow, so its agent has to be part of an engine",
        hint="Engine(flows=…, agents=[agent])",
    )


__all__ = ["FlowRun", "answer_reply", "described_by", "flow_tool", "reply_of"]
