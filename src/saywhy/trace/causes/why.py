"""Why something was said, or why a variable is what it is: the chain of causes in the record.

Nothing runs again. From the target the chain follows what each step read to the steps that wrote
it, each step to the decisions that let it run and to what opened its flow, until it comes to roots:
the user's words, results of tools, texts and defaults an author wrote, what a host gave. Where the
record cannot know, the chain says so. What is a cause of what is answered by `search`, how causes
are worded by `wording`.
"""

from __future__ import annotations

from typing import Final

from saywhy.errors import CallerError
from saywhy.trace.causes import wording as causes
from saywhy.trace.causes.chain import Chain
from saywhy.trace.causes.graph import DEEPEST, MOST_CAUSES
from saywhy.trace.causes.search import Search
from saywhy.trace.causes.targets import (
    Argument,
    At,
    Decided,
    Failure,
    Missing,
    Reply,
    Target,
    Variable,
    target_of,
)
from saywhy.trace.reply import Piece, Spoken, reply_of
from saywhy.trace.trace import Trace
from saywhy.trace.words import quoted

NEWEST: Final = Reply()


def why(
    trace: Trace, target: Target = NEWEST, *, most: int = MOST_CAUSES, deepest: int = DEEPEST
) -> Chain:
    """The causes of `target`, nearest first: at most `most`, none farther than `deepest` links.

    A text is the name of a variable, as it is now, or names a target: `reply:3`,
    `argument:TOOL.NAME`, `decision:FLOW/STEP`, `missing:NAME`, `error`.
    Raises `CallerError` when the trace holds no such reply, variable or commit.
    """
    if not isinstance(trace, Trace):  # pyright: ignore[reportUnnecessaryIsInstance] - callers
        hint = "why(session.trace), or why(await engine.trace(session_id))"
        raise CallerError(f"why asks a trace, not {type(trace).__name__}", hint=hint)
    search = Search(trace, most, deepest)
    match target_of(target) if isinstance(target, str) else target:
        case Reply() as found:
            _reply(search, found)
        case Variable() as found:
            _variable(search, found)
        case Argument() | Decided() | Failure() | Missing() as wanted:
            _found(search, wanted)
        case At(seq):
            search.step(trace.commit(seq))
        case key:
            search.value(None, key, trace.last + 1)
    search.run()
    return search.chain


def _found(search: Search, target: Argument | Decided | Failure | Missing) -> None:
    """What has to be looked for. How is read in only here: it would delay the first reply."""
    from saywhy.trace.causes.found import argument, decided, failure, missing

    match target:
        case Argument():
            argument(search, target)
        case Decided():
            decided(search, target)
        case Failure():
            failure(search, target)
        case Missing():
            missing(search, target)


def _reply(search: Search, target: Reply) -> None:
    """The reply of a turn, or a part: each stretch of it with the step that wrote it."""
    found = reply_of(search.trace, target.turn)
    pieces = found.pieces if target.part is None else _overlapping(found, target.part)
    text = found.text if target.part is None else "".join(piece.text for piece in pieces)

    search.chain.part = _words(found, target.part)

    def follow(cause: int) -> None:
        spoken = [piece for piece in pieces if piece.text.strip()]
        for piece in spoken:
            search.said(cause, piece, alone=len(spoken) == 1)
        if not found.exact:
            search.mark(cause, "which step said what was not recorded")

    search.add(None, "reply", lambda: causes.reply(found.turn, text), follow)


def _words(found: Spoken, part: str | tuple[int, int] | None) -> str:
    if part is None or isinstance(part, str):
        return part or ""
    return found.text[part[0] : part[1]]


def _overlapping(found: Spoken, part: str | tuple[int, int]) -> tuple[Piece, ...]:
    """The stretches that a part of a reply lies in. Raises `CallerError` where it has none."""
    if isinstance(part, str):
        at = found.text.find(part) if part else -1
        if at < 0:
            hint = f"it is {quoted(found.text)}"
            raise CallerError(
                f"the reply of turn {found.turn} does not say {quoted(part)}", hint=hint
            )
        first, end = at, at + len(part)
    else:
        first, end = part
    pieces: list[Piece] = []
    start = 0
    for piece in found.pieces:
        if start < end and first < start + len(piece.text):
            pieces.append(piece)
        start += len(piece.text)
    if not any(piece.text.strip() for piece in pieces):
        hint = f"it has {len(found.text)} characters"
        raise CallerError(f"no step said characters {first} to {end} of the reply", hint=hint)
    return tuple(pieces)


def _variable(search: Search, target: Variable) -> None:
    """A variable by name."""
    trace = search.trace
    turn = trace.newest_turn if target.turn is None else target.turn
    until = trace.end_of(turn)
    search.value(None, trace.key(target.name, until), until + 1)


__all__ = [
    "Argument",
    "At",
    "Decided",
    "Failure",
    "Missing",
    "Reply",
    "Target",
    "Variable",
    "target_of",
    "why",
]
