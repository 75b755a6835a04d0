"""Thin wrappers: a flow with `wraps` stands in another one's place.

A wrapper takes over description, parameters and prompts of the flow it wraps unless it declares
its own, and its `primary` mark; the wrapped flow can still be called but no longer be detected.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from saywhy.errors import Problem, did_you_mean
from saywhy.flows.model import Flow


def resolve_wraps(flows: Iterable[Flow]) -> tuple[tuple[Flow, ...], tuple[Problem, ...]]:
    """The flows with everything inherited, and a problem for each `wraps` that leads nowhere."""
    resolver = _Resolver(tuple(flows))
    resolved = [resolver.resolve(index) for index in range(len(resolver.flows))]
    wrapped = {target for target in resolver.targets if target is not None}
    return (
        tuple(
            replace(flow, primary=False) if index in wrapped else flow
            for index, flow in enumerate(resolved)
        ),
        tuple(resolver.problems),
    )


class _Resolver:
    """Wrappers may wrap wrappers; each flow is resolved once, inner ones first."""

    def __init__(self, flows: tuple[Flow, ...]) -> None:
        self.flows = flows
        self.problems: list[Problem] = []
        self.done: dict[int, Flow] = {}
        self.targets = [self.target_of(flow) for flow in flows]
        for index in range(len(flows)):
            self.break_circle(index)

    def target_of(self, flow: Flow) -> int | None:
        if not flow.wraps:
            return None
        for key in ("id", "name"):
            for index, other in enumerate(self.flows):
                if getattr(other, key) == flow.wraps and other is not flow:
                    return index
        known = [name for other in self.flows for name in (other.id, other.name)]
        self.ignore(flow, f'wraps "{flow.wraps}", but no other flow has this id or name', known)
        return None

    def break_circle(self, start: int) -> None:
        seen = [start]
        at = self.targets[start]
        while at is not None and at not in seen:
            seen.append(at)
            at = self.targets[at]
        if at == start:
            names = " → ".join(self.flows[index].id for index in (*seen, start))
            self.ignore(self.flows[start], f"wraps itself: {names}", ())
            self.targets[start] = None

    def ignore(self, flow: Flow, message: str, known: Iterable[str]) -> None:
        hint = did_you_mean(flow.wraps, sorted(set(known))) or "`wraps` is ignored"
        place = flow.place_of("/wraps")
        self.problems.append(Problem(message, place, hint, "warning", flow=flow.id))

    def resolve(self, index: int) -> Flow:
        target = self.targets[index]
        if index not in self.done:
            flow = self.flows[index]
            self.done[index] = flow if target is None else _inherit(flow, self.resolve(target))
        return self.done[index]


def _inherit(flow: Flow, wrapped: Flow) -> Flow:
    own = flow.raw
    taken: dict[str, Any] = {"prompts": {**wrapped.prompts, **flow.prompts}}
    if not own.get("description"):
        taken["description"] = wrapped.description
    if "parameters" not in own:
        taken["parameters"] = wrapped.parameters
        # rules that span the parameters make sense with these parameters only
        if "parameterInstructions" not in own:
            taken["parameter_instructions"] = wrapped.parameter_instructions
    if "primary" not in own:
        taken["primary"] = wrapped.primary
    return replace(flow, **taken)
