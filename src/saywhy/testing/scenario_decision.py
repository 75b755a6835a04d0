"""Turns of a scenario in which not the user speaks but somebody decides about a call.

`approve`, `deny` and `settle`: how they are written, what is wrong with one, and carrying it out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from saywhy.errors import NothingPending, did_you_mean
from saywhy.runtime.engine import Engine
from saywhy.runtime.session import Session
from saywhy.trace.words import brief
from saywhy.values import untagged

WAYS: Final = ("approve", "deny", "settle")
ENDS: Final = ("done", "failed", "not_done")
KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "approve": ("tool", "by", "note", "args"),
    "deny": ("tool", "by", "reason"),
    "settle": ("tool", "by", "note", *ENDS),
}
SPOKEN: Final = ("role", "content", "start", "silence_ms")
"""What a turn has in which somebody speaks, or nobody does."""

Fault = tuple[str, str, str]
"""Pointer inside the turn, what is wrong there, and what to try."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What somebody decides: which way, about a call of which tool, and the rest by name."""

    way: str
    tool: str = ""
    named: Mapping[str, Any] = field(default_factory=dict[str, Any])


def decision_of(turn: Mapping[str, Any]) -> Decision | None:
    """The decision of a turn without faults; None where somebody speaks."""
    for way in WAYS:
        if way in turn:
            given = {} if turn[way] is True else dict(untagged(turn[way]))
            return Decision(way, str(given.pop("tool", "")), given)
    return None


def faults_of(turn: Mapping[str, Any]) -> Iterator[Fault]:
    """Everything that is wrong with the decision of a turn."""
    found = [way for way in WAYS if way in turn]
    for way in found[1:]:
        message = f'a turn has one decision, "{found[0]}" or "{way}"'
        yield f"/{way}", message, "write two turns"
    for way in found[:1]:
        spoken = [key for key in SPOKEN if key in turn]
        if spoken:
            message = f'a turn that decides has no "{spoken[0]}"'
            yield f"/{spoken[0]}", message, f'say it in a turn of its own, beside "{way}"'
        yield from _faults(way, turn[way])


def _faults(way: str, given: Any) -> Iterator[Fault]:
    if given is True and way != "settle":
        return
    if not isinstance(given, Mapping):
        also = "" if way == "settle" else " or true"
        yield f"/{way}", f'"{way}" must be an object{also}, not {brief(given)}', _example(way)
        return
    for key, value in given.items():
        at = f"/{way}/{key}"
        if key not in KEYS[way]:
            hint = did_you_mean(key, KEYS[way]) or f"known here: {', '.join(KEYS[way])}"
            yield at, f'"{key}" is no key of "{way}"', hint
        elif key == "not_done" and value is not True:
            yield at, f'"not_done" can only be true, not {brief(value)}', _example(way)
        elif key == "args" and not isinstance(value, Mapping):
            yield at, f'"args" must be an object, not {brief(value)}', _example(way)
        elif key not in ("done", "args", "not_done") and not isinstance(value, str):
            yield at, f'"{key}" must be text, not {brief(value)}', "put it in quotes"
    if way == "settle" and sum(end in given for end in ENDS) != 1:
        message = '"settle" says what became of the call, in one way'
        yield f"/{way}", message, f"give one of {', '.join(ENDS)}"


def _example(way: str) -> str:
    return {
        "approve": 'write "approve": true, or {"by": "eve", "args": {…}}',
        "deny": 'write "deny": true, or {"by": "eve", "reason": "…"}',
        "settle": 'write "settle": {"done": {…}}, {"failed": "…"} or {"not_done": true}',
    }[way]


# ------------------------------------------------------------------ carrying out


async def decide(engine: Engine, session: Session, decision: Decision) -> Session:
    """The session after a decision. Raises what the engine does, `NothingPending` for instance."""
    kind = "settle" if decision.way == "settle" else "approval"
    call = _call(session, kind, decision.tool)
    make: dict[str, Callable[..., Any]] = {
        "approve": engine.approve,
        "deny": engine.deny,
        "settle": engine.settle,
    }
    decided: Session = await make[decision.way](session, call, **decision.named)
    return decided


def _call(session: Session, kind: str, tool: str) -> str:
    """The id of the call that is meant: the newest approval, or the oldest call in doubt."""
    waiting = session.pending_approval
    listed = ([waiting] if waiting else []) if kind == "approval" else session.unknown
    for one in listed:
        if tool in ("", one["tool"]):
            return str(one["id"])
    what = "to approve" if kind == "approval" else "of unknown outcome"
    about = f' of "{tool}"' if tool else ""
    known = ", ".join(f'"{one["tool"]}"' for one in listed)
    hint = f"there is one of {known}" if known else "nothing of the kind is open there"
    raise NothingPending(f"there is no call{about} {what}", hint=hint)


__all__ = ["WAYS", "Decision", "decide", "decision_of", "faults_of"]
