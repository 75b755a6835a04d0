"""Which variables can be set by the time a step runs?

A variable counts as soon as some way leads to the step on which it was set: by the flow's own
declarations and parameters, by earlier steps and all steps inside them, by flows called before,
and, in a flow with shared variables, by whoever calls it. So an unknown name here is one that no
run can know. A flow that nobody here calls may have callers elsewhere; its reach is *open*.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from saywhy.flows.graph import call_type_of, flow_graph, target_of
from saywhy.flows.model import Flow, Library, Step

WRITERS: Final = frozenset({"SAY-GET", "SET", "CALL-TOOL", "FLOW"})
"""Step types whose `variable` names what they set."""

CALLER: Final = "its caller"
PARAMETER: Final = "a parameter whose name is made up while running"


@dataclass(frozen=True, slots=True)
class Reach:
    """Names that may be set at some point."""

    names: frozenset[str] = frozenset()
    open: str = ""
    """Why further names may come from somewhere else; empty when they cannot."""

    def __or__(self, other: Reach) -> Reach:
        return Reach(self.names | other.names, self.open or other.open)

    def plus(self, names: Iterable[str]) -> Reach:
        """With some more names."""
        return Reach(self.names.union(names), self.open)


class Reaches:
    """The reach of every step of a library, worked out once."""

    def __init__(self, library: Library) -> None:
        self.library: Final = library
        self._shared: Final = [flow for flow in library.flows if not flow.isolated]
        self.settable: Final = {id(flow): Reach(_own_names(flow)) for flow in library.flows}
        """By flow: what it may leave behind in its caller's variables, sub-flows included."""
        self._called: Final = {
            edge.target for edge in flow_graph(library) if edge.flow != edge.target
        }
        self._entry: Final = self._entries()
        self._before: dict[tuple[int, str], Reach] = {}
        self._waiting: dict[int, Flow] = {}
        self._changed = True
        while self._changed:
            self._changed = False
            for flow in library.flows:
                self._settle(flow)
        self._spread()

    def before(self, flow: Flow, pointer: str) -> Reach:
        """What may be set when the step at `pointer` begins."""
        return self._before.get((id(flow), pointer), Reach(open=CALLER))

    def is_called(self, flow: Flow) -> bool:
        """Whether a FLOW step here names this flow."""
        return flow.id in self._called

    def anywhere(self) -> frozenset[str]:
        """All names that any flow sets or declares."""
        return frozenset().union(*(_own_names(flow) for flow in self.library.flows))

    def _entries(self) -> dict[int, Reach]:
        """What each flow starts with, callers aside."""
        some_primary = any(flow.primary for flow in self.library.flows)
        return {
            id(flow): Reach(
                _declared(flow),
                CALLER if some_primary and not flow.primary and not self.is_called(flow) else "",
            )
            for flow in self.library.flows
        }

    # ------------------------------------------------------------------ what flows leave behind

    def _settle(self, flow: Flow) -> None:
        """Add what the flows that this one goes to may set."""
        reach = self.settable[id(flow)]
        for step in flow.walk():
            if call_type_of(step, False) == "reboot":
                continue
            for target in self._targets(step):
                if target is None:
                    reach |= _missing(step)
                elif not target.isolated:
                    reach |= self.settable[id(target)].plus(_passed(step))
        if reach != self.settable[id(flow)]:
            self.settable[id(flow)] = reach
            self._changed = True

    def _targets(self, step: Step) -> list[Flow | None]:
        """The flows a step may lead to; None stands for one that is not here."""
        target = target_of(step)
        if not target:
            return []
        return list(self.library.flows) if "{{" in target else [self.library.find(target)]

    # ------------------------------------------------------------------ what steps begin with

    def _spread(self) -> None:
        """Walk flows again until no call brings anything new."""
        self._waiting = {id(flow): flow for flow in self.library.flows}
        while self._waiting:
            _, flow = self._waiting.popitem()
            self._list(flow, flow.steps, self._entry[id(flow)], rescue=False)

    def _list(self, flow: Flow, steps: Iterable[Step], reach: Reach, *, rescue: bool) -> Reach:
        for step in steps:
            reach = self._step(flow, step, reach, rescue=rescue)
        return reach

    def _step(self, flow: Flow, step: Step, reach: Reach, *, rescue: bool) -> Reach:
        self._before[id(flow), step.pointer] = reach
        after = reach.plus(_written(step))
        for _, branch in step.branches:
            after |= self._step(flow, branch, reach, rescue=False)
        if step.type == "FLOW":
            after |= self._go(step, reach, rescue=rescue)
        # a failed step has left its error text in its variable
        failed = reach.plus(_written(step))
        after |= self._list(flow, step.on_fail, failed, rescue=True)
        for fallback in step.fallbacks.values():
            after |= self._step(flow, fallback, failed, rescue=True)
        return after

    def _go(self, step: Step, reach: Reach, *, rescue: bool) -> Reach:
        """Hand on to the targets of a FLOW step; gives what they leave behind."""
        after = Reach()
        unknown = PARAMETER if _passes_unknown(step) else ""
        passed = Reach(frozenset(_passed(step)), unknown)
        reboot = call_type_of(step, rescue) == "reboot"
        for target in self._targets(step):
            if target is None:
                after |= Reach() if reboot else _missing(step)
            else:
                self._enter(target, passed if reboot or target.isolated else reach | passed)
                if not reboot and not target.isolated:
                    after |= self.settable[id(target)] | passed
        return after

    def _enter(self, flow: Flow, reach: Reach) -> None:
        known = self._entry[id(flow)]
        if known | reach != known:
            self._entry[id(flow)] = known | reach
            self._waiting[id(flow)] = flow


def _missing(step: Step) -> Reach:
    """What a flow that is not here may leave behind: anything."""
    return Reach(open=f'flow "{target_of(step)}", which is not here,')


def _declared(flow: Flow) -> frozenset[str]:
    return frozenset((*flow.variables, *(parameter.name for parameter in flow.parameters)))


def _own_names(flow: Flow) -> frozenset[str]:
    return _declared(flow).union(*(_written(step) for step in flow.walk()))


def _written(step: Step) -> list[str]:
    """What a step itself may set: its variable, and fields the user is asked to correct."""
    names: list[str] = []
    variable = step.raw.get("variable")
    if step.type in WRITERS and isinstance(variable, str):
        names.append(variable)
    return names


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
