"""Steps of an agent's loop in sentences: what the model was handed and why, and what it answered.

They are known by what they write and not by how a chart calls them, so that every form of the loop
is told alike, alone or inside of a flow. Steps that only pass things on are not told.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from saywhy.chart.commit import Commit, Op
from saywhy.models.provider import CHAT
from saywhy.trace import handed, rounds
from saywhy.trace.handed import SLOTS, mappings
from saywhy.trace.loops import BEGINS
from saywhy.trace.phrases import ENGLISH, Wording
from saywhy.trace.trace import Trace
from saywhy.trace.words import call_text, is_withheld, quoted
from saywhy.values import Key, raw

MOUNTS: Final = frozenset({"sf-injection-engine", "sf-instructions-to-llm", "tool-calls"})
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
        return "" if commit.phase == "answered" else handed.instructions(commit, say)
    if "slotComposed" in written:
        return handed.slot(written, say)
    if commit.node in (LOADS, NOTES):
        return ""  # what came of it is what the messages are
    if "slotInputs" in written and commit.decision is not None:
        return handed.context(commit, say)
    if commit.kind == "selector" and "joined" in commit.facts:
        return "" if written.keys() & {"systemPrompt", "messagesSeen", "toolDescriptions"} else None
    return _model_and_tools(trace, commit, written, say)


def _model_and_tools(
    trace: Trace, commit: Commit, written: Mapping[str, Op], say: Wording
) -> str | None:
    asked, answered = commit.asked, commit.answered
    if answered is not None and (answered.kind, answered.name) == ("model", CHAT):
        return rounds.answered(commit, say)
    if "calls" in commit.facts:
        return rounds.settled(trace, commit, say)
    if asked is not None and (asked.kind, asked.name) == ("model", CHAT):
        return say("model_unanswered")
    if "roundAt" in written and asked is not None:
        return rounds.waits(commit, say)
    if "stopReason" in written and "result" in written:
        return _finished(trace, commit, written, say)
    if "stopReason" in written:
        return ""  # a sequence and the like: its answer is that of a part, which was told
    if "saved" in commit.facts and not is_withheld(commit.facts["saved"]):
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


def _said_before(messages: list[Any]) -> int:
    """How many messages stand before the newest; the system prompt is none of them."""
    systems = [one for one in mappings(messages[:-1]) if one.get("role") == "system"]
    return len(messages) - 1 - len(systems)


def _begun(commit: Commit, written: Mapping[str, Op], say: Wording) -> str:
    said = quoted(str(raw(written[BEGINS].value)))
    before = raw(written["messages"].value) if "messages" in written else ()
    earlier = _said_before(before) if isinstance(before, list) else 0
    if commit.depth:
        told = [say("handed", text=said)]
    elif earlier > 0:
        told = [say("user_said_after", text=said, messages=say.count("messages", earlier))]
    else:
        told = [say("user_said", text=said)]
    strict: Any = raw(commit.facts.get("strict"))
    if isinstance(strict, dict) and not strict.get("matched"):
        told.append(say("follow_up_missed"))
    call: Any = raw(written["strictCall"].value) if "strictCall" in written else None
    if isinstance(call, dict):
        made = call_text(str(call["name"]), call["arguments"], say)
        told.append(say("follow_up_taken", call=made))
    elif is_withheld(call):
        told.append(say("follow_up_withheld"))
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
    made = _read(trace, commit, "loopCount", 0)
    after = say.count("after_rounds", made) if made else ""
    text = quoted(str(written["result"].value))
    why = raw(written["stopReason"].value)
    if why == "max_iterations":
        return say("run_limit", after=after, text=text)
    if made is None or is_withheld(why):
        return say("run_ended", after=after, text=text)
    return say("run_no_more" if made else "run_no_tool", after=after, text=text)


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


# ------------------------------------------------------------------ parts of the loop


def _outer(commit: Commit, say: Wording) -> str | None:
    """A mounted part of the loop: its own steps are told beneath it, or in its place."""
    if commit.phase == "answered" and commit.kind == "mount":
        return ""
    if commit.to.startswith("call "):
        if commit.node in SLOTS:
            return say("worked_out", slots=say(SLOTS[commit.node]))
        return say("calls_made" if commit.node == "tool-calls" else "judged")
    return None


EXPLAINED: Final = frozenset(
    {"messages", "toolMessages", "heldMessages", "promptInjections", "systemPrompt"}
)
"""What rules and pieces go into."""


def causes_in(commit: Commit, key: Key) -> tuple[str, ...]:
    """What a step of a loop tells besides values: which rules fired and which pieces it put in."""
    if commit.kind.isupper() or len(key) < 2 or key[1] not in EXPLAINED:
        return ()
    told: list[str] = []
    for one in mappings(commit.facts.get("instructions")):
        if "log" in one:
            told += rounds.fired(one, ENGLISH)
        else:
            told.append(handed.verdict(one, "applies", ENGLISH))
    written = {str(op.key[1]): op for op in commit.ops if len(op.key) == 2}
    for piece in (handed.pieces_in(written) or ())[: handed.MOST_PIECES]:
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


def _read(trace: Trace, commit: Commit, name: str, default: int) -> int | None:
    """The number that a step read under a name; None where it is masked."""
    key = next((key for key in commit.reads if key[-1] == name), None)
    value = trace.value_at(key, commit.seq).value if key is not None else default
    if is_withheld(value):
        return None
    return int(value) if isinstance(value, int | float) else default
