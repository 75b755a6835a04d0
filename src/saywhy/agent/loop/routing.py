"""Where a loop goes after an answer: to the tools, to the end, or as its routing says.

The limit on rounds comes first, whoever decides: a model that wants the same call for ever ends
there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from saywhy.agent.loop.config import RoutingConfig
from saywhy.agent.loop.state import key_of, look
from saywhy.chart.commit import Condition, Decision
from saywhy.chart.view import sight_of
from saywhy.values import raw

TOOLS: Final = "tool-calls"
FINAL: Final = "final"

LIMIT: Final = "round limit reached"
WANTS: Final = "tools called"


def decide_route(s: Any) -> Decision:
    """The usual way: to the tools where the model calls any, else to the end."""
    parsed: Any = raw(look(s, "parsedResponse"))
    wants = bool(parsed["hasToolCalls"])
    limit = limit_reached(s, FINAL)
    if limit.result and wants:
        return Decision(FINAL, (limit,), label=LIMIT)
    sight = sight_of(s)
    called = _called(sight.owner, wants)
    if wants:
        return Decision(TOOLS, (limit, called), label=WANTS)
    return Decision(FINAL, (limit, called), default=True, label="answered")


@lru_cache(maxsize=64)
def _called(owner: str, wants: bool) -> Condition:
    """The evidence for what the model wants: one of two, whatever the round."""
    key = (owner, "parsedResponse", "hasToolCalls")
    text = "parsedResponse.hasToolCalls eq true"
    return Condition(text, wants, TOOLS, ((key, wants),), rule=1, label=WANTS)


@lru_cache(maxsize=256)
def _limit_text(most: int) -> str:
    return f"loopCount gte {most}"


@lru_cache(maxsize=256)
def _most_read(owner: str, most: int) -> tuple[tuple[str, str], int]:
    return (key_of(owner, "maxIterations"), most)


def limit_reached(s: Any, branch: str) -> Condition:
    """Whether the rounds that are allowed have been made."""
    done, most = int(look(s, "loopCount", 0)), int(look(s, "maxIterations", 0))
    owner = sight_of(s).owner
    read = ((key_of(owner, "loopCount"), done), _most_read(owner, most))
    return Condition(_limit_text(most), done >= most, branch, read, rule=0, label=LIMIT)


def own_route(routing: RoutingConfig) -> Callable[[Any], Decision]:
    """The decider of a loop with a routing of its own."""

    def decide(s: Any) -> Decision:
        limit = limit_reached(s, routing.default_branch)
        if limit.result:
            return Decision(routing.default_branch, (limit,), label=LIMIT)
        given: Any = routing.decider(s)
        if isinstance(given, Decision):
            return Decision(
                given.chosen, (limit, *given.conditions), given.default, label=given.label
            )
        return Decision(given, (limit,))

    return decide
