"""A page about tools: what they take, and what a model is told about their results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from saywhy.agent.instructions.rule import LLMInstruction
from saywhy.agent.tools import agent_tool
from saywhy.values import dumps, thaw


def generate_tool_guide(tools: Iterable[Any]) -> str:
    """The tools in Markdown, for people: arguments, and each instruction with what it says."""
    return "\n".join(line for tool in tools for line in _tool(tool)).strip() + "\n"


def _tool(given: Any) -> Iterator[str]:
    tool = agent_tool(given)
    yield f"## {tool.id}"
    yield ""
    if tool.description:
        yield tool.description
        yield ""
    yield from _arguments(thaw(tool.input_schema))
    rules: tuple[LLMInstruction, ...] = tool.instructions
    if rules:
        yield "After a result the model is told:"
        yield ""
        for rule in sorted(rules, key=lambda one: (one.safety, one.priority)):
            yield from _rule(rule)
        yield ""


def _arguments(schema: Mapping[str, Any]) -> Iterator[str]:
    properties: Mapping[str, Any] = schema.get("properties") or {}
    if not properties:
        return
    required = schema.get("required") or ()
    yield "| argument | type | |"
    yield "|---|---|---|"
    for name, one in properties.items():
        field: Mapping[str, Any] = one if isinstance(one, Mapping) else {}
        must = "required" if name in required else ""
        about = _cell("; ".join(part for part in (must, field.get("description", "")) if part))
        yield f"| `{name}` | {_cell(_type_of(field))} | {about} |"
    yield ""


def _type_of(field: Mapping[str, Any]) -> str:
    if "enum" in field:
        return "one of " + ", ".join(dumps(one).decode() for one in field["enum"])
    kind = field.get("type", "any")
    return " or ".join(map(str, kind)) if isinstance(kind, list) else str(kind)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _rule(rule: LLMInstruction) -> Iterator[str]:
    marks = ["safety"] if rule.safety else []
    marks += [] if rule.when else ["always"]
    marks += [f"priority {rule.priority:g}"] if rule.priority else []
    about = f": {rule.description}" if rule.description else ""
    shown = f" ({', '.join(marks)})" if marks else ""
    yield f"* **{rule.id}**{shown}{about}"
    if rule.text:
        yield "  > " + rule.text.replace("\n", "\n  > ")
    if rule.follow_up:
        how = "is made when the user asks for it" if rule.follow_up.strict else "is offered"
        condition = rule.follow_up.condition
        yield f"  `{rule.follow_up.tool_id}` {how}: {rule.follow_up.description} ({condition})"
    if rule.decide:
        yield "  It changes the decision."
