"""Options of an engine that must be one of a few things: what a host handed over, checked.

Each raises `CallerError` when the engine is made, and says what would do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from saywhy.errors import CallerError
from saywhy.flows.world import Options


def callables(functions: Mapping[str, Any]) -> dict[str, Callable[..., Any]]:
    """The approved functions, each of which can be called."""
    if not isinstance(functions, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - callers
        kind = type(functions).__name__
        hint = 'Engine(functions={"name": function})'
        raise CallerError(f"functions is a dict from name to function, not {kind}", hint=hint)
    for name, function in functions.items():
        if not callable(function):
            kind = type(function).__name__
            raise CallerError(f'"{name}" among the functions is {kind}, which cannot be called')
    return dict(functions)


def one_of(option: str, value: str, allowed: tuple[str, ...]) -> Any:
    """`value`, which is one of the allowed ones."""
    if value not in allowed:
        words = f"{', '.join(allowed[:-1])} or {allowed[-1]}"
        raise CallerError(f"{option} is {words}, not {value!r}")
    return value


def milliseconds(option: str, value: float | None) -> float:
    """A time limit: 0 or None for none."""
    if value is None:
        return 0
    is_number = isinstance(value, int | float) and not isinstance(value, bool)  # pyright: ignore[reportUnnecessaryIsInstance] - callers
    if not is_number or not value >= 0:
        raise CallerError(
            f"{option} is milliseconds, 0 for no limit, not {value!r}", hint=f"{option}=2000"
        )
    return 0 if value == float("inf") else value


def must_be_texts(**given: Any) -> None:
    """Ids and languages of a conversation: texts, or left out."""
    for name, value in given.items():
        if value is not None and not isinstance(value, str):
            raise CallerError(
                f"{name} of a conversation is text, not {type(value).__name__}",
                hint=f"{name}=str(…)",
            )


def can_offer(wanted: bool, commands: Sequence[str] | bool) -> bool:
    """Whether interruptions are offered: only where the user can say yes and no."""
    if wanted and not {"switch", "continue"} <= commands_of(commands):
        raise CallerError(
            "offer_interruptions needs the commands switch and continue, which answer an offer",
            hint='name both in commands, as in commands=["cancel", "switch", "continue"]',
        )
    return wanted


def commands_of(wanted: Sequence[str] | bool) -> frozenset[str]:
    """The commands that are understood: all, none, or those listed."""
    known = Options().commands
    if isinstance(wanted, bool):
        return known if wanted else frozenset()
    unknown = sorted(set(wanted) - known)
    if unknown:
        raise CallerError(f"no command is called {unknown[0]!r}; there are {sorted(known)}")
    return frozenset(wanted)
