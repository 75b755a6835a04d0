"""One recorded turn run again: the same steps, with everything from outside taken from the record.

It is a turn like any other, with another way of answering what is needed. What differs from the
record is for others to find; here a turn stops where the record has no answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from saywhy.agent.loop.request import request_of
from saywhy.chart.commit import Commit
from saywhy.chart.cursor import Cursor, Frame
from saywhy.chart.machine import Language
from saywhy.chart.outcome import Answer, BranchAnswer, Need
from saywhy.chart.stages import KIND as STAGES
from saywhy.errors import FlowExecutionError
from saywhy.flows.prompts import prompt_of
from saywhy.models.provider import question
from saywhy.runtime.machinery import Machinery, NoJournal
from saywhy.runtime.remembered import remember
from saywhy.runtime.replay.entries import RecordedTurn
from saywhy.runtime.replay.inert import NotOnRecord
from saywhy.runtime.replay.masked import MaskedReads
from saywhy.runtime.replay.request import Request
from saywhy.runtime.replay.tape import Tape, answer_of
from saywhy.runtime.retold import with_conversation
from saywhy.runtime.session import Session
from saywhy.runtime.turn import TurnRun
from saywhy.trace.masking.redact import Policy
from saywhy.trace.record import Recorder


class Asks(Protocol):
    """Who answers what is asked in a turn that is run again."""

    async def answer(self, run: Running, need: Need, frame: Frame) -> Answer:
        """The answer. Raises `NotOnRecord` where there is none."""
        ...


class FromRecord:
    """Answers as it was answered."""

    async def answer(self, run: Running, need: Need, frame: Frame) -> Answer:
        """The answer on record."""
        commit = run.tape.answer(frame, need, run.seq, run.turn)
        if commit is None:
            raise NotOnRecord(need)
        answer = answer_of(commit)
        run.masked_reads.take(commit, answer)
        return answer


class Running(Protocol):
    """A run, as far as whoever answers for it has to know it."""

    tape: Tape
    masked_reads: MaskedReads

    @property
    def seq(self) -> int:
        """The newest commit."""
        ...

    @property
    def turn(self) -> int:
        """The turn being run."""
        ...

    def request(self, need: Need, frame: Frame) -> Request:
        """What a model would be asked."""
        ...

    def shown(self, need: Need) -> Any:
        """The arguments of something asked, as they may be shown."""
        ...


class ReplayRecorder(Recorder):
    """Keeps what is recorded, and looks at each step as it was before anything is masked."""

    def __init__(self, policy: Policy, session: Session, see: Callable[[Commit], None]) -> None:
        super().__init__(policy, secrets=session.secrets, sensitive=session.sensitive)
        self._see = see
        remember(self.redactor, session)

    def keep(self, commit: Commit) -> None:
        """Keep one commit."""
        self._see(commit)
        super().keep(commit)

    __call__ = keep


class ReplayRun(TurnRun):
    """A turn being run again."""

    def __init__(
        self,
        machinery: Machinery,
        session: Session,
        tape: Tape,
        policy: Policy,
        masked: MaskedReads,
        asks: Asks | None = None,
    ) -> None:
        self.tape = tape
        self.masked_reads = masked
        self.asks = asks or FromRecord()
        self.stopped: Need | None = None
        """What was needed and is not on record: the turn went no further."""
        self.error: FlowExecutionError | None = None
        recorder = ReplayRecorder(policy, session, self._see)
        super().__init__(machinery, session, recorder, NoJournal())

    async def again(self, turn: RecordedTurn) -> None:
        """Run it. What it raised is in `error`, and what stopped it in `stopped`."""
        assert turn.entry is not None, "a turn without a beginning cannot be run"
        session = self.session
        session.state.turn = turn.number - 1
        for name in turn.gone:
            session.cargo.pop(name, None)
        if "language" in turn.host:
            session.language = turn.host["language"] or self.machinery.world.language
        if "authenticated" in turn.host:
            session.authenticated = turn.host["authenticated"]
        self.run.now = turn.at
        try:
            if turn.entry.role == "assistant":
                self.note_assistant(turn.entry)
            else:
                await self.take(turn.entry)
        except FlowExecutionError as error:
            self.error = error
        except NotOnRecord as stopped:
            self.stopped = stopped.need

    # ------------------------------------------------------------ time

    def _see(self, commit: Commit) -> None:
        """The next step happens when it happened."""
        self.masked_reads.see(commit)
        self._set_time()

    def _set_time(self) -> None:
        state = self.flow.state
        at = self.tape.at(state.seq + 1, state.turn)
        if at is not None:
            self.run.now = at

    async def _advance(
        self, language: Language, cursor: Cursor, answer: Answer | BranchAnswer | None
    ) -> Need | None:
        self._set_time()
        self.run.language = language
        return self.run.advance(cursor, answer)

    # ------------------------------------------------------------ answers

    async def _answer_one(self, need: Need, *, resumed: bool = False) -> Answer:
        frame = self._asking(need)
        if frame is None:
            raise NotOnRecord(need)
        try:
            answer = await self.asks.answer(self, need, frame)
        except NotOnRecord:
            if self.run.steps < self.machinery.limits.steps:
                raise
            answer = Answer()  # the step that takes it in is one too many, then as now
        self._note_open(need, answer)
        return answer

    def _asking(self, need: Need) -> Frame | None:
        """The frame that asks."""
        for cursor in (self.routing, self.flow):
            for frame in cursor.walk():
                if frame.waiting is need:
                    return frame
        return None

    @property
    def seq(self) -> int:
        """The newest commit."""
        return self.flow.state.seq

    @property
    def turn(self) -> int:
        """The turn being run."""
        return self.flow.state.turn

    @property
    def reply(self) -> str | None:
        """What it says, as it may be shown: what each step said is masked by itself."""
        session = self.session
        said = session.message(session.reply_message) if session.reply_message else None
        text = session.response if said is None else said.text
        return text if text is None else self.recorder.redactor.text(text)

    def request(self, need: Need, frame: Frame) -> Request:
        """What a model would be asked."""
        charts, world = self.machinery.charts, self.machinery.world
        chart = charts.version(frame.chart)
        if chart is not None and chart.kind == STAGES:
            return Request(request_of(self.flow, need), of_agent=True)
        told = with_conversation(need, self.session.messages, self.masked)
        return Request(question(need.name, *prompt_of(world, told)))

    def shown(self, need: Need) -> Any:
        """The arguments of something asked, as they are recorded."""
        for commit in reversed(self.recorder.kept):
            asked = commit.asked
            if asked is not None and (asked.kind, asked.name) == (need.kind, need.name):
                return asked.args
        return self.recorder.redactor.value(need.args)

    def _note_open(self, need: Need, answer: Answer) -> None:
        """What stays open for people to decide is known by the name it had."""
        key: Any = answer.facts.get("open")
        if need.kind == "tool" and key is not None:
            self.flow.top.data["key"] = key
            self.flow.top.data.setdefault("salt", "")


__all__ = ["Asks", "FromRecord", "ReplayRecorder", "ReplayRun", "Running"]
