"""A round of tools: all calls of one reply, in order, then back to the model.

Calls are made one after the other. With `tool_concurrency` they are made side by side first, and
what they came to is gone through in the order of the calls, so that the outcome is the same.
Questions to a person come last, one after the other; the run rests at each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from saywhy.agent.loop.approving import APPROVAL
from saywhy.agent.loop.calls import Asks, Call, ToolCalls, latency_of, reply_from
from saywhy.agent.loop.state import EMPTY, append, glance, look, write
from saywhy.agent.own import OWN
from saywhy.agent.tool_reply import ToolReply, failed
from saywhy.agent.tools import AgentTool
from saywhy.chart.brought import Answers
from saywhy.chart.build import Builder, Script
from saywhy.chart.built import Built
from saywhy.chart.outcome import Answer, Need
from saywhy.chart.view import sight_of
from saywhy.values import FrozenDict, raw

MOUNT: Final = "tool-calls"
STAGE: Final = "execute-tool-calls"

APART: Final = "toolMessages"
"""Where the sub-chart of a round keeps its messages."""

OUTPUTS: Final = ("loopCount", "decision", "strictFollowUp", "followUps")
"""What the loop takes over besides the messages."""

PEOPLE: Final = frozenset({"user", APPROVAL})
"""What only people can give: the run rests."""

MOST_CALLS: Final = 128
"""So many calls of one reply are made."""


def build_tool_calls(
    calls: ToolCalls, answers: Answers | None, *, concurrency: int = 1, id: str = MOUNT
) -> Built:
    """The sub-chart of a round. It sees the variables of the loop."""
    chart = Builder("ExecuteTools", id=id, describe="Make the calls of a reply", own=OWN)
    add_round(chart, Round(calls, APART), answers, STAGE, concurrency=concurrency)
    return chart.build()


def add_round(
    chart: Script, made: Round, answers: Answers | None, id: str, *, concurrency: int
) -> None:
    """Put the stages of a round on a line."""
    if concurrency > 1:
        ahead = _Ahead(made.calls)
        own = "" if id in (MOUNT, STAGE) else f"{id}-"
        side = chart.for_each(
            ahead.items, id=f"{own}call-tools", max_branches=MOST_CALLS, into="toolReplies"
        )
        call = side.pausable(
            ahead.ask, id=f"{own}call-tool", asks="tool", errors="data", answers=answers
        )
        call.resume(ahead.take)
    stage = chart.pausable(
        made.first,
        id=id,
        name="ExecuteToolCalls",
        describe="Execute tool calls and append what they came to",
        asks="tool",
        errors="data",
        fresh=True,
        answers=answers,
    )
    stage.resume(made.second)


def calls_in(s: Any) -> Sequence[Call]:
    """The calls of the model's newest reply."""
    parsed: Any = raw(look(s, "parsedResponse"))
    found: Any = raw(parsed["toolCalls"])
    return found


class Round:
    """The two halves of the stage that makes the calls."""

    def __init__(self, calls: ToolCalls, into: str) -> None:
        self.calls = calls
        self.into = into
        """Where the messages go: to those of the loop, or to a list that is taken over later."""

    def first(self, s: Any) -> Asks | None:
        """Begin with the first call."""
        if self.into == APART:
            write(s, APART, EMPTY)
        calls = calls_in(s)
        return self._go_on(s, 0, calls, self._order(calls))

    def second(self, s: Any, answer: Answer) -> Asks | None:
        """Take what the call at hand came to, and go on with the next."""
        at = int(glance(s, "roundAt", 0))
        calls = calls_in(s)
        order = self._order(calls)
        call = calls[order[at]]
        asked = sight_of(s).scope.asked
        if asked is not None and asked.kind == "user" and answer.error is None:
            s.emit("turn_start", {"user_message": _said(answer)})
        made = self.calls.after(s, call, answer)
        if isinstance(made, Asks):
            return self._ask(s, at, made)
        self._take(s, call, made, latency_of(answer))
        return self._go_on(s, at + 1, calls, order)

    def _go_on(self, s: Any, at: int, calls: Sequence[Call], order: Sequence[int]) -> Asks | None:
        # Made side by side before: maybe by a build that did so, while this one does not.
        ready: Any = raw(glance(s, "toolReplies", EMPTY))
        while at < len(order):
            number = order[at]
            call = calls[number]
            known = ready[number] if number < len(ready) else None
            if number >= MOST_CALLS:
                self.calls.started(s, call)
                self._take(s, call, failed(f"More than {MOST_CALLS} calls in one reply"), 0)
            elif type(known) is dict:
                self._take(s, call, ToolReply.from_value(known["reply"]), known["latencyMs"])
            else:
                made = self.calls.begin(s, call)
                if isinstance(made, Asks):
                    return self._ask(s, at, made)
                self._take(s, call, made, 0)
            at += 1
        self._finish(s, calls, order)
        return None

    def _ask(self, s: Any, at: int, need: Asks) -> Asks:
        write(s, "roundAt", at)
        if isinstance(need, Need) and need.kind in PEOPLE:
            done = int(look(s, "loopCount", 0))
            s.emit("turn_end", {"content": "", "iterations": done, "paused": True})
        return need

    def _take(self, s: Any, call: Call, reply: ToolReply, latency_ms: float) -> None:
        message = FrozenDict(self.calls.settle(s, call, reply, latency_ms))
        # Where people are asked, the messages of others wait until all are there, in order.
        append(s, "heldMessages" if self._asks_people(s) else self.into, message)

    def _asks_people(self, s: Any) -> bool:
        box = self.calls.box
        registry = box.registry
        return box.asks_people and any(
            _asks_human(registry.get(call["name"])) for call in calls_in(s)
        )

    def _order(self, calls: Sequence[Call]) -> Sequence[int]:
        """The numbers of the calls in the order in which they are made: people come last."""
        if not self.calls.box.asks_people:
            return range(len(calls))
        registry = self.calls.box.registry
        people = [at for at, call in enumerate(calls) if _asks_human(registry.get(call["name"]))]
        if not people:
            return range(len(calls))
        return [*(at for at in range(len(calls)) if at not in people), *people]

    def _finish(self, s: Any, calls: Sequence[Call], order: Sequence[int]) -> None:
        """Put the messages into the order of the calls, and count the round."""
        if not isinstance(order, range):
            held = glance(s, "heldMessages").raw
            for _, message in sorted(zip(order, held, strict=True), key=lambda one: one[0]):
                append(s, self.into, message)
            write(s, "heldMessages", EMPTY)
        write(s, "loopCount", int(look(s, "loopCount", 0)) + 1)


def _said(answer: Answer) -> str:
    """What a person answered, as text."""
    return reply_from(answer).content


def _asks_human(tool: AgentTool | None) -> bool:
    return tool is not None and tool.asks_human


def _needs_people(tool: AgentTool | None) -> bool:
    return tool is not None and (tool.asks_human or tool.tool.approval is not None)


class _Ahead:
    """The calls that are made side by side, before what they came to is gone through."""

    def __init__(self, calls: ToolCalls) -> None:
        self.calls = calls

    def items(self, s: Any) -> Any:
        """One branch for each call, but for those beyond the limit."""
        return [FrozenDict(dict(call)) for call in calls_in(s)[:MOST_CALLS]]

    def ask(self, s: Any) -> Need | None:
        """What the branch's call needs; what needs nothing comes later, and so do people."""
        call = raw(given_item(s))
        if _needs_people(self.calls.box.registry.get(call["name"])):
            return None
        made = self.calls.plan(s, call)
        if not isinstance(made, Need):
            return None
        self.calls.started(s, call)
        return made

    def take(self, s: Any, answer: Answer) -> Any:
        """What the call came to."""
        reply = reply_from(answer)
        return {"reply": reply.to_value(), "latencyMs": latency_of(answer)}


def given_item(s: Any) -> FrozenDict:
    """The call that a branch is for."""
    found: FrozenDict = look(s, "item")
    return found
