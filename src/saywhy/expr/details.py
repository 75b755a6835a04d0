"""Where in an expression stands what the engine must see differently from how it was written?

Offsets only, found once when the expression is read; what is put there is `program`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from saywhy.expr.brief import is_brief
from saywhy.expr.chains import Chain, Path
from saywhy.expr.harmless import is_harmless
from saywhy.expr.scopes import Walk

Span: TypeAlias = tuple[int, int]

_BIGINT: Final = re.compile(r"[0-9a-fA-F_]n\b|BigInt")
_BACK_REFERENCE: Final = re.compile(r"\\[1-9]|\\k<")


@dataclass(frozen=True, slots=True)
class Use:
    """One place where a free name is used."""

    path: Path
    spans: tuple[Span, ...]
    """Where each prefix of `path` stands."""
    is_called: bool
    is_written: bool


@dataclass(frozen=True, slots=True)
class Body:
    """Body of a function or loop: a block, one statement, or one expression."""

    span: Span
    kind: Literal["block", "statement", "expression"]


@dataclass(frozen=True, slots=True)
class Operation:
    """`a * b`, `a ** b`, `a << b`, or one of them with assignment to a name; or a comparison."""

    span: Span
    operator: Span
    sign: str
    target: str
    """The name that is assigned; empty for a plain operation."""


@dataclass(frozen=True, slots=True)
class Details:
    """All such places of one expression."""

    uses: tuple[Use, ...] = ()
    spelled: frozenset[str] = frozenset()
    """Every name in the text, local ones as well."""
    handlers: tuple[int, ...] = ()
    """Offsets just inside the blocks of `catch` and `finally`."""
    bodies: tuple[Body, ...] = ()
    operations: tuple[Operation, ...] = ()
    references: tuple[Span, ...] = ()
    """Regular expressions with back references."""
    spreads: tuple[Span, ...] = ()
    """What is spread into an object literal."""
    rests: tuple[tuple[Span, bool], ...] = ()
    """Operations before which a long expression looks at the clock, and whether it is statements:
    with brackets around it, the line before would call it."""
    is_async: bool = False
    has_bigints: bool = False
    """A BigInt is written in the text, or made."""
    is_brief: bool = False
    """It needs no time limit, if all it is handed is short."""
    is_harmless: bool = False
    """It changes nothing of what it is handed."""


def details_of(walk: Walk, chains: Sequence[Chain]) -> Details:
    """The places in the expression that was walked."""
    source = walk.source
    return Details(
        uses=tuple(
            Use(chain.path, chain.spans, chain.is_called, chain.is_written) for chain in chains
        ),
        spelled=frozenset(walk.spelled),
        handlers=tuple(source.offset(block.start_byte) + 1 for block in walk.handlers),
        bodies=tuple(_bodies(walk)),
        operations=tuple(_operations(walk)),
        references=tuple(
            source.span(node)
            for node in walk.patterns
            if _BACK_REFERENCE.search(source.spelling(node))
        ),
        spreads=tuple(source.span(node) for node in walk.spreads),
        rests=tuple((source.span(node), is_statement) for node, is_statement in walk.rests),
        is_async=walk.has_async,
        has_bigints=_BIGINT.search(source.text) is not None,
        is_brief=not walk.rests and is_brief(source.text, walk.root),
        is_harmless=is_harmless(walk.root),
    )


def _bodies(walk: Walk) -> Iterator[Body]:
    for node, kind in walk.bodies:
        span = walk.source.span(node)
        if walk.source.text.startswith("{", span[0]):  # the parser may take a block for an object
            yield Body(span, "block")
        elif kind == "arrow_function":
            yield Body(span, "expression")
        else:
            yield Body(span, "statement")


def _operations(walk: Walk) -> Iterator[Operation]:
    source = walk.source
    for node in walk.operations:
        operator = node.child_by_field_name("operator")
        left = node.child_by_field_name("left")
        if operator is None or left is None:
            continue
        target = ""
        if node.type == "augmented_assignment_expression":
            if left.type != "identifier":
                continue
            target = source.spelling(left)
        sign = operator.type.removesuffix("=") if target else operator.type
        yield Operation(source.span(node), source.span(operator), sign, target)
