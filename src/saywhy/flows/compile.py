"""A flow as a chart: one node for each step, wherever it stands, named by its JSON pointer.

Branches, `onFail` steps and fallback steps are nodes like the others; what a step goes on to after
them is settled here, once, so that running needs no look around.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from saywhy.chart.model import Chart, Node
from saywhy.flows.corrections.settings import settings_of, takes_corrections
from saywhy.flows.model import PATTERNS, VALIDATOR, Flow, Step
from saywhy.flows.privacy import SENSITIVE_ANSWERS, asked_names, asks_for
from saywhy.values import UNDEFINED

LEAVING: Final = frozenset({"RETURN", "END", "DISPATCH"})
NESTED: Final = frozenset(
    {"branches", "_branchOrder", "onFail", "onUnknown", "onDecline", "submit"}
)


def compile_flow(flow: Flow) -> Chart:
    """The chart of a flow. It holds all a run needs: texts, defaults, scope, places."""
    compiler = _Compiler(flow)
    compiler.list_of(flow.steps, None, ())
    return Chart.of(
        flow.name, compiler.nodes, id=flow.id or flow.name, kind="flow", meta=_meta(flow)
    )


def _meta(flow: Flow) -> dict[str, Any]:
    defaults = {
        name: variable.value
        for name, variable in flow.variables.items()
        if variable.value is not UNDEFINED
    }
    corrections = {"corrections": settings_of(flow)} if takes_corrections(flow) else {}
    limit = {"inactivity": flow.raw["inactivity"]} if "inactivity" in flow.raw else {}
    about = {"description": flow.description} if flow.description else {}
    asked = asked_names(flow)
    return {
        **limit,
        **corrections,
        **({SENSITIVE_ANSWERS: asked} if asked else {}),
        **about,
        "version": flow.version,
        "scope": flow.scope,
        "interruptable": flow.interruptable,
        "prompts": dict(flow.prompts),
        "defaults": defaults,
        "declared": list(dict.fromkeys([*flow.variables, *(one.name for one in flow.parameters)])),
    }


class _Compiler:
    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.nodes: list[Node] = []

    def list_of(
        self, steps: tuple[Step, ...], after: str | None, under: tuple[str, ...]
    ) -> str | None:
        """Nodes for a list of steps; gives the id of the first, or `after` for none."""
        targets: list[str | None] = [*(step.pointer for step in steps), after]
        for step, target in zip(steps, targets[1:], strict=True):
            self.step(step, target, under)
            if _may_leave(step):
                under = (*under, step.pointer)
        return targets[0]

    def step(
        self,
        step: Step,
        after: str | None,
        under: tuple[str, ...],
        *,
        rescue: bool = False,
        form: str = "",
    ) -> None:
        """The node of one step, then the nodes of the steps inside it."""
        spec: dict[str, Any] = {key: value for key, value in step.raw.items() if key not in NESTED}
        spec = asks_for(self.flow, spec)
        if form:
            spec["form"] = form
        if rescue and step.type == "FLOW":
            spec = {"callType": "replace", **spec, "rescue": True}
        edges: list[tuple[str, str]] = []
        for name, branch in step.branches:
            edges.append((branch.pointer, name))
        if isinstance(spec.get("timeout"), Mapping):
            spec["timeout"] = {key: told for key, told in spec["timeout"].items() if key != "then"}
        if step.on_silence:
            spec["onSilence"] = step.on_silence[0].pointer
            edges.append((step.on_silence[0].pointer, "on silence"))
        if step.on_fail:
            spec["onFail"] = step.on_fail[0].pointer
            edges.append((step.on_fail[0].pointer, "on failure"))
        if step.on_unknown:
            spec["onUnknown"] = step.on_unknown[0].pointer
            edges.append((step.on_unknown[0].pointer, "on unknown outcome"))
        if step.on_decline:
            spec["onDecline"] = step.on_decline[0].pointer
            edges.append((step.on_decline[0].pointer, "on refusal"))
        if step.submit is not None:
            spec = {key: value for key, value in spec.items() if key not in ("outcome", "reason")}
            spec["submit"] = step.submit.pointer
            edges.append((step.submit.pointer, "submit"))
        for index, fallback in step.fallbacks.items():
            spec.setdefault("fallbacks", {})[str(index)] = fallback.pointer
            edges.append((fallback.pointer, "fallback"))
        if step.branches:
            spec["branches"] = [list(edge[::-1]) for edge in edges[: len(step.branches)]]
        self.nodes.append(self._node(step, after, under, spec, tuple(edges)))
        self._inner(step, after)

    def _inner(self, step: Step, after: str | None) -> None:
        under = (step.pointer,)
        for _, branch in step.branches:
            self.step(branch, after, under)
        targets: list[str | None] = [*(inner.pointer for inner in step.on_silence), after]
        for inner, target in zip(step.on_silence, targets[1:], strict=True):
            self.step(inner, target, under)
        if step.submit is not None:
            self.step(step.submit, after, under, form=step.pointer)
        for rescues in (step.on_fail, step.on_unknown, step.on_decline):
            last = None if any(map(_drops_rest, rescues)) else after
            targets = [*(inner.pointer for inner in rescues), last]
            for inner, target in zip(rescues, targets[1:], strict=True):
                self.step(inner, target, under, rescue=True)
        for fallback in step.fallbacks.values():
            self.step(fallback, None if _drops_rest(fallback) else after, under, rescue=True)

    def _node(
        self,
        step: Step,
        after: str | None,
        under: tuple[str, ...],
        spec: dict[str, Any],
        edges: tuple[tuple[str, str], ...],
    ) -> Node:
        place = step.place
        return Node(
            step.pointer,
            step.type,
            after,
            step.id,
            spec,
            under,
            (place.file, place.line, place.column, place.pointer),
            edges=edges,
            places=self._places(step),
        )

    def _places(self, step: Step) -> dict[str, tuple[int, int]]:
        """Where the rules stand that may refuse an answer."""
        if not self.flow.source:
            return {}
        parts = _rules(step.raw)
        inputs = step.raw.get("inputs") if step.type == "FORM" else None
        for index, entry in enumerate(inputs if isinstance(inputs, list) else ()):
            parts += [f"/inputs/{index}{part}" for part in _rules(entry)]
        found = [self.flow.place_of(step.pointer + part) for part in parts]
        return {part: (place.line, place.column) for part, place in zip(parts, found, strict=True)}


def _rules(raw: Any) -> list[str]:
    """The rules in the `inputValidation` of a step or of an input, as pointers."""
    rules = raw.get("inputValidation") if isinstance(raw, Mapping) else None
    if not isinstance(rules, Mapping):
        return []
    patterns = rules.get("patterns")
    count = len(patterns) if isinstance(patterns, list) else 0
    validator = [VALIDATOR] if rules.get("customValidator") else []
    return [*(f"{PATTERNS}/{index}" for index in range(count)), *validator]


def _drops_rest(step: Step) -> bool:
    """Whether a step for a failure drops what is left of the frame; what stands beside it in the
    same `onFail` still runs. spec: flow-engine 3.11"""
    return step.type != "FLOW" and step.raw.get("callType") in ("replace", "reboot")


def _may_leave(step: Step) -> bool:
    """Whether what follows runs only because this step did not leave the flow."""
    if step.type == "FORM":
        return "confirm" in step.raw
    return any(
        branch.type in LEAVING
        or (branch.type == "FLOW" and branch.raw.get("callType") in ("replace", "reboot"))
        for _, branch in step.branches
    )
