"""Why something did not happen: a flow, a branch, a rule, a tool, an instruction.

What was considered and what failed is told with the values that were looked at, of one turn or of
the newest one in which the thing was considered. What caused those values is answered by `why`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import msgspec

from saywhy.chart.commit import Commit, Condition
from saywhy.errors import CallerError, did_you_mean
from saywhy.trace.causes import intents
from saywhy.trace.causes import wording as causes
from saywhy.trace.causes.decided import decided_in, decision_text, is_refusal
from saywhy.trace.causes.found import newest_first
from saywhy.trace.causes.handed import is_chat
from saywhy.trace.causes.handed_wording import chat_text, skipped_text, verdict_text
from saywhy.trace.causes.ref import answer_ref, decision_ref, step_path, step_ref
from saywhy.trace.causes.refusals import refusal_text, refusals
from saywhy.trace.causes.request import COMPOSED, Piece, pieces_in, request_of
from saywhy.trace.causes.twins import twins_of
from saywhy.trace.causes.wanted import asks_for, fate_of, wanted_in
from saywhy.trace.causes.why import Missing, why
from saywhy.trace.handed import listed, mappings
from saywhy.trace.trace import Trace
from saywhy.trace.words import OWN, chosen_text, name_of, pairs, source_text, step_of_flow
from saywhy.values import raw, tagged

KINDS: Final = ("flow", "branch", "rule", "tool", "instruction")
MOST_FOUND: Final = 6
SLOTS: Final = (
    ("systemPromptInjections", "the system prompt"),
    ("messagesInjections", "the messages"),
)
"""Where slots write down what was put into them."""
NOT_INJECTED: Final = ("base", "instructions")
"""Sources of pieces that are no injections; of instructions there are verdicts."""


class Considered(msgspec.Struct, frozen=True):
    """One time that it was, or could have been, considered."""

    sentence: str
    ref: str = ""
    commit: int = 0
    turn: int = 0
    conditions: tuple[Condition, ...] = ()
    """What was tested, with the values it read."""
    happened: bool = False
    """It did happen, this time."""

    def to_json(self) -> dict[str, Any]:
        """The same as plain data; what is empty is left out."""
        data: dict[str, Any] = {"sentence": self.sentence}
        for name in ("ref", "commit", "turn", "happened"):
            if getattr(self, name):
                data[name] = getattr(self, name)
        if self.conditions:
            data["conditions"] = [_condition(one) for one in self.conditions]
        return data


class WhyNot(msgspec.Struct, frozen=True):
    """The answer: what was asked, and each time it was considered, the newest first."""

    kind: str
    name: str
    considered: tuple[Considered, ...]

    def text(self) -> str:
        """The answer in lines: a sentence for each time, what failed beneath it."""
        lines: list[str] = []
        for one in self.considered:
            lines.append(one.sentence)
            lines += [f"  {_tested(each)}" for each in one.conditions]
        return "\n".join(lines)

    __str__ = text

    def to_json(self) -> dict[str, Any]:
        """The same as plain data."""
        considered = [one.to_json() for one in self.considered]
        return {"kind": self.kind, "name": self.name, "considered": considered}


def why_not(trace: Trace, what: str, turn: int | None = None, flows: Sequence[str] = ()) -> WhyNot:
    """Why `kind:name` did not happen, in a turn or lately: `flow:Pay`, `branch:Pay/check/dear`,
    `rule:ID`, `tool:NAME`, `instruction:ID`. A name alone is that of a flow. `flows` are those
    that there were, for a record keeps the charts of the ones alone that it met.

    Raises `CallerError` for a kind that is none, for a turn that the record does not have, and for
    what it has never heard of.
    """
    _must_have_turn(trace, turn)
    kind, colon, name = what.partition(":")
    if not colon or kind not in KINDS:
        if colon and " " not in kind:
            hint = did_you_mean(kind, KINDS) or f"kinds: {', '.join(KINDS)}"
            raise CallerError(f'why not does not know the kind "{kind}"', hint=hint)
        kind, name = "flow", what
    if kind == "flow":
        considered = _flow(trace, name, turn, flows)
    else:
        considered = _LOOKS[kind](trace, name, turn)
    return WhyNot(kind, name, tuple(considered)[:MOST_FOUND])


def _must_have_turn(trace: Trace, turn: int | None) -> None:
    turns = trace.turns
    if turn is not None and turn not in turns:
        hint = f"turns {turns[0]} to {turns[-1]} are recorded" if turns else "the trace is empty"
        raise CallerError(f"there is no turn {turn} in this record", hint=hint)


def _condition(one: Condition) -> dict[str, Any]:
    data: dict[str, Any] = {"text": one.text, "result": one.result}
    if one.read:
        data["read"] = [{"name": name_of(key), "value": tagged(value)} for key, value in one.read]
    if one.error:
        data["error"] = one.error
    return data


def _tested(one: Condition) -> str:
    values = f" ({pairs(one.read)})" if one.read else ""
    held = "held" if one.result else "counts as false" if one.error else "was false"
    return f"{source_text(one.text)} {held}{values}" + (f": {one.error}" if one.error else "")


# ------------------------------------------------------------------ flows


def _flow(trace: Trace, name: str, turn: int | None, flows: Sequence[str]) -> Iterator[Considered]:
    """Why the words did not start a flow, and whether something else did."""
    opener = _opener(trace, name, turn)
    if opener is not None:
        sentence = f"{causes.start_text(trace, opener, name)} in turn {opener.turn}"
        ref = step_ref(trace, opener)
        yield Considered(sentence, ref, opener.seq, opener.turn, happened=True)
        return
    try:
        told = intents.why_not(trace, name, turn, flows)
    except CallerError as error:
        others = [*(f"tool:{one}" for one in _tools(trace)), *_instruction_names(trace)]
        meant = [one for one in others if one.partition(":")[2] == name]
        if not meant:
            raise
        raise CallerError(str(error), hint=f'did you mean "{meant[0]}"?') from error
    number = trace.newest_turn if turn is None else turn
    started = told.startswith(f"{name} was started")
    yield Considered(told, "routing:intent", turn=number, happened=started)


def _opener(trace: Trace, name: str, turn: int | None) -> Commit | None:
    """The step, not one of routing, that started a flow in a turn, or in the newest one."""
    for commit in newest_first(trace, trace.newest_turn if turn is None else turn):
        if commit.facts.get("target") == name and commit.flow not in OWN:
            return commit
    return None


# ------------------------------------------------------------------ branches and rules


def _branch(trace: Trace, name: str, turn: int | None) -> Iterator[Considered]:
    """Decisions that could have taken a branch: by its step, its label, or its condition."""
    known: list[str] = []
    found = False
    for commit in newest_first(trace, turn):
        decision = commit.decision
        if decision is None or commit.flow in OWN or refusals(commit):
            continue
        branches = _branches(trace, commit)
        path = step_path(trace, commit)
        known += [f"{path}/{each}" for each in branches]
        step, _, branch = name.rpartition("/")
        named = [
            each
            for each, names in branches.items()
            if (name in names and not step) or (step in ("", path) and branch in names)
        ]
        if not named:
            continue
        found = True
        yield _not_taken(trace, commit, named[0])
    if not found:
        listed = list(dict.fromkeys(known))
        hint = did_you_mean(name, listed) or (f"branches: {', '.join(listed[:6])}" if known else "")
        raise CallerError(f'no decision of this record had a branch "{name}"', hint=hint)


def _branches(trace: Trace, commit: Commit) -> dict[str, set[str]]:
    """The branches of a step, each with the names it goes by."""
    node = trace.node_of(commit)
    spec: Mapping[str, Any] = node.spec if node is not None else {}
    found: dict[str, set[str]] = {}
    charts = trace.charts[commit.chart].nodes if commit.chart in trace.charts else {}
    for one in raw(spec.get("branches")) or ():
        branch, target = (str(each) for each in (raw(one) if isinstance(raw(one), list) else one))
        inner = charts.get(target)
        names = {branch, branch.removeprefix("condition:").strip(), target}
        found[branch] = names | ({inner.name} if inner is not None and inner.name else set())
    decision = commit.decision
    for condition in decision.conditions if decision is not None else ():
        names = {condition.branch, condition.text, condition.label} - {""}
        if condition.branch:
            found.setdefault(condition.branch, set()).update(names)
    return found


def _not_taken(trace: Trace, commit: Commit, branch: str) -> Considered:
    evidence = causes.evidence_of(trace, commit) or commit.decision
    assert evidence is not None, "asked of a commit with a decision"
    step = step_of_flow(commit, trace.node_of(commit))
    taken = branch in (evidence.chosen, *evidence.selected)
    tested = tuple(one for one in evidence.conditions if one.branch == branch)
    how = "was taken" if taken else "was not taken"
    why = "" if taken else f": {step} chose {chosen_text(evidence)}"
    if not taken and not tested:
        why += ", before it was looked at"
    sentence = f"{source_text(branch)} {how} in turn {commit.turn}{why}"
    ref = decision_ref(trace, commit)
    return Considered(sentence, ref, commit.seq, commit.turn, tested, taken)


def _rule(trace: Trace, name: str, turn: int | None) -> Iterator[Considered]:
    """Rules of validation, and rules about the results of tools."""
    found = False
    for commit in newest_first(trace, turn):
        for rule in refusals(commit):
            if name in (rule.text, rule.label, rule.branch):
                found = True
                sentence = f"it did refuse in turn {commit.turn}: {refusal_text(rule)}"
                ref = step_ref(trace, commit)
                yield Considered(sentence, ref, commit.seq, commit.turn, (rule,), happened=True)
        for one in _verdicts(commit, name):
            found = True
            yield one
    if not found:
        _unknown(trace, "rule", name, turn)


# ------------------------------------------------------------------ instructions


def _instruction(trace: Trace, name: str, turn: int | None) -> Iterator[Considered]:
    """Verdicts about an instruction, and whether a fact, a memory or the like was put in."""
    told: set[str] = set()
    for commit in newest_first(trace, turn):
        for one in (*_verdicts(commit, name), *_injected(commit, name)):
            if one.sentence not in told:
                told.add(one.sentence)
                yield one
    if not told:
        _unknown(trace, "instruction", name, turn)


def _injected(commit: Commit, name: str) -> Iterator[Considered]:
    """That something was put before the model in one step, or why it was not."""
    for piece, slot in _pieces(commit):
        if piece.id == name:
            sentence = f'it did happen: "{name}" was put into {slot} in turn {commit.turn}'
            ref = f"instruction:{name}"
            yield Considered(sentence, ref, commit.seq, commit.turn, happened=True)
    for skipped, reason, slot in _skipped(commit):
        if skipped == name:
            sentence = f"{skipped_text(name, reason, slot)} (turn {commit.turn})"
            yield Considered(sentence, f"instruction:{name}", commit.seq, commit.turn)


def _pieces(commit: Commit) -> Iterator[tuple[Piece, str]]:
    for written, slot in SLOTS:
        for piece in pieces_in(commit, written):
            if piece.source not in NOT_INJECTED:
                yield piece, slot


def _skipped(commit: Commit) -> Iterator[tuple[str, str, str]]:
    noted: Any = next((raw(op.value) for op in commit.ops if op.key[-1] == COMPOSED), None)
    written = {str(op.key[-1]) for op in commit.ops}
    slot = next((slot for name, slot in SLOTS if name in written), "the messages")
    for one in raw(noted.get("skipped")) or () if isinstance(noted, dict) else ():
        name, why = (str(each) for each in raw(one))
        yield name, why, slot


def _verdicts(commit: Commit, name: str) -> Iterator[Considered]:
    """What was found of an instruction or a rule in one step: it fired, or why not."""
    for told, about in _logs(commit):
        if told.get("id") != name and str(told.get("id")).rpartition("/")[2] != name:
            continue
        fired = bool(told.get("fired")) and told.get("outcome") != "dropped"
        where = f" {about}" if about else ""
        told_of = (
            f'instruction "{told.get("id")}"{where} in turn {commit.turn}: {verdict_text(told)}'
        )
        sentence = f"it did happen: {told_of}" if fired else told_of
        ref = f"instruction:{told['id']}"
        yield Considered(sentence, ref, commit.seq, commit.turn, happened=fired)
    for made in mappings(commit.facts.get("calls")):
        if name in listed(made.get("suppressed")):
            sentence = f'instruction "{name}" of {made.get("tool")} is suppressed by an override'
            yield Considered(sentence, f"instruction:{name}", commit.seq, commit.turn)


def _logs(commit: Commit) -> Iterator[tuple[Mapping[str, Any], str]]:
    for one in mappings(commit.facts.get("instructions")):
        if "log" in one:
            for verdict in mappings(one["log"]):
                yield verdict, f"about {one.get('tool')}"
        else:
            yield one, ""


def _unknown(trace: Trace, kind: str, name: str, turn: int | None) -> None:
    names = [one.partition(":")[2] for one in _instruction_names(trace, turn)]
    hint = did_you_mean(name, names) or (f"known are {', '.join(names[:8])}" if names else "")
    raise CallerError(f'this record knows no {kind} "{name}"', hint=hint)


def _instruction_names(trace: Trace, turn: int | None = None) -> list[str]:
    known: dict[str, None] = {}
    for commit in newest_first(trace, turn):
        names = [str(told.get("id")) for told, _ in _logs(commit)]
        names += [piece.id for piece, _ in _pieces(commit) if piece.id]
        names += [name for name, _, _ in _skipped(commit)]
        known |= dict.fromkeys(f"instruction:{one}" for one in names)
    return list(known)


# ------------------------------------------------------------------ tools


def _tools(trace: Trace) -> list[str]:
    """The tools that steps call, that were offered to a model, or that were called."""
    known: dict[str, None] = {}
    for chart in trace.charts:
        for node in chart.nodes.values() if chart.kind == "flow" else ():
            if isinstance(node.spec.get("tool"), str):
                known[node.spec["tool"]] = None
    for commit in newest_first(trace):
        if commit.asked is not None and commit.asked.kind == "tool":
            known[commit.asked.name] = None
        known |= dict.fromkeys(one.name for one in wanted_in(commit))
        asked = causes.asked_of(trace, commit) if is_chat(commit) else None
        for one in request_of(trace, asked).tools if asked is not None else ():
            known[str(one.get("name"))] = None
    return list(known)


def _tool(trace: Trace, name: str, turn: int | None) -> Iterator[Considered]:
    """Whether a tool was offered and not wanted, or the steps that call it did not run.

    Of a turn in which it was called no offer is told that came to nothing.
    """
    tools = _tools(trace)
    if name not in tools:
        hint = did_you_mean(name, tools) or (f"known are {', '.join(tools[:8])}" if tools else "")
        raise CallerError(f'this record knows no tool "{name}"', hint=hint)
    calls = list(_calls(trace, name, turn))
    yield from calls
    told = {one.turn for one in calls}
    offers = {one.sentence: one for one in _not_wanted(trace, name, turn) if one.turn not in told}
    yield from offers.values()
    if not calls and not offers:
        yield from _not_reached(trace, name, turn)


def _calls(trace: Trace, name: str, turn: int | None) -> Iterator[Considered]:
    """The newest call of a tool, and before it those that were wanted and not made."""
    for commit in newest_first(trace, turn):
        found = _call(trace, commit, name)
        if found is not None:
            yield found
        if found is not None and found.happened:
            return


def _call(trace: Trace, commit: Commit, name: str) -> Considered | None:
    """A call that a step made or waits to make, or that a model wanted; None for other steps."""
    turn, ref = commit.turn, step_ref(trace, commit)
    if asks_for(trace, commit, name):
        return Considered(f"{name} was called in turn {turn}", ref, commit.seq, turn, happened=True)
    asked = commit.asked
    if commit.kind == "CALL-TOOL" and asked is not None and asked.kind == "approval":
        why = _not_approved(trace, commit) if asked.name == name else ""
        return Considered(f"{name} was not called: {why}", ref, commit.seq, turn) if why else None
    call = next((one for one in wanted_in(commit) if one.name == name), None)
    if call is None:
        return None
    fate = fate_of(trace, call)
    ran = f": the flow {fate.flow} ran" if fate.flow else ""
    if fate.made:
        over = "" if fate.over else ", and that is not over"
        sentence = f"{name} was called in turn {turn}{ran}{over}"
    else:
        why = fate.told or "its run ended before that"
        wanted = f"the model wanted {name}" if call.of_model else f"{name} was to be carried out"
        sentence = f"{wanted} in turn {turn}, but it was not called: {why}"
    return Considered(sentence, answer_ref(commit), commit.seq, turn, happened=fate.made)


def _not_approved(trace: Trace, asked: Commit) -> str:
    """Why a call that somebody has to approve was not made; empty where it was."""
    after = trace.next_of(asked)
    if after is None:
        return f"it waits to be approved since turn {asked.turn}"
    decided = decided_in(after)
    return decision_text(decided) if decided is not None and is_refusal(after) else ""


def _not_reached(trace: Trace, name: str, turn: int | None) -> Iterator[Considered]:
    """Why the steps that call a tool did not run."""
    found = False
    with suppress(CallerError):
        for cause in why(trace, Missing(name, turn), deepest=3).causes[1:]:
            if cause.kind in ("missing", "decision"):
                found = True
                yield Considered(cause.sentence, cause.ref, cause.commit, cause.turn)
    if not found:
        where = "lately" if turn is None else f"in turn {turn}"
        what = f"{name} was not called {where}: no step that calls it ran, and no model was asked"
        yield Considered(what, f"tool:{name}", turn=turn or 0)


def _not_wanted(trace: Trace, name: str, turn: int | None) -> Iterator[Considered]:
    number = turn
    for commit in newest_first(trace, turn):
        if not is_chat(commit) or (number is not None and commit.turn != number):
            continue
        asked = causes.asked_of(trace, commit)
        if asked is None:
            continue
        number = commit.turn
        if any(one.name == name for one in wanted_in(commit)):
            continue
        tools = request_of(trace, asked).tools
        sentence = _offered(name, tools, chat_text(commit), commit.turn)
        if sentence:
            yield Considered(sentence, answer_ref(commit), commit.seq, commit.turn)


def _offered(name: str, tools: Sequence[Mapping[str, Any]], answer: str, turn: int) -> str:
    names = [str(one.get("name")) for one in tools]
    if name not in names:
        offered = ", ".join(names) or "no tool"
        return f"{name} was not offered in turn {turn}: offered were {offered}" if names else ""
    twins = [str(one.get("name")) for one in twins_of(name, tools)]
    twin = f"; {twins[0]} is described nearly alike" if twins else ""
    return f"{name} was offered in turn {turn}, but {answer}{twin}"


_LOOKS: Final[Mapping[str, Callable[[Trace, str, int | None], Iterator[Considered]]]] = {
    "branch": _branch,
    "rule": _rule,
    "tool": _tool,
    "instruction": _instruction,
}

__all__ = ["KINDS", "Considered", "WhyNot", "why_not"]
