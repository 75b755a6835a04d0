"""Steps of an agent's loop in sentences: what the model was handed and why, and what it answered.

They are known by what they write and not by how a chart calls them, so that every form of the loop
is told alike, alone or inside of a flow. Steps that only pass things on are not told.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from saywhy.chart.commit import Commit, Op
from saywhy.models.provider import CHAT
from saywhy.trace.loops import BEGINS
from saywhy.trace.phrases import ENGLISH, Wording
from saywhy.trace.trace import Trace
from saywhy.trace.words import brief, call_text, quoted
from saywhy.values import Key, raw

MOST_PIECES: Final = 4
MOST_CALLS: Final = 6
MOST_RULES: Final = 4

MOUNTS: Final = frozenset({"sf-injection-engine", "sf-instructions-to-llm", "tool-calls"})
SLOTS: Final = {
    "sf-system-prompt": "slot_system-prompt",
    "sf-messages": "slot_messages",
    "sf-tools": "slot_tools",
}
"""The parts of what a model is handed, with the phrases that name them."""
_PASSING: Final = frozenset(
    {
        "assembledSystem",
        "assembledMessages",
        "parsedResponse",
        "messages",
        "looseSystem",
        "adapterRawResponse",
    }
)
"""What steps write that only hand things on."""

SIDE_BY_SIDE: Final = "call-tools"
ONE_OF_THEM: Final = "call-tool"

JUDGES: Final = "evaluate-instructions"
LOADS: Final = "load-history"
NOTES: Final = "track-prepared"
KEEPS: Final = "commit-memory"


def told(trace: Trace, commit: Commit, say: Wording = ENGLISH) -> str | None:
    """What a step of an agent did, empty where it need not be told; None for all other steps."""
    if commit.kind.isupper():
        return None
    if commit.phase == "closed":
        return _closed(trace, commit, say)
    written = {str(op.key[1]): op for op in commit.ops if len(op.key) == 2}
    if BEGINS in written:
        return _begun(commit, written, say)
    if commit.kind == "mount" and ("message" in written or "steps" in written):
        return _part(commit, written, say)
    if commit.node in MOUNTS or commit.node in SLOTS:
        outer = _outer(commit, say)
        if outer is not None:
            return outer
    if "matchedInstructions" in written or (
        commit.node == JUDGES and "instructions" in commit.facts
    ):  # judged again with the same outcome, nothing is written
        return "" if commit.phase == "answered" else _instructions(commit, say)
    if "slotComposed" in written:
        return _slot(written, say)
    if commit.node in (LOADS, NOTES):
        return ""  # what came of it is what the messages are
    if "slotInputs" in written and commit.decision is not None:
        return _context(commit, say)
    if commit.kind == "selector" and "joined" in commit.facts:
        return "" if written.keys() & {"systemPrompt", "messagesSeen", "toolDescriptions"} else None
    return _model_and_tools(trace, commit, written, say)


def _model_and_tools(
    trace: Trace, commit: Commit, written: Mapping[str, Op], say: Wording
) -> str | None:
    asked, answered = commit.asked, commit.answered
    if answered is not None and (answered.kind, answered.name) == ("model", CHAT):
        return _answered(commit, say)
    if "calls" in commit.facts:
        return _settled(trace, commit, say)
    if asked is not None and (asked.kind, asked.name) == ("model", CHAT):
        return say("model_unanswered")
    if "roundAt" in written and asked is not None:
        return _waits(commit, say)
    if "stopReason" in written and "result" in written:
        return _finished(trace, commit, written, say)
    if "stopReason" in written:
        return ""  # a sequence and the like: its answer is that of a part, which was told
    if "saved" in commit.facts:
        return say.count("kept_messages", int(commit.facts["saved"]))
    if commit.node == KEEPS and (answered is None or not answered.error):
        return "" if answered is None else say("kept_conversation")
    if commit.decision is not None and _is_route(commit):
        return _routed(commit, say)
    if commit.node in (SIDE_BY_SIDE, ONE_OF_THEM):
        begins = commit.node == SIDE_BY_SIDE and commit.phase == "enter"
        return say("side_by_side") if begins else ""
    passes = written.keys() <= _PASSING and written.keys() - {"messages"}
    return "" if passes else None


def is_out(commit: Commit) -> bool:
    """Whether a step of a loop asked the model, or for the first call of a round, and no more."""
    asked = commit.asked
    if asked is None or "calls" in commit.facts:
        return False
    names = {op.key[1] for op in commit.ops if len(op.key) == 2}
    if BEGINS in names or asked.kind not in ("model", "tool"):
        return False
    return asked.name == CHAT if asked.kind == "model" else "roundAt" in names


# ------------------------------------------------------------------ beginning and end


def _begun(commit: Commit, written: Mapping[str, Op], say: Wording) -> str:
    said = quoted(str(raw(written[BEGINS].value)))
    if commit.depth and "strictCall" not in written:
        return say("handed", text=said)
    before = raw(written["messages"].value) if "messages" in written else ()
    earlier = len(before) - 1 if isinstance(before, list) else 0
    messages = say.count("messages", earlier)
    told = [
        say("user_said_after", text=said, messages=messages)
        if earlier > 0
        else say("user_said", text=said)
    ]
    strict: Any = raw(commit.facts.get("strict"))
    if isinstance(strict, dict) and not strict.get("matched"):
        told.append(say("follow_up_missed"))
    call: Any = raw(written["strictCall"].value) if "strictCall" in written else None
    if isinstance(call, dict):
        made = call_text(str(call["name"]), call["arguments"], say)
        told.append(say("follow_up_taken", call=made))
    return " ".join(told)


def _part(commit: Commit, written: Mapping[str, Op], say: Wording) -> str:
    """An agent or the like inside of a sequence: what it was asked, and what it answered."""
    if "message" in written:
        text = quoted(str(raw(written["message"].value)))
        return say("part_asked", part=commit.node, text=text)
    result = raw(written["result"].value) if "result" in written else None
    if result is None:
        return ""
    return say("part_answered", part=commit.node, text=quoted(str(result)))


def _finished(trace: Trace, commit: Commit, written: Mapping[str, Op], say: Wording) -> str:
    rounds = int(_read(trace, commit, "loopCount", 0))
    after = say.count("after_rounds", rounds) if rounds else ""
    text = quoted(str(written["result"].value))
    if raw(written["stopReason"].value) == "max_iterations":
        return say("run_limit", after=after, text=text)
    return say("run_no_more" if rounds else "run_no_tool", after=after, text=text)


def _closed(trace: Trace, commit: Commit, say: Wording) -> str | None:
    """The end of a frame: told where a run failed or was cancelled, else by its last step."""
    node = trace.node_of(commit)
    if node is not None and node.kind.isupper():
        return None  # a flow's, however many steps it had
    first = trace.steps_of(frame=commit.frame)[0]
    names = {op.key[1] for op in first.ops if len(op.key) == 2}
    inner = first.node in (ONE_OF_THEM, JUDGES, LOADS) or bool(
        names & {"slotComposed", "matchedInstructions"}
    )
    if not inner and BEGINS not in names and "roundAt" not in names:
        return None
    how = commit.facts.get("how", "completed")
    if how in ("completed", "stopped") or BEGINS not in names:
        return ""
    phrase = "run_cancelled" if how == "cancelled" else "run_failed"
    return say(phrase, flow=commit.flow, why=commit.facts.get("reason") or how)


# ------------------------------------------------------------------ context


def _outer(commit: Commit, say: Wording) -> str | None:
    """A mounted part of the loop: its own steps are told beneath it, or in its place."""
    if commit.phase == "answered" and commit.kind == "mount":
        return ""
    if commit.to.startswith("call "):
        if commit.node in SLOTS:
            return say("worked_out", slots=say(SLOTS[commit.node]))
        return say("calls_made" if commit.node == "tool-calls" else "judged")
    return None


def _context(commit: Commit, say: Wording) -> str:
    decision = commit.decision
    assert decision is not None, "asked only for a commit with a decision"
    if not decision.selected:
        return say("handed_as_before")
    slots = say.listed(say(SLOTS[name]) if name in SLOTS else name for name in decision.selected)
    chosen = [one for one in decision.conditions if one.result]
    reasons = ", ".join(dict.fromkeys(one.text for one in chosen))
    return say("worked_out_as", slots=slots, reasons=reasons)


def _instructions(commit: Commit, say: Wording) -> str:
    rules = [raw(one) for one in raw(commit.facts.get("instructions")) or ()]
    if not rules:
        return say("no_instruction")
    told = [_verdict(one, "applies", say) for one in rules[:MOST_RULES]]
    return " ".join(told) + _more(len(rules) - MOST_RULES, "instructions", say)


def _verdict(rule: Mapping[str, Any], verb: str, say: Wording) -> str:
    """A line of the log about a rule, in words; `verb` is `applies` or `fired`."""
    name, read = rule["id"], _seen(rule.get("read"))
    match rule["outcome"]:
        case "fired":
            return say(f"rule_{verb}", rule=name, read=read)
        case "raised":
            error = ": ".join(filter(None, (rule.get("error_name"), rule.get("error"))))
            phrase = f"rule_{verb}_raised" if rule["fired"] else "rule_skipped"
            return say(phrase, rule=name, error=error, read=read)
        case "dropped":
            part = str(rule.get("part") or "rest").replace("_", "-")
            return say("rule_part", rule=name, part=part, error=rule.get("error"))
        case _:
            return say(f"rule_{verb}_not", rule=name, read=read)


def _seen(read: Any) -> str:
    pairs = [raw(one) for one in raw(read) or ()][:MOST_PIECES]
    shown = ", ".join(f"{path} = {brief(value)}" for path, value in pairs)
    return f" ({shown})" if shown else ""


def _slot(written: Mapping[str, Op], say: Wording) -> str:
    noted: Any = raw(written["slotComposed"].value)
    if not isinstance(noted, dict):
        return ""
    slot = str(noted.get("slot"))
    if noted.get("unchanged"):
        return say(f"as_before_{slot}") if say.has(f"as_before_{slot}") else ""
    told = {"system-prompt": _prompt, "messages": _messages, "tools": _tools}.get(slot)
    text = told(noted, written, say) if told is not None else ""
    skipped = [raw(one) for one in raw(noted.get("skipped")) or ()]
    parts = [say("left_out_as", name=name, why=why) for name, why in skipped[:MOST_PIECES]]
    left = "; ".join(parts)
    return f"{text} {left[:1].upper()}{left[1:]}." if left else text


def _records(written: Mapping[str, Op], name: str) -> list[dict[str, Any]]:
    value: Any = raw(written[name].value) if name in written else ()
    listed: list[Any] = value if isinstance(value, list) else []
    return [one for one in map(raw, listed) if isinstance(one, dict)]


def _prompt(noted: Mapping[str, Any], written: Mapping[str, Op], say: Wording) -> str:
    pieces = _records(written, "systemPromptInjections")
    if not pieces:
        return say("no_prompt")
    shown = [f"{quoted(str(one['contentSummary']))} ({one['reason']})" for one in pieces]
    more = _more(len(shown) - MOST_PIECES, "pieces", say)
    return say("prompt", pieces=", ".join(shown[:MOST_PIECES])) + more


def _messages(noted: Mapping[str, Any], written: Mapping[str, Op], say: Wording) -> str:
    sources: Any = raw(noted.get("sources")) or {}
    tallies = {name: int(raw(tally)[0]) for name, tally in sources.items()}
    parts = [
        say(f"of_{name}" if say.has(f"of_{name}") else "of_other", n=number, name=name)
        for name, number in tallies.items()
        if number
    ]
    messages = say.count("messages", sum(tallies.values()))
    told = say("messages_of", messages=messages, sources=", ".join(parts))
    if not parts:
        told = say("no_message")
    dropped = int(noted.get("dropped") or 0)
    if dropped:
        why = f" ({noted['ordering']})" if noted.get("ordering") else ""
        told += " " + say.count("dropped", dropped, why=why)
    return told


def _tools(noted: Mapping[str, Any], written: Mapping[str, Op], say: Wording) -> str:
    known = "resolvedTools" in written
    return say("offered", tools=raw(written["resolvedTools"].value) if known else say("slot_tools"))


# ------------------------------------------------------------------ calls


def _answered(commit: Commit, say: Wording) -> str:
    answered = commit.answered
    assert answered is not None, "asked only for a commit with an answer"
    if answered.error:
        code = answered.facts.get("code")
        return say("model_failed", why=f"{f'[{code}] ' if code else ''}{answered.error}")
    value: Any = raw(answered.value)
    fields: Mapping[str, Any] = value if isinstance(value, dict) else {"content": value}
    calls = [raw(one) for one in raw(fields.get("tool_calls")) or ()]
    name = say("model_named", name=fields["model"]) if fields.get("model") else say("model")
    text = quoted(str(fields["content"])) if fields.get("content") else ""
    texts = [call_text(str(one.get("name")), one.get("arguments"), say) for one in calls]
    wanted = ", ".join(texts[:MOST_CALLS])
    if len(texts) > MOST_CALLS:
        wanted = say("and_more", first=wanted, n=len(texts) - MOST_CALLS)
    phrase = "model_said_wants" if text and wanted else "model_wants" if wanted else "model_said"
    used = _used(fields.get("usage"), answered.facts.get("latencyMs"), say)
    phrase = phrase if text or wanted else "model_nothing"
    return say(phrase, model=name, text=text, calls=wanted, used=used)


def _used(usage: Any, latency: Any, say: Wording) -> str:
    tokens: Any = raw(usage)
    parts: list[str] = []
    if isinstance(tokens, dict):
        numbers = (tokens.get("input_tokens") or 0, tokens.get("output_tokens") or 0)
        parts.append(say("tokens", sent=f"{numbers[0]:,}", got=f"{numbers[1]:,}"))
    if isinstance(latency, int | float) and latency:  # else it is masked
        parts.append(f"{round(float(latency)):,} ms")
    return f" ({', '.join(parts)})" if parts else ""


def _waits(commit: Commit, say: Wording) -> str:
    """The first call of a round is on its way."""
    asked = commit.asked
    assert asked is not None, "asked only for a commit that asks"
    if asked.kind == "user":
        question: Any = raw(asked.args)
        text = question.get("question") if isinstance(question, dict) else question
        return say("asked_person", text=quoted(str(text)))
    return say("called_unanswered", call=call_text(asked.name, asked.args, say))


def _settled(trace: Trace, commit: Commit, say: Wording) -> str:
    calls = [raw(one) for one in raw(commit.facts.get("calls")) or ()]
    wanted = _wanted(trace, commit)
    results = {
        str(one.get("tool_call_id")): str(one.get("content"))
        for one in (raw(op.value) for op in commit.ops)
        if isinstance(one, dict) and one.get("role") == "tool"
    }
    rules = {
        raw(one).get("callId"): raw(one) for one in raw(commit.facts.get("instructions")) or ()
    }
    told: list[str] = []
    for made in calls[:MOST_CALLS]:
        call_id = str(made["callId"])
        call = call_text(str(made["tool"]), wanted.get(call_id), say)
        phrase = "call_failed" if made["error"] else "call_gave"
        used = _used(None, made.get("latencyMs"), say)
        result = results.get(call_id, "")
        if call_id in rules:
            added = str(rules[call_id].get("added") or "")
            result = result.removesuffix(added).rstrip("\n") if added else result
        told.append(say(phrase, call=call, text=quoted(result), used=used))
        if call_id in rules:
            told += _fired(rules[call_id], say)
    more = _more(len(calls) - MOST_CALLS, "calls", say)
    asked = commit.asked
    if asked is not None and asked.kind == "user":
        told.append(_waits(commit, say))
    return " ".join(told) + more


def _wanted(trace: Trace, commit: Commit) -> dict[str, Any]:
    """The arguments of the calls of the newest reply, by their ids."""
    key = next((key for key in commit.reads if key[-1] == "parsedResponse"), None)
    parsed: Any = raw(trace.value_at(key, commit.seq).value) if key is not None else None
    calls: Any = raw(parsed.get("toolCalls")) if isinstance(parsed, dict) else None
    listed: list[Any] = [raw(one) for one in calls] if isinstance(calls, list) else []
    found = {str(one.get("id")): one.get("arguments") for one in listed}
    strict = [*(op.key for op in commit.ops), *commit.reads]
    key = next((key for key in strict if key[-1] == "strictCall"), None)
    call: Any = raw(trace.value_at(key, commit.seq).value) if key is not None else None
    if isinstance(call, dict):
        found[str(call.get("id"))] = call.get("arguments")
    return found


def _fired(rules: Mapping[str, Any], say: Wording) -> list[str]:
    """What the rules about one result came to, and what they offered."""
    log = [raw(one) for one in raw(rules.get("log")) or ()]
    told = [_verdict(one, "fired", say) for one in log[:MOST_RULES]]
    more = _more(len(log) - MOST_RULES, "rules", say).strip()
    if more:
        told.append(more)
    for one in map(raw, raw(rules.get("fired")) or ()):
        offered: Any = raw(one.get("follow_up"))
        if isinstance(offered, dict):
            call = call_text(str(offered["tool_id"]), offered["params"], say)
            told.append(say("offers_strictly" if offered.get("strict") else "offers", call=call))
    return told


EXPLAINED: Final = frozenset(
    {"messages", "toolMessages", "heldMessages", "promptInjections", "systemPrompt"}
)
"""What rules and pieces go into."""


def causes_in(commit: Commit, key: Key) -> tuple[str, ...]:
    """What a step of a loop tells besides values: which rules fired and which pieces it put in."""
    if commit.kind.isupper() or len(key) < 2 or key[1] not in EXPLAINED:
        return ()
    told: list[str] = []
    for one in map(raw, raw(commit.facts.get("instructions")) or ()):
        told += _fired(one, ENGLISH) if "log" in one else [_verdict(one, "applies", ENGLISH)]
    written = {str(op.key[1]): op for op in commit.ops if len(op.key) == 2}
    for piece in _records(written, "systemPromptInjections")[:MOST_PIECES]:
        told.append(f"{quoted(str(piece['contentSummary']))}: {piece['reason']}")
    return tuple(line.rstrip(".") for line in told)


def is_answer(commit: Commit) -> bool:
    """Whether a step is the one that says what a loop's answer is."""
    return {"result", "stopReason"} <= {op.key[1] for op in commit.ops if len(op.key) == 2}


# ------------------------------------------------------------------ the way


def _is_route(commit: Commit) -> bool:
    decision = commit.decision
    assert decision is not None, "asked only for a commit with a decision"
    return commit.kind == "decider" and any(
        one.label == "round limit reached" for one in decision.conditions
    )


def _routed(commit: Commit, say: Wording) -> str | None:
    """That the limit stopped the loop; the usual ways are told by what comes of them."""
    decision = commit.decision
    assert decision is not None, "asked only for a commit with a decision"
    if decision.label == "round limit reached":
        return say("limit_reached")
    return "" if decision.chosen in ("tool-calls", "final") else None


def _read(trace: Trace, commit: Commit, name: str, default: Any) -> Any:
    """What a step read under a name."""
    key = next((key for key in commit.reads if key[-1] == name), None)
    value = trace.value_at(key, commit.seq).value if key is not None else default
    return value if isinstance(value, int | float) else default


def _more(number: int, noun: str, say: Wording) -> str:
    return " " + say.count(f"more_{noun}", number) if number > 0 else ""
