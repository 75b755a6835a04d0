"""One step in one sentence, for the story of a conversation.

A sentence depends on what was recorded up to its step and on nothing later, so that it stays what
it is while the conversation goes on. Steps that only pass things on are not told. What is made of a
call that is still out is `story`'s business, and what the words are is that of `phrases`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from saywhy.chart.commit import Commit, Condition, Decision, Op
from saywhy.trace import agents
from saywhy.trace.causes import corrected, forms, intents
from saywhy.trace.causes.carried import ASKING, CALL, RUN, carried_text
from saywhy.trace.causes.decided import (
    OUTSIDE,
    arguments_in,
    decided_in,
    decision_text,
)
from saywhy.trace.causes.origin import PLUMBING, message_of, own_texts
from saywhy.trace.causes.own import own_of
from saywhy.trace.causes.refusals import refusals
from saywhy.trace.causes.silent import due_text, silence_in
from saywhy.trace.causes.silent import told as silence_told
from saywhy.trace.causes.wording import asked_of, evidence_of, failure_of
from saywhy.trace.masking.redact import MARK, REDACTED_TAG
from saywhy.trace.narrative import missing
from saywhy.trace.phrases import ENGLISH, Wording
from saywhy.trace.trace import Trace
from saywhy.trace.words import (
    CORRECTING,
    ROUTING,
    call_text,
    chosen_text,
    failed_texts,
    name_of,
    pairs,
    quoted,
    source_text,
    step_name,
    summary,
)
from saywhy.values import raw

MOST_WRITES: Final = 4
MOST_FAILED: Final = 3
_ENDINGS: Final = frozenset({"completed", "cancelled", "returned", "rebooted"})


def sentence_of(trace: Trace, commit: Commit, say: Wording = ENGLISH) -> str:
    """What a step did, and what the record lacks of it; empty for one that need not be told."""
    told = _told(trace, commit, say)
    return " ".join([told, *missing.of_step(commit, say)]) if told and commit.tags else told


def _told(trace: Trace, commit: Commit, say: Wording) -> str:
    flow, kind, facts = commit.flow, commit.kind, commit.facts
    if flow == ROUTING:
        return _routing(trace, commit, say)
    if flow == CORRECTING or ("kept" in facts and corrected.kept_in(commit)):
        return _warned(corrected.told(trace, commit, say), commit, say)
    tell = _STEPS.get(kind)
    if tell is None and not kind.isupper():
        of_agent = agents.told(trace, commit, say)
        if of_agent is not None:
            return _warned(of_agent, commit, say)
    if commit.phase == "closed":
        return _ended(commit, say)
    tell = tell or _CARRIED.get(kind, _other)
    asked = commit.asked
    asks_again = asked is not None and asked.kind == "user"
    told = _ask(trace, commit, say) if asks_again else tell(trace, commit, say)
    answered = commit.answered
    if commit.error or "failure" in facts or (answered is not None and answered.error):
        told = _failed(trace, commit, told, say)
    return _warned(told, commit, say) if commit.warnings else told


def _failed(trace: Trace, commit: Commit, told: str, say: Wording) -> str:
    """What a step did, and that it failed, where it did and that is not told already."""
    failed = failure_of(commit)
    if not failed or commit.kind in ("CALL-TOOL", CALL):
        return told
    if told:
        return f"{told} {say('it_failed', why=failed)}"
    return say("step_failed", step=_step(trace, commit), why=failed)


def is_out(commit: Commit) -> bool:
    """Whether a step only asked a tool or a model: what came of it is told by a later one."""
    asked = commit.asked
    if asked is None or commit.answered is not None or commit.flow == ROUTING:
        return False
    if commit.kind in ("CALL-TOOL", CALL):
        return asked.kind == "tool"
    return not commit.kind.isupper() and agents.is_out(commit)


def came_later(commit: Commit, turn: int, say: Wording) -> str:
    """What is told of a call whose answer stands in a later turn."""
    asked = commit.asked
    assert asked is not None, "only a call that is out is told so"
    if asked.kind == "model":
        return say("model_later", turn=turn)
    return say("called_later", call=_made(asked.name, asked.args, commit, say), turn=turn)


def _made(name: str, args: Any, commit: Commit, say: Wording) -> str:
    """A call: as flows write it, or as a model wants it."""
    if commit.kind.isupper() or commit.kind == CALL:
        return f"{name}({_arguments(args, say)})"
    return call_text(name, args, say)


def _warned(told: str, commit: Commit, say: Wording) -> str:
    if not commit.warnings:
        return told
    return " ".join([told, *(say("warning", text=text) for text in commit.warnings)]).strip()


def _step(trace: Trace, commit: Commit) -> str:
    return step_name(commit, trace.node_of(commit))


# ------------------------------------------------------------------ routing


def _routing(trace: Trace, commit: Commit, say: Wording) -> str:
    if commit.kind == "receive":
        return "" if commit.to in ("decide", "due") else _received(trace, commit, say)
    if commit.error:
        return say("routing_failed", why=commit.error)
    if commit.kind == "correction":
        correction = corrected.routed(commit, say)
        if correction:
            return correction
    if "due" in commit.facts:
        return due_text(commit, say)
    if "decided" in commit.facts:
        return _decided(commit, say)
    if "target" in commit.facts:
        return _opened(commit, say)
    if commit.kind == "intent" and commit.decision is not None and commit.decision.default:
        return say("no_flow_fits")
    if commit.kind == "intent":
        return intents.told(commit, say)
    if commit.kind == "command" and (commit.phase == "answered" or _reply(commit)):
        return say("command")
    return ""


def _received(trace: Trace, commit: Commit, say: Wording) -> str:
    message = trace.message(message_of(commit))
    said = say("user_said", text=quoted(message.text)) if message else say("user_said_something")
    given = [op for op in commit.ops if op.key[0] == "cargo"]
    return f"{said} {say('host_set', values=_writes(given, say))}" if given else said


def _decided(commit: Commit, say: Wording) -> str:
    decided = decided_in(commit)
    if not decided:
        return ""
    return say("decided_of", tool=decided["tool"], decision=decision_text(decided, say))


def _opened(commit: Commit, say: Wording) -> str:
    facts = commit.facts
    given = [
        op
        for op in commit.ops
        if op.key[0] == facts.get("scope") and op.key[1] in facts.get("parameters", ())
    ]
    interrupts = commit.kind in ("interruption", "switch")
    phrase = "flow_interrupted" if interrupts else "flow_began"
    return _with(phrase, given, say, flow=facts["target"])


def _with(phrase: str, given: list[Op], say: Wording, **values: Any) -> str:
    """A sentence, in its form with values where some were handed over."""
    if not given:
        return say(phrase, **values)
    return say(f"{phrase}_with", values=_writes(given, say), **values)


# ------------------------------------------------------------------ steps of flows


def _say(trace: Trace, commit: Commit, say: Wording) -> str:
    texts = [quoted(text) for op in commit.ops for text in own_texts(op.value, commit.seq)]
    return say("said", texts=", ".join(texts)) if texts else ""


def _ask(trace: Trace, commit: Commit, say: Wording) -> str:
    told: list[str] = []
    silence, answered, asked = silence_in(commit), commit.answered, commit.asked
    if forms.is_form(commit):
        told += forms.told(commit, say)
    elif silence is not None:
        written = _data(commit, cargo=False)
        told.append(silence_told(silence, say))
        told += [say("taken_to_be", values=_writes(written, say))] if written else []
    elif answered is not None and answered.kind == "user":
        values = _written(commit, say, cargo=False)
        told.append(say("answer_is", values=values) if values else say("user_answered"))
    if commit.decision is not None:
        told += [_refused(rule, say) for rule in refusals(commit)[:MOST_FAILED]]
    if asked is not None and asked.kind == "user":
        told.append(say("asked", text=quoted(_question(commit))))
    return " ".join(told)


def _refused(rule: Condition, say: Wording) -> str:
    if rule.read:
        return say("pattern_refused", pattern=source_text(rule.text), values=pairs(rule.read))
    return say("validator_refused", validator=source_text(rule.text), why=rule.error)


def _question(commit: Commit) -> str:
    """The last stretch that this step itself put into the reply."""
    for op in reversed(commit.ops):
        texts = own_texts(op.value, commit.seq)
        if texts:
            return texts[-1]
    return MARK if REDACTED_TAG in commit.tags else ""


def _set(trace: Trace, commit: Commit, say: Wording) -> str:
    values = _written(commit, say)
    if not values:
        return ""
    node = trace.node_of(commit)
    source = node.spec.get("value") if node is not None else None
    if isinstance(source, str) and (commit.reads or commit.calls):
        return say("set_from", values=values, source=source_text(source))
    return say("set", values=values)


def _call(trace: Trace, commit: Commit, say: Wording) -> str:
    answered = commit.answered
    if answered is None or answered.kind not in OUTSIDE:
        return _pending(commit, say)
    asked = asked_of(trace, commit)
    need = asked.asked if asked is not None else None
    args = arguments_in(need.kind, need.args) if need is not None else None
    call = f"{answered.name}({_arguments(args, say)})"
    if answered.kind != "tool":
        return _joined(_known_after_all(commit, call, say), _resting(commit, say))
    if answered.error and "to_approve" in answered.facts:
        return _resting(commit, say)
    if answered.error:
        failed = say("called_failed", call=call, why=answered.error)
        return _joined(failed, _after_failure(commit, say), _resting(commit, say))
    written = _data(commit)
    values = _writes(written, say) if written else summary(answered.value, say)
    phrase = "called_cached" if answered.facts.get("cached") else "called_gave"
    return say(phrase, call=call, values=values)


def _joined(*sentences: str) -> str:
    return " ".join(filter(None, sentences))


def _known_after_all(commit: Commit, call: str, say: Wording) -> str:
    """What is told of a call once somebody has said something about it."""
    if commit.answered is not None and commit.answered.kind == "approval":
        return ""  # told where it was decided, and where the call is made
    written = _data(commit)
    found = commit.facts.get("reconciled")
    told = say("what_became", call=call, found=say(f"how_{found}")) if found else ""
    gave = say("gave", call=call, values=_writes(written, say)) if written else ""
    return _joined(told, gave)


def _resting(commit: Commit, say: Wording) -> str:
    """What a step waits for that only a person can give."""
    asked = commit.asked
    if asked is None or asked.kind not in ("settle", "approval"):
        return ""
    call = f"{asked.name}({_arguments(arguments_in(asked.kind, asked.args), say)})"
    return say("to_approve" if asked.kind == "approval" else "unknown", call=call)


def _pending(commit: Commit, say: Wording) -> str:
    asked = commit.asked
    if asked is None or asked.kind != "tool":
        return _resting(commit, say)
    return say("called_unanswered", call=f"{asked.name}({_arguments(asked.args, say)})")


def _after_failure(commit: Commit, say: Wording) -> str:
    failure = commit.facts.get("failure")
    action = failure.get("action") if isinstance(failure, dict) else ""
    if action == "retry":
        return say("tried_again", delay=summary(commit.facts.get("delay_ms", 0), say))
    return ""


def _arguments(args: Any, say: Wording) -> str:
    tree = raw(args)
    if isinstance(tree, dict):
        return ", ".join(f"{name} = {summary(value, say)}" for name, value in tree.items())
    return "" if tree is None else summary(tree, say)


def _branch(trace: Trace, commit: Commit, say: Wording) -> str:
    decision = evidence_of(trace, commit)
    if decision is None:
        return ""
    return say("chose", step=_step(trace, commit), branch=_chosen(decision, say))


def _chosen(decision: Decision, say: Wording) -> str:
    failed = failed_texts(decision, say)
    if not failed:
        return chosen_text(decision, say)
    texts = "; ".join(failed[:MOST_FAILED])
    if len(failed) > MOST_FAILED:
        texts = say("and_more", first=texts, n=len(failed) - MOST_FAILED)
    phrase = "chose_default_as" if decision.default else "chose_after"
    return say(phrase, branch=chosen_text(decision, say), failed=texts)


def _flow(trace: Trace, commit: Commit, say: Wording) -> str:
    facts = commit.facts
    if "target" not in facts:
        return ""
    node = trace.node_of(commit)
    kind = node.spec.get("callType") if node is not None else None
    phrase = f"flow_{kind}" if kind in ("replace", "reboot") else "flow_called"
    given = [op for op in _data(commit) if op.key[1] in facts.get("parameters", ())]
    return _with(phrase, given, say, flow=facts["target"])


def _agent(trace: Trace, commit: Commit, say: Wording) -> str:
    name = commit.facts.get("agent", "")
    if commit.answered is None:
        asked = [op.value for op in commit.ops if op.key[1:] == ("message",)]
        if not asked:
            return say("agent_asked_nothing", agent=name)
        return say("agent_asked", agent=name, text=quoted(str(asked[0])))
    if commit.answered.error:
        return ""  # what failed is told behind it
    kept = [op for op in _data(commit) if not str(op.key[0]).startswith("agent:")]
    said = str(commit.answered.value or "")
    phrase = ("agent_answered" if said else "agent_silent") + ("_set" if kept else "")
    return say(phrase, agent=name, text=quoted(said), values=_writes(kept, say))


def _carried(trace: Trace, commit: Commit, say: Wording) -> str:
    """A flow that an agent has run. What it asks and does is told by its own steps."""
    target = commit.facts.get("target")
    is_flow = carried_text(commit).startswith("flow")
    if commit.answered is not None:
        given = ", ".join(name_of(key) for key in commit.reads) if is_flow else ""
        return say("agent_given", names=given) if given else ""
    if target is None or not is_flow:
        return ""
    given = [op for op in _data(commit) if op.key[1] in commit.facts.get("parameters", ())]
    return _with("agent_began", given, say, flow=target)


def _untold(trace: Trace, commit: Commit, say: Wording) -> str:
    return ""


def _return(trace: Trace, commit: Commit, say: Wording) -> str:
    return say("returned", text=quoted(_question(commit)))


def _end(trace: Trace, commit: Commit, say: Wording) -> str:
    return say("ended_here")


def _dispatch(trace: Trace, commit: Commit, say: Wording) -> str:
    return say("dispatched")


def _other(trace: Trace, commit: Commit, say: Wording) -> str:
    rest = ""
    decision = evidence_of(trace, commit)
    if decision is not None:
        rest += say("ran_chose", branch=_chosen(decision, say))
    own = own_of(trace, commit)
    written = [op for op in _data(commit) if str(op.key[1:2] and op.key[1]) not in own]
    if written:
        rest += say("ran_wrote", values=_writes(written, say))
    if commit.asked is not None:
        rest += say("ran_waits", what=f"{commit.asked.kind} {commit.asked.name}".rstrip())
    if own and not rest and not commit.error and commit.answered is None:
        return ""  # it only kept the loop going
    return say("ran", step=_step(trace, commit), rest=rest)


def _ended(commit: Commit, say: Wording) -> str:
    if commit.facts.get("how") == "corrected" or commit.flow == ASKING:
        return ""
    how, reason = str(commit.facts.get("how", "completed")), commit.facts.get("reason", "")
    record = commit.facts.get("transaction")
    failed = record.get("failureReason") if isinstance(record, dict) else ""
    if failed:
        return say("flow_failed", flow=commit.flow, why=failed)
    known = say(f"how_{how}") if how in _ENDINGS else how
    return say("flow_ended", flow=commit.flow, why=reason or known)


def _form(trace: Trace, commit: Commit, say: Wording) -> str:
    return " ".join(forms.told(commit, say))


_STEPS: Final[dict[str, Callable[[Trace, Commit, Wording], str]]] = {
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
}
"""What authors write in flows."""

_CARRIED: Final[dict[str, Callable[[Trace, Commit, Wording], str]]] = {
    CALL: _call,
    RUN: _carried,
    "carried:done": _untold,
    "carried:failed": _untold,
}


# ------------------------------------------------------------------ writes


def _data(commit: Commit, *, cargo: bool = True) -> list[Op]:
    """What a step wrote, without the bookkeeping of texts and calls; without cargo, if so asked."""
    found: list[Op] = []
    for op in commit.ops:
        scope = op.key[0]
        if scope == "turn" or (scope == "session" and op.key[:2] in PLUMBING):
            continue
        if cargo or scope != "cargo":
            found.append(op)
    return found


def _written(commit: Commit, say: Wording, *, cargo: bool = True) -> str:
    """What a step wrote, in words; empty where it wrote no data."""
    ops = _data(commit, cargo=cargo)
    if len(ops) != 1 or type(ops[0].value) is not str or ops[0].verb != "set":
        return _writes(ops, say)
    return f"{name_of(ops[0].key)} = {quoted(ops[0].value)}"  # nearly every step


def _reply(commit: Commit) -> bool:
    return any(op.key == ("turn", "reply") for op in commit.ops)


def _writes(ops: list[Op], say: Wording) -> str:
    if len(ops) == 1:
        return _write(ops[0], say)
    texts = ", ".join([_write(op, say) for op in ops[:MOST_WRITES]])
    more = len(ops) - MOST_WRITES
    return say("and_more", first=texts, n=more) if more > 0 else texts


def _write(op: Op, say: Wording) -> str:
    name, value = name_of(op.key), op.value
    if op.verb == "delete":
        return say("deleted", name=name)
    joint = "+" if op.verb == "append" else "="
    return f"{name} {joint} {summary(value, say)}"
