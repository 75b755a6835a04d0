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
from saywhy.trace.trace import Trace
from saywhy.trace.words import brief, call_text, count, quoted
from saywhy.values import Key, raw

MOST_PIECES: Final = 4
MOST_CALLS: Final = 6
MOST_RULES: Final = 4

MOUNTS: Final = frozenset({"sf-injection-engine", "sf-instructions-to-llm", "tool-calls"})
SLOTS: Final = {
    "sf-system-prompt": "the system prompt",
    "sf-messages": "the messages",
    "sf-tools": "the tools",
}
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


def told(trace: Trace, commit: Commit) -> str | None:
    """What a step of an agent did, empty where it need not be told; None for all other steps."""
    if commit.kind.isupper():
        return None
    if commit.phase == "closed":
        return _closed(trace, commit)
    written = {str(op.key[1]): op for op in commit.ops if len(op.key) == 2}
    if BEGINS in written:
        return _begun(trace, commit, written)
    if commit.kind == "mount" and ("message" in written or "steps" in written):
        return _part(commit, written)
    if commit.node in MOUNTS or commit.node in SLOTS:
        outer = _outer(trace, commit)
        if outer is not None:
            return outer
    if "matchedInstructions" in written or (
        commit.node == JUDGES and "instructions" in commit.facts
    ):  # judged again with the same outcome, nothing is written
        return "" if commit.phase == "answered" else _instructions(commit)
    if "slotComposed" in written:
        return _slot(commit, written)
    if commit.node in (LOADS, NOTES):
        return ""  # what came of it is what the messages are
    if "slotInputs" in written and commit.decision is not None:
        return _context(commit)
    if commit.kind == "selector" and "joined" in commit.facts:
        return "" if written.keys() & {"systemPrompt", "messagesSeen", "toolDescriptions"} else None
    return _model_and_tools(trace, commit, written)


def _model_and_tools(trace: Trace, commit: Commit, written: Mapping[str, Op]) -> str | None:
    asked, answered = commit.asked, commit.answered
    if answered is not None and (answered.kind, answered.name) == ("model", CHAT):
        return _answered(trace, commit)
    if "calls" in commit.facts:
        return _settled(trace, commit)
    if asked is not None and (asked.kind, asked.name) == ("model", CHAT):
        return "" if _came(trace, commit) else "Asked the model; no answer is recorded."
    if "roundAt" in written and asked is not None:
        return _waits(trace, commit)
    if "stopReason" in written and "result" in written:
        return _finished(trace, commit, written)
    if "stopReason" in written:
        return ""  # a sequence and the like: its answer is that of a part, which was told
    if "saved" in commit.facts:
        return f"Kept {count(int(commit.facts['saved']), 'message')} in the store."
    if commit.node == KEEPS and (answered is None or not answered.error):
        return "" if answered is None else "Kept the conversation in the store."
    if commit.decision is not None and _is_route(commit):
        return _routed(commit)
    if commit.node in (SIDE_BY_SIDE, ONE_OF_THEM):
        begins = commit.node == SIDE_BY_SIDE and commit.phase == "enter"
        return "Made the calls side by side." if begins else ""
    passes = written.keys() <= _PASSING and written.keys() - {"messages"}
    return "" if passes else None


# ------------------------------------------------------------------ beginning and end


def _begun(trace: Trace, commit: Commit, written: Mapping[str, Op]) -> str:
    said = quoted(str(raw(written[BEGINS].value)))
    if commit.depth and "strictCall" not in written:
        return f"Was handed {said}."
    before = raw(written["messages"].value) if "messages" in written else ()
    earlier = len(before) - 1 if isinstance(before, list) else 0
    told = [
        f"The user said {said}" + (f", after {count(earlier, 'message')}." if earlier > 0 else ".")
    ]
    strict: Any = raw(commit.facts.get("strict"))
    if isinstance(strict, dict) and not strict.get("matched"):
        told.append("The words do not fit the follow-up that was waiting.")
    call: Any = raw(written["strictCall"].value) if "strictCall" in written else None
    if isinstance(call, dict):
        made = call_text(str(call["name"]), call["arguments"])
        told.append(f"The follow-up {made} is carried out without the model.")
    return " ".join(told)


def _part(commit: Commit, written: Mapping[str, Op]) -> str:
    """An agent or the like inside of a sequence: what it was asked, and what it answered."""
    if "message" in written:
        return f"Asked {commit.node}: {quoted(str(raw(written['message'].value)))}."
    result = raw(written["result"].value) if "result" in written else None
    return f"{commit.node} answered {quoted(str(result))}." if result is not None else ""


def _finished(trace: Trace, commit: Commit, written: Mapping[str, Op]) -> str:
    rounds = _read(trace, commit, "loopCount", 0)
    after = f" after {count(int(rounds), 'round')} of tools" if rounds else ""
    if raw(written["stopReason"].value) == "max_iterations":
        why = "the limit of rounds was reached; the calls it still wanted were not made"
    else:
        why = "the model wanted no more tools" if rounds else "the model wanted no tool"
    return f"The run ended{after}, as {why}. Its answer is {quoted(str(written['result'].value))}."


def _closed(trace: Trace, commit: Commit) -> str | None:
    """The end of a frame: told where a run failed or was cancelled, else by its last step."""
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
    word = "was cancelled" if how == "cancelled" else "failed"
    return f"The run of {commit.flow} {word}: {commit.facts.get('reason') or how}."


# ------------------------------------------------------------------ context


def _outer(trace: Trace, commit: Commit) -> str | None:
    """A mounted part of the loop: its own steps are told beneath it, or in its place."""
    if commit.phase == "answered" and commit.kind == "mount":
        return ""
    if commit.to.startswith("call "):
        if commit.node in SLOTS:
            return f"Worked out {SLOTS[commit.node]}."
        return "Made the calls." if commit.node == "tool-calls" else "Judged the instructions."
    return None


def _context(commit: Commit) -> str:
    decision = commit.decision
    assert decision is not None, "asked only for a commit with a decision"
    if not decision.selected:
        return "What the model is handed stays as it is."
    names = [SLOTS.get(name, name) for name in decision.selected]
    chosen = [one for one in decision.conditions if one.result]
    reasons = list(dict.fromkeys(one.text for one in chosen))
    parts = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    return f"Worked out {parts}: {', '.join(reasons)}."


def _instructions(commit: Commit) -> str:
    rules = [raw(one) for one in raw(commit.facts.get("instructions")) or ()]
    if not rules:
        return "No instruction applies."
    return " ".join(_verdict(one, "applies") for one in rules[:MOST_RULES]) + _more(
        len(rules) - MOST_RULES, "instruction"
    )


def _verdict(rule: Mapping[str, Any], verb: str) -> str:
    """A line of the log about a rule, in words."""
    name, read = f'Instruction "{rule["id"]}"', _seen(rule.get("read"))
    match rule["outcome"]:
        case "fired":
            return f"{name} {verb}{read}."
        case "raised":
            error = ": ".join(filter(None, (rule.get("error_name"), rule.get("error"))))
            then = f"{verb} all the same, being one of safety" if rule["fired"] else "was skipped"
            return f"{name} {then}: its condition raised {error}{read}."
        case "dropped":
            part = str(rule.get("part") or "rest").replace("_", "-")
            return f"The {part} of i{name[1:]} was left out: {rule.get('error')}."
        case _:
            other = "does not apply" if verb == "applies" else "did not fire"
            return f"{name} {other}: its condition was false{read}."


def _seen(read: Any) -> str:
    pairs = [raw(one) for one in raw(read) or ()][:MOST_PIECES]
    shown = ", ".join(f"{path} = {brief(value)}" for path, value in pairs)
    return f" ({shown})" if shown else ""


def _slot(commit: Commit, written: Mapping[str, Op]) -> str:
    noted: Any = raw(written["slotComposed"].value)
    if not isinstance(noted, dict):
        return ""
    slot = str(noted.get("slot"))
    if noted.get("unchanged"):
        return f"{_NAMES.get(slot, slot)} as before."
    told = {"system-prompt": _prompt, "messages": _messages, "tools": _tools}.get(slot)
    text = told(commit, noted, written) if told is not None else ""
    skipped = [raw(one) for one in raw(noted.get("skipped")) or ()]
    left = "; ".join(f"{name} was left out: {why}" for name, why in skipped[:MOST_PIECES])
    return f"{text} {left[:1].upper()}{left[1:]}." if left else text


_NAMES: Final = {
    "system-prompt": "System prompt",
    "messages": "Messages",
    "tools": "Tools",
}


def _records(written: Mapping[str, Op], name: str) -> list[dict[str, Any]]:
    value: Any = raw(written[name].value) if name in written else ()
    listed: list[Any] = value if isinstance(value, list) else []
    return [one for one in map(raw, listed) if isinstance(one, dict)]


def _prompt(commit: Commit, noted: Mapping[str, Any], written: Mapping[str, Op]) -> str:
    pieces = _records(written, "systemPromptInjections")
    if not pieces:
        return "There is no system prompt."
    shown = [f"{quoted(str(one['contentSummary']))} ({one['reason']})" for one in pieces]
    more = _more(len(shown) - MOST_PIECES, "piece")
    return f"System prompt: {', '.join(shown[:MOST_PIECES])}.{more}"


_SOURCES: Final = {
    "user": "of the user",
    "assistant": "of the model",
    "tool-result": "of tools",
    "base": "of the system",
}


def _messages(commit: Commit, noted: Mapping[str, Any], written: Mapping[str, Op]) -> str:
    sources: Any = raw(noted.get("sources")) or {}
    tallies = {name: int(raw(tally)[0]) for name, tally in sources.items()}
    parts = [
        f"{number} {_SOURCES.get(name, f'from {name}')}"
        for name, number in tallies.items()
        if number
    ]
    told = (
        f"{count(sum(tallies.values()), 'message')}: {', '.join(parts)}."
        if parts
        else "No message."
    )
    dropped = int(noted.get("dropped") or 0)
    if dropped:
        told += f" {count(dropped, 'message')} left out" + (
            f" ({noted['ordering']})." if noted.get("ordering") else "."
        )
    return told


def _tools(commit: Commit, noted: Mapping[str, Any], written: Mapping[str, Op]) -> str:
    offered = str(raw(written["resolvedTools"].value)) if "resolvedTools" in written else "tools"
    return f"Offered {offered}."


# ------------------------------------------------------------------ calls


def _answered(trace: Trace, commit: Commit) -> str:
    answered = commit.answered
    assert answered is not None, "asked only for a commit with an answer"
    if answered.error:
        code = answered.facts.get("code")
        return f"The model gave no answer: {f'[{code}] ' if code else ''}{answered.error}."
    value: Any = raw(answered.value)
    fields: Mapping[str, Any] = value if isinstance(value, dict) else {"content": value}
    calls = [raw(one) for one in raw(fields.get("tool_calls")) or ()]
    name = f"The model {fields['model']}" if fields.get("model") else "The model"
    text = fields.get("content")
    said = [f"said {quoted(str(text))}"] if text else []
    wanted = [call_text(str(one.get("name")), one.get("arguments")) for one in calls]
    if wanted:
        more = f" and {len(wanted) - MOST_CALLS} more" if len(wanted) > MOST_CALLS else ""
        said.append(f"wants {', '.join(wanted[:MOST_CALLS])}{more}")
    used = _used(fields.get("usage"), answered.facts.get("latencyMs"))
    return f"{name} {' and '.join(said) or 'said nothing'}{used}."


def _used(usage: Any, latency: Any) -> str:
    tokens: Any = raw(usage)
    parts: list[str] = []
    if isinstance(tokens, dict):
        numbers = (tokens.get("input_tokens") or 0, tokens.get("output_tokens") or 0)
        parts.append(f"{numbers[0]:,} + {numbers[1]:,} tokens")
    if isinstance(latency, int | float) and latency:  # else it is masked
        parts.append(f"{round(float(latency)):,} ms")
    return f" ({', '.join(parts)})" if parts else ""


def _waits(trace: Trace, commit: Commit) -> str:
    """The first call of a round is on its way."""
    asked = commit.asked
    assert asked is not None, "asked only for a commit that asks"
    if asked.kind == "user":
        question: Any = raw(asked.args)
        text = question.get("question") if isinstance(question, dict) else question
        return f"Asked a person {quoted(str(text))}."
    if _came(trace, commit):
        return ""
    return f"Called {call_text(asked.name, asked.args)}; no answer is recorded."


def _came(trace: Trace, commit: Commit) -> bool:
    """Whether the answer to what a step asked is recorded: that tells both."""
    later = trace.next_of(commit)
    return later is not None and later.phase != "closed"


def _settled(trace: Trace, commit: Commit) -> str:
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
        call = call_text(str(made["tool"]), wanted.get(call_id))
        verb = "failed:" if made["error"] else "gave"
        used = _used(None, made.get("latencyMs"))
        result = results.get(call_id, "")
        if call_id in rules:
            added = str(rules[call_id].get("added") or "")
            result = result.removesuffix(added).rstrip("\n") if added else result
        told.append(f"{call} {verb} {quoted(result)}{used}.")
        if call_id in rules:
            told += _fired(rules[call_id])
    more = _more(len(calls) - MOST_CALLS, "call")
    asked = commit.asked
    if asked is not None and asked.kind == "user":
        told.append(_waits(trace, commit))
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


def _fired(rules: Mapping[str, Any]) -> list[str]:
    """What the rules about one result came to, and what they offered."""
    log = [raw(one) for one in raw(rules.get("log")) or ()]
    told = [_verdict(one, "fired") for one in log[:MOST_RULES]]
    more = _more(len(log) - MOST_RULES, "rule").strip()
    if more:
        told.append(more)
    for one in map(raw, raw(rules.get("fired")) or ()):
        offered: Any = raw(one.get("follow_up"))
        if isinstance(offered, dict):
            call = call_text(str(offered["tool_id"]), offered["params"])
            told.append(f"It offers {call}{', strictly' if offered.get('strict') else ''}.")
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
        told += _fired(one) if "log" in one else [_verdict(one, "applies")]
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


def _routed(commit: Commit) -> str | None:
    """That the limit stopped the loop; the usual ways are told by what comes of them."""
    decision = commit.decision
    assert decision is not None, "asked only for a commit with a decision"
    if decision.label == "round limit reached":
        return "The limit of rounds is reached, so no more calls are made."
    return "" if decision.chosen in ("tool-calls", "final") else None


def _read(trace: Trace, commit: Commit, name: str, default: Any) -> Any:
    """What a step read under a name."""
    key = next((key for key in commit.reads if key[-1] == name), None)
    value = trace.value_at(key, commit.seq).value if key is not None else default
    return value if isinstance(value, int | float) else default


def _more(number: int, noun: str) -> str:
    return f" And {count(number, f'more {noun}')}." if number > 0 else ""
