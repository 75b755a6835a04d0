"""Promise: the events of a run are typed values that read the same as JSON."""

from __future__ import annotations

import json

import pytest

from saywhy.agent.events import (
    KINDS,
    ErrorEvent,
    LLMEnd,
    Token,
    ToolStart,
    TurnEnd,
    event_of,
)
from saywhy.values import freeze


def test_all_kinds_have_their_names() -> None:
    """The names of the events are those of the signals they come from."""
    assert list(KINDS) == [
        "turn_start",
        "llm_start",
        "thinking",
        "token",
        "llm_end",
        "tool_start",
        "tool_end",
        "turn_end",
        "error",
    ]


def test_a_signal_becomes_an_event() -> None:
    """What a signal tells beyond the fields of its event is left out."""
    data = {"iteration": 2, "tool_call_count": 1, "content": "mm", "model": "m", "usage": {"x": 1}}
    event = event_of("llm_end", data)
    assert event == LLMEnd(2, 1, "mm", "m")
    assert event is not None
    assert event.type == "llm_end"


@pytest.mark.parametrize(("kind", "data"), [("progress", {"done": 1}), ("token", "text")])
def test_other_signals_are_no_events(kind: str, data: object) -> None:
    """A signal of somebody else's is passed over."""
    assert event_of(kind, data) is None


def test_events_are_plain_json() -> None:
    """What is not known is absent, not null; arguments are plain data."""
    assert TurnEnd("hi", 0).to_value() == {"type": "turn_end", "content": "hi", "iterations": 0}
    paused = TurnEnd("", 1, True).to_value()
    assert paused == {"type": "turn_end", "content": "", "iterations": 1, "paused": True}
    started = ToolStart("a", "1", freeze({"k": [1]})).to_value()
    assert type(started["args"]) is dict
    assert json.loads(json.dumps(started)) == {
        "type": "tool_start",
        "tool_name": "a",
        "tool_call_id": "1",
        "args": {"k": [1]},
    }


def test_events_as_server_sent_ones() -> None:
    """One line for the type, one for the data, and a blank one: line breaks stay inside JSON."""
    assert Token("a\nb").to_sse() == ('event: token\ndata: {"type":"token","content":"a\\nb"}\n\n')
    assert ErrorEvent("llm", "no").to_sse().startswith("event: error\ndata: {")
