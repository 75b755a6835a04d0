"""What a correction would lead to, found out before anything is changed.

The way back and the steps that run again are tried on a copy of the conversation, which knows no
outside: it stops where something has to be asked or called. From there on, what may depend on the
changed values is followed by what each step read. So every effect that would have to be undone is
known before the user is asked, and a refusal changes nothing.
"""

from __future__ import annotations

from typing import NamedTuple

from saywhy.chart.commit import Commit, FunctionCall
from saywhy.chart.cursor import Cursor, Frame
from saywhy.chart.machine import Limits, Run, StepFailed
from saywhy.chart.model import Charts, Node
from saywhy.chart.outcome import Need
from saywhy.chart.scope import Scope
from saywhy.errors import SaywhyError
from saywhy.flows.corrections.entries import Entry, Read
from saywhy.flows.corrections.log import Log, key_of, path_of, recorded
from saywhy.flows.corrections.replay import Recall
from saywhy.flows.corrections.rewind import CannotGoBack, Correction, Rewound, rewound
from saywhy.flows.steps import flow_language
from saywhy.flows.world import World
from saywhy.values import FrozenDict, raw


class Plan(NamedTuple):
    """What a correction would lead to."""

    effects: tuple[Entry, ...] = ()
    """Steps whose effect has to be undone first, oldest first."""
    refused: str = ""
    """What the check of the answer says against it."""
    impossible: str = ""
    """Why it cannot be made."""
    calls: tuple[FunctionCall, ...] = ()
    """The approved functions that were called to find out."""


def plan(world: World, charts: Charts, flow: Cursor, correction: Correction, now: float) -> Plan:
    """Try a correction on a copy of the conversation."""
    twin = flow.copy()
    waiting = twin.top
    try:
        found = rewound(twin, waiting, correction)
    except CannotGoBack as why:
        return Plan(impossible=str(why))
    _go_back(twin, found)
    commits: list[Commit] = []
    run = Run(charts, flow_language(world), commits.append, Limits(), now, (twin,))
    try:
        need = run.advance(twin, None)
    except (StepFailed, SaywhyError) as error:
        return Plan(impossible=f"a step failed: {error}", calls=_calls(commits))
    planned = _found(world, charts, twin, found, need, correction, commits)
    return planned._replace(calls=_calls(commits))


def _calls(commits: list[Commit]) -> tuple[FunctionCall, ...]:
    return tuple(call for commit in commits for call in commit.calls)


def _go_back(twin: Cursor, found: Rewound) -> None:
    """Let the copy stand where the conversation would."""
    state, frame = twin.state, found.frame
    for write in found.restored:
        variables = state.scopes.setdefault(write.root[0], {})
        if write.gone:
            variables.pop(write.root[1], None)
        else:
            variables[write.root[1]] = write.value
    scope, name = key_of(found.owner)
    log = raw(found.log)
    trial = {**log, "target": {**log["target"], "trial": True}}
    state.scopes.setdefault(scope, {})[name] = FrozenDict(trial)
    state.scopes.get("cargo", {}).pop("digits", None)
    place = twin.frames.index(frame)
    gone = {one.scope for one in twin.frames[place + 1 :]}
    del twin.frames[place + 1 :]
    for dropped in gone - {one.scope for one in twin.frames}:
        state.scopes.pop(dropped, None)
    frame.waiting = frame.held = frame.asked = None
    frame.notes = []
    frame.at = found.to
    frame.data.update(found.data)


def _found(
    world: World,
    charts: Charts,
    twin: Cursor,
    found: Rewound,
    need: Need | None,
    correction: Correction,
    commits: list[Commit],
) -> Plan:
    before = Log(found.log)
    stopped = commits[-1] if commits else None
    if stopped is not None and need is not None and need.kind == "user":
        is_target = stopped.facts.get("corrected") == correction.seq
        if is_target:
            question = twin.top.data.get("question")
            return Plan(refused=str(question or "").split("\n\n")[0])
    if found.owner not in twin.frames:
        return Plan(tuple(_not_passed(before, commits)))
    log = Log(twin.state.get(*key_of(found.owner)))
    if need is not None and need.kind == "user" and not log.memo:
        left_over = _not_taken(before, log)
        return Plan(tuple(one for one in left_over if one.effect is not None))
    return Plan(tuple(_Dirty(charts, twin, log).effects()))


def _not_taken(before: Log, log: Log) -> list[Entry]:
    """Steps of the earlier run that have no place in the new one."""
    taken = {entry.seq for entry in log.all()}
    return [one for one in before.remembered() if one.seq not in taken]


def _not_passed(before: Log, commits: list[Commit]) -> list[Entry]:
    """The flow would be over: the effects it did not come by again are no part of it any more."""
    kept = {one.facts.get("kept") for one in commits}
    memo = before.remembered()
    calls = [(f"{one.path}>{one.node}") for one in memo if one.kind == "FLOW" and one.seq in kept]
    return [
        one
        for one in memo
        if one.effect is not None
        and one.seq not in kept
        and not any(one.path == path or one.path.startswith(f"{path}>") for path in calls)
    ]


class _Dirty:
    """Which of the steps not come by yet may depend on what has changed."""

    def __init__(self, charts: Charts, twin: Cursor, log: Log) -> None:
        self.charts = charts
        self.twin = twin
        self.log = log
        self.top: Frame = twin.top
        self.recall = Recall(_scope_of(twin, charts), log)
        self.waiting = frozenset(one.seq for one in self.recall.memo)
        """Steps not come by yet: what they wrote is not there, and no sign of a change."""
        self.written = self._may_write()

    def effects(self) -> list[Entry]:
        """The steps with an effect that has to be undone, or may have to be."""
        changed: set[int] = set()
        decisions = self._decided_otherwise()
        found: list[Entry] = []
        for tree in sorted(self.log.memo, key=lambda tree: tree["seq"]):
            entry = Entry.of(tree)
            if not tree.get("stale"):
                if not self._may_change(entry, changed, decisions):
                    continue
                changed.add(entry.seq)
                if entry.chosen:
                    decisions.append((entry.path, entry.to or ""))
            if entry.effect is not None and not tree.get("undone"):
                found.append(entry)
        return found

    def _may_change(
        self, entry: Entry, changed: set[int], decisions: list[tuple[str, str]]
    ) -> bool:
        reads = [read for read in (*entry.reads, *entry.checks) if read.key[0] != "input"]
        return (
            any(read.writer in changed or self._is_written(read) for read in reads)
            or any(_is_inside(entry, *each) for each in decisions)
            or not self.recall.is_same(reads, self.waiting)
        )

    def _decided_otherwise(self) -> list[tuple[str, str]]:
        """Branches that are not taken any more: the path of their flow and their first step."""
        now = {(one.path, one.node): one.to for one in self.log.all() if one.chosen}
        return [
            (one.path, one.to or "")
            for one in map(Entry.of, self.log.memo)
            if one.chosen and (one.path, one.node) in now and now[one.path, one.node] != one.to
        ]

    def _is_written(self, read: Read) -> bool:
        return len(read.key) > 1 and (str(read.key[0]), str(read.key[1])) in self.written

    def _may_write(self) -> set[tuple[str, str]]:
        """Variables that the step at hand, or the new flow it is part of, may give other values."""
        known = {one.path for one in self.recall.memo}
        found: set[tuple[str, str]] = set()
        for frame in reversed(self.twin.frames):
            chart = self.charts.find(frame.chart)
            if chart is None or not recorded(frame):
                break
            is_new = path_of(frame) not in known
            nodes = chart.nodes.values() if is_new else [chart.nodes[frame.at or ""]]
            if frame is not self.top and not is_new:
                break
            names = {str(node.spec.get("variable") or "") for node in nodes}
            names |= {name for node in nodes for name in self._called(node, {chart.digest})}
            found |= {(frame.scope, name) for name in names if name}
        return found

    def _called(self, node: Node, seen: set[str]) -> set[str]:
        """Variables that a flow called from a step may write; it shares them unless it says so."""
        target = str(node.spec.get("value") or node.spec.get("name") or "")
        chart = self.charts.find(target) if node.kind == "FLOW" else None
        if chart is None or chart.digest in seen or chart.kind != "flow":
            return set()
        inner = {*seen, chart.digest}
        names = {str(each.spec.get("variable") or "") for each in chart.nodes.values()}
        return names.union(*(self._called(each, inner) for each in chart.nodes.values()))


def _is_inside(entry: Entry, path: str, branch: str) -> bool:
    """Whether a step belongs to a branch, or to a flow that was called from there."""
    if not branch:
        return entry.path == path or entry.path.startswith(f"{path}>")
    inner = f"{path}>{branch}"
    if entry.path == path:
        return entry.node == branch or entry.node.startswith(f"{branch}/")
    return entry.path == inner or entry.path.startswith((f"{inner}>", f"{inner}/"))


def _scope_of(twin: Cursor, charts: Charts) -> Scope:
    """A view of the copy where it stopped."""
    frame = twin.top
    chart = charts[frame.chart]
    node = chart.nodes[frame.at or ""]
    return Scope(twin, twin.state, frame, chart, node, charts)
