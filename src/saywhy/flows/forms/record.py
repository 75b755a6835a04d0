"""What a running form keeps on its frame, and what hosts and traces are told of it.

Two things are told apart. `completion` is what became of the business: `open`, then `completed`,
`declined` (the user said no), `abandoned` (it was left) or `failed`. `recovery` is what can be done
about it: `resumption` (the draft is kept and the form goes on), `required restart` (nothing was
done and nothing is kept), `unknown-action hold` (nobody knows whether the submission acted, so it
must not be made again until somebody says), `none promised`.

The values themselves stand in the form's variable, where every expression sees them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

from saywhy.chart.cursor import Frame
from saywhy.chart.machine import Ending
from saywhy.chart.model import Node
from saywhy.chart.scope import Scope
from saywhy.values import FrozenDict

KEY: Final = "form"
"""Where it stands in a frame's data and in the facts of a commit."""

Completion = Literal["open", "completed", "declined", "abandoned", "failed"]
Recovery = Literal["resumption", "required restart", "unknown-action hold", "none promised"]


class Tie(msgspec.Struct):
    """Words that fit several inputs, as they are kept until the user says which is meant."""

    words: str
    values: dict[str, Any]


class Kept(msgspec.Struct):
    """What is kept of a form, as it has to be when a session is loaded."""

    at: str
    step: str
    variable: str
    completion: Completion
    recovery: Recovery
    phase: Literal["collect", "tie", "confirm", "submit"]
    asking: str = ""
    filled: list[str] = []
    hidden: list[str] = []
    again: list[str] = []
    misses: int = 0
    refusals: int = 0
    yielded: bool = False
    question: str = ""
    found: bool = False
    tie: Tie | None = None
    ties: list[Tie] = []


TOLD: Final = ("step", "completion", "recovery", "asking", "filled")
"""What hosts and traces see of it."""


def held(scope: Scope, node: Node) -> dict[str, Any] | None:
    """What is kept of the form of this step; None where it has not begun."""
    kept = scope.kept(KEY)
    return dict(kept) if kept and kept["at"] == node.id else None


def begun(node: Node, variable: str) -> dict[str, Any]:
    """A form nobody has answered yet."""
    return {
        "at": node.id,
        "step": node.name or node.id,
        "variable": variable,
        "completion": "open",
        "recovery": "resumption",
        "phase": "collect",
        "asking": "",
        "filled": [],
        "hidden": [],
        "misses": 0,
        "tie": None,
        "yielded": False,
    }


def keep(scope: Scope, form: dict[str, Any]) -> None:
    """Remember a form, and tell the record of this step how it stands."""
    values = scope.peek((scope.frame.scope, form["variable"]))
    form["filled"] = list(values) if isinstance(values, FrozenDict) else []
    scope.keep(KEY, form)
    scope.facts[KEY] = told(form)


def told(form: Mapping[str, Any]) -> dict[str, Any]:
    """How a form stands, for hosts and traces."""
    return {name: form[name] for name in TOLD if form.get(name) not in (None, "", [])}


def view_of(frame: Frame) -> dict[str, Any] | None:
    """How the form of a frame stands; None where there is none."""
    form = frame.data.get(KEY)
    return told(form) if form else None


def shown(values: Mapping[str, Any], form: Mapping[str, Any]) -> dict[str, Any]:
    """The values that whoever looks over the user's shoulder may see."""
    return {name: value for name, value in values.items() if name not in form["hidden"]}


def listed(frame: Frame, variables: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """What a form has collected, input by input, without what is sensitive."""
    form = frame.data.get(KEY)
    if not form:
        return []
    values = variables.get(form["variable"])
    return list(shown(values.raw, form).items()) if isinstance(values, FrozenDict) else []


# ------------------------------------------------------------------ how it ends


def note(scope: Scope, completion: Completion, recovery: Recovery) -> None:
    """How the form stands that this step belongs to: the FORM itself, or its submission."""
    kept = scope.kept(KEY)
    at = scope.node.spec.get(KEY) or scope.node.id
    if kept and kept["at"] == at:
        keep(scope, {**kept, "completion": completion, "recovery": recovery, "asking": ""})


def note_failed(scope: Scope) -> None:
    """The submission gave no result. Where it may have acted, it must not be made again."""
    if KEY in scope.node.spec:
        in_doubt = bool(scope.kept("doubt"))
        note(scope, "failed", "unknown-action hold" if in_doubt else "required restart")


def note_unknown(scope: Scope) -> None:
    """Nobody knows whether the submission acted, and the flow waits for who says."""
    if KEY in scope.node.spec:
        note(scope, "open", "unknown-action hold")


def note_done(scope: Scope) -> None:
    """The submission gave its result."""
    if KEY in scope.node.spec:
        note(scope, "completed", "none promised")


def ended(scope: Scope, ending: Ending) -> dict[str, Any] | None:
    """How the form of a frame that ends stands in the end; None where there is none.

    A form that was still open was left; one whose submission is in doubt stays so.
    """
    kept = scope.kept(KEY)
    if not kept:
        return None
    if kept["completion"] == "open":
        is_held = kept["recovery"] == "unknown-action hold"
        completion = "failed" if ending.how == "failed" else "abandoned"
        recovery = kept["recovery"] if is_held else "required restart"
        kept = {**kept, "completion": completion, "recovery": recovery, "asking": ""}
        scope.keep(KEY, kept)
    scope.facts[KEY] = told(kept)
    return told(kept)


def is_refused(scope: Scope) -> bool:
    """Whether this very step ended its form without completing it."""
    form = scope.facts.get(KEY)
    return isinstance(form, dict) and form["completion"] not in ("open", "completed")
