"""What came in with a recorded turn: the entry that begins it again.

A message stands in the first commit of its turn and among the messages, a decision and a moment
that has come in that commit alone. What a host said of the session is among its facts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from saywhy.chart.commit import Commit
from saywhy.messages import Message
from saywhy.runtime.entry import TIMER, Entry
from saywhy.trace.trace import Trace, Turn
from saywhy.trace.words import ROUTING
from saywhy.values import FrozenDict, raw, seal

NO_BEGINNING: Final = "how the turn began is not on record"
TOO_LATE: Final = {"id": "", "seq": 0, "how": "too late"}
"""Stands for a decision that came too late: which it was is not kept, as nothing followed it."""
LATE: Final = "(late)"
"""Names a moment that was not the one noted."""


class RecordedTurn(msgspec.Struct, frozen=True):
    """One turn as it is on record."""

    number: int
    commits: tuple[Commit, ...]
    messages: tuple[Message, ...]
    entry: Entry | None = None
    """None where it cannot be made out."""
    host: dict[str, Any] = {}
    """What the host said of the session: `language`, `authenticated`."""
    gone: tuple[str, ...] = ()
    """Keys of cargo that the host took away before."""

    @property
    def at(self) -> float:
        """When it began."""
        if self.commits:
            return self.commits[0].at
        return self.messages[0].at if self.messages else 0.0

    @property
    def reply(self) -> str | None:
        """What was answered, None for nothing."""
        said = [one.text for one in self.messages if one.role == "assistant"]
        return said[-1] if said and self.commits else None


def recorded_turns(trace: Trace) -> Iterator[RecordedTurn]:
    """The turns of a conversation, in order."""
    for number in trace.turns:
        turn = trace.turn(number)
        yield _told(turn) if not turn.commits else _begun(trace, turn)


def _told(turn: Turn) -> RecordedTurn:
    """What the host itself said: no step ran."""
    said = next((one for one in turn.messages if one.role == "assistant"), None)
    entry = None if said is None else _entry(said.text, said, "assistant")
    return RecordedTurn(turn.number, (), turn.messages, entry)


def _begun(trace: Trace, turn: Turn) -> RecordedTurn:
    first = turn.commits[0]
    entry: Entry | None = None
    gone: tuple[str, ...] = ()
    if first.flow == ROUTING and first.node == "receive":
        second = turn.commits[1] if len(turn.commits) > 1 else first
        match first.to:
            case "decide":
                entry = Entry("", decision=_decision(second))
            case "due":
                entry = Entry("", TIMER, timer=_moment(second))
            case _:
                entry = _received(trace, turn)
        gone = tuple(
            str(op.key[1]) for op in first.ops if op.verb == "delete" and op.key[0] == "cargo"
        )
    host: dict[str, Any] = raw(first.facts.get("host") or {})
    return RecordedTurn(turn.number, turn.commits, turn.messages, entry, host, gone)


def _received(trace: Trace, turn: Turn) -> Entry:
    first = turn.commits[0]
    number = int(first.facts.get("message") or 0)
    key = ("input", str(number))
    text = next((op.value for op in first.ops if op.key == key), "")
    message = trace.message(number)
    cargo = {
        str(op.key[1]): seal(op.value)
        for op in first.ops
        if op.verb == "set" and op.key[0] == "cargo"
    }
    entry = _entry(str(text), message, "user")
    start = next((one for one in turn.commits if one.node == "start" and one.asked), None)
    return msgspec.structs.replace(
        entry,
        cargo=FrozenDict(cargo) if cargo else None,
        start=None if start is None or start.flow != ROUTING else _start(start),
    )


def _entry(text: str, message: Message | None, role: str) -> Entry:
    if message is None:
        return Entry(text, role)
    return Entry(text, role, seal(message.content), message.at or None, seal(message.metadata))


def _start(commit: Commit) -> dict[str, Any]:
    """The flow that the host named, with the arguments it was given."""
    facts = commit.facts
    values = {op.key[1]: op.value for op in commit.ops if op.key[0] == facts.get("scope")}
    arguments = {name: seal(values[name]) for name in facts.get("parameters", ()) if name in values}
    return {"flow": str(facts.get("target", "")), "arguments": FrozenDict(arguments)}


def _decision(commit: Commit) -> dict[str, Any]:
    if commit.asked is None:
        return dict(TOO_LATE)
    told: dict[str, Any] = raw(seal(commit.asked.args))
    return {name: seal(value) for name, value in told.items() if name != "frame"}


def _moment(commit: Commit) -> dict[str, Any]:
    due = raw(commit.facts.get("due") or {})
    moment: dict[str, Any] = {"at": commit.at}
    if due.get("kind") == "late":
        moment["id"] = LATE
    return moment


__all__ = ["NO_BEGINNING", "RecordedTurn", "recorded_turns"]
