"""What is wrong with a flow as a whole: its names, its declarations, its labels.

Its steps are judged in `checks.steps`, the names in its expressions in `checks.names`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from saywhy.errors import Problem, did_you_mean
from saywhy.flows.checks.keys import FLOW_KEYS, misspelt_keys
from saywhy.flows.checks.spot import Severity
from saywhy.flows.model import Flow, Step, Variable
from saywhy.flows.read_flow import kind_of
from saywhy.flows.source import join
from saywhy.values import UNDEFINED

VARIABLE_TYPES: Final = ("string", "number", "boolean", "object", "array")
PARAMETER_TYPES: Final = (*VARIABLE_TYPES, "integer")
VARIABLE_SCOPES: Final = ("flow", "session", "global")
FLOW_SCOPES: Final = ("shared", "isolated")
RISK_LEVELS: Final = ("low", "medium", "high", "critical")

_PYTHON_TYPES: Final[dict[str, Callable[[Any], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def check_flow(flow: Flow) -> Iterator[Problem]:
    """Every problem of a flow's own keys, in no particular order."""
    yield from misspelt_keys(flow, "", flow.raw, FLOW_KEYS, prefixes=("prompt_",))
    yield from _identity(flow)
    yield from _labels(flow)
    yield from _steps(flow)
    yield from _same_ids(flow)
    yield from _switches(flow)
    yield from _parameters(flow)
    yield from _variables(flow)
    yield from _metadata(flow)


def flow_problem(
    flow: Flow,
    message: str,
    pointer: str = "",
    hint: str = "",
    severity: Severity = "error",
    known_names: tuple[str, ...] = (),
) -> Problem:
    """A problem at a place of a flow."""
    place = flow.place_of(pointer)
    return Problem(message, place, hint, severity, known_names=known_names, flow=flow.id)


def matches_type(value: Any, type_name: str) -> bool:
    """Whether a value is what a type name promises; unknown types promise nothing."""
    return _PYTHON_TYPES.get(type_name, lambda _: True)(value)


def _identity(flow: Flow) -> Iterator[Problem]:
    for key, use in (("id", "unique in all files"), ("name", "shown in records and messages")):
        value = flow.raw.get(key)
        if value is None or value == "":
            yield flow_problem(flow, f"the flow has no `{key}`", "", f"give it one, {use}")
        elif not isinstance(value, str):
            message = f"`{key}` must be a text, this is {kind_of(value)}"
            yield flow_problem(flow, message, f"/{key}", "put it in quotes")
    version = flow.raw.get("version")
    if version is None:
        hint = 'add "version": "1.0"; conversations remember which version they began with'
        yield flow_problem(flow, "the flow has no `version`", "", hint, "warning")
    elif not isinstance(version, str):
        message = f"`version` must be a text, this is {kind_of(version)}"
        yield flow_problem(flow, message, "/version", "put it in quotes", "warning")


def _labels(flow: Flow) -> Iterator[Problem]:
    for key, value in flow.raw.items():
        is_text_key = key in ("prompt", "description", "parameterInstructions", "wraps")
        if (is_text_key or key.startswith("prompt_")) and not isinstance(value, str):
            message = f"`{key}` must be a text, this is {kind_of(value)}"
            yield flow_problem(flow, message, f"/{key}", "put it in quotes")
    if not flow.primary:
        return
    if not flow.prompts.get(""):
        hint = 'users see it: "prompt": "Pay a bill"'
        yield flow_problem(flow, "a primary flow needs a `prompt`", "", hint)
    if not flow.description:
        hint = "it is what tells this flow from the others when the user's words are understood"
        yield flow_problem(flow, "a primary flow needs a `description`", "", hint)


def _steps(flow: Flow) -> Iterator[Problem]:
    steps = flow.raw.get("steps")
    if not isinstance(steps, list):
        message = "the flow has no steps or `steps` is not a list"
        yield flow_problem(flow, message, "/steps", 'write "steps": [ {…}, … ]')
    elif not steps:
        hint = "add at least one step"
        yield flow_problem(flow, "the flow has no steps: the list is empty", "/steps", hint)


def _same_ids(flow: Flow) -> Iterator[Problem]:
    """Steps run all the same, but records and messages call them by their ids."""
    seen: dict[str, Step] = {}
    for step in flow.walk():
        first = seen.setdefault(step.id, step)
        if first is not step and step.id:
            message = f'two steps of this flow have the id "{step.id}"'
            hint = f"the other one is at {first.place}; records could not tell them apart"
            yield flow_problem(flow, message, f"{step.pointer}/id", hint, "note")


def _switches(flow: Flow) -> Iterator[Problem]:
    for key in ("primary", "interruptable"):
        value = flow.raw.get(key)
        if value is not None and not isinstance(value, bool):
            message = f"`{key}` must be true or false, this is {kind_of(value)}"
            yield flow_problem(flow, message, f"/{key}", "write true or false without quotes")
    scope = flow.raw.get("scope")
    if scope is not None and scope not in FLOW_SCOPES:
        hint = did_you_mean(str(scope), FLOW_SCOPES) or "write shared or isolated"
        yield flow_problem(flow, f'unknown scope "{scope}" of a flow', "/scope", hint)


def _metadata(flow: Flow) -> Iterator[Problem]:
    metadata = flow.raw.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        yield flow_problem(flow, f"`metadata` must be an object, this is {kind_of(metadata)}",
                           "/metadata")  # fmt: skip
    risk = flow.metadata.get("riskLevel")
    if risk is not None and risk not in RISK_LEVELS:
        hint = did_you_mean(str(risk), RISK_LEVELS) or f"use one of {', '.join(RISK_LEVELS)}"
        message = f'unknown risk level "{risk}"'
        yield flow_problem(flow, message, "/metadata/riskLevel", hint, "warning")


# ------------------------------------------------------------------ parameters


def _parameters(flow: Flow) -> Iterator[Problem]:
    parameters = flow.raw.get("parameters")
    if parameters is None:
        return
    if not isinstance(parameters, list):
        message = f"`parameters` must be an array, this is {kind_of(parameters)}"
        yield flow_problem(flow, message, "/parameters", 'write [{"name": …, "description": …}]')
        return
    names: set[str] = set()
    for index, parameter in enumerate(parameters):
        pointer = f"/parameters/{index}"
        name = parameter.get("name") if isinstance(parameter, dict) else None
        if not isinstance(parameter, dict) or not isinstance(name, str) or not name.strip():
            hint = 'write {"name": "amount", "description": …}'
            yield flow_problem(flow, "a parameter without a name", pointer, hint)
            continue
        if name in names:
            message = f'the parameter "{name}" is declared more than once'
            yield flow_problem(flow, message, pointer + "/name", "remove or rename one")
        names.add(name)
        yield from _parameter(flow, name, parameter, pointer)


def _parameter(flow: Flow, name: str, raw: dict[str, Any], pointer: str) -> Iterator[Problem]:
    kind = raw.get("type", "string")
    if kind not in PARAMETER_TYPES:
        hint = did_you_mean(str(kind), PARAMETER_TYPES) or f"use {', '.join(PARAMETER_TYPES)}"
        message = f'unknown type "{kind}" of parameter "{name}"'
        yield flow_problem(flow, message, pointer + "/type", hint, "warning")
    internal = raw.get("internal")
    if internal is not None and not isinstance(internal, bool):
        message = f'`internal` of parameter "{name}" must be true or false'
        yield flow_problem(flow, message, pointer + "/internal", "write it without quotes")
    if "enum" in raw:
        yield from _enum(flow, name, raw["enum"], kind, pointer + "/enum")


def _enum(flow: Flow, name: str, enum: Any, kind: Any, pointer: str) -> Iterator[Problem]:
    if kind != "string":
        message = f'`enum` of "{name}": allowed only on a string parameter, this is {kind}'
        yield flow_problem(flow, message, pointer, "make its type string or remove `enum`")
    if not isinstance(enum, list) or not enum:
        message = f'`enum` of "{name}" must be a non-empty array of texts'
        yield flow_problem(flow, message, pointer, 'write ["Fraud", "Cancellation"]')
        return
    folded: set[str] = set()
    for index, value in enumerate(enum):
        at = f"{pointer}/{index}"
        if not isinstance(value, str) or not value.strip():
            message = f'a value in `enum` of "{name}" is not a non-empty string'
            yield flow_problem(flow, message, at, "write it as a text in quotes")
            continue
        if value != value.strip():
            message = f'"{value}" in `enum` of "{name}" begins or ends with whitespace'
            yield flow_problem(flow, message, at, f'write "{value.strip()}"')
        elif value.casefold() in folded:
            message = f'"{value}" stands twice in `enum` of "{name}", ignoring case'
            yield flow_problem(flow, message, at, "values are compared ignoring case; remove one")
        folded.add(value.strip().casefold())


# ------------------------------------------------------------------ variables


def _variables(flow: Flow) -> Iterator[Problem]:
    declared = flow.raw.get("variables")
    if declared is None:
        return
    if not isinstance(declared, dict):
        message = f"`variables` must be an object, this is {kind_of(declared)}"
        yield flow_problem(flow, message, "/variables", 'write {"amount": {"type": "number"}}')
        return
    for name, raw in declared.items():
        pointer = join("/variables", name)
        if not isinstance(raw, dict):
            message = f'the variable "{name}" must be described by an object, not {kind_of(raw)}'
            yield flow_problem(flow, message, pointer, 'write {"type": "string", "value": …}')
        else:
            yield from _variable(flow, flow.variables[name], raw, pointer)


def _variable(
    flow: Flow, variable: Variable, raw: dict[str, Any], pointer: str
) -> Iterator[Problem]:
    name, kind = variable.name, raw.get("type")
    if kind is None:
        hint = f"use one of {', '.join(VARIABLE_TYPES)}"
        yield flow_problem(flow, f'the variable "{name}" has no `type`', pointer, hint, "warning")
    elif kind not in VARIABLE_TYPES:
        hint = did_you_mean(str(kind), VARIABLE_TYPES) or f"use {', '.join(VARIABLE_TYPES)}"
        message = f'unknown type "{kind}" of variable "{name}"'
        yield flow_problem(flow, message, pointer + "/type", hint, "warning")
    elif variable.value is not UNDEFINED and variable.value is not None:
        yield from _default(flow, variable, pointer)
    scope = raw.get("scope")
    if scope is not None and scope not in VARIABLE_SCOPES:
        hint = did_you_mean(str(scope), VARIABLE_SCOPES) or f"use {', '.join(VARIABLE_SCOPES)}"
        message = f'unknown scope "{scope}" of variable "{name}"'
        yield flow_problem(flow, message, pointer + "/scope", hint, "warning")


def _default(flow: Flow, variable: Variable, pointer: str) -> Iterator[Problem]:
    value, kind = variable.value, variable.type
    if matches_type(value, kind):
        return
    message = (
        f'the variable "{variable.name}" is declared {kind}, but its value is {kind_of(value)}'
    )
    hint = f"write a {kind}, or change `type`"
    if kind == "boolean" and isinstance(value, str):
        message += f': the text "{value}" counts as {"true" if value else "false"} in conditions'
        hint = "write true or false without quotes"
    yield flow_problem(flow, message, pointer + "/value", hint, "warning")
