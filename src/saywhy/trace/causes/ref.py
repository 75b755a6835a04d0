"""What each cause is called: a short name by which people, tests and what-ifs speak of it.

`message:3`, `step:Pay/ask-amount`, `decision:Pay/check-fee`, `default:Pay/limit`. Names come from
the author's files and from numbers of the record, so that the same record gives the same names.
How a cause is put into a sentence is answered by `wording`.
"""

from __future__ import annotations

from typing import Final

from saywhy.chart.commit import Commit
from saywhy.trace.causes.origin import How
from saywhy.trace.trace import Trace
from saywhy.trace.words import OWN, name_of
from saywhy.values import Key

SUBMIT: Final = "/submit"
"""How the place of the call ends that a form ends with."""
_BY_STEP: Final[frozenset[How]] = frozenset({"written", "computed", "passed", "deleted", "silence"})
"""Ways of writing a value where it is the step that one looks for, not what it took in."""


def step_path(trace: Trace, commit: Commit) -> str:
    """`FLOW/STEP`: the step by its author's id, else by where it stands in its flow."""
    node = trace.node_of(commit)
    own = (node.name if node is not None else "") or commit.node
    whole = commit.node.removesuffix(SUBMIT)
    if whole != commit.node and commit.chart in trace.charts:  # a form names its call itself
        form = trace.charts[commit.chart].nodes.get(whole)
        own = form.name if form is not None and own == f"{form.name}_submit" else own
    return f"{commit.flow}/{own}"


def carried_ref(trace: Trace, commit: Commit) -> str:
    """What is carried out for an agent: its flow or its tool, as an author calls it."""
    kind, _, name = commit.flow.partition(" ")
    name = name.partition(" → ")[0]
    if kind == "(tool)":
        return f"tool:{name}"
    chart = trace.charts.find(name) if kind == "(flow)" else None
    return f"flow:{chart.name if chart is not None else name}"


def step_ref(trace: Trace, commit: Commit) -> str:
    """The step of a commit; how routing took a message, for its steps."""
    if commit.flow in OWN:
        return f"routing:{commit.kind}"
    if commit.flow.startswith(("(flow) ", "(tool) ")):
        return carried_ref(trace, commit)
    return f"step:{step_path(trace, commit)}"


def decision_ref(trace: Trace, commit: Commit) -> str:
    """The decision that a step made."""
    if commit.flow in OWN:
        return f"routing:{commit.kind}"
    return f"decision:{step_path(trace, commit)}"


def answer_ref(commit: Commit) -> str:
    """What came back from outside, by the number of the commit that took it in."""
    answered = commit.answered
    of_model = answered is not None and answered.kind == "model"
    return f"{'model' if of_model else 'tool_result'}:{commit.seq}"


def variable_refs(trace: Trace, key: Key, commit: Commit, how: How) -> tuple[str, ...]:
    """The names of a value, the one that says most first."""
    name = name_of(key)
    variable = f"variable:{name}"
    if how == "default":
        return f"default:{commit.facts['target']}/{key[1]}", variable
    if how == "host":
        return f"host:{name}", variable
    step = step_ref(trace, commit)
    return (step, variable) if how in _BY_STEP else (variable, step)


def unwritten_ref(key: Key, root: str) -> str:
    """The name of a variable that no recorded step wrote; its prefix says why there is none."""
    return f"{root}:{name_of(key[1:] if root == 'input' and len(key) > 1 else key)}"


__all__ = [
    "answer_ref",
    "carried_ref",
    "decision_ref",
    "step_path",
    "step_ref",
    "unwritten_ref",
    "variable_refs",
]
