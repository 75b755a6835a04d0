"""A conversation as a host holds it: where it stands, what was said, and what the last turn did.

A session is a value: `update_activity` gives a new one and leaves the old one alone. Its JSON goes
anywhere and comes back. What hosts read has the field's names in snake_case here and in camelCase
in JSON. spec: flow-engine 8
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, Self

import msgspec

from saywhy.chart.commit import Commit
from saywhy.chart.cursor import Cursor, State
from saywhy.chart.model import Charts
from saywhy.flows.due import DUE, due_of
from saywhy.flows.forms.record import view_of as form_view
from saywhy.flows.outside import OPEN, open_records, view_of
from saywhy.flows.speech import plain
from saywhy.messages import Message
from saywhy.runtime.damage import FORMAT, check_frames, read_cursor, read_document
from saywhy.runtime.frame_view import FrameView, steps_of_frame
from saywhy.trace.masking.taint import SENSITIVE
from saywhy.trace.trace import Trace
from saywhy.trace.writers import Writers
from saywhy.values import FrozenDict, dumps, freeze, same, seal_fields, thaw

KEPT_MESSAGES: Final = 20
"""Newest messages that stand in the session itself; all stand in the store."""
KEPT_COMMITS: Final = 2048
"""Newest commits that a session without a store keeps, for `why`: two turns at the usual limit of
steps, with what closes them."""
KEPT_IN_MEMORY: Final = 500
"""Newest messages that a session without a store keeps, for `why`."""


def _warn(text: str) -> None:
    logging.getLogger("saywhy").warning(text)


class Session:
    """One conversation between turns."""

    def __init__(
        self, session_id: str, user_id: str, language: str | None, charts: Charts, now: float = 0.0
    ) -> None:
        self.session_id = session_id
        self.user_id = user_id
        self.created_at = now
        self.last_activity = now
        self.version = 0
        self.cursor = Cursor()
        self.routing = self.cursor.beside()
        self.messages: list[Message] = []
        self.message_seq = 0
        self.last_chat: dict[str, int] = {}
        self.reply_message = 0
        self.commits: list[Commit] = []
        self.charts = charts
        self.writers = Writers()
        self._cargo: dict[str, Any] | None = None
        self._set_facts(language)

    def _set_facts(self, language: str | None) -> None:
        facts = self.state.scopes.setdefault("session", {})
        facts["sessionId"] = self.session_id
        facts["userId"] = self.user_id
        facts["language"] = language
        self.state.scopes.setdefault("cargo", {})

    @property
    def state(self) -> State:
        """Scopes and counters, shared by the flow cursor and the routing cursor."""
        return self.cursor.state

    # ------------------------------------------------------------ what hosts read

    @property
    def language(self) -> str | None:
        """The session's language; None when the engine's counts."""
        return self.state.get("session", "language") or None

    @language.setter
    def language(self, language: str | None) -> None:
        self.state.scopes["session"]["language"] = language

    @property
    def authenticated(self) -> bool:
        """Whether the host says that the user has signed in. No flow can write it."""
        return self.state.get("session", "authenticated") is True

    @authenticated.setter
    def authenticated(self, authenticated: bool) -> None:
        self.state.scopes["session"]["authenticated"] = authenticated

    @property
    def cargo(self) -> dict[str, Any]:
        """The host's and the flows' free data. What is changed here counts from the next turn."""
        if self._cargo is None:
            self._cargo = {key: thaw(value) for key, value in self.state.scopes["cargo"].items()}
        return self._cargo

    @cargo.setter
    def cargo(self, cargo: Mapping[str, Any]) -> None:
        self._cargo = dict(cargo)

    @property
    def response(self) -> str | None:
        """The reply: text, `''` (a flow handed the turn back) or None (no flow handled it)."""
        turn = self.cursor.state.scopes.get("turn")
        if turn is None or "reply" not in turn:
            return None
        reply = turn["reply"]
        if isinstance(reply, int):
            message = self.message(reply)
            return message.text if message else ""
        return plain(reply)

    @property
    def last_turn_tool_calls(self) -> list[dict[str, Any]]:
        """Tool calls this turn attempted, in order."""
        return thaw(self.state.get("turn", "calls") or [])

    @property
    def forms(self) -> list[dict[str, Any]]:
        """How the forms of the open flows stand, the newest last."""
        return [view for frame in self.cursor.frames if (view := form_view(frame)) is not None]

    @property
    def last_flow_outcome(self) -> dict[str, Any] | None:
        """The declared outcome of a flow that ended in this turn."""
        return thaw(self.state.get("turn", "outcome") or None)

    @property
    def last_turn_dispatch(self) -> dict[str, Any] | None:
        """What a DISPATCH of this turn led to."""
        return thaw(self.state.get("turn", "dispatch") or None)

    @property
    def completed_transactions(self) -> list[dict[str, Any]]:
        """Transactions of flows that ended, newest last, each with the steps still on record."""
        ended = thaw(self.state.get("session", "transactions") or [])
        trace = self.trace
        for transaction in ended:
            frame = transaction.pop("frame", 0)
            transaction["steps"] = steps_of_frame(trace, frame)
        return ended

    @property
    def trace(self) -> Trace:
        """What is on record of this conversation here: everything, unless it was long."""
        return Trace(self.commits, self.charts, self.messages)

    def transactions(self, state: str | None = None) -> list[dict[str, Any]]:
        """Ended and open transactions: `active`, `suspended`, `completed` or `failed`."""
        stack = self.stacks()
        found = [*self.completed_transactions]
        for number, frames in enumerate(stack):
            label = "active" if number == len(stack) - 1 else "suspended"
            found += [{**FrameView(self, frame).transaction, "state": label} for frame in frames]
        return [one for one in found if state is None or one["state"] == state]

    @property
    def last_chat_turn(self) -> dict[str, dict[str, Any]]:
        """The newest words of user and assistant that no flow handled."""
        found = {role: self.message(seq) for role, seq in self.last_chat.items()}
        return {
            role: {"role": role, "content": message.text, "timestamp": message.at}
            for role, message in found.items()
            if message is not None
        }

    @property
    def frame(self) -> FrameView | None:
        """The flow that runs, as hosts know it; None when none does."""
        return FrameView(self, self.cursor.top) if self.cursor.frames else None

    @property
    def pending_messages(self) -> list[str]:
        """Texts said but not delivered yet."""
        return [item[0] for item in self.state.get("session", "queue") or ()]

    def stacks(self) -> list[list[Any]]:
        """Frames by stack: an interruption opens a new one, the last is active."""
        found: list[list[Any]] = []
        for frame in self.cursor.frames:
            if frame.boundary or not found:
                found.append([])
            found[-1].append(frame)
        return found

    @property
    def flow_stacks(self) -> list[list[str]]:
        """Names of the running flows by stack, caller first."""
        return [[frame.name for frame in stack] for stack in self.stacks()]

    @property
    def secrets(self) -> tuple[str, ...]:
        """Sensitive answers that running flows still hold: masked in whatever is recorded."""
        secrets = self.cursor.state.scopes["session"].get("secrets")
        return tuple(secrets) if secrets else ()

    @property
    def sensitive(self) -> Any:
        """Where sensitive values stand, as `trace.masking.taint` keeps it; None for nowhere."""
        return self.cursor.state.scopes["session"].get(SENSITIVE)

    @property
    def unknown(self) -> list[dict[str, Any]]:
        """Calls of which nobody knows whether they acted, oldest first; `Engine.settle` says it."""
        return self._outside("settle")

    @property
    def pending_approval(self) -> dict[str, Any] | None:
        """The call that waits to be approved, as shown to whoever decides; None for none."""
        waiting = self._outside("approval")
        return waiting[-1] if waiting else None

    @property
    def due_at(self) -> float | None:
        """When something happens though the user says nothing, in milliseconds since 1970.

        Without a store the host hands in `{"role": "timer"}` then; with one, `run_due` does it.
        """
        due = due_of(self.state.get(*DUE))
        return due["at"] if due else None

    def _outside(self, kind: str) -> list[dict[str, Any]]:
        records = open_records(self.state.get(*OPEN)).values()
        return [view_of(record) for record in records if record["kind"] == kind]

    def check(self, charts: Charts) -> None:
        """Raise `DamagedSession` for a frame that cannot go on, naming it and its flow."""
        check_frames(self.cursor, charts)

    def question_of(self, data: Mapping[str, Any]) -> str | None:
        """The open question of a frame: at rest its data points into the message that asked it."""
        question = data.get("question")
        if question is None or isinstance(question, str):
            return question
        message = self.message(question[0])
        return message.text[question[1] : question[2]] if message else None

    def message(self, seq: int) -> Message | None:
        """One of the messages kept here."""
        for message in reversed(self.messages):
            if message.seq == seq:
                return message
        return None

    # ------------------------------------------------------------ copies and JSON

    def copy(self) -> Session:
        """A session that can run on without changing this one."""
        twin = Session.__new__(Session)
        twin.__dict__.update(self.__dict__)
        twin.cursor = self.cursor.copy()
        twin.routing = self.routing.onto(twin.cursor.state)
        twin.messages = list(self.messages)
        twin.last_chat = dict(self.last_chat)
        return twin

    def cargo_changes(self) -> tuple[dict[str, Any], list[str]]:
        """What the host changed in cargo since the last turn: keys set, keys taken away."""
        if self._cargo is None:
            return {}, []
        known = self.state.scopes["cargo"]
        changed = {
            name: frozen
            for name, value in self._cargo.items()
            for frozen in (freeze(value, ("cargo", name)),)
            if name not in known or not same(known[name], frozen)
        }
        return changed, [name for name in known if name not in self._cargo]

    def to_json(self, *, trace: bool = True) -> bytes:
        """The session as JSON text; `Engine.load_session` gives it back.

        With `trace` the newest commits come along, so that `why` can still be asked; a long
        conversation is better kept in a store.
        """
        document = self.document() | self._last_turn()
        if trace:
            document["commits"] = self.commits
            document["messages"] = self.messages
        return dumps(document)

    def _last_turn(self) -> dict[str, Any]:
        """What the last turn did, under the names that hosts read it by."""
        return {
            "response": self.response,
            "lastTurnToolCalls": self.last_turn_tool_calls,
            "lastFlowOutcome": self.last_flow_outcome,
            "lastTurnDispatch": self.last_turn_dispatch,
            "lastChatTurn": self.last_chat_turn,
            "flowStacks": self.flow_stacks,
            "unknown": self.unknown,
            "pendingApproval": self.pending_approval,
            "dueAt": self.due_at,
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything hosts read, under its camelCase names: to be looked at, not to be loaded."""
        return {
            "sessionId": self.session_id,
            "userId": self.user_id,
            "language": self.language,
            "createdAt": self.created_at,
            "lastActivity": self.last_activity,
            "cargo": dict(self.cargo),
            **self._last_turn(),
            "pendingMessages": self.pending_messages,
            "completedTransactions": self.completed_transactions,
            "frame": self.frame.to_dict() if self.frame else None,
        }

    def document(self) -> dict[str, Any]:
        """What the next turn needs, and what hosts read. Long texts stand in `messages` once."""
        scopes = {name: values for name, values in self.state.scopes.items() if name != "cargo"}
        state = msgspec.structs.replace(self.state, scopes=scopes).for_json()
        return {
            "format": FORMAT,
            "sessionId": self.session_id,
            "userId": self.user_id,
            "language": self.language,
            "createdAt": self.created_at,
            "lastActivity": self.last_activity,
            "version": self.version,
            "cargo": FrozenDict(self._cargo_now()),
            **self._cargo_set(),
            "lastChat": self.last_chat,
            "messageSeq": self.message_seq,
            "messages": self._kept_messages(),
            "cursor": {"frames": self.cursor.frames, "state": state},
            "routing": self.routing.frames,
            "writers": self.writers.for_json(),
        }

    def _cargo_now(self) -> dict[str, Any]:
        known = self.state.scopes["cargo"]
        changed, gone = self.cargo_changes()
        if not changed and not gone:
            return known
        return {name: value for name, value in {**known, **changed}.items() if name not in gone}

    def _cargo_set(self) -> dict[str, list[str]]:
        """The keys of cargo that the host has set since the last turn: the next one notes them."""
        changed, _ = self.cargo_changes()
        return {"cargoSet": [*changed]} if changed else {}

    def _kept_messages(self) -> list[Message]:
        wanted = {*self.last_chat.values()}
        for frame in self.cursor.walk():
            pointer = frame.data.get("question")
            if isinstance(pointer, list | tuple):
                wanted.add(pointer[0])
        newest = self.message_seq - KEPT_MESSAGES
        return [one for one in self.messages if one.seq > newest or one.seq in wanted]

    def _take_cargo(self, cargo: dict[str, Any], fresh: Collection[str]) -> None:
        self.state.scopes["cargo"] = {name: cargo[name] for name in cargo if name not in fresh}
        if fresh:
            self._cargo = {name: thaw(value) for name, value in cargo.items()}

    @classmethod
    def from_json(
        cls, data: bytes | str, charts: Charts, warn: Callable[[str], None] = _warn
    ) -> Self:
        """The session written by `to_json`. Raises `DamagedSession`, which says what is wrong."""
        document = read_document(data)
        session = cls(
            document.session_id, document.user_id, document.language, charts, document.created_at
        )
        session.cursor = read_cursor(document.cursor, warn)
        session._take_cargo(seal_fields(document.cargo or {}), document.cargo_set or ())
        session._set_facts(document.language)
        session.routing = Cursor.from_tree({"frames": document.routing or []}, session.state)
        session.last_activity = document.last_activity
        session.version = document.version
        session.message_seq = document.message_seq
        session.last_chat = document.last_chat or {}
        session.messages = document.messages or []
        session.commits = document.commits or []
        session.writers = Writers.from_tree(document.writers, session.state.seq + 1)
        return session
