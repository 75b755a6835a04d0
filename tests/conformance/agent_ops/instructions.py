"""The operations about instructions, each on the public functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from saywhy.agent.hooks import InstructionsFired
from saywhy.agent.instructions.agent_rule import define_instruction, evaluate_agent_instructions
from saywhy.agent.instructions.evaluate import evaluate_instructions
from saywhy.agent.instructions.follow_up import ResolvedFollowUp
from saywhy.agent.instructions.inject import process_instructions
from saywhy.agent.instructions.match import default_condition_matcher
from saywhy.agent.instructions.merge import merge_runtime_instructions
from saywhy.agent.instructions.override import apply_instruction_overrides
from saywhy.agent.instructions.pending import PendingFollowUpManager, PendingStrictFollowUp
from saywhy.agent.instructions.preview import preview_instructions
from saywhy.agent.instructions.recorder import InstructionRecorder
from saywhy.agent.instructions.render import render_instructions
from saywhy.agent.instructions.rule import LLMInstruction, ResolvedInstruction
from saywhy.errors import CallerError
from saywhy.values import FrozenDict, thaw
from tests.conformance.agent_ops import pieces

Given = dict[str, Any]


def shown(one: ResolvedInstruction) -> Given:
    """A rule that fired, as the corpus writes it."""
    return thaw(one.to_value())


def evaluate(given: Given) -> Given:
    rules, ctx = pieces.instructions(given["instructions"]), pieces.ctx(given["ctx"])
    return {"fired": [shown(one) for one in evaluate_instructions(rules, ctx)]}


def merge(given: Given) -> Given:
    known = [pieces.resolved(spec) for spec in given["build_time"]]
    merged = merge_runtime_instructions(known, pieces.runtime(given.get("runtime")))
    return {"merged": [shown(one) for one in merged]}


def override(given: Given) -> Given:
    changes = pieces.override(given["override"])
    assert changes is not None
    rules = apply_instruction_overrides(pieces.instructions(given["instructions"]), changes)
    named = _named_fields(given)
    return {"instructions": [_rule(rule, named.get(rule.id, set())) for rule in rules]}


def _named_fields(given: Given) -> dict[str, set[str]]:
    """Which fields the case writes out for an id; those it does not are shown by none."""
    change = given["override"]
    named: dict[str, set[str]] = {}
    for spec in [*(given["instructions"] or ()), *(change.get("add") or ())]:
        named.setdefault(spec["id"], set()).update(spec)
    for name, spec in (change.get("replace") or {}).items():
        if name in named:
            named[name].update(spec)
    return named


def _rule(rule: LLMInstruction, named: set[str]) -> Given:
    plain = ("description", "text", "priority", "safety")
    return {
        "id": rule.id,
        **{name: getattr(rule, name) for name in plain if name in named},
        "has_when": rule.when is not None,
        "has_follow_up": rule.follow_up is not None,
        "has_decide": rule.decide is not None,
    }


def render(given: Given) -> Given:
    rules = [pieces.resolved(spec) for spec in given["resolved"]]
    return {"text": render_instructions(rules, pieces.template(given.get("template")))}


def process(given: Given) -> Given:
    done = process_instructions(
        given["content"],
        pieces.instructions(given.get("instructions")),
        pieces.ctx(given["ctx"]),
        pieces.runtime(given.get("runtime")),
        pieces.template(given.get("template")),
    )
    fired = [one.id for one in done.fired]
    return {"content": done.content, "fired_ids": fired, "injected": done.injected}


def preview(given: Given) -> Given:
    seen = preview_instructions(
        pieces.instructions(given.get("instructions")),
        pieces.ctx(given["ctx"]),
        overrides=pieces.override(given.get("overrides")),
        template=pieces.template(given.get("template")),
    )
    return {
        "fired_ids": seen.fired_ids,
        "skipped_ids": seen.skipped_ids,
        "injected_text": seen.injected_text,
        "estimated_tokens": seen.estimated_tokens,
        "follow_ups": [thaw(one.to_value()) for one in seen.follow_ups],
    }


def bind(given: Given) -> Given:
    spec = given["binding"]
    binding = pieces.follow_up(spec)
    assert binding is not None
    made = thaw(binding.resolve(pieces.ctx(given["ctx"])).to_value())
    if "strict" not in spec:  # only the long form can say it
        del made["strict"]
    return made


def match(given: Given) -> Given:
    return {"matched": default_condition_matcher(given["condition"], given["message"])}


def pending(given: Given) -> Given:
    manager = PendingFollowUpManager()
    return {"results": [_pending_step(manager, step) for step in given["steps"]]}


def _pending_step(manager: PendingFollowUpManager, step: Mapping[str, Any]) -> Any:
    found: PendingStrictFollowUp | None = None
    if "set" in step:
        spec = step["set"]
        offer = ResolvedFollowUp(
            spec["tool_id"], FrozenDict({}), "", spec["condition"], strict=True
        )
        matcher = pieces.matcher(spec.get("matcher"))
        manager.set_pending(PendingStrictFollowUp(offer, spec["source_tool_id"], matcher))
    elif "check" in step:
        found = manager.check_and_consume(step["check"])
    elif "has_pending" in step:
        return manager.has_pending()
    elif "peek" in step:
        found = manager.get_pending()
    else:
        assert "clear" in step, f"an unknown step: {step}"
        manager.clear()
    return None if found is None else found.follow_up.tool_id


def agent_evaluate(given: Given) -> Given:
    rules = pieces.agent_instructions(given["instructions"])
    found = evaluate_agent_instructions(rules, given["decision"])
    return {
        "prompt_injections": found.prompt_injections,
        "tool_injections": [
            {"id": tool.id, "description": tool.description} for tool in found.tool_injections
        ],
        "response_rules": [rule.id for rule in found.response_rules],
        "matched_ids": found.matched_ids,
    }


def define(given: Given) -> Given:
    spec = dict(given["instruction"])
    try:
        define_instruction(spec.get("id", ""), prompt=spec.get("prompt"))
    except CallerError as error:
        return {"error": str(error)}
    return {"ok": True}


def recorder(given: Given) -> Given:
    counts = InstructionRecorder()
    for step in given["steps"]:
        if step.get("clear"):
            counts.clear()
            continue
        fired = [pieces.resolved(spec) for spec in step["fired"]]
        counts.on_instructions_fired(
            InstructionsFired(turn_number=1, tool_id=step["tool_id"], fired=fired)
        )
    return {
        "summary": counts.get_summary().to_value(),
        "queries": [_query(counts, query) for query in given.get("queries") or ()],
    }


def _query(counts: InstructionRecorder, query: Mapping[str, Any]) -> Any:
    if "instruction_id" in query:
        return counts.get_firing_count(query["tool_id"], query["instruction_id"])
    return counts.get_fired_instruction_ids(query["tool_id"])


OPS: dict[str, Callable[[Given], Given]] = {
    "evaluate": evaluate,
    "merge": merge,
    "override": override,
    "render": render,
    "process": process,
    "preview": preview,
    "bind": bind,
    "match": match,
    "pending": pending,
    "agent_evaluate": agent_evaluate,
    "define": define,
    "recorder": recorder,
}
