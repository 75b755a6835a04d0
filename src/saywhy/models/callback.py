"""A host's own function as somebody to ask.

It takes the system text and the user text, then the form of the answer, then the structured
request, as many of them as it has parameters: two, three or four. What a question does not have is
left to the parameter's default, and None where there is none.
It may be `async`, and one that is not runs in a thread, so that it holds nobody up.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final

from saywhy.errors import CallerError
from saywhy.models.provider import Ask, ModelReply, Provider
from saywhy.values import thaw

MOST: Final = 4
LEAST: Final = 2
_PROVIDER: Final = "a class with `async def ask(self, ask: saywhy.Ask) -> saywhy.ModelReply`"

_BY_POSITION: Final = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
)


class Callback:
    """A function with two, three or four parameters that gives the model's answer as text."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function: Final = function
        self.takes: Final = _places_of(function)
        """How many arguments it is given at most."""
        self._needs: Final = _needs_of(function)
        self._is_async: Final = _is_async(function)

    async def ask(self, ask: Ask) -> ModelReply:
        """Call the function. Raises what it raises, and `CallerError` for what is no text.

        It can be asked, but it cannot take part in a conversation or call tools.
        """
        if ask.tools or len(ask.messages) > 1:
            what = "be given tools" if ask.tools else "be told what was said before"
            raise CallerError(f"a function that takes two texts cannot {what}", hint=_PROVIDER)
        arguments: list[Any] = [ask.system or "", ask.user]
        more = (ask.schema, None if ask.request is None else _own(ask.request))
        asked = MOST if ask.request is not None else LEAST + (ask.schema is not None)
        arguments += more[: min(max(asked, self._needs), self.takes) - LEAST]
        if self._is_async:
            answer = await self.function(*arguments)
        else:
            answer = await asyncio.to_thread(self._call, *arguments)
            if inspect.isawaitable(answer):  # a plain function that hands on another's
                answer = await answer
        if not isinstance(answer, str):
            raise CallerError(f"the model's callback gave {_unlike_text(answer)}")
        return ModelReply(answer)

    def _call(self, *arguments: Any) -> Any:
        """Call a plain function. A future cannot carry `StopIteration`: nobody would ever know."""
        try:
            return self.function(*arguments)
        except StopIteration as error:
            raise RuntimeError("the model's callback raised StopIteration") from error


def _unlike_text(answer: Any) -> str:
    """What an answer is in place of text, and what to do: only this sentence reaches the host."""
    if isinstance(answer, Mapping):
        return f"{type(answer).__name__}, not text; return JSON as text: json.dumps(…)"
    return f"{type(answer).__name__}, not text; return what the model said"


def provider_of(model: Callable[..., Any] | Provider) -> Provider:
    """A provider as it is; a function as one. Raises `CallerError` for anything else."""
    if isinstance(model, Provider):
        return model
    if not callable(model):
        raise CallerError(
            f"model is a function or a provider, not {type(model).__name__}",
            hint="async def model(system, user, schema=None, request=None) -> str",
        )
    return Callback(model)


def _own(request: Mapping[str, Any]) -> Any:
    """A copy that the host may change as it likes."""
    return thaw(request)


def _is_async(function: Any) -> bool:
    called = getattr(function, "__call__", None)  # noqa: B004 - an object may have an async one
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called)


def _needs_of(function: Callable[..., Any]) -> int:
    """How many arguments the function cannot do without; three where it takes any number."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # one written in C
        return LEAST
    if any(each.kind is each.VAR_POSITIONAL for each in parameters):
        return LEAST + 1
    places = [each for each in parameters if each.kind in _BY_POSITION]
    return sum(each.default is each.empty for each in places)


def _places_of(function: Callable[..., Any]) -> int:
    """How many arguments the function can be given by position, four at most."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # one written in C
        return MOST
    places = 0
    for parameter in parameters:
        if parameter.kind is parameter.VAR_POSITIONAL:
            places = MOST
            break
        if parameter.kind in _BY_POSITION:
            places += 1
    needs = _needs_of(function)
    if places < LEAST or needs > MOST:
        takes = f"takes {places}" if places < LEAST else f"needs {needs}"
        raise CallerError(
            f"the model's callback {takes} arguments by position, and is given two to four",
            hint="async def model(system, user, schema=None, request=None) -> str",
        )
    return min(places, MOST)


__all__ = ["Callback", "provider_of"]
