"""Which variables can be set by the time a step runs?

A variable counts as soon as some way leads to the step on which it was set: by the flow's own
declarations and parameters, by earlier steps and all steps inside them, by flows called before,
and, in a flow with shared variables, by whoever calls it. So an unknown name here is one that no
run can know. A flow that nobody here calls may have callers elsewhere; its reach is *open*.

What a step begins with is what its flow begins with and what the flow's own steps added, so each
flow is walked once; only what whole flows hand to one another is repeated until nothing changes.
Sets of names are the bits of one integer: a library has thousands of names, and joins them often.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from saywhy.flows.graph import call_type_of, flow_graph, target_of
from saywhy.flows.model import Flow, Library, Step

WRITERS: Final = frozenset({"SAY-GET", "SET", "CALL-TOOL", "FLOW", "FORM", "AGENT"})
"""Step types whose `variable` names what they set."""
CALLER: Final = "its caller"
PARAMETER: Final = "a parameter whose name is made up while running"

ANY: Final = 0
"""Stands for the flow that a dynamic target turns out to be; real flows go by their `id()`."""


@dataclass(frozen=True, slots=True)
class Names:
    """Names that may be set at some point, as bits."""

    bits: int = 0
    open: str = ""
    """Why further names may come from somewhere else; empty when they cannot."""

    def __or__(self, other: Names) -> Names:
        return Names(self.bits | other.bits, self.open or other.open)


@dataclass(slots=True)
class _Visit:
    """One way into a flow: what is handed over, and from which flow's beginning on."""

    target: int
    passed: Names
    added: Names
    """What the caller's own steps had set by then."""
    shares: bool
    """Whether the caller's variables are handed on; a reboot hands on parameters only."""


@dataclass(slots=True)
class _Flows:
    """What is known of each flow while things are worked out, by its `id()`."""

    settable: dict[int, Names] = field(default_factory=dict[int, Names])
    entry: dict[int, Names] = field(default_factory=dict[int, Names])
    before: dict[tuple[int, str], Names] = field(default_factory=dict[tuple[int, str], Names])
    visits: dict[int, list[_Visit]] = field(default_factory=dict[int, list[_Visit]])
    """By caller. What comes to `ANY` goes on from there to every flow."""


class Reaches:
    """The reach of every step of a library, worked out once."""

    def __init__(self, library: Library) -> None:
        self.library: Final = library
        self._bit: Final[dict[str, int]] = {}
        self._called: Final = {
            edge.target for edge in flow_graph(library) if edge.flow != edge.target
        }
        self._isolated: Final = {id(flow) for flow in library.flows if flow.isolated}
        self._flows: Final = _Flows()
        self._find_settable()
        for flow in library.flows:
            self._flows.entry[id(flow)] = self._beginning(flow)
            self._list(flow, flow.steps, Names(), rescue=False)
        self._hand_on()

    def knows(self, flow: Flow, pointer: str, name: str) -> bool:
        """Whether a name may be set when the step at `pointer` begins."""
        bit = self._bit.get(name)
        return bit is not None and bool(self._before(flow, pointer).bits >> bit & 1)

    def names_before(self, flow: Flow, pointer: str) -> frozenset[str]:
        """All names that may be set when the step at `pointer` begins."""
        return self._names(self._before(flow, pointer))

    def open_before(self, flow: Flow, pointer: str) -> str:
        """Who else may set names by then; empty when nobody can."""
        return self._before(flow, pointer).open

    def is_called(self, flow: Flow) -> bool:
        """Whether a FLOW step here names this flow."""
        return flow.id in self._called

    def anywhere(self) -> frozenset[str]:
        """All names that any flow sets or declares."""
        return frozenset().union(*(_own_names(flow) for flow in self.library.flows))

    def _before(self, flow: Flow, pointer: str) -> Names:
        added = self._flows.before.get((id(flow), pointer))
        return Names(open=CALLER) if added is None else self._flows.entry[id(flow)] | added

    def _names(self, names: Names) -> frozenset[str]:
        return frozenset(name for name, bit in self._bit.items() if names.bits >> bit & 1)

    def _bits(self, names: Iterable[str]) -> int:
        bits = 0
        for name in names:
            bits |= 1 << self._bit.setdefault(name, len(self._bit))
        return bits

    def _beginning(self, flow: Flow) -> Names:
        """What a flow starts with, callers aside."""
        helper = not flow.primary and any(other.primary for other in self.library.flows)
        open_to = CALLER if helper and not self.is_called(flow) else ""
        return Names(self._bits(_declared(flow)), open_to)

    def _target(self, step: Step) -> int | None:
        """The flow a FLOW step leads to; None for one that is not here."""
        target = target_of(step)
        if "{{" in target:
            return ANY
        found = self.library.find(target)
        return id(found) if found else None

    # ------------------------------------------------------------------ what flows leave behind

    def _find_settable(self) -> None:
        """By flow: what it may leave in variables it shares, sub-flows included."""
        settable = self._flows.settable
        callers: dict[int, list[int]] = {}
        for flow in self.library.flows:
            settable[id(flow)] = Names(self._bits(_own_names(flow)))
            for target in self._first_settable(flow):
                callers.setdefault(target, []).append(id(flow))
            if not flow.isolated:
                callers.setdefault(id(flow), []).append(ANY)
        settable[ANY] = Names()
        waiting = dict.fromkeys(settable)
        while waiting:
            key, _ = waiting.popitem()
            for caller in callers.get(key, ()):
                joined = settable[caller] | settable[key]
                if joined != settable[caller]:
                    # which flow it will be is open anyway; that one of them has unknown callers
                    # or targets must not open the question everywhere
                    settable[caller] = joined if caller != ANY else Names(joined.bits)
                    waiting[caller] = None

    def _first_settable(self, flow: Flow) -> list[int]:
        """The shared flows whose names count as well; what is known at once is noted."""
        targets: list[int] = []
        for step in flow.walk():
            if step.type != "FLOW" or not target_of(step) or call_type_of(step, False) == "reboot":
                continue
            target = self._target(step)
            if target is None:
                self._flows.settable[id(flow)] |= _missing(step)
            elif target not in self._isolated:
                self._flows.settable[id(flow)] |= Names(self._bits(_passed(step)))
                targets.append(target)
        return targets

    # ------------------------------------------------------------------ what steps begin with

    def _list(self, flow: Flow, steps: Iterable[Step], added: Names, *, rescue: bool) -> Names:
        for step in steps:
            added = self._step(flow, step, added, rescue=rescue)
        return added

    def _step(self, flow: Flow, step: Step, added: Names, *, rescue: bool) -> Names:
        """Note what the flow has added when the step begins; gives what it has when it ends."""
        self._flows.before[id(flow), step.pointer] = added
        # a failed step has left its error text in its variable
        written = added | Names(self._bits(_written(step)))
        after = written
        for _, branch in step.branches:
            after |= self._step(flow, branch, added, rescue=False)
        if step.type == "FLOW" and target_of(step):
            after |= self._go(flow, step, added, rescue=rescue)
        after |= self._list(flow, step.on_silence, written, rescue=False)
        if step.submit is not None:
            after |= self._step(flow, step.submit, written, rescue=False)
        for rescues in (step.on_fail, step.on_unknown, step.on_decline):
            after |= self._list(flow, rescues, written, rescue=True)
        for fallback in step.fallbacks.values():
            after |= self._step(flow, fallback, written, rescue=True)
        return after

    def _go(self, flow: Flow, step: Step, added: Names, *, rescue: bool) -> Names:
        """Note the way a FLOW step takes; gives what its target leaves behind."""
        target = self._target(step)
        reboot = call_type_of(step, rescue) == "reboot"
        if target is None:
            return Names() if reboot else _missing(step)
        passed = Names(self._bits(_passed(step)), PARAMETER if _passes_unknown(step) else "")
        visits = self._flows.visits.setdefault(id(flow), [])
        visits.append(_Visit(target, passed, added, shares=not reboot))
        if target == ANY:
            visits.extend(_Visit(key, passed, Names(), shares=False) for key in self._isolated)
        if reboot or target in self._isolated:
            return Names()
        return self._flows.settable[target] | passed

    def _hand_on(self) -> None:
        """Hand beginnings on along the ways between flows until nothing changes."""
        entry = self._flows.entry
        entry[ANY] = Names()
        self._flows.visits[ANY] = [
            _Visit(id(flow), Names(), Names(), shares=True) for flow in self.library.flows
        ]
        waiting = dict.fromkeys(entry)
        while waiting:
            key, _ = waiting.popitem()
            for visit in self._flows.visits.get(key, ()):
                handed = visit.passed
                if visit.shares and visit.target not in self._isolated:
                    handed |= visit.added | entry[key]
                # see `_find_settable`: what a dynamic target may be opens no question by itself
                if visit.target == ANY:
                    handed = Names(handed.bits)
                joined = entry[visit.target] | handed
                if joined != entry[visit.target]:
                    entry[visit.target] = joined
                    waiting[visit.target] = None


def _declared(flow: Flow) -> frozenset[str]:
    return frozenset((*flow.variables, *(parameter.name for parameter in flow.parameters)))


def _own_names(flow: Flow) -> frozenset[str]:
    return _declared(flow).union(*(_written(step) for step in flow.walk()))


def _missing(step: Step) -> Names:
    """What a flow that is not here may leave behind: anything."""
    return Names(open=f'flow "{target_of(step)}", which is not here,')


def _written(step: Step) -> list[str]:
    """What a step itself may set."""
    variable = step.raw.get("variable")
    return [variable] if step.type in WRITERS and isinstance(variable, str) else []


def _passed(step: Step) -> list[str]:
    """The parameters a FLOW step passes under a name that is known beforehand."""
    parameters = step.raw.get("parameters")
    if not isinstance(parameters, Mapping):
        return []
    return [name for name in parameters if isinstance(name, str) and "{{" not in name]


def _passes_unknown(step: Step) -> bool:
    """Whether a parameter's name is made up while running, for a target known beforehand."""
    parameters = step.raw.get("parameters")
    return (
        isinstance(parameters, Mapping)
        and "{{" not in target_of(step)
        and any(isinstance(name, str) and "{{" in name for name in parameters)
    )
