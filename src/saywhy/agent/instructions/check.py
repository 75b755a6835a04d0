"""What is wrong with the instructions of an agent, before it runs.

What an override may not do is in `override`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from saywhy.agent.instructions.agent_rule import AgentInstruction, id_of
from saywhy.agent.instructions.follow_up import FollowUpBinding
from saywhy.agent.instructions.override import apply_instruction_overrides
from saywhy.agent.instructions.rule import InstructionOverride, LLMInstruction
from saywhy.errors import Problem, did_you_mean
from saywhy.tools.signature import is_async


def check_follow_ups(
    tools: Iterable[Any],
    instructions: Iterable[AgentInstruction] = (),
    *,
    overrides: Mapping[str, InstructionOverride] | None = None,
    also: Iterable[str] = (),
) -> Iterator[Problem]:
    """Follow-ups to tools that the agent does not have, at any time.

    `also` are ids of tools that come from elsewhere, such as a tool provider. The rules of a tool
    are taken as the overrides leave them.
    """
    listed = list(instructions)
    own = [*tools, *(tool for one in listed for tool in one.tools)]
    known = tuple(dict.fromkeys((*(id_of(tool) for tool in own), *also)))
    changes = overrides or {}
    seen: set[int] = set()
    for tool in own:
        if id(tool) in seen:
            continue
        seen.add(id(tool))
        rules: Iterable[LLMInstruction] = getattr(tool, "instructions", ())
        change = changes.get(id_of(tool))
        if change is not None:
            rules = apply_instruction_overrides(rules, change)
        yield from _strangers(f'of tool "{id_of(tool)}"', id_of(tool), rules, known)
    for one in listed:
        yield from _strangers(f'of "{one.id}"', one.id, one.on_tool_result, known)


def check_rules(rules: Iterable[LLMInstruction], whose: str) -> Iterator[Problem]:
    """Fields of rules that could not be used, which would only show once a rule fires.

    `whose` says where the rules stand: `of tool "find_order"`.
    """
    for rule in rules:
        name = f'of instruction "{rule.id}" {whose}'
        if rule.text is not None and not isinstance(rule.text, str):  # pyright: ignore[reportUnnecessaryIsInstance] - callers
            kind = type(rule.text).__name__
            yield Problem(f"the text {name} is {kind}, not text", hint='text="…"')
        for field, example in _FUNCTIONS.items():
            given = getattr(rule, field)
            if given is not None and not callable(given):
                kind = type(given).__name__
                yield Problem(f"{field} {name} is {kind}, not a function", hint=example)
            elif given is not None and is_async(given):
                yield Problem(
                    f"{field} {name} is an async function, which is never called",
                    hint=f"write a plain function: {example}",
                    severity="warning",
                )
        yield from _follow_up(rule.follow_up, name)


_FUNCTIONS: Final = {
    "when": 'when=lambda ctx: ctx.content.status == "denied"',
    "decide": "decide=function, which is given the decision and the context",
}
"""The fields that are functions, with a way to write each."""


def _follow_up(given: Any, name: str) -> Iterator[Problem]:
    if given is None:
        return
    if not isinstance(given, FollowUpBinding):
        kind = type(given).__name__
        yield Problem(
            f"the follow_up {name} is {kind}, not a FollowUpBinding",
            hint='follow("a_tool", lambda ctx: {"id": ctx.content.id}, "What it does")',
        )
    elif not callable(given.params):
        kind = type(given.params).__name__
        yield Problem(
            f"the params of the follow-up {name} are {kind}, not a function",
            hint='lambda ctx: {"id": ctx.content.id}, or quick_bind("a_tool", "id")',
        )


def _strangers(
    whose: str, flow: str, rules: Iterable[LLMInstruction], known: tuple[str, ...]
) -> Iterator[Problem]:
    for rule in rules:
        target: str | None = getattr(rule.follow_up, "tool_id", None)
        if target is not None and target not in known:
            yield Problem(
                f'the instruction "{rule.id}" {whose} offers the tool "{target}", '
                "which the agent does not have",
                hint=did_you_mean(target, known) or "give the agent that tool, or take it out",
                known_names=known,
                flow=flow,
            )
