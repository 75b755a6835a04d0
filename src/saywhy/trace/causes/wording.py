"""How each cause is put into words. Which causes there are is answered by `why`."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from saywhy.chart.commit import Answered, Commit, Condition, Decision, FunctionCall
from saywhy.chart.model import Node
from saywhy.errors import Place
from saywhy.messages import Message
from saywhy.models.provider import CHAT
from saywhy.trace.agents import causes_in, is_answer
from saywhy.trace.causes.carried import CALL, RUN, carried_text
from saywhy.trace.causes.chain import Cause, Root
from saywhy.trace.causes.corrected import replaced_in
from saywhy.trace.causes.decided import arguments_in, word_of
from saywhy.trace.causes.forms import read_from
from saywhy.trace.causes.handed_wording import chat_text
from saywhy.trace.causes.intents import filled_text, found_by_model, model_text, routing_details
from saywhy.trace.causes.origin import How, Origin, message_of
from saywhy.trace.causes.own import own_of
from saywhy.trace.causes.ref import (
    answer_ref,
    decision_ref,
    step_path,
    step_ref,
    unwritten_ref,
    variable_refs,
)
from saywhy.trace.causes.refusals import place_of_rule, refusal_text, refusals
from saywhy.trace.causes.silent import silence_in, silence_text
from saywhy.trace.rebuild import DOUBTS, Found, doubt_in
from saywhy.trace.trace import Trace
from saywhy.trace.words import (
    CORRECTING,
    OWN,
    ROUTING,
    brief,
    call_text,
    chosen_text,
    failed_texts,
    name_of,
    quoted,
    reads_in,
    source_text,
    step_name,
    step_of_flow,
)
from saywhy.values import UNDEFINED, FrozenList, Key

LONGEST_REPLY: Final = 200

INEXACT: Final = "not all that is named here need have been read"
NO_CHART: Final = "the flow or agent itself is not in this record, only what it did"

_ROOTS: Final[dict[How, Root]] = {"default": "default", "host": "host", "written": "authored"}


def at(trace: Trace, commit: Commit) -> dict[str, Any]:
    """What every cause says of the step it speaks of.

    How a message found its flow is no flow of the author's: its steps have no name and no place.
    """
    if commit.flow in OWN:
        return {"commit": commit.seq, "turn": commit.turn}
    node = trace.node_of(commit)
    if own_of(trace, commit):  # a step of an agent's loop stands in no file of the author's
        return {"commit": commit.seq, "turn": commit.turn, "flow": commit.flow}
    return {
        "commit": commit.seq,
        "turn": commit.turn,
        "flow": commit.flow,
        "step": node.name if node is not None else commit.node,
        "place": trace.place_of(commit),
        "marks": () if node is not None or commit.chart in trace.charts else (NO_CHART,),
    }


# ------------------------------------------------------------------ what was said


def reply(turn: int, text: str) -> Cause:
    """The reply that is asked about."""
    return Cause(0, "target", f"{quoted(text, LONGEST_REPLY)} (turn {turn})", turn=turn, value=text)


def step(trace: Trace, commit: Commit) -> Cause:
    """The step that is asked about, with what went wrong in it."""
    node = trace.node_of(commit)
    failure = failure_of(commit)
    failed = f" failed: {failure}" if failure else ""
    sentence = f"{step_of_flow(commit, node)}{failed} (turn {commit.turn})"
    cause = Cause(0, "target", sentence, ref=step_ref(trace, commit), **at(trace, commit))
    cause.details = _warned(commit)
    return cause


def said(trace: Trace, commit: Commit, text: str, *, alone: bool) -> Cause:
    """A stretch of a reply and the step that wrote it."""
    node = trace.node_of(commit)
    begin = "" if alone else f"{quoted(text)} was "
    cause = Cause(0, "said", f"{begin}{_how_said(commit, node)}", value=text, **at(trace, commit))
    cause.ref = step_ref(trace, commit)
    cause.details = _warned(commit)
    if commit.flow in OWN or commit.phase == "closed":
        cause.root = "phrase"
    return cause


def _warned(commit: Commit) -> tuple[str, ...]:
    """What went wrong in a step that went on all the same: an expression that failed, mostly.

    What a function raised is a cause of its own and is not told twice.
    """
    raised = [call.error for call in commit.calls if call.error]
    return tuple(
        f"with a warning: {warning}"
        for warning in commit.warnings
        if not any(error in warning for error in raised)
    )


_ROUTED: Final = {
    "command": "is a command",
    "switch": "takes up an offer",
    "interruption": "names another flow",
}


def _how_said(commit: Commit, node: Node | None) -> str:
    step = step_of_flow(commit, node)
    if commit.phase == "closed":
        return f"said by the engine as {commit.flow} ended"
    if commit.flow == CORRECTING:
        return "said by the engine as it carried a correction out"
    if commit.flow == ROUTING and commit.kind == "correction":
        return "said by the engine, because the user's message corrects an earlier answer"
    if commit.flow == ROUTING:
        reason = _ROUTED.get(commit.kind)
        return "said by the engine" + (f", because the user's message {reason}" if reason else "")
    if is_answer(commit):
        return f"answered by agent {commit.flow}"
    if commit.kind == "RETURN":
        key = commit.facts.get("evaluated", "value")  # `value_es` where that was evaluated
        source = node.spec.get(key) if node is not None else None
        return f"returned by {step}" + (f": {source_text(source)}" if source else "")
    if commit.answered is not None and commit.answered.error:
        return f"said because {step} failed: {commit.answered.error}"
    if silence_in(commit) is not None:
        return f"asked again by {step}"
    if commit.asked is not None and commit.asked.kind == "user":
        return f"asked by {step}" + (", as the input was not right" if refusals(commit) else "")
    return f"said by {step}"


def phrase(text: str, *, alone: bool, missing: bool = False) -> Cause:
    """A stretch of a reply that no step wrote, guidance for instance, or whose step is missing."""
    begin = "" if alone else f"{quoted(text.strip())} was "
    if missing:
        mark = "the step that said it is not part of this record"
        sentence = f"{begin}said by a step that is not recorded"
        ref = "unrecorded:reply"
        return Cause(0, "said", sentence, "unrecorded", value=text, marks=(mark,), ref=ref)
    sentence = f"{begin}said by the engine: one of its own phrases"
    return Cause(0, "said", sentence, "phrase", value=text, ref="phrase:guidance")


# ------------------------------------------------------------------ values


def value(trace: Trace, key: Key, commit: Commit, found: Found, origin: Origin) -> Cause:
    """A variable and how it was written."""
    name = name_of(key)
    cause = Cause(0, "value", "", name=name, value=found.value, **at(trace, commit))
    cause.sentence = _how_written(trace, key, commit, found, origin)
    cause.ref, *also = variable_refs(trace, key, commit, origin.how)
    cause.also = tuple(also)
    cause.root = _ROOTS.get(origin.how, "")
    cause.details = (*read_from(commit, key), *causes_in(commit, key), *_warned(commit))
    replaced = replaced_in(trace, commit, key)
    if replaced is not UNDEFINED:
        cause.details = (f"a correction: it took the place of {brief(replaced)}", *cause.details)
    if origin.how == "started" and commit.kind == "start":
        cause.root = "host"
    if origin.how == "default":
        cause.place = _declared_at(trace, commit, key)
    if found.doubt:
        cause.marks = (*cause.marks, f"{name}: {found.note}")
    if origin.how == "computed" and not commit.exact:
        cause.marks = (*cause.marks, INEXACT)
    return cause


def _how_written(trace: Trace, key: Key, commit: Commit, found: Found, origin: Origin) -> str:
    name = name_of(key)
    label = f"{name} = {brief(found.value)}"
    node = trace.node_of(commit)
    step = _step(commit, node)
    match origin.how:
        case "words":
            return _from_words(trace, label, name, found, origin.message)
        case "silence":
            return f"{label} is what {step} goes on with when nobody answers"
        case "tool":
            part = "is" if len(key) == 2 else "comes from"
            return f"{label} {part} the result of {_tool_call(trace, commit)}"
        case "tool-error":
            return f"{label} is the error of {_tool_call(trace, commit)}"
        case "tool-change":
            return f"{label} was changed by {_tool_call(trace, commit)}"
        case "model":
            return f"{label} is what the model answered to {step}"
        case "default":
            return f"{label} is the declared default of {commit.facts['target']}"
        case "passed":
            return f"{label} was passed by {step}"
        case "started" if found_by_model(trace, commit) is not None:
            flow = commit.facts["target"]
            return f"{label} is what the model found in the words that started {flow}"
        case "started":
            return f"{label} was given when {commit.facts['target']} was started"
        case "host":
            return f"{label} was set by the host before turn {commit.turn}"
        case "deleted" if commit.flow == CORRECTING:
            return f"{name} was taken back by a correction"
        case "deleted":
            return f"{name} was deleted by {step}"
        case "written":
            return f"{label} is written in {step}"
        case "computed":
            source = node.spec.get("value") if node is not None else None
            shown = f": {source_text(source)}" if source is not None else ""
            return f"{label} was set by {step}{shown}"


def _step(commit: Commit, node: Node | None) -> str:
    """A step and its flow; what is carried out for an agent is called by what it is."""
    if commit.kind in (RUN, CALL):
        return f"the agent's call of {carried_text(commit)}"
    return step_of_flow(commit, node)


def _declared_at(trace: Trace, commit: Commit, key: Key) -> Place:
    """The file of the flow that declares a default; which line is not kept in its chart."""
    digest = commit.facts.get("digest", "")
    nodes = trace.charts[digest].nodes.values() if digest in trace.charts else ()
    files = (node.where.file for node in nodes)
    return Place(next(files, ""), pointer=f"/variables/{key[1]}")


def _from_words(trace: Trace, label: str, name: str, found: Found, number: int) -> str:
    message = trace.message(number)
    if message is None:
        return f"{label} is what the user said"
    said = f"what the user said in turn {message.turn}: {quoted(message.text)}"
    same = found.value == message.text.strip() or found.doubt == "redacted"
    return f"{name} is {said}" if same else f"{label} comes from {said}"


def _tool_call(trace: Trace, commit: Commit) -> str:
    asked = asked_of(trace, commit)
    name = commit.answered.name if commit.answered is not None else ""
    need = asked.asked if asked is not None else None
    args = arguments_in(need.kind, need.args) if need is not None else None
    memory = from_memory(commit.answered) if commit.answered is not None else ""
    return f"tool {call_text(name, args)}{filled_text(asked)}{memory}{word_of(trace, commit)}"


def asked_of(trace: Trace, commit: Commit) -> Commit | None:
    """The commit that asked for the answer which `commit` took in."""
    answered = commit.answered
    if answered is None:
        return None
    earlier = trace.newest(commit.frame, commit.node, commit.seq)
    while earlier is not None:
        asked = earlier.asked
        if asked is not None and asked.kind == answered.kind:
            return earlier
        earlier = trace.newest(commit.frame, commit.node, earlier.seq)
    return None


def unwritten(trace: Trace, key: Key) -> Cause:
    """A variable that was read and that no recorded step wrote."""
    name = name_of(key)
    root: Root = "unset"
    if key[0] == "globals":
        root, sentence = "global", f"{name} is a global variable of the engine"
    elif key[0] == "args":
        root, sentence = "input", f"{name} is input that the run was started with"
    elif key[0] == "session":
        root, sentence = "host", f"{name} was set by the host for this session"
    elif trace.first > 1:
        root, sentence = "unrecorded", f"{name} was last set before this record begins"
    elif key == ("cargo",):
        sentence = "cargo was empty"
    elif key[0] == "cargo":
        sentence = f"{name} was never set: neither the host nor a step wrote it"
    else:
        sentence = f"{name} was never set"
    marks = (f"{name}: the record begins too late",) if root == "unrecorded" else ()
    ref = unwritten_ref(key, root)
    return Cause(0, "value", sentence, root, name=name, marks=marks, ref=ref)


# ------------------------------------------------------------------ answers from outside


def words(message: Message | None, number: int) -> Cause:
    """What the user said."""
    ref = f"message:{number}"
    if message is None:
        mark = f"message {number} is not part of this record"
        return Cause(0, "answer", "the user's words", "words", marks=(mark,), ref=ref)
    sentence = f"the user said in turn {message.turn}: {quoted(message.text)}"
    return Cause(0, "answer", sentence, "words", turn=message.turn, value=message.text, ref=ref)


def silence(trace: Trace, commit: Commit) -> Cause:
    """That the time for an answer was over."""
    step = step_of_flow(commit, trace.node_of(commit))
    sentence = f"{silence_text(silence_in(commit) or {})}: the timeout of {step}"
    ref = f"timer:{step_path(trace, commit)}"
    return Cause(0, "decision", sentence, "timer", ref=ref, **at(trace, commit))


def answer(trace: Trace, commit: Commit) -> Cause:
    """The result of a tool or of a model, as the step took it in."""
    answered = commit.answered
    assert answered is not None, "only a commit with an answer is asked for it"
    root: Root = "model" if answered.kind == "model" else "tool"
    gave = f"failed: {answered.error}" if answered.error else f"gave {brief(answered.value)}"
    told = f"{_tool_call(trace, commit)} {gave}" if root == "tool" else _of_model(commit)
    doubt = doubt_in(answered.value)
    cause = Cause(0, "answer", told, root, value=answered.value, **at(trace, commit))
    cause.ref = answer_ref(commit)
    if root == "tool":
        cause.also = (f"tool:{answered.name}",)
    if from_memory(answered):
        cause.signs = ("from memory",)
    if doubt:
        cause.marks = (*cause.marks, f"result of {answered.name}: {DOUBTS[doubt]}")
    return cause


def _of_model(commit: Commit) -> str:
    answered = commit.answered
    is_chat = answered is not None and answered.name == CHAT
    return chat_text(commit) if is_chat else model_text(commit)


def from_memory(answered: Answered) -> str:
    """Behind a call: that it was not made, for what it gives was known from an earlier one."""
    return " (answered from memory)" if answered.facts.get("cached") else ""


def carried(trace: Trace, commit: Commit) -> Cause:
    """What an agent had carried out for it came back with this step."""
    sentence = f"{carried_text(commit)} gave it"
    cause = Cause(0, "answer", sentence, ref=step_ref(trace, commit), **at(trace, commit))
    if commit.kind == RUN:  # to the agent the flow is one of its tools
        cause.also = (f"tool:{commit.flow.partition(' ')[2].partition(' → ')[0]}",)
    return cause


def function(trace: Trace, commit: Commit, call: FunctionCall) -> Cause:
    """The result of an approved function."""
    gave = f"raised: {call.error}" if call.error else f"gave {brief(call.value)}"
    sentence = f"function {call_text(call.name, call.args)} {gave}"
    cause = Cause(0, "answer", sentence, "function", value=call.value, **at(trace, commit))
    cause.ref = f"function:{call.name}"
    return cause


# ------------------------------------------------------------------ control


def decision(trace: Trace, commit: Commit) -> Cause:
    """A decision with the values it looked at, or a failure that led elsewhere."""
    node = trace.node_of(commit)
    cause = Cause(0, "decision", "", ref=decision_ref(trace, commit), **at(trace, commit))
    if commit.decision is None or refusals(commit):
        cause.sentence = f"{step_of_flow(commit, node)} failed: {failure_of(commit)}"
        return cause
    evidence = evidence_of(trace, commit) or commit.decision
    cause.read = tuple(reads_in(evidence.conditions))
    if commit.flow == ROUTING:
        tested = "; ".join(condition.text for condition in commit.decision.conditions)
        cause.sentence = f"routing chose {commit.decision.chosen}" + (f": {tested}" * bool(tested))
        cause.details = routing_details(commit)
    else:
        cause.sentence = f"{step_of_flow(commit, node)} chose {chosen_text(evidence)}"
        cause.details = (*failed_texts(evidence), *_warned(commit))
    doubt = doubt_in([value for _, value in cause.read])
    if doubt:
        cause.marks = (
            *cause.marks,
            f"{step_name(commit, node)}: a value it read is {DOUBTS[doubt]}",
        )
    if not commit.exact:
        cause.marks = (*cause.marks, INEXACT)
    return cause


def refusal(trace: Trace, commit: Commit, rule: Condition) -> Cause:
    """A rule that refused what was entered."""
    cause = Cause(0, "decision", refusal_text(rule), read=rule.read, **at(trace, commit))
    cause.place = place_of_rule(trace, commit, rule)
    cause.ref = decision_ref(trace, commit)
    doubt = doubt_in([value for _, value in rule.read])
    if doubt:
        cause.marks = (*cause.marks, f"{name_of(rule.read[0][0])}: {DOUBTS[doubt]}")
    return cause


def evidence_of(trace: Trace, commit: Commit) -> Decision | None:
    """The decision of a step with the values it looked at.

    Asking a text or a list for its `length` reads the text or the list: that is what is shown.
    """
    if commit.decision is None:
        return None
    conditions = _looked_at(trace, commit, commit.decision.conditions)
    return msgspec.structs.replace(commit.decision, conditions=conditions)


def _looked_at(
    trace: Trace, commit: Commit, conditions: tuple[Condition, ...]
) -> tuple[Condition, ...]:
    return tuple(
        msgspec.structs.replace(
            each,
            read=tuple(_seen(trace, commit, *read) for read in each.read),
            parts=_looked_at(trace, commit, each.parts),
        )
        for each in conditions
    )


def _seen(trace: Trace, commit: Commit, key: Key, value: Any) -> tuple[Key, Any]:
    whole = measured(trace, key, commit.seq)
    return (key, value) if whole == key else (whole, trace.value_at(whole, commit.seq - 1).value)


def measured(trace: Trace, key: Key, before: int) -> Key:
    """The key of the text or list whose `length` was read; any other key as it is."""
    if key[-1] != "length" or len(key) < 3:
        return key
    whole = trace.value_at(key[:-1], before - 1).value
    return key[:-1] if isinstance(whole, str | FrozenList) else key


def failure_of(commit: Commit) -> str:
    """What went wrong in a step; empty when nothing did."""
    failure = commit.facts.get("failure")
    if isinstance(failure, dict) and failure.get("message"):
        return str(failure["message"])
    answered = commit.answered.error if commit.answered is not None else ""
    return commit.error or answered


def start(trace: Trace, opener: Commit, flow: str) -> Cause:
    """What opened a flow."""
    cause = Cause(0, "start", start_text(trace, opener, flow), **at(trace, opener))
    cause.ref = f"flow:{flow}"
    if opener.flow not in OWN and opener.kind != RUN:
        cause.also = (step_ref(trace, opener),)
    if opener.flow == ROUTING and opener.kind == "start":
        cause.root = "host"
    return cause


def start_text(trace: Trace, opener: Commit, flow: str) -> str:
    """What opened a flow, in a sentence: `Fees was called by FLOW "fees" of Pay`."""
    node = trace.node_of(opener)
    if opener.flow == ROUTING:
        message = trace.message(message_of(opener))
        words = f"the user said in turn {message.turn if message is not None else opener.turn}"
        words += f": {quoted(message.text)}" if message is not None else ""
        if opener.kind == "start":
            return f"{flow} was started by the host in turn {opener.turn}"
        if opener.kind in ("interruption", "switch"):
            return f"{flow} interrupted another flow, as {words}"
        return f"{flow} was started, as {words}"
    how = {"replace": "took over", "reboot": "was started afresh"}
    if opener.kind == RUN:
        return f"{flow} was run for an agent"
    verb = how.get(str(node.spec.get("callType")) if node is not None else "", "was called")
    return f"{flow} {verb} by {step_of_flow(opener, node)}"
