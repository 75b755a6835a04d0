"""One round of an agent, in sentences: what its model answered, what calls gave, which rules fired.

What was masked is shown as that. Names of tools and rules are always told, and so is that a call
was made, even where neither its arguments nor its result may be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from saywhy.chart.commit import Commit
from saywhy.trace.handed import MOST_RULES, mappings, more, verdict
from saywhy.trace.masking.redact import MARK, REDACTED_TAG
from saywhy.trace.phrases import Wording
from saywhy.trace.trace import Trace
from saywhy.trace.words import call_text, is_withheld, quoted
from saywhy.values import raw

MOST_CALLS: Final = 6


def answered(commit: Commit, say: Wording) -> str:
    """What the model said and wants."""
    back = commit.answered
    assert back is not None, "asked only for a commit with an answer"
    if back.error:
        code = back.facts.get("code")
        return say("model_failed", why=f"{f'[{code}] ' if code else ''}{back.error}")
    value: Any = raw(back.value)
    fields: Mapping[str, Any] = value if isinstance(value, dict) else {"content": value}
    name = say("model_named", name=fields["model"]) if fields.get("model") else say("model")
    text = quoted(str(fields["content"])) if fields.get("content") else ""
    texts = [
        call_text(str(one.get("name")), one.get("arguments"), say)
        for one in mappings(fields.get("tool_calls"))
    ]
    wanted = ", ".join(texts[:MOST_CALLS])
    if len(texts) > MOST_CALLS:
        wanted = say("and_more", first=wanted, n=len(texts) - MOST_CALLS)
    phrase = "model_said_wants" if text and wanted else "model_wants" if wanted else "model_said"
    if not wanted and _hides_calls(fields):
        phrase = "model_said_withheld" if text else "model_withheld"
    elif not text and not wanted:
        phrase = "model_nothing"
    used = _used(fields.get("usage"), back.facts.get("latencyMs"), say)
    return say(phrase, model=name, text=text, calls=wanted, used=used)


def _hides_calls(fields: Mapping[str, Any]) -> bool:
    """Whether the calls that a model wanted may stand behind a mark."""
    return is_withheld(fields.get("tool_calls")) or any(MARK in name for name in fields)


def _used(usage: Any, latency: Any, say: Wording) -> str:
    tokens: Any = raw(usage)
    parts: list[str] = []
    if isinstance(tokens, dict):
        sent, got = tokens.get("input_tokens") or 0, tokens.get("output_tokens") or 0
        if isinstance(sent, int | float) and isinstance(got, int | float):  # else masked
            parts.append(say("tokens", sent=f"{sent:,}", got=f"{got:,}"))
    if isinstance(latency, int | float) and latency:  # else it is masked
        parts.append(f"{round(float(latency)):,} ms")
    return f" ({', '.join(parts)})" if parts else ""


def waits(commit: Commit, say: Wording) -> str:
    """The first call of a round is on its way."""
    asked = commit.asked
    assert asked is not None, "asked only for a commit that asks"
    if asked.kind == "user":
        question: Any = raw(asked.args)
        text = question.get("question") if isinstance(question, dict) else question
        return say("asked_person", text=quoted(str(text)))
    return say("called_unanswered", call=call_text(asked.name, asked.args, say))


# ------------------------------------------------------------------ results


def settled(trace: Trace, commit: Commit, say: Wording) -> str:
    """What the calls of a round gave, each with what the rules about it came to."""
    calls = mappings(commit.facts.get("calls"))
    unknown = MARK if REDACTED_TAG in commit.tags else None
    wanted, results = _wanted(trace, commit), _results(commit)
    rules, apart = _rules(commit, calls)
    told: list[str] = []
    for number, made in enumerate(calls[:MOST_CALLS]):
        asked = _call_of(made, wanted)
        given = unknown if asked is None else asked.get("arguments")
        call = call_text(str(made.get("tool")), given, say)
        phrase = "call_failed" if raw(made.get("error")) is True else "call_gave"
        result = results.get(str(made.get("callId")), unknown or "")
        about = rules.get(number)
        if about is not None:
            added = str(about.get("added") or "")
            result = result.removesuffix(added).rstrip("\n") if added else result
        used = _used(None, made.get("latencyMs"), say)
        told.append(say(phrase, call=call, text=quoted(result), used=used))
        told += fired(about, say) if about is not None else []
    told += [sentence for about in apart for sentence in fired(about, say)]
    left = more(len(calls) - MOST_CALLS, "calls", say)
    if commit.asked is not None and commit.asked.kind == "user":
        told.append(waits(commit, say))
    return " ".join(told) + left


def _results(commit: Commit) -> dict[str, str]:
    """What the model is told of each call, by the call's id."""
    return {
        str(one.get("tool_call_id")): str(one.get("content"))
        for one in (raw(op.value) for op in commit.ops)
        if isinstance(one, dict) and one.get("role") == "tool"
    }


def _rules(
    commit: Commit, calls: list[dict[str, Any]]
) -> tuple[dict[int, dict[str, Any]], list[dict[str, Any]]]:
    """What rules came to, by the place of the call, and what no call can be told for.

    The id of a call may be masked. Then its tool tells which one it is, if that was called once.
    """
    times = Counter(str(made.get("tool")) for made in calls)
    found: dict[int, dict[str, Any]] = {}
    apart: list[dict[str, Any]] = []
    for about in mappings(commit.facts.get("instructions")):
        call_id = about.get("callId")
        by, name = ("tool", about.get("tool")) if is_withheld(call_id) else ("callId", call_id)
        at = next((at for at, made in enumerate(calls) if made.get(by) == name), None)
        if at is None or (by == "tool" and times[str(name)] > 1):
            apart.append(about)
        else:
            found[at] = about
    return found, apart


def _wanted(trace: Trace, commit: Commit) -> list[dict[str, Any]]:
    """The calls of the newest reply, as the model wanted them; none where they are masked."""
    key = next((key for key in commit.reads if key[-1] == "parsedResponse"), None)
    parsed: Any = raw(trace.value_at(key, commit.seq).value) if key is not None else None
    calls = mappings(parsed.get("toolCalls")) if isinstance(parsed, dict) else []
    strict = [*(op.key for op in commit.ops), *commit.reads]
    key = next((key for key in strict if key[-1] == "strictCall"), None)
    call: Any = raw(trace.value_at(key, commit.seq).value) if key is not None else None
    return [*calls, call] if isinstance(call, dict) else calls


def _call_of(made: Mapping[str, Any], wanted: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The call that was made, as it was wanted: by its id, or by its tool if that is masked."""
    call_id = made.get("callId")
    if is_withheld(call_id):
        found = [one for one in wanted if one.get("name") == made.get("tool")]
        return found[0] if len(found) == 1 else None
    return next((one for one in reversed(wanted) if one.get("id") == call_id), None)


def fired(rules: Mapping[str, Any], say: Wording) -> list[str]:
    """What the rules about one result came to, and what they offered."""
    log = mappings(rules.get("log"))
    told = [verdict(one, "fired", say) for one in log[:MOST_RULES]]
    left = more(len(log) - MOST_RULES, "rules", say).strip()
    if left:
        told.append(left)
    for one in mappings(rules.get("fired")):
        offered: Any = raw(one.get("follow_up"))
        if isinstance(offered, dict):
            call = call_text(str(offered["tool_id"]), offered["params"], say)
            told.append(say("offers_strictly" if offered.get("strict") else "offers", call=call))
    return told


__all__ = ["answered", "fired", "settled", "waits"]
