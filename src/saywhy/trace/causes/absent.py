"""Why something did not happen: a variable that nothing set, a tool that nobody called.

The steps that would have done it stand in the charts. Of each it is told how far its flow came:
which decision led elsewhere, where the flow stopped, or that it was never started.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from saywhy.chart.commit import Commit
from saywhy.chart.model import Chart, Node
from saywhy.errors import CallerError, did_you_mean
from saywhy.trace.causes import handed_wording as handed
from saywhy.trace.causes import wording as causes
from saywhy.trace.causes.absent_wording import rests, step_not_run
from saywhy.trace.causes.chain import Cause
from saywhy.trace.causes.graph import Effect
from saywhy.trace.causes.handed import is_chat
from saywhy.trace.causes.request import Request, request_of
from saywhy.trace.causes.twins import twins_of
from saywhy.trace.causes.wanted import called_in
from saywhy.trace.trace import Trace
from saywhy.trace.words import OWN, ROUTING

if TYPE_CHECKING:
    from saywhy.trace.causes.search import Search

MOST_STEPS: Final = 6
MOST_TURNS: Final = 50
DEEPEST: Final = 4
CALLERS: Final = frozenset({"FLOW", "CALL-FLOW", "GOTO"})


def absent(search: Search, name: str, turn: int | None = None) -> None:
    """Add what stood in the way of everything that would have set or called `name`.

    Raises `CallerError` for a name that no chart of the record knows.
    """
    trace = search.trace
    places = list(_places(trace, name))[:MOST_STEPS]
    offers = list(_offers(trace, name, turn))[:2]
    if not places and not offers:
        known = sorted({each for node in _nodes(trace) for each in _names(node[1])})
        hint = did_you_mean(name, known) or (f"known are {', '.join(known[:8])}" if known else "")
        raise CallerError(f'no step of this record sets or calls "{name}"', hint=hint)

    def make() -> Cause:
        is_tool = bool(offers) or any(node.spec.get("tool") == name for _, node in places)
        again = " again" if is_tool and _was_called(trace, name, turn) else ""
        what = f"was not called{again}" if is_tool else "is not set"
        return Cause(0, "target", f"{name} {what}", name=name)

    def follow(cause: int) -> None:
        for chart, node in places:
            not_run(search, Effect(cause, "wrote"), chart, node, turn)
        for commit in offers:
            _not_wanted(search, cause, commit, name)

    search.add(None, ("absent", name), make, follow)


def _was_called(trace: Trace, name: str, turn: int | None) -> bool:
    """Whether the tool was called all the same, in that turn or in one of the newest."""
    for number in [turn] if turn is not None else list(reversed(trace.turns))[:MOST_TURNS]:
        for commit in trace.turn(number).commits:
            if called_in(trace, commit, name):
                return True
    return False


def _nodes(trace: Trace) -> Iterator[tuple[Chart, Node]]:
    for chart in trace.charts:
        if chart.name not in OWN:
            for node in chart.nodes.values():
                yield chart, node


def _names(node: Node) -> list[str]:
    found = [node.spec.get("variable"), node.spec.get("tool")]
    return [str(each).partition(".")[0] for each in found if each]


def _places(trace: Trace, name: str) -> Iterator[tuple[Chart, Node]]:
    root = name.partition(".")[0].partition("[")[0]
    for chart, node in _nodes(trace):
        if chart.kind == "flow" and (root in _names(node) or name in _names(node)):
            yield chart, node


# ------------------------------------------------------------------ steps that did not run


def not_run(
    search: Search, effect: Effect, chart: Chart, node: Node, turn: int | None, deep: int = 0
) -> None:
    """Why a step did not run, or that it did and what came of it."""
    trace = search.trace
    frame = _frame_of(trace, chart, turn)
    before = trace.last + 1 if turn is None else trace.end_of(turn) + 1
    ran = trace.newest(frame, node.id, before) if frame else None

    def make() -> Cause:
        return step_not_run(chart, node, ran, never=not frame)

    def follow(cause: int) -> None:
        if ran is not None:
            search.ran(cause, ran)
        elif frame:
            _stopped(search, cause, chart, node, frame, before, turn, deep)
        else:
            _not_started(search, cause, chart, turn, deep)

    search.add(effect, ("not run", chart.digest, node.id), make, follow)


def _stopped(
    search: Search,
    cause: int,
    chart: Chart,
    node: Node,
    frame: int,
    before: int,
    turn: int | None,
    deep: int,
) -> None:
    """Which decision led elsewhere, or how far the flow came."""
    trace = search.trace
    for governor in node.under:
        newest = trace.newest(frame, governor, before)
        if newest is not None and (newest.decision is not None or causes.failure_of(newest)):
            search.decision(cause, newest)
            return
    inner = next((chart.nodes[each] for each in node.under if each in chart.nodes), None)
    if inner is not None and deep < DEEPEST:
        not_run(search, Effect(cause, "decision"), chart, inner, turn, deep + 1)
        return
    steps = [one for one in trace.steps_of(frame=frame) if one.seq < before]
    real = [one for one in steps if one.phase != "closed"]
    failed = [one for one in real if causes.failure_of(one)]
    last = (failed or real)[-1:]
    for commit in last:
        if causes.failure_of(commit):
            search.decision(cause, commit)
        else:
            search.add(
                Effect(cause, "wrote"),
                ("rests", commit.seq),
                lambda commit=commit: rests(trace, commit),
            )


def _not_started(search: Search, cause: int, chart: Chart, turn: int | None, deep: int) -> None:
    """A flow that was never opened: why its callers did not run, and what routing did."""
    trace = search.trace
    callers = [
        (other, node)
        for other, node in _nodes(trace)
        if other.kind == "flow" and _calls(node, chart)
    ]
    for other, node in callers[:MOST_STEPS]:
        if deep < DEEPEST:
            not_run(search, Effect(cause, "caller"), other, node, turn, deep + 1)
    for commit in _routed(trace, turn)[:1]:
        search.decision(cause, commit)
    if not search.has_causes(cause):
        search.of(cause).root = "authored"


def _calls(node: Node, chart: Chart) -> bool:
    named = (node.spec.get("value"), node.spec.get("name"), node.spec.get("flow"))
    return any(each in (chart.name, chart.id) for each in named) and "agent" not in node.spec


def _routed(trace: Trace, turn: int | None) -> list[Commit]:
    numbers = [turn] if turn is not None else trace.turns[-MOST_TURNS:]
    for number in reversed(numbers):
        found = [
            one
            for one in reversed(trace.turn(number).commits)
            if one.flow == ROUTING and one.decision is not None
        ]
        if found:
            return found
    return []


def _frame_of(trace: Trace, chart: Chart, turn: int | None) -> int:
    """The newest frame that ran a flow; 0 where none did."""
    for number in reversed(trace.turns_until(turn, MOST_TURNS)):
        for commit in reversed(trace.turn(number).commits):
            if commit.flow == chart.name and commit.phase != "closed":
                return commit.frame
    return 0


# ------------------------------------------------------------------ tools of agents


def _offers(trace: Trace, name: str, turn: int | None) -> Iterator[Commit]:
    """Answers of a model that was, or could have been, offered a tool and did not call it."""
    numbers = [turn] if turn is not None else trace.turns[-MOST_TURNS:]
    for number in reversed(numbers):
        for commit in reversed(trace.turn(number).commits):
            if is_chat(commit):
                asked = causes.asked_of(trace, commit)
                names = _offered(request_of(trace, asked)) if asked is not None else []
                if name in names or _is_tool(trace, name):
                    yield commit


def _offered(request: Request) -> list[str]:
    return [str(one.get("name")) for one in request.tools]


def _is_tool(trace: Trace, name: str) -> bool:
    return any(chart.name == f"(tool) {name}" for chart in trace.charts)


def _not_wanted(search: Search, cause: int, commit: Commit, name: str) -> None:
    trace = search.trace
    asked = causes.asked_of(trace, commit)
    if asked is None:
        return
    request = request_of(trace, asked)
    own: Any = next((one for one in request.tools if one.get("name") == name), None)
    if own is None:
        search.add(Effect(cause, "handed"), ("tools", asked.seq), lambda: handed.offered(request))
    else:
        twins = twins_of(name, request.tools)
        for tool in (own, *twins):
            twin = name if tool is not own else str(twins[0]["name"]) if twins else ""
            search.add(
                Effect(cause, "handed"),
                ("tool", tool.get("name"), asked.seq),
                lambda tool=tool, twin=twin: handed.declared(tool, request.tools_by, twin),
            )
    search.answer(cause, commit, "asked")


__all__ = ["absent", "not_run"]
