"""Promise: a strategy leaves messages out, whole pairs at a time, and changes nothing else."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from saywhy.agent.slots.context import SlotContext
from saywhy.agent.slots.pairs import paired
from saywhy.agent.slots.strategies import (
    FullHistory,
    ToolPairSafety,
    char_budget,
    composite_strategy,
    full_history,
    safe_strategy,
    sliding_window,
    strategy_of,
    summary,
    token_budget,
    tool_pair_safety,
)
from saywhy.errors import CallerError
from saywhy.models.chat import (
    assistant_message,
    problems_of,
    system_message,
    tool_message,
    user_message,
)
from saywhy.values import FrozenList, freeze, raw, thaw

NOW = SlotContext()
CALL = {"id": "k1", "name": "f", "arguments": {}}
TALK: FrozenList = freeze(
    [
        system_message("sys"),
        user_message("one"),
        assistant_message("", [CALL]),
        tool_message("res", "k1"),
        assistant_message("dos"),
    ]
)


def kept(strategy: Any, messages: Any = TALK) -> list[str]:
    """The contents of what a strategy keeps."""
    return [one["content"] for one in strategy.prepare(messages, NOW).value]


def test_everything() -> None:
    """All messages are the very list."""
    assert full_history().prepare(TALK, NOW).value is TALK


def test_nothing_is_copied() -> None:
    """What a window keeps are the messages of the state themselves."""
    value = sliding_window(2).prepare(TALK, NOW).value
    assert raw(value)[0] is TALK.raw[0]
    assert raw(value)[-1] is TALK.raw[-1]
    assert sliding_window(5).prepare(TALK, NOW).value is TALK


def test_a_budget_counts_system_messages_first() -> None:
    """System messages always stay, and leave less room for the others."""
    assert kept(char_budget(6)) == ["sys", "dos"]
    assert kept(char_budget(1)) == ["sys"]
    resolved = char_budget(9).prepare(TALK, NOW)
    assert resolved.chosen == "char-budget"
    assert resolved.rationale == "kept 4 of 5, 9 of 9 chars"


def test_tokens() -> None:
    """Without a count of the host's four characters are a token, those of calls as well."""
    assert kept(token_budget(3, lambda message: 1)) == ["sys", "res", "dos"]
    # "sys", "dos" and "res" are one each; the call's JSON is ten more.
    assert kept(token_budget(12)) == ["sys", "res", "dos"]
    assert kept(token_budget(14)) == ["sys", "one", "", "res", "dos"]


def test_a_summary() -> None:
    """Older messages become one system message behind those in front; an empty text adds none."""
    strategy = summary(1, lambda older: f"{len(older)}: {older[0]['content']}")
    assert kept(strategy) == ["sys", "3: one", "dos"]
    assert kept(summary(1, lambda older: "")) == ["sys", "dos"]
    assert kept(summary(4, lambda older: "never")) == kept(full_history())
    assert kept(summary(1, lambda older: "never", slack=3)) == kept(full_history())


async def test_a_summary_may_be_awaited() -> None:
    """`summarize` may be async, inside others too; with nothing to sum up it is not called."""

    async def summarize(older: list[Any]) -> str:
        return f"{len(older)} older"

    strategy = tool_pair_safety(composite_strategy(summary(1, summarize), sliding_window(9)))
    resolved = await strategy.prepare(TALK, NOW)
    assert [one["content"] for one in resolved.value] == ["sys", "3 older", "dos"]
    assert resolved.chosen == "composite: summary → sliding-window"
    short = await summary(9, summarize).prepare(TALK, NOW)
    assert short.rationale == "nothing to sum up, kept 4 recent"


def test_what_a_summary_must_give() -> None:
    """A summary that is no text is refused."""
    with pytest.raises(CallerError, match="summarize gave int instead of text"):
        summary(1, lambda older: 5).prepare(TALK, NOW)


def test_pairs() -> None:
    """A window that cuts between a call and its result gives neither."""
    resolved = tool_pair_safety(sliding_window(2)).prepare(TALK, NOW)
    assert [one["content"] for one in resolved.value] == ["sys", "dos"]
    assert resolved.rationale == "kept 3 of 5; dropped 1 orphaned tool messages"
    whole = tool_pair_safety(full_history()).prepare(TALK, NOW)
    assert whole.value is TALK
    assert whole.rationale == "5 messages"


@pytest.mark.parametrize(
    ("messages", "left"),
    [
        ([tool_message("r", "k1")], []),
        ([assistant_message("", [CALL])], []),
        ([assistant_message("says", [CALL])], [assistant_message("says")]),
        (
            [assistant_message("", [CALL, {**CALL, "id": "k2"}]), tool_message("r", "k2")],
            [assistant_message("", [{**CALL, "id": "k2"}]), tool_message("r", "k2")],
        ),
        (
            [assistant_message("", [CALL]), tool_message("r", "k1"), tool_message("again", "k1")],
            [assistant_message("", [CALL]), tool_message("r", "k1")],
        ),
        (
            [assistant_message("", [CALL]), user_message("x"), tool_message("r", "k1")],
            [user_message("x")],
        ),
    ],
)
def test_orphans(messages: Any, left: Any) -> None:
    """Results without call and calls without result go; what was said besides stays."""
    assert thaw(paired(messages)) == left


def test_functions() -> None:
    """A function of messages and context is a strategy; what it must give is told."""
    assert kept(strategy_of(lambda messages, context: list(messages)[:1])) == ["sys"]
    with pytest.raises(CallerError, match="a message strategy gave str instead of messages"):
        strategy_of(lambda messages, context: "x").prepare(TALK, NOW)
    with pytest.raises(CallerError, match="a message strategy is no int"):
        strategy_of(5)
    assert isinstance(strategy_of(None), FullHistory)


async def test_an_async_function() -> None:
    """A strategy may be awaited."""

    async def last(messages: Any, context: Any) -> Any:
        return messages[-1:]

    strategy = strategy_of(last)
    assert strategy.is_async
    resolved = await strategy.prepare(TALK, NOW)
    assert thaw(resolved.value) == [assistant_message("dos")]
    assert resolved.chosen == "custom"


def test_pairs_are_kept_whole_unless_told_otherwise() -> None:
    """Whatever may leave messages out is made safe, once."""
    assert isinstance(safe_strategy(sliding_window(1)), ToolPairSafety)
    safe = tool_pair_safety(sliding_window(1))
    assert safe_strategy(safe) is safe
    assert isinstance(safe_strategy(None), FullHistory)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: sliding_window(0), "a sliding window keeps at least one message, not 0"),
        (lambda: char_budget(-1), "a budget allows for something, not -1"),
        (lambda: summary(0, str), "a summary leaves at least one message as it is, not 0"),
    ],
)
def test_limits_that_make_no_sense(make: Any, told: str) -> None:
    """A limit that would leave nothing is refused when the strategy is made."""
    with pytest.raises(CallerError, match=told):
        make()


# ------------------------------------------------------------------ laws

IDS = some.sampled_from(["a", "b", "c"])
MESSAGES = some.one_of(
    some.builds(system_message, some.text(max_size=4)),
    some.builds(user_message, some.text(max_size=4)),
    some.builds(
        assistant_message,
        some.text(max_size=4),
        some.lists(some.builds(lambda name: {**CALL, "id": name}, IDS), max_size=3),
    ),
    some.builds(tool_message, some.text(max_size=4), IDS),
)
HISTORIES = some.lists(MESSAGES, max_size=14)
STRATEGIES = some.one_of(
    some.builds(sliding_window, some.integers(1, 8)),
    some.builds(char_budget, some.integers(1, 30)),
    some.builds(token_budget, some.integers(1, 30)),
    some.just(full_history()),
)


@given(HISTORIES, STRATEGIES)
def test_no_history_is_left_with_orphans(history: list[Any], strategy: Any) -> None:
    """Whatever a history looks like, every call left has one result right behind it, and back."""
    value = tool_pair_safety(strategy).prepare(freeze(history), NOW).value
    # Results in another order than their calls were so before: nothing is moved.
    moved = re.compile(r"answers the call '\w' before")
    assert [one for one in problems_of(thaw(value)) if not moved.search(one)] == []


@given(HISTORIES, STRATEGIES)
def test_order_and_system_messages_stay(history: list[Any], strategy: Any) -> None:
    """A strategy gives some of the messages it was given, in their order, all systems included."""
    messages: FrozenList = freeze(history)
    value = items(strategy.prepare(messages, NOW).value)
    places = [at for at, one in enumerate(messages.raw) if any(one is other for other in value)]
    assert [messages.raw[at] for at in places] == value
    systems = [one for one in messages.raw if one["role"] == "system"]
    assert [one for one in value if one["role"] == "system"] == systems


@given(HISTORIES)
def test_pairing_twice_changes_nothing(history: list[Any]) -> None:
    """What has no orphans is left as it is."""
    once = paired(history)
    assert paired(once) == once


def items(messages: Any) -> list[Any]:
    found: list[Any] = raw(messages)
    return found
