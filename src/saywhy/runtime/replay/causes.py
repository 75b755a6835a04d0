"""Why a step run again is not the one on record."""

from __future__ import annotations

from typing import Any

from saywhy.chart.commit import Commit
from saywhy.chart.model import Charts, Node
from saywhy.chart.outcome import Need
from saywhy.runtime.replay.compare import ABSENT, Differs, spec_of
from saywhy.runtime.replay.result import Difference, shown

Replies = tuple[str | None, str | None]


class Causes:
    """Finds the cause of a first difference."""

    def __init__(self, recorded: Charts, now: Charts, changed: bool) -> None:
        self._recorded = recorded
        self._now = now
        self._changed = changed

    def of(self, one: Commit, other: Commit, found: Differs, replies: Replies) -> Difference:
        """The difference between two steps."""
        cause, why = self._why(one, other)
        if cause == "flow" and found.field == "to":
            why = self._leads(one, other)
        return Difference(
            one.turn,
            one.seq,
            found.field,
            found.recorded,
            found.now,
            self._step(one),
            cause,
            why,
            replies,
        )

    def of_missing(
        self,
        turn: int,
        one: Commit | None,
        other: Commit | None,
        stopped: Need | None,
        replies: Replies,
    ) -> Difference:
        """One of the two has no step here any more."""
        seq = one.seq if one is not None else other.seq if other is not None else 0
        step = self._step(one) if one is not None else self._step(other, now=True)
        recorded = ABSENT if one is None else f"{one.kind} {step}"
        now: Any = ABSENT if other is None else f"{other.kind} {step}"
        if stopped is not None:
            return Difference(
                turn, seq, "commit", recorded, now, step, "answer", lacking(stopped), replies
            )
        why = "the turn goes on" if one is None else "the turn ends before it"
        told = self._flow_change(one, other)
        return Difference(
            turn,
            seq,
            "commit",
            recorded,
            now,
            step,
            "flow" if told else "unexplained",
            told or f"{why}, and the record does not say what for",
            replies,
        )

    def _why(self, one: Commit, other: Commit) -> tuple[Any, str]:
        told = self._flow_change(one, other)
        if told:
            return "flow", told
        return (
            "unexplained",
            "what it depends on is not on record: agents, globals, options or texts of the "
            "engine, or the version of Saywhy, are not those it was recorded with",
        )

    def _flow_change(self, one: Commit | None, other: Commit | None) -> str:
        """What of the flow is not as it was; empty where that cannot be told."""
        if not self._changed:
            return ""
        before = None if one is None else self._node(self._recorded, one)
        after = None if other is None else self._node(self._now, other)
        if before is None and after is None:
            return ""
        if before is None or after is None or _name(before) != _name(after):
            gone = f"{_place(before)} came here" if before is not None else "nothing came here"
            comes = f"{_place(after)} comes" if after is not None else "nothing comes any more"
            return f"the flow was changed: {gone}, now {comes}"
        changes = _changes(before, after)
        if changes:
            return f"the flow was changed: {_place(after)}: {changes}"
        return f"the flow was changed elsewhere than in {_place(after)}"

    def _leads(self, one: Commit, other: Commit) -> str:
        """What comes behind a step, where that is another one now."""
        step = self._node(self._now, other)
        before, after = (
            None if chart is None else chart.nodes.get(commit.to)
            for chart, commit in (
                (self._recorded.version(one.chart), one),
                (self._now.version(other.chart), other),
            )
        )
        was = _place(before) if before is not None else f"it was over ({one.to})"
        now = _place(after) if after is not None else f"it is over ({other.to})"
        behind = _place(step) if step is not None else self._step(one)
        return f"the flow was changed: behind {behind} came {was}, now {now}"

    def _node(self, charts: Charts, commit: Commit) -> Node | None:
        chart = charts.version(commit.chart)
        return None if chart is None else chart.nodes.get(commit.node)

    def _step(self, commit: Commit | None, *, now: bool = False) -> str:
        if commit is None:
            return ""
        node = self._node(self._now if now else self._recorded, commit)
        return f"{commit.flow}/{(node.name if node is not None else '') or commit.node}"


def lacking(need: Need) -> str:
    """What was needed and is not on record, in words."""
    return f"{would_ask(need)}, and no answer is on record"


def would_ask(need: Need) -> str:
    """What is asked that is not on record, in words."""
    asked = f" with {shown(need.args)}" if need.args is not None else ""
    match need.kind:
        case "tool":
            return f"would have called {need.name}{asked}"
        case "model":
            return f"would have asked the model ({need.name})"
        case "function":
            return f"would have called the function {need.name}{asked}"
        case kind:
            return f"would have needed a {kind} ({need.name})"


def _name(node: Node) -> tuple[str, str]:
    return node.kind, node.name or node.id


def _place(node: Node) -> str:
    name = node.name or node.id
    where = str(node.where)
    return f"{node.kind} {name}" + (f" ({where})" if where and where != name else "")


def _changes(before: Node, after: Node) -> str:
    one, other = spec_of(before), spec_of(after)
    told = [
        f"{name} was {shown(one.get(name, ABSENT))}, is {shown(other.get(name, ABSENT))}"
        for name in {**one, **other}
        if one.get(name) != other.get(name)
    ]
    if before.edges != after.edges and not told:
        told = ["where it leads was changed"]
    return "; ".join(told)


__all__ = ["Causes", "lacking", "would_ask"]
