"""One flow as plain data → `Flow`; steps inside steps become `Step` values.

Nothing is refused here but what cannot be held at all (a step that is no object); everything an
author got wrong otherwise stays as written, for `check` to judge. Which files hold flows is left
to `load`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeGuard

from saywhy.errors import Place, Problem
from saywhy.flows.model import (
    DEFAULT_VERSION,
    Flow,
    Parameter,
    Step,
    ToolDefinition,
    Variable,
    place_in,
)
from saywhy.flows.source import SourceMap, join
from saywhy.values import UNDEFINED

BRANCHING = frozenset({"CASE", "SWITCH"})


def read_flow(
    raw: dict[str, Any], place: Place, source: SourceMap | None, problems: list[Problem]
) -> Flow:
    """The flow at `place`; what it cannot hold is reported and left out."""
    flow_id, name = text_of(raw.get("id")), text_of(raw.get("name"))
    reader = _StepReader(place, source, flow_id or name, problems)
    steps = raw.get("steps")
    return Flow(
        id=flow_id or name,
        name=name or flow_id,
        steps=reader.steps(steps, "/steps") if isinstance(steps, list) else (),
        prompts=_prompts(raw),
        description=text_of(raw.get("description")),
        version=text_of(raw.get("version")) or DEFAULT_VERSION,
        primary=raw.get("primary") is True,
        interruptable=raw.get("interruptable") is True,
        parameters=tuple(_parameters(raw.get("parameters"))),
        parameter_instructions=text_of(raw.get("parameterInstructions")),
        scope="isolated" if raw.get("scope") == "isolated" else "shared",
        wraps=text_of(raw.get("wraps")),
        variables={variable.name: variable for variable in _variables(raw.get("variables"))},
        metadata=object_of(raw.get("metadata")),
        raw=raw,
        place=place,
        source=source,
    )


def read_tool(raw: dict[str, Any], place: Place, source: SourceMap | None) -> ToolDefinition:
    """The tool at `place`."""
    tool_id, name = text_of(raw.get("id")), text_of(raw.get("name"))
    return ToolDefinition(tool_id or name, name or tool_id, raw, place, source)


def text_of(value: Any) -> str:
    """A name as text: numbers count as written (YAML's `id: 7`), other values as absent."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


class _StepReader:
    """Reads the steps of one flow; knows where the flow stands."""

    def __init__(
        self, place: Place, source: SourceMap | None, flow: str, problems: list[Problem]
    ) -> None:
        self.place = place
        self.source = source
        self.flow = flow
        self.problems = problems

    def steps(self, items: list[Any], pointer: str) -> tuple[Step, ...]:
        read = (self.step(item, f"{pointer}/{index}") for index, item in enumerate(items))
        return tuple(step for step in read if step is not None)

    def step(self, raw: Any, pointer: str, *, in_branch: bool = False) -> Step | None:
        place = place_in(self.source, self.place, pointer)
        if not isinstance(raw, dict):
            message = f"a step must be an object, this is {kind_of(raw)}"
            hint = 'write {"id": …, "type": "SAY", …}'
            if in_branch and isinstance(raw, list):
                message = "a branch holds one step, this is a list"
                hint = "put the steps into a flow of their own and go there with a FLOW step"
            self.problems.append(Problem(message, place, hint, flow=self.flow))
            return None
        written = raw.get("type")
        step_type = written if isinstance(written, str) else ""
        return Step(
            id=text_of(raw.get("id")),
            type=step_type,
            raw=raw,
            pointer=pointer,
            place=place,
            branches=tuple(self.branches(raw, pointer)) if step_type in BRANCHING else (),
            on_fail=self.rescue(raw.get("onFail"), pointer + "/onFail"),
            on_silence=self.rescue(
                object_of(raw.get("timeout")).get("then"), join(pointer, "timeout", "then")
            ),
            on_unknown=self.rescue(raw.get("onUnknown"), pointer + "/onUnknown"),
            on_decline=self.rescue(raw.get("onDecline"), pointer + "/onDecline"),
            submit=self.submit(raw, pointer) if step_type == "FORM" else None,
            fallbacks=dict(self.fallbacks(raw.get("retryOnConditions"), pointer)),
        )

    def branches(self, raw: dict[str, Any], pointer: str) -> Iterator[tuple[str, Step]]:
        branches = raw.get("branches")
        if not isinstance(branches, dict):
            return
        for key in branch_order(raw):
            step = self.step(branches[key], join(pointer, "branches", key), in_branch=True)
            if step is not None:
                yield key, step

    def rescue(self, raw: Any, pointer: str) -> tuple[Step, ...]:
        if raw is None:
            return ()
        if isinstance(raw, list):
            return self.steps(raw, pointer)
        step = self.step(raw, pointer)
        return (step,) if step else ()

    def submit(self, raw: dict[str, Any], pointer: str) -> Step | None:
        """The call that a form ends with, as the step it would be if it stood by itself.

        How the form declares to end is how this call does: nothing is achieved before it.
        """
        given = raw.get("submit")
        if not isinstance(given, dict):
            return None
        kept = {key: raw[key] for key in ("outcome", "reason") if key in raw}
        named = {"id": f"{text_of(raw.get('id'))}_submit"}
        whole = {**kept, **named, **given, "type": "CALL-TOOL"}
        return self.step(whole, join(pointer, "submit"))

    def fallbacks(self, rules: Any, pointer: str) -> Iterator[tuple[int, Step]]:
        for index, rule in enumerate(list_of(rules)):
            if isinstance(rule, dict) and rule.get("fallbackStep") is not None:
                inside = join(pointer, "retryOnConditions", index, "fallbackStep")
                step = self.step(rule["fallbackStep"], inside)
                if step is not None:
                    yield index, step


def branch_order(raw: dict[str, Any]) -> list[str]:
    """The keys of a step's branches in the order in which they are tried.

    `_branchOrder` decides, since some stores forget the order of keys; keys it does not name
    follow as written.
    """
    branches: dict[str, Any] = raw["branches"]
    order = raw.get("_branchOrder")
    listed = [key for key in order if key in branches] if _is_texts(order) else []
    return list(dict.fromkeys([*listed, *branches]))


def kind_of(value: Any) -> str:
    """What a value is, in an author's words: "a list", "the number 5"."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"the number {value}"
    if isinstance(value, str):
        return "a text"
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, list) else f"a {type(value).__name__}"


def _is_texts(value: Any) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def list_of(value: Any) -> list[Any]:
    """A list as it is; anything else as an empty one."""
    return value if isinstance(value, list) else []


def object_of(value: Any) -> dict[str, Any]:
    """An object as it is; anything else as an empty one."""
    return value if isinstance(value, dict) else {}


def _prompts(raw: dict[str, Any]) -> dict[str, str]:
    prompts: dict[str, str] = {}
    for key, value in raw.items():
        if isinstance(value, str) and value and (key == "prompt" or key.startswith("prompt_")):
            prompts[key[len("prompt_") :]] = value
    return prompts


def _parameters(items: Any) -> Iterator[Parameter]:
    for item in list_of(items):
        if isinstance(item, dict) and isinstance(item.get("name"), str) and item["name"]:
            enum = item.get("enum")
            yield Parameter(
                item["name"],
                text_of(item.get("description")),
                text_of(item.get("type")) or "string",
                tuple(enum) if _is_texts(enum) else (),
                item.get("internal") is True,
            )


def _variables(declared: Any) -> Iterator[Variable]:
    for name, item in object_of(declared).items():
        fields = object_of(item)
        yield Variable(
            name,
            text_of(fields.get("type")),
            text_of(fields.get("scope")),
            fields.get("value", UNDEFINED),
            text_of(fields.get("description")),
        )
