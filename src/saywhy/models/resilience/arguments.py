"""Whether what a wrapper was given makes sense. A `CallerError` names the wrapper and argument."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from saywhy.errors import CallerError
from saywhy.models.asked import asked_model
from saywhy.models.provider import Provider

_EXAMPLE = 'a provider such as OpenAIModel(…), a function, or a name such as "openai:NAME"'


def a_provider(wrapper: str, given: Any, argument: str = "provider") -> Provider:
    """The provider behind whatever may stand for a model."""
    if isinstance(given, type):
        raise CallerError(
            f"{wrapper}: {argument} is the class {given.__name__}, not a provider",
            hint=f"make one: {given.__name__}(…)",
        )
    if not (isinstance(given, str | Provider) or callable(given)):
        raise CallerError(
            f"{wrapper}: {argument} is {_kind(given)}, which cannot be asked anything",
            hint=_EXAMPLE,
        )
    return asked_model(given)


def given_providers(wrapper: str, given: Any) -> list[Provider]:
    """At least one provider, in the order in which they are asked."""
    if not isinstance(given, Iterable) or isinstance(given, str | bytes):
        raise CallerError(
            f"{wrapper}: providers is a list, not {_kind(given)}",
            hint=f"{wrapper}([first, second])",
        )
    found = [a_provider(wrapper, one, f"providers[{at}]") for at, one in enumerate(given)]
    if not found:
        raise CallerError(f"{wrapper}: providers is empty", hint=f"{wrapper}([first, second])")
    return found


def whole(wrapper: str, argument: str, given: Any, least: int) -> int:
    """A whole number from `least`."""
    if isinstance(given, bool) or not isinstance(given, int) or given < least:
        raise CallerError(
            f"{wrapper}: {argument} is a whole number from {least}, not {_shown(given)}"
        )
    return given


def number(
    wrapper: str, argument: str, given: Any, *, least: float = 0.0, above: bool = False
) -> float:
    """A finite number from `least`, or above it."""
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    if not is_number or not math.isfinite(given) or given < least or (above and given == least):
        word = "above" if above else "from"
        raise CallerError(
            f"{wrapper}: {argument} is a number {word} {least:g}, not {_shown(given)}"
        )
    return float(given)


def a_function(wrapper: str, argument: str, given: Any, takes: str) -> Callable[..., Any] | None:
    """A function, or None."""
    if given is None or callable(given):
        return given
    raise CallerError(
        f"{wrapper}: {argument} is a function, not {_kind(given)}",
        hint=f"{argument}=lambda {takes}",
    )


def _kind(given: Any) -> str:
    return "None" if given is None else type(given).__name__


def _shown(given: Any) -> str:
    return repr(given) if isinstance(given, int | float) else _kind(given)


__all__ = ["a_function", "a_provider", "given_providers", "number", "whole"]
