"""An orchestrator that hands tasks to specialists, one at a time.

It is the loop of an agent whose tools are the specialists. The first call of a reply that names one
of them, or a further tool, decides what is done in that round; every other call is answered as put
off or as unknown, so that each has exactly one result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from saywhy.agent.loop.calls import Asks, Call, ToolCalls
from saywhy.agent.loop.config import RoutingBranch, RoutingConfig
from saywhy.agent.loop.routing import FINAL
from saywhy.agent.loop.state import append, glance, look, write
from saywhy.agent.runners.part import MESSAGE
from saywhy.agent.tool_reply import NOT_FOUND, ToolReply
from saywhy.agent.tools import AgentTool
from saywhy.chart.commit import Condition, Decision
from saywhy.chart.outcome import Answer, Invoke
from saywhy.chart.view import sight_of
from saywhy.errors import Problem
from saywhy.values import FrozenDict, raw

DECIDER: Final = "route-specialist"
DECIDER_NAME: Final = "RouteSpecialist"
TOOLS: Final = "swarm-tools"
UNKNOWN: Final = "unknown-tools"
OWN: Final = (
    TOOLS,
    UNKNOWN,
    FINAL,
    DECIDER,
    "seed",
    "context",
    "message-api",
    "call-llm",
    "sf-injection-engine",
    "commit-memory",
)
"""Stages of the loop, which specialists' ids must not be."""

WINDOW: Final = 50
"""Messages that the orchestrator is shown."""

BASE: Final = "You are an orchestrator. Route to the best specialist."
LISTED: Final = "You have access to these specialist agents:"
CLOSING: Final = (
    "Call the most appropriate specialist to handle the user's request. "
    "When done, respond directly without calling any specialist."
)
DEFERRED: Final = "Deferred — will be handled in next iteration."
"""These texts are pinned by the cases `swarm-default-prompt` and `swarm-two`."""

MOST_ID: Final = 64


class Delegated(msgspec.Struct, frozen=True, omit_defaults=True):
    """One task that a specialist was given."""

    id: str
    message: str
    content: str
    error: str | None = None
    latency_ms: float = 0


def swarm_prompt(base: str, specialists: Sequence[tuple[str, str]]) -> str:
    """The system prompt of an orchestrator, for ids and descriptions."""
    listed = "\n".join(f"- {one}: {text}" for one, text in specialists)
    return f"{base or BASE}\n\n{LISTED}\n{listed}\n\n{CLOSING}"


def swarm_problems(ids: Sequence[Any], tools: Sequence[str]) -> Iterator[Problem]:
    """What is wrong with specialists of these ids, beside these tools."""
    if not ids:
        yield Problem("a swarm has no specialists", hint='[Specialist("billing", runner, "…")]')
    for one in ids:
        if not isinstance(one, str) or not is_tool_id(one):
            yield Problem(
                f"{one!r} is no id of a specialist",
                hint=f"a letter, then letters, digits, _ and -, at most {MOST_ID} in all",
            )
        elif one in OWN:
            yield Problem(f'a specialist cannot have the id "{one}"', hint="take another one")
        elif one in tools:
            yield Problem(f'a specialist and a tool have the id "{one}"', hint="rename one of them")
    for one in dict.fromkeys(one for one in ids if ids.count(one) > 1):
        yield Problem(f'two specialists have the id "{one}"', hint="give each an id of its own")


def is_tool_id(text: str) -> bool:
    """Whether every vendor's models can call something by this name."""
    rest = text.replace("_", "").replace("-", "")
    head = text[:1].isalpha() and (not rest or rest.isalnum())
    return len(text) <= MOST_ID and text.isascii() and head


def swarm_fields(specialists: Sequence[str]) -> dict[str, Any]:
    """The fields of a loop that make it one of a swarm."""
    branches = [RoutingBranch(one, round=True) for one in (*specialists, TOOLS)]
    branches += [RoutingBranch(UNKNOWN, round=True, ends=True), RoutingBranch(FINAL, ends=True)]

    def calls(config: Any, box: Any) -> SwarmCalls:
        return SwarmCalls(config, box, frozenset(specialists))

    routing = RoutingConfig(
        _decider(frozenset(specialists)),
        branches,
        FINAL,
        DECIDER_NAME,
        DECIDER,
        "Choose the specialist for the next task",
    )
    return {"routing": routing, "tool_calls": calls}


def _decider(specialists: frozenset[str]) -> Callable[[Any], Decision]:
    def decide(s: Any) -> Decision:
        """The first call that names a specialist or a tool decides."""
        parsed: Any = raw(look(s, "parsedResponse"))
        calls: Sequence[Call] = parsed["toolCalls"]
        if not calls:
            return Decision(FINAL, default=True, label="answered")
        offered = _offered(s)
        tested: list[Condition] = []
        key = (sight_of(s).owner, "parsedResponse")
        for number, call in enumerate(calls):
            name = call["name"]
            branch = _branch_of(name, specialists, offered)
            read = (((*key, "toolCalls", number, "name"), name),)
            text = f"call {number} names a specialist or a tool"
            tested.append(Condition(text, bool(branch), branch, read, rule=number, label=name))
            if branch:
                write(s, "deciding", call["id"])
                return Decision(branch, tuple(tested), label=name)
        write(s, "deciding", "")
        return Decision(UNKNOWN, tuple(tested), default=True, label="nobody is called that")

    return decide


def _offered(s: Any) -> frozenset[str]:
    described: Any = raw(look(s, "toolDescriptions")) or ()
    return frozenset(one["name"] for one in described)


def _branch_of(name: str, specialists: frozenset[str], offered: frozenset[str]) -> str:
    if name in specialists:
        return name
    return TOOLS if name in offered else ""


class SwarmCalls(ToolCalls):
    """The calls of a round: one specialist, or all further tools."""

    def __init__(self, config: Any, box: Any, specialists: frozenset[str]) -> None:
        super().__init__(config, box)
        self.specialists = specialists

    def plan(self, s: Any, call: Call) -> Asks | ToolReply:
        """What has to be asked, or the reply of a call that is not made now."""
        name, deciding = call["name"], str(glance(s, "deciding", ""))
        if not isinstance(self.found(s, name), AgentTool):
            return ToolReply(f"Unknown tool: {name}", {"code": NOT_FOUND, "message": name})
        if call["id"] != deciding and not self._with(s, name, deciding):
            return ToolReply(DEFERRED)
        made = super().plan(s, call)
        if isinstance(made, ToolReply):
            return _told(made)
        if isinstance(made, Invoke):
            write(s, "askedAt", sight_of(s).scope.now)
        return made

    def _with(self, s: Any, name: str, deciding: str) -> bool:
        """Whether a call is made beside the one that decides: tools are, one after the other."""
        if name in self.specialists:
            return False
        parsed: Any = raw(glance(s, "parsedResponse"))
        first = next(one["name"] for one in parsed["toolCalls"] if one["id"] == deciding)
        return first not in self.specialists

    def reply_of(self, s: Any, call: Call, answer: Answer) -> ToolReply:
        """What came of it; of a specialist it is noted, too."""
        reply = super().reply_of(s, call, answer)
        if call["name"] not in self.specialists:
            return _told(reply)
        arguments: Mapping[str, Any] = call["arguments"]
        error = reply.error["message"] if reply.error else None
        done = Delegated(
            call["name"],
            str(arguments.get(MESSAGE, "")),
            reply.content,
            error,
            sight_of(s).scope.now - float(glance(s, "askedAt", 0)),
        )
        append(s, "agents", FrozenDict(msgspec.to_builtins(done)))
        return reply


def _told(reply: ToolReply) -> ToolReply:
    """A failure in the words of a swarm."""
    if reply.error is None:
        return reply
    return msgspec.structs.replace(reply, content=f"Error: {reply.error['message']}")


def delegated_in(state: Mapping[str, Any]) -> tuple[Delegated, ...]:
    """The tasks that specialists were given, from the state of a run."""
    found: Any = raw(state.get("agents")) or ()
    return tuple(msgspec.convert(raw(one), Delegated) for one in found)
