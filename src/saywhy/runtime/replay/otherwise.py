"""Who answers in a turn that is run on other flows: the record, and what is assumed by that.

What the same step asked with the same words and arguments gets its answer. Where it asks something
else, the answer on record stands in and is named, or a model that is handed over is asked.
"""

from __future__ import annotations

from typing import Any

import msgspec

from saywhy.chart.commit import Commit
from saywhy.chart.cursor import Frame
from saywhy.chart.outcome import Answer, Need
from saywhy.models.provider import Provider
from saywhy.runtime.replay.causes import would_ask
from saywhy.runtime.replay.changed import Baseline
from saywhy.runtime.replay.inert import NotOnRecord
from saywhy.runtime.replay.request import ask_model
from saywhy.runtime.replay.run import FromRecord, Running
from saywhy.runtime.replay.tape import question_of


class AsItWas(Baseline):
    """Answers from the record, and remembers every question."""

    def __init__(self) -> None:
        super().__init__()
        self.questions: dict[int, bytes] = {}
        """What was asked, by the commit that took the answer in."""

    async def answer(self, run: Running, need: Need, frame: Frame) -> Answer:
        """The answer on record."""
        commit = run.tape.look(frame, need, run.seq, run.turn)
        if commit is not None:
            self.questions[commit.seq] = asked(run, need, frame)
        return await super().answer(run, need, frame)


class OnOtherFlows(FromRecord):
    """Answers from the record, and says where something else was asked."""

    def __init__(self, was: AsItWas, model: Provider | None) -> None:
        self.was = was
        self.model = model
        self.assumed: list[str] = []
        self.would_call: list[str] = []

    async def answer(self, run: Running, need: Need, frame: Frame) -> Answer:
        """The answer on record, or a model's. Raises `NotOnRecord` where there is none."""
        if need.kind not in ("model", "tool", "function"):
            return await super().answer(run, need, frame)
        commit = run.tape.look(frame, need, run.seq, run.turn)
        is_same = commit is not None and self.was.questions.get(commit.seq) == asked(
            run, need, frame
        )
        if not is_same and need.kind == "model" and self.model is not None:
            return await ask_model(self.model, run.request(need, frame))
        if commit is not None and not is_same:
            self._other(run, need, commit)
        return await super().answer(run, need, frame)

    def _other(self, run: Running, need: Need, commit: Commit) -> None:
        """A step asks something else than it asked: the answer on record is assumed."""
        if self.model is not None and run.tape.same_question(need, run.turn) is None:
            raise NotOnRecord(need)  # its model would go on from an answer to something else
        if need.kind != "model":
            self.would_call.append(would_call(need, run.shown(need)))
        kind = "model" if need.kind == "model" else "tool_result"
        self.assumed.append(f"{kind}:{commit.seq}")

    def stopped(self, run: Running, need: Need) -> None:
        """A turn went no further: something is needed that the record does not have."""
        told = would_call(need, run.shown(need))
        if need.kind == "model" and self.model is None:
            told += " (a model that is handed over would be asked: --model, or model=)"
        self.would_call.append(told)


def would_call(need: Need, args: Any) -> str:
    """What would be called, with arguments as they may be shown."""
    return would_ask(msgspec.structs.replace(need, args=args))


def asked(run: Running, need: Need, frame: Frame) -> bytes:
    """A question as something that can be compared."""
    if need.kind == "model":
        return run.request(need, frame).text
    return question_of(need.kind, need.name, need.args)


__all__ = ["AsItWas", "OnOtherFlows"]
