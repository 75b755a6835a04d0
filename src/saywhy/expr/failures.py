"""What went wrong in the engine, told in terms of the author's text."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final

from saywhy.expr.chains import Path
from saywhy.expr.names import SyntaxProblem
from saywhy.expr.outcome import FunctionAnswer, Raised
from saywhy.expr.program import Program, Variant
from saywhy.expr.writer import Draft

_PLACE: Final = re.compile(r"<input>:(\d+):(\d+)")
_UNKNOWN: Final = re.compile(r"(\S+) is not defined")
_WORD: Final = re.compile(r"[\w$]+|.", re.DOTALL)


def raised_from(
    result: str, program: Program, variant: Variant, answers: Sequence[FunctionAnswer]
) -> Raised:
    """The error behind a marked result: caught in the engine (e), or a limit that was hit (!)."""
    if result[1] == "!":
        kind, message = _limit(result[2:])
        return Raised(kind, message, variant.reads, tuple(answers))
    kind, message, stack = json.loads(result[2:])
    # Out of memory, the engine may not even have an error to throw, and throws null.
    is_bare = kind == "null" and "throw" not in program.source
    if is_bare or (kind == "InternalError" and "memory" in message):
        kind, message = _MEMORY
    elif kind == "InternalError" or "stack size exceeded" in message:
        kind = "RangeError"
    return Raised(
        kind,
        message,
        variant.reads,
        tuple(answers),
        span=_span_of(message, stack, program, variant.inserted),
    )


_MEMORY: Final = ("MemoryLimit", "the expression uses more memory than it may")


def _limit(message: str) -> tuple[str, str]:
    if "interrupted" in message:
        return "TimeLimit", "the expression takes longer than it may"
    return _MEMORY


def syntax_refused(problem: SyntaxProblem) -> Raised:
    """The parser does not take the text."""
    return Raised(
        "SyntaxError", problem.message, phase="parse", span=problem.span, hint=problem.hint
    )


def syntax_raised(message: str, program: Program, draft: Draft) -> Raised:
    """The engine does not take the text, though the parser did."""
    first = message.split("\n", 1)[0]
    kind, _, told = first.partition(": ")
    if kind not in ("SyntaxError", "ReferenceError"):
        kind, told = "RangeError", "the expression is nested too deeply"
    return Raised(kind, told, phase="parse", span=_place(message, program.source, draft.inserted))


def too_large(path: Path) -> Raised:
    """A variable holds a whole number that JavaScript would round.

    The number itself is not told: it may be that of a card, and errors are logged.
    """
    where = ".".join(map(str, path))
    return Raised(
        "RangeError",
        f'"{where}" is a whole number too large for JavaScript to read exactly',
        (path,),
        hint="keep it as text",
    )


def _span_of(
    message: str, stack: str, program: Program, inserted: tuple[tuple[int, int, int], ...]
) -> tuple[int, int] | None:
    # From its start on: searched for, a long message of an author's would take a second.
    unknown = _UNKNOWN.fullmatch(message)
    if unknown is not None:
        for use in program.reading.details.uses:
            if use.path[0] == unknown[1]:
                return use.spans[0]
    return _place(stack, program.source, inserted)


def _place(
    stack: str, source: str, inserted: tuple[tuple[int, int, int], ...]
) -> tuple[int, int] | None:
    """The innermost place in a stack, as a span of the author's text."""
    match = _PLACE.search(stack)
    if match is None or int(match[1]) < 2:
        return None
    lines = source.split("\n")
    row = min(int(match[1]) - 2, len(lines) - 1)
    start = sum(len(line) + 1 for line in lines[:row])
    offset = start + int(match[2]) - 1
    for begin, end, length in inserted:
        if begin < start:
            continue
        if begin > offset:
            break
        if offset < begin + length and end > begin:
            return begin, end  # inside of what stands for a path
        # What stands in the text instead of our own is longer or shorter by this much.
        offset = max(begin, offset - length + (end - begin))
    offset = min(offset, max(0, len(source) - 1))
    word = _WORD.match(source, offset)
    return (offset, word.end() if word else offset + 1)
