"""How what did not happen is put into words: steps that did not run, flows that wait.

Which of these there are is answered by `absent`.
"""

from __future__ import annotations

from saywhy.chart.commit import Commit
from saywhy.chart.model import Chart, Node
from saywhy.trace.causes.chain import Cause
from saywhy.trace.causes.ref import step_ref
from saywhy.trace.causes.wording import at, failure_of
from saywhy.trace.trace import Trace
from saywhy.trace.words import OWN, step_of_flow


def step_not_run(chart: Chart, node: Node, ran: Commit | None, *, never: bool) -> Cause:
    """A step that did not run, or that ran without doing what is asked about."""
    name = node.name or node.id
    kind = f'{node.kind} "{name}"' if not name.startswith("/") else f"{node.kind} at {name}"
    how = "was never started" if never else ""
    sentence = f"{kind} of {chart.name} did not run" + (f", as {chart.name} {how}" if never else "")
    if ran is not None:
        failed = failure_of(ran)
        sentence = f"{kind} of {chart.name} ran in turn {ran.turn}"
        sentence += f" and failed: {failed}" if failed else ""
    cause = Cause(0, "missing", sentence, flow=chart.name, step=name, place=node.where)
    cause.ref = f"step:{chart.name}/{name}"
    if ran is not None:
        cause.commit, cause.turn = ran.seq, ran.turn
    return cause


def rests(trace: Trace, commit: Commit) -> Cause:
    """Where a flow stands, and what it waits for."""
    step = step_of_flow(commit, trace.node_of(commit))
    asked = commit.asked
    waits = {"user": "an answer of the user", "tool": "a tool", "approval": "an approval"}
    what = waits.get(asked.kind, asked.kind) if asked is not None else ""
    sentence = f"{step} waits for {what}" if what else f"{commit.flow} came no further than {step}"
    return Cause(
        0, "missing", sentence, "authored", ref=step_ref(trace, commit), **at(trace, commit)
    )


def ran(trace: Trace, commit: Commit) -> Cause:
    """The last step of a turn in which nothing was said."""
    step = step_of_flow(commit, trace.node_of(commit)) if commit.flow not in OWN else "routing"
    sentence = f"the last step was {step}, which says nothing"
    return Cause(
        0, "missing", sentence, "authored", ref=step_ref(trace, commit), **at(trace, commit)
    )
