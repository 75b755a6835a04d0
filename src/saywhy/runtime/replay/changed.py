"""Who answers in a turn that is run without a piece: the record, or a model for what it never saw.

A question that was asked the same way gets the answer it got. A model that is handed over is asked
where the request is another one; without a model the recorded answer stands in, and that is told.
Tools and functions are never called: a call that is not on record is told, and nothing more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from saywhy.chart.commit import Commit
from saywhy.chart.cursor import Frame
from saywhy.chart.outcome import Answer, Need
from saywhy.models.provider import Provider
from saywhy.runtime.replay.causes import lacking
from saywhy.runtime.replay.inert import NotOnRecord
from saywhy.runtime.replay.removal import RecalledTexts, Removal
from saywhy.runtime.replay.request import Request, ask_model
from saywhy.runtime.replay.run import FromRecord, Running
from saywhy.runtime.replay.tape import Tape, answer_of


class Baseline(FromRecord):
    """Answers from the record, and remembers what each model was asked."""

    def __init__(self) -> None:
        self.requests: dict[int, bytes] = {}
        """What was asked, by the commit that took the answer in."""

    async def answer(self, run: Running, need: Need, frame: Frame) -> Answer:
        """The answer on record."""
        if need.kind == "model":
            commit = run.tape.look(frame, need, run.seq, run.turn)
            if commit is not None:
                self.requests[commit.seq] = run.request(need, frame).text
        return await super().answer(run, need, frame)


class Changed:
    """Answers where something was taken away."""

    def __init__(
        self,
        removal: Removal,
        baseline: Baseline,
        recalled: Callable[[int], RecalledTexts],
        model: Provider | None,
    ) -> None:
        self.removal = removal
        self.baseline = baseline
        self.model = model
        self.asked = 0
        """Questions that the model handed over was asked."""
        self.assumed: list[str] = []
        self.would_call: list[str] = []
        self._recalled = recalled

    async def answer(self, run: Running, need: Need, frame: Frame) -> Answer:
        """What comes back without the piece."""
        match need.kind:
            case "model":
                return await self._model(run, need, frame)
            case "timer":
                return Answer()
            case "task":
                return self._stage(run, need, frame)
            case _:
                return self._call(run, need, frame)

    # ------------------------------------------------------------ models

    async def _model(self, run: Running, need: Need, frame: Frame) -> Answer:
        request = self.removal.request(run.request(need, frame), self._recalled(run.turn))
        same = self._same(run.tape, request, run.turn)
        if same is not None:
            return self._from(run, same)
        if self.model is not None:
            self.asked += 1
            return await ask_model(self.model, request)
        commit = run.tape.look(frame, need, run.seq, run.turn)
        if commit is None:
            commit = run.tape.next_of(need, run.turn)
        if commit is None:
            self.would_call.append(lacking(need))
            raise NotOnRecord(need)
        self.assumed.append(f"model:{commit.seq}")
        return self._from(run, commit)

    def _same(self, tape: Tape, request: Request, turn: int) -> Commit | None:
        """The answer that the very same request got in this turn."""
        text = request.text
        for seq, asked in self.baseline.requests.items():
            commit = tape.commit(seq)
            if asked == text and commit is not None and commit.turn == turn and tape.is_left(seq):
                return commit
        return None

    # ------------------------------------------------------------ tools and stages

    def _call(self, run: Running, need: Need, frame: Frame) -> Answer:
        commit = run.tape.same_question(need, run.turn)
        if commit is None:
            self.would_call.append(lacking(need))
            raise NotOnRecord(need)
        return self._from(run, commit)

    def _stage(self, run: Running, need: Need, frame: Frame) -> Answer:
        """What a stage had done outside, which nobody can do again."""
        commit = run.tape.answer(frame, need, run.seq, run.turn)
        if commit is None:
            self.would_call.append(lacking(need))
            raise NotOnRecord(need)
        if self.removal.applied:
            self.assumed.append(f"stage {need.name} of commit {commit.seq}")
        return self._from(run, commit)

    def _from(self, run: Running, commit: Commit) -> Answer:
        run.tape.use(commit.seq)
        answer = self.removal.answer(commit, answer_of(commit))
        run.masked_reads.take(commit, answer)
        return answer

    def function(self, name: str, args: Any) -> NotOnRecord:
        """A function is called with what it was never called with."""
        need = Need("function", name, args, "reads")
        self.would_call.append(lacking(need))
        return NotOnRecord(need)


__all__ = ["Baseline", "Changed"]
