"""What one may ask the cause of, as values and as texts: `reply:3`, `argument:transfer.amount`.

How each is found in the record is answered by `why`.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import msgspec

from saywhy.errors import CallerError, did_you_mean
from saywhy.values import Key


class Reply(msgspec.Struct, frozen=True):
    """The reply of a turn; without a number, of the newest turn that has one.

    `part` is a text in it, or the numbers of its first character and of the one behind its last;
    then only the stretches of the reply that overlap are explained.
    """

    turn: int | None = None
    part: str | tuple[int, int] | None = None


class Variable(msgspec.Struct, frozen=True):
    """A variable by name (`amount`, `fee.total`, `cargo.plan`), as it was when a turn ended."""

    name: str
    turn: int | None = None


class Argument(msgspec.Struct, frozen=True):
    """An argument of a tool's newest call, by its name (`fee.total` for a part of it).

    With an empty name it is the call as a whole.
    """

    tool: str
    name: str = ""
    turn: int | None = None


class Decided(msgspec.Struct, frozen=True):
    """The newest decision of a step: why this branch. `flow` may be empty."""

    step: str
    flow: str = ""
    turn: int | None = None


class Failure(msgspec.Struct, frozen=True):
    """What went wrong: the newest error of the record, or of a turn."""

    turn: int | None = None


class Missing(msgspec.Struct, frozen=True):
    """What is not there: `reply`, a variable that is unset, a tool that was not called."""

    name: str
    turn: int | None = None


class At(msgspec.Struct, frozen=True):
    """One step, by the number of its commit."""

    commit: int


Wanted: TypeAlias = Reply | Variable | Argument | Decided | Failure | Missing | At
Target: TypeAlias = Wanted | Key | str

KINDS: Final = ("reply", "variable", "argument", "decision", "error", "missing", "commit")


def target_of(text: str, turn: int | None = None) -> Wanted:
    """The target that a text names: `reply:3`, `variable:fee.total`, `argument:TOOL.NAME`,
    `decision:FLOW/STEP`, `error`, `missing:reply`, `commit:12`; any other is a variable's name.

    Raises `CallerError` for a kind that is none.
    """
    kind, colon, name = text.partition(":")
    if kind not in KINDS or not (colon or kind in ("reply", "error")):
        if colon and "." not in kind:
            hint = did_you_mean(kind, KINDS) or f"kinds: {', '.join(KINDS)}"
            raise CallerError(f'why does not know the kind "{kind}"', hint=hint)
        return Variable(text, turn)
    if kind in ("reply", "error"):
        number = _number(kind, name) if name else turn
        return Reply(number) if kind == "reply" else Failure(number)
    if kind == "commit":
        return At(_number(kind, name))
    if kind == "argument":
        tool, _, argument = name.partition(".")
        return Argument(tool, argument, turn)
    if kind == "decision":
        flow, slash, step = name.partition("/")
        return Decided(step, flow, turn) if slash else Decided(name, "", turn)
    return Missing(name, turn) if kind == "missing" else Variable(name, turn)


def target_in(
    target: Target | None, turn: int | None, part: str | tuple[int, int] | None
) -> Target:
    """The target, with the turn and the words that were named beside it.

    Raises `CallerError` where that says two things.
    """
    if target is None:
        return Reply(turn, part)
    if part is not None:
        raise CallerError("part says which words of a reply", hint="leave target or part out")
    if isinstance(target, str):
        return target_of(target, turn)
    if turn is not None:
        raise CallerError("this target says of which turn it is", hint="leave turn out")
    return target


def _number(kind: str, text: str) -> int:
    if not text.isdecimal():
        raise CallerError(f'{kind} takes a number, not "{text}"', hint=f"{kind}:3")
    return int(text)


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
]
