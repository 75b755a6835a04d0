"""What was put before the model, when and why: read from a trace after the run.

Nothing is emitted while a run goes on. The charts of the slots leave a record for each piece that
is new to them and a value for what they came to; here both become events, each with the commit it
is read from. A piece is told apart by slot, round, position and hash, so that the same text at two
places is two pieces.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import msgspec

from saywhy.agent.slots.composed import COMPOSED, RECORDS
from saywhy.agent.slots.record import InjectionRecord, SlotName
from saywhy.chart.commit import Commit, Op
from saywhy.trace.trace import Trace
from saywhy.values import raw

Place: TypeAlias = tuple[str, int, int | None, str]
"""Slot, round, position and hash."""


class _Event(msgspec.Struct, frozen=True, kw_only=True):
    slot: SlotName
    iteration: int
    """Rounds of tools that were done before."""
    seq: int
    """The commit it is read from."""
    turn: int


class ContextInjected(_Event, frozen=True, kw_only=True, tag="context.injected"):
    """A piece entered a slot."""

    record: InjectionRecord

    @property
    def key(self) -> Place:
        """What tells it from others."""
        return self.slot, self.iteration, self.record.position, self.record.content_hash


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """Characters a slot should have at most, and has; `cap` is None where there is no limit."""

    cap: int | None
    used: int

    @property
    def headroom_chars(self) -> int | None:
        """How many more it could have; below zero where it has too many."""
        return None if self.cap is None else self.cap - self.used


class Share(msgspec.Struct, frozen=True):
    """What comes from one source."""

    chars: int
    count: int


class SlotComposed(_Event, frozen=True, kw_only=True, tag="context.slot_composed"):
    """A slot was filled; `unchanged` where it holds what it held in the round before."""

    budget: Budget
    source_breakdown: Mapping[str, Share]
    ordering_strategy: str = ""
    dropped_count: int = 0
    dropped_summaries: tuple[str, ...] = ()
    unchanged: bool = False


class ContextEvicted(_Event, frozen=True, kw_only=True, tag="context.evicted"):
    """Something that was there is shown to the model no more."""

    count: int
    summaries: tuple[str, ...] = ()
    """The beginnings of what was left out, of the first twenty."""
    reason: Literal["budget", "stale", "low_score", "policy", "user_revoked"] = "policy"


class BudgetPressure(_Event, frozen=True, kw_only=True, tag="context.budget_pressure"):
    """A slot has more than its budget. It was handed over all the same."""

    cap: int
    projected: int
    unit: str = "chars"
    plan_action: str = "warn"

    @property
    def overflow_by(self) -> int:
        """How much too much it is."""
        return self.projected - self.cap


class ContextEvaluated(_Event, frozen=True, kw_only=True, tag="context.evaluated"):
    """Which injections applied, and why the others did not."""

    active: tuple[str, ...]
    skipped: tuple[tuple[str, str], ...] = ()
    """Id and reason: `predicate-false`, `predicate-threw: KeyError`, `nothing-to-say`."""


ContextEvent: TypeAlias = (
    ContextInjected | SlotComposed | ContextEvicted | BudgetPressure | ContextEvaluated
)


def context_events(trace: Trace | Iterable[Commit]) -> list[ContextEvent]:
    """All that the slots recorded, in order."""
    last: dict[str, dict[str, Any]] = {}
    events: list[ContextEvent] = []
    for commit in trace:
        noted, records = _written(commit.ops)
        if noted is None:
            continue
        slot = str(noted["slot"])
        if noted.get("unchanged"):
            noted = {**last.get(slot, {}), **noted, "dropped": 0, "active": None}
        last[slot] = noted
        events += _events(commit, noted, records)
    return events


def injections_of(
    trace: Trace | Iterable[Commit],
    *,
    slot: SlotName | None = None,
    iteration: int | None = None,
    turn: int | None = None,
    source: str | None = None,
) -> list[ContextInjected]:
    """The pieces that entered the slots, in order; only those that fit what is given."""
    return [
        one
        for one in context_events(trace)
        if isinstance(one, ContextInjected)
        and slot in (None, one.slot)
        and iteration in (None, one.iteration)
        and turn in (None, one.turn)
        and source in (None, one.record.source)
    ]


def _written(
    ops: Sequence[Op],
) -> tuple[dict[str, Any] | None, Sequence[Any]]:
    """What a slot's stage noted, and the records of its pieces.

    A redacted record cannot be read and is left out.
    """
    noted: dict[str, Any] | None = None
    records: Sequence[Any] = ()
    for op in ops:
        name = op.key[1] if len(op.key) == 2 else ""
        value: Any = raw(op.value)
        if name == COMPOSED and isinstance(value, dict):
            noted = value
        elif name in RECORDS and isinstance(value, list):
            records = value
    return noted, records


def _events(commit: Commit, noted: dict[str, Any], records: Sequence[Any]) -> Iterator[Any]:
    about: dict[str, Any] = {
        "slot": noted["slot"],
        "iteration": noted["iteration"],
        "seq": commit.seq,
        "turn": commit.turn,
    }
    active, skipped = noted.get("active"), noted.get("skipped") or ()
    if active is not None:
        reasons = tuple((str(one), str(why)) for one, why in map(raw, raw(skipped)))
        yield ContextEvaluated(**about, active=tuple(raw(active)), skipped=reasons)
    for one in records:
        try:
            yield ContextInjected(**about, record=InjectionRecord.from_value(one))
        except msgspec.ValidationError:  # redacted
            continue
    used, cap, dropped = noted.get("used", 0), noted.get("cap"), noted.get("dropped", 0)
    summaries = tuple(raw(noted.get("droppedSummaries") or ())) if dropped else ()
    tallies = {name: raw(tally) for name, tally in (raw(noted.get("sources")) or {}).items()}
    shares = {name: Share(chars, count) for name, (count, chars) in tallies.items() if count}
    ordering = noted.get("ordering", "")
    yield SlotComposed(
        **about,
        budget=Budget(cap=cap, used=used),
        source_breakdown=shares,
        ordering_strategy=ordering,
        dropped_count=dropped,
        dropped_summaries=summaries,
        unchanged=bool(noted.get("unchanged")),
    )
    if dropped:
        reason = "budget" if "budget" in ordering else "policy"
        yield ContextEvicted(**about, count=dropped, summaries=summaries, reason=reason)
    if cap is not None and used > cap and not noted.get("unchanged"):
        yield BudgetPressure(**about, cap=cap, projected=used)
