"""An expression as the engine runs it: which values it is handed, compiled once for each shape.

An expression gets the values at the paths it reads, not the variables they are in: `user.name` in a
session of 200 KB costs as much as in an empty one. For that the text is compiled with `user.name`
replaced by an argument. Which prefix of a path can be replaced depends on what is there (a missing
parent must still raise as JavaScript does), so a program keeps one compiled function, a `Variant`,
for each shape of its arguments seen so far.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, Final

from saywhy.expr.chains import Path
from saywhy.expr.names import CONSTANTS, JAVASCRIPT_GLOBALS, RESERVED_GLOBALS, Reading, Use
from saywhy.expr.transfer import JSON_TEXT, TAGGED_TEXT, UNDEFINED_ARGUMENT

MISSING: Final = "-"
"""The letter of a name that is no variable."""

FUNCTION: Final = "f"
"""The letter of a name that is an approved function."""

Shape = tuple[str, ...]
"""One entry for each parameter: the letter of `transfer.argument`, and the depth where the path
was cut short."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A path whose value the expression is handed."""

    path: Path
    root: str
    has_length: bool
    """The path ends in `.length`, which is no key of a list or text."""
    inside: tuple[Path, ...] = ()
    """Where a variable may be changed, but only at paths that are written down: those paths. Then
    an object with nothing else in it will do, however large the variable is."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One compiled function with what is known about its results."""

    function: Any
    reads: tuple[Path, ...]
    exact: bool
    written: tuple[int, ...]
    """Numbers of the parameters that are read back."""
    has_functions: bool
    inserted: tuple[tuple[int, int, int], ...]
    """Replacements in the text: start, end, length of what stands there instead."""


class Program:
    """What is known about an expression before any value is."""

    __slots__ = (
        "_hidden",
        "clocked",
        "parameters",
        "reading",
        "simple_path",
        "source",
        "variants",
    )

    def __init__(self, source: str, reading: Reading) -> None:
        self.source = source
        self.reading = reading
        self.parameters = _parameters(reading)
        self.clocked = bool(reading.roots & {"Date"}) or "random" in source
        self.simple_path = _simple_path(source, reading)
        self.variants: dict[Any, Variant] = {}
        self._hidden = _hidden_prefix(reading, source)

    def text_for(self, shape: Shape, functions: tuple[str, ...], as_text: bool) -> Draft:
        """The JavaScript that makes the function for arguments of this shape."""
        return _Writer(self, shape, functions, as_text, self._hidden).draft()


@dataclass(frozen=True, slots=True)
class Draft:
    """JavaScript text of a variant, not compiled yet."""

    text: str
    reads: tuple[Path, ...]
    written: tuple[int, ...]
    inserted: tuple[tuple[int, int, int], ...]


def _parameters(reading: Reading) -> tuple[Parameter, ...]:
    """The shortest paths that together hold everything the expression uses."""
    changed = {path[0] for path in reading.writes}
    paths: dict[Path, None] = {}
    for use in reading.uses:
        root = str(use.path[0])
        if root not in RESERVED_GLOBALS and root not in CONSTANTS:
            paths[(root,) if use.is_called or root in reading.assigns else use.path] = None
    parameters: dict[Path, Parameter] = {}
    for path in _shortest(paths):
        root = str(path[0])
        if root in changed:
            inside = tuple(other for other in _shortest(paths) if other[0] == root)
            inside = () if (root,) in inside else inside
            parameters[(root,)] = Parameter((root,), root, False, inside)
        else:
            has_length = len(path) > 1 and path[-1] == "length"
            parameters[path] = Parameter(path, root, has_length)
    return tuple(parameters.values())


def _shortest(paths: Collection[Path]) -> list[Path]:
    """The paths that do not lie inside another one."""
    return [path for path in paths if not any(path[:n] in paths for n in range(1, len(path)))]


def sparse(tree: dict[str, Any], paths: Iterable[Path]) -> dict[str, Any]:
    """An object with nothing but what stands at `paths`, the first part of which is left out.

    Where a path leads through a list, all of the list is there.
    """
    made: dict[str, Any] = {}
    for path in paths:
        source, target = tree, made
        for depth, part in enumerate(path[1:], start=2):
            key = str(part)
            if key not in source:
                break
            inner = source[key]
            known = target.get(key)
            if depth == len(path) or type(inner) is not dict or known is inner:
                target[key] = inner
                break
            source = inner
            target = target.setdefault(key, {})
    return made


def _simple_path(source: str, reading: Reading) -> Path | None:
    """The path, where the expression is nothing but a path."""
    if len(reading.uses) != 1 or reading.writes or reading.assigns:
        return None
    use = reading.uses[0]
    whole = use.spans[-1]
    is_all = source[: whole[0]].strip() == "" and source[whole[1] :].strip() == ""
    root = use.path[0]
    if not is_all or use.is_called or root in JAVASCRIPT_GLOBALS or root == "arguments":
        return None
    return use.path


def _hidden_prefix(reading: Reading, source: str) -> str:
    """A prefix for our own names that no name in the expression starts with."""
    prefix = "$_"
    while prefix in source or any(name.startswith(prefix) for name in reading.spelled):
        prefix += "_"
    return prefix


class _Writer:
    """Writes the text of one variant."""

    def __init__(
        self,
        program: Program,
        shape: Shape,
        functions: tuple[str, ...],
        as_text: bool,
        hidden: str,
    ) -> None:
        self._program = program
        self._shape = shape
        self._functions = functions
        self._as_text = as_text
        self._hidden = hidden
        self._arguments: list[str] = []
        self._prologue: list[str] = []
        self._edits: list[tuple[int, int, str]] = []
        self._written: list[int] = []

    def draft(self) -> Draft:
        h = self._hidden
        for number in range(len(self._shape)):
            self._parameter(number)
        for name in self._functions:
            self._prologue.append(f'const {name}={h}K.door("{name}");')
        if self._functions:
            edits = ((at, at, f"{h}K.stopped();") for at in self._program.reading.handlers)
            self._edits.extend(edits)
        source, inserted = _edited(self._program.source, self._edits)
        head, tail = self._frame()
        return Draft(
            text=f"{head}(\n{source}\n){tail}",
            reads=self._reads(),
            written=tuple(self._written),
            inserted=inserted,
        )

    def _parameter(self, number: int) -> None:
        letter, depth = self._shape[number][0], int(self._shape[number][1:] or 0)
        if letter in (MISSING, FUNCTION):
            return
        parameter = self._program.parameters[number]
        depth = depth or len(parameter.path)
        name = parameter.root if depth == 1 else f"{self._hidden}{number}"
        if depth > 1:
            self._replace(parameter.path, depth, name)
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
        reading = self._program.reading
        handed_on = any(
            use.path[0] in self._functions and not use.is_called for use in reading.uses
        ) or any(name in JAVASCRIPT_GLOBALS for name in self._functions)
        return handed_on or any(path[0] == parameter.root for path in reading.writes)

    def _replace(self, path: Path, depth: int, name: str) -> None:
        for use in self._program.reading.uses:
            if use.path[:depth] == path[:depth] and len(use.path) >= depth:
                start, end = use.spans[depth - 1]
                # Spaces, so that `user.x in y` cannot grow into one word.
                self._edits.append((start, end, f" {name} "))

    def _reads(self) -> tuple[Path, ...]:
        absent = {
            self._program.parameters[number].root
            for number, letter in enumerate(self._shape)
            if letter[0] in (MISSING, FUNCTION)
        }
        present = {parameter.root for parameter in self._program.parameters} - absent
        static = tuple(path for path in self._program.reading.reads if path[0] in present)
        shadowing = {use.path for use in self._program.reading.uses if _shadows(use, present)}
        return static + tuple(sorted(shadowing, key=str))

    def _frame(self) -> tuple[str, str]:
        h = self._hidden
        begin = end = ""
        arguments = list(self._arguments)
        if self._program.clocked:
            arguments = [f"{h}m", f"{h}s", *arguments]
            begin, end = f"{h}K.begin({h}m,{h}s);", f"finally{{{h}K.end()}}"
        if self._functions:
            arguments = [f"{h}q", *arguments]
            begin += f"{h}K.open({h}q);"
        head = (
            f'(function({h}K){{"use strict";const {h}O={h}K.{"text" if self._as_text else "out"},'
            f"{h}P={h}K.parse,{h}D={h}K.decode;"
            f"return(function(){{return({','.join(arguments)})=>{{try{{"
            f"{begin}{''.join(self._prologue)}const {h}r="
        )
        return head, f";{self._result()}}}catch({h}e){{return {h}K.fail({h}e)}}{end}}}}}).call()}})"

    def _result(self) -> str:
        h = self._hidden
        if self._written or self._functions:
            roots = ",".join(f"{h}w{number}" for number in self._written)
            as_text = "true" if self._as_text else "false"
            return f"return {h}K.ended({h}r,[{roots}],{as_text})"
        if self._as_text:
            return f"return {h}O({h}r)"
        return f'return typeof {h}r==="number"?{h}r:{h}O({h}r)'


def _shadows(use: Use, present: set[str]) -> bool:
    return use.path[0] in present and use.path[0] in JAVASCRIPT_GLOBALS and not use.is_called


def _edited(
    source: str, edits: list[tuple[int, int, str]]
) -> tuple[str, tuple[tuple[int, int, int], ...]]:
    """`source` with the edits made, and where in the new text they stand."""
    parts: list[str] = []
    made: list[tuple[int, int, int]] = []
    at = 0
    for start, end, text in sorted(set(edits)):
        parts += [source[at:start], text]
        made.append((start, end, len(text)))
        at = end
    parts.append(source[at:])
    return "".join(parts), tuple(made)
