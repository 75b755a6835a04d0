"""Which calls steps made, models wanted or offers brought, and what became of each.

A tool that a flow or another agent stands behind is never asked for as a tool is: the loop runs it
as a chart. So such a call is known by the model's answer, and its end by the step that settled it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from saywhy.chart.commit import Commit
from saywhy.trace.causes.carried import RUN, carried_out
from saywhy.trace.causes.handed import is_chat
from saywhy.trace.causes.offers import STRICT_CALL
from saywhy.trace.trace import Trace
from saywhy.trace.words import is_withheld
from saywhy.values import raw

MOST_STEPS: Final = 2_000
"""So many steps after the answer of a model are looked through for what became of it."""
OF_TOOLS: Final = "(tool) "
"""How the charts are called that make a call the way steps of flows do: it is asked for there."""
TO_APPROVE: Final = ("toApprove", "to_approve")
"""The fact of an answer to a call that was not made, for somebody has to approve it first."""


class Wanted(NamedTuple):
    """One call, as a model wanted it, or as it was offered and taken up without one."""

    name: str
    arguments: Any
    id: str
    by: Commit
    """The step that took in the answer, or took the offer up."""
    of_model: bool = True


class Fate(NamedTuple):
    """What became of a call."""

    made: bool
    over: bool
    flow: str = ""
    """The flow that carried it out."""
    told: str = ""
    """What the model was told of it, or what it waits for."""


def asks_for(trace: Trace, commit: Commit, name: str) -> bool:
    """Whether a step called this tool. One that has to be approved first was not called."""
    asked = commit.asked
    if asked is None or (asked.kind, asked.name) != ("tool", name):
        return False
    after = trace.next_of(commit)
    answered = after.answered if after is not None else None
    return answered is None or not any(fact in answered.facts for fact in TO_APPROVE)


def wanted_in(commit: Commit) -> list[Wanted]:
    """The calls in an answer of a model, or the one offered call that a step took up; else none."""
    offered = [raw(op.value) for op in commit.ops if op.key[1:] == (STRICT_CALL,)]
    tree: Any = raw(commit.answered.value) if commit.answered and is_chat(commit) else None
    calls: Any = raw(tree.get("tool_calls")) if isinstance(tree, dict) else None
    found = [raw(one) for one in calls] if isinstance(calls, list) else offered
    return [
        Wanted(
            str(one.get("name")), raw(one.get("arguments")), str(one.get("id")), commit, not offered
        )
        for one in found
        if isinstance(one, dict)
    ]


def called_in(trace: Trace, commit: Commit, name: str) -> bool:
    """Whether a step called this tool, or took in a model's answer that had it run as a chart."""
    if asks_for(trace, commit, name):
        return True
    return any(one.name == name and fate_of(trace, one).made for one in wanted_in(commit))


def fate_of(trace: Trace, call: Wanted) -> Fate:
    """What became of a call."""
    asked = begun = False
    flow = waits = ""
    for commit in _after(trace, call):
        asked = asked or asks_for(trace, commit, call.name)
        begun = begun or (commit.caller > call.by.seq and not commit.flow.startswith(OF_TOOLS))
        if commit.asked is not None and commit.asked.kind == "approval":
            waits = "it waits to be approved" if commit.asked.name == call.name else waits
        if commit.kind == RUN:
            flow = str(commit.facts.get("target", flow))
        settled = _settled(commit, call)
        if settled is None:
            continue
        number, told = settled
        answered = commit.answered if number == 0 else None
        if answered is None or answered.kind != "call":
            return Fate(asked, True, "", told)
        carried = carried_out(trace, commit)
        of_tool = carried is not None and carried.flow.startswith(OF_TOOLS)
        of_flow = carried is not None and carried.kind == RUN
        return Fate(asked or not of_tool, True, flow if of_flow else "", told)
    return Fate(asked or begun, False, flow, waits)


def _after(trace: Trace, call: Wanted) -> Iterator[Commit]:
    """The steps that may tell, up to the next answer of a model that the same loop got."""
    by = call.by
    first = by.seq + call.of_model  # what takes an offer up may settle it at once
    for seq in range(first, min(trace.last, by.seq + MOST_STEPS) + 1):
        if seq not in trace:
            continue
        commit = trace.commit(seq)
        if is_chat(commit) and commit.frame == by.frame and seq > by.seq:
            return
        yield commit


def _settled(commit: Commit, call: Wanted) -> tuple[int, str] | None:
    """The place of the call among those that a step settled, and what the model was told of it."""
    made: Any = [raw(one) for one in raw(commit.facts.get("calls")) or ()]
    for number, one in enumerate(made):
        call_id = one.get("callId")
        same = one.get("tool") == call.name if is_withheld(call_id) else str(call_id) == call.id
        if same:
            return number, _told(commit, call.id)
    return None


def _told(commit: Commit, call_id: str) -> str:
    for message in (raw(op.value) for op in commit.ops):
        if isinstance(message, Mapping) and str(message.get("tool_call_id")) == call_id:
            return _message(str(raw(message.get("content"))))
    return ""


def _message(content: str) -> str:
    """What an error says, where the content is one; else the content."""
    try:
        found = json.loads(content)
    except ValueError:
        return content
    return str(found["message"]) if isinstance(found, dict) and "message" in found else content


__all__ = ["Fate", "Wanted", "asks_for", "called_in", "fate_of", "wanted_in"]
