"""Laws that hold for any rules and any result."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from saywhy.agent.instructions.context import InstructionContext
from saywhy.agent.instructions.evaluate import InstructionOrder, judge_instructions
from saywhy.agent.instructions.fence import fence
from saywhy.agent.instructions.follow_up import FollowUpBinding
from saywhy.agent.instructions.inject import InstructionInjectionResult, process_instructions
from saywhy.agent.instructions.merge import merge_runtime_instructions
from saywhy.agent.instructions.override import apply_instruction_overrides
from saywhy.agent.instructions.preview import preview_instructions
from saywhy.agent.instructions.rule import InstructionOverride, LLMInstruction
from saywhy.agent.instructions.seen import Looks, seen
from saywhy.tools.tool_result import ToolResult
from tests.amount import examples

MANY = settings(max_examples=examples(60, 2000), deadline=None)

scalars = st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=6)
trees = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3)
    ),
    max_leaves=8,
)
marks = st.sampled_from(["[INSTRUCTION]", "[AVAILABLE ACTION]", "[", "]", "\\u005b", "INSTRUCTION"])
contents = st.lists(st.text(max_size=8) | marks, max_size=5).map("".join)


def raises(ctx: Any) -> bool:
    raise ValueError("broken")


CONDITIONS = [None, raises, lambda c: True, lambda c: False, lambda c: c.content["a"] == 1]
bindings = st.builds(
    FollowUpBinding,
    st.sampled_from(["x", "y"]),
    st.sampled_from([lambda c: {"a": c.content["a"]}, lambda c: {}, raises]),
    st.text(max_size=5),
    st.text(max_size=5),
)
rules = st.builds(
    LLMInstruction,
    st.sampled_from(["a", "b", "c"]),
    when=st.sampled_from(CONDITIONS),
    text=st.none() | st.text(max_size=10),
    follow_up=st.none() | bindings,
    priority=st.integers(-3, 3),
    safety=st.booleans(),
)
rule_lists = st.lists(rules, max_size=6)
orders = st.sampled_from(InstructionOrder)
offers = st.fixed_dictionaries(
    {}, optional={"tool_id": st.text(max_size=3), "params": st.none() | st.just({"n": 1})}
)
said = st.builds(
    ToolResult,
    st.just(""),
    instructions=st.lists(st.text(max_size=5), max_size=3).map(tuple),
    follow_ups=st.lists(offers, max_size=3).map(tuple),
)


def never(ctx: Any) -> bool:
    return False


@MANY
@given(rule_lists, trees, orders, st.integers(0, 6))
def test_a_rule_that_never_fires_changes_nothing(
    listed: list[LLMInstruction], content: Any, order: InstructionOrder, at: int
) -> None:
    """Wherever it stands."""
    ctx = InstructionContext(content, "t")
    more = [*listed[:at], LLMInstruction("never", when=never, text="never"), *listed[at:]]
    assert judge_instructions(more, ctx, order=order).fired == (
        judge_instructions(listed, ctx, order=order).fired
    )


@MANY
@given(rule_lists, trees, orders, said)
def test_safety_stands_last(
    listed: list[LLMInstruction], content: Any, order: InstructionOrder, runtime: ToolResult
) -> None:
    """In its own order, which what a handler says does not touch."""
    judged = judge_instructions(listed, InstructionContext(content, "t"), order=order)
    merged = merge_runtime_instructions(judged.fired, runtime)
    flags = [one.safety for one in merged]
    assert flags == sorted(flags)
    safe = [one for one in judged.fired if one.safety]
    assert [one for one in merged if one.safety] == safe
    assert [one.priority for one in safe] == sorted(one.priority for one in safe)
    assert [one for one in merged if one.rule and not one.safety] == [
        one for one in judged.fired if not one.safety
    ]


@MANY
@given(rule_lists)
def test_an_empty_override_is_identity(listed: list[LLMInstruction]) -> None:
    """The very same rules."""
    after = apply_instruction_overrides(listed, InstructionOverride())
    assert [id(rule) for rule in after] == [id(rule) for rule in listed]


def processed(
    content: str, listed: list[LLMInstruction], tree: Any, runtime: Any, budget: int | None
) -> InstructionInjectionResult:
    ctx = InstructionContext(tree, "t")
    return process_instructions(content, listed, ctx, runtime, instruction_budget=budget)


@MANY
@given(contents, rule_lists, trees, st.none() | said, st.none() | st.integers(0, 40))
def test_a_tools_text_is_never_shortened(
    content: str, listed: list[LLMInstruction], tree: Any, runtime: Any, budget: int | None
) -> None:
    """What was there is there: fenced where it imitates us, ours after it, the raw text apart."""
    done = processed(content, listed, tree, runtime, budget)
    assert len(done.content) >= len(content)
    assert done.content.startswith(fence(content))
    assert done.content == fence(content) + (f"\n\n{done.added}" if done.injected else "")
    assert done.raw == content
    assert "[INSTRUCTION]" not in fence(content)
    assert "[AVAILABLE ACTION]" not in fence(content)


@MANY
@given(rule_lists, trees, said, st.integers(0, 40))
def test_no_budget_drops_safety(
    listed: list[LLMInstruction], tree: Any, runtime: Any, budget: int
) -> None:
    """Its texts are shown, its rules fire, and every text that is missing has a line."""
    free = processed("", listed, tree, runtime, None)
    tight = processed("", listed, tree, runtime, budget)
    assert [one.id for one in tight.fired] == [one.id for one in free.fired]
    assert [one for one in tight.fired if one.safety] == [one for one in free.fired if one.safety]
    gone = [
        one.id for one, other in zip(free.fired, tight.fired, strict=True) if one.text != other.text
    ]
    lines = [one.id for one in tight.log if one.outcome == "dropped" and one.part == "text"]
    assert lines == gone
    for one, other in zip(free.fired, tight.fired, strict=True):
        assert msgspec.structs.replace(other, text=one.text) == one


@MANY
@given(rule_lists, trees, orders)
def test_every_rule_has_its_line(
    listed: list[LLMInstruction], content: Any, order: InstructionOrder
) -> None:
    """In the order of the list; what fired is what the lines say."""
    judged = judge_instructions(listed, InstructionContext(content, "t"), order=order)
    lines = [one for one in judged.log if one.outcome != "dropped"]
    assert [one.id for one in lines] == [rule.id for rule in listed]
    fired = [rule for rule, line in zip(listed, lines, strict=True) if line.fired]
    assert sorted(map(id, fired)) == sorted(id(one.rule) for one in judged.fired)
    seen_ids = preview_instructions(listed, InstructionContext(content, "t"))
    assert not set(seen_ids.fired_ids) & set(seen_ids.skipped_ids)
    assert {*seen_ids.fired_ids, *seen_ids.skipped_ids} == {rule.id for rule in listed}


def visit(one: Any, other: Any) -> None:
    """Compare two trees by every way in."""
    assert one == other
    if isinstance(other, dict):
        assert list(one) == list(other)
        assert dict(one.items()) == other
        for key in other:
            assert key in one
            visit(one[key], other[key])
            visit(one.get(key), other[key])
    elif isinstance(other, list):
        assert len(one) == len(other)
        for left, right in zip(one, other, strict=True):
            visit(left, right)
        for at in range(-len(other), len(other)):
            visit(one[at], other[at])


@MANY
@given(trees)
def test_a_watched_value_is_the_value(tree: Any) -> None:
    """Whatever way a condition goes into it."""
    looks = Looks()
    visit(seen(tree, ("content",), looks), tree)
    for look in looks.taken():
        assert look.path.startswith("content")
