"""General signs that a value may be the wrong one: it is old, it stood in, it came from elsewhere.

Each sign has a name, which `ranking` gives a weight. None of them proves anything: a value may be
old and right. They are told in the chain, so that whoever reads it can judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from saywhy.chart.commit import Commit, Condition
from saywhy.errors import CallerError
from saywhy.trace.causes.forms import filled_keys
from saywhy.trace.causes.graph import Effect
from saywhy.trace.causes.origin import data_reads, origin_of
from saywhy.trace.causes.passing import link_inner, link_not_handed, note_passing
from saywhy.trace.causes.refusals import refusals
from saywhy.trace.causes.twins import ALIKE, alike
from saywhy.trace.causes.wording import measured
from saywhy.trace.trace import Trace
from saywhy.trace.words import OWN, brief, name_of
from saywhy.values import UNDEFINED, Key, iso_from_milliseconds, raw, same

if TYPE_CHECKING:
    from saywhy.trace.causes.search import Search

MOST_READS: Final = 12
MOST_LATER: Final = 2
MOST_SAID: Final = 12
"""So many turns are looked through for what may have been meant as a correction."""
DEEPEST: Final = 3
"""So many steps back it is asked whether what a value was made of has changed."""
MOST_BETWEEN: Final = 300
"""So many commits are looked through for what happened since."""
MOST_TURNS: Final = 8
_INSTEAD: Final = r"\|\||\?\?|\?[^.?].*:"
"""In an expression: what is taken where something is missing, or a choice of two."""
_QUOTED: Final = r"""["']([^"']+)["']"""
_LITERAL: Final = r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])"
_COMPARES: Final = r"[<>]=?|[=!]==?|\.(?:includes|startsWith|endsWith)\("
_TOKEN: Final = r"[A-Z]?[a-z]+|[A-Z]+|\d+"


def note_signs(search: Search, cause: int | None, key: Key, commit: Commit, before: int) -> None:
    """Note what speaks against a value, as it was read just before a commit."""
    if cause is None:
        return
    trace = search.trace
    namesake = _namesake(trace, key, commit, before)
    if namesake:
        told = f"another {name_of(key)} was set later, in {namesake}"
        search.sign(cause, "older than its namesake", told)
    better = _better_field(trace, key, commit)
    if better:
        search.sign(cause, "unlike", f"there is also {better}")
    link_skipped(search, cause, key, commit, before)
    for changed in _changed_since(trace, key, commit, before):
        told = f"{name_of(changed)} was changed after this, in turn {_turn(trace, changed, before)}"
        search.sign(cause, "older than what it was made of", told)
    if _stood_in(trace, key, commit):
        search.sign(
            cause, "stood in", "something it is made of was missing, so another took its place"
        )
    if commit.answered is not None and commit.answered.kind == "tool":
        other = _acted_since(trace, commit, before)
        if other:
            search.sign(cause, "before something else", f"since then {other} called a tool")
        if _stood_fast(trace, commit):
            search.sign(cause, "stood fast", "a correction was refused, as this cannot be undone")
    if _after_failure(trace, commit):
        search.sign(cause, "after a failure")
    _note_comparison(search, cause, key, commit)
    if _was_checked(trace, commit):
        search.sign(cause, "was checked")
    note_passing(search, cause, commit)
    link_not_handed(search, cause, key, commit, before)
    link_inner(search, cause, key, commit, before)
    if _from_another_flow(trace, key, commit, before):
        search.sign(cause, "from another flow", f"{commit.flow} left it there")


def note_decision(search: Search, cause: int | None, commit: Commit) -> None:
    """Note what speaks against a decision: a close call, texts compared as numbers, twins."""
    decision = commit.decision
    if cause is None or decision is None:
        return
    if commit.flow in OWN:
        twins = _twin_flows(search.trace, commit)
        if twins:
            search.sign(cause, "twin", f"{twins[0]} and {twins[1]} are described nearly alike")
        return
    if _passes_on(commit):
        search.sign(cause, "only passes on")
    for condition in decision.conditions:
        values = [raw(value) for _, value in condition.read]
        numbers = [each for each in map(_number, values) if each is not None]
        written = [float(each) for each in re.findall(_LITERAL, condition.text)]
        texts = [each for each in values if isinstance(each, str) and _number(each) is not None]
        if any(value in (UNDEFINED, None, "") for _, value in condition.read) or condition.error:
            search.sign(cause, "looked at nothing", "something that it compared was missing")
        if not condition.result and _nearly(condition, values):
            search.sign(cause, "close call", f"nearly so: `{condition.text}`")
        if len(texts) > 1:
            search.sign(cause, "close call", f"compared as texts: {', '.join(map(brief, texts))}")
        elif set(numbers) & set(written) or len(set(numbers)) < len(numbers):
            search.sign(cause, "close call", f"on the border: `{condition.text}`")


def _passes_on(commit: Commit) -> bool:
    """Whether all that a decision looked at was decided before: yes or no."""
    read = (
        [value for each in commit.decision.conditions for _, value in each.read]
        if commit.decision
        else []
    )
    return bool(read) and all(isinstance(value, bool) for value in read)


def _note_comparison(search: Search, cause: int, key: Key, commit: Commit) -> None:
    """A comparison that a step worked out is a decision, though a branch only passes it on."""
    trace = search.trace
    node = trace.node_of(commit)
    source = node.spec.get("value") if node is not None else None
    if commit.kind != "SET" or not isinstance(source, str) or not re.search(_COMPARES, source):
        return
    if isinstance(search.of(cause).value, bool):  # else a branch has something to compare itself
        search.sign(cause, "decides")
    read = origin_of(commit, key, node).reads
    values = [raw(trace.value_at(each, commit.seq - 1).value) for each in read]
    numbers = [each for each in map(_number, values) if each is not None]
    written = [float(each) for each in re.findall(_LITERAL, source)]
    texts = [each for each in values if isinstance(each, str) and _number(each) is not None]
    wanted = {each.strip().lower() for each in re.findall(_QUOTED, source)}
    near = [each for each in values if isinstance(each, str) and each.strip().lower() in wanted]
    if len(texts) > 1:
        search.sign(cause, "close call", f"compared as texts: {', '.join(map(brief, texts))}")
    elif set(numbers) & set(written) or len(set(numbers)) < len(numbers):
        search.sign(cause, "close call", f"on the border: `{source}`")
    elif any(each not in re.findall(_QUOTED, source) for each in near):
        search.sign(cause, "close call", f"nearly so: `{source}`")


def _was_checked(trace: Trace, commit: Commit) -> bool:
    """Whether the words of the user passed a check that an author had written for them."""
    node = trace.node_of(commit)
    checked = node is not None and bool(node.spec.get("inputValidation"))
    checked = checked and not refusals(commit)
    return checked and commit.answered is not None and commit.answered.kind == "user"


def _nearly(condition: Condition, values: list[Any]) -> bool:
    """Whether a text that was compared is the wanted one but for case, blanks or its kind."""
    wanted = {*re.findall(_QUOTED, condition.text), condition.text.rpartition(" is ")[2]}
    plain = {each.strip().lower() for each in wanted if each.strip()}
    return any(str(value).strip().lower() in plain for value in values if value is not None)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except ValueError:
        return None


def _twin_flows(trace: Trace, commit: Commit) -> tuple[str, str] | None:
    """The flow that routing chose and one to choose from that is described alike."""
    decision = commit.decision
    considered = [str(one) for one in raw(commit.facts.get("considered")) or ()]
    chosen = decision.chosen if decision is not None else ""
    own = _description(trace, chosen)
    for name in considered:
        if name != chosen and own and alike(own, _description(trace, name)) >= ALIKE:
            return chosen, name
    return None


def _description(trace: Trace, flow: str) -> str:
    chart = trace.charts.find(flow)
    return str(chart.meta.get("description") or "") if chart is not None else ""


def link_skipped(search: Search, cause: int, key: Key, commit: Commit, before: int) -> None:
    """Link the decisions for which a step that would have set the value anew did not run."""
    trace = search.trace
    if before not in trace or len(key) < 2:
        return
    reader = trace.commit(before)
    if reader.chart not in trace.charts or reader.flow in OWN:
        return
    name = f"cargo.{key[1]}" if key[0] == "cargo" else str(key[1])
    for node in trace.charts[reader.chart].nodes.values():
        if not node.under or str(node.spec.get("variable") or "") != name:
            continue
        decided = trace.newest(reader.frame, node.under[-1], before)
        ran = trace.newest(reader.frame, node.id, before)
        if decided is None or decided.decision is None or decided.seq < commit.seq:
            continue
        if ran is None or ran.seq < decided.seq:
            search.skipped(cause, decided)


def _namesake(trace: Trace, key: Key, commit: Commit, before: int) -> str:
    """The flow that has set a variable of the same name since, where it is another one."""
    if len(key) < 2 or commit.flow in OWN:
        return ""
    try:
        newest = trace.key(str(key[1]), before - 1)
    except CallerError:
        newest = key
    for other in (newest[:2], ("cargo", key[1])):
        if other == key[:2]:
            continue
        writer = trace.last_writer(other, before)
        if writer is None or writer.seq <= commit.seq:
            continue
        value, own = trace.value_at(other, before - 1).value, trace.value_at(key[:2], before - 1)
        if value is not UNDEFINED and not same(value, own.value):
            return writer.flow
    return ""


def _better_field(trace: Trace, key: Key, commit: Commit) -> str:
    """A field beside the one that was taken, which is called more like the variable."""
    reads = origin_of(commit, key, trace.node_of(commit)).reads
    if len(reads) != 1 or len(reads[0]) < 3 or len(key) < 2 or isinstance(reads[0][-1], int):
        return ""
    name, taken = str(key[-1]), str(reads[0][-1])
    if not unlike(name, taken):
        return ""
    parent = raw(trace.value_at(reads[0][:-1], commit.seq - 1).value)
    for field in parent if isinstance(parent, dict) else ():
        if field != taken and not unlike(name, str(field)):
            return name_of((*reads[0][:-1], field))
    return ""


def note_said(search: Search, cause: int, commit: Commit) -> None:
    """Note what speaks against a text: something it shows was missing, or something failed."""
    trace = search.trace
    node = trace.node_of(commit)
    text = str(node.spec.get("value") or "") if node is not None else ""
    missing = [
        key for key in data_reads(commit) if trace.value_at(key, commit.seq - 1).value is UNDEFINED
    ]
    if "{{" in text and re.search(_INSTEAD, text) and (missing or commit.warnings):
        search.sign(cause, "stood in", "something it shows was missing, so another took its place")
    if _after_failure(trace, commit):
        search.sign(cause, "after a failure")


def note_result(search: Search, cause: int | None, commit: Commit) -> None:
    """Note what speaks against an answer of a tool: it is old, or a newer one is there."""
    answered = commit.answered
    if cause is None or answered is None or answered.kind != "tool":
        return
    trace = search.trace
    for seq in range(trace.last, max(commit.seq, trace.last - MOST_BETWEEN), -1):
        other = trace.commit(seq).answered if seq in trace else None
        if other is not None and other.kind == "tool" and other.name == answered.name:
            if not same(other.value, answered.value):
                search.sign(cause, "older answer", f"{answered.name} has answered anew since")
            break
    days = [each for each in re.findall(_DATE, str(raw(answered.value))) if each]
    yesterday = (iso_from_milliseconds(commit.at - DAY_MS) or "")[:10] if commit.at else ""
    if days and max(days) < yesterday:
        search.sign(cause, "names an old date", f"the newest date in it is {max(days)}")


DAY_MS: Final = 86_400_000
_DATE: Final = r"\b(\d{4}-\d\d-\d\d)"


def corrects(text: str) -> bool:
    """Whether words sound as if they took something back."""
    words = re.findall(r"\w+", text.lower())[:6]
    return any(word in _CORRECTING for word in words)


def note_later(search: Search, cause: int, key: Key, number: int) -> None:
    """Link what the user said later and might have meant for this value."""
    for seq in [seq for seq in _correcting(search) if seq > number][:MOST_LATER]:
        later = search.words(Effect(cause, "beside"), seq)
        search.sign(later, "said later", f"said after {name_of(key)}, and did not change it")


def _correcting(search: Search) -> tuple[int, ...]:
    """What the user said of late that sounds like a correction and was not taken for one; found
    once for each search."""
    if search.correcting is None:
        trace = search.trace
        last = search.of(0).turn or trace.newest_turn
        search.correcting = tuple(
            message.seq
            for turn in trace.turns_until(last, MOST_SAID)
            for message in trace.messages(turn)
            if message.role == "user"
            and corrects(message.text)
            and not any(_took_back(trace, commit) for commit in trace.turn(turn).commits)
        )
    return search.correcting


def _took_back(trace: Trace, commit: Commit) -> bool:
    """Whether a step took what the user said for a correction: of an answer, or in a form."""
    return "correction" in commit.facts or any(
        trace.value_at(key, commit.seq - 1).value is not UNDEFINED for key in filled_keys(commit)
    )


_CORRECTING: Final = {
    *("no", "not", "sorry", "actually", "rather", "instead", "meant", "wrong", "make", "change"),
    *("wait", "correct", "nein", "nicht", "doch", "sondern", "falsch", "lieber", "statt"),
    *("perdón", "perdon", "mejor", "cambia", "corrige", "não", "nao", "desculpe", "melhor"),
    *("mude", "non", "pardon", "plutôt", "plutot", "désolé", "changez"),
}
"""Words with which people take something back, in the languages that flows are written in."""


# ------------------------------------------------------------------ single signs


def _changed_since(
    trace: Trace, key: Key, commit: Commit, before: int, deep: int = 0
) -> Iterator[Key]:
    """Of what a value was made of, however deep: what has another value by now."""
    if commit.flow in OWN:
        return
    for found in _made_of(trace, key, commit)[:MOST_READS]:
        if found[0] in ("input", "args", "globals", "session"):
            continue
        read = measured(trace, found, commit.seq)  # a list that grew in place has another length
        newer = trace.last_writer(read, before)
        if newer is None or newer.seq <= commit.seq:
            if newer is not None and deep < DEEPEST:
                yield from _changed_since(trace, read, newer, before, deep + 1)
            continue
        then, now = trace.value_at(read, commit.seq - 1), trace.value_at(read, before - 1)
        if then.value is not UNDEFINED and not same(then.value, now.value):
            yield read


def _made_of(trace: Trace, key: Key, commit: Commit) -> tuple[Key, ...]:
    answered = commit.answered
    if answered is not None and answered.kind in ("tool", "call"):
        asked = trace.newest(commit.frame, commit.node, commit.seq)
        return data_reads(asked) if asked is not None else ()
    return origin_of(commit, key, trace.node_of(commit)).reads


def _turn(trace: Trace, key: Key, before: int) -> int:
    newer = trace.last_writer(key, before)
    return newer.turn if newer is not None else 0


def _stood_in(trace: Trace, key: Key, commit: Commit) -> bool:
    """Whether an expression that offers another value was worked out with something missing."""
    node = trace.node_of(commit)
    source = node.spec.get("value") if node is not None else None
    if not isinstance(source, str) or not re.search(_INSTEAD, source):
        return False
    reads = origin_of(commit, key, node).reads
    return any(
        trace.value_at(read, commit.seq - 1).value in (UNDEFINED, None, "") for read in reads
    ) or bool(commit.warnings)


def _acted_since(trace: Trace, commit: Commit, before: int) -> str:
    """A flow that took another place in between and called a tool; empty for none."""
    for seq in range(before - 1, max(commit.seq, before - MOST_BETWEEN), -1):
        if seq not in trace:
            return ""
        other = trace.commit(seq)
        answered = other.answered
        if other.frame != commit.frame and answered is not None and answered.kind == "tool":
            return other.flow if other.flow != commit.flow else ""
    return ""


def _stood_fast(trace: Trace, commit: Commit) -> bool:
    """Whether a correction was refused since because a call was made that declares no undo."""
    answered = commit.answered
    name = answered.name if answered is not None else ""
    return any(
        str(other.facts.get("refused") or "").startswith(f"{name} was called with it")
        for turn in trace.turns_until(None, MOST_TURNS)
        if turn > commit.turn
        for other in trace.turn(turn).commits
        if other.kind == "correction"
    )


def _after_failure(trace: Trace, commit: Commit) -> bool:
    """Whether a step ran because another one failed."""
    node = trace.node_of(commit)
    for governor in node.under if node is not None else ():
        newest = trace.newest(commit.frame, governor, commit.seq)
        if newest is not None and newest.decision is None and newest.facts.get("failure"):
            return True
    return False


def _from_another_flow(trace: Trace, key: Key, commit: Commit, before: int) -> bool:
    """Whether a flow that has ended left the value in cargo, and one it did not call reads it."""
    if key[0] != "cargo" or commit.flow in OWN or before not in trace:
        return False
    reader = trace.commit(before)
    if reader.flow == commit.flow or reader.flow in OWN:
        return False
    frames = {reader.frame}
    opener = trace.opener(reader)
    for _ in range(20):
        if opener is None:
            break
        frames.add(opener.frame)
        opener = trace.opener(opener)
    above = trace.opener(commit)
    return commit.frame not in frames and (above is None or above.frame not in frames)


def unlike(name: str, source: str) -> bool:
    """Whether a field is taken from one whose name has nothing in common with its own."""
    last = re.split(r"[.\[\]]+", source.strip("$.[]'\"} "))[-1] or source
    own = {token.lower()[:4] for token in re.findall(_TOKEN, name)}
    other = {token.lower()[:4] for token in re.findall(_TOKEN, last)}
    return bool(own and other) and not own & other


__all__ = [
    "corrects",
    "link_skipped",
    "note_decision",
    "note_later",
    "note_result",
    "note_said",
    "note_signs",
    "unlike",
]
