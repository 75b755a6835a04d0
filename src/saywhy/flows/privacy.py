"""What flows and tools declare as sensitive: `pii` on steps, variables, parameters, tools, paths.

Read off the definitions once, when an engine is made. What follows while a conversation runs is
`trace.masking.taint`'s, and whether a declaration makes sense is `checks.privacy`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from saywhy.expr.template import parse_template, path_of
from saywhy.flows.corrections.settings import spaced, spoken_names
from saywhy.flows.model import Flow, Step
from saywhy.flows.read_flow import list_of, object_of
from saywhy.tools.tool import Tool
from saywhy.trace.masking.declared import NOTHING, Declared, Spot
from saywhy.values import Key

WRITING: Final = frozenset(["SAY", "SET", "CALL-TOOL", "FLOW", "AGENT", "RETURN"])
"""Steps on which `pii` means that what they say, write or are answered is sensitive."""
ASKING: Final = frozenset(["SAY-GET"])
"""Steps on which it means that the user's answer is; a form has it on its inputs."""
OUTER: Final = ("cargo", "globals")
"""How a path begins that leads to no variable of the flow."""
SENSITIVE_ANSWERS: Final = "sensitive"
"""In a chart's `meta`: what people call each thing that the flow asks for as sensitive."""
_DEEPEST: Final = 12


def is_on(setting: Any) -> bool:
    """Whether a declaration says yes, as far as can be told beforehand: a condition may."""
    return setting is True or (isinstance(setting, str) and bool(setting.strip()))


def sensitive_names(flow: Flow) -> frozenset[str]:
    """The variables and parameters that a flow declares as sensitive."""
    listed = (path for path in paths_of(flow) if path[0] not in OUTER)
    return frozenset([*_declared(flow), *(str(path[0]) for path in listed if len(path) == 1)])


def _declared(flow: Flow) -> Iterator[str]:
    for name, item in object_of(flow.raw.get("variables")).items():
        if is_on(object_of(item).get("pii")):
            yield name
    for item in list_of(flow.raw.get("parameters")):
        fields = object_of(item)
        if is_on(fields.get("pii")) and isinstance(fields.get("name"), str):
            yield fields["name"]


def paths_of(flow: Flow) -> Iterator[Spot]:
    """The paths in the flow's own list `pii`."""
    for item in list_of(flow.raw.get("pii")):
        if isinstance(item, str) and item.strip():
            yield tuple(item.strip().split("."))


def asks_for(flow: Flow, spec: dict[str, Any]) -> dict[str, Any]:
    """The step, with `pii` where the question is for a variable that is declared so."""
    names = sensitive_names(flow)
    if not names:
        return spec
    if spec.get("type") == "SAY-GET" and spec.get("variable") in names:
        return {**spec, "pii": True}
    inputs = spec.get("inputs")
    if spec.get("type") != "FORM" or not isinstance(inputs, list):
        return spec
    return {**spec, "inputs": [_input(entry, names) for entry in inputs]}


def _input(entry: Any, names: frozenset[str]) -> Any:
    if isinstance(entry, dict) and (entry.get("variable") or entry.get("name")) in names:
        return {**entry, "pii": True}
    return entry


def asked_names(flow: Flow) -> dict[str, Mapping[str, list[str]]]:
    """What people call each thing that the flow asks for as sensitive, by language."""
    found: dict[str, Mapping[str, list[str]]] = {}
    known = spoken_names(flow)
    for step in flow.walk():
        for entry in _questions(step, asks_for(flow, step.raw)):
            name = entry.get("variable") or entry.get("name")
            if isinstance(name, str) and name:
                found[name] = known.get(name) or {"": [spaced(name), *_label(entry)]}
    return found


def _label(entry: Mapping[str, Any]) -> list[str]:
    label = entry.get("label")
    return [label] if isinstance(label, str) and label.strip() else []


# ------------------------------------------------------------------ all of it


def declared_in(flows: Iterable[Flow], tools: Iterable[Tool]) -> Declared:
    """Everything that is declared, in the form in which records are masked by it."""
    given, offered = tuple(flows), tuple(tools)
    variables = {flow.name or flow.id: sensitive_names(flow) for flow in given}
    steps = [(flow.name or flow.id, step) for flow in given for step in flow.walk()]
    found = Declared(
        {name: names for name, names in variables.items() if names},
        frozenset((name, step.pointer) for name, step in steps if _writes(step)),
        any(_questions(step, step.raw) for _, step in steps),
        tuple(dict.fromkeys(_outer_paths(given))),
        dict(_spots(offered, "schema")),
        dict(_spots(offered, "returns")),
        dict(_spots(offered, "returns", pii=False)),
    )
    if not found:
        return NOTHING
    return replace(found, parts=parts_of(given))


def parts_of(flows: Iterable[Flow]) -> dict[tuple[str, str], dict[str, tuple[Spot, ...]]]:
    """For each step that hands values on by name, which paths each of them is made of."""
    made: dict[tuple[str, str], dict[str, tuple[Spot, ...]]] = {}
    for flow in flows:
        for step in flow.walk():
            key = {"FLOW": "parameters", "CALL-TOOL": "args"}.get(step.type)
            given = object_of(step.raw.get(key)) if key else {}
            named = {name: tuple(_paths_in(v)) for name, v in given.items() if "{{" not in name}
            if named:
                made[flow.name or flow.id, step.pointer] = named
    return made


def _writes(step: Step) -> bool:
    return step.type in WRITING and is_on(step.raw.get("pii"))


def _questions(step: Step, spec: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The step, or those of its inputs, that ask for something sensitive.

    `spec` is the step as written, or as it counts.
    """
    entries = list_of(spec.get("inputs")) if step.type == "FORM" else ()
    asking = [spec] if step.type in ASKING else entries
    return [entry for entry in map(object_of, asking) if is_on(entry.get("pii"))]


def _outer_paths(flows: Iterable[Flow]) -> Iterator[Key]:
    for flow in flows:
        for path in paths_of(flow):
            if path[0] in OUTER and len(path) > 1:
                yield path


def _paths_in(value: Any) -> Iterator[Spot]:
    if isinstance(value, str):
        for hole in parse_template(value).holes:
            path = path_of(hole.source)
            if path is not None:
                yield path
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _paths_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _paths_in(inner)


# ------------------------------------------------------------------ tools


def _spots(
    tools: Iterable[Tool], part: str, *, pii: bool = True
) -> Iterator[tuple[str, tuple[Spot, ...]]]:
    for tool in tools:
        schema = tool.shown_schema if part == "schema" else tool.returns
        found = tuple(sensitive_spots(schema) if pii else harmless_spots(schema))
        if found:
            yield tool.id, found
            yield tool.name, found


def sensitive_spots(schema: Any, spot: Spot = ()) -> Iterator[Spot]:
    """Where in a value of this JSON schema `pii` stands; items of a list are one place."""
    if not isinstance(schema, Mapping) or len(spot) > _DEEPEST:
        return
    if is_on(schema.get("pii")):
        yield spot
        return
    properties = schema.get("properties")
    for name, inner in properties.items() if isinstance(properties, Mapping) else ():
        yield from sensitive_spots(inner, (*spot, name))
    if "items" in schema:
        yield from sensitive_spots(schema["items"], spot)


def harmless_spots(schema: Any, spot: Spot = ()) -> Iterator[Spot]:
    """Where in a value of this JSON schema `pii` is false, outside of what is sensitive as a
    whole."""
    if not isinstance(schema, Mapping) or len(spot) > _DEEPEST or is_on(schema.get("pii")):
        return
    if schema.get("pii") is False:
        yield spot
        return
    properties = schema.get("properties")
    for name, inner in properties.items() if isinstance(properties, Mapping) else ():
        yield from harmless_spots(inner, (*spot, name))
    if "items" in schema:
        yield from harmless_spots(schema["items"], spot)
