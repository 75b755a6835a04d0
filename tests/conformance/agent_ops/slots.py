"""The operations of the corpus on what the slots are made of: arguments, strategies, prompts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from saywhy.agent.slots.context import SlotContext
from saywhy.agent.slots.offers import (
    composite_tools,
    dynamic_tools,
    gated_tools,
    no_tools,
    static_tools,
)
from saywhy.agent.slots.prompts import (
    Skill,
    composite_prompt,
    prompt_of,
    skills_prompt,
    template_prompt,
)
from saywhy.agent.slots.strategies import (
    char_budget,
    composite_strategy,
    full_history,
    sliding_window,
    summary,
    tool_pair_safety,
)
from saywhy.agent.tool_input import validate_tool_input
from saywhy.values import freeze, thaw
from tests.conformance.agent_ops.pieces import predicate_of, tool


def validate_input(given: Mapping[str, Any]) -> dict[str, Any]:
    """What the check before a handler finds."""
    check = validate_tool_input(given["args"], given["schema"])
    errors = [{"path": one.path, "message": one.message} for one in check.errors]
    return {"valid": check.valid, "errors": errors, "formatted": check.formatted}


def strategy(given: Mapping[str, Any]) -> dict[str, Any]:
    """What a message strategy keeps, and what it says about it."""
    resolved = strategy_in(given["strategy"]).prepare(freeze(given["messages"]), SlotContext())
    return {
        "messages": thaw(resolved.value),
        "chosen": resolved.chosen,
        "rationale": resolved.rationale,
    }


def strategy_in(given: Mapping[str, Any]) -> Any:
    """The strategy that a case describes."""
    return STRATEGIES[given["kind"]](given)


def _summary(given: Mapping[str, Any]) -> Any:
    def summarize(older: list[Any]) -> str:
        return str(given["summary"]).replace("{n}", str(len(older)))

    return summary(given["keep_last"], summarize)


STRATEGIES: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "full_history": lambda given: full_history(),
    "sliding_window": lambda given: sliding_window(given["max_messages"]),
    "char_budget": lambda given: char_budget(given["max_chars"]),
    "summary": _summary,
    "tool_pair_safety": lambda given: tool_pair_safety(strategy_in(given["inner"])),
    "composite": lambda given: composite_strategy(*map(strategy_in, given["inner"])),
}


def prompt(given: Mapping[str, Any]) -> dict[str, Any]:
    """What a prompt provider gives for a context."""
    told = given.get("ctx") or {}
    context = SlotContext(
        told.get("message", ""),
        turn_number=told.get("turn_number", 1),
        messages=freeze(told.get("history", [])),
    )
    resolved = prompt_in(given["provider"]).resolve(context)
    return {"value": resolved.value, "chosen": resolved.chosen, "rationale": resolved.rationale}


def prompt_in(given: Mapping[str, Any]) -> Any:
    """The provider that a case describes."""
    kind = given["kind"]
    if kind == "skills":
        skills = [
            Skill(one["id"], one["content"], _match(one.get("match"))) for one in given["skills"]
        ]
        return skills_prompt(skills, base=given.get("base", ""), fallback=given.get("fallback", ""))
    if kind == "template":
        variables = given.get("vars") or given.get("variables") or {}
        return template_prompt(given.get("template") or given.get("text", ""), **variables)
    if kind == "composite":
        parts = given.get("inner") or given.get("providers") or []
        separator = given.get("separator", "\n\n")
        return composite_prompt(*map(prompt_in, parts), separator=separator)
    if kind == "probe":
        return prompt_of(_probe)
    return prompt_of(given.get("text") or given.get("prompt") or given.get("value") or "")


def _probe(context: SlotContext) -> str:
    """What a provider is told. The cases keep the round of the loop under the name of the turn."""
    told = f"turn={context.loop_iteration} msg={context.message}"
    return f"{told} hist={len(context.history)}"


def tools_in(given: Mapping[str, Any]) -> Any:
    """The tool provider that a dialogue describes."""
    kind = given["kind"]
    if kind == "static":
        return static_tools(map(tool, given["tools"]))
    if kind == "gated":
        return gated_tools(tools_in(given["inner"]), given["allow"])
    if kind == "dynamic":
        return dynamic_tools(partial(_ruled, given["rules"]))
    if kind == "composite":
        return composite_tools(*map(tools_in, given.get("inner") or given["providers"]))
    return no_tools()


def _ruled(rules: list[Mapping[str, Any]], context: SlotContext) -> list[Any]:
    """The tools of the first rule whose round has come."""
    for rule in rules:
        if rule["min_iteration"] <= context.loop_iteration:
            return [tool(one) for one in rule["tools"]]
    return []


def _match(given: Any) -> Callable[[SlotContext], bool] | None:
    if given is None:
        return None
    holds = predicate_of(given)
    return lambda context: holds(context.as_mapping())


OPS = {"validate_input": validate_input, "strategy": strategy, "prompt": prompt}
