"""What may stand for a model: a provider, a function of the host's, or the name of one."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any, Final

from saywhy.errors import CallerError
from saywhy.models.callback import provider_of
from saywhy.models.provider import Ask, ModelReply, Provider

_HINT: Final = (
    'a name ("openai:…"), a provider, or a function: async def model(ask) -> text or ModelReply'
)


class FunctionOfAsk:
    """A host's function that is given the whole `Ask` and answers with text or a `ModelReply`."""

    def __init__(self, function: Callable[[Ask], Any]) -> None:
        self.function: Final = function

    async def ask(self, ask: Ask) -> ModelReply:
        """Call it; one that is not `async` runs in a thread, so that it holds nobody up."""
        if inspect.iscoroutinefunction(self.function):
            answer = await self.function(ask)
        else:
            answer = await asyncio.to_thread(self.function, ask)
            if inspect.isawaitable(answer):
                answer = await answer
        if isinstance(answer, str):
            return ModelReply(answer)
        if not isinstance(answer, ModelReply):
            kind = type(answer).__name__
            raise CallerError(f"the model's function gave {kind}", hint="text, or a ModelReply")
        return answer


def asked_model(given: Any) -> Provider:
    """The provider behind what stands for a model. Raises `CallerError` for anything else."""
    if isinstance(given, str):
        from saywhy.models.names import model_of

        return model_of(given)
    if isinstance(given, type) and hasattr(given, "ask"):
        name = given.__name__
        raise CallerError(f"model is the class {name}, which asks nobody", hint=f"{name}(…)")
    if isinstance(given, Provider):
        return given
    if not callable(given):
        raise CallerError(f"model is {type(given).__name__}, which cannot be asked", hint=_HINT)
    return FunctionOfAsk(given) if _takes_one(given) else provider_of(given)


def _takes_one(function: Callable[..., Any]) -> bool:
    """Whether the function has room for one argument only: the question as a whole."""
    try:
        signature = inspect.signature(function)
        signature.bind(None)
    except (TypeError, ValueError):
        return False
    try:
        signature.bind(None, None)
    except TypeError:
        return True
    return False
