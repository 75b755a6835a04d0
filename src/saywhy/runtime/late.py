"""What is found to be sensitive after it was recorded: earlier turns are masked once more.

A value may be said before anybody knows what it is: "pay 8801993", and turns later the same number
answers a question with `pii`. When a turn ends, the newest messages before it are searched for what
was declared sensitive in it. Those that hold it are masked, with what the steps since then made of
them, in the session and in the store's rows; what is made of them later is as sensitive. A turn in
which nothing was declared looks at nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import msgspec

from saywhy.chart.commit import Commit
from saywhy.messages import Message, Span, read_message
from saywhy.runtime.remembered import SECRETS
from saywhy.runtime.session import Session
from saywhy.stores.masked import Maskable, MaskedTurn
from saywhy.stores.store import Claim, Store
from saywhy.trace.block import Block, read_block, rows_of
from saywhy.trace.masking.digests import digits_of, remembered, said_again
from saywhy.trace.masking.redact import MARK, Policy, Redactor
from saywhy.trace.masking.taint import SENSITIVE, Taint
from saywhy.trace.masking.texts import MAX_HELD
from saywhy.trace.record import Recorder
from saywhy.trace.shown import shown
from saywhy.values import dumps, freeze, raw

if TYPE_CHECKING:
    from saywhy.runtime.turn import TurnRun

MAX_TURNS: Final = 20
"""How many turns back a value is looked for."""
MAX_MESSAGES: Final = 200
"""How many messages at most."""
_NUMBER: Final = 4
"""Digits of a number that may have been written in groups."""
_HERE: Final = "here"
"""The digests are looked at and thrown away: nothing is salted against anybody."""


class Earlier:
    """The newest turns up to one, as they are to be shown from now on."""

    def __init__(self, policy: Policy, texts: Iterable[str], messages: Sequence[Message]) -> None:
        wanted = [text.casefold().strip() for text in texts]
        found: dict[int, list[str]] = {}
        for one in messages:
            held = [text for text in wanted if _may_hold(one, text)]
            found[one.seq] = said_again(one.text, _HERE, remembered(held, _HERE)) if held else []
        self._secrets = [text for parts in found.values() for text in parts]
        self._policy = policy
        self._said = [one for one in messages if found[one.seq]]
        self.first = self._said[0].turn if self._said else 0
        """The first turn that holds something; 0 where none does."""
        self.messages: dict[int, Message] = {one.seq: one for one in messages}
        """By number, masked once `mask` was called."""
        self.learnt: dict[str, None] = dict.fromkeys(self._secrets)
        """What is to be masked from now on, wherever it turns up."""
        self.sensitive: dict[str, Any] = {}
        """Where sensitive values stand after these turns, as `Taint.kept` gives it."""

    def mask(self, commits: Iterable[Commit]) -> list[Commit]:
        """The commits of these turns from the first on, masked; then `messages` are, too."""
        mask = Redactor(secrets=self._secrets)
        known = {
            "keys": [[["input", str(one.seq)], True] for one in self._said],
            "shown": {one.text: mask.text(one.text) for one in self._said},
        }
        recorder = Recorder(self._policy, secrets=self._secrets, sensitive=known)
        recorder.redactor.on_learnt = self._learn
        if recorder.redactor.taint is not None:
            recorder.redactor.taint.afterwards = True
        for commit in commits:
            recorder.keep(commit)
        masked = recorder.take()
        received = {key[1]: one for one in masked for key in _inputs(one)}
        by_seq = {one.seq: one for one in masked}
        for seq, message in self.messages.items():
            if message.turn >= self.first:
                told = shown(message, received.get(str(seq)), by_seq.get)
                self.messages[seq] = _without(told, recorder.redactor)
        return masked

    def _learn(self, taint: Taint, texts: list[str]) -> None:
        self.learnt.update(dict.fromkeys(texts))
        self.sensitive = taint.kept()


def _may_hold(message: Message, text: str) -> bool:
    """A quick look: of the user's messages alone, as what flows say to everybody is no secret."""
    if message.role != "user":
        return False
    digits = digits_of(text)
    return text in message.text.casefold() or (
        len(digits) >= _NUMBER and digits in digits_of(message.text)
    )


def _inputs(commit: Commit) -> Iterable[Any]:
    return [op.key for op in commit.ops if op.key[0] == "input"]


def _without(message: Message, redactor: Redactor) -> Message:
    """The message with each stretch masked by itself, so that its spans still fit."""
    text, end = "", 0
    spans: list[Span] = []
    for span in message.spans:
        text += redactor.text(message.text[end : span.start])
        start, end = len(text), span.end
        text += redactor.text(message.text[span.start : end])
        spans.append(Span(start, len(text), span.commit))
    text += redactor.text(message.text[end:])
    if text == message.text:
        return message
    return msgspec.structs.replace(message, text=text, spans=tuple(spans), content=None)


# ------------------------------------------------------------------ in a session


def mask_earlier(session: Session, redactor: Redactor) -> None:
    """Mask what a session that is its own record has kept, when a turn ends."""
    turn = session.state.turn
    near = [one for one in session.messages if one.turn >= turn - MAX_TURNS][-MAX_MESSAGES:]
    earlier = Earlier(redactor.policy, _telling(redactor), near)
    if not 0 < earlier.first < turn:
        return
    since = [one for one in session.commits if one.turn >= earlier.first]
    by_seq = {one.seq: one for one in earlier.mask(since)}
    session.commits = [by_seq.get(one.seq, one) for one in session.commits]
    _put(session, earlier)


def _telling(redactor: Redactor) -> list[str]:
    return [text for text in redactor.declared if MARK not in text]


def _put(session: Session, earlier: Earlier) -> None:
    """Have a session hold what is masked, and know what is sensitive. A question that stands in a
    message keeps its words."""
    masked, turn = earlier.messages, session.cursor.state.scopes["turn"]
    reply = session.message(turn.get("reply") or 0) if isinstance(turn.get("reply"), int) else None
    if reply is not None and masked.get(reply.seq, reply) != reply:
        turn["reply"] = freeze([[reply.text, 0]])  # the host gets the words themselves
    for frame in session.cursor.walk():
        pointer = raw(frame.data.get("question"))
        if isinstance(pointer, list | tuple) and pointer[0] in masked:
            seq, start, end = pointer
            message = session.message(seq)
            if message is not None and message != masked[seq]:
                frame.data["question"] = message.text[start:end]
    session.messages = [masked.get(one.seq, one) for one in session.messages]
    facts = session.cursor.state.scopes["session"]
    held = dict.fromkeys([*session.secrets, *earlier.learnt])
    facts[SECRETS] = freeze(list(held)[-MAX_HELD:])
    known: dict[str, Any] = raw(session.sensitive) or {}
    keys = [*known.get("keys", ()), *earlier.sensitive.get("keys", ())]
    facts[SENSITIVE] = freeze({**known, "keys": keys})


# ------------------------------------------------------------------ in a store


async def mask_written(store: Store, claim: Claim, run: TurnRun) -> None:
    """Mask what a turn has written before it knew what it knows at its end. Raises `Fenced`."""
    if not isinstance(store, Maskable):
        return
    known = {one.seq: one for one in run.recorder.kept}
    masked: list[tuple[int, bytes]] = []
    for row in await store.commits(claim.session_id, turn_no=claim.turn_no):
        block = read_block(row.doc)
        commits = [known[one.seq] for one in block.commits if one.seq in known]
        if len(commits) == len(block.commits):  # else they are of before a crash
            masked += rows_of(commits, run.said.messages, block.links)
    if masked:
        await store.mask_turns(claim, [MaskedTurn(claim.turn_no, commits=masked)])


async def mask_stored(
    store: Store, claim: Claim, run: TurnRun, rows: Sequence[tuple[int, bytes]]
) -> Sequence[tuple[int, bytes]]:
    """Mask what a store has kept of earlier turns, where it can; `rows` are those of this one that
    it has not, which are given back. Raises `Fenced`."""
    redactor, session = run.recorder.redactor, run.session
    texts = _telling(redactor)
    if not texts or not isinstance(store, Maskable):
        return rows
    near = await _near(store, claim, session)
    earlier = Earlier(redactor.policy, texts, [*near, *run.said.messages])
    if not 0 < earlier.first < claim.turn_no:
        return rows
    before = dict(earlier.messages)
    kept: list[tuple[int, Block]] = []
    for turn_no in range(earlier.first, claim.turn_no + 1):
        found = await store.commits(claim.session_id, turn_no=turn_no)
        kept += [(turn_no, read_block(row.doc, before)) for row in found]
    fresh = [read_block(doc, before) for _, doc in rows]
    kept += [(0, block) for block in fresh]
    masked = iter(earlier.mask(commit for _, block in kept for commit in block.commits))
    turns: dict[int, MaskedTurn] = {}
    rows = []
    for turn_no, block in kept:
        commits = list(islice(masked, len(block.commits)))
        said = [one for one in earlier.messages.values() if one.turn == (turn_no or claim.turn_no)]
        row = rows_of(commits, said, block.links)
        if not turn_no:
            rows += row
        elif commits != block.commits:
            _add(turns, turn_no, commits=row)
    for seq, message in earlier.messages.items():
        if message != before[seq] and message.turn < claim.turn_no:
            _add(turns, message.turn, messages=[(seq, dumps(message))])
    await store.mask_turns(claim, list(turns.values()))
    run.said.messages = [earlier.messages[one.seq] for one in run.said.messages]
    _put(session, earlier)
    run.settle()
    return rows


async def _near(store: Store, claim: Claim, session: Session) -> list[Message]:
    """The newest messages before the turn: of whole turns, as steps point into all of them."""
    after = max(0, session.message_seq - MAX_MESSAGES)
    rows = await store.messages(claim.session_id, after=after, limit=MAX_MESSAGES)
    first = rows[0].turn_no if rows and after else 0  # it may have begun before
    oldest = max(first + 1, claim.turn_no - MAX_TURNS)
    return [read_message(row.doc) for row in rows if oldest <= row.turn_no < claim.turn_no]


def _add(
    turns: dict[int, MaskedTurn],
    turn_no: int,
    *,
    messages: Sequence[tuple[int, bytes]] = (),
    commits: Sequence[tuple[int, bytes]] = (),
) -> None:
    known = turns.get(turn_no, MaskedTurn(turn_no))
    turns[turn_no] = MaskedTurn(turn_no, [*known.messages, *messages], [*known.commits, *commits])


__all__ = ["Earlier", "mask_earlier", "mask_stored", "mask_written"]
