"""What is wrong with the texts of a step: templates and expressions that do not parse, expressions
where only paths may stand, assignments that change nothing.

Whether the names in them exist is left to `checks.names`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from saywhy.errors import Problem
from saywhy.expr.names import read_expression
from saywhy.expr.template import parse_template, path_problems
from saywhy.flows.checks.code import Code, Text, codes_of, free_names, texts_of
from saywhy.flows.checks.spot import Severity, Spot

_PROSE: Final = re.compile(r"[^\W\d_][\w'’]*[,.!?]?(?:\s+[\w'’\-]+[,.!?]?)+\s*\Z")


def check_texts(spot: Spot) -> Iterator[Problem]:
    """Every problem of the texts of one step."""
    for text in texts_of(spot.step):
        if text.language == "path":
            yield from _path(spot, text)
            continue
        if text.language != "condition":
            yield from _braces(spot, text)
        for code in codes_of(text):
            yield from _expression(spot, code)


def code_problem(
    spot: Spot,
    code: Code,
    message: str,
    span: tuple[int, int],
    *,
    hint: str = "",
    severity: Severity = "error",
    known_names: Sequence[str] = (),
) -> Problem:
    """A problem at some characters of an expression or path."""
    text = code.owner
    return spot.text_problem(
        message,
        text.path,
        text.text,
        code.span(*span),
        hint=hint,
        severity=severity,
        known_names=known_names,
        in_key=text.in_key,
    )


def _braces(spot: Spot, text: Text) -> Iterator[Problem]:
    for found in parse_template(text.text).problems:
        yield spot.text_problem(
            found.message, text.path, text.text, found.span, hint=found.hint, in_key=text.in_key
        )


def _path(spot: Spot, text: Text) -> Iterator[Problem]:
    """What stands where only paths are filled in; anything else becomes an empty text."""
    for found in path_problems(text.text):
        yield spot.text_problem(
            found.message,
            text.path,
            text.text,
            found.span,
            hint=found.hint,
            severity="warning",
            in_key=text.in_key,
        )


def _expression(spot: Spot, code: Code) -> Iterator[Problem]:
    if not code.source.strip():
        if code.owner.language != "condition":  # an empty condition is a matter of its branch
            opened = code.owner.text.rfind("{{", 0, code.start) - code.start
            hint = "write an expression between the braces, or remove them"
            yield code_problem(
                spot, code, "an empty {{ }}", (opened, 2), hint=hint, severity="warning"
            )
        return
    reading = read_expression(code.source)
    if reading.error:
        message = f"not an expression: {reading.error.message}"
        hint = _hint(code, reading.error.hint)
        yield code_problem(spot, code, message, reading.error.span, hint=hint)
    given = {use.name: use.start for use in reversed(free_names(reading)) if use.is_assigned}
    for name in reading.assigns:
        start = given.get(name, 0)
        span = (start, start + len(name))
        message = f'assigning to "{name}" changes nothing outside this expression'
        hint = (
            f'set it with a SET step: "variable": "{name}"; '
            "only cargo.… and what is inside variables can be changed here"
        )
        yield code_problem(spot, code, message, span, hint=hint, severity="warning")


def _hint(code: Code, hint: str) -> str:
    """A sentence where an expression is wanted is by far the most frequent mistake."""
    source = code.source.strip()
    if code.owner.language == "value" and "{{" not in code.owner.text and _PROSE.match(source):
        quoted = source.replace("'", "\\'")
        return f"a plain text needs quotes inside the quotes: \"'{quoted}'\""
    return hint or "one JavaScript expression may stand here, like `fee + 2` or `'a text'`"
