"""What an engine offers to an MCP client: a tool for each primary flow, `reply`, and its own tools.

A flow is begun by its tool, which answers with what the flow says and the id of the conversation;
`reply` goes on from there. Pure: calls are carried out by `service`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from saywhy.flows.model import Flow, Library, Parameter
from saywhy.tools.tool import Tool

REPLY: Final = "reply"
LONGEST_NAME: Final = 64
_TYPES: Final = ("string", "number", "integer", "boolean", "array", "object")

TURN_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "conversation": {"type": "string", "description": "its id, for `reply`"},
        "reply": {"type": "string", "description": "what was said to the user"},
        "waiting": {
            "type": "boolean",
            "description": "whether the user is to answer, with `reply`",
        },
        "question": {"type": "string", "description": "the question that is open"},
        "sensitive": {"type": "boolean", "description": "whether the answer is not to be shown"},
        "waitingFor": {
            "type": "string",
            "enum": ["answer", "approval", "settlement", "nothing"],
            "description": "for the user's answer, or for somebody who decides elsewhere",
        },
    },
    "required": ["conversation", "reply", "waiting", "waitingFor"],
}
"""What every turn of a conversation answers."""


@dataclass(frozen=True, slots=True)
class Offer:
    """One tool as a client sees it, and what is behind it."""

    name: str
    kind: Literal["flow", "reply", "tool"]
    target: str
    """The id of the flow or tool; empty for `reply`."""
    title: str
    description: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None = None
    hints: Mapping[str, bool] = field(default_factory=dict[str, bool])
    """Annotations of the protocol."""


def offers_of(library: Library, tools: Iterable[Tool], *, with_tools: bool = True) -> list[Offer]:
    """Everything that is offered, under names of its own."""
    flows = library.primaries()
    made: list[Offer] = [_of_flow(flow) for flow in flows]
    if flows:
        made.append(_REPLY)
    if with_tools:
        made += [_of_tool(tool) for tool in tools]
    taken = {REPLY} if flows else set[str]()
    return [one if one.kind == "reply" else _named(one, taken) for one in made]


def _named(offer: Offer, taken: set[str]) -> Offer:
    """The offer under a name that no other has and every client takes."""
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "_", offer.name).strip("_")[:LONGEST_NAME] or offer.kind
    name, number = plain, 2
    if name in taken:
        name = f"{plain[: LONGEST_NAME - 8]}_{offer.kind}"
    while name in taken:
        name, number = f"{plain[: LONGEST_NAME - 8]}_{offer.kind}{number}", number + 1
    taken.add(name)
    return Offer(
        name,
        offer.kind,
        offer.target,
        offer.title,
        offer.description,
        offer.input_schema,
        offer.output_schema,
        offer.hints,
    )


def _of_flow(flow: Flow) -> Offer:
    parameters = [one for one in flow.parameters if not one.internal]
    description = (
        f"{flow.description or flow.name}\n\nBegins a conversation and answers with what is said. "
        f"While it is waiting, hand on the user's own words with `{REPLY}`."
    )
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {one.name: _parameter(one) for one in parameters},
        "additionalProperties": False,
    }
    return Offer(
        flow.id or flow.name,
        "flow",
        flow.id or flow.name,
        flow.prompt_for(None),
        description,
        schema,
        TURN_SCHEMA,
        {"readOnlyHint": False},
    )


def _parameter(parameter: Parameter) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    if parameter.type in _TYPES:
        schema["type"] = parameter.type
    if parameter.description:
        schema["description"] = parameter.description
    if parameter.enum:
        schema["enum"] = list(parameter.enum)
    return schema


def _of_tool(tool: Tool) -> Offer:
    hints = {"readOnlyHint": tool.effect == "reads"}
    if tool.effect != "reads":
        hints["idempotentHint"] = tool.effect == "repeatable"
    description = tool.description or tool.name
    if tool.approval is not None:
        description += "\n\nA person has to approve it, which cannot be asked here: use a flow."
    return Offer(tool.id, "tool", tool.id, tool.name, description, dict(tool.schema), None, hints)


_REPLY: Final = Offer(
    REPLY,
    "reply",
    "",
    "Reply",
    "Goes on with a conversation that a flow began: the user's own words as they are.",
    {
        "type": "object",
        "properties": {
            "conversation": {"type": "string", "description": "the id that was answered"},
            "text": {"type": "string", "description": "what the user says"},
            "message": {
                "type": "string",
                "description": "a name for this message: sent again, it is not heard twice",
            },
        },
        "required": ["conversation", "text"],
        "additionalProperties": False,
    },
    TURN_SCHEMA,
    {"readOnlyHint": False},
)
