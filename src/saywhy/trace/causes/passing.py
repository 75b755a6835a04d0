"""What a call hands over, and what speaks against it: too little, or one thing for another.

A call names for each argument where it is taken from. That is compared with the names alone: a
variable under another one's name, the end of something where its start is wanted, one variable in
two places; and with what the called flow declares: a parameter that was not handed over, so that
the value of an earlier call is found in its place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from saywhy.chart.commit import Commit
from saywhy.errors import CallerError
from saywhy.trace.causes.graph import Effect
from saywhy.trace.causes.origin import named
from saywhy.trace.trace import Trace
from saywhy.trace.words import OWN, name_of
from saywhy.values import Key

if TYPE_CHECKING:
    from saywhy.trace.causes.search import Search

_PATH: Final = r"\{\{\s*([\w$]+(?:\.[\w$]+)*)\s*\}\}"
_TOKEN: Final = r"[A-Z]?[a-z]+|[A-Z]+"
_FIRST: Final = {
    *("from", "start", "begin", "since", "source", "first", "min", "old", "before", "base"),
}
_LAST: Final = {
    *("to", "until", "till", "end", "finish", "target", "last", "max", "new", "after", "back"),
}
"""Words for the one and the other end of something, in names of variables and arguments."""


def note_passing(search: Search, cause: int, commit: Commit) -> None:
    """Note what speaks against the arguments with which a step asked for a value."""
    args = _arguments(search.trace, commit)
    if not args:
        return
    if _crosswise(search.trace, commit, args):
        search.sign(cause, "crosswise", "an argument is filled with a variable of another name")
    turned = _turned(args)
    if turned:
        search.sign(cause, "crosswise", f"{turned[0]} is filled with {turned[1]}")
    twice = _twice(args)
    if twice:
        search.sign(cause, "handed twice", f"{twice} stands in two places of the call")


def _arguments(trace: Trace, commit: Commit) -> Mapping[str, Any]:
    node = trace.node_of(commit)
    args: Any = (node.spec.get("args") or node.spec.get("parameters")) if node is not None else None
    return args if isinstance(args, dict) else {}


def _crosswise(trace: Trace, commit: Commit, args: Mapping[str, Any]) -> bool:
    """Whether a call hands over, under one variable's name, another one."""
    asked = trace.newest(commit.frame, commit.node, commit.seq) if commit.asked is None else commit
    asked = asked or commit
    by_name: Mapping[str, set[str]] = {
        str(name): {str(key[-1]) for key in named(written, asked)} for name, written in args.items()
    }
    given = {name for names in by_name.values() for name in names}
    return any(names and name in given and name not in names for name, names in by_name.items())


def _paths(args: Mapping[str, Any]) -> dict[str, str]:
    """Argument → the path that alone fills it; others are left out."""
    found = {str(name): re.fullmatch(_PATH, str(written).strip()) for name, written in args.items()}
    return {name: match[1] for name, match in found.items() if match}


def _turned(args: Mapping[str, Any]) -> tuple[str, str] | None:
    """An argument for one end of something that is filled with the other end."""
    for name, path in _paths(args).items():
        wanted, given = _words(name), _words(path.rpartition(".")[2])
        if (wanted & _FIRST and given & _LAST) or (wanted & _LAST and given & _FIRST):
            return name, path
    return None


def _words(name: str) -> set[str]:
    return {token.lower() for token in re.findall(_TOKEN, name)}


def _twice(args: Mapping[str, Any]) -> str:
    """A variable that fills two arguments; empty for none."""
    paths = list(_paths(args).values())
    return next((path for path in paths if paths.count(path) > 1), "")


# ------------------------------------------------------------------ too little


def link_not_handed(search: Search, cause: int, key: Key, writer: Commit | None, at: int) -> None:
    """Link a value to the call of its reader's flow, where that should have handed it over.

    The flow declares the name, its call did not hand it over, and what was found in its place was
    handed to an earlier call, or was never set.
    """
    trace = search.trace
    if at not in trace or len(key) < 2:
        return
    reader = trace.commit(at)
    opener = trace.opener(reader)
    name = str(key[1])
    if opener is None or opener.flow in OWN or not _declares(trace, reader, name):
        return
    if name in opener.facts.get("parameters", ()) or name in opener.facts.get("defaults", ()):
        return
    if writer is not None:
        if writer.seq >= opener.seq or name not in writer.facts.get("parameters", ()):
            return
        search.sign(cause, "from an earlier call", f"the call of {reader.flow} hands over none")
    start = search.start(cause, opener, reader.flow)
    search.sign(start, "handed too little", f"it hands over no {name_of(key[:2])}")


def _declares(trace: Trace, reader: Commit, name: str) -> bool:
    if reader.chart not in trace.charts:
        return False
    return name in (trace.charts[reader.chart].meta.get("declared") or ())


def link_inner(search: Search, cause: int, key: Key, writer: Commit, at: int) -> None:
    """Link what a flow that was called since wrote under the same name, in a scope of its own.

    The value that is read stayed as it was; who looks for why looks there.
    """
    trace = search.trace
    if at not in trace or len(key) < 2 or key[0] in ("cargo", "input", "session", "turn"):
        return
    try:
        other = trace.key(str(key[1]), at - 1)[:2]
    except CallerError:  # no step has written a variable of this name
        return
    if other == key[:2]:
        return
    inner = trace.last_writer(other, at)
    if inner is None or inner.seq <= writer.seq or inner.flow in OWN:
        return
    if "parameters" not in inner.facts and _is_below(trace, inner, trace.commit(at).frame):
        found = search.written(Effect(cause, "beside"), other, inner, [])
        search.sign(found, "kept to itself", f"{inner.flow} has variables of its own")
        opener = trace.opener(inner)
        if found is not None and opener is not None:
            start = search.start(found, opener, inner.flow)
            search.sign(start, "kept to itself", f"{name_of(other)} stays inside")


def link_kept_back(search: Search, cause: int, gave: Commit) -> None:
    """Link what a flow found out last, where the agent that had it run is not told of it."""
    node = search.trace.node_of(gave)
    returns: Any = node.spec.get("returns") if node is not None else None
    opened = search.trace.commit(gave.seq - 1) if gave.seq - 1 in search.trace else None
    if not returns or opened is None or opened.flow in OWN:
        return
    for step in reversed(search.trace.steps_of(frame=opened.frame)):
        keys = [op.key for op in step.ops if _is_variable(op.key)]
        if step.seq < gave.seq and keys:
            if not any(str(key[1]) in returns for key in keys):
                search.sign(cause, "gave back too little", f"not {name_of(keys[0])}")
                search.written(Effect(cause, "beside"), keys[0][:2], step, [])
            return


def _is_variable(key: Key) -> bool:
    return len(key) > 1 and str(key[0]) not in ("session", "turn", "input", "globals", "args")


def _is_below(trace: Trace, commit: Commit, frame: int) -> bool:
    """Whether a frame called, by however many flows in between, that of a step."""
    opener = trace.opener(commit)
    for _ in range(20):
        if opener is None or opener.frame == frame:
            break
        opener = trace.opener(opener)
    return opener is not None and opener.frame == frame


__all__ = ["link_inner", "link_kept_back", "link_not_handed", "note_passing"]
