"""The application of a case: its engine, or its agent alone, made of what the file says.

Files leave out what every flow and tool has; it is added here. What conditions of instructions and
memories look at is written as data, and read by `conditions`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from saywhy import (
    Agent,
    Engine,
    InstructionOverride,
    LLMInstruction,
    MemoryStore,
    ScriptedModel,
    char_budget,
    define_instruction,
    define_tool,
    fact,
    flow_tool,
    follow,
    memory,
    quick_bind,
    rag,
    skill,
    sliding_window,
    steering,
    summary,
    token_budget,
)
from saywhy.agent.tools import AgentTool, agent_tool
from saywhy.testing import FakeClock
from saywhy.tools.tool import tool_from_definition
from tests.faults.conditions import condition, path_in, recalled, retriever
from tests.faults.functions import function_of

START_MS = 1_767_225_600_000.0


class Silent:
    """A logger for applications whose warnings are part of the fault."""

    def debug(self, text: str) -> None:
        """Nothing."""

    info = warn = error = debug


def engine_of(application: Mapping[str, Any], store: MemoryStore) -> Engine:
    """The engine of an application."""
    clock = FakeClock(START_MS)
    tools = dict(_of_flows(application))
    functions = {
        name: function_of(name, spec, clock)
        for name, spec in (application.get("functions") or {}).items()
    }
    local = {name: spec for name, spec in tools.items() if not _is_mock(spec)}
    functions |= {_called(name): _carried_out(name, spec, clock) for name, spec in local.items()}
    agents = [agent_of(name, application, clock) for name in application.get("agents") or {}]
    model = application.get("model")
    return Engine(
        flows=list(_flows(application.get("flows") or {})),
        tools=[_definition(name, spec) for name, spec in tools.items()],
        functions=functions,
        globals=application.get("globals"),
        model=None if model is None else ScriptedModel(model, clock),
        agents=agents or None,
        fallback_agent=application.get("fallback_agent"),
        messages=application.get("messages"),
        store=store,
        clock=clock,
        logger=Silent(),
        **{"guidance": {"enabled": False}, **(application.get("engine") or {})},
    )


def _flows(flows: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The flows with what the files leave out: the first one is primary."""
    for at, (name, flow) in enumerate(flows.items()):
        usual = {"id": name.lower(), "name": name, "version": "1.0", "prompt": name}
        yield {**usual, "description": f"Does {name}", "primary": at == 0, **flow}


# ------------------------------------------------------------------ tools


def _of_flows(application: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The tools that flows call: all but those that an agent brings."""
    agents = (application.get("agents") or {}).values()
    brought = {one for agent in agents for one in agent.get("tools") or () if isinstance(one, str)}
    for name, spec in (application.get("tools") or {}).items():
        if name not in brought:
            yield name, spec


_OURS = ("takes", "gives", "mapping", "table", "by", "calls", "python", "rules", "optional")


def _is_mock(spec: Mapping[str, Any]) -> bool:
    return "gives" in spec


def _carried_out(name: str, spec: Mapping[str, Any], clock: FakeClock) -> Any:
    """What a tool does. As a coroutine it needs no thread of its own, which takes a while."""
    made = function_of(name, spec, clock)

    async def carried_out(given: Any) -> Any:
        return made(given)

    return carried_out


def _called(name: str) -> str:
    """Its function: under a name that hides no variable from expressions."""
    return f"do_{name}".replace("-", "_")


def _definition(name: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    """The definition of a tool as a tool file has it."""
    given: dict[str, Any] = {"type": "local", "function": _called(name)}
    if _is_mock(spec):
        given = {"type": "mock", "mockResponse": spec["gives"]}
    if "mapping" in spec:
        given["responseMapping"] = spec["mapping"]
    usual = {
        "id": name,
        "name": name,
        "description": f"The tool {name}",
        "effect": "reads",
        "parameters": _schema(spec),
        "implementation": given,
    }
    return {**usual, **{key: value for key, value in spec.items() if key not in _OURS}}


def _schema(spec: Mapping[str, Any]) -> dict[str, Any]:
    """`takes` as a JSON schema: a type, or a type and a description behind a colon."""
    properties: dict[str, Any] = {}
    for name, said in (spec.get("takes") or {}).items():
        kind, _, told = said.partition(": ")
        properties[name] = {"type": kind, **({"description": told} if told else {})}
    optional = spec.get("optional") or ()
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required}


def _tool_for_agent(name: str, application: Mapping[str, Any], clock: FakeClock) -> AgentTool:
    spec = application["tools"][name]
    rules = [rule_of(one) for one in spec.get("rules") or ()]
    if _is_mock(spec):
        made = agent_tool(tool_from_definition(_definition(name, spec)))
        return AgentTool(made.tool, tuple(rules), made.input_schema)
    further = {key: spec[key] for key in ("approval", "cache") if key in spec}
    return define_tool(
        name,
        spec.get("description", f"The tool {name}"),
        _schema(spec),
        _carried_out(name, spec, clock),
        instructions=rules,
        effect=spec.get("effect", "reads"),
        **further,
    )


# ------------------------------------------------------------------ agents


def agent_of(name: str, application: Mapping[str, Any], clock: FakeClock) -> Agent:
    """An agent of an application."""
    spec = application["agents"][name]
    tools = [
        flow_tool(**one) if isinstance(one, dict) else _tool_for_agent(one, application, clock)
        for one in spec.get("tools") or ()
    ]
    return Agent(
        ScriptedModel(spec["script"], clock),
        name=name,
        system=spec.get("system", ""),
        tools=tools,
        pattern=spec.get("pattern", "regular"),
        instructions=[_instruction(one) for one in spec.get("instructions") or ()],
        injections=[_injection(one) for one in spec.get("injections") or ()],
        decision=spec.get("decision"),
        instruction_overrides={
            tool: _override(one) for tool, one in (spec.get("overrides") or {}).items()
        },
        message_strategy=_strategy(spec.get("strategy")),
        allow_unsafe=spec.get("allow_unsafe", False),
        clock=clock,
    )


def rule_of(spec: Mapping[str, Any]) -> LLMInstruction:
    """A rule about the answers of a tool."""
    fields = {key: spec[key] for key in ("text", "safety", "priority") if key in spec}
    if "when" in spec:
        fields["when"] = condition(spec["when"])
    if "decide" in spec:
        fields["decide"] = _decide(spec["decide"])
    if "follow_up" in spec:
        fields["follow_up"] = _follow_up(spec["follow_up"])
    return LLMInstruction(spec["id"], **fields)


def _decide(spec: Mapping[str, Any]) -> Any:
    """Fields of the decision: a value, or where it stands: `=content.status`."""

    def decide(decision: Any, context: Any) -> None:
        for name, said in spec.items():
            found = isinstance(said, str) and said.startswith("=")
            decision[name] = path_in(context, said[1:]) if found else said

    return decide


def _follow_up(spec: Mapping[str, Any]) -> Any:
    given = {key: spec[key] for key in ("description", "condition") if key in spec}
    strict = {"strict": True} if spec.get("strict") else {}
    if "names" in spec:
        return quick_bind(spec["tool"], spec["names"], **given, **strict)
    wanted = spec["params"]

    def params(context: Any) -> dict[str, Any]:
        return {name: path_in(context, path) for name, path in wanted.items()}

    return follow(spec["tool"], params, **given, **strict)


def _instruction(spec: Mapping[str, Any]) -> Any:
    fields = {key: spec[key] for key in ("prompt", "safety", "priority") if key in spec}
    if "active_when" in spec:
        fields["active_when"] = condition(spec["active_when"])
    rules = [rule_of(one) for one in spec.get("on_tool_result") or ()]
    return define_instruction(spec["id"], on_tool_result=rules, **fields)


def _override(spec: Mapping[str, Any]) -> InstructionOverride:
    changed = {
        name: {key: condition(value) if key == "when" else value for key, value in fields.items()}
        for name, fields in (spec.get("replace") or {}).items()
    }
    return InstructionOverride(suppress=spec.get("suppress") or (), replace=changed)


def _injection(spec: Mapping[str, Any]) -> Any:
    when = {"when": condition(spec["when"])} if "when" in spec else {}
    if "fact" in spec:
        return fact(spec["fact"], id=spec["id"], **when)
    if "steering" in spec:
        return steering(spec["steering"], id=spec["id"], **when)
    if "skill" in spec:
        return skill(spec["id"], spec["skill"], **when)
    if "memory" in spec:
        return memory(spec["memory"], id=spec["id"], **when)
    if "recall" in spec:
        return memory(recalled(spec["recall"]), id=spec["id"], **when)
    return rag(retriever(spec["rag"]), id=spec["id"], top_k=spec.get("top_k", 1), min_score=0)


def _strategy(spec: Mapping[str, Any] | None) -> Any:
    if not spec:
        return None
    [(name, value)] = spec.items()
    if name == "summary":
        return summary(value["keep_last"], lambda messages: value["says"])
    made = {"window": sliding_window, "chars": char_budget, "tokens": token_budget}
    return made[name](value)
