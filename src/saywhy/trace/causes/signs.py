"""General signs that a value may be the wrong one: it is old, it stood in, it came from elsewhere.

Each sign has a name, which `ranking` gives a weight. None of them proves anything: a value may be
old and right. They are told in the chain, so that whoever reads it can judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from saywhy.chart.commit import Commit
from saywhy.trace.causes.graph import Effect
from saywhy.trace.causes.origin import data_reads, named, origin_of
from saywhy.trace.causes.twins import ALIKE, alike
from saywhy.trace.trace import Trace
from saywhy.trace.words import OWN, brief, name_of
from saywhy.values import UNDEFINED, Key, raw, same

if TYPE_CHECKING:
    from saywhy.trace.causes.search import Search

MOST_READS: Final = 12
MOST_LATER: Final = 2
MOST_BETWEEN: Final = 300
_INSTEAD: Final = re.compile(r"\|\||\?\?|\?[^.?].*:")
"""In an expression: what is taken where something is missing, or a choice of two."""
_LITERAL: Final = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])")
_DIGITS: Final = re.compile(r"\d")
_TOKEN: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")


def note_signs(search: Search, cause: int | None, key: Key, commit: Commit, before: int) -> None:
    """Note what speaks against a value, as it was read just before a commit."""
    if cause is None:
        return
    trace = search.trace
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
    if _after_failure(trace, commit):
        search.sign(cause, "after a failure")
    if _crosswise(trace, commit):
        search.sign(cause, "crosswise", "an argument is filled with a variable of another name")
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
    for condition in decision.conditions:
        values = [raw(value) for _, value in condition.read]
        numbers = [each for each in map(_number, values) if each is not None]
        written = [float(each) for each in _LITERAL.findall(condition.text)]
        texts = [each for each in values if isinstance(each, str) and _number(each) is not None]
        if len(texts) > 1:
            search.sign(cause, "close call", f"compared as texts: {', '.join(map(brief, texts))}")
        elif set(numbers) & set(written) or len(set(numbers)) < len(numbers):
            search.sign(cause, "close call", f"on the border: `{condition.text}`")


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


def note_later(search: Search, cause: int, key: Key, number: int) -> None:
    """Link what the user said later and might have meant for this value."""
    trace = search.trace
    value = str(raw(search.of(cause).value))
    if not _DIGITS.search(value) and len(value.split()) > 3:
        return
    last = search.of(0).turn or trace.newest_turn
    found = 0
    for turn in trace.turns_until(last, 12):
        for message in trace.messages(turn):
            alike = _DIGITS.search(value) is None or _DIGITS.search(message.text) is not None
            if message.role != "user" or message.seq <= number or not alike:
                continue
            if not _corrects(message.text) or found >= MOST_LATER:
                continue
            found += 1
            later = search.words(Effect(cause, "beside"), message.seq)
            search.sign(later, "said later", f"said after {name_of(key)}, and did not change it")


_CORRECTING: Final = {
    *("no", "not", "sorry", "actually", "rather", "instead", "meant", "wrong", "make", "change"),
    *("wait", "correct", "nein", "nicht", "doch", "sondern", "falsch", "lieber", "statt"),
    *("perdón", "perdon", "mejor", "cambia", "corrige", "não", "nao", "desculpe", "melhor"),
    *("mude", "non", "pardon", "plutôt", "plutot", "désolé", "changez"),
}
"""Words with which people take something back, in the languages that flows are written in."""


def _corrects(text: str) -> bool:
    words = re.findall(r"\w+", text.lower())[:6]
    return any(word in _CORRECTING for word in words)


# ------------------------------------------------------------------ single signs


def _changed_since(trace: Trace, key: Key, commit: Commit, before: int) -> Iterator[Key]:
    """Of what a value was made of: what has another value by now."""
    if commit.flow in OWN:
        return
    for read in _made_of(trace, key, commit)[:MOST_READS]:
        if read[0] in ("input", "args", "globals", "session"):
            continue
        newer = trace.last_writer(read, before)
        if newer is None or newer.seq <= commit.seq:
            continue
        then, now = trace.value_at(read, commit.seq - 1), trace.value_at(read, before - 1)
        if then.value is not UNDEFINED and not same(then.value, now.value):
            yield read


def _made_of(trace: Trace, key: Key, commit: Commit) -> tuple[Key, ...]:
    answered = commit.answered
    if answered is not None and answered.kind == "tool":
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
    if not isinstance(source, str) or not _INSTEAD.search(source):
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


def _after_failure(trace: Trace, commit: Commit) -> bool:
    """Whether a step ran because another one failed."""
    node = trace.node_of(commit)
    for governor in node.under if node is not None else ():
        newest = trace.newest(commit.frame, governor, commit.seq)
        if newest is not None and newest.decision is None and newest.facts.get("failure"):
            return True
    return False


def _crosswise(trace: Trace, commit: Commit) -> bool:
    """Whether a call hands over, under one variable's name, another one."""
    node = trace.node_of(commit)
    args: Any = (node.spec.get("args") or node.spec.get("parameters")) if node is not None else None
    if node is None or not isinstance(args, dict):
        return False
    asked = commit if commit.asked is not None else trace.newest(commit.frame, node.id, commit.seq)
    if asked is None:
        return False
    by_name: Mapping[str, set[str]] = {
        str(name): {str(key[-1]) for key in named(written, asked)} for name, written in args.items()
    }
    given = {name for names in by_name.values() for name in names}
    return any(names and name in given and name not in names for name, names in by_name.items())


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
    own = {token.lower()[:4] for token in _TOKEN.findall(name)}
    other = {token.lower()[:4] for token in _TOKEN.findall(last)}
    return bool(own and other) and not own & other


__all__ = ["note_decision", "note_later", "note_signs", "unlike"]
