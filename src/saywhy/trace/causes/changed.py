"""What depended on one message of the user's: values, decisions, calls and replies, going forward.

The steps after the message are gone through once. A step depends on it that read the message, or a
value that did; that a decision let run which did; or that runs in a flow which such a step opened.
A value that is written anew by a step that does not depend on it is free of it from then on.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final, Literal

import msgspec

from saywhy.chart.commit import Commit
from saywhy.errors import CallerError
from saywhy.messages import Message
from saywhy.trace.causes import wording as causes
from saywhy.trace.causes.carried import RUN as RUN_FLOW
from saywhy.trace.causes.forms import filled_keys
from saywhy.trace.causes.handed_wording import gave
from saywhy.trace.causes.origin import PLUMBING, data_reads, message_of, origin_of
from saywhy.trace.causes.own import own_of
from saywhy.trace.causes.ref import answer_ref, decision_ref, step_ref
from saywhy.trace.index import touches
from saywhy.trace.reply import reply_of
from saywhy.trace.trace import Trace
from saywhy.trace.words import OWN, brief, call_text, chosen_text, name_of, quoted, step_of_flow
from saywhy.values import Key, raw

RUN: Final = frozenset({"turnNumber", "runId", "conversationId", "strictCalls"})
"""What a step hands to an agent's run besides its words."""
WORDS: Final[Key] = ("args", "message")
"""Where the user's words stand in a run of an agent that runs alone: no step takes them in."""
OF_LOOPS: Final = frozenset({"arguments", "strictCall", "stopReason"})
"""What an agent's loop notes of a call that it has carried out, and of its end."""
ANSWERERS: Final = ("tool", "model", "function")
"""Who answers what is asked of it: what a user says next is another message."""
MOST_STEPS: Final = 20_000
MOST_SHOWN: Final = 60
LONGEST_NUMBER: Final = 15
"""Digits of a message's number."""

ChangeKind = Literal["value", "decision", "call", "reply", "flow"]


class Change(msgspec.Struct, frozen=True):
    """One thing that would be different, or would not be, without the message."""

    kind: ChangeKind
    sentence: str
    ref: str
    commit: int
    turn: int
    name: str = ""
    value: Any = None

    def to_json(self) -> dict[str, Any]:
        """The same as plain data."""
        data: dict[str, Any] = {
            "kind": self.kind,
            "sentence": self.sentence,
            "ref": self.ref,
            "commit": self.commit,
            "turn": self.turn,
        }
        if self.name:
            data |= {"name": self.name, "value": raw(self.value)}
        return data


class Changed(msgspec.Struct, frozen=True):
    """Everything that depended on a message, in order."""

    message: int
    turn: int
    text_said: str
    changes: tuple[Change, ...]
    exact: bool = True
    """False: a limit was reached, or a step's reads are an upper bound."""

    @property
    def replies(self) -> list[Change]:
        """The replies, or parts of one, that depended on it."""
        return [one for one in self.changes if one.kind == "reply"]

    def text(self) -> str:
        """The answer in lines, by turns."""
        lines = [f"message {self.message} (turn {self.turn}): {quoted(self.text_said)}"]
        turn = 0
        for one in self.changes[:MOST_SHOWN]:
            if one.turn != turn:
                turn = one.turn
                lines.append(f"  turn {turn}")
            lines.append(f"    {one.sentence}")
        if len(self.changes) > MOST_SHOWN:
            lines.append(f"  ... and {len(self.changes) - MOST_SHOWN} more")
        if not self.changes:
            lines.append("  nothing depended on it")
        if not self.exact:
            lines.append("  some of this may not have depended on it: not every read is recorded")
        return "\n".join(lines)

    __str__ = text

    def to_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "message": self.message,
            "turn": self.turn,
            "text": self.text_said,
            "changes": [one.to_json() for one in self.changes],
            "exact": self.exact,
        }


def what_changed(
    trace: Trace, message: int | str | None = None, turn: int | None = None
) -> Changed:
    """What depended on a message, by its number or name (`message:3`), or on the user's in a turn;
    else on the newest.

    Raises `CallerError` where the record has no such message of the user's.
    """
    found = _message(trace, _number(message) if isinstance(message, str) else message, turn)
    slice_ = _Slice(trace, found.seq)
    for number in [each for each in trace.turns if each >= found.turn]:
        for commit in trace.turn(number).commits:
            slice_.take(commit)
        slice_.end_turn(number)
    changes = tuple(slice_.changes)
    return Changed(found.seq, found.turn, found.text, changes, slice_.exact)


def _number(name: str) -> int:
    text = name.strip().removeprefix("message:")
    if not (text.isascii() and text.isdecimal() and len(text) <= LONGEST_NUMBER):
        message = f"{quoted(name)} names no message"
        raise CallerError(message, hint="message:3, as a chain names it, or 3 alone")
    return int(text)


def _message(trace: Trace, number: int | None, turn: int | None) -> Message:
    if number is not None:
        found = trace.message(number)
        if found is None or found.role != "user":
            known = [str(one.seq) for one in trace.messages() if one.role == "user"]
            hint = f"messages of the user: {', '.join(known[-10:])}" if known else "there is none"
            raise CallerError(f"message {number} is none of the user's in this record", hint=hint)
        return found
    for each in reversed(trace.turns) if turn is None else (turn,):
        for message in trace.messages(each):
            if message.role == "user":
                return message
    where = "in this record" if turn is None else f"in turn {turn}"
    raise CallerError(f"the user said nothing {where}")


class _Slice:
    """What depends on the message by now."""

    def __init__(self, trace: Trace, message: int) -> None:
        self.trace = trace
        self.changes: list[Change] = []
        self.exact = True
        self._message = message
        self._keys: dict[Key, None] = dict.fromkeys((("input", str(message)), WORDS))
        self._frames: set[int] = set()
        self._decided: set[tuple[int, str]] = set()
        self._commits: set[int] = set()
        self._steps = 0

    def take(self, commit: Commit) -> None:
        """One step: whether it depends on the message, and what it leaves."""
        self._steps += 1
        if self._steps > MOST_STEPS:
            self.exact = False
            return
        if not self._depends(commit):
            self._free(commit)
            return
        self._commits.add(commit.seq)
        if not commit.exact:
            self.exact = False
        self._note(commit)
        node = (commit.frame, commit.node)
        if commit.decision is not None or causes.failure_of(commit):
            self._decided.add(node)
        others = self._others(commit)
        self._free(commit, others)
        for op in commit.ops:
            if op.key[0] in ("session", "turn") or op.key[:2] in PLUMBING or op.key in others:
                continue
            self._keys[op.key] = None

    def _others(self, commit: Commit) -> frozenset[Key]:
        """What a question took from another message than this one: nothing else goes into it."""
        if message_of(commit) == self._message:
            return frozenset()
        node = self.trace.node_of(commit)
        if commit.kind != "SAY-GET" or commit.answered is None:
            return filled_keys(commit)
        keys = [op.key for op in commit.ops]
        return frozenset(key for key in keys if origin_of(commit, key, node).how == "words")

    def end_turn(self, turn: int) -> None:
        """The stretches of a turn's reply that steps said which depend on the message."""
        try:
            pieces = reply_of(self.trace, turn).pieces
        except CallerError:
            return
        for piece in pieces:
            if piece.commit in self._commits and piece.text.strip():
                commit = self.trace.commit(piece.commit)
                ref = step_ref(self.trace, commit)
                sentence = f"the reply said {quoted(piece.text)}"
                self.changes.append(Change("reply", sentence, ref, commit.seq, turn))

    # ------------------------------------------------------------ who depends

    def _depends(self, commit: Commit) -> bool:
        if message_of(commit) == self._message and commit.kind != "receive":
            return True
        called = (
            commit.caller in self._commits and commit.flow not in OWN
        )  # words come by themselves
        if called or commit.frame in self._frames:
            self._frames.add(commit.frame)
            return True
        if self._answers_what_depends(commit):
            return True
        own = filled_keys(commit)  # of its own making: read after it was put down
        reads = [key for key in data_reads(commit) if key not in own]
        if any(touches(key, known) for key in reads for known in self._keys):
            return True
        if commit.answered is not None and commit.answered.kind != "user":
            asked = self.trace.newest(commit.frame, commit.node, commit.seq)
            if asked is not None and asked.seq in self._commits:
                return True
        node = self.trace.node_of(commit)
        under = node.under if node is not None else ()
        return any((commit.frame, governor) in self._decided for governor in under)

    def _answers_what_depends(self, commit: Commit) -> bool:
        """Whether a tool, say, answered here what was asked because of the message."""
        asked = causes.asked_of(self.trace, commit)
        if asked is None or asked.seq not in self._commits:
            return False
        return asked.asked is not None and asked.asked.kind in ANSWERERS

    def _free(self, commit: Commit, only: Collection[Key] | None = None) -> None:
        """What a step that does not depend on the message writes as a whole is free of it."""
        for op in commit.ops:
            if op.verb != "append" and (only is None or op.key in only):
                for known in [key for key in self._keys if key[: len(op.key)] == op.key]:
                    del self._keys[known]
        if commit.decision is not None and only is None:
            self._decided.discard((commit.frame, commit.node))

    # ------------------------------------------------------------ what is told

    def _note(self, commit: Commit) -> None:
        trace = self.trace
        if commit.flow in OWN:
            if "target" in commit.facts:
                name = str(commit.facts["target"])
                self._add("flow", f"{name} was started", f"flow:{name}", commit)
            return
        if commit.kind == RUN_FLOW and "target" in commit.facts:
            name = str(commit.facts["target"])
            self._add("flow", causes.start_text(trace, commit, name), f"flow:{name}", commit)
        own = own_of(trace, commit)
        node = trace.node_of(commit)
        step = step_of_flow(commit, node)
        told = node is not None  # else nobody can tell what keeps a loop going from what matters
        if commit.decision is not None and not own and told:
            chosen = chosen_text(commit.decision)
            self._add("decision", f"{step} chose {chosen}", decision_ref(trace, commit), commit)
        asked = commit.asked
        if asked is not None and asked.kind == "tool":
            ref = f"tool:{asked.name}"
            self._add("call", f"{call_text(asked.name, asked.args)} was called", ref, commit)
        if own:
            self._note_result(commit)
        others = self._others(commit)
        for op in commit.ops if told else ():
            if op.key in others:
                continue
            scope, *path = op.key
            if not path or str(path[0]) in own or _is_bookkeeping(commit, str(scope), str(path[0])):
                continue
            if own and (commit.kind == "each" or str(path[0]) in OF_LOOPS):
                continue  # told by the calls themselves and by the answer
            name = name_of(op.key)
            if commit.answered is not None and commit.kind.startswith("carried:"):
                sentence = f"tool {commit.answered.name} gave {brief(op.value)}"
            elif op.verb == "delete":
                sentence = f"{name} was deleted by {step}"
            else:
                sentence = f"{name} = {brief(op.value)}, by {step}"
            ref = f"variable:{name}"
            self._add("value", sentence, ref, commit, name=name, value=op.value)

    def _note_result(self, commit: Commit) -> None:
        """What a tool gave to a loop that keeps it in its messages alone."""
        answered = commit.answered
        if answered is None or answered.kind != "tool":
            return
        sentence = f"tool {answered.name} {gave(answered)}"
        ref, value = answer_ref(commit), answered.value
        self._add("value", sentence, ref, commit, name=answered.name, value=value)

    def _add(self, kind: ChangeKind, sentence: str, ref: str, commit: Commit, **more: Any) -> None:
        change = Change(kind, sentence, ref, commit.seq, commit.turn, **more)
        if change not in self.changes[-8:]:
            self.changes.append(change)


def _is_bookkeeping(commit: Commit, scope: str, name: str) -> bool:
    """Whether a value only keeps the conversation, or the run of an agent, going."""
    if scope in ("session", "turn", "input") or scope.startswith("agent:"):
        return True
    return "agent" in commit.facts and name in RUN


__all__ = ["Change", "Changed", "what_changed"]
