"""`check_store` accepts the stores we ship and finds what is wrong with broken ones."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from saywhy.errors import Fenced
from saywhy.stores.memory import MemoryStore
from saywhy.stores.store import Accepted, Claim, Prior
from saywhy.testing import store_parts
from saywhy.testing.check_store import check_store


class ForgetsMessageIds(MemoryStore):
    count = 0

    async def accept(self, session_id: str, message_id: str, input: bytes, **more: Any) -> Accepted:
        self.count += 1
        return await super().accept(session_id, f"{message_id}-{self.count}", input, **more)


class IgnoresLeases(MemoryStore):
    async def claim(self, worker: str, ttl_seconds: float = 30, *more: Any) -> Claim | None:
        for session in self._open.values():
            session.lease_until = 0
        return await super().claim(worker, ttl_seconds, *more)


class IgnoresFences(MemoryStore):
    async def finish(self, claim: Claim, *more: Any, **options: Any) -> None:
        fence = self._sessions[claim.session_id].fence
        await super().finish(msgspec.structs.replace(claim, fence=fence), *more, **options)


class RefusesLateResults(MemoryStore):
    async def result(self, claim: Claim, *more: Any) -> None:
        session = self._sessions.get(claim.session_id)
        if session is None or session.fence == claim.fence:
            await super().result(claim, *more)


class ForgetsCursors(MemoryStore):
    async def claim(self, *more: Any) -> Claim | None:
        claim = await super().claim(*more)
        return claim and msgspec.structs.replace(claim, turn_doc=None)


class AnswersAnyCall(MemoryStore):
    async def intent(self, *more: Any, **options: Any) -> Prior:
        prior = await super().intent(*more, **options)
        return Prior("interrupted") if prior.status == "diverged" else prior


class KeepsSecrets(MemoryStore):
    async def finish(self, *more: Any, **options: Any) -> None:
        await super().finish(*more, **options | {"blank": frozenset()})


class KeepsLateSecrets(MemoryStore):
    async def result(self, claim: Claim, seq: int, result: bytes) -> None:
        await super().result(claim, seq, result)
        if session := self._sessions.get(claim.session_id):
            session.turns[claim.turn_no].steps[seq][-1].result = result


class ForgetsHalf(MemoryStore):
    async def forget(self, user_id: str) -> int:
        timers = self._timers
        gone = await super().forget(user_id)
        self._timers = timers
        return gone


class CountsRefusals(MemoryStore):
    async def allow(self, user_id: str, tool: str, *limit: Any) -> float | None:
        wait = await super().allow(user_id, tool, *limit)
        if wait is not None:
            self._rates[user_id, tool].append(self._clock.now() + limit[1])
        return wait


class AllowsOneMore(MemoryStore):
    async def allow(self, user_id: str, tool: str, requests: int, *more: Any) -> float | None:
        return await super().allow(user_id, tool, requests + (requests > 2), *more)


class SendsTwice(MemoryStore):
    async def mark_sent(self, output_id: int) -> bool:
        return await super().mark_sent(output_id) or True


class StoresHalves(MemoryStore):
    async def finish(self, claim: Claim, *more: Any, **options: Any) -> None:
        turn = self._sessions[claim.session_id].turns[claim.turn_no]
        turn.add_commits(options["commits"])
        await super().finish(claim, *more, **options)


class RunsTurnsOutOfOrder(MemoryStore):
    async def claim(self, worker: str, ttl_seconds: float = 30, *more: Any) -> Claim | None:
        claim = await super().claim(worker, ttl_seconds, *more)
        if claim is not None and len(self._sessions[claim.session_id].turns) > claim.turn_no:
            return msgspec.structs.replace(claim, turn_no=claim.turn_no + 1)
        return claim


class NeverWakes(MemoryStore):
    async def wait_work(self, timeout_seconds: float) -> None:
        await asyncio.sleep(timeout_seconds)


class ClaimsWhatIsHeld(MemoryStore):
    async def hold(self, claim: Claim, why: str) -> None:
        await super().hold(claim, why)
        self._sessions[claim.session_id].lease_until = self._clock.now()


class LosesHeldCursors(MemoryStore):
    async def release(self, session_id: str, *more: Any, **options: Any) -> bool:
        if (session := self._sessions.get(session_id)) is not None:
            for turn in session.turns.values():
                turn.doc = None
        return await super().release(session_id, *more, **options)


class ForgetsWhoReleased(MemoryStore):
    async def release(self, session_id: str, turn_no: int, note: str | None = None) -> bool:
        return await super().release(session_id, turn_no)


class ForgetsModes(MemoryStore):
    async def accept(self, *more: Any, mode: Any = None, **options: Any) -> Accepted:
        return await super().accept(*more, **options)


class RecodesHalves(MemoryStore):
    async def recode(self, session_id: str, change: Any) -> int:
        session = self._sessions.get(session_id)
        if session is not None and session.doc is not None:
            session.doc = change(session.doc)
        return await super().recode(session_id, change)


class KeepsAnsweredTimers(MemoryStore):
    async def finish(self, *more: Any, timers: Any = None, **options: Any) -> None:
        await super().finish(*more, timers=timers or None, **options)


class KeepsTimersOfRepairs(MemoryStore):
    async def fail(self, *more: Any, timers: Any = None, **options: Any) -> None:
        await super().fail(*more, **options)


class RingsInOpenTurns(MemoryStore):
    def _rests(self, session_id: str, mode: Any) -> bool:
        return mode in (None, self._sessions[session_id].mode)


DEFECTS: dict[type[MemoryStore], str] = {
    ForgetsMessageIds: "accepts_once: The same message id again changes nothing",
    IgnoresLeases: "runs_in_order: The turns of one conversation run one after the other",
    IgnoresFences: "ends_once: After the end of its turn a claim is dead",
    RefusesLateResults: "blanks: What is sensitive goes when the turn ends; what happened stays",
    ForgetsCursors: "resumes: A new claim of a turn brings the cursor of its newest intent",
    AnswersAnyCall: "notices_other_calls: A call that is not the one its intent named is diverged",
    KeepsSecrets: "blanks: What is sensitive goes when the turn ends",
    KeepsLateSecrets: "blanks: What is sensitive goes when the turn ends",
    ForgetsHalf: "forgets: Everything of a person goes",
    CountsRefusals: "slides_windows: A refused request is not counted",
    AllowsOneMore: "limits_rates: So many requests fit in a window",
    SendsTwice: "keeps_what_to_send: What a finished turn wants sent is kept in order",
    StoresHalves: "refuses_halves: An end that cannot be stored whole is not stored at all",
    RunsTurnsOutOfOrder: "runs_in_order: The turns of one conversation run one after the other",
    ClaimsWhatIsHeld: "holds: A held turn keeps all that is on record of it",
    LosesHeldCursors: "releases: A released turn is taken up where it was",
    ForgetsWhoReleased: "releases: A released turn is taken up where it was",
    ForgetsModes: "keeps_modes: A conversation keeps the mode it began with",
    RecodesHalves: "recodes: Documents are written in another form",
    KeepsAnsweredTimers: "replaces_timers: The turn that ends says what falls due from then on",
    KeepsTimersOfRepairs: "withdraws_timers_of_failed_turns: A turn that fails with a repaired",
    RingsInOpenTurns: "hides_timers_of_running_turns: While a turn is open nothing falls due",
    NeverWakes: "wakes: Waiting ends when a message is accepted",
}


def test_accepts_a_good_store() -> None:
    """Nothing is found in a store that keeps its promises."""
    asyncio.run(check_store(MemoryStore))


@pytest.mark.parametrize(
    ("store", "finding"), DEFECTS.items(), ids=lambda value: getattr(value, "__name__", "")
)
def test_finds_what_is_broken(
    store: type[MemoryStore], finding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store with one defect is refused, and the promise it breaks is named."""
    monkeypatch.setattr(store_parts, "PATIENCE_SECONDS", 1.0)
    with pytest.raises(AssertionError) as refusal:
        asyncio.run(check_store(store))
    assert str(refusal.value).startswith(finding)


def test_reports_an_error_of_the_wrong_kind() -> None:
    """An error where another was promised counts as a broken promise, not as a crash."""

    class RaisesAnything(MemoryStore):
        async def finish(self, claim: Claim, *more: Any, **options: Any) -> None:
            try:
                await super().finish(claim, *more, **options)
            except Fenced as error:
                raise KeyError("fence") from error

    with pytest.raises(AssertionError, match=r"expected Fenced, got KeyError\('fence'\)"):
        asyncio.run(check_store(RaisesAnything))
