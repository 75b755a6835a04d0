"""What a model was handed, read back from the record: prompt, messages, tools, what was left out.

Everything is looked up from the step that asked, by the names its slots leave; nothing is walked
through. Whose words a message was is found by who put it there. How that becomes causes is answered
by `handed`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from saywhy.chart.commit import Commit
from saywhy.trace.loops import BEGINS
from saywhy.trace.trace import Trace
from saywhy.values import Key, raw

COMPOSED: Final = "slotComposed"
PROMPT: Final = "systemPrompt"
MESSAGES: Final = "messages"
SEEN: Final = "messagesSeen"
TOOLS: Final = "toolDescriptions"
HISTORY: Final = "history"
RECEIPTS: Final = "receipts"
INJECTED: Final = "injected"
"""Key of a message that something put into the history."""

MOST_STEPS: Final = 8
"""So often a list is followed to the one it was made of."""


class Piece(NamedTuple):
    """One text of a system prompt, or a message that was put in, with the reason it is there."""

    commit: Commit
    number: int
    text: str
    source: str
    reason: str
    id: str = ""
    more: Mapping[str, Any] = {}


class Line(NamedTuple):
    """One message, with the step that put it there and the list it was put into."""

    message: Mapping[str, Any]
    commit: Commit | None
    key: Key
    old: bool = False
    """It stood in the history that the run began with."""

    @property
    def role(self) -> str:
        """Who speaks."""
        return str(self.message.get("role"))


class Slot(NamedTuple):
    """What filled a slot, and what it noted of that."""

    commit: Commit
    noted: Mapping[str, Any]


class Request(NamedTuple):
    """All that went into one call of a model."""

    asked: Commit
    scope: str
    prompt: Sequence[Piece]
    lines: Sequence[Line]
    tools: Sequence[Mapping[str, Any]]
    tools_by: Commit | None
    messages_by: Slot | None
    prompt_by: Slot | None
    receipt: Mapping[str, Any] | None


def request_of(trace: Trace, asked: Commit) -> Request:
    """What the question of `asked` was made of."""
    scope = _scope_of(asked)
    before = asked.seq
    prompt_by = slot_of(trace, (scope, PROMPT), before)
    messages_by = slot_of(trace, (scope, SEEN), before)
    tools_by = _writer_of(trace, (scope, TOOLS), before)
    return Request(
        asked,
        scope,
        pieces_in(prompt_by.commit, "systemPromptInjections") if prompt_by else (),
        lines_of(trace, (scope, MESSAGES), before),
        _dicts(trace.value_at((scope, TOOLS), before - 1).value),
        tools_by,
        messages_by,
        prompt_by,
        _receipt(asked),
    )


def _scope_of(asked: Commit) -> str:
    args: Any = raw(asked.asked.args) if asked.asked is not None else None
    if isinstance(args, dict) and args.get("scope"):
        return str(args["scope"])
    return next((str(key[0]) for key in asked.reads if key[-1] in (MESSAGES, PROMPT)), "")


def _receipt(asked: Commit) -> Mapping[str, Any] | None:
    for op in asked.ops:
        if op.key[-1] == RECEIPTS and op.verb == "append":
            value: Any = raw(op.value)
            return value if isinstance(value, dict) else None
    return None


# ------------------------------------------------------------------ slots


def slot_of(trace: Trace, key: Key, before: int) -> Slot | None:
    """The step that filled a slot, found by what it gave to the loop."""
    commit = _writer_of(trace, key, before)
    if commit is None:
        return None
    noted = next((raw(op.value) for op in commit.ops if op.key[-1] == COMPOSED), None)
    return Slot(commit, noted) if isinstance(noted, dict) else None


def _writer_of(trace: Trace, key: Key, before: int) -> Commit | None:
    """The step that made what stands at `key`, past those that only hand it on."""
    writer = trace.last_writer(key, before)
    for _ in range(MOST_STEPS):
        if writer is None or any(op.key[-1] == COMPOSED for op in writer.ops):
            return writer
        behind = [each for each in writer.reads if each[-1] == key[-1] and each != key]
        if not behind:
            return writer
        key, writer = behind[0], trace.last_writer(behind[0], writer.seq)
    return writer


def pieces_in(commit: Commit, name: str) -> list[Piece]:
    """The pieces that a slot's step wrote down."""
    written = next((op.value for op in commit.ops if op.key[-1] == name), ())
    return [
        Piece(
            commit,
            number,
            str(one.get("rawContent") or one.get("contentSummary") or ""),
            str(one.get("source") or ""),
            str(one.get("reason") or ""),
            str(one.get("sourceId") or ""),
            one,
        )
        for number, one in enumerate(_dicts(written))
    ]


# ------------------------------------------------------------------ messages


def lines_of(trace: Trace, key: Key, before: int, deep: int = 0) -> list[Line]:
    """The messages of a list with who put each there, as it stood before a commit."""
    added: list[Line] = []
    for commit in trace.sources(key, before):
        own: list[Line] = []
        for op in commit.ops:
            if op.key != key:
                continue
            if op.verb == "append":
                own.append(Line(_dict(op.value), commit, key))
            elif op.verb == "set":
                own = _set(trace, key, commit, _dicts(op.value), deep)
        added = [*own, *added]
    return added


def _set(
    trace: Trace, key: Key, commit: Commit, messages: Sequence[Mapping[str, Any]], deep: int
) -> list[Line]:
    """A list that was written as a whole: its messages are those of before, where they are alike.

    The step that begins a run puts the user's words behind the history.
    """
    if any(op.key[-1] == BEGINS for op in commit.ops):
        last = len(messages) - 1
        fresh = any(read[-1] == "message" for read in commit.reads)
        behind = next((read for read in commit.reads if read[-1] == HISTORY), key)
        return [
            Line(one, commit, key if fresh and at == last else behind, not (fresh and at == last))
            for at, one in enumerate(messages)
        ]
    if deep >= MOST_STEPS:
        return [Line(one, commit, key) for one in messages]
    known: dict[str, list[Line]] = {}
    for one in _made_of(trace, key, commit, deep):
        known.setdefault(mark_of(one.message), []).append(one)
    found: list[Line] = []
    for one in messages:
        alike = known.get(mark_of(one))
        line = (alike.pop(0) if len(alike) > 1 else alike[0]) if alike else Line(one, commit, key)
        found.append(line._replace(message=one))
    return found


def _made_of(trace: Trace, key: Key, commit: Commit, deep: int) -> list[Line]:
    """The messages that a list was made of: those before it, those of the slot it comes from."""
    inner = next((read for read in commit.reads if read[-1] == key[-1] and read != key), None)
    if inner is not None and trace.wrote(inner, commit.seq):
        return lines_of(trace, inner, commit.seq, deep + 1)
    own = next((read for read in commit.reads if read[-1] == MESSAGES and read != key), key)
    return lines_of(trace, own, commit.seq, deep + 1)


def old_line(trace: Trace, line: Line) -> Line | None:
    """Where a message of the history was said: the line of the run that said it."""
    if line.commit is None:
        return None
    wanted = mark_of(line.message)
    for kept in trace.sources(line.key, line.commit.seq):
        if not any(op.key == line.key and _holds(op.value, wanted) for op in kept.ops):
            continue
        inner = next((read[0] for read in kept.reads if read[-1] == "result"), None)
        if inner is None:
            return None
        for one in reversed(lines_of(trace, (inner, MESSAGES), kept.seq)):
            if mark_of(one.message) == wanted:
                return old_line(trace, one) if one.old else one
    return None


def _holds(value: Any, wanted: str) -> bool:
    tree = raw(value)
    listed: list[Any] = tree if isinstance(tree, list) else [tree]
    return any(isinstance(one, dict) and mark_of(one) == wanted for one in map(raw, listed))


def mark_of(message: Mapping[str, Any]) -> str:
    """What two records of one message have in common."""
    calls: Any = raw(message.get("tool_calls")) or ()
    ids = [str(raw(one).get("id")) for one in calls]
    parts = (message.get("role"), message.get("tool_call_id"), ids, raw(message.get("content")))
    return repr(parts)


# ------------------------------------------------------------------ reading values


def _dicts(value: Any) -> list[dict[str, Any]]:
    tree = raw(value)
    listed: Sequence[Any] = tree if isinstance(tree, list | tuple) else ()
    return [one for one in map(raw, listed) if isinstance(one, dict)]


def _dict(value: Any) -> dict[str, Any]:
    tree = raw(value)
    return tree if isinstance(tree, dict) else {}


__all__ = [
    "INJECTED",
    "Line",
    "Piece",
    "Request",
    "Slot",
    "lines_of",
    "mark_of",
    "old_line",
    "pieces_in",
    "request_of",
    "slot_of",
]
