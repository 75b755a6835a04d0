"""Targets that have to be looked for: an argument of a call, a decision, an error, what is missing.

The newest turns are looked through, newest first, and no more of them than `MOST_TURNS`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from saywhy.chart.commit import Commit
from saywhy.errors import CallerError, did_you_mean
from saywhy.trace.causes import wording as causes
from saywhy.trace.causes.absent import absent
from saywhy.trace.causes.absent_wording import ran as ran_last
from saywhy.trace.causes.absent_wording import rests
from saywhy.trace.causes.chain import Cause
from saywhy.trace.causes.decided import arguments_in
from saywhy.trace.causes.graph import Effect
from saywhy.trace.causes.intents import FILLED
from saywhy.trace.causes.offers import STRICT_CALL, link_offer
from saywhy.trace.causes.origin import data_reads, named
from saywhy.trace.causes.ref import step_ref
from saywhy.trace.causes.targets import Argument, Decided, Failure, Missing
from saywhy.trace.causes.wanted import wanted_in
from saywhy.trace.reply import reply_of
from saywhy.trace.trace import Trace
from saywhy.trace.words import OWN, brief, call_text, step_of_flow
from saywhy.values import UNDEFINED, raw

if TYPE_CHECKING:
    from saywhy.trace.causes.search import Search

MOST_TURNS: Final = 50
ASKING: Final = frozenset({"tool", "approval", "settle"})


def newest_first(trace: Trace, turn: int | None = None) -> Iterator[Commit]:
    """The steps of a turn, or of the newest turns, the newest first."""
    turns = [number for number in trace.turns if number > 0] if turn is None else [turn]
    for number in reversed(turns[-MOST_TURNS:]):
        yield from reversed(trace.turn(number).commits)


# ------------------------------------------------------------------ arguments


def argument(search: Search, target: Argument) -> None:
    """An argument of the newest call of a tool. Raises `CallerError` where there is none."""
    trace = search.trace
    asked, args, of_model = _call_of(trace, target)
    first = target.name.partition(".")[0].partition("[")[0]
    if first and (not isinstance(args, dict) or first not in args):
        names = list(args) if isinstance(args, dict) else []
        hint = did_you_mean(first, names) or f"it was {call_text(target.tool, args)}"
        raise CallerError(f'the call of {target.tool} has no argument "{first}"', hint=hint)

    def make() -> Cause:
        value = args.get(first) if first else args
        what = f"{target.tool}.{first} = {brief(value)}" if first else call_text(target.tool, args)
        by = "" if asked.flow in OWN else f", asked by {step_of_flow(asked, trace.node_of(asked))}"
        if of_model:
            by = f", wanted by the model of {asked.flow}"
        cause = Cause(0, "target", f"{what}{by} (turn {asked.turn})", value=value)
        cause.commit, cause.turn, cause.ref = asked.seq, asked.turn, step_ref(trace, asked)
        return cause

    def follow(cause: int) -> None:
        if of_model:
            search.answer(cause, asked, "asked")
            return
        filled = [str(each) for each in asked.facts.get(FILLED) or ()]
        by_model = asked.answered is not None and asked.answered.kind == "model"
        if by_model and (not first or first in filled):
            search.answer(cause, asked)
        node = trace.node_of(asked)
        written: Any = (node.spec.get("args") if node is not None else None) or {}
        reads = data_reads(asked)
        if first and isinstance(written, dict) and first in written:
            reads = named(written[first], asked)
            if not reads:
                search.of(cause).root = "authored"
        search.reads(cause, reads, asked)
        for scope in {op.key[0] for op in asked.ops if op.key[1:] == (STRICT_CALL,)}:
            link_offer(search, cause, asked, scope)
        search.control(cause, asked)

    search.add(None, "argument", make, follow)


def _call_of(trace: Trace, target: Argument) -> tuple[Commit, Any, bool]:
    """The step that asked for the newest call, its arguments, and whether that was a model itself.

    It was where a flow or another agent carried the call out, or where it was refused.
    """
    called: dict[str, None] = {}
    for commit in newest_first(trace, target.turn):
        need = commit.asked
        if need is not None and need.kind in ASKING:
            if need.name == target.tool:
                return commit, raw(arguments_in(need.kind, need.args)), False
            called[need.name] = None
        for call in reversed(wanted_in(commit)):
            if call.name == target.tool:
                return commit, call.arguments, call.of_model
            called[call.name] = None
    where = "recorded" if target.turn is None else f"recorded in turn {target.turn}"
    known = list(called)
    hint = did_you_mean(target.tool, known) or (f"called were {', '.join(known)}" if known else "")
    raise CallerError(f"no call of {target.tool} is {where}", hint=hint)


# ------------------------------------------------------------------ decisions and errors


def decided(search: Search, target: Decided) -> None:
    """The newest decision of a step. Raises `CallerError` where it made none."""
    trace = search.trace
    known: list[str] = []
    for commit in newest_first(trace, target.turn):
        if commit.decision is None:
            continue
        node = trace.node_of(commit)
        names = {commit.node, node.name if node is not None else "", commit.node.lstrip("/")}
        if target.step in names and target.flow in ("", commit.flow):
            search.decision(None, commit)
            return
        known.append(step_ref(trace, commit).partition(":")[2])
    wanted = f"{target.flow}/{target.step}" if target.flow else target.step
    names = list(dict.fromkeys(known))
    hint = did_you_mean(wanted, names) or (
        f"there are decisions of {', '.join(names[:6])}" if names else "there is none at all"
    )
    raise CallerError(f"no decision of {wanted} is recorded", hint=hint)


def failure(search: Search, target: Failure) -> None:
    """The newest thing that went wrong. Raises `CallerError` where nothing did."""
    warned: Commit | None = None
    for commit in newest_first(search.trace, target.turn):
        if causes.failure_of(commit):
            search.step(commit)
            return
        if commit.warnings and warned is None:
            warned = commit
    if warned is None:
        where = "in this record" if target.turn is None else f"in turn {target.turn}"
        raise CallerError(f"nothing went wrong {where}", hint="it holds no error and no warning")
    search.step(warned)


# ------------------------------------------------------------------ what is missing


def missing(search: Search, target: Missing) -> None:
    """Why there is no reply, why a variable is unset, why a tool was not called."""
    trace = search.trace
    if target.name == "reply":
        _no_reply(search, target)
        return
    if _is_set(trace, target):
        raise CallerError(
            f"{target.name} is set, so it is not missing", hint="ask for the variable instead"
        )
    absent(search, target.name, target.turn)


def _is_set(trace: Trace, target: Missing) -> bool:
    try:
        until = None if target.turn is None else trace.end_of(target.turn)
        key = trace.key(target.name, until)
    except CallerError:
        return False
    return trace.wrote(key, trace.last + 1) and trace.value_at(key, until).value is not UNDEFINED


def _no_reply(search: Search, target: Missing) -> None:
    trace = search.trace
    turn = trace.newest_turn if target.turn is None else target.turn
    trace.end_of(turn)
    try:
        text = reply_of(trace, turn).text
    except CallerError:
        text = ""
    if text.strip():
        raise CallerError(f"turn {turn} has a reply", hint=f"saywhy why --turn {turn}")

    def make() -> Cause:
        return Cause(0, "target", f"nothing was said in turn {turn}", turn=turn)

    def follow(cause: int) -> None:
        commits = trace.turn(turn).commits
        failed = [one for one in commits if causes.failure_of(one) and one.phase != "closed"]
        for commit in failed[-1:]:
            search.decision(cause, commit)
        last = next((one for one in reversed(commits) if one.asked is not None), None)
        if last is not None and last.to == "rest" and last.flow not in OWN:
            search.add(Effect(cause, "wrote"), ("rests", last.seq), lambda: rests(trace, last))
        routed = [one for one in commits if one.decision is not None]
        for commit in routed[-1:] if not failed else ():
            search.decision(cause, commit)
        if len(search.chain.links) == 0:
            for commit in commits[-1:]:
                search.add(
                    Effect(cause, "wrote"),
                    ("last", commit.seq),
                    lambda commit=commit: ran_last(trace, commit),
                )

    search.add(None, "no reply", make, follow)


__all__ = ["argument", "decided", "failure", "missing", "newest_first"]
