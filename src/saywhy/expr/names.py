"""What does an expression read, write and call? Known from its text, before it ever runs.

Used by checks (unknown names, syntax errors with their place), by the trace (what a decision was
based on) and by `javascript`, which hands an expression only what it reads.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from threading import Lock
from typing import Final, TypeVar

from saywhy.expr.chains import Chain, Path, chain_at
from saywhy.expr.details import Details, details_of
from saywhy.expr.effects import Effects
from saywhy.expr.scopes import Walk
from saywhy.expr.syntax import (
    MAX_LENGTH,
    Source,
    SyntaxProblem,
    length_problem,
    syntax_problem,
)
from saywhy.expr.words import CONSTANTS, JAVASCRIPT_GLOBALS, RESERVED_GLOBALS

__all__ = [
    "CONSTANTS",
    "JAVASCRIPT_GLOBALS",
    "MAX_LENGTH",
    "RESERVED_GLOBALS",
    "Path",
    "Reading",
    "SyntaxProblem",
    "read_expression",
]

T = TypeVar("T")

CACHE_SIZE: Final = 4096


@dataclass(frozen=True, slots=True)
class Reading:
    """What an expression does with names that are not its own."""

    reads: tuple[Path, ...] = ()
    """What it may read, in the order of the text; `.length` counts as a key."""
    exact: bool = True
    """False where `reads` is an upper bound: `user[k]` reads some part of `user`."""
    writes: tuple[Path, ...] = ()
    """What inside variables it may change: an upper bound."""
    assigns: tuple[str, ...] = ()
    """Bare names it assigns, which changes nothing outside of the expression."""
    calls: tuple[str, ...] = ()
    """Free names it calls, JavaScript's own among them."""
    roots: frozenset[str] = frozenset()
    """All free names, the called ones as well."""
    error: SyntaxProblem | None = None
    details: Details = field(default=Details(), repr=False, compare=False)
    """Places in the text, for `program`, which makes something runnable of it."""


_cache: OrderedDict[str, Reading] = OrderedDict()
_lock = Lock()


def read_expression(source: str) -> Reading:
    """What `source` reads and writes. The same object for the same text, while it is remembered."""
    known = _cache.get(source)
    if known is not None:
        return known
    reading = _read(source)
    with _lock:
        _cache[source] = reading
        if len(_cache) > CACHE_SIZE:
            _cache.popitem(last=False)
    return reading


def _read(text: str) -> Reading:
    too_long = length_problem(text)
    if too_long is not None:
        return Reading(error=too_long)
    source = Source(text)
    walk = Walk(source, source.expression() or source.root)
    chains = [chain_at(name, item, source) for name, item in walk.free() if name not in CONSTANTS]
    error = syntax_problem(source) or walk.problem
    if error is not None:
        return Reading(error=error, roots=frozenset(chain.root for chain in chains))
    return _reading(walk, chains)


def _reading(walk: Walk, chains: list[Chain]) -> Reading:
    own = [chain for chain in chains if chain.root not in JAVASCRIPT_GLOBALS]
    return Reading(
        reads=_unique(chain.path for chain in own if _is_read(chain)),
        exact=not any(chain.is_dynamic for chain in own),
        writes=Effects(walk, chains).writes(),
        assigns=_unique(chain.root for chain in chains if _is_assigned(chain)),
        calls=_unique(chain.root for chain in chains if chain.is_called),
        roots=frozenset(chain.root for chain in chains),
        details=details_of(walk, chains),
    )


def _is_assigned(chain: Chain) -> bool:
    return (
        chain.is_written
        and chain.end is chain.item
        and len(chain.path) == 1
        and (chain.item.mode in ("assign", "update"))
    )


def _is_read(chain: Chain) -> bool:
    if chain.is_called:
        return False
    return not chain.is_written or chain.end.mode == "update" or chain.is_dynamic


def _unique(things: Iterable[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(things))
