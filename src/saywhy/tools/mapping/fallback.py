"""What takes the place of a value that is missing or could not be made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from saywhy.tools.mapping.paths import ARGUMENTS, PathProblem, parse_path, reader_of
from saywhy.tools.mapping.run import Run, size_of, tree_of
from saywhy.values import freeze

Constant: TypeAlias = Callable[[Run], Any]

SMALL: Final = 100
"""Constants up to this size are not counted each time: the items they stand in are."""


def constant(value: Any) -> Constant:
    """`value` as it stands; `$args.x` names an argument."""
    if isinstance(value, str) and value.startswith(f"{ARGUMENTS}."):
        try:
            read = reader_of(parse_path(value))
        except PathProblem:
            return literal(value)
        return lambda run: read(run, None)
    return literal(value)


def literal(value: Any) -> Constant:
    """`value` as it stands."""
    tree = tree_of(freeze(value))
    size = size_of(tree)
    if size <= SMALL:
        return lambda run: tree

    def counted(run: Run) -> Any:
        run.spend(size)
        return tree

    return counted


def fallback_of(config: Mapping[str, Any]) -> Constant | None:
    """The `fallback` of a mapping or transform, None where there is none; null is one."""
    return constant(config["fallback"]) if "fallback" in config else None


def fallback_or(config: Mapping[str, Any], default: Any) -> Constant:
    """The `fallback`, else `default`."""
    return fallback_of(config) or (lambda run: default)
