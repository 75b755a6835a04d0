"""A run that rests at a question to a person: which question, and how the conversation looks.

The question may stand anywhere: in the agent itself, in an agent that it called as a tool, in one
of several branches. Several open ones are asked one after the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saywhy.agent.loop.history import conversation_of
from saywhy.agent.tools import waiting_text
from saywhy.chart.built import Result
from saywhy.chart.cursor import Cursor, Frame
from saywhy.chart.drive import open_needs
from saywhy.chart.fork import rest_of
from saywhy.chart.outcome import Answer, BranchAnswer, Need
from saywhy.models.chat import tool_message
from saywhy.values import FrozenDict, FrozenList, freeze, raw


def question_of(need: Need | None) -> FrozenDict:
    """`question` and `tool_call_id` of the first thing that is asked; `approval` with `tool`,
    `arguments` and perhaps `by`, where a call has to be approved."""
    asked: Any = {} if need is None else open_needs(need)[0][1].args
    args: Mapping[str, Any] = asked if isinstance(asked, Mapping) else {"question": str(asked)}
    told = {"question": args.get("question", ""), "tool_call_id": args.get("toolCallId", "")}
    if "tool" in args:
        shown = ("tool", "arguments", "by")
        told["approval"] = {name: args[name] for name in shown if name in args}
    return FrozenDict(told)


def answer_to(cursor: Cursor, answer: Any) -> Any:
    """A person's answer as the resting cursor takes it: for the branch that has asked."""
    need = rest_of(cursor)
    if need is None or need.kind != "fork":
        return answer
    path, _ = open_needs(need)[0]
    given = answer if isinstance(answer, Answer) else Answer(freeze(answer, ("answer",)))
    return BranchAnswer(path[0], given, path[1:])


def waiting(come_to: Result) -> FrozenList:
    """The conversation while a person is asked: what nobody has answered stands as such in it."""
    found = _talking(come_to.cursor)
    if found is None:
        return FrozenList([])
    frame, own = found
    messages = conversation_of(own)
    question = str(question_of(come_to.need)["question"])
    return _with_open_calls(messages, _done(come_to.cursor, frame), question)


def round_of(cursor: Cursor) -> tuple[int, list[Mapping[str, Any]]]:
    """How many rounds the resting loop has done, and the calls of all rounds that are open."""
    done, calls = 0, []
    for frame in cursor.walk():
        own = cursor.state.scopes.get(frame.scope, {})
        parsed: Any = raw(own.get("parsedResponse"))
        if isinstance(parsed, dict):
            done = int(own.get("loopCount") or 0)
            calls += raw(parsed.get("toolCalls")) or ()
    return done, calls


def _talking(cursor: Cursor) -> tuple[Frame, Mapping[str, Any]] | None:
    """The outermost frame that has a conversation, and its variables."""
    for frame in cursor.walk():
        own = cursor.state.scopes.get(frame.scope, {})
        if "messages" in own:
            return frame, FrozenDict(own)
    return None


def _done(cursor: Cursor, frame: Frame) -> dict[str, Any]:
    """By call: the messages that wait for the others of their round."""
    done: dict[str, Any] = {}
    for scope in dict.fromkeys((frame.scope, *(one.scope for one in cursor.frames))):
        own = cursor.state.scopes.get(scope, {})
        for name in ("heldMessages", "toolMessages"):
            found: Any = raw(own.get(name)) or ()
            done |= {message["tool_call_id"]: message for message in found}
    return done


def _with_open_calls(messages: FrozenList, done: Mapping[str, Any], question: str) -> FrozenList:
    """The messages with one for each call of the last round, in the order of the calls."""
    items = messages.raw
    at = len(items)
    while at and items[at - 1].get("role") == "tool":
        at -= 1
    calls: Any = raw(items[at - 1].get("tool_calls")) if at else None
    if not calls:
        return messages
    there = {**{message["tool_call_id"]: message for message in items[at:]}, **done}
    results = [there.get(call["id"]) or _open(call, question) for call in calls]
    return FrozenList([*items[:at], *results])


def _open(call: Mapping[str, Any], question: str) -> dict[str, Any]:
    arguments: Any = call["arguments"]
    own = arguments.get("question", question) if isinstance(arguments, Mapping) else question
    return tool_message(waiting_text(str(own)), call["id"])
