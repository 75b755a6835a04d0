"""How a step came to write a value: from an answer, a default, a parameter, an expression.

A commit says what was read and written, not which of the reads went into which of the writes. Where
what the author wrote tells them apart, only those that matter are named; else all of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

from saywhy.chart.commit import Commit, Op
from saywhy.chart.model import Node
from saywhy.trace.causes.decided import OUTSIDE, is_refusal
from saywhy.trace.causes.forms import is_form
from saywhy.trace.causes.silent import silence_in
from saywhy.trace.index import touches
from saywhy.trace.words import ROUTING
from saywhy.values import Key, raw

How = Literal[
    "words",
    "silence",
    "tool",
    "tool-error",
    "tool-change",
    "model",
    "default",
    "passed",
    "started",
    "host",
    "deleted",
    "written",
    "computed",
]

PLUMBING: Final = frozenset({("session", "queue"), ("session", "tentative"), ("turn", "reply")})
"""How texts travel to the reply. Who wrote each is known; that is what is followed instead."""

HANDED_ON: Final = {
    **{
        name: name
        for name in (
            "systemPrompt",
            "promptSummary",
            "messagesSeen",
            "toolDescriptions",
            "toolRoutes",
            "resolvedTools",
            "promptInjections",
            "toolInjections",
            "responseRules",
            "matchedInstructions",
            "activeInstructions",
        )
    },
    "assembledSystem": "systemPrompt",
    "assembledMessages": "messages",
}
"""Of an agent's loop: what is handed on, and the name it had before. Nothing else goes into it."""

_NAME: Final = re.compile(r"[^\W\d][\w$]*")


class Origin(NamedTuple):
    """How a value was written, and what went into it."""

    how: How
    reads: tuple[Key, ...] = ()
    message: int = 0
    """For the user's words: which message."""


def origin_of(commit: Commit, key: Key, node: Node | None) -> Origin:
    """How `commit` came to write at `key`."""
    op = _last_op(commit, key)
    if op is not None and op.verb == "delete":
        return Origin("deleted", data_reads(commit))
    if commit.flow == ROUTING and commit.kind == "receive":
        return Origin("host")
    opened = _opened(commit, key, node)
    if opened is not None:
        return opened
    if commit.facts.get("corrected") and commit.kind == "SAY-GET":
        return Origin("words", (), message_of(commit))
    answered = _answered(commit, key, node)
    if answered is not None:
        return answered
    reads = handed_on(commit, key) or data_reads(commit)
    return Origin("computed" if reads or commit.calls else "written", reads)


def _last_op(commit: Commit, key: Key) -> Op | None:
    return next((op for op in reversed(commit.ops) if touches(op.key, key)), None)


def _opened(commit: Commit, key: Key, node: Node | None) -> Origin | None:
    """The first variables of a flow: parameters it was handed, then its declared defaults."""
    facts = commit.facts
    if "target" not in facts or facts.get("scope", key[0]) != key[0]:
        return None
    name = key[1]
    if name in facts.get("parameters", ()):
        if commit.flow == ROUTING:
            return Origin("started")
        given: Any = (node.spec.get("parameters") if node else None) or {}
        written = given.get(name) if isinstance(given, dict) else None
        return Origin("passed", data_reads(commit) if written is None else named(written, commit))
    return Origin("default") if name in facts.get("defaults", ()) else None


def _answered(commit: Commit, key: Key, node: Node | None) -> Origin | None:
    answered = commit.answered
    if answered is None:
        return None
    if answered.kind == "user":
        if silence_in(commit) is not None:
            return Origin("silence", data_reads(commit))
        message = message_of(commit)
        return Origin("words", (), message)
    if answered.kind == "model":
        message = message_of(commit) if is_form(commit) else 0
        return Origin("words", (), message) if message else Origin("model")
    if answered.kind not in OUTSIDE:
        return None
    variable = node.spec.get("variable") if node is not None else key[1]
    if key[0] == "cargo" or key[1] != variable:
        return Origin("tool-change")
    return Origin("tool-error" if answered.error or is_refusal(commit) else "tool")


def message_of(commit: Commit) -> int:
    """Number of the user's message that a step took in; 0 where that is not recorded."""
    answered = commit.answered
    number = number_in(answered.facts, "message") if answered is not None else 0
    number = number or number_in(commit.facts, "message")
    if number:
        return number
    return next((int(key[1]) for key in commit.reads if is_input(key)), 0)


def number_in(facts: Mapping[str, Any], name: str) -> int:
    """A number that is noted of a step; 0 where there is none, or where it is masked."""
    found = facts.get(name)
    return found if type(found) is int else 0


def is_input(key: Key) -> bool:
    """Whether a key stands for a message of the user's."""
    return key[0] == "input" and str(key[1]).isdecimal()


def data_reads(commit: Commit) -> tuple[Key, ...]:
    """What a step read, without the ways that texts take to the reply."""
    return tuple(key for key in commit.reads if key[:2] not in PLUMBING)


def handed_on(commit: Commit, key: Key) -> tuple[Key, ...]:
    """Where a step of an agent's loop has a value from that it only hands on."""
    if commit.kind not in ("mount", "selector", "stage") or len(key) < 2:
        return ()
    name = HANDED_ON.get(str(key[1]))
    return tuple(read for read in commit.reads if name is not None and read[1:] == (name,))


def named(written: Any, commit: Commit) -> tuple[Key, ...]:
    """Of what a step read: what the names in something its author wrote stand for."""
    names = set(_NAME.findall(_text(written)))
    return tuple(key for key in data_reads(commit) if _names_of(key) & names)


def _names_of(key: Key) -> set[str]:
    if key[0] == "input":
        return {"userInput", "lastUserInput"}
    return {str(part) for part in key[:2][-1:]}


def _text(written: Any) -> str:
    if isinstance(written, dict):
        return " ".join(_text(part) for pair in written.items() for part in pair)
    return " ".join(map(_text, written)) if isinstance(written, list) else str(written)


def own_texts(value: Any, seq: int) -> list[str]:
    """The texts that commit `seq` itself put on their way, in a value of the queue or the reply.

    There a text stands with the commit it comes from: `["Hi.", 7]`, alone or in a list of such.
    """
    tree = value if type(value) is list else raw(value)
    if not isinstance(tree, list):
        return []
    if len(tree) == 2 and isinstance(tree[0], str):
        return [tree[0]] if tree[1] == seq else []
    texts: list[str] = []
    for piece in tree:
        if type(piece) is list and len(piece) == 2:
            text, number = piece
            if type(text) is str:  # nearly every one: so it is not left to the next call
                if number == seq:
                    texts.append(text)
                continue
        texts += own_texts(piece, seq)
    return texts
