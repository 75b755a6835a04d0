"""What people decide about calls, through an engine: settle an unknown one, approve, deny.

A decision of a stored conversation is a turn like a message: accepted once, run to an end, on
record with who decided and when. How the flow goes on with it is `flows.decisions`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, overload

from saywhy.errors import (
    AlreadyDecided,
    ApprovalExpired,
    ApprovalMismatch,
    CallerError,
    NothingPending,
    UnknownSession,
)
from saywhy.flows.outside import (
    DECIDED,
    OPEN,
    is_expired,
    open_records,
    view_of,
)
from saywhy.runtime.conversations import Conversations, TurnReply
from saywhy.runtime.entry import Entry
from saywhy.runtime.machinery import Machinery, NoJournal
from saywhy.runtime.noted import message_of, noted_in
from saywhy.runtime.session import Session
from saywhy.runtime.turn import TurnRun
from saywhy.tools.arguments import errors_in, plain, refusal
from saywhy.trace.masking.redact import Policy
from saywhy.values import UNDEFINED, freeze, iso_from_milliseconds, loads_raw

NOT_GIVEN: Final[Any] = UNDEFINED
PAGE: Final = 500


class Deciding:
    """The part of an engine that listens to people who decide about calls."""

    _machinery: Machinery
    _policy: Policy

    @property
    def _stored(self) -> Conversations:
        raise NotImplementedError

    # ------------------------------------------------------------ what is open

    async def unknown(self, session_id: str | None = None) -> list[dict[str, Any]]:
        """Calls of which nobody knows whether they acted, of one conversation or of all.

        Each has `sessionId`, `userId`, `id` (its idempotency key), `tool`, `args`, `since`, `turn`,
        `seq` and `error`. Arguments are masked as in the record. Where somebody has decided and the
        next turn will follow, `decided` says `how`, `at` when and `by` whom.
        """
        return await self._listed("settle", session_id)

    async def approvals(self, session_id: str | None = None) -> list[dict[str, Any]]:
        """Calls that wait to be approved, with their arguments as shown, `id` and `digest`.

        `expires` is in milliseconds since 1970, and so is `since`. `decided` is as in `unknown`.
        """
        return await self._listed("approval", session_id)

    async def _listed(self, kind: str, session_id: str | None) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        noted: dict[str, dict[str, dict[str, Any]]] = {}
        store = self._stored.store
        after = 0
        while rows := await store.waiting(session_id, PAGE, after):
            after = rows[-1].number
            for row in rows:
                if row.kind != kind:
                    continue
                if row.session_id not in noted:
                    noted[row.session_id] = await noted_in(store, row.session_id)
                one = {"sessionId": row.session_id, "userId": row.user_id, **loads_raw(row.doc)}
                word = noted[row.session_id].get(message_of(one))
                found.append({**one, "decided": word} if word else one)
        return found

    # ------------------------------------------------------------ settling

    @overload
    async def settle(
        self, session: Session, call: str | int | None = None, *, done: Any = ...,
        failed: str | None = None, not_done: bool = False, by: str = "", note: str = "",
    ) -> Session: ...  # fmt: skip
    @overload
    async def settle(
        self, session: str, call: str | int | None = None, *, done: Any = ...,
        failed: str | None = None, not_done: bool = False, by: str = "", note: str = "",
        run: bool = True,
    ) -> TurnReply | None: ...  # fmt: skip
    async def settle(
        self,
        session: str | Session,
        call: str | int | None = None,
        *,
        done: Any = NOT_GIVEN,
        failed: str | None = None,
        not_done: bool = False,
        by: str = "",
        note: str = "",
        run: bool = True,
    ) -> TurnReply | Session | None:
        """Say what became of a call nobody knew the end of: the conversation goes on with it.

        `session` is the id of a stored conversation, or a session, which is given back as it is
        then. `call` is the key or the number listed by `unknown`; it may be left out where only one
        is open. `done` is what the step's variable gets, `failed` an error text, and with
        `not_done` the call is made again under its key. With `run=False` the next turn does it.
        Raises `AlreadyDecided` the second time, `NothingPending` where nothing is open.
        """
        told = {"done": done is not NOT_GIVEN, "failed": failed is not None, "not_done": not_done}
        how = [name for name, given in told.items() if given]
        if len(how) != 1:
            raise CallerError(
                "a call is settled in one way", hint="give one of done=…, failed=…, not_done=True"
            )
        decision: dict[str, Any] = {"how": how[0]}
        if how[0] == "done":
            decision["value"] = freeze(done, ("done",))
        elif how[0] == "failed":
            decision["text"] = failed
        return await self._decide(session, "settle", call, decision, by=by, note=note, run=run)

    # ------------------------------------------------------------ approving

    @overload
    async def approve(
        self, session: Session, approval_id: str, *, by: str = "", digest: str | None = None,
        args: Mapping[str, Any] | None = None, note: str = "",
    ) -> Session: ...  # fmt: skip
    @overload
    async def approve(
        self, session: str, approval_id: str, *, by: str = "", digest: str | None = None,
        args: Mapping[str, Any] | None = None, note: str = "", run: bool = True,
    ) -> TurnReply | None: ...  # fmt: skip
    async def approve(
        self,
        session: str | Session,
        approval_id: str,
        *,
        by: str = "",
        digest: str | None = None,
        args: Mapping[str, Any] | None = None,
        note: str = "",
        run: bool = True,
    ) -> TurnReply | Session | None:
        """Let a call be made, once, with exactly the arguments that were shown.

        `digest` is the one that was listed with them. Other `args` are not approved with this: the
        same call with these arguments is asked for anew, under a new id. Raises `AlreadyDecided`,
        `ApprovalExpired`, `ApprovalMismatch` for another digest, `NothingPending`; then nothing has
        changed.
        """
        decision: dict[str, Any] = {"how": "approved", "digest": digest}
        if args is not None:
            decision = {"how": "edited", "digest": digest, "value": freeze(args, ("args",))}
        return await self._decide(
            session, "approval", approval_id, decision, by=by, note=note, run=run
        )

    @overload
    async def deny(
        self, session: Session, approval_id: str, *, by: str = "", reason: str = ""
    ) -> Session: ...  # fmt: skip
    @overload
    async def deny(
        self, session: str, approval_id: str, *, by: str = "", reason: str = "", run: bool = True
    ) -> TurnReply | None: ...  # fmt: skip
    async def deny(
        self,
        session: str | Session,
        approval_id: str,
        *,
        by: str = "",
        reason: str = "",
        run: bool = True,
    ) -> TurnReply | Session | None:
        """Refuse a call: its step fails with `not approved`, which its `onFail` may handle."""
        decision = {"how": "denied"}
        return await self._decide(
            session, "approval", approval_id, decision, by=by, note=reason, run=run
        )

    # ------------------------------------------------------------ both

    async def _decide(
        self,
        session: str | Session,
        kind: str,
        call: str | int | None,
        decision: dict[str, Any],
        *,
        by: str,
        note: str,
        run: bool,
    ) -> TurnReply | Session | None:
        now = self._machinery.clock.now()
        held = session if isinstance(session, Session) else await self._stored.session(session)
        if held is None:
            raise UnknownSession(
                str(session),
                "see the ids that unknown() and approvals() list, or `list` of the command line",
            )
        record = _record_of(held, kind, call)
        noted = {} if held is session else await noted_in(self._stored.store, held.session_id)
        word = noted.get(message_of(record))
        if word is None:  # else that somebody was first is what there is to say
            self._check(record, decision, now)
        told = {"by": by, "note": note}
        decision |= {"id": record["id"], "seq": record["seq"], "at": now}
        decision |= {name: text for name, text in told.items() if text}
        entry = Entry("", decision=decision)
        if isinstance(session, Session):
            return await self._decide_in(session, entry)
        reply = await self._stored.decide(held, entry, message_of(record), run)
        if reply is not None and reply.repeated:
            raise _decided_before(record["id"], word or await self._word(held.session_id, record))
        return reply

    async def _word(self, session_id: str, record: Mapping[str, Any]) -> Mapping[str, Any]:
        """What somebody decided about this a moment ago, followed by now or still noted."""
        noted = await noted_in(self._stored.store, session_id)
        session = await self._stored.session(session_id)
        followed = _known(session) if session else {}
        return noted.get(message_of(record)) or followed.get(record["id"]) or {}

    async def _decide_in(self, session: Session, entry: Entry) -> Session:
        session.check(self._machinery.charts)
        twin = session.copy()
        with self._machinery.watchers.recording(self._policy, twin) as recorder:
            await TurnRun(self._machinery, twin, recorder, NoJournal()).take(entry)
        twin.version += 1
        return twin

    def _check(self, record: Mapping[str, Any], decision: dict[str, Any], now: float) -> None:
        """Refuse what does not fit what was asked."""
        if record["kind"] != "approval":
            return
        if is_expired(record, now):
            raise ApprovalExpired(
                f"the approval {record['id']} was wanted until "
                f"{iso_from_milliseconds(record['expires'])}",
                hint="the next message of the user ends the waiting",
            )
        if decision.pop("digest", None) not in (None, record["digest"]):
            raise ApprovalMismatch(
                f"the approval {record['id']} is for other arguments than were shown",
                hint="list the approvals again, and look at what is wanted now",
            )
        if decision["how"] == "approved":
            decision["digest"] = record["digest"]
        elif decision["how"] == "edited":
            self._check_edited(record, decision["value"])

    def _check_edited(self, record: Mapping[str, Any], args: Any) -> None:
        tool = self._machinery.world.tools.find(record["tool"])
        errors = errors_in(tool, plain(args)) if tool else []
        if errors:
            raise CallerError(refusal(errors), hint=f"see the parameters of tool {record['tool']}")


def _record_of(session: Session, kind: str, call: str | int | None) -> Mapping[str, Any]:
    """What is meant, by id or number, or the only one. Raises where nothing of the kind is open."""
    records = open_records(session.state.get(*OPEN)).values()
    open_ones = [record for record in records if record["kind"] == kind]
    if call is None and len(open_ones) == 1:
        return open_ones[0]
    for record in open_ones:
        if call is not None and str(call) in (record["id"], str(record["seq"])):
            return record
    if call is not None and str(call) in _known(session):
        raise _decided_before(str(call), _known(session)[str(call)])
    raise _nothing(session.session_id, kind, call, [view_of(record) for record in open_ones])


def _nothing(
    session_id: str, kind: str, call: str | int | None, views: list[dict[str, Any]]
) -> NothingPending:
    what = {"settle": "call of unknown outcome", "approval": "approval"}[kind]
    named = f' "{call}"' if call is not None else ""
    ids = ", ".join(view["id"] for view in views)
    if call is None and views:
        return NothingPending(f"{session_id} has more than one {what}", hint=f"say which: {ids}")
    hint = f"open there: {ids}" if ids else "nothing of the kind is open there"
    return NothingPending(f"{session_id} has no {what}{named} to decide", hint=hint)


def _known(session: Session) -> dict[str, Any]:
    """Decisions the flow went on with, by id."""
    return open_records(session.state.get(*DECIDED))


def _decided_before(name: str, known: Mapping[str, Any]) -> AlreadyDecided:
    who = f" by {known['by']}" if known.get("by") else ""
    when = f" at {iso_from_milliseconds(known['at'])}" if known.get("at") else ""
    how = f": {known['how'].replace('_', ' ')}" if known.get("how") else ""
    return AlreadyDecided(f"{name} was decided before{who}{when}{how}")


__all__ = ["Deciding"]
