"""Does a CALL-TOOL step hand over what its tool takes?

Only what stands in the file can be judged: a whole `{{path}}` may turn out to be anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from saywhy.errors import Problem, did_you_mean
from saywhy.flows.checks.flow import matches_type
from saywhy.flows.checks.spot import Spot
from saywhy.flows.model import ToolDefinition
from saywhy.flows.read_flow import kind_of, list_of, object_of

_WHOLE_TEMPLATE: Final = re.compile(r"\s*\{\{.*\}\}\s*", re.DOTALL)


def check_arguments(spot: Spot, args: dict[str, Any], tool: ToolDefinition) -> Iterator[Problem]:
    """Every problem of the `args` of a step; none where the tool itself is broken."""
    from saywhy.tools.check import problems_of
    from saywhy.tools.schema import normalise

    if has_odd_required(tool) or any(
        problem.severity == "error" for problem in problems_of(tool.raw, tool.place)
    ):
        return
    schema, style, _ = normalise(tool.raw)
    properties = object_of(schema.get("properties"))
    for name in list_of(schema.get("required")):
        if name not in args:
            message = f'the tool "{tool.id}" needs the argument "{name}"'
            hint = did_you_mean(name, [key for key in args if key not in properties])
            yield spot.problem(message, "args", hint=hint or f'add "{name}" to `args`')
    closed = schema.get("additionalProperties") is False and style == "object"
    for name, value in args.items():
        if name in properties:
            yield from _type(spot, name, value, object_of(properties[name]))
        elif closed or style == "positional":
            yield spot.problem(
                f'the tool "{tool.id}" takes no argument "{name}"',
                "args",
                name,
                hint=did_you_mean(name, list(properties)) or "remove it",
                # a closed schema refuses the call; a positional one leaves the argument out
                severity="error" if closed else "warning",
                known_names=list(properties),
                at_key=True,
            )


def has_odd_required(tool: ToolDefinition) -> bool:
    """Whether `required` beside flat parameters lists something that is no name."""
    required = tool.raw.get("required")
    return required is not None and (
        not isinstance(required, list) or not all(isinstance(name, str) for name in required)
    )


def _type(spot: Spot, name: str, value: Any, schema: dict[str, Any]) -> Iterator[Problem]:
    """A literal of another type than wanted. null is left alone: it becomes a default."""
    kind = schema.get("type")
    if not isinstance(kind, str) or value is None or matches_type(value, kind):
        return
    if isinstance(value, str) and _WHOLE_TEMPLATE.fullmatch(value):
        return
    message = f'the argument "{name}" should be of type {kind}, this is {kind_of(value)}'
    hint = f"write a {kind}, or a template that gives one: {{{{{name}}}}}"
    yield spot.problem(message, "args", name, hint=hint, severity="warning")
