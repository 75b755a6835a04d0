"""Options of an engine: what a host handed over, checked.

Each raises `CallerError` when the engine is made, and says what would do. What an option holds
inside is looked at by whoever reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from saywhy.errors import CallerError
from saywhy.flows.world import Options
from saywhy.trace.masking.redact import Policy

_SCALARS: Final = (str, int, float, bool, type(None))


def must_fit(options: Mapping[str, Any]) -> None:
    """Options by name, of which each that is listed below is of its kind."""
    for name, (fits, wanted, example) in _KINDS.items():
        value = options.get(name)
        if name in options and not fits(value):
            raise CallerError(f"{name} is {wanted}, not {_shown(value)}", hint=f"{name}={example}")


def _shown(value: Any) -> str:
    """A value as a message quotes it: of what may be long only its type."""
    return repr(value) if isinstance(value, _SCALARS) else type(value).__name__


def _is_switch(value: Any) -> bool:
    return isinstance(value, bool)


def _is_mapping(value: Any) -> bool:
    return value is None or isinstance(value, Mapping)


def _is_count(value: Any, least: int = 1) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _is_clock(value: Any) -> bool:
    return value is None or (hasattr(value, "now") and hasattr(value, "sleep"))


def _is_time(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


_Kind = tuple[Callable[[Any], bool], str, str]
_SWITCH: Final[_Kind] = (_is_switch, "True or False", "True")
_COUNT: Final[_Kind] = (_is_count, "a whole number from 1 on", "100")
_KINDS: Final[Mapping[str, _Kind]] = {
    **dict.fromkeys(
        (
            *("clarify", "offer_interruptions", "keep_empty_says", "validate_on_init", "strict"),
            *("validate_tool_returns", "log_tool_failures", "durable_actions"),
        ),
        _SWITCH,
    ),
    "max_steps": _COUNT,
    "max_depth": _COUNT,
    "default_max_retries": (
        partial(_is_count, least=0),
        "a whole number, 0 for none",
        "2",
    ),
    "lease_seconds": (_is_time, "a number of seconds above 0", "30"),
    "language": (
        lambda value: value is None or isinstance(value, str),
        "text, or None for one that is found out",
        '"en"',
    ),
    "globals": (_is_mapping, "values by name", '{"limit": 100}'),
    "guidance": (_is_mapping, "settings by name", '{"enabled": False}'),
    "command_words": (_is_mapping, "words by language", '{"en": {"cancel": ["drop it"]}}'),
    "clock": (_is_clock, "an object with now() and sleep()", "SystemClock()"),
    "store": (
        lambda value: value is None or isinstance(value, str | Path) or hasattr(value, "open"),
        "a store",
        'SqliteStore("conversations.db")',
    ),
    "redact": (lambda value: isinstance(value, Policy), "a Policy", "Policy()"),
    "is_authenticated": (
        lambda value: value is None or callable(value),
        "a function of cargo, or None",
        'lambda cargo: bool(cargo.get("user"))',
    ),
    "new_id": (callable, "a function without parameters", "lambda: str(uuid4())"),
}


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
    if isinstance(wanted, str) or not isinstance(wanted, Collection):  # pyright: ignore[reportUnnecessaryIsInstance] - callers
        raise CallerError(
            f"commands is True, False or a list of commands, not {_shown(wanted)}",
            hint='commands=["cancel", "help"]',
        )
    unknown = sorted(set(wanted) - known)
    if unknown:
        raise CallerError(f"no command is called {unknown[0]!r}; there are {sorted(known)}")
    return frozenset(wanted)
