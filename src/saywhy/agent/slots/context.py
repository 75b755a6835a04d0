"""What a resolver is told about the moment it resolves for, and whether it is to be awaited.

A resolver is text, a list, a function of the context, or an object with a method `resolve`. Plain
ones run inside their stage; only what is `async` makes the stage a task.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from inspect import iscoroutinefunction
from typing import Any, Protocol, cast

from saywhy.agent.slots.resolved import Resolved, resolved_of
from saywhy.values import FrozenList, raw


class SlotContext:
    """The moment: the newest words of the user, the turn, the round of the loop, the history.

    `turn_number` counts runs of the conversation from 1, `loop_iteration` the rounds of tools that
    this run has done. `signal` is the token that cancels the run.
    """

    __slots__ = ("_message", "loop_iteration", "messages", "signal", "turn_number")

    def __init__(
        self,
        message: str | None = None,
        *,
        turn_number: int = 1,
        loop_iteration: int = 0,
        messages: Sequence[Any] = (),
        signal: Any = None,
    ) -> None:
        self._message = message
        self.turn_number = turn_number
        self.loop_iteration = loop_iteration
        self.messages = messages
        self.signal = signal

    @property
    def message(self) -> str:
        """Text of the user's newest message. Looked for when it is first asked for."""
        if self._message is None:
            self._message = last_user_text(self.messages)
        return self._message

    @property
    def history(self) -> Sequence[Any]:
        """The messages so far, the newest last."""
        return self.messages

    def as_mapping(self) -> dict[str, Any]:
        """The same as a mapping, for predicates that look along a path."""
        return {
            "message": self.message,
            "turn_number": self.turn_number,
            "loop_iteration": self.loop_iteration,
            "history": self.messages,
        }


def text_in(content: Any) -> str:
    """The text of a message's content; "" where it is made of blocks.

    A message of blocks counts as no words: what they hold is not what providers choose by.
    """
    return content if isinstance(content, str) else ""


def last_user_text(messages: Sequence[Any]) -> str:
    """Text of the newest message of the user, "" where there is none."""
    for one in reversed(items_of(messages)):
        if one.get("role") == "user":
            return text_in(one.get("content"))
    return ""


def items_of(messages: Sequence[Any]) -> Sequence[Any]:
    """The messages as they are kept, without a wrapper around each. Not to be changed."""
    return cast("list[Any]", raw(messages)) if type(messages) is FrozenList else messages


class Resolver(Protocol):
    """What gives a slot its value."""

    @property
    def is_async(self) -> bool: ...

    def resolve(self, context: SlotContext, /) -> Any:
        """A `Resolved`; where `is_async`, something to await that gives one."""
        ...


def is_async(given: Any) -> bool:
    """Whether what `given` gives has to be awaited."""
    own = getattr(given, "is_async", None)
    if isinstance(own, bool):
        return own
    function = getattr(given, "resolve", given)
    call = getattr(function, "__call__", None)  # noqa: B004 - asked whether it is async
    return iscoroutinefunction(function) or iscoroutinefunction(call)


class ByFunction:
    """A resolver made of a function of the context, or of an object with `resolve`."""

    __slots__ = ("_chosen", "_function", "is_async")

    def __init__(self, function: Callable[..., Any], chosen: str = "static") -> None:
        self._function = function
        self._chosen = chosen
        self.is_async = is_async(function)

    def resolve(self, context: SlotContext, /) -> Any:
        """What the function gives, in the common form."""
        given = self._function(context)
        return self._later(given) if self.is_async else resolved_of(given, self._chosen)

    async def _later(self, given: Awaitable[Any]) -> Resolved[Any]:
        return resolved_of(await given, self._chosen)
