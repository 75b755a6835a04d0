"""Does a CALL-TOOL step hand over what its tool takes?

Only what stands in the file can be judged: a whole `{{path}}` may turn out to be anything, unless
nothing but the answers of users can stand behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, Final

from saywhy.errors import Problem, did_you_mean
from saywhy.flows.checks.flow import matches_type
from saywhy.flows.checks.spot import Spot
from saywhy.flows.model import ToolDefinition
from saywhy.flows.read_flow import kind_of, list_of, object_of
from saywhy.values import UNDEFINED

_TYPES: Final = frozenset({"string", "number", "integer", "boolean"})
_KEPT_AS: Final = {
    **dict.fromkeys(("text", "name", "digits", "identifier", "date", "phone", "email"), "string"),
    **dict.fromkeys(("amount", "number"), "number"),
    "yes-no": "boolean",
}
"""Kinds of inputs and the types of their values; a choice's are its own."""

_WORDS: Final = {"string": "a text", "number": "a number", "boolean": "true or false"}

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
            strange = [key for key in args if key not in properties]
            near = get_close_matches(name, strange, n=1)
            hint = f'is it the "{near[0]}" in `args`?' if near else f'add "{name}" to `args`'
            yield spot.problem(message, "args", hint=hint)
    closed = schema.get("additionalProperties") is False and style == "object"
    for name, value in args.items():
        if name in properties:
            yield from _type(spot, name, value, object_of(properties[name]))
            yield from _made_up(spot, name, value, object_of(properties[name]))
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
    if not isinstance(kind, str) or value is None:
        return
    if isinstance(value, str) and _WHOLE_TEMPLATE.fullmatch(value):
        yield from _answer(spot, name, value, kind)
        yield from _of_form(spot, name, value, kind)
        return
    if matches_type(value, kind):
        return
    message = f'the argument "{name}" should be of type {kind}, this is {kind_of(value)}'
    hint = f"write a {kind}, or a template that gives one: {{{{{name}}}}}"
    yield spot.problem(message, "args", name, hint=hint, severity="warning")


def _made_up(spot: Spot, name: str, value: Any, schema: dict[str, Any]) -> Iterator[Problem]:
    """A literal where the tool takes only what was given in the conversation."""
    is_known = schema.get("x-known") in (True, "or-said")
    is_literal = isinstance(value, str | int | float) and "{{" not in str(value)
    if is_known and is_literal:
        yield spot.problem(
            f'the argument "{name}" stands in the flow, and the tool takes only a value that was '
            "given in the conversation",
            "args",
            name,
            hint="the call is refused, unless a tool gives just this; take it from what a tool "
            "answered, {{order.id}} for instance",
            severity="warning",
        )


def _answer(spot: Spot, name: str, template: str, kind: str) -> Iterator[Problem]:
    """An answer of the user, which is text, where the tool wants something else."""
    variable = template.strip().removeprefix("{{").removesuffix("}}").strip()
    if kind in ("number", "integer") and set(_setters(spot, variable)) == {"SAY-GET"}:
        message = f'the argument "{name}" should be of type {kind}, and an answer is text'
        hint = f"make it a number in a SET step before: Number({variable})"
        yield spot.problem(message, "args", name, hint=hint, severity="warning")


def _of_form(spot: Spot, name: str, template: str, kind: str) -> Iterator[Problem]:
    """A value of a form that is always of another type than the tool wants."""
    path = template.strip().removeprefix("{{").removesuffix("}}").strip()
    form, _, value = path.partition(".")
    if kind not in _TYPES or not value or set(_setters(spot, form)) != {"FORM"}:
        return
    given = set(_form_types(spot, form, value))
    if len(given) == 1 and not given & {"", "number" if kind == "integer" else kind}:
        (of,) = given
        message = f'the argument "{name}" should be of type {kind}, and {path} is {_WORDS[of]}'
        hint = f"declare it as {of} in the tool, or convert it in a SET step before"
        yield spot.problem(message, "args", name, hint=hint, severity="warning")


def _form_types(spot: Spot, form: str, name: str) -> Iterator[str]:
    """The type of an input in each form of that variable; empty where it cannot be told."""
    for flow in spot.library.flows:
        for step in flow.walk():
            if step.type == "FORM" and step.raw.get("variable") == form:
                for each in map(object_of, list_of(step.raw.get("inputs"))):
                    if each.get("name") == name:
                        yield "" if "value" in each else _KEPT_AS.get(str(each.get("kind")), "")


def _setters(spot: Spot, variable: str) -> Iterator[str]:
    """What can set a variable in any flow: types of steps, a default, a parameter, a global."""
    if variable in (spot.known.globals or ()):
        yield "global"
    for flow in spot.library.flows:
        if variable in flow.variables and flow.variables[variable].value is not UNDEFINED:
            yield "default"
        if any(parameter.name == variable for parameter in flow.parameters):
            yield "parameter"
        for step in flow.walk():
            passed = object_of(step.raw.get("parameters")) if step.type == "FLOW" else {}
            if variable in passed or step.raw.get("variable") == variable:
                yield step.type
