"""Evaluates the tables of expressions in our pages, so that each row says what is true.

A table counts when its first column is called `expression`. What is checked in the others goes by
their names; a column of another name is for the reader. Variables and clock come from the last
`json variables now=…` block above the table; each row starts from these anew.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path as File
from typing import Final

from pages import fences, prose
from saywhy.expr.javascript import Change, Evaluated, JavaScript, Outcome, Raised
from saywhy.expr.names import Path, read_expression
from saywhy.expr.numbers import value_text
from saywhy.expr.template import fill_paths
from saywhy.values import BigInt, Date, FrozenDict, Value, freeze, get_path, raw

_CODE: Final = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_CELL: Final = re.compile(r"(?<!\\)\|")
_PLAIN: Final = re.compile(r"[A-Za-z_$][\w$]*")


@dataclass(frozen=True, slots=True)
class World:
    """The variables of a page, and what time it is there."""

    values: FrozenDict
    now_ms: float
    functions: tuple[str, ...] = ()

    def has(self, name: str) -> bool:
        """Whether there is such a variable."""
        return name in self.values

    def get(self, path: Path) -> Value:
        """The value at a path."""
        return get_path(self.values, path)


@dataclass(frozen=True, slots=True)
class Row:
    """One expression with what the page says of it, by column."""

    expression: str
    cells: dict[str, str]
    line: int


def rows(page: File) -> Iterator[tuple[World, Row]]:
    """The rows of all tables of expressions on a page, with the variables that hold there."""
    worlds = [
        (block.line, _world(block.text, block.values["now"]))
        for block in fences(page)
        if block.language == "json" and "variables" in block.words
    ]
    header: list[str] = []
    before = 0
    for line, text in prose(page):
        cells = [cell.strip() for cell in _CELL.split(text.strip())[1:-1]]
        if not cells or line != before + 1:
            header = []
        if cells:
            if not header:
                header = cells
            elif header[0] == "expression" and not set("".join(cells)) <= set(":- "):
                world = [world for start, world in worlds if start < line][-1]
                named = dict(zip(header, cells, strict=True))
                (source,) = codes(named.pop("expression"))
                yield world, Row(source, named, line)
            before = line


def _world(text: str, now: str) -> World:
    return World(freeze(json.loads(text)), datetime.fromisoformat(now).timestamp() * 1000)


def codes(cell: str) -> list[str]:
    """What stands in backticks in a cell."""
    found = [match[2].replace("\\|", "|") for match in _CODE.finditer(cell)]
    return [re.sub(r"^ (.*`.*) $", r"\1", text) for text in found]


def difference(world: World, row: Row) -> str:
    """What the row says wrong; empty text if nothing."""
    wrong = [
        f"{name}: the page shows {shown}, but it is {actual}"
        for name, shown in row.cells.items()
        if name in COLUMNS and (actual := COLUMNS[name](world, row.expression, shown)) != shown
    ]
    return "; ".join(wrong)


_engine: Final = JavaScript()


def _outcome(world: World, source: str, *, text: bool = False) -> Outcome:
    return _engine.evaluate(source, world, now_ms=world.now_ms, seed=1, text=text)


def _value(world: World, source: str, shown: str) -> str:
    """`shown` where it is another way to write the value, else the value as we would write it."""
    found = _outcome(world, source)
    if isinstance(found, Evaluated):
        for spelled in codes(shown):
            meant = _outcome(World(freeze({}), world.now_ms), spelled)
            if isinstance(meant, Evaluated) and literal(meant.value) == literal(found.value):
                return shown
    return code(_told(found))


def _told(found: Outcome) -> str:
    if isinstance(found, Evaluated):
        return literal(found.value)
    assert isinstance(found, Raised)
    return f"{found.kind}: {found.message}"


def _text(world: World, source: str, shown: str) -> str:
    found = _outcome(world, source, text=True)
    return code(found.value if isinstance(found, Evaluated) else _told(found))


def _argument(world: World, source: str, shown: str) -> str:
    filled, _ = fill_paths(f"<{{{{{source}}}}}>", world)
    return code(filled[1:-1]) if filled != "<>" else "nothing"


def _changes(world: World, source: str, shown: str) -> str:
    found = _outcome(world, source)
    assert isinstance(found, Evaluated), _told(found)
    return " ".join(code(_change(change)) for change in found.changes) or "nothing"


def _change(change: Change) -> str:
    at = spelled(change.path)
    return f"delete {at}" if change.deleted else f"{at} = {literal(change.value)}"


def _error(world: World, source: str, shown: str) -> str:
    return code(_told(_outcome(world, source)))


def _place(world: World, source: str, shown: str) -> str:
    found = _outcome(world, source)
    assert isinstance(found, Raised), _told(found)
    return code(source[slice(*found.span)]) if found.span else "nothing"


def _hint(world: World, source: str, shown: str) -> str:
    found = _outcome(world, source)
    assert isinstance(found, Raised), _told(found)
    return found.hint


def _reads(world: World, source: str, shown: str) -> str:
    return _paths(read_expression(source).reads)


def _may_change(world: World, source: str, shown: str) -> str:
    return _paths(read_expression(source).writes)


def _exact(world: World, source: str, shown: str) -> str:
    return "yes" if read_expression(source).exact else "no"


def _paths(paths: Sequence[Path]) -> str:
    return " ".join(code(spelled(path)) for path in paths) or "nothing"


Column = Callable[[World, str, str], str]
COLUMNS: Final[dict[str, Column]] = {
    "value": _value,
    "in a text": _text,
    "in an argument": _argument,
    "changes": _changes,
    "error": _error,
    "place": _place,
    "hint": _hint,
    "reads": _reads,
    "may change": _may_change,
    "exact": _exact,
}
"""What a column is checked against, by its heading."""


# ------------------------------------------------------------------ spelling


def code(text: str) -> str:
    """Text as a code span in a table."""
    ticks = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    gap = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{gap}{text}{gap}{ticks}".replace("|", "\\|")


def spelled(path: Path) -> str:
    """A path as it is written: `a.b[0]`."""
    parts = [
        f".{part}" if isinstance(part, str) and _PLAIN.fullmatch(part) else f"[{json.dumps(part)}]"
        for part in path
    ]
    return "".join(parts).removeprefix(".")


def literal(value: Value) -> str:
    """A value as JavaScript would spell it."""
    value = raw(value)
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_key(key)}: {literal(item)}' for key, item in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, BigInt):
        return f"{value}n"
    if isinstance(value, Date):
        return f'new Date("{value}")'
    return "-0" if str(value) == "-0.0" else value_text(value)


def _key(key: str) -> str:
    return key if _PLAIN.fullmatch(key) else json.dumps(key, ensure_ascii=False)
