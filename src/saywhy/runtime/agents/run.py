"""One run of an agent: from a message, an action or an answer to the next rest of the chart.

It gives the chart what the conversation holds, watches it, and makes of what it came to a result
and the conversation afterwards. Everything the loop does stands in `agent.loop`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypedDict

import msgspec

from saywhy.agent.events import AgentEvent
from saywhy.agent.instructions.follow_up import ResolvedFollowUp, resolved_runtime
from saywhy.agent.loop.history import conversation_of
from saywhy.agent.tool_reply import content_of
from saywhy.cancel import CancelToken
from saywhy.chart.built import Result, RunCancelled, RunOptions, RunTimedOut
from saywhy.chart.commit import Commit
from saywhy.chart.cursor import Cursor
from saywhy.chart.failure import StepFailed, cause_of
from saywhy.messages import Message, Span
from saywhy.models.chat import text_of
from saywhy.runtime.agents.dispatch import Dispatch, Retold
from saywhy.runtime.agents.kept import EMPTY, Kept, Paused
from saywhy.runtime.agents.resting import answer_to, question_of, round_of, waiting
from saywhy.runtime.agents.result import AgentResult, Usage
from saywhy.runtime.agents.telling import About, Telling
from saywhy.runtime.watchers import close
from saywhy.trace.masking.current import CURRENT
from saywhy.trace.masking.taint import Taint
from saywhy.trace.masking.texts import MAX_HELD
from saywhy.trace.record import Recorder
from saywhy.trace.trace import Trace
from saywhy.values import FrozenDict, FrozenList, freeze

if TYPE_CHECKING:
    from saywhy.runtime.agents.runner import Runner

CANCELLED: Final = "cancelled"
"""The phase of a run that was stopped from outside."""


class StreamSettings(TypedDict, total=False):
    """What may be said about a run."""

    signal: CancelToken | None
    """Cancels it when it is cancelled, the call of the model that is on its way included."""
    timeout: float | None
    """Seconds that it may take."""


class RunSettings(StreamSettings, total=False):
    """What may be said about a run that nobody looks at piece by piece."""

    on_event: Callable[[AgentEvent], Any] | None
    """Is told what happens meanwhile. What it raises is logged, and does not reach the run."""


class Given(NamedTuple):
    """What was said about a run."""

    signal: CancelToken | None = None
    timeout: float | None = None
    on_event: Callable[[AgentEvent], Any] | None = None


class Begin(msgspec.Struct, frozen=True):
    """What a run begins with."""

    message: Any
    follow_up: ResolvedFollowUp | None = None
    """An action to be carried out as it stands."""
    answer: tuple[Any, ...] = ()
    """The answer of a person, where a paused run goes on."""


class AgentRun:
    """A run, and afterwards its record."""

    def __init__(self, agent: Runner[Any], kept: Kept, begin: Begin, given: Given) -> None:
        self.agent = agent
        self.kept = kept
        self.begin = begin
        self.given = given
        self.resumed: Paused | None = kept.paused if begin.answer else None
        self.turn = kept.turn if self.resumed else kept.turn + 1
        self.run_id: str = kept.run_id if self.resumed else agent.new_id()
        about = About(self.turn, self.run_id, kept.id)
        used = Usage(*self.resumed.used) if self.resumed else Usage()
        earlier = self.resumed.commits if self.resumed is not None else ()
        self.listeners = agent.dispatch.listeners(kept.id, earlier)
        self.secrets = [str(one) for one in kept.secrets.raw]
        sensitive = self.resumed.sensitive.raw if self.resumed is not None else None
        self.recorder = Recorder(
            agent.redact, secrets=self.secrets, sensitive=sensitive, listeners=self.listeners
        )
        redactor = self.recorder.redactor
        redactor.on_learnt = _noting(self.secrets)
        dispatch = agent.dispatch
        if redactor.taint is not None and dispatch.recorders:  # told what the record tells
            self.recorder.listen(Retold(dispatch, kept.id, earlier))
            dispatch = Dispatch()
        self.telling = Telling(about, dispatch, given.on_event, used)
        if self.resumed is not None:
            self.telling.go_on(*round_of(self.resumed.cursor))
        self.result: AgentResult | None = None
        self._come_to: Result | None = None
        self._last = 0

    # ------------------------------------------------------------ running

    async def go(self) -> tuple[AgentResult, Kept]:
        """The result, and the conversation after it. Raises what made the run fail."""
        given = self.given
        token = CancelToken(timeout=given.timeout, clock=self.agent.clock, parent=given.signal)
        self.telling.begin(self._words(), resumed=self.resumed is not None)
        redactor = self.recorder.redactor
        before = CURRENT.set(redactor if redactor.taint is not None else CURRENT.get())
        try:
            come_to = self._come_to = await self._driven(token)
        finally:
            CURRENT.reset(before)
            for listener in self.listeners:
                close(listener)
        result = self.result = self._result_of(come_to)
        await self.telling.end(result)
        return result, self._kept_after(come_to, result)

    def _words(self) -> str:
        """What was said, or answered, as text."""
        begin = self.begin
        return content_of(begin.answer[0]) if begin.answer else text_of(begin.message)

    async def _driven(self, token: CancelToken) -> Result:
        try:
            return await self._unless_cancelled(token)
        except StepFailed as failed:
            self._come_to = failed.result
            error = cause_of(failed)
            where = ".".join(failed.path)
            error.add_note(f"    in run {self.run_id} of {self.agent.name}, at {where}")
            await self._failed(error)
            raise error from error.__cause__  # its own: what went wrong inside a branch
        except RunCancelled as cancelled:
            self._come_to = cancelled.result
            error = self._timed_out(cancelled)
            await self._failed(error, CANCELLED)
            raise error from None
        except Exception as error:
            await self._failed(error)
            raise

    async def _unless_cancelled(self, token: CancelToken) -> Result:
        """What the chart comes to. Cancelling our task closes its frames first, with their reason.

        The chart has a task of its own for that: it could not record its end while it is cancelled.
        """
        work = asyncio.ensure_future(self._started(token))
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            token.cancel("the task was cancelled")
            await _ended(work)
            if not work.cancelled() and isinstance(work.exception(), RunCancelled):
                cancelled: Any = work.exception()
                self._come_to = cancelled.result
            self.telling.fail(RunCancelled(token.reason, self.snapshot()), CANCELLED)
            raise

    def _started(self, token: CancelToken) -> Coroutine[Any, Any, Result]:
        options: RunOptions = {
            "signal": token,
            "clock": self.agent.clock,
            "record": self._record,
            "turn": self.turn,
        }
        if self.telling.listens:
            options["listener"] = self.telling.signal
        built = self.agent.built
        if self.resumed is not None:
            cursor = self.resumed.cursor
            return built.resume(cursor, answer_to(cursor, self.begin.answer[0]), **options)
        return built.run(self.begun_with(), **options)

    def begun_with(self) -> dict[str, Any]:
        """What the chart is given to begin with."""
        kept, begin = self.kept, self.begin
        args: dict[str, Any] = {
            "message": begin.message,
            "history": kept.history if self.agent.keeps_history else EMPTY,
            "turnNumber": self.turn,
            "runId": self.run_id,
            "conversationId": kept.id,
            "strictCalls": kept.strict_calls,
        }
        if kept.carried:
            args["carried"] = kept.carried
        if (
            kept.paused is not None and self.agent.keeps_history
        ):  # nobody has answered, and something else was said
            args["history"] = kept.paused.messages
            args["unfinished"] = _since_the_user(kept.paused.messages)
        if begin.follow_up is not None:
            args["followUp"] = begin.follow_up.to_value()
        elif kept.pending is not None:
            args["pending"] = kept.pending
        return args

    def _record(self, commit: Commit) -> None:
        self._last = commit.seq
        self.recorder(commit)
        if commit.asked is not None:
            self.recorder.pack_soon()
        self.telling.commit(commit)

    def _timed_out(self, cancelled: RunCancelled) -> Exception:
        signal, timeout = self.given.signal, self.given.timeout
        if timeout is None or (signal is not None and signal.cancelled):
            return cancelled
        return RunTimedOut(timeout, cancelled.result)

    async def _failed(self, error: Exception, phase: str = "") -> None:
        self.telling.fail(error, phase)
        await self.telling.settled()

    # ------------------------------------------------------------ what it came to

    def _result_of(self, come_to: Result) -> AgentResult:
        state = come_to.state
        paused = come_to.need is not None
        given: dict[str, Any] = {
            "content": "" if paused else str(state.get("result") or ""),
            "messages": waiting(come_to) if paused else conversation_of(state),
            "iterations": int(state.get("loopCount") or 0),
            "paused": paused,
            "pause_data": question_of(come_to.need) if paused else None,
            "stop_reason": "paused" if paused else str(state.get("stopReason") or "final"),
            "follow_ups": tuple(map(resolved_runtime, state.get("followUps", ()))),
            "decision": state.get("decision", FrozenDict({})),
            "run_id": self.run_id,
            "usage": self.telling.usage,
        }
        return self.agent.result_of(state, given)

    def _kept_after(self, come_to: Result, result: AgentResult) -> Kept:
        kept = self.kept.but(
            turn=self.turn,
            run_id=self.run_id,
            decision=result.decision,
            secrets=FrozenList(self.secrets),
        )
        if result.paused:
            return kept.but(paused=self._paused(come_to, result))
        state = come_to.state
        return kept.but(
            history=result.messages,
            strict_calls=max(kept.strict_calls, int(state.get("strictCalls") or 0)),
            pending=state.get("strictFollowUp"),
            offered=state.get("followUps", EMPTY),
            carried=state.get("carried", FrozenDict({})),
            paused=None,
        )

    def _paused(self, come_to: Result, result: AgentResult) -> Paused:
        assert come_to.need is not None
        assert result.pause_data is not None
        return Paused(
            come_to.cursor,
            self.agent.chart.digest,
            text_of(self.begin.message),
            freeze(result.pause_data),
            freeze(result.messages),
            result.iterations,
            self._commits(),
            (result.usage.input_tokens, result.usage.output_tokens, result.usage.calls),
            self._sensitive(),
        )

    # ------------------------------------------------------------ its record

    def _sensitive(self) -> FrozenDict:
        taint = self.recorder.redactor.taint
        return freeze(taint.kept()) if taint is not None else FrozenDict({})

    def _commits(self) -> tuple[Commit, ...]:
        before = self.resumed.commits if self.resumed is not None else ()
        return (*before, *self.recorder.kept)

    def snapshot(self) -> Result:
        """State and record, as receipts are read from."""
        come_to = self._come_to or Result(Cursor(), ())
        return Result(come_to.cursor, self._commits(), come_to.need)

    def trace(self) -> Trace:
        """The record with what was said, masked."""
        return Trace(self._commits(), self.agent.built.charts, self._said())

    def _said(self) -> list[Message]:
        hide = self.recorder.redactor.text
        words = hide(text_of(self.begin.message))
        said = [Message(1, "user", words, self.turn)]
        result = self.result
        if result is not None and not result.paused:
            content = hide(result.content)
            spans = (Span(0, len(content), self._answered_in()),)
            said.append(Message(2, "assistant", content, self.turn, spans=spans))
        return said

    def _answered_in(self) -> int:
        """The step that made the answer: what it read is what the answer comes from."""
        for commit in reversed(self.recorder.kept):
            if any(op.key[1:] == ("result",) for op in commit.ops):
                return commit.seq
        return self._last


def restored_trace(agent: Runner[Any], kept: Kept) -> Trace:
    """The record of a run that rests and came back from a checkpoint, with the words it began with,
    masked."""
    paused = kept.paused
    assert paused is not None, "asked only of a conversation that rests"
    secrets = [str(one) for one in kept.secrets.raw]
    recorder = Recorder(agent.redact, secrets=secrets, sensitive=paused.sensitive.raw)
    said = Message(1, "user", recorder.redactor.text(paused.message), kept.turn)
    return Trace(paused.commits, agent.built.charts, [said])


async def _ended(work: asyncio.Task[Any]) -> None:
    """Come back once `work` is over, however often somebody wants us to stop waiting."""
    while not work.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait({work})


def _since_the_user(messages: FrozenList) -> FrozenList:
    """The messages from the user's last one on: those of the run that rests."""
    items = messages.raw
    at = max((n for n, one in enumerate(items) if one.get("role") == "user"), default=0)
    return FrozenList(items[at:])


def _noting(held: list[str]) -> Callable[[Taint, list[str]], None]:
    """Notes in `held` what is learnt. No method of the run, which holds the one that calls it."""

    def learnt(taint: Taint, texts: list[str]) -> None:
        held[:] = list(dict.fromkeys([*held, *texts]))[-MAX_HELD:]

    return learnt
