"""What is noted on a function of the host's: that it only computes, so that nobody hands it over.

How functions are called is for tools and flows; the name of the parameter both fill is here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

_QUICK: Final = "__saywhy_quick__"

CONTEXT: Final = "context"
"""The parameter a function declares to learn who calls it, under which key, for which time."""


def quick(function: F) -> F:
    """Marks a function that returns at once, because it only computes.

    As a tool, and from an expression, it is called where the conversation runs: that saves the
    hand-over to a thread, and means that no time limit can end it.
    """
    setattr(function, _QUICK, True)
    return function


def is_quick(function: Callable[..., Any]) -> bool:
    """Whether `function` was marked as `quick`."""
    return bool(getattr(function, _QUICK, False))


def wants_context(function: Callable[..., Any]) -> bool:
    """Whether `function` declares `context` by keyword only, which an expression cannot pass."""
    try:
        return _remembered(function)
    except TypeError:  # not hashable
        return _declares(function)


def _declares(function: Callable[..., Any]) -> bool:
    try:
        parameter = inspect.signature(function).parameters.get(CONTEXT)
    except (TypeError, ValueError):  # written in C, and silent about its parameters
        return False
    return parameter is not None and parameter.kind is parameter.KEYWORD_ONLY


_remembered = lru_cache(maxsize=512)(_declares)
