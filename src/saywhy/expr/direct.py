"""Which expressions need no engine: a path, a number beside one, a condition.

They are what flows are full of, and asking the engine takes longer than all the rest of such an
evaluation. `counting` and `conditions` say what can be computed here; each may still find values
that only JavaScript knows what to do with.
"""

from __future__ import annotations

from typing import Any, Final

from saywhy.expr.conditions import condition_of
from saywhy.expr.counting import MOST, Operation, operation_of
from saywhy.expr.failures import too_large
from saywhy.expr.handed import Refused, absent, is_undefined
from saywhy.expr.names import JAVASCRIPT_GLOBALS
from saywhy.expr.outcome import Direct, Evaluated, Names
from saywhy.expr.program import Program
from saywhy.expr.texts import WRITERS
from saywhy.expr.transfer import SCALAR, whole
from saywhy.values import UNDEFINED

_NOT_VARIABLES: Final = JAVASCRIPT_GLOBALS | {"arguments"}


def direct_of(program: Program) -> Direct | None:
    """How a program is evaluated without the engine; None where it cannot be."""
    reading = program.reading
    if reading.writes or reading.assigns:
        return None
    roots = {parameter.root for parameter in program.parameters}
    if not roots or roots & _NOT_VARIABLES:
        return None
    simple = _simple(program) if len(reading.details.uses) == 1 else None
    if simple is not None or not reading.exact:
        return simple
    return condition_of(program.source, program.parameters, reading.reads)


def _simple(program: Program) -> Direct | None:
    """A path alone, or a number behind it."""
    use, source = program.reading.details.uses[0], program.source
    if use.is_called:
        return None
    start, end = use.spans[-1]
    before, behind = source[:start].strip(), source[end:].strip()
    if before:
        return None
    if not behind:
        return _PathAlone(program)
    operation = operation_of(behind)
    # A length is no key of a list or text: see `Parameter`.
    return None if operation is None or use.path[-1] == "length" else _Counted(program, operation)


class _OnePath:
    """An expression about one path."""

    __slots__ = ("_exact", "_parameter", "_path", "_reads", "_root")

    def __init__(self, program: Program) -> None:
        self._path: Final = program.reading.details.uses[0].path
        self._root: Final = self._path[0]
        self._parameter: Final = program.parameters[0]
        self._reads: Final = program.reading.reads
        self._exact: Final = program.reading.exact


class _PathAlone(_OnePath):
    """What a path holds."""

    __slots__ = ()

    def evaluated(self, names: Names, as_text: bool) -> Evaluated | None:
        """See `Direct`."""
        if self._root in names.functions:
            return None
        value: Any = names.get(self._path)
        if value is UNDEFINED:
            letter, found = absent(self._parameter, names)
            if letter == SCALAR:
                value = found
            elif not is_undefined(self._parameter, names):
                return None
        kind = type(value)
        if kind is int and not -(2**53) <= value <= 2**53:
            raise Refused(too_large(self._path))
        if as_text:
            writer = WRITERS.get(kind)
            if writer is None:
                return None
            value = writer(value)
        return Evaluated(value, self._reads, self._exact)


class _Counted(_OnePath):
    """What a plain number and one beside it come to."""

    __slots__ = ("_number", "_operate")

    def __init__(self, program: Program, operation: Operation) -> None:
        super().__init__(program)
        self._operate, self._number = operation

    def evaluated(self, names: Names, as_text: bool) -> Evaluated | None:
        """See `Direct`."""
        if self._root in names.functions:
            return None
        value: Any = names.get(self._path)
        kind = type(value)
        if kind is not float and (kind is not int or not -MOST <= value <= MOST):
            return None
        value = self._operate(value, self._number)
        if type(value) is float:
            value = whole(value)
        if as_text:
            value = WRITERS[type(value)](value)
        return Evaluated(value, self._reads, self._exact)
