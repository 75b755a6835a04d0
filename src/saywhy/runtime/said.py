"""What was said in one turn: its messages, and how much of them may be kept.

A sensitive answer stays out of every message, also where a reply repeats it: the host gets the
reply as the flow said it, what is kept has a mark in its place. The answer itself lives in the
flow's variable for as long as the flow runs.
"""

from __future__ import annotations

import msgspec

from saywhy.flows.guidance import Pieces
from saywhy.flows.speech import plain
from saywhy.messages import Message, Span
from saywhy.runtime.entry import Entry
from saywhy.runtime.session import Session
from saywhy.trace.masking.digests import REMEMBERED, remembered
from saywhy.trace.masking.redact import MARK, Redactor
from saywhy.trace.masking.taint import SENSITIVE
from saywhy.values import dumps, freeze, raw


class Said:
    """The messages of one turn. Those of the session grow with them."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.messages: list[Message] = []

    def take_up(self) -> None:
        """Go on with a turn whose message stands in the session already."""
        kept = self._session.message(self._session.message_seq)
        turn = self._session.state.turn
        is_ours = kept is not None and (kept.role, kept.turn) == ("user", turn)
        self.messages = [kept] if kept is not None and is_ours else []

    def hear(self, entry: Entry, now: float, *, pii: bool = False) -> Message:
        """Append what came in."""
        session = self._session
        message = Message(
            session.message_seq + 1,
            entry.role,  # pyright: ignore[reportArgumentType] - checked by the entry
            entry.text,
            session.cursor.state.turn,
            entry.timestamp or now,
            content=entry.content,
            metadata=entry.metadata,
            pii=pii,
        )
        return self._append(message)

    def reply(self, pieces: Pieces, now: float, text: str | None = None) -> Message:
        """Append what the flows said, without what may not be kept; `text` is what the pieces
        make, where that is known."""
        mask = self._mask()
        pieces = raw(pieces)
        if mask is not None:
            pieces = [[mask.text(text), commit] for text, commit in pieces]
        if mask is not None or text is None:
            text = plain(pieces)
        session = self._session
        seq = session.message_seq + 1
        turn = session.cursor.state.turn
        return self._append(Message(seq, "assistant", text, turn, now, _spans(pieces)))

    def _append(self, message: Message) -> Message:
        session = self._session
        session.message_seq = message.seq
        session.messages.append(message)
        self.messages.append(message)
        return message

    def seal(self) -> None:
        """The turn is over: take out of its messages what may not be kept."""
        mask = self._mask()
        if mask is None:
            for message in self.messages:
                if message.pii:
                    break
            else:
                return
        sealed = [_sealed(message, mask) for message in self.messages]
        if sealed != self.messages:
            self._session.messages[-len(sealed) :] = sealed
            self.messages = sealed

    def forget(self) -> None:
        """No flow runs any more: sensitive answers are forgotten, but for those in cargo.

        What is in cargo outlives its flow, and a later one may say it. Of the others digests are
        kept, by which they are known when the user says them again.
        """
        scopes = self._session.state.scopes
        known = scopes["session"].pop("secrets", None)
        if known:
            before = scopes["session"].get(REMEMBERED) or ()
            entries = remembered(known, self._session.session_id, before)
            if entries:
                scopes["session"][REMEMBERED] = freeze(entries)
            cargo = dumps(scopes["cargo"]).decode()
            held = [one for one in known if Redactor(secrets=[one]).text(cargo) is not cargo]
            if held:
                scopes["session"]["secrets"] = freeze(held)

    def _mask(self) -> Redactor | None:
        facts = self._session.cursor.state.scopes["session"]
        secrets, sensitive = facts.get("secrets"), facts.get(SENSITIVE)
        if not secrets and not sensitive:
            return None
        return Redactor(secrets=tuple(secrets or ()), sensitive=sensitive)


def _sealed(message: Message, mask: Redactor | None) -> Message:
    if mask is None and not message.pii:
        return message
    taint = mask.taint if mask is not None and message.role == "user" else None
    if taint is not None and taint.covers(("input", str(message.seq))):
        text = taint.shown.get(message.text, MARK)
        return msgspec.structs.replace(message, text=text, content=None, pii=text == MARK)
    text = MARK if message.pii or mask is None else mask.text(message.text)
    if text is message.text:
        return message
    return msgspec.structs.replace(message, text=text, content=None)


def _spans(pieces: Pieces) -> tuple[Span, ...]:
    spans: list[Span] = []
    start = 0
    for text, commit in pieces:
        end = start + len(text)
        if commit and text:
            spans.append(Span(start, end, commit))
        start = end
    return tuple(spans)
