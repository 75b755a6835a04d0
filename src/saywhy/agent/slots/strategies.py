"""Which of the messages so far a model is shown: all, a window, what fits a budget, a summary.

A strategy gives a `Resolved` list made of the very messages it was given: it leaves some out and
may put a message of its own in front of the rest, but it copies none and changes no order. Where
it leaves nothing out it gives the same list, so that appending to a long history stays cheap.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from saywhy.agent.slots.awaiting import all_of
from saywhy.agent.slots.context import SlotContext, is_async, items_of
from saywhy.agent.slots.pairs import paired
from saywhy.agent.slots.resolved import Resolved, resolved_of
from saywhy.agent.slots.sizes import chars_of, tokens_of
from saywhy.errors import CallerError
from saywhy.values import FrozenList

Messages = Sequence[Any]
"""Chat messages, each a mapping."""

CLOSING: Final = "dropped {} orphaned tool messages"


class MessageStrategy(Protocol):
    """Chooses what a model is shown of the messages."""

    @property
    def is_async(self) -> bool: ...

    def prepare(self, messages: Messages, context: SlotContext, /) -> Any:
        """A `Resolved` list; where `is_async`, something to await that gives one."""
        ...


@dataclass(frozen=True, slots=True)
class FullHistory:
    """All messages."""

    is_async: bool = field(default=False, init=False)

    def prepare(self, messages: Messages, context: SlotContext, /) -> Resolved[Messages]:
        """The same list."""
        return Resolved(messages, "full-history", f"{len(messages)} messages")


@dataclass(frozen=True, slots=True)
class SlidingWindow:
    """All system messages and the last `max_messages` others; everything while it is no more."""

    max_messages: int
    is_async: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        _check(self.max_messages, "a sliding window keeps at least one message")

    def prepare(self, messages: Messages, context: SlotContext, /) -> Resolved[Messages]:
        """What is in the window."""
        total = len(messages)
        if total <= self.max_messages:
            return _kept(messages, messages, "sliding-window")
        items = items_of(messages)
        others = sum(1 for one in items if one.get("role") != "system")
        kept = _newest(items, others - self.max_messages)
        return _kept(messages, kept, "sliding-window")


@dataclass(frozen=True, slots=True)
class Budget:
    """All system messages, counted first, then the newest others until the next is too much."""

    limit: int
    count: Callable[[Any], int]
    """What a message counts for."""
    name: str
    unit: str
    is_async: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        _check(self.limit, "a budget allows for something")

    def prepare(self, messages: Messages, context: SlotContext, /) -> Resolved[Messages]:
        """What fits."""
        items, count = items_of(messages), self.count
        used = sum(count(one) for one in items if one.get("role") == "system")
        at = len(items)
        while at:
            one = items[at - 1]
            if one.get("role") != "system":
                size = count(one)
                if used + size > self.limit:
                    break
                used += size
            at -= 1
        kept = [one for i, one in enumerate(items) if i >= at or one.get("role") == "system"]
        told = f"{used} of {self.limit} {self.unit}"
        return _kept(messages, kept, self.name, told)


@dataclass(frozen=True, slots=True)
class Summary:
    """The last `keep_last` messages, and one system message in place of the older ones.

    `summarize` is given the older messages and gives a text; an empty one adds no message. With
    `slack` so many more may gather before they are summed up again.
    """

    keep_last: int
    summarize: Callable[[list[Any]], Any]
    slack: int = 0
    is_async: bool = field(init=False)

    def __post_init__(self) -> None:
        _check(self.keep_last, "a summary leaves at least one message as it is")
        object.__setattr__(self, "is_async", is_async(self.summarize))

    def prepare(self, messages: Messages, context: SlotContext, /) -> Any:
        """The summary and what is recent."""
        items = items_of(messages)
        others = [one for one in items if one.get("role") != "system"]
        old = len(others) - self.keep_last
        if old <= max(self.slack, 0):
            given = Resolved(messages, "summary", f"nothing to sum up, kept {len(others)} recent")
            return _at_once(given) if self.is_async else given
        text = self.summarize(list(FrozenList(others[:old])))
        if self.is_async:
            return self._later(items, old, text)
        return self._joined(items, old, text)

    async def _later(self, items: Messages, old: int, text: Awaitable[Any]) -> Resolved[Messages]:
        return self._joined(items, old, await text)

    def _joined(self, items: Messages, old: int, text: Any) -> Resolved[Messages]:
        if not isinstance(text, str | None):
            raise CallerError(
                f"summarize gave {type(text).__name__} instead of text",
                hint="return the summary as text; an empty text adds no message",
            )
        kept = _newest(items, old)
        recent = len([one for one in kept if one.get("role") != "system"])
        if text:
            at = leading_systems(kept)
            kept.insert(at, {"role": "system", "content": text})
        told = f"summarized {old} old, kept {recent} recent"
        return Resolved(FrozenList(kept), "summary", told)


@dataclass(frozen=True, slots=True)
class ToolPairSafety:
    """Another strategy, without results whose call it dropped and calls without their results."""

    inner: MessageStrategy
    is_async: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_async", self.inner.is_async)

    def prepare(self, messages: Messages, context: SlotContext, /) -> Any:
        """What the other strategy keeps, in whole pairs."""
        given = self.inner.prepare(messages, context)
        return self._later(given) if self.is_async else self._safe(given)

    async def _later(self, given: Awaitable[Any]) -> Resolved[Messages]:
        return self._safe(await given)

    def _safe(self, resolved: Resolved[Messages]) -> Resolved[Messages]:
        before = items_of(resolved.value)
        kept = paired(before)
        if len(kept) == len(before) and all(map(_is, kept, before)):
            return resolved
        told = CLOSING.format(len(before) - len(kept))
        rationale = f"{resolved.rationale}; {told}" if resolved.rationale else told
        return Resolved(FrozenList(kept), resolved.chosen, rationale)


@dataclass(frozen=True, slots=True)
class CompositeStrategy:
    """Strategies one after the other, each on what the one before kept."""

    strategies: tuple[MessageStrategy, ...]
    is_async: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_async", any(one.is_async for one in self.strategies))

    def prepare(self, messages: Messages, context: SlotContext, /) -> Any:
        """What the last one keeps."""
        if self.is_async:
            return self._later(messages, context)
        names: list[str] = []
        for one in self.strategies:
            resolved = resolved_of(one.prepare(messages, context))
            messages = resolved.value
            names.append(resolved.chosen)
        return self._told(messages, names)

    async def _later(self, messages: Messages, context: SlotContext) -> Resolved[Messages]:
        names: list[str] = []
        for one in self.strategies:
            [given] = await all_of([one.prepare(messages, context)])
            messages = given.value
            names.append(given.chosen)
        return self._told(messages, names)

    def _told(self, messages: Messages, names: list[str]) -> Resolved[Messages]:
        told = f"{len(messages)} messages after {len(names)} strategies"
        return Resolved(messages, f"composite: {' → '.join(names)}", told)


class StrategyByFunction:
    """A strategy made of a function of the messages and the context."""

    __slots__ = ("_function", "is_async")

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.is_async = is_async(function)

    def prepare(self, messages: Messages, context: SlotContext, /) -> Any:
        """What the function keeps."""
        given = self._function(messages, context)
        return self._later(given) if self.is_async else _listed(given)

    async def _later(self, given: Awaitable[Any]) -> Resolved[Messages]:
        return _listed(await given)


# ------------------------------------------------------------------ making one


def full_history() -> FullHistory:
    """All messages, as they are."""
    return FullHistory()


def sliding_window(max_messages: int) -> SlidingWindow:
    """System messages and the last `max_messages` others."""
    return SlidingWindow(max_messages)


def char_budget(max_chars: int) -> Budget:
    """What fits into so many characters of content, the newest first."""
    return Budget(max_chars, chars_of, "char-budget", "chars")


def token_budget(max_tokens: int, count: Callable[[Any], int] = tokens_of) -> Budget:
    """What fits into so many tokens; `count` says how many a message has.

    Without it four characters count as a token, those of tool calls as well.
    """
    return Budget(max_tokens, count, "token-budget", "tokens")


def summary(keep_last: int, summarize: Callable[[list[Any]], Any], *, slack: int = 0) -> Summary:
    """The last messages, and a summary of the older ones; `summarize` may be async."""
    return Summary(keep_last, summarize, slack)


def tool_pair_safety(inner: Any) -> ToolPairSafety:
    """Another strategy whose result every vendor accepts."""
    return ToolPairSafety(strategy_of(inner))


def composite_strategy(*strategies: Any) -> CompositeStrategy:
    """Strategies one after the other."""
    return CompositeStrategy(tuple(strategy_of(one) for one in strategies))


def strategy_of(given: Any) -> MessageStrategy:
    """Whatever may stand for a strategy: None (all messages), a strategy, a function.

    A function takes the messages and the `SlotContext`, and gives the messages to keep.
    """
    if given is None:
        return FullHistory()
    prepare = getattr(given, "prepare", None)
    if callable(prepare):
        known = isinstance(getattr(given, "is_async", None), bool)
        return given if known else StrategyByFunction(prepare)
    if callable(given):
        return StrategyByFunction(given)
    raise CallerError(
        f"a message strategy is no {type(given).__name__}",
        hint="sliding_window(20), token_budget(8000), or a function of messages and context",
    )


def safe_strategy(given: Any) -> MessageStrategy:
    """Like `strategy_of`; whatever may leave messages out leaves whole pairs."""
    strategy = strategy_of(given)
    return (
        strategy
        if isinstance(strategy, FullHistory | ToolPairSafety)
        else (ToolPairSafety(strategy))
    )


# ------------------------------------------------------------------ parts


def _newest(items: Messages, drop: int) -> list[Any]:
    """All system messages, and the others but for the first `drop`."""
    kept: list[Any] = []
    for one in items:
        if one.get("role") != "system":
            drop -= 1
            if drop >= 0:
                continue
        kept.append(one)
    return kept


def leading_systems(messages: Messages) -> int:
    """How many system messages a list begins with."""
    for at, one in enumerate(messages):
        if one.get("role") != "system":
            return at
    return len(messages)


def _kept(before: Messages, kept: Messages, chosen: str, told: str = "") -> Resolved[Messages]:
    same = len(kept) == len(before)
    rationale = f"kept {len(kept)} of {len(before)}" + (f", {told}" if told else "")
    return Resolved(before if same else FrozenList(list(kept)), chosen, rationale)


def _listed(given: Any) -> Resolved[Messages]:
    resolved = resolved_of(given, "custom")
    if isinstance(resolved.value, str) or not isinstance(resolved.value, Sequence):
        raise CallerError(
            f"a message strategy gave {type(resolved.value).__name__} instead of messages",
            hint="return the list of messages to keep, or Resolved(messages, chosen, rationale)",
        )
    return resolved


async def _at_once(value: Resolved[Messages]) -> Resolved[Messages]:
    return value


def _is(one: Any, other: Any) -> bool:
    return one is other


def _check(number: int, law: str) -> None:
    if number < 1:
        raise CallerError(f"{law}, not {number}", hint="give a number from 1")
