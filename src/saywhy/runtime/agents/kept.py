"""What a conversation is between two runs, as a value, and as JSON that goes anywhere.

A run makes a new one of these when it has gone well; until then the old one stands, so a run that
fails or is cancelled leaves no trace here. JSON of another version, of another agent, or a pause in
a chart that is no longer the agent's, is told as such and touches nothing. So is JSON that was
changed: a digest tells. That finds damage, not fraud: who may write checkpoints can write digests.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

import msgspec

from saywhy.chart.commit import Commit
from saywhy.chart.cursor import Cursor
from saywhy.errors import CallerError, DamagedSession
from saywhy.trace.record import from_tree
from saywhy.values import FrozenDict, FrozenList, dumps, loads_raw, seal

FORMAT: Final = 1
"""Version of the document that `checkpoint` writes."""

KIND: Final = "agent conversation"

EMPTY: Final = FrozenList([])


class Paused(msgspec.Struct, frozen=True):
    """A run that rests at a question to a person."""

    cursor: Cursor
    chart: str
    """Digest of the chart it rests in."""
    message: str
    """What the user had said."""
    question: FrozenDict
    """`question` and `tool_call_id`."""
    messages: FrozenList
    """The conversation as it stands while nobody has answered."""
    iterations: int = 0
    commits: tuple[Commit, ...] = ()
    """The record up to here."""
    used: tuple[int, int, int] = (0, 0, 0)
    """Tokens read and written, and calls of the model, up to here."""
    sensitive: FrozenDict = FrozenDict({})
    """Where sensitive values stand, for the record of what follows."""


class Kept(msgspec.Struct, frozen=True):
    """A conversation that nobody is running."""

    id: str
    history: FrozenList = EMPTY
    turn: int = 0
    """How many runs have begun."""
    strict_calls: int = 0
    """How many follow-ups were carried out without the model, for the ids of their calls."""
    pending: FrozenDict | None = None
    """A strict follow-up that the user's next words may ask for."""
    offered: FrozenList = EMPTY
    """The follow-ups that the last run offered."""
    decision: FrozenDict = FrozenDict({})
    run_id: str = ""
    """Of the last run."""
    carried: FrozenDict = FrozenDict({})
    """What a runner made of others keeps from run to run: who is talking."""
    paused: Paused | None = None
    secrets: FrozenList = EMPTY
    """Texts that were found to be sensitive: the records of later runs do not show them either."""

    def but(self, **fields: Any) -> Kept:
        """The same with other fields."""
        return msgspec.structs.replace(self, **fields)


def to_json(kept: Kept, agent: str) -> bytes:
    """The conversation as JSON text."""
    document: dict[str, Any] = {
        "saywhy": KIND,
        "format": FORMAT,
        "agent": agent,
        "id": kept.id,
        "history": kept.history,
        "turn": kept.turn,
        "strictCalls": kept.strict_calls,
        "offered": kept.offered,
        "decision": kept.decision,
        "runId": kept.run_id,
    }
    if kept.pending is not None:
        document["pending"] = kept.pending
    if kept.carried:
        document["carried"] = kept.carried
    if kept.secrets:
        document["secrets"] = kept.secrets
    if kept.paused is not None:
        document["paused"] = _paused_json(kept.paused)
    text = dumps(document)
    return b'{"digest":"%s",' % _digest(text).encode() + text[1:]


def _digest(text: bytes | str) -> str:
    """A hash of a checkpoint, the same however its JSON is laid out. Not of its own `digest`."""
    tree = json.loads(text)
    tree.pop("digest", None)
    return sha256(json.dumps(tree, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _paused_json(paused: Paused) -> dict[str, Any]:
    cursor = paused.cursor
    sensitive = {"sensitive": paused.sensitive} if paused.sensitive else {}
    return {
        **sensitive,
        "cursor": Cursor(cursor.frames, cursor.state.for_json(), cursor.returned),
        "chart": paused.chart,
        "message": paused.message,
        "question": paused.question,
        "messages": paused.messages,
        "iterations": paused.iterations,
        "commits": list(paused.commits),
        "used": list(paused.used),
    }


def from_json(data: bytes | str, agent: str, chart: str) -> Kept:
    """The conversation written by `to_json`, for an agent with this name and chart.

    Raises `DamagedSession` for what is none, is damaged, is of another format or agent, or rests in
    another chart.
    """
    if not isinstance(data, bytes | str):  # pyright: ignore[reportUnnecessaryIsInstance] - callers
        kind = type(data).__name__
        raise CallerError(f"a checkpoint is bytes or text, not {kind}", hint="agent.checkpoint()")
    document = _document(data)
    whose = document.get("agent")
    if whose != agent:
        raise DamagedSession(
            f'this checkpoint is of the agent "{whose}", and this one is "{agent}": restore it '
            "with the agent it was made by"
        )
    fields = _Fields(document, "")
    paused = document.get("paused")
    kept = Kept(
        fields.text("id"),
        _history(fields.list("history"), "history"),
        fields.number("turn"),
        fields.number("strictCalls"),
        fields.object("pending") if document.get("pending") is not None else None,
        fields.list("offered"),
        fields.object("decision"),
        fields.text("runId"),
        fields.object("carried") if "carried" in document else FrozenDict({}),
        None if paused is None else _paused(paused, chart),
        fields.list("secrets") if "secrets" in document else EMPTY,
    )
    # Last, so that what can be named is named. Whatever else was changed inside the state of a run
    # would otherwise come to light in the midst of it.
    if fields.text("digest") != _digest(data):
        raise DamagedSession(
            "this checkpoint was changed after it was written: its digest is another one; restore "
            "it as agent.checkpoint() gave it"
        )
    return kept


def _document(data: bytes | str) -> dict[str, Any]:
    try:
        document = loads_raw(data)
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise DamagedSession(f"this checkpoint is no JSON of ours: {error}") from error
    if not isinstance(document, dict) or document.get("saywhy") != KIND:
        raise DamagedSession("this is no checkpoint of an agent: agent.checkpoint() makes one")
    if document.get("format") != FORMAT:
        raise DamagedSession(
            f"this checkpoint has format {document.get('format')!r}, and this version of Saywhy "
            f"reads format {FORMAT}"
        )
    return document


def _paused(tree: Any, chart: str) -> Paused:
    if not isinstance(tree, dict):
        raise DamagedSession("paused of this checkpoint is no object")
    fields = _Fields(tree, "paused.")
    digest = fields.text("chart")
    if digest != chart:
        raise DamagedSession(
            f"the run rests in version {digest[:12]} of the agent's chart, and the agent now has "
            f"version {chart[:12]}: resume it with the agent as it was, or begin a new run"
        )
    try:
        commits = tuple(from_tree(one) for one in fields.list("commits").raw)
    except ValueError as error:
        raise DamagedSession(f"the record in this checkpoint cannot be read: {error}") from error
    return Paused(
        Cursor.from_tree(tree.get("cursor")),
        digest,
        fields.text("message"),
        fields.object("question"),
        _history(fields.list("messages"), "paused.messages"),
        fields.number("iterations"),
        commits,
        _used(fields.list("used").raw),
        fields.object("sensitive") if "sensitive" in tree else FrozenDict({}),
    )


def _used(counts: list[Any]) -> tuple[int, int, int]:
    try:
        tokens_in, tokens_out, calls = map(int, counts)
    except (TypeError, ValueError) as error:
        raise DamagedSession(f"paused.used of this checkpoint is no usage: {error}") from error
    return tokens_in, tokens_out, calls


class _Fields:
    """The fields of a document, each of the type it must have."""

    def __init__(self, tree: Mapping[str, Any], at: str) -> None:
        self.tree = tree
        self.at = at

    def text(self, name: str) -> str:
        return self._of(name, str, "text")

    def number(self, name: str) -> int:
        value = self._of(name, int, "a number")
        if isinstance(value, bool) or value < 0:
            raise self._wrong(name, "a number")
        return value

    def list(self, name: str) -> FrozenList:
        return seal(self._of(name, list, "a list"))

    def object(self, name: str) -> FrozenDict:
        value = self.tree.get(name)
        if type(value) is FrozenDict:  # one that looks like a tag of ours
            return value
        return seal(self._of(name, dict, "an object"))

    def _of(self, name: str, kind: type[Any], what: str) -> Any:
        value = self.tree.get(name)
        if not isinstance(value, kind):
            raise self._wrong(name, what)
        return value

    def _wrong(self, name: str, what: str) -> DamagedSession:
        return DamagedSession(f"{self.at}{name} of this checkpoint is not {what}")


def _history(messages: FrozenList, where: str) -> FrozenList:
    for number, message in enumerate(messages.raw):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise DamagedSession(f"{where}[{number}] of this checkpoint is no message")
    return messages
