"""What a record says of the words that started a flow, or did not: what there was to choose from,
what the model answered, what of it was dropped, and why the others were not taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from saywhy.chart.commit import Commit
from saywhy.errors import CallerError, did_you_mean
from saywhy.trace.phrases import ENGLISH, Wording
from saywhy.trace.words import OWN, ROUTING, count, quoted
from saywhy.values import Key, raw

if TYPE_CHECKING:
    from saywhy.trace.trace import Trace

FINDING: Final = frozenset({"detect_flow", "extract_parameters"})
"""What models are asked for the parameters that a flow starts with."""
FILLED: Final = "modelled"
"""The fact that names the arguments of a call which a model filled in."""
CHOICE: Final[Key] = ("session", "pendingChoice")
"""Where two flows stand, one of which the user is to pick."""
MOST_SHOWN: Final = 6
LONGEST_REPLY: Final = 160

_TASKS: Final = {
    "detect_flow": "which flow the words start",
    "extract_parameters": "which values the words give",
    "language": "which language the words are in",
    "intent_analysis": "whether the words want another flow",
    "voice": "what the spoken words mean",
    "correction": "whether the words correct an answer",
    "tool_args": "which arguments the words give",
}


# ------------------------------------------------------------------ what a model said


def model_text(commit: Commit) -> str:
    """What a model was asked, and what it answered."""
    answered = commit.answered
    assert answered is not None, "only a commit with an answer is asked for it"
    asked = _TASKS.get(answered.name)
    who = f"the model was asked {asked}" if asked else f"model {answered.name}".strip()
    joint = ", and " if asked else " "
    if answered.error:
        return f"{who}{joint}failed: {answered.error}"
    gave = _reply(answered.value)
    return f"{who}{joint}{'answered' if asked else 'gave'} {gave}"


def _reply(value: object) -> str:
    """What came back: JSON as it is, other texts in quotes."""
    text = raw(value)
    if not isinstance(text, str):
        return str(text)
    line = " ".join(text.split())
    if not line.startswith("{"):
        return quoted(line, LONGEST_REPLY)
    return line if len(line) <= LONGEST_REPLY else f"{line[: LONGEST_REPLY - 3]}..."


def filled_text(commit: Commit | None) -> str:
    """Behind a call: which of its arguments a model filled in."""
    names = [str(name) for name in (commit.facts.get(FILLED) or ())] if commit else []
    return f", where the model filled in {listed(names)}" if names else ""


def listed(names: list[str]) -> str:
    """`a, b and c`; the rest of a long list is counted."""
    if len(names) > MOST_SHOWN:
        return f"{', '.join(names[:MOST_SHOWN])} and {len(names) - MOST_SHOWN} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


# ------------------------------------------------------------------ how a flow was found


def found_by_model(trace: Trace, opener: Commit) -> Commit | None:
    """The commit that took in the parameters with which routing opened a flow; None without."""
    if opener.flow != ROUTING:
        return None
    for earlier in reversed(trace.steps_of(frame=opener.frame)):
        if earlier.seq >= opener.seq:
            continue
        if any(op.verb == "delete" and op.key == CHOICE for op in earlier.ops):
            asked = trace.last_writer(CHOICE, earlier.seq)  # an earlier turn asked which flow
            return asked if asked is not None and _has_values(asked) else None
        if _has_values(earlier):
            return earlier
    return None


def _has_values(commit: Commit) -> bool:
    answered = commit.answered
    if answered is None or answered.kind != "model":
        return False
    return answered.name in FINDING and not answered.error


def routing_details(commit: Commit) -> tuple[str, ...]:
    """What else there is to say of a decision of routing."""
    told: list[str] = []
    considered = [str(name) for name in commit.facts.get("considered") or ()]
    if commit.answered is not None and commit.answered.kind == "model":
        told.append(model_text(commit))
    taken = _taken(commit)
    others = [name for name in considered if name not in taken]
    if considered:
        told.append(f"{count(len(considered), 'flow')} to choose from: {listed(considered)}")
    if others and taken:
        who = "it was" if len(others) == 1 else "they were"
        chose = "the model" if commit.answered is not None else "the user"
        told.append(f"{listed(others)} not taken: {who} not what {chose} chose")
    told += [f"with a warning: {warning}" for warning in commit.warnings]
    return tuple(told)


def _taken(commit: Commit) -> tuple[str, ...]:
    decision = commit.decision
    if decision is None or decision.default:
        return ()
    return decision.selected or (decision.chosen,)


def told(commit: Commit, say: Wording = ENGLISH) -> str:
    """What routing decided by a model, or by the user's choice, in a sentence; else nothing."""
    decision = commit.decision
    if decision is None or decision.default:
        return ""
    if decision.selected:
        return say("fit_alike", flows=say.listed(decision.selected, MOST_SHOWN))
    if commit.answered is None or commit.answered.kind != "model":
        return ""
    number = len(commit.facts.get("considered") or ())
    if not number:
        return say("model_chose", flow=decision.chosen)
    return say("model_chose_from", flow=decision.chosen, flows=say.count("flows", number))


# ------------------------------------------------------------------ why not


def why_not(trace: Trace, flow: str, turn: int | None = None, flows: Sequence[str] = ()) -> str:
    """Why the user's words did not start this flow, in a sentence; of the newest turn unless told.

    Raises `CallerError` for a flow that is unknown to the record, was not to choose from and is
    none of `flows`.
    """
    number = trace.newest_turn if turn is None else turn
    commits = [one for one in trace.turn(number).commits if one.flow == ROUTING]
    opened = [str(one.facts["target"]) for one in commits if "target" in one.facts]
    _must_know(trace, flow, flows)
    if flow in opened:
        return f"{flow} was started in turn {number}"
    failed = next((one for one in reversed(commits) if one.error), None)
    if failed is not None:
        return f"no flow was found in turn {number}, and nothing was said: {_failed(failed)}"
    looked = [one for one in commits if one.kind in ("intent", "interruption") and one.decision]
    if not looked:
        return f"nobody looked for a flow in turn {number}: {_instead(commits)}"
    return "; ".join(dict.fromkeys(_not_taken(one, flow) for one in looked))


def _must_know(trace: Trace, flow: str, flows: Sequence[str]) -> None:
    considered = {str(name) for one in trace for name in one.facts.get("considered") or ()}
    # what carries a call of an agent is the program's own, like `(tool) refund`
    charts = {one.name for one in trace.charts if not one.name.startswith(("(tool) ", "(flow) "))}
    known = sorted((considered | charts | set(flows)) - OWN)
    if flow not in known:
        hint = did_you_mean(flow, known) or f"known are {listed(known)}"
        raise CallerError(f'this record knows no flow "{flow}"', hint=hint)


_INSTEAD: Final = {
    "command": "the words are a command",
    "receive": "the words answer the open question",
    "resume": "the words answer the open question",
    "start": "the host started one",
    "correction": "the words correct an earlier answer",
    "decide": "somebody decided about a call",
    "due": "a time was over",
    "switch": "the words take up an offer",
}


def _instead(commits: list[Commit]) -> str:
    last = commits[-1].kind if commits else ""
    return _INSTEAD.get(last, "nothing was said")


def _failed(commit: Commit) -> str:
    """What went wrong in routing, after which a turn has no reply."""
    answered = commit.answered
    if answered is None or answered.kind != "model":
        return commit.error
    return model_text(commit) if answered.error else f"{model_text(commit)}: {commit.error}"


def _not_taken(commit: Commit, flow: str) -> str:
    """Why one decision was for something else."""
    decision = commit.decision
    assert decision is not None, "only commits with a decision are asked"
    by_model = commit.answered is not None and commit.answered.kind == "model"
    considered = commit.facts.get("considered")
    if commit.kind == "interruption" and decision.default:
        unmet = [one for one in decision.conditions if not one.result]
        why = unmet[0].error or f"it was not so that {unmet[0].text}" if unmet else ""
        return f"the words were taken as an answer{f': {why}' * bool(why)}"
    if considered is not None and flow not in considered:
        return f"{flow} was not to choose from: {listed([str(one) for one in considered])} were"
    if decision.selected:
        return f"the user was asked to choose between {listed(list(decision.selected))}"
    if by_model and decision.default:
        return f"the model found that no flow fits: {model_text(commit)}"
    if by_model:
        return f"the model chose {decision.chosen}: {model_text(commit)}"
    if decision.default:
        return f"the words are no flow's name, and there is no model to ask for {flow}"
    tested = "; ".join(one.text for one in decision.conditions)
    return f"the words led to {decision.chosen}: {tested}"
