"""With which arguments is a tool called whose step gives none?

Variables called like a parameter come first, then what can be read off the newest words, then what
a model finds in what was said. It is only asked where something is missing, and only for that; what
it leaves open stays as it would be without it. spec: flow-engine 6.2
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from saywhy.chart.outcome import Answer, Need
from saywhy.chart.scope import Scope
from saywhy.errors import InvalidReply
from saywhy.flows.modelled import Prompt, ask_model, newest_words
from saywhy.flows.world import World
from saywhy.host.prompt import DATA_RULE, VALUE_RULES, chat, instructions, user_text
from saywhy.host.reading import object_in
from saywhy.host.schemas import wrapped
from saywhy.tools.arguments import certain, generate
from saywhy.tools.tool import Tool
from saywhy.values import thaw

TASK: Final = "tool_args"
MODELLED: Final = "modelled"
"""Where a frame keeps the arguments of a call that a model has filled in: `{args, names}`."""

_SYSTEM_TASK: Final = (
    "A tool is about to be called for the user. Find out which of its listed arguments the "
    "conversation states."
)
_RULES: Final = (
    *VALUE_RULES,
    "Decide by the whole conversation; where it contradicts itself, what was said last counts.",
    "Leave out every argument that nobody has stated.",
    DATA_RULE,
)


def wanted(world: World, tool: Tool, variables: Mapping[str, Any], words: str) -> list[str]:
    """The arguments that a model is to be asked for; none where all that is needed is there."""
    if not world.has_model or not tool.properties:
        return []
    known = certain(tool, variables, words)
    found = generate(tool, variables, words)
    missing = [name for name in tool.required if name not in found]
    nothing = not any(name in tool.properties for name in found)
    if not missing and not nothing:
        return []
    return [name for name in tool.properties if name not in known]


def asks_for(scope: Scope, tool: Tool, names: list[str]) -> Need:
    """The question to the model. What was said since the flow began is told when it leaves."""
    return ask_model(TASK, tool=tool.id, names=names, since=scope.kept("first") or 0)


def prompt(world: World, facts: Mapping[str, Any]) -> Prompt:
    """The question in words; the form of the answer is the tool's own schema."""
    tool = world.tools.find(str(facts["tool"]))
    assert tool is not None, "a tool is asked for that the step has found"
    shapes: dict[str, Any] = {name: thaw(tool.properties[name]) for name in facts["names"]}
    schema = {
        "type": "object",
        "properties": shapes,
        "required": [name for name in tool.required if name in shapes],
    }
    text = instructions(
        _SYSTEM_TASK, _RULES, schema, "If nothing of it was stated, the reply is {}"
    )
    about = f"{tool.name}: {tool.description}" if tool.description else tool.name
    lines = [f"tool {about}", *(_line(name, shape) for name, shape in shapes.items())]
    words, said = newest_words(facts)
    form = wrapped(TASK, schema, strict=False)
    return Prompt(text, user_text(words, chat(said), "arguments", lines), form)


def _line(name: str, shape: Any) -> str:
    kind = shape.get("type") if isinstance(shape, Mapping) else None
    about = shape.get("description") if isinstance(shape, Mapping) else None
    shown = f"- {name} ({kind})" if isinstance(kind, str) else f"- {name}"
    return f"{shown}: {' '.join(str(about).split())}" if about else shown


def found_in(asked: Need, answer: Answer) -> dict[str, Any]:
    """The arguments in a reply that were asked for; none where the model failed or said nothing.

    Whether a value fits is left to the call, which checks it against the schema as any other.
    """
    if answer.error is not None:
        return {}
    names = list(asked.args["names"])
    try:
        reply = object_in(str(answer.value or ""), names[0])
    except InvalidReply:
        return {}
    return {name: reply[name] for name in names if reply.get(name) is not None}


def merged(
    tool: Tool, variables: Mapping[str, Any], words: str, found: Mapping[str, Any]
) -> dict[str, Any]:
    """All arguments: those that are certain, then those that were found, else the usual guess."""
    if not found:
        return generate(tool, variables, words)
    return {**found, **certain(tool, variables, words)}
