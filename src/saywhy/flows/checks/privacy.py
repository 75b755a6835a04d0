"""What is wrong with what is declared as sensitive: `pii` where it can do nothing, unknown names.

A declaration that hides nothing is worse than none, because its author relies on it. What the right
ones do is `flows.privacy`'s and `trace.masking`'s.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from saywhy.errors import Problem, did_you_mean
from saywhy.expr.template import parse_template
from saywhy.flows.checks.flow import flow_problem
from saywhy.flows.checks.spot import Known, Spot
from saywhy.flows.checks.tools import tool_problem
from saywhy.flows.model import Flow, Library, ToolDefinition
from saywhy.flows.privacy import ASKING, OUTER, WRITING
from saywhy.flows.read_flow import kind_of, list_of, object_of
from saywhy.flows.source import join

_YES: Final = "write true, or leave it out"
_DEEPEST: Final = 12


def check_privacy(flow: Flow, library: Library, known: Known) -> Iterator[Problem]:
    """Every problem of what a flow declares of its variables, parameters and paths."""
    for name, raw in object_of(flow.raw.get("variables")).items():
        yield from _flag(flow, raw, join("/variables", name), f'variable "{name}"')
        fields = object_of(raw)
        if fields.get("pii") is True and fields.get("value") not in (None, ""):
            message = f'the default of the sensitive variable "{name}" stands in this file'
            hint = "whoever reads the flow reads it: leave the default out, or `pii`"
            pointer = join("/variables", name, "value")
            yield flow_problem(flow, message, pointer, hint, "warning")
    for number, raw in enumerate(list_of(flow.raw.get("parameters"))):
        name = object_of(raw).get("name")
        yield from _flag(flow, raw, join("/parameters", number), f'parameter "{name}"')
    yield from _paths(flow, library, known)


def _flag(flow: Flow, raw: Any, pointer: str, what: str) -> Iterator[Problem]:
    written = object_of(raw).get("pii")
    if written is not None and not isinstance(written, bool):
        message = f"`pii` of {what} must be true or false, not {kind_of(written)}"
        yield flow_problem(flow, message, pointer + "/pii", _YES)


def _paths(flow: Flow, library: Library, known: Known) -> Iterator[Problem]:
    written = flow.raw.get("pii")
    if written is None:
        return
    if not isinstance(written, list):
        message = f"`pii` of a flow must be a list of paths, this is {kind_of(written)}"
        yield flow_problem(flow, message, "/pii", 'write ["cargo.customer.ssn"]')
        return
    names = _names(flow, library)
    for number, path in enumerate(written):
        pointer = join("/pii", number)
        if not isinstance(path, str) or not all(path.split(".")):
            message = f"a path in `pii` must be a text, not {kind_of(path)}"
            if isinstance(path, str):
                message = f'"{path}" in `pii` is no path'
            yield flow_problem(flow, message, pointer, 'write "cargo.customer.ssn" or a variable')
            continue
        yield from _path(flow, known, path, pointer, names)


def _path(
    flow: Flow, known: Known, path: str, pointer: str, names: tuple[str, ...]
) -> Iterator[Problem]:
    root, *rest = path.split(".")
    if root in OUTER:
        if not rest:
            message = f"`pii` names all of {root}, which nothing could be explained with"
            yield flow_problem(flow, message, pointer, f'name what is sensitive: "{root}.ssn"')
        there = known.cargo if root == "cargo" else known.globals
        if rest and there is not None and rest[0] not in there:
            message = f'nobody hands over "{root}.{rest[0]}"'
            hint = did_you_mean(rest[0], sorted(there)) or "the declaration hides nothing"
            yield flow_problem(flow, message, pointer, hint, "warning", tuple(sorted(there)))
        return
    if rest:
        message = f'"{path}" leads into a variable, and a variable is sensitive as a whole'
        yield flow_problem(flow, message, pointer, f'write "{root}"')
    elif root not in names:
        message = f'no variable of this flow is called "{root}", so `pii` hides nothing'
        hint = did_you_mean(root, names) or "name a variable, or a path such as cargo.ssn"
        yield flow_problem(flow, message, pointer, hint, known_names=names)


def _names(flow: Flow, library: Library) -> tuple[str, ...]:
    """Every variable that some step of the library may set, those of this flow first."""
    found = dict.fromkeys([*flow.variables, *(one.name for one in flow.parameters)])
    for each in (flow, *library.flows):
        for step in each.walk():
            if isinstance(step.raw.get("variable"), str):
                found[step.raw["variable"]] = None
            found |= dict.fromkeys(object_of(step.raw.get("parameters")))
    return tuple(found)


# ------------------------------------------------------------------ steps


def check_step_privacy(spot: Spot) -> Iterator[Problem]:
    """What is wrong with `pii` on a step; on questions it is checked with them."""
    kind, written = spot.step.type, spot.get("pii")
    if written is None or kind in ASKING or kind in ("DISPATCH", "FORM"):
        return
    if kind not in WRITING:
        message = f"`pii` means nothing on {kind}: it says and writes nothing"
        hint = "put it on the variable that is sensitive, or on the step that sets it"
        yield spot.problem(message, "pii", hint=hint, severity="warning", at_key=True)
    elif not isinstance(written, bool):
        message = f"`pii` of a {kind} step must be true or false, not {kind_of(written)}"
        yield spot.problem(message, "pii", hint=_YES)
    elif written and _says_only_itself(spot):
        message = "`pii` hides a value that stands in this file"
        hint = "nothing of the user's is in it: leave `pii` out"
        yield spot.problem(message, "pii", hint=hint, severity="warning", at_key=True)


def _says_only_itself(spot: Spot) -> bool:
    value = spot.get("value")
    if spot.step.type == "SAY":
        texts = [one for key, one in spot.step.raw.items() if key.partition("_")[0] == "value"]
        return all(isinstance(one, str) and not parse_template(one).holes for one in texts)
    return spot.step.type == "SET" and value is not None and not isinstance(value, str)


# ------------------------------------------------------------------ tools


def check_tool_privacy(tool: ToolDefinition) -> Iterator[Problem]:
    """What is wrong with `pii` in a tool's schemas."""
    if tool.raw.get("pii") is not None:
        message = f"`pii` means nothing on the tool {tool.id} itself"
        hint = (
            "put it on properties of `parameters` and `returns`, "
            "or hide all of it: security.dataClassification restricted"
        )
        yield tool_problem(tool, message, "/pii", hint)
    for part in ("parameters", "schema", "returns"):
        yield from _schema(tool, tool.raw.get(part), f"/{part}", 0)


def _schema(
    tool: ToolDefinition, schema: Any, pointer: str, depth: int, *, hidden: bool = False
) -> Iterator[Problem]:
    """`hidden`: it is a part of something that is sensitive as a whole."""
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return
    written = schema.get("pii")
    if written is not None and not isinstance(written, bool | Mapping):
        message = f"`pii` in the tool {tool.id} must be true or false, not {kind_of(written)}"
        yield tool_problem(tool, message, f"{pointer}/pii", _YES)
    if written is False and hidden:
        message = f"`pii` false in the tool {tool.id} does nothing: what is around it is sensitive"
        hint = "put `pii` on the properties beside it, and take it away from around them"
        yield tool_problem(tool, message, f"{pointer}/pii", hint, "warning")
    hidden = hidden or written is True
    properties = schema.get("properties")
    for name, inner in properties.items() if isinstance(properties, Mapping) else ():
        at = pointer + join("/properties", name)
        yield from _schema(tool, inner, at, depth + 1, hidden=hidden)
    yield from _schema(tool, schema.get("items"), pointer + "/items", depth + 1, hidden=hidden)


__all__ = ["check_privacy", "check_step_privacy", "check_tool_privacy"]
