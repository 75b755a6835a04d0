"""Agents that hand a conversation over to one another.

Each has a tool for every other one that it may hand over to. Calling it ends the round; the other
agent goes on with the whole conversation, and stays the one who talks until it hands over itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from saywhy.agent.loop.calls import Asks, Call, ToolCalls
from saywhy.agent.loop.config import RoutingBranch, RoutingConfig
from saywhy.agent.loop.history import without_prompts
from saywhy.agent.loop.routing import FINAL, TOOLS, WANTS
from saywhy.agent.loop.state import EMPTY, append, given, glance, look, write
from saywhy.agent.own import OWN
from saywhy.agent.runners.part import (
    CARRIED,
    COUNTED,
    LOOSE,
    OF_THE_RUN,
    Part,
    begin,
    id_problems,
)
from saywhy.agent.runners.swarm import is_tool_id
from saywhy.agent.slots.history import unmarked
from saywhy.agent.tool_reply import ToolReply, failed
from saywhy.agent.tools import AgentTool, define_tool
from saywhy.chart.build import Builder
from saywhy.chart.built import Built
from saywhy.chart.commit import Condition, Decision
from saywhy.chart.declared import ID
from saywhy.chart.view import sight_of
from saywhy.errors import Problem
from saywhy.values import UNDEFINED, FrozenDict, FrozenList, raw, seal

HAND_OVER: Final = "hand-over"
PREFIX: Final = "transfer_to_"
TALK: Final = "talk"
PASSED: Final = "passed-on"
STAGES: Final = ("seed", TALK, PASSED, "finish")

TOO_OFTEN: Final = "max_hand_overs"
"""Why a run ended in which nobody wanted to answer."""


def hand_over_tool(to: str, description: str) -> AgentTool:
    """The tool by which an agent hands over to the one called `to`."""
    why = {"type": "string", "description": "Why the conversation is handed over."}
    schema = {"type": "object", "properties": {"reason": why}}
    text = f"Hand the conversation over to {to}." + (f" {description}" if description else "")
    return define_tool(f"{PREFIX}{to}", text, schema, _never, effect="reads")


def _never(arguments: Mapping[str, Any]) -> str:
    return f"Nobody takes over: this agent is no part of a team. ({len(arguments)} arguments)"


def hand_over_fields(targets: Sequence[str]) -> dict[str, Any]:
    """The fields of a loop that may end by handing over to one of these."""
    names = {f"{PREFIX}{one}": one for one in targets}

    def decide(s: Any) -> Decision:
        """Whether the conversation is handed over, or tools are called."""
        parsed: Any = raw(look(s, "parsedResponse"))
        calls: Sequence[Call] = parsed["toolCalls"]
        first = next((one["name"] for one in calls if one["name"] in names), None)
        read = (((sight_of(s).owner, "parsedResponse", "hasToolCalls"), bool(calls)),)
        hands = Condition("a hand-over is called", first is not None, HAND_OVER, read, rule=1)
        wants = Condition("tools are called", bool(calls), TOOLS, read, rule=2, label=WANTS)
        if first is not None:
            return Decision(HAND_OVER, (hands,), label=names[first])
        if calls:
            return Decision(TOOLS, (hands, wants), label=WANTS)
        return Decision(FINAL, (hands, wants), default=True, label="answered")

    branches = [
        RoutingBranch(TOOLS, round=True),
        RoutingBranch(HAND_OVER, round=True, ends=True),
        RoutingBranch(FINAL, ends=True),
    ]

    def calls(config: Any, box: Any) -> HandOverCalls:
        return HandOverCalls(config, box, names)

    return {"routing": RoutingConfig(decide, branches, FINAL), "tool_calls": calls}


class HandOverCalls(ToolCalls):
    """The calls of a round, of which one may hand over."""

    def __init__(self, config: Any, box: Any, names: Mapping[str, str]) -> None:
        super().__init__(config, box)
        self.names = names

    def plan(self, s: Any, call: Call) -> Asks | ToolReply:
        """A hand-over is answered at once; all other calls are made."""
        to = self.names.get(call["name"])
        if to is None:
            return super().plan(s, call)
        taken = glance(s, "handedTo")
        if taken:
            return failed(f"The conversation is being handed over to {taken} already")
        write(s, "handedTo", to)
        return ToolReply(f"Handed over to {to}.")


@dataclass(frozen=True, slots=True)
class Hands:
    """Who may hand over to whom, who begins, and how often in one run."""

    start: str
    routes: Mapping[str, Sequence[str]]
    most: int


def team_problems(ids: Sequence[Any], hands: Hands) -> Iterator[Problem]:
    """What is wrong with a team of these."""
    if len(ids) < 2:
        yield Problem("a team has at least two agents", hint="Team([triage, billing])")
    yield from id_problems("agent", ids, STAGES)
    for one in ids:
        if isinstance(one, str) and ID.fullmatch(one) and not is_tool_id(f"{PREFIX}{one}"):
            yield Problem(
                f'no model can call a tool "{PREFIX}{one}"',
                hint="ids are made of letters, digits, _ and -, and are not too long",
            )
    if ids and hands.start not in ids:
        yield Problem(f'start is "{hands.start}", which is no agent of the team')
    for one, targets in hands.routes.items():
        wrong = [to for to in targets if to not in ids or to == one]
        if one not in ids:
            yield Problem(f'routes speaks of "{one}", which is no agent of the team')
        for to in wrong:
            yield Problem(f'"{one}" cannot hand over to "{to}"', hint=f"agents: {', '.join(ids)}")
    most: Any = hands.most
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        yield Problem(f"max_hand_overs is {most!r}", hint="write a whole number from 1")


def team_chart(parts: Sequence[Part], hands: Hands, *, name: str, id: str) -> Built:
    """The chart of a team: whoever is active talks, until nobody hands over any more."""
    chart = Builder(name, id=id, describe="Agents that hand the conversation over", own=OWN)
    known = [part.id for part in parts]
    chart.stage(id="seed", name="Seed")(_seed(known, hands.start))
    choice = chart.decider(_who, id=TALK, name="Talk", describe="Who talks")
    for part in parts:
        choice.branch(part.id).mount(
            part.built(id), id=part.id, inputs=_given, outputs=_outputs, merge=COUNTED
        )
    passed = chart.decider(_passed(hands.most), id=PASSED, name="PassedOn")
    passed.branch("on").loop_to(TALK, max_iter=hands.most)
    passed.branch("done")
    chart.stage(id="finish", name="Finish")(_finish)
    return chart.build()


def _seed(known: Sequence[str], start: str) -> Callable[[Any], None]:
    shared = begin(keeps_history=True)

    def seed(s: Any) -> None:
        """Begin with the user's words, and with who talked last."""
        shared(s)
        messages = look(s, "messages", EMPTY)
        bare = without_prompts(messages)
        if bare is not messages:
            write(s, "messages", bare)
        carried: Any = given(s, CARRIED)
        active = carried.get("active") if carried is not None else None
        s.active = active if active in known else start
        s.handOvers = 0

    return seed


def _who(s: Any) -> Decision:
    """The one who is active."""
    active = str(look(s, "active"))
    read = (((sight_of(s).owner, "active"), active),)
    return Decision(active, (Condition(f"active is {active}", True, active, read, rule=0),))


def _given(s: Any) -> Mapping[str, Any]:
    """The first one is given the user's words, those after it the conversation alone."""
    messages = look(s, "messages", EMPTY)
    args: dict[str, Any] = {"turnNumber": look(s, "turnNumber", 1), "message": ""}
    args["history"] = messages
    for name in OF_THE_RUN:
        value = look(s, name)
        if value:
            args[name] = value
    if not look(s, "handOvers", 0):
        args["message"] = look(s, "input", "")
        items = messages.raw
        if items and args["message"]:
            args["history"] = FrozenList(items[:-1], owned=True)
        for name in ("pending", "followUp", "strictCalls"):
            value = given(s, name)
            if value is not None:
                args[name] = value
    return args


def _outputs(s: Any) -> Mapping[str, Any]:
    messages = unmarked(seal(look(s, "messages", EMPTY)))
    found: dict[str, Any] = {"messages": messages, "handedTo": str(look(s, "handedTo", ""))}
    for name in ("result", "stopReason", "loopCount", "assembledSystem", *LOOSE):
        value = look(s, name, UNDEFINED)
        if value is not UNDEFINED:
            found[name] = value
    return found


def _passed(most: int) -> Callable[[Any], Decision]:
    def passed(s: Any) -> Decision:
        """Whether somebody else goes on."""
        to, number = str(look(s, "handedTo", "")), int(look(s, "handOvers", 0))
        owner = sight_of(s).owner
        read = (((owner, "handedTo"), to), ((owner, "handOvers"), number))
        handed = Condition("handed over", bool(to), "on", read, rule=0)
        if not to:
            return Decision("done", (handed,), default=True, label="answered")
        append(s, "hands", {"from": look(s, "active"), "to": to})
        s.active = to
        if number >= most:
            s.stopReason = TOO_OFTEN
            return Decision("done", (handed,), label=TOO_OFTEN)
        s.handOvers = number + 1
        return Decision("on", (handed,), label=to)

    return passed


def _finish(s: Any) -> Any:
    """Take what was said last as the answer, and keep who talks."""
    write(s, CARRIED, FrozenDict({"active": look(s, "active")}))
    return look(s, "result", "")
