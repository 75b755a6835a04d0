"""Objects of a mapping that are written out: `{"source": "shop", "at": "{{new Date()}}"}`.

A text in such an object is the value at that path when the data has one there, else it is what it
says. Where a text holds `{{…}}` these are filled in: a path, or any expression.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from saywhy.expr.template import Hole, parse_template, path_of
from saywhy.tools.mapping.fallback import literal
from saywhy.tools.mapping.paths import PathProblem, is_there, parse_path, reader_of, walk
from saywhy.tools.mapping.run import Failed, Run, size_of, tree_of
from saywhy.tools.mapping.scripts import expression
from saywhy.tools.mapping.texts import text_of
from saywhy.values import UNDEFINED

Step = Callable[[Run, Any], Any]

_ARGUMENT: Final = re.compile(r"\{(\$args[^{}\s]*)\}")
_EXPLICIT: Final = ("$.", "$[", "$args.", "$args[")


def fixed_text(text: str) -> Step:
    """What a text in a written object gives."""
    if "{" in text:
        return filled_text(text)
    give = literal(text)
    try:
        path = parse_path(text)
    except PathProblem:
        return lambda run, data: give(run)
    read = reader_of(path)
    if text.startswith(_EXPLICIT):
        return read
    if not path.keys:  # "" and "." are texts here
        return lambda run, data: text
    return lambda run, data: read(run, data) if is_there(data, path.keys) else give(run)


def filled_text(text: str) -> Step:
    """A text with `{{…}}` in it; one that is nothing else keeps the type of what it gives."""
    template = parse_template(text)
    if template.single is not None:
        return _hole(template.single)
    pieces = [_hole(part) if isinstance(part, Hole) else _literal(part) for part in template.parts]

    def fill(run: Run, data: Any) -> str:
        filled = "".join([text_of(piece(run, data)) for piece in pieces])
        run.spend(len(filled))
        return filled

    return fill


def _literal(part: str) -> Step:
    """What stands between the holes, with the `{$args.x}` in it."""
    if "{$args" not in part:
        return lambda run, data: part

    def fill(run: Run, data: Any) -> str:
        return _ARGUMENT.sub(lambda match: _argument_text(run, match[1]), part)

    return fill


def _argument_text(run: Run, source: str) -> str:
    try:
        return text_of(reader_of(parse_path(source))(run, None))
    except PathProblem:
        return ""


def _hole(hole: Hole) -> Step:
    """The value at a path, else of an expression. Missing and null give an empty text."""
    source = hole.source
    path = path_of(source)
    if path is None or source in ("true", "false", "null", "undefined"):
        return lambda run, data: _expression(run, source, data)
    read = reader_of(parse_path(source))

    def value(run: Run, data: Any) -> Any:
        if path[0] in run.names:
            found = tree_of(walk(run.names, path))
            run.spend(size_of(found))
        else:
            found = read(run, data)
        return "" if found is None or found is UNDEFINED else found

    return value


def _expression(run: Run, source: str, data: Any) -> Any:
    if not source:
        return ""
    try:
        return expression(run, source, data)
    except Failed as error:
        raise Failed(f"{{{{{source}}}}}: {error}") from None
