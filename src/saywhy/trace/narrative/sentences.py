"""One step in one sentence, for the story of a conversation.

What a step did is told once: where it asked something and was answered in the same turn, the
answer's sentence tells both. Steps that only pass things on are not told.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from saywhy.chart.commit import Commit, Decision, Op
from saywhy.trace import agents
from saywhy.trace.causes import corrected, forms, intents
from saywhy.trace.causes.carried import ASKING, CALL, RUN, carried_text
from saywhy.trace.causes.decided import (
    OUTSIDE,
    RECONCILED,
    arguments_in,
    decided_in,
    decision_text,
)
from saywhy.trace.causes.origin import PLUMBING, message_of, own_texts
from saywhy.trace.causes.refusals import refusal_text, refusals
from saywhy.trace.causes.silent import due_text, silence_in
from saywhy.trace.causes.silent import told as silence_told
from saywhy.trace.causes.wording import asked_of, evidence_of, failure_of, from_memory
from saywhy.trace.phrases import ENGLISH
from saywhy.trace.trace import Trace
from saywhy.trace.words import (
    CORRECTING,
    ROUTING,
    chosen_text,
    failed_texts,
    name_of,
    quoted,
    source_text,
    step_name,
    summary,
)
from saywhy.values import raw

MOST_WRITES: Final = 4
MOST_FAILED: Final = 3


def sentence_of(trace: Trace, commit: Commit) -> str:
    """What a step did; empty for one that need not be told."""
    if commit.flow == ROUTING:
        return corrected.routed(commit) or _routing(trace, commit)
    special = corrected.told(trace, commit)
    if special or commit.flow == CORRECTING:
        return " ".join([special, *(f"Warning: {warning}." for warning in commit.warnings)])
    of_agent = agents.told(trace, commit)
    if of_agent is not None:
        return " ".join([of_agent, *(f"Warning: {text}." for text in commit.warnings)]).strip()
    if commit.phase == "closed":
        return _ended(commit)
    tell = _KINDS.get(commit.kind, _other)
    asks_again = commit.asked is not None and commit.asked.kind == "user"
    told = _ask(trace, commit) if asks_again else tell(trace, commit)
    failed = failure_of(commit)
    if failed and commit.kind not in ("CALL-TOOL", CALL):
        told = (
            f"{told} It failed: {failed}." if told else f"{_step(trace, commit)} failed: {failed}."
        )
    return " ".join([told, *(f"Warning: {warning}." for warning in commit.warnings)]).strip()


def _step(trace: Trace, commit: Commit) -> str:
    return step_name(commit, trace.node_of(commit))


# ------------------------------------------------------------------ routing


def _routing(trace: Trace, commit: Commit) -> str:
    if commit.kind == "receive":
        return "" if commit.to in ("decide", "due") else _received(trace, commit)
    if "due" in commit.facts:
        return due_text(commit)
    if "decided" in commit.facts:
        return _decided(commit)
    if "target" in commit.facts:
        return _opened(commit)
    if commit.kind == "intent" and commit.decision is not None and commit.decision.default:
        return "No flow fits these words."
    if commit.kind == "intent":
        return intents.told(commit)
    if commit.kind == "command" and (commit.phase == "answered" or _reply(commit)):
        return "These words are a command; the engine answered it."
    return ""


def _received(trace: Trace, commit: Commit) -> str:
    message = trace.message(message_of(commit))
    said = f"The user said {quoted(message.text)}." if message else "The user said something."
    given = [op for op in commit.ops if op.key[0] == "cargo"]
    return said + (f" The host set {_writes(given)}." if given else "")


def _decided(commit: Commit) -> str:
    decided = decided_in(commit)
    return f"Of {decided['tool']}: {decision_text(decided)}." if decided else ""


def _opened(commit: Commit) -> str:
    facts = commit.facts
    given = [
        op
        for op in commit.ops
        if op.key[0] == facts.get("scope") and op.key[1] in facts.get("parameters", ())
    ]
    interrupts = commit.kind in ("interruption", "switch")
    verb = "interrupted the one that ran" if interrupts else "began"
    return f"Flow {facts['target']} {verb}" + (f", with {_writes(given)}." if given else ".")


# ------------------------------------------------------------------ steps of flows


def _say(trace: Trace, commit: Commit) -> str:
    texts = [quoted(text) for op in commit.ops for text in own_texts(op.value, commit.seq)]
    return f"Said {', '.join(texts)}." if texts else ""


def _ask(trace: Trace, commit: Commit) -> str:
    told: list[str] = []
    silence = silence_in(commit)
    if forms.is_form(commit):
        told += forms.told(commit)
    elif silence is not None:
        written = [op for op in _data(commit) if op.key[0] != "cargo"]
        told.append(silence_told(silence, ENGLISH))
        told += [f"The answer is taken to be {_writes(written)}."] if written else []
    elif commit.answered is not None and commit.answered.kind == "user":
        written = [op for op in _data(commit) if op.key[0] != "cargo"]
        told.append(f"The answer is {_writes(written)}." if written else "The user answered.")
    told += [f"{_capital(refusal_text(rule))}." for rule in refusals(commit)[:MOST_FAILED]]
    if commit.asked is not None and commit.asked.kind == "user":
        told.append(f"Asked {quoted(_question(commit))}.")
    return " ".join(told)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _question(commit: Commit) -> str:
    """The last stretch that this step itself put into the reply."""
    texts = [text for op in commit.ops for text in own_texts(op.value, commit.seq)]
    return texts[-1] if texts else ""


def _set(trace: Trace, commit: Commit) -> str:
    node = trace.node_of(commit)
    source = node.spec.get("value") if node is not None else None
    written = _data(commit)
    if not written:
        return ""
    computed = isinstance(source, str) and (commit.reads or commit.calls)
    shown = f", from {source_text(source)}" if computed else ""
    return f"Set {_writes(written)}{shown}."


def _call(trace: Trace, commit: Commit) -> str:
    answered = commit.answered
    if answered is None or answered.kind not in OUTSIDE:
        return _pending(trace, commit)
    asked = asked_of(trace, commit)
    need = asked.asked if asked is not None else None
    args = arguments_in(need.kind, need.args) if need is not None else None
    call = f"{answered.name}({_arguments(args)})"
    if answered.kind != "tool":
        return " ".join(filter(None, [_known_after_all(commit, call), _resting(commit)]))
    called = f"Called {call}{from_memory(answered)}"
    if answered.error and "to_approve" in answered.facts:
        return _resting(commit)
    if answered.error:
        failed = f"{called}, which failed: {answered.error}." + _after_failure(commit)
        return " ".join(filter(None, [failed, _resting(commit)]))
    written = _data(commit)
    return f"{called}: {_writes(written)}." if written else f"{called}: {summary(answered.value)}."


def _known_after_all(commit: Commit, call: str) -> str:
    """What is told of a call once somebody has said something about it."""
    if commit.answered is not None and commit.answered.kind == "approval":
        return ""  # told where it was decided, and where the call is made
    written = _data(commit)
    found = commit.facts.get("reconciled")
    told = f"What became of {call} was asked: {RECONCILED[found]}." if found else ""
    return f"{told} {call}: {_writes(written)}.".strip() if written else told


def _resting(commit: Commit) -> str:
    """What a step waits for that only a person can give."""
    asked = commit.asked
    if asked is None or asked.kind not in ("settle", "approval"):
        return ""
    call = f"{asked.name}({_arguments(arguments_in(asked.kind, asked.args))})"
    if asked.kind == "approval":
        return f"{call} has to be approved first."
    return f"Nobody knows whether {call} happened: somebody has to say."


def _pending(trace: Trace, commit: Commit) -> str:
    """A call whose answer is told by a later commit of this turn is not told twice."""
    asked = commit.asked
    if asked is None or asked.kind != "tool":
        return _resting(commit)
    later = trace.next_of(commit)
    if later is not None and later.answered is not None and later.turn == commit.turn:
        return ""
    return f"Called {asked.name}({_arguments(asked.args)}); no answer is recorded."


def _after_failure(commit: Commit) -> str:
    failure = commit.facts.get("failure")
    action = failure.get("action") if isinstance(failure, dict) else ""
    if action == "retry":
        return f" It is tried again after {summary(commit.facts.get('delay_ms', 0))} ms."
    return ""


def _arguments(args: Any) -> str:
    tree = raw(args)
    if isinstance(tree, dict):
        return ", ".join(f"{name} = {summary(value)}" for name, value in tree.items())
    return "" if tree is None else summary(tree)


def _branch(trace: Trace, commit: Commit) -> str:
    decision = evidence_of(trace, commit)
    return "" if decision is None else f"{_step(trace, commit)} chose {_chosen(decision)}."


def _chosen(decision: Decision) -> str:
    failed = failed_texts(decision)
    if not failed:
        return chosen_text(decision)
    more = f" and {len(failed) - MOST_FAILED} more" if len(failed) > MOST_FAILED else ""
    joint = ": " if decision.default else ", after "
    return chosen_text(decision) + joint + "; ".join(failed[:MOST_FAILED]) + more


def _flow(trace: Trace, commit: Commit) -> str:
    facts = commit.facts
    if "target" not in facts:
        return ""
    node = trace.node_of(commit)
    kind = node.spec.get("callType") if node is not None else None
    verb = {"replace": "Went over to", "reboot": "Started afresh with"}.get(str(kind), "Called")
    given = [op for op in _data(commit) if op.key[1] in facts.get("parameters", ())]
    return f"{verb} flow {facts['target']}" + (f" with {_writes(given)}." if given else ".")


def _agent(trace: Trace, commit: Commit) -> str:
    name = commit.facts.get("agent", "")
    if commit.answered is None:
        asked = [op.value for op in commit.ops if op.key[1:] == ("message",)]
        return f"Asked agent {name}" + (f": {quoted(str(asked[0]))}." if asked else ".")
    if commit.answered.error:
        return ""  # what failed is told behind it
    kept = [op for op in _data(commit) if not str(op.key[0]).startswith("agent:")]
    said = str(commit.answered.value or "")
    told = f"Agent {name} answered {quoted(said)}" if said else f"Agent {name} answered nothing"
    return f"{told}: {_writes(kept)}." if kept else f"{told}."


def _carried(trace: Trace, commit: Commit) -> str:
    """A flow that an agent has run. What it asks and does is told by its own steps."""
    target = commit.facts.get("target")
    if commit.answered is not None:
        names = [name_of(key) for key in commit.reads]
        given = ", ".join(names) if carried_text(commit).startswith("flow") else ""
        return f"The agent was given {given}." if given else ""
    if target is None or not carried_text(commit).startswith("flow"):
        return ""
    given = [op for op in _data(commit) if op.key[1] in commit.facts.get("parameters", ())]
    return f"The agent began flow {target}" + (f", with {_writes(given)}." if given else ".")


def _untold(trace: Trace, commit: Commit) -> str:
    return ""


def _return(trace: Trace, commit: Commit) -> str:
    return f"Returned {quoted(_question(commit))} and ended every flow."


def _end(trace: Trace, commit: Commit) -> str:
    return "Ended the flow here."


def _dispatch(trace: Trace, commit: Commit) -> str:
    return "Ended every flow and handed the user's words on."


def _other(trace: Trace, commit: Commit) -> str:
    told = [f"Ran {_step(trace, commit)}"]
    decision = evidence_of(trace, commit)
    if decision is not None:
        told.append(f"which chose {_chosen(decision)}")
    written = _data(commit)
    if written:
        told.append(f"which wrote {_writes(written)}")
    if commit.asked is not None:
        told.append(f"which waits for {commit.asked.kind} {commit.asked.name}".rstrip())
    return ", ".join(told) + "."


def _ended(commit: Commit) -> str:
    if commit.facts.get("how") == "corrected" or commit.flow == ASKING:
        return ""
    how, reason = commit.facts.get("how", "completed"), commit.facts.get("reason", "")
    record = commit.facts.get("transaction")
    failed = record.get("failureReason") if isinstance(record, dict) else ""
    if failed:
        return f"Flow {commit.flow} ended as failed: {failed}."
    return f"Flow {commit.flow} ended: {reason or how}."


def _form(trace: Trace, commit: Commit) -> str:
    return " ".join(forms.told(commit))


_KINDS: Final[dict[str, Callable[[Trace, Commit], str]]] = {
    "SAY": _say,
    "SAY-GET": _ask,
    "SET": _set,
    "CALL-TOOL": _call,
    "CASE": _branch,
    "SWITCH": _branch,
    "FLOW": _flow,
    "FORM": _form,
    "RETURN": _return,
    "END": _end,
    "DISPATCH": _dispatch,
    "AGENT": _agent,
    CALL: _call,
    RUN: _carried,
    "carried:done": _untold,
    "carried:failed": _untold,
}


# ------------------------------------------------------------------ writes


def _data(commit: Commit) -> list[Op]:
    """What a step wrote, without the bookkeeping of texts and calls."""
    return [op for op in commit.ops if op.key[:2] not in PLUMBING and op.key[0] != "turn"]


def _reply(commit: Commit) -> bool:
    return any(op.key == ("turn", "reply") for op in commit.ops)


def _writes(ops: list[Op]) -> str:
    texts = [_write(op) for op in ops[:MOST_WRITES]]
    more = len(ops) - MOST_WRITES
    return ", ".join(texts) + (f" and {more} more" if more > 0 else "")


def _write(op: Op) -> str:
    name = name_of(op.key)
    if op.verb == "delete":
        return f"{name} (deleted)"
    if op.verb == "append":
        return f"{name} + {summary(op.value)}"
    return f"{name} = {summary(op.value)}"
