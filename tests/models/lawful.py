"""Whether vendors take a conversation: by their packages' types and by the laws of their servers.

The types do not know who may speak after whom, nor that results stand with the calls they answer.
"""

from __future__ import annotations

import re
from typing import Any

from saywhy.models import anthropic_wire, google_wire, openai_wire
from saywhy.models.chat import problems_of
from saywhy.models.provider import Ask
from saywhy.models.wire import ToolNames
from tests.models.vendors import ANTHROPIC, GOOGLE, OPENAI

NAMES = ToolNames()
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
"""What all three servers take for the name of a function."""


def openai_messages(history: Any) -> list[dict[str, Any]]:
    return openai_wire.messages_of(Ask("chat", "s", history), NAMES)


def anthropic_messages(history: Any) -> list[dict[str, Any]]:
    return anthropic_wire.messages_of(history, NAMES)


def contents_of(history: Any) -> list[dict[str, Any]]:
    return google_wire.contents_of(history, NAMES)


def check_vendors(history: Any) -> None:
    """Raises `AssertionError` or a package's own error where one of the three would refuse it."""
    check_openai(history)
    check_anthropic(history)
    check_google(history)


def check_openai(history: Any) -> None:
    """Its types accept it, and the law of calls and results holds there as well."""
    sent = openai_messages(history)
    OPENAI.accepts({"model": "small", "messages": sent})
    assert all(NAME.fullmatch(call["name"]) for one in sent for call in _ours(one)["tool_calls"])
    roles = [one["role"] for one in sent[1:]]
    assert roles == [one["role"] for one in history]
    assert problems_of([_ours(one) for one in sent]) == []


def _ours(message: dict[str, Any]) -> dict[str, Any]:
    calls = [{"id": one["id"], **one["function"]} for one in message.get("tool_calls", ())]
    return {**message, "tool_calls": calls}


def check_anthropic(history: Any) -> None:
    """Two speak in turns, the user first; the results of a round open the turn after it."""
    sent = anthropic_messages(history)
    ANTHROPIC.accepts({"model": "small", "max_tokens": 9, "messages": sent})
    assert all(one["content"] for one in sent), "a message with nothing in it"
    _take_turns([one["role"] for one in sent], "assistant")
    asked: list[str] = []
    ever: list[str] = []
    for turn in sent:
        blocks = turn["content"] if isinstance(turn["content"], list) else []
        kinds = [one["type"] for one in blocks]
        assert all(one["text"].strip() for one in blocks if one["type"] == "text")
        results = [one["tool_use_id"] for one in blocks if one["type"] == "tool_result"]
        assert results == asked
        assert kinds[: len(results)] == ["tool_result"] * len(results)
        asked = [one["id"] for one in blocks if one["type"] == "tool_use"]
        ever += asked
        assert all(NAME.fullmatch(one["name"]) for one in blocks if one["type"] == "tool_use")
    assert asked == []
    assert len(set(ever)) == len(ever), "an id that stands for two calls"


def check_google(history: Any) -> None:
    """Two speak in turns, the user first; there are as many results as there were calls."""
    sent = contents_of(history)
    GOOGLE.accepts({"contents": sent})
    assert all(one["parts"] for one in sent), "a turn with nothing in it"
    _take_turns([one["role"] for one in sent], "model")
    asked = 0
    for turn in sent:
        named = [*map(_named, turn["parts"])]
        assert all(NAME.fullmatch(name) for name in named if name is not None)
        results = [part for part in turn["parts"] if "function_response" in part]
        assert len(results) == asked
        asked = sum("function_call" in part for part in turn["parts"])
    assert asked == 0


def _named(part: dict[str, Any]) -> str | None:
    held = part.get("function_call") or part.get("function_response")
    return held["name"] if held else None


def _take_turns(roles: list[str], other: str) -> None:
    assert roles == ["user" if at % 2 == 0 else other for at in range(len(roles))]
