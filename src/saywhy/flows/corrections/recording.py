"""Keeping the record: what each step of a flow that takes corrections read, wrote and did.

Called around every step; for other flows it is one look at the frame. A step that rests leaves what
it read so far on its frame, and what it wrote as a part of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import msgspec

from saywhy.chart.model import Chart, Node
from saywhy.chart.outcome import Answer, Call, Goto, Need, Outcome, Return
from saywhy.chart.scope import GONE, Scope
from saywhy.expr.template import fill_paths
from saywhy.flows.corrections.entries import ENDED, Effect, Entry, Read, Root, Write, is_tracked
from saywhy.flows.corrections.log import RECORD, Log, key_of, owner_of, path_of, recorded
from saywhy.flows.evaluate import FlowNames, say_text
from saywhy.flows.failures import tool_of
from saywhy.flows.speech import language_of, localized
from saywhy.flows.world import World
from saywhy.values import UNDEFINED, Key, freeze, raw

CORRECTED: Final = "corrected"
"""How frames end that a correction goes back over."""
PART: Final = "(part)"
"""The kind of an entry for what a step wrote before it rested."""
KEPT: Final = ("lastAsk", "lastVariable", "input", "outcome")
"""What a step leaves on its frame for those after it."""
UNTRACKED: Final = frozenset({("cargo", "digits")})
"""Written while a question is open, for the host alone."""


# ------------------------------------------------------------------ frames


def opening(
    scope: Scope, chart: Chart, user_input: Any, node: Node | None = None, *, tail: bool = False
) -> dict[str, Any]:
    """What a new frame keeps so that its steps are recorded; nothing where they are not.

    `node` is the step that calls it. A flow that takes the place of the one the record belonged to
    begins a record of its own, and knows which answers were given to its forerunner.
    """
    caller = scope.frame if node is not None and recorded(scope.frame) else None
    over: list[str] = []
    if caller is not None and node is not None:
        if path_of(caller) or not tail:
            path = f"{path_of(caller)}>{node.id}"
            return {RECORD: {"path": path, "input": raw(user_input)}}
        log = Log.at(scope, caller)
        over = [*caller.data[RECORD].get("over", ()), *(one.answers for one in log.all())]
    if "corrections" not in chart.meta:
        return {}
    known = list(dict.fromkeys(filter(None, over)))
    return {RECORD: {"path": "", "input": raw(user_input), **({"over": known} if known else {})}}


def closing(scope: Scope, how: str) -> None:
    """A recorded frame ends: with the one it belongs to, the record is over."""
    frame = scope.frame
    if not path_of(frame):
        if scope.peek(key_of(frame)) is not UNDEFINED:
            scope.replace(key_of(frame), GONE, [])
        return
    owner = owner_of(scope.cursor, frame)
    if how not in ("completed", "failed") or scope.peek(key_of(owner)) is UNDEFINED:
        return
    log = Log.at(scope, owner)
    handed = {name: frame.data.get(name) for name in ("lastVariable",) if frame.data.get(name)}
    entry = Entry(scope.state.seq + 1, path_of(frame), ENDED, "end", data=handed, flow=frame.name)
    log.add([entry])
    log.save(scope, owner)


class Reopened(NamedTuple):
    """A called flow that a correction goes back over while it runs: it goes on as the same one."""

    scope: str = ""
    """The variables it had, where they were its own."""
    data: Mapping[str, Any] = MappingProxyType({})

    def scope_for(self, scope: Scope) -> str:
        """The scope it runs on: one of the same name, so that what it read is still told apart."""
        if not self.scope or self.scope in scope.state.scopes:
            return scope.open()
        scope.opened = {**(scope.opened or {}), self.scope: ""}
        return self.scope


def reopened(scope: Scope, node: Node) -> Reopened:
    """What is left of the flow that a FLOW step called before a correction."""
    if not recorded(scope.frame):
        return Reopened()
    log = Log.at(scope, owner_of(scope.cursor, scope.frame))
    path = path_of(scope.frame)
    found = [tree for tree in log.memo if (tree["path"], tree["node"]) == (path, node.id)]
    if not found or found[-1]["kind"] != "FLOW":
        return Reopened()
    inside = f"{path}>{node.id}"
    has_ended = any((tree["path"], tree["node"]) == (inside, ENDED) for tree in log.memo)
    data: dict[str, Any] = found[-1]["data"]
    again = {} if has_ended else {name: data[name] for name in ("tx", "started")}
    return Reopened(str(data["scope"]), again)


# ------------------------------------------------------------------ steps


def record(world: World, node: Node, scope: Scope, outcome: Outcome, answer: Answer | None) -> None:
    """Note what a step did, once its outcome is known."""
    frame = scope.frame
    if isinstance(outcome, Return) and outcome.unwind == "all":
        return
    owner = owner_of(scope.cursor, frame)
    log = Log.at(scope, owner)
    _gather(scope, node, log)
    before = _before(scope)
    if isinstance(outcome, Need):
        if before:
            log.add([_part(scope, node, before)], before)
        if log.target.get("back") == [path_of(frame), node.id]:
            _back(scope, log)
            log.save(scope, owner)
        elif before:
            log.save(scope, owner)
        return
    entry = Entry(
        scope.state.seq + 1,
        path_of(frame),
        node.id,
        node.kind,
        _target(outcome),
        _kept_reads(scope, "seen"),
        _kept_reads(scope, "checked"),
        _writes(scope, before),
        _data(node, scope, outcome),
        scope.decision.chosen if scope.decision and node.kind in ("CASE", "SWITCH") else "",
        _effect(world, node, scope, answer),
        frame.name,
    )
    scope.keep("seen", [])
    scope.keep("checked", [])
    log.add([entry], before)
    log.save(scope, owner)


def keep(scope: Scope, taken: Iterable[Entry]) -> None:
    """Put steps that were taken over into the record of this run, as they were."""
    owner = owner_of(scope.cursor, scope.frame)
    log = Log.at(scope, owner)
    entries, before = list(taken), _before(scope)
    log.recall(entries)
    for entry in entries:
        log.add([_restamped(entry, log)], before)
    log.save(scope, owner)


def _restamped(entry: Entry, log: Log) -> Entry:
    """The step with what it read as this run has it: the same values, perhaps by other steps."""
    reads, checks = (
        tuple(_stamped(read, log) for read in each) for each in (entry.reads, entry.checks)
    )
    return msgspec.structs.replace(entry, reads=reads, checks=checks)


def _stamped(read: Read, log: Log) -> Read:
    if len(read.key) < 2 or not is_tracked(read.key):
        return read
    return Read(log.stamp((str(read.key[0]), str(read.key[1]))), read.key)


def _back(scope: Scope, log: Log) -> None:
    """The flow waits again where it waited before the correction."""
    for entry in log.finish():
        if entry.effect is not None:
            scope.warn(f"{entry.effect.tool} was called before a correction and stays made")


def _gather(scope: Scope, node: Node, log: Log) -> None:
    """Add what this part of the step read to what it read before it rested."""
    is_question = node.kind == "SAY-GET"
    is_check = is_question and (scope.asked is not None or "corrected" in scope.facts)
    name = "checked" if is_check else "seen"
    starts_over = is_question and not is_check
    known = [] if starts_over else list(scope.kept(name) or ())
    if starts_over:
        scope.keep("checked", [])
    scope.keep(name, [*known, *_reads(scope, log, is_input_too=node.kind != "SAY-GET")])


def _reads(scope: Scope, log: Log, *, is_input_too: bool) -> list[list[Any]]:
    found: list[list[Any]] = []
    for key in dict.fromkeys(scope.reads):
        if is_tracked(key):
            writer = log.stamp((str(key[0]), str(key[1]))) if len(key) > 1 else 0
            found.append([writer, *key])
        elif key[0] == "input" and is_input_too:
            found.append([0, *key])
    return found


def _kept_reads(scope: Scope, name: str) -> tuple[Read, ...]:
    items = dict.fromkeys((each[0], tuple(each[1:])) for each in scope.kept(name) or ())
    return tuple(Read(writer, _key(key)) for writer, key in items)


def _key(parts: tuple[Any, ...]) -> Key:
    return parts


def _before(scope: Scope) -> dict[Root, Any]:
    """The variables that a step writes, and what they are before it."""
    roots = [root for root in scope.staged if is_tracked(root) and root not in UNTRACKED]
    return {root: scope.state.get(*root) for root in roots}


def _writes(scope: Scope, roots: Mapping[Root, Any]) -> tuple[Write, ...]:
    staged = ((root, scope.staged[root]) for root in roots)
    return tuple(Write(root, gone=True) if v is GONE else Write(root, v) for root, v in staged)


def _part(scope: Scope, node: Node, roots: Mapping[Root, Any]) -> Entry:
    return Entry(
        scope.state.seq + 1,
        path_of(scope.frame),
        node.id,
        PART,
        writes=_writes(scope, roots),
        flow=scope.frame.name,
    )


def _target(outcome: Outcome) -> str | None:
    if isinstance(outcome, Goto):
        return outcome.to
    return outcome.then if isinstance(outcome, Call) else None


def _data(node: Node, scope: Scope, outcome: Outcome) -> dict[str, Any]:
    kept = scope.kept if node.kind == "SAY-GET" else scope.data.get
    data = {name: kept(name) for name in KEPT if kept(name)}
    if node.kind == "SAY-GET":
        data["field"] = str(node.spec.get("variable") or "")
        if scope.kept("pii"):
            data["pii"] = True
    if isinstance(outcome, Call) and node.kind != "AGENT":  # an agent's run is no flow
        data |= {name: outcome.data[name] for name in ("tx", "started")}
        data["scope"] = outcome.scope
        if outcome.tail:
            data["replaces"] = True
    return data


def _effect(world: World, node: Node, scope: Scope, answer: Answer | None) -> Effect | None:
    """What a call did to the world; with its undo only where it is known to have done it."""
    tool = tool_of(world, node) if node.kind == "CALL-TOOL" else None
    if tool is None or tool.effect == "reads" or answer is None:
        return None
    if "failure" in scope.facts or "failing" in scope.facts or answer.error is not None:
        in_doubt = answer.facts.get("may_have_happened") or scope.frame.data.get("doubt")
        return Effect(tool.name) if in_doubt else None
    undo = node.spec.get("undo")
    if not isinstance(undo, Mapping) or not undo.get("tool"):
        return Effect(tool.name)
    filled, _ = fill_paths(undo.get("args") or {}, FlowNames(world, scope))
    text = localized(undo, "text", language_of(world, scope))
    return Effect(
        tool.name, str(undo["tool"]), freeze(filled), say_text(world, scope, text) if text else ""
    )
