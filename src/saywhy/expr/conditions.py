"""Is an expression a condition that can be decided here: `roles.includes('admin') && age > 17`?

Branches of flows compare, and combine what they compared. Asking the engine takes longer than that.
Only what JavaScript and Python decide alike is done here, with texts, plain numbers, booleans and
null, and lists only where they are searched or measured. All else is for the engine: at once, where
the expression is of another form, or when its values are seen (`Unsure`).

Left to `counting`: one variable beside one number, which is faster still.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from saywhy.expr import comparing
from saywhy.expr.chains import Path
from saywhy.expr.comparing import Decide, Unsure, Values
from saywhy.expr.counting import MOST
from saywhy.expr.handed import is_undefined
from saywhy.expr.outcome import Evaluated, Names
from saywhy.expr.program import Parameter
from saywhy.expr.texts import WRITERS
from saywhy.expr.transfer import whole
from saywhy.values import UNDEFINED, FrozenList

MAX_SOURCE: Final = 500
"""Characters; this bounds how many comparisons follow one another."""
MAX_DEPTH: Final = 10
"""Brackets, choices and negations inside one another."""

Place = tuple[Path, Parameter | None]
"""A path, and what is handed in for it; None where it is searched or measured: only there a list is
welcome."""


class _Other(Exception):
    """The expression is of another form."""


class Condition:
    """How a condition is decided: which values it takes, and what they come to."""

    __slots__ = ("_decide", "_names", "_places", "_reads")

    def __init__(self, decide: Decide, places: tuple[Place, ...], reads: tuple[Path, ...]) -> None:
        self._decide: Final = decide
        self._reads: Final = reads
        self._places: Final = places
        self._names: Final = frozenset(path[0] for path, _ in places) | {"includes"}

    def evaluated(self, names: Names, as_text: bool) -> Evaluated | None:
        """What it comes to, or the text of that; None where the engine has to be asked."""
        functions, get = names.functions, names.get
        if functions and not self._names.isdisjoint(functions):
            return None  # an approved function of such a name may be what is meant
        values: Values = []
        for path, parameter in self._places:
            value = get(path)
            kind = type(value)
            if parameter is None:
                if kind is not FrozenList and (kind is not str or not value.isascii()):
                    return None
            elif not (
                (kind is int and -MOST <= value <= MOST)
                or (kind is str and value.isascii())
                or kind in _PLAIN
                or (value is UNDEFINED and is_undefined(parameter, names))
            ):
                return None
            values.append(value)
        try:
            value = self._decide(values)
        except Unsure:
            return None
        if type(value) is float:
            value = whole(value)
        if as_text:
            value = WRITERS[type(value)](value)
        return Evaluated(value, self._reads, True)


def condition_of(
    source: str, parameters: Sequence[Parameter], reads: tuple[Path, ...]
) -> Condition | None:
    """The condition in `source`, which is handed these values; None where it is none."""
    if len(source) > MAX_SOURCE:
        return None
    try:
        reader = _Reader(source)
        decide = reader.whole()
    except _Other:
        return None
    known = {parameter.path: parameter for parameter in parameters}
    if reader.read != known.keys():
        return None
    places = reader.places.items()
    found = tuple((path, None if takes_lists else known[path]) for path, takes_lists in places)
    return Condition(decide, found, reads)


# ------------------------------------------------------------------ reading

_TOKEN: Final = re.compile(
    r"""\s*(?:(?P<name>[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*)
    | (?P<number>(?:0|[1-9]\d{0,8})(?:\.\d{1,9})?)
    | '(?P<single>[^'\\\n\r]*)' | "(?P<double>[^"\\\n\r]*)"
    | (?P<sign>===|!==|==|!=|<=|>=|&&|\|\||\?(?![.?])|[!:()<>+\-]))""",
    re.ASCII | re.VERBOSE,
)
_CONSTANTS: Final = {"true": True, "false": False, "null": None, "undefined": UNDEFINED}
_PLAIN: Final = frozenset({float, bool, type(None)})


def _tokens(source: str) -> Iterator[tuple[str, str]]:
    at, end = 0, len(source.rstrip())
    while at < end:
        match = _TOKEN.match(source, at)
        if match is None or match.lastgroup is None:
            raise _Other
        at = match.end()
        kind = match.lastgroup
        yield "text" if kind in ("single", "double") else kind, match[kind]
    yield "end", ""


class _Reader:
    """Reads from left to right, weakest operator first."""

    def __init__(self, source: str) -> None:
        self.places: dict[Path, bool] = {}
        self.read: set[Path] = set()
        """The paths as they are written, where `places` leaves out a `length`."""
        self._depth = 0
        self._tokens = _tokens(source)
        self._kind, self._text = next(self._tokens)

    def whole(self) -> Decide:
        decide = self._choice()
        if self._kind != "end":
            raise _Other
        return decide

    def _next(self) -> str:
        """The text of the token at hand; the one after it is at hand from now on."""
        text = self._text
        self._kind, self._text = next(self._tokens, ("end", ""))
        return text

    def _is_sign(self, *signs: str) -> bool:
        return self._kind == "sign" and self._text in signs

    def _take(self, sign: str) -> None:
        if not self._is_sign(sign):
            raise _Other
        self._next()

    def _inner(self, read: Callable[[], Decide]) -> Decide:
        """What is read inside of something."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _Other
        found = read()
        self._depth -= 1
        return found

    def _choice(self) -> Decide:
        one = self._binary()
        if not self._is_sign("?"):
            return one
        self._next()
        yes = self._inner(self._choice)
        self._take(":")
        return comparing.choice(one, yes, self._inner(self._choice))

    def _binary(self, level: int = 0) -> Decide:
        """Operands, and those operators between them that are as strong as `level`."""
        if level == len(_LEVELS):
            return self._unary()
        signs, join = _LEVELS[level]
        one = self._binary(level + 1)
        while self._is_sign(*signs):
            sign = self._next()
            one = join(sign, one, self._binary(level + 1))
        return one

    def _unary(self) -> Decide:
        if self._is_sign("!"):
            self._next()
            return comparing.negated(self._inner(self._unary))
        if self._is_sign("-"):  # a sign only of numbers, and not of zero, which keeps it
            self._next()
            number = _number(self._next()) if self._kind == "number" else 0
            if not number:
                raise _Other
            return comparing.Constant(-number)
        return self._primary()

    def _primary(self) -> Decide:
        if self._is_sign("("):
            self._next()
            inside = self._inner(self._choice)
            self._take(")")
            return inside
        kind, text = self._kind, self._next()
        if kind == "number":
            return comparing.Constant(_number(text))
        if kind == "text" and text.isascii():
            return comparing.Constant(text)
        if kind != "name":
            raise _Other
        return comparing.Constant(_CONSTANTS[text]) if text in _CONSTANTS else self._variable(text)

    def _variable(self, text: str) -> Decide:
        path: Path = tuple(text.split("."))
        if self._is_sign("("):
            return self._search(path)
        self.read.add(path)
        if len(path) > 1 and path[-1] == "length":
            return comparing.length(self._place(path[:-1], takes_lists=True))
        return comparing.Held(self._place(path, takes_lists=False))

    def _search(self, path: Path) -> Decide:
        """`path.includes('text')`, from behind the name on."""
        *inner, method = path
        if method != "includes" or not inner:
            raise _Other
        self._next()
        kind, text = self._kind, self._next()
        self._take(")")
        if kind != "text" or not text.isascii():
            raise _Other
        self.read.add(tuple(inner))
        return comparing.search(self._place(tuple(inner), takes_lists=True), text)

    def _place(self, path: Path, *, takes_lists: bool) -> int:
        """The number of a path. What is searched or measured is not compared as well."""
        if self.places.setdefault(path, takes_lists) is not takes_lists:
            raise _Other
        return list(self.places).index(path)


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)


def _sum(sign: str, one: Decide, other: Decide) -> Decide:
    for side in (one, other):
        if isinstance(side, comparing.Constant) and type(side.value) not in comparing.NUMBERS:
            raise _Other  # a text is put together
    return comparing.total(sign, one, other)


_LEVELS: Final[tuple[tuple[tuple[str, ...], Callable[[str, Decide, Decide], Decide]], ...]] = (
    (("||",), comparing.either),
    (("&&",), comparing.both),
    (("===", "!==", "==", "!="), comparing.equality),
    (("<", "<=", ">", ">="), comparing.order),
    (("+", "-"), _sum),
)
"""Operators between two operands, the weakest first, and what they make."""
