"""What an agent's model is handed, in sentences: which instructions apply, what each slot came to.

Where a part of it was masked, the sentence says that it is withheld: never that there is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from saywhy.chart.commit import Commit, Op
from saywhy.trace.phrases import Wording
from saywhy.trace.words import brief, is_withheld, quoted
from saywhy.values import raw

MOST_PIECES: Final = 4
MOST_RULES: Final = 4
OF_SYSTEM: Final = "base"
"""Where a system message of the history is from; a system prompt takes its place."""

SLOTS: Final = {
    "sf-system-prompt": "slot_system-prompt",
    "sf-messages": "slot_messages",
    "sf-tools": "slot_tools",
}
"""The parts of what a model is handed, with the phrases that name them."""
_WRITERS: Final = {
    "systemPrompt": "slot_system-prompt",
    "messagesSeen": "slot_messages",
    "toolDescriptions": "slot_tools",
}
"""The variables by which a slot is known where its own note is masked."""

Written = Mapping[str, Op]
"""What a step wrote, by the names of the variables."""


def context(commit: Commit, say: Wording) -> str:
    """Which slots are worked out anew, and why."""
    decision = commit.decision
    assert decision is not None, "asked only for a commit with a decision"
    if not decision.selected:
        return say("handed_as_before")
    slots = say.listed(say(SLOTS[name]) if name in SLOTS else name for name in decision.selected)
    chosen = [one for one in decision.conditions if one.result]
    reasons = ", ".join(dict.fromkeys(one.text for one in chosen))
    return say("worked_out_as", slots=slots, reasons=reasons)


# ------------------------------------------------------------------ rules


def instructions(commit: Commit, say: Wording) -> str:
    """Which instructions of the agent apply, and what their conditions looked at."""
    if is_withheld(commit.facts.get("instructions")):
        return say("instructions_withheld")
    rules = mappings(commit.facts.get("instructions"))
    if not rules:
        return say("no_instruction")
    told = [verdict(one, "applies", say) for one in rules[:MOST_RULES]]
    return " ".join(told) + more(len(rules) - MOST_RULES, "instructions", say)


def verdict(rule: Mapping[str, Any], verb: str, say: Wording) -> str:
    """A line of the log about a rule, in words; `verb` is `applies` or `fired`."""
    name, read = rule.get("id"), _seen(rule.get("read"))
    match rule.get("outcome"):
        case "fired":
            return say(f"rule_{verb}", rule=name, read=read)
        case "raised":
            error = ": ".join(filter(None, (rule.get("error_name"), rule.get("error"))))
            phrase = f"rule_{verb}_raised" if rule.get("fired") else "rule_skipped"
            return say(phrase, rule=name, error=error, read=read)
        case "dropped":
            part = str(rule.get("part") or "rest").replace("_", "-")
            return say("rule_part", rule=name, part=part, error=rule.get("error"))
        case _:
            return say(f"rule_{verb}_not", rule=name, read=read)


def _seen(read: Any) -> str:
    if is_withheld(read):
        return f" ({read})"
    found = [listed(one) for one in listed(read)]
    pairs = [one for one in found if len(one) == 2][:MOST_PIECES]
    shown = ", ".join(f"{path} = {brief(value)}" for path, value in pairs)
    return f" ({shown})" if shown else ""


# ------------------------------------------------------------------ slots


def slot(written: Written, say: Wording) -> str:
    """What one slot of the request came to."""
    noted: Any = raw(written["slotComposed"].value)
    if not isinstance(noted, dict):
        named = next((name for name in _WRITERS if name in written), None)
        return "" if named is None else say("slot_withheld", slots=say(_WRITERS[named]))
    name = str(noted.get("slot"))
    if noted.get("unchanged"):
        return say(f"as_before_{name}") if say.has(f"as_before_{name}") else ""
    told = {"system-prompt": _prompt, "messages": _messages, "tools": _tools}.get(name)
    text = told(noted, written, say) if told is not None else ""
    skipped = [raw(one) for one in listed(noted.get("skipped"))]
    parts = [say("left_out_as", name=name, why=why) for name, why in skipped[:MOST_PIECES]]
    left = "; ".join(parts)
    return f"{text} {left[:1].upper()}{left[1:]}." if left else text


def _prompt(noted: Mapping[str, Any], written: Written, say: Wording) -> str:
    pieces = pieces_in(written)
    if pieces is None:
        return say("slot_withheld", slots=say("slot_system-prompt"))
    if not pieces:
        return say("no_prompt")
    shown = [f"{quoted(str(one.get('contentSummary')))} ({one.get('reason')})" for one in pieces]
    left = more(len(shown) - MOST_PIECES, "pieces", say)
    return say("prompt", pieces=", ".join(shown[:MOST_PIECES])) + left


def pieces_in(written: Written) -> list[dict[str, Any]] | None:
    """The pieces that a system prompt was made of; None where they are masked."""
    op = written.get("systemPromptInjections")
    if op is None:
        return []
    return None if is_withheld(op.value) else mappings(op.value)


def _messages(noted: Mapping[str, Any], written: Written, say: Wording) -> str:
    sources: Any = raw(noted.get("sources")) or {}
    if is_withheld(sources):
        return say("slot_withheld", slots=say("slot_messages"))
    sources = sources if isinstance(sources, dict) else {}
    # What a model is handed has the system prompt apart, and so has a receipt of it.
    tallies = {name: _pieces(tally) for name, tally in sources.items() if name != OF_SYSTEM}
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


def _pieces(tally: Any) -> int:
    """How many pieces a source gave: the first of its figures."""
    first = listed(tally)[:1]
    return int(first[0]) if first and isinstance(first[0], int | float) else 0


def _tools(noted: Mapping[str, Any], written: Written, say: Wording) -> str:
    told = raw(written["resolvedTools"].value) if "resolvedTools" in written else None
    if told and not is_withheld(told):
        return say("offered", tools=told)
    op = written.get("toolDescriptions")
    if op is None or is_withheld(op.value):
        return say("offered", tools=say("slot_tools"))
    # What chose among them may be masked; what they are called never is.
    names = [str(one.get("name")) for one in mappings(op.value)]
    tools = say.count("tools", len(names))
    return say("offered_names" if names else "offered", tools=tools, names=", ".join(names))


# ------------------------------------------------------------------ parts


def listed(value: Any) -> list[Any]:
    """The items of a list; none where it is masked or missing."""
    found: Any = raw(value)
    return list(found) if isinstance(found, list | tuple) else []


def mappings(value: Any) -> list[dict[str, Any]]:
    """The objects in a list."""
    return [one for one in map(raw, listed(value)) if isinstance(one, dict)]


def more(number: int, noun: str, say: Wording) -> str:
    """That there are some that are not told."""
    return " " + say.count(f"more_{noun}", number) if number > 0 else ""
