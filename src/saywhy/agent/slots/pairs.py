"""Calls and their results belong together: what is left of a history when some of it is gone.

A vendor refuses a history with a result whose call is missing, or a call without its result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from saywhy.values import raw


def paired(messages: Sequence[Any]) -> list[Any]:
    """The messages without orphans: every call is answered once, right after it was made.

    A result without its call goes, and so does a call without a result. An assistant message whose
    calls all go goes with them, unless it also says something. Nothing else is changed or moved.
    """
    kept: list[Any] = []
    at, end = 0, len(messages)
    while at < end:
        message = messages[at]
        at += 1
        role = message.get("role")
        if role == "tool":
            continue  # those that belong to a call were taken with it
        calls = message.get("tool_calls")
        if role != "assistant" or not calls:
            kept.append(message)
            continue
        start = at
        while at < end and messages[at].get("role") == "tool":
            at += 1
        kept += _group(message, raw(calls), messages[start:at])
    return kept


def _group(message: Any, calls: Sequence[Any], results: Sequence[Any]) -> list[Any]:
    """An assistant message with those of its calls that are answered, and the answers."""
    wanted = {call.get("id") for call in calls}
    answers: dict[Any, Any] = {}
    for result in results:
        answered = result.get("tool_call_id")
        if answered in wanted:
            answers.setdefault(answered, result)
    if len(answers) == len(calls):
        return [message, *answers.values()]
    if not answers:
        return [_without_calls(message)] if message.get("content") else []
    left: dict[Any, Any] = {}
    for call in calls:  # two calls of one id can have one answer only
        if call.get("id") in answers:
            left.setdefault(call["id"], call)
    return [{**_fields(message), "tool_calls": list(left.values())}, *answers.values()]


def _without_calls(message: Any) -> dict[str, Any]:
    return {name: value for name, value in _fields(message).items() if name != "tool_calls"}


def _fields(message: Mapping[str, Any]) -> dict[str, Any]:
    fields: Any = raw(message)
    return dict(fields)
