"""What a host hands in for a turn, as a checked value."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from saywhy.errors import CallerError, StateValueError, UnknownFlow
from saywhy.runtime.entry import Entry
from saywhy.values import Date, thaw
from tests.flows.conftest import flow, say, world_of


def test_text_is_the_whole_of_it() -> None:
    """A user said it, just now."""
    assert Entry.of("hi") == Entry("hi", role="user")


def test_a_mapping_may_say_more() -> None:
    """Role, time, metadata and a start; keys nobody knows are passed over."""
    entry = Entry.of(
        {
            "role": "user",
            "content": "hi",
            "timestamp": 5,
            "metadata": {"channel": "phone"},
            "start": {"flow": "pay", "arguments": {"a": [1]}},
            "stepId": "ignored",
        },
        {"plan": "gold"},
        "es",
    )
    assert (entry.text, entry.timestamp, entry.metadata) == ("hi", 5.0, {"channel": "phone"})
    assert thaw(entry.start) == {"flow": "pay", "arguments": {"a": [1]}}
    assert (entry.cargo, entry.language) == ({"plan": "gold"}, "es")


@pytest.mark.parametrize(
    ("content", "text"),
    [({"a": [1, None]}, '{"a":[1,null]}'), ([1, "x"], '[1,"x"]'), (5, "5"), (True, "true")],
)
def test_content_that_is_no_text_becomes_json(content: Any, text: str) -> None:
    """Flows see the text; the object is kept with the message."""
    entry = Entry.of({"content": content})
    assert (entry.text, thaw(entry.content)) == (text, content)


@pytest.mark.parametrize(
    ("timestamp", "at"),
    [(1, 1.0), (1.5, 1.5), (datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC), 1000.0), (Date(7), 7.0)],
)
def test_times(timestamp: Any, at: float) -> None:
    """Milliseconds since 1970, or a moment."""
    assert Entry.of({"content": "x", "timestamp": timestamp}).timestamp == at


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ({"role": "tool", "content": "x"}, 'Unsupported role "tool"'),
        ({"role": "user"}, "the entry has no content"),
        ({"content": None}, "the entry has no content"),
        ({"content": "x", "timestamp": "now"}, "the timestamp of an entry"),
        ({"content": "x", "timestamp": True}, "the timestamp of an entry"),
        ({"content": "x", "timestamp": float("nan")}, "the timestamp of an entry"),
        ({"content": "x", "metadata": [1]}, "the metadata of an entry"),
        ({"content": "x", "start": "pay"}, "start needs the name or id of a flow"),
        ({"content": "x", "start": {"flow": ""}}, "start needs the name or id of a flow"),
        ({"content": "x", "start": {"flow": "f", "arguments": [1]}}, "the arguments of an entry"),
        (None, "an entry is text or a mapping, not NoneType"),
        (["x"], "an entry is text or a mapping, not list"),
    ],
)
def test_entries_that_cannot_be_read(entry: Any, problem: str) -> None:
    """The caller is told what is wrong."""
    with pytest.raises(CallerError, match=problem):
        Entry.of(entry)


@pytest.mark.parametrize("entry", [None, {"role": "usr", "content": "x"}])
def test_what_an_entry_looks_like_is_told(entry: Any) -> None:
    """Who hands in something else sees both forms."""
    with pytest.raises(CallerError) as caught:
        Entry.of(entry)
    assert caught.value.hint == '"the words", or {"role": "user", "content": "the words"}'


@pytest.mark.parametrize(
    "entry",
    [
        {"content": {"a": object()}},
        {"content": "x", "metadata": {"a": object()}},
        {"content": "x", "start": {"flow": "f", "arguments": {"a": object()}}},
    ],
)
def test_values_that_no_conversation_can_hold(entry: Any) -> None:
    """Refused when they are handed in, not when they are stored."""
    with pytest.raises(StateValueError, match="is a object, which a conversation cannot hold"):
        Entry.of(entry)


def test_a_start_alone_needs_no_content() -> None:
    """The host starts a flow without a word of the user's."""
    assert Entry.of({"start": {"flow": "pay"}}).text == ""


def test_a_start_names_a_flow_there_is() -> None:
    """By name or id; otherwise the nearest one is suggested."""
    charts = world_of(flow(say("x"), name="Payment")).charts
    Entry.of({"start": {"flow": "payment"}}).check_start(charts)
    Entry.of("no start").check_start(charts)
    with pytest.raises(UnknownFlow) as caught:
        Entry.of({"start": {"flow": "Paymnt"}}).check_start(charts)
    assert caught.value.hint == 'did you mean "Payment"?'


def test_an_entry_waits_in_a_store_as_json() -> None:
    """It comes back as it was handed in."""
    entry = Entry.of(
        {"content": {"since": Date(5)}, "metadata": {"n": 1}, "start": {"flow": "f"}},
        {"when": Date(7), "odd": {"$date": "text"}},
    )
    again = Entry.from_json(entry.to_json())
    assert again.text == entry.text
    assert again.to_json() == entry.to_json()
    assert again.cargo is not None
    assert again.cargo["when"] == Date(7)
