"""How good answers are, in the eyes of a judge."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar, Final, Literal, TypeAlias

import msgspec

from saywhy.agent.hooks import LLMCalled, TurnCompleted
from saywhy.agent.recorders.figures import Figures
from saywhy.agent.recorders.later import Later
from saywhy.agent.recorders.recorder import MOST, AgentRecorder
from saywhy.errors import CallerError
from saywhy.values import raw

QUALITY_RECORDER: Final = "quality-recorder"

Judge: TypeAlias = Callable[[Any], Any]
"""Gives a number, or `{"score": …, "label": …}`, or None for no opinion; `async` or not."""


class QualityEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the judge said about one answer."""

    score: float
    turn_number: int
    label: str | None = None
    run_id: str = ""


class QualitySummary(Figures, frozen=True, kw_only=True):
    """What the judge said about all answers."""

    average_score: float
    """0 where there is no score."""
    total: int
    by_label: dict[str, int]
    entries: tuple[QualityEntry, ...] = ()
    """The newest of them, in the order in which the judge was done."""


MOST_LABELS: Final = 1_000


class QualityRecorder(AgentRecorder):
    """Has a judge look at the answer of each turn, or of each call of a model (`each="call"`).

    An async judge does not hold up the run; `await recorder.settled()` waits for it. One that
    raises is logged, and gives no score.
    """

    NAME: ClassVar[str] = "Quality"

    def __init__(
        self,
        judge: Judge,
        id: str = QUALITY_RECORDER,
        *,
        each: Literal["turn", "call"] = "turn",
        most: int = MOST,
    ) -> None:
        super().__init__(id)
        self.judge = judge
        self.each = each
        self._later = Later(f"the judge of {id}")
        self._entries: deque[QualityEntry] = deque(maxlen=most)
        self._labels: dict[str, int] = {}
        self.clear()

    def on_turn_complete(self, event: TurnCompleted) -> Awaitable[None] | None:
        """A turn came to its answer."""
        return self._ask(event) if self.each == "turn" else None

    def on_llm_call(self, event: LLMCalled) -> Awaitable[None] | None:
        """The model has answered."""
        return self._ask(event) if self.each == "call" else None

    async def settled(self) -> None:
        """Come back once the judge is done with everything."""
        await self._later.settled()

    def get_average_score(self) -> float:
        """0 where there is no score."""
        return self._sum / self._count if self._count else 0.0

    def get_entries(self) -> list[QualityEntry]:
        """The scores that are kept, oldest first."""
        return list(self._entries)

    def get_summary(self) -> QualitySummary:
        """All of it."""
        return QualitySummary(
            average_score=self.get_average_score(),
            total=self._count,
            by_label=dict(self._labels),
            entries=tuple(self._entries),
        )

    def clear(self) -> None:
        """Forget everything. What a judge has still to say comes after that."""
        self._entries.clear()
        self._labels.clear()
        self._count, self._sum = 0, 0.0

    def _ask(self, event: Any) -> Awaitable[None] | None:
        def take(given: Any) -> None:
            self._take(given, event)

        return self._later.ask(lambda: self.judge(event), take)

    def _take(self, given: Any, event: Any) -> None:
        told: Any = raw(given)
        if told is None:
            return
        fields: Mapping[str, Any] = told if isinstance(told, Mapping) else {"score": told}
        score, label = fields.get("score"), fields.get("label")
        if not isinstance(score, int | float):
            raise CallerError(
                f"the judge of {self.id} gave {told!r} instead of a score",
                hint='return a number, or {"score": 0.8, "label": "kind"}',
            )
        turn = int(fields.get("turn_number", event.turn_number))
        label = None if label is None else str(label)
        self._entries.append(QualityEntry(float(score), turn, label, event.run_id))
        self._count += 1
        self._sum += score
        if label is not None and (label in self._labels or len(self._labels) < MOST_LABELS):
            self._labels[label] = self._labels.get(label, 0) + 1
