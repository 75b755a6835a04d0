"""Writes the JavaScript that is compiled for an expression and one shape of its arguments.

Around the author's text stands a function that takes the arguments, and inside it, where the text
needs it: arguments in place of paths, checks of the clock in loops and functions, a way out of
`catch` for calls that wait, and bounded operations in place of BigInt's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from saywhy.expr.chains import Path
from saywhy.expr.details import Operation, Span, Use
from saywhy.expr.names import JAVASCRIPT_GLOBALS
from saywhy.expr.program import FUNCTION, MISSING, Parameter, Program, Shape
from saywhy.expr.transfer import JSON_TEXT, TAGGED_TEXT, UNDEFINED_ARGUMENT

TURNS_PER_TICK: Final = 15
"""Turns of a loop, or calls of functions, between two looks at the clock."""

_METHODS: Final = {
    "*": "product",
    "**": "power",
    "<<": "shift",
    "<": "less",
    "<=": "atMost",
    ">": "more",
    ">=": "atLeast",
}

_CLOSE, _OPEN, _REPLACE = range(3)


@dataclass(frozen=True, slots=True)
class Draft:
    """JavaScript text of a variant, not compiled yet."""

    text: str
    reads: tuple[Path, ...]
    written: tuple[int, ...]
    inserted: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True)
class Edit:
    """Text that stands instead of a span; an insertion where the span is empty.

    At one offset, what closes comes first, inner before outer, then what opens, outer before inner.
    """

    span: Span
    rank: int
    number: int
    text: str

    @property
    def order(self) -> tuple[int, int, int]:
        """Key to sort by."""
        return self.span[0], self.rank, -self.number if self.rank == _CLOSE else self.number


def draft_of(program: Program, shape: Shape, functions: tuple[str, ...], as_text: bool) -> Draft:
    """The JavaScript that makes the function for arguments of this shape."""
    return _Writer(program, shape, functions, as_text).draft()


class _Writer:
    def __init__(
        self, program: Program, shape: Shape, functions: tuple[str, ...], as_text: bool
    ) -> None:
        self._program = program
        self._details = program.reading.details
        self._shape = shape
        self._functions = functions
        self._as_text = as_text
        self._hidden = program.hidden
        self._arguments: list[str] = []
        self._prologue: list[str] = []
        self._doors = ""
        self._edits: list[Edit] = []
        self._wraps: list[tuple[Span, str, str]] = []
        self._written: list[int] = []

    def draft(self) -> Draft:
        """All of it."""
        h = self._hidden
        for number in range(len(self._shape)):
            self._parameter(number)
        for name in self._functions:
            self._door(name)
        self._tick()
        self._bound()
        if self._functions or self._program.speaks:
            for at in self._details.handlers:
                self._insert(at, _own(f"{h}K.stopped();"))
        self._put_wraps()
        source, inserted = _edited(self._program.source, self._edits)
        head, tail = self._frame()
        return Draft(
            text=f"{head}(\n{source}\n){tail}",
            reads=self._reads(),
            written=tuple(self._written),
            inserted=inserted,
        )

    # ------------------------------------------------------------- arguments

    def _parameter(self, number: int) -> None:
        letter, depth = self._shape[number][0], int(self._shape[number][1:] or 0)
        if letter in (MISSING, FUNCTION):
            return
        parameter = self._program.parameters[number]
        depth = depth or len(parameter.path)
        name = parameter.root if depth == 1 else f"{self._hidden}{number}"
        if depth > 1:
            self._stand_in(parameter.path, depth, name)
        self._declare(number, name, letter)
        if self._is_written(parameter, letter):
            self._written.append(number)
            self._prologue.append(f"const {self._hidden}w{number}={parameter.root};")

    def _declare(self, number: int, name: str, letter: str) -> None:
        h = self._hidden
        if letter == UNDEFINED_ARGUMENT:
            self._prologue.append(f"let {name};")
        elif letter in (JSON_TEXT, TAGGED_TEXT):
            self._arguments.append(f"{h}a{number}")
            reader = "P" if letter == JSON_TEXT else "D"
            self._prologue.append(f"let {name}={h}{reader}({h}a{number});")
        else:
            self._arguments.append(name)

    def _is_written(self, parameter: Parameter, letter: str) -> bool:
        if letter not in (JSON_TEXT, TAGGED_TEXT) or len(parameter.path) > 1:
            return False
        if any(path[0] == parameter.root for path in self._program.reading.writes):
            return True
        # A function of the host that is passed around, or has the name of one of JavaScript's, is
        # called in places that the reading did not expect.
        return any(
            name in JAVASCRIPT_GLOBALS
            or any(use.path[0] == name and not use.is_called for use in self._details.uses)
            for name in self._functions
        )

    def _door(self, name: str) -> None:
        """Let an approved function be called. What is never looked at, only called, is made once;
        otherwise each evaluation has its own, to which it may give properties."""
        door = f'const {name}={self._hidden}K.door("{name}");'
        if all(use.is_called for use in self._details.uses if use.path[0] == name):
            self._doors += door
        else:
            self._prologue.append(door)

    def _stand_in(self, path: Path, depth: int, name: str) -> None:
        for use in self._details.uses:
            if use.path[:depth] == path[:depth] and len(use.path) >= depth:
                # Spaces, so that `user.x in y` cannot grow into one word.
                self._replace(use.spans[depth - 1], f" {name} ")

    def _reads(self) -> tuple[Path, ...]:
        parameters = self._program.parameters
        present = {
            parameter.root
            for parameter, letter in zip(parameters, self._shape, strict=True)
            if letter[0] not in (MISSING, FUNCTION)
        }
        static = tuple(path for path in self._program.reading.reads if path[0] in present)
        shadowing = {use.path for use in self._details.uses if _shadows(use, present)}
        return static + tuple(sorted(shadowing, key=str))

    # ----------------------------------------------------------------- edits

    def _insert(self, at: int, text: str, rank: int = _OPEN) -> None:
        self._edits.append(Edit((at, at), rank, len(self._edits), text))

    def _replace(self, span: Span, text: str) -> None:
        self._edits.append(Edit(span, _REPLACE, len(self._edits), text))

    def _wrap(self, span: Span, before: str, after: str) -> None:
        self._wraps.append((span, before, after))

    def _put_wraps(self) -> None:
        """From outside to inside, whatever asked for them: so they stand around one another."""
        for span, before, after in sorted(self._wraps, key=lambda each: (each[0][0], -each[0][1])):
            self._insert(span[0], before)
            self._insert(span[1], after, _CLOSE)

    def _tick(self) -> None:
        """Let every function and every turn of a loop look at the clock now and then."""
        if not self._details.bodies and not self._details.rests:
            return
        h = self._hidden
        # Counting down to zero costs half of a comparison, and `var` is read unchecked.
        count = f"{h}n={TURNS_PER_TICK}"
        look = f"--{h}n||({count},{h}d={h}K.tick({h}d))"
        since = f"{h}K.tick(0)" if self._details.rests else "0"
        self._prologue.append(f"var {count},{h}d={since};")
        for span, is_statement in self._details.rests:
            before, after = ("", "") if is_statement else ("(", _own(")"))
            self._wrap(span, _own(f"{before}{h}d={h}K.tick({h}d),"), after)
        for body in self._details.bodies:
            if body.kind == "block":
                self._insert(body.span[0] + 1, _own(f"{look};"))
            elif body.kind == "statement":
                self._wrap(body.span, _own(f"{{{look};"), _own("}"))
            else:
                self._wrap(body.span, _own(f"({look},"), _own(")"))

    def _bound(self) -> None:
        """Put our own operations where the engine does not look at the clock, or is wrong."""
        for span in self._details.references:
            self._wrap(span, f"{self._hidden}B.careful(", ")")
        for span in self._details.spreads:
            # The engine spreads nothing where a text is spread into an object.
            self._wrap(span, f"{self._hidden}B.spread(", ")")
        if self._details.has_bigints or any(letter[0] == TAGGED_TEXT for letter in self._shape):
            for operation in self._details.operations:
                self._operation(operation)

    def _operation(self, operation: Operation) -> None:
        call = f"{self._hidden}B.{_METHODS[operation.sign]}("
        if operation.target:
            self._replace(operation.operator, f"={call}{operation.target},")
            self._wrap(operation.span, "", ")")
        else:
            self._wrap(operation.span, call, ")")
            self._replace(operation.operator, ",")

    # ----------------------------------------------------------------- frame

    def _frame(self) -> tuple[str, str]:
        h = self._hidden
        begin = end = ""
        arguments = list(self._arguments)
        if self._program.clocked:
            arguments = [f"{h}m", f"{h}s", *arguments]
            begin, end = f"{h}K.begin({h}m,{h}s);", f"{h}K.end();"
        if self._functions:
            arguments = [f"{h}q", *arguments]
            begin, end = f"{begin}{h}K.open({h}q);", f"{h}K.close();{end}"
        if self._program.speaks:
            arguments = [f"{h}l", *arguments]
            begin, end = f"{begin}{h}K.hear({h}l);", f"{h}K.hush();{end}"
        end = end and f"finally{{{end}}}"
        result = "text" if self._as_text else "out"
        head = (
            f'(function({h}K,{h}B){{"use strict";'
            f"const {h}O={h}K.{result},{h}P={h}K.parse,{h}D={h}K.decode;{self._doors}"
            f"return(function(){{return({','.join(arguments)})=>{{try{{"
            f"{begin}{''.join(self._prologue)}const {h}r="
        )
        failed = f"catch({h}e){{return {h}K.fail({h}e)}}"
        return head, f";{self._result()}}}{failed}{end}}}}}).call()}})"

    def _result(self) -> str:
        h = self._hidden
        as_text = "true" if self._as_text else "false"
        if self._written or self._details.is_async:
            # Marked in any case: the context does not outlive an async function.
            roots = ",".join(f"{h}w{number}" for number in self._written)
            return f"return {h}K.changed({h}r,[{roots}],{as_text})"
        if self._functions:
            return f"return {h}K.ended({h}r,{as_text})"
        # Numbers come out as they are, also for a text: `numbers` writes them. So does what most
        # conditions give; looking at it here takes a third of a call.
        asked = f"if({h}K.asks())return {h}K.take();" if self._program.speaks else ""
        truth = "" if self._as_text else f'||typeof {h}r==="boolean"'
        return f'{asked}return typeof {h}r==="number"{truth}?{h}r:{h}O({h}r)'


def _own(text: str) -> str:
    """Text of ours between marks, by which guard.js leaves it out of `String(function)`."""
    return f"/*$(*/{text}/*$)*/"


def _shadows(use: Use, present: set[str]) -> bool:
    return use.path[0] in present and use.path[0] in JAVASCRIPT_GLOBALS and not use.is_called


def _edited(source: str, edits: list[Edit]) -> tuple[str, tuple[tuple[int, int, int], ...]]:
    """`source` with the edits made, and how long what stands at which place is now."""
    parts: list[str] = []
    made: list[tuple[int, int, int]] = []
    at = 0
    for edit in _in_order(edits):
        start, end = edit.span
        parts += [source[at:start], edit.text]
        made.append((start, end, len(edit.text)))
        at = end
    parts.append(source[at:])
    return "".join(parts), tuple(made)


def _in_order(edits: list[Edit]) -> Iterator[Edit]:
    """The edits from left to right; a path that two uses share is replaced once."""
    replaced: set[Span] = set()
    for edit in sorted(edits, key=lambda edit: edit.order):
        if edit.rank == _REPLACE:
            if edit.span in replaced:
                continue
            replaced.add(edit.span)
        yield edit
