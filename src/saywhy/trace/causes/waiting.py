"""What the engine said because a call waits for a person: which step it is that waits.

While it waits, whatever the user says is answered by routing, which has no cause of its own there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from saywhy.chart.commit import Commit
from saywhy.trace.causes.chain import Cause
from saywhy.trace.causes.decided import arguments_in
from saywhy.trace.causes.graph import Effect
from saywhy.trace.causes.origin import data_reads
from saywhy.trace.causes.ref import step_ref
from saywhy.trace.trace import Trace
from saywhy.trace.words import ROUTING, call_text, step_of_flow

if TYPE_CHECKING:
    from saywhy.trace.causes.search import Search

WAITING: Final = "approval_waiting"
"""The phrase that says so."""
MOST_STEPS: Final = 300


def link_waiting(search: Search, cause: int, said: Commit) -> bool:
    """Link what routing said while an approval is waited for to the step that waits, if it did."""
    if said.flow != ROUTING or WAITING not in said.facts.get("phrases", ()):
        return False
    waits = _waiting(search.trace, said)
    if waits is None:
        return False

    def follow(found: int) -> None:
        asked = search.trace.newest(waits.frame, waits.node, waits.seq)
        if asked is not None:
            search.reads(found, data_reads(asked), asked)
        search.control(found, waits)

    search.add(
        Effect(cause, "decision"),
        ("waits", waits.seq),
        lambda: _cause(search.trace, waits),
        follow,
    )
    return True


def _waiting(trace: Trace, said: Commit) -> Commit | None:
    for seq in range(said.seq - 1, max(said.seq - MOST_STEPS, 0), -1):
        commit = trace.commit(seq) if seq in trace else None
        if commit is None:
            return None
        if commit.asked is not None and commit.asked.kind == "approval":
            return commit
    return None


def _cause(trace: Trace, waits: Commit) -> Cause:
    need = waits.asked
    assert need is not None, "only a step that waits is found"
    node = trace.node_of(waits)
    call = call_text(need.name, arguments_in(need.kind, need.args))
    sentence = f"{step_of_flow(waits, node)} waits until somebody approves {call}"
    cause = Cause(0, "decision", sentence, ref=step_ref(trace, waits), place=trace.place_of(waits))
    cause.commit, cause.turn, cause.flow = waits.seq, waits.turn, waits.flow
    cause.also = (f"tool:{need.name}",)
    return cause


__all__ = ["link_waiting"]
