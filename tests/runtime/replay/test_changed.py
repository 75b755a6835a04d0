"""Promise: what was asked the same way gets its answer; nothing else is ever called."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy import ScriptedModel
from saywhy.chart.commit import Answered, Asked, Commit
from saywhy.chart.cursor import Frame
from saywhy.chart.outcome import Need
from saywhy.models.provider import Ask
from saywhy.runtime.replay.changed import Baseline, Changed
from saywhy.runtime.replay.inert import NotOnRecord
from saywhy.runtime.replay.masked import MaskedReads
from saywhy.runtime.replay.removal import RecalledTexts, Removal
from saywhy.runtime.replay.request import Request, ask_model
from saywhy.runtime.replay.tape import Tape
from saywhy.trace.trace import Trace
from saywhy.values import freeze

FRAME = Frame(1, "c", "F", "n", "v")


def commit(seq: int, kind: str, **fields: Any) -> Commit:
    return Commit(seq, 1, 1, "c", "F", "n", kind, **fields)


TAPE = [
    commit(1, "CALL-TOOL", asked=Asked("tool", "t", freeze({"a": 1}))),
    commit(2, "CALL-TOOL", answered=Answered("tool", "t", 8)),
    commit(3, "ASK", asked=Asked("model", "chat")),
    commit(4, "ASK", answered=Answered("model", "chat", "recorded")),
]


class Run:
    """A run that stands still."""

    def __init__(self, user: str) -> None:
        self.tape, self.masked_reads = Tape(TAPE), MaskedReads()
        self.seq, self.turn, self.user = 0, 1, user

    def request(self, need: Need, frame: Frame) -> Request:
        """What the model is asked here."""
        return Request(Ask("chat", "Help.", [{"role": "user", "content": self.user}]))


async def changed(model: Any = None) -> Changed:
    baseline, run = Baseline(), Run("hello")
    await baseline.answer(run, Need("model", "chat"), FRAME)
    assert list(baseline.requests) == [4]
    removal = Removal("memory:x", Trace(TAPE), 1)
    return Changed(removal, baseline, lambda turn: RecalledTexts(Trace(TAPE), turn), model)


async def test_the_same_request_gets_the_same_answer() -> None:
    """The model that was handed over is not asked."""
    asks = await changed(ScriptedModel([]))
    answer = await asks.answer(Run("hello"), Need("model", "chat"), FRAME)
    assert (answer.value, asks.asked, asks.assumed) == ("recorded", 0, [])


async def test_another_request_goes_to_the_model() -> None:
    """Which is the only one who may be asked."""
    asks = await changed(ScriptedModel([{"reply": "new"}]))
    answer = await asks.answer(Run("bye"), Need("model", "chat"), FRAME)
    assert (answer.value, asks.asked) == ("new", 1)


async def test_without_a_model_the_record_stands_in() -> None:
    """And that is told."""
    asks = await changed()
    answer = await asks.answer(Run("bye"), Need("model", "chat"), FRAME)
    assert (answer.value, asks.assumed) == ("recorded", ["model:4"])


async def test_a_call_that_is_not_on_record_ends_the_turn() -> None:
    """A tool with other arguments, a function with others."""
    asks = await changed()
    run = Run("hello")
    same = await asks.answer(run, Need("tool", "t", freeze({"a": 1})), FRAME)
    assert same.value == 8
    with pytest.raises(NotOnRecord):
        await asks.answer(run, Need("tool", "t", freeze({"a": 2})), FRAME)
    assert asks.would_call == ['would have called t with {"a":2}, and no answer is on record']
    assert isinstance(asks.function("f", [1]), NotOnRecord)
    assert "would have called the function f with [1]" in asks.would_call[1]


async def test_a_pause_takes_no_time() -> None:
    """Nothing is waited for."""
    asks = await changed()
    assert (await asks.answer(Run("hello"), Need("timer", "n"), FRAME)).value is None


async def test_what_a_model_raises_is_data() -> None:
    """As in a turn; an agent gets it with its code."""
    broken = ScriptedModel([{"raise": "no", "code": "server"}, {"raise": "no", "code": "server"}])
    step = await ask_model(broken, Request(Ask("chat", "", [])))
    assert (step.error, step.error_name) == ("AI communication failed: no", "ModelFailed")
    loop = await ask_model(broken, Request(Ask("chat", "", []), of_agent=True))
    assert loop.facts["code"] == "server"
