"""The declarative pieces of the agent corpus as what they stand for.

Predicates, rules, follow-ups, contexts, overrides, templates and tools, each made of its JSON.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from saywhy.agent.instructions.agent_rule import AgentInstruction
from saywhy.agent.instructions.context import InstructionContext
from saywhy.agent.instructions.follow_up import (
    FollowUpBinding,
    ResolvedFollowUp,
    follow,
    quick_bind,
    resolved_runtime,
)
from saywhy.agent.instructions.render import InstructionTemplate
from saywhy.agent.instructions.rule import (
    InstructionOverride,
    LLMInstruction,
    ResolvedInstruction,
)
from saywhy.agent.tools import AgentTool, ask_human, define_tool
from saywhy.tools.tool_result import ToolResult
from saywhy.values import dumps, thaw

ABSENT: Any = object()
"""What a path gives that leads to nothing."""

CONTEXT_PARTS = ("content", "tool_id", "error", "latency_ms", "input")


# ------------------------------------------------------------------ paths and predicates


def walk(root: Any, path: str) -> Any:
    """What stands at `path`; `ABSENT` for a last key that is missing. Raises on the way there."""
    at = root
    for key in path.split("."):
        if at is ABSENT or at is None:
            raise TypeError(f"cannot read {key} of nothing")
        at = _step(at, key)
    return at


def _step(at: Any, key: str) -> Any:
    if isinstance(at, InstructionContext):
        found = getattr(at, key) if key in CONTEXT_PARTS else ABSENT
        return ABSENT if found is None and key == "error" else found
    if isinstance(at, Mapping):
        return at.get(key, ABSENT)
    if isinstance(at, list | tuple) and key.isdecimal() and int(key) < len(at):
        return at[int(key)]
    return ABSENT


def predicate(spec: Any) -> Callable[[Any], bool] | None:
    """A function of the root; None where the case has none."""
    return None if spec is None else predicate_of(spec)


def predicate_of(spec: Mapping[str, Any]) -> Callable[[Any], bool]:
    """The function of a predicate that is there."""
    return lambda root: holds(spec, root)


def holds(spec: Mapping[str, Any], root: Any) -> bool:
    """Whether a predicate is true of `root`."""
    if "const" in spec:
        return spec["const"]
    if "raise" in spec:
        raise RuntimeError(spec["raise"])
    if "all" in spec:
        return all(holds(one, root) for one in spec["all"])
    if "any" in spec:
        return any(holds(one, root) for one in spec["any"])
    if "not" in spec:
        return not holds(spec["not"], root)
    return OPERATORS[spec["op"]](walk(root, spec["path"]), spec.get("value"))


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return one is not ABSENT and bool(one == other)


def _number(value: Any) -> float:
    """A value as a number, as comparisons of the recorded system took it."""
    if value is None:
        return 0.0
    if isinstance(value, bool | int | float):
        return float(value)
    try:
        return float(value.strip() or 0) if isinstance(value, str) else math.nan
    except ValueError:
        return math.nan


def _compared(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def of_two(one: Any, other: Any) -> bool:
        if isinstance(one, str) and isinstance(other, str):
            return compare(one, other)
        return compare(_number(one), _number(other))

    return of_two


def _contains(one: Any, other: Any) -> bool:
    if isinstance(one, str):
        return isinstance(other, str) and other in one
    return isinstance(one, list | tuple) and any(_equal(item, other) for item in one)


def _truthy(one: Any, _other: Any) -> bool:
    if one is ABSENT or one is None:
        return False
    if isinstance(one, list | tuple | Mapping):
        return True
    return bool(one) and not (isinstance(one, float) and math.isnan(one))


OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": _equal,
    "ne": lambda one, other: not _equal(one, other),
    "gt": _compared(lambda one, other: one > other),
    "gte": _compared(lambda one, other: one >= other),
    "lt": _compared(lambda one, other: one < other),
    "lte": _compared(lambda one, other: one <= other),
    "in": lambda one, other: any(_equal(one, item) for item in other),
    "contains": _contains,
    "truthy": _truthy,
    "exists": lambda one, _other: one is not ABSENT and one is not None,
}


# ------------------------------------------------------------------ rules


def instruction(spec: Mapping[str, Any]) -> LLMInstruction:
    """A rule about results."""
    return LLMInstruction(spec["id"], **fields(spec))


def fields(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Those fields of a rule that `spec` names, for a rule or for a change of one."""
    made: dict[str, Any] = {}
    for name in ("description", "text", "priority", "safety"):
        if name in spec:
            made[name] = spec[name]
    for name, build in (("when", predicate), ("follow_up", follow_up), ("decide", decide)):
        if name in spec:
            made[name] = build(spec[name])
    return made


def instructions(specs: Any) -> list[LLMInstruction] | None:
    """A list of rules; None where the case has none."""
    return None if specs is None else [instruction(spec) for spec in specs]


def follow_up(spec: Any) -> FollowUpBinding | None:
    """A follow-up in any of its three forms."""
    if spec is None:
        return None
    if "quick_bind" in spec:
        short = spec["quick_bind"]
        return quick_bind(short["tool_id"], short["names"], **(short.get("options") or {}))
    if "follow" in spec:
        short = spec["follow"]
        condition = short.get("condition", "")
        return follow(short["tool_id"], params(short["params"]), short["description"], condition)
    return FollowUpBinding(
        spec["tool_id"],
        params(spec["params"]),
        spec["description"],
        spec["condition"],
        strict=spec.get("strict", False),
        matcher=matcher(spec.get("matcher")),
    )


def params(spec: Mapping[str, Any]) -> Callable[[InstructionContext], dict[str, Any]]:
    """Arguments filled from a context."""

    def fill(ctx: InstructionContext) -> dict[str, Any]:
        if isinstance(spec.get("raise"), str):
            raise RuntimeError(spec["raise"])
        found = {name: drawn(one, ctx) for name, one in spec.items()}
        return {name: value for name, value in found.items() if value is not ABSENT}

    return fill


def drawn(spec: Mapping[str, Any], ctx: InstructionContext) -> Any:
    """One value, written out or by its path."""
    return walk(ctx, spec["path"]) if "path" in spec else spec["value"]


def matcher(spec: Any) -> Callable[[str], bool] | None:
    """A matcher of messages."""
    return None if spec is None else lambda message: holds(spec, {"message": message})


def decide(spec: Any) -> Callable[[Any, InstructionContext], None] | None:
    """What changes the decision."""
    if spec is None:
        return None

    def change(decision: dict[str, Any], ctx: InstructionContext) -> None:
        if "raise" in spec:
            raise RuntimeError(spec["raise"])
        for name, one in spec["set"].items():
            value = drawn(one, ctx)
            if value is ABSENT:
                decision.pop(name, None)
            else:
                decision[name] = thaw_view(value)

    return change


def thaw_view(value: Any) -> Any:
    """A plain copy of what a condition or `decide` looks at."""
    return value.copy() if isinstance(value, dict | list) else value


def ctx(spec: Mapping[str, Any]) -> InstructionContext:
    """A result as rules see it."""
    return InstructionContext(
        spec.get("content"),
        spec.get("tool_id", ""),
        error=spec.get("error"),
        latency_ms=spec.get("latency_ms", 0),
        input=spec.get("input"),
    )


def override(spec: Any) -> InstructionOverride | None:
    """What an agent changes about a tool's rules."""
    if spec is None:
        return None
    return InstructionOverride(
        suppress=spec.get("suppress") or (),
        replace={name: fields(one) for name, one in (spec.get("replace") or {}).items()},
        add=instructions(spec.get("add")) or (),
    )


def template(spec: Any) -> InstructionTemplate | None:
    """Other words for what the model is told."""
    if spec is None:
        return None
    text, action, join = (
        spec.get(name) for name in ("text_format", "follow_up_format", "block_join")
    )

    def said(given: str) -> str:
        return text.replace("{text}", given)

    def offered(given: ResolvedFollowUp) -> str:
        named = action.replace("{tool_id}", given.tool_id)
        return named.replace("{description}", given.description)

    return InstructionTemplate(
        format_text=None if text is None else said,
        format_follow_up=None if action is None else offered,
        format_block=None if join is None else join.join,
    )


def resolved(spec: Mapping[str, Any]) -> ResolvedInstruction:
    """A rule that has fired."""
    offer = spec.get("follow_up")
    return ResolvedInstruction(
        spec["id"],
        spec.get("text"),
        None if offer is None else resolved_runtime(offer),
        spec.get("safety", False),
        spec.get("priority", 0),
    )


def runtime(spec: Any) -> ToolResult | None:
    """What a handler says besides its text."""
    if spec is None:
        return None
    return ToolResult(
        "", instructions=tuple(spec.get("instructions") or ()), follow_ups=_offers(spec)
    )


def _offers(spec: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(spec.get("follow_ups") or ())


# ------------------------------------------------------------------ the agent's own


def agent_instruction(spec: Mapping[str, Any]) -> AgentInstruction:
    """An instruction of the agent."""
    return AgentInstruction(
        spec["id"],
        active_when=predicate(spec.get("active_when")),
        prompt=spec.get("prompt"),
        tools=[tool(one) for one in spec.get("tools") or ()],
        on_tool_result=instructions(spec.get("on_tool_result")) or (),
        priority=spec.get("priority", 0),
        safety=spec.get("safety", False),
    )


def agent_instructions(specs: Any) -> list[AgentInstruction] | None:
    """A list of them; None where the case has none."""
    return None if specs is None else [agent_instruction(spec) for spec in specs]


def tool(spec: Mapping[str, Any]) -> AgentTool:
    """A tool that behaves as the case says."""
    if spec.get("ask_human"):
        return ask_human(spec.get("description"))
    return define_tool(
        spec["id"],
        spec.get("description", ""),
        spec.get("input_schema") or {},
        behaviour(spec.get("behavior")),
        instructions=instructions(spec.get("instructions")) or (),
    )


def behaviour(spec: Any) -> Callable[[Mapping[str, Any]], Any]:
    """A handler; one with a sequence goes through it, and stays at its end."""
    steps: list[Any] = list(spec["sequence"]) if spec and "sequence" in spec else [spec]

    def handle(arguments: Mapping[str, Any]) -> Any:
        step = steps.pop(0) if len(steps) > 1 else steps[0]
        return behaved(step, arguments)

    return handle


def behaved(spec: Any, arguments: Mapping[str, Any]) -> Any:
    """What one call comes to."""
    if not spec:
        return "ok"
    if "raise" in spec:
        raise RuntimeError(spec["raise"])
    if "return" in spec:
        return spec["return"]
    if "return_json" in spec:
        return dumps(spec["return_json"]).decode()
    if "echo_args" in spec:
        return dumps(thaw(arguments)).decode()
    said = spec["result"]
    return ToolResult(
        said["content"],
        error=said.get("error", False),
        instructions=tuple(said.get("instructions") or ()),
        follow_ups=_offers(said),
    )
