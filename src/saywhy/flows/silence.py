"""What a SAY-GET does when nobody answered in time: ask again, go on, or end.

How long it waits is `patience`'s. The keypad stays as it is while the question is only asked
again: the user may be pressing keys.
"""

from __future__ import annotations

from typing import Any, Final

from saywhy.chart.commit import Condition, Decision
from saywhy.chart.model import Node
from saywhy.chart.outcome import Answer, Goto, Need, Outcome, Return
from saywhy.chart.scope import Scope
from saywhy.expr.template import fill_paths
from saywhy.flows import answers, patience
from saywhy.flows.evaluate import FlowNames, say_text
from saywhy.flows.patience import SILENCE, Patience
from saywhy.flows.speech import (
    QUEUE,
    deliver,
    drop_tentative,
    here,
    joined,
    language_of,
    localized,
    take_queue,
)
from saywhy.flows.world import World
from saywhy.values import UNDEFINED

ABANDONED: Final = "abandoned"
"""How flows end that nobody answers any more, and their outcome."""
UNITS: Final = (("h", 3_600_000), ("min", 60_000), ("s", 1000))


def take_silence(world: World, node: Node, scope: Scope, answer: Answer) -> Outcome:
    """Nobody answered the question: do what the step's `timeout` says."""
    found = patience.patience_of(node.spec)
    asked = scope.asked
    assert found is not None, "a step without a timeout is never told of silence"
    assert asked is not None, "only a question that was asked goes unanswered"
    rounds = int((scope.kept(SILENCE) or {}).get("rounds", 0))
    if rounds < found.again:
        _decide(scope, found, "ask", rounds)
        return _ask_again(world, node, scope, found, asked, rounds + 1)
    patience.end(scope)
    answers.withdraw_keypad(scope)
    scope.keep("question", None)
    is_valued = "value" in found.spec
    then = node.spec.get("onSilence")
    if not is_valued and then is None:
        _decide(scope, found, "end", rounds)
        return abandon(scope, reason(found.after_ms, rounds + 1))
    if is_valued:
        _store(world, node, scope, found.spec["value"])
    _decide(scope, found, "then" if then is not None else "value", rounds)
    return Goto(str(then) if then is not None else node.next)


def _ask_again(
    world: World, node: Node, scope: Scope, found: Patience, asked: Need, rounds: int
) -> Need:
    """Ask once more, in the words for that or in those of the question, and go on waiting."""
    language = language_of(world, scope)
    written = localized(found.spec, "ask", language) or localized(node.spec, "value", language)
    text = say_text(world, scope, written)
    drop_tentative(scope)
    deliver(scope, joined(take_queue(scope), here(scope, text) if text.strip() else []))
    scope.keep("question", text)
    patience.begin(node, scope, rounds)
    return asked


def _store(world: World, node: Node, scope: Scope, value: Any) -> None:
    """Put the value for silence where the answer would have gone, filled like arguments are."""
    field = answers.field_of(scope.asked) if scope.asked is not None else ""
    if not field:
        return
    names = FlowNames(world, scope)
    filled, reads = fill_paths(value, names)
    scope.reads.extend(key for key in map(names.key, reads) if key is not None)
    scope.set((scope.frame.scope, field), filled)


def _decide(scope: Scope, found: Patience, then: str, rounds: int) -> None:
    """Note what was done about the silence, for those who ask why."""
    told = reason(found.after_ms, rounds + 1)
    scope.facts["silence"] = {"text": told, "times": rounds + 1, "then": then}
    heard = Condition(f"an answer within {duration(found.after_ms)}", False, "timeout", error="")
    scope.decision = Decision("silence", (heard,))


def abandon(scope: Scope, why: str) -> Return:
    """End every flow: whoever talked is gone."""
    if scope.peek(QUEUE) is not UNDEFINED:
        scope.delete(QUEUE)
    drop_tentative(scope)
    return Return(unwind="all", how=ABANDONED, reason=why)


def reason(after_ms: float, times: int = 1) -> str:
    """How long nobody answered, in words."""
    asked = f", asked {times} times" if times > 1 else ""
    return f"nobody answered for {duration(after_ms)}{asked}"


def duration(ms: float) -> str:
    """Milliseconds in the largest unit that gives a number from 1: `30 s`, `1.5 min`."""
    for unit, size in UNITS:
        if ms >= size:
            return f"{round(ms / size, 2):g} {unit}"
    return f"{ms:g} ms"
