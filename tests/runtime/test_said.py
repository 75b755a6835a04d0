"""What was said in one turn, and how much of it may be kept."""

from __future__ import annotations

from saywhy.messages import Span
from saywhy.runtime.entry import Entry
from saywhy.runtime.said import Said
from saywhy.runtime.session import Session
from saywhy.values import freeze
from tests.flows.conftest import NOW, flow, say, world_of


def session(*secrets: str) -> Session:
    made = Session("c1", "ann", None, world_of(flow(say("x"))).charts, NOW)
    made.state.scopes["session"]["secrets"] = freeze(list(secrets))
    return made


def test_messages_are_numbered_through_the_conversation() -> None:
    """Those of the turn and those of the session are the same."""
    made = session()
    first = Said(made)
    first.hear(Entry.of("a"), NOW)
    second = Said(made)
    second.hear(Entry.of({"content": "b", "timestamp": 5, "metadata": {"k": 1}}), NOW)
    second.reply([["c", 7], ["\n\n", 0], ["", 9], ["d", 8]], NOW)
    assert [(one.seq, one.role, one.text, one.at) for one in made.messages] == [
        (1, "user", "a", NOW),
        (2, "user", "b", 5.0),
        (3, "assistant", "c\n\nd", NOW),
    ]
    assert second.messages == made.messages[1:]
    assert made.messages[1].metadata == {"k": 1}
    assert made.messages[2].spans == (Span(0, 1, 7), Span(3, 4, 8))


def test_a_reply_is_kept_without_what_is_sensitive() -> None:
    """Its stretches still lie where their words are."""
    made = session("4711")
    said = Said(made)
    kept = said.reply([["code 4711", 1], ["\n\n", 0], ["4711!", 2]], NOW)
    assert kept.text == "code [REDACTED]\n\n[REDACTED]!"
    assert [kept.text[span.start : span.end] for span in kept.spans] == [
        "code [REDACTED]",
        "[REDACTED]!",
    ]


def test_a_sealed_turn_keeps_no_sensitive_words() -> None:
    """Neither the answer itself nor a message that repeats it; objects go with their text."""
    made = session("4711")
    said = Said(made)
    said.hear(Entry.of({"content": {"typed": "4711"}}), NOW, pii=True)
    said.hear(Entry.of({"content": {"again": "it was 4711"}}), NOW)
    harmless = said.hear(Entry.of("nothing"), NOW)
    said.seal()
    assert [one.text for one in made.messages] == [
        "[REDACTED]",
        '{"again":"it was [REDACTED]"}',
        "nothing",
    ]
    assert [one.content for one in made.messages] == [None, None, None]
    assert made.messages[2] is harmless
    assert said.messages == made.messages


def test_a_turn_taken_up_again_goes_on_with_its_message() -> None:
    """The user's message of a turn that a crash interrupted is the turn's first."""
    made = session()
    Said(made).hear(Entry.of("a"), NOW)
    said = Said(made)
    said.take_up()
    said.reply([["b", 1]], NOW)
    assert [one.text for one in said.messages] == ["a", "b"]
    other = Said(made)
    other.take_up()
    assert other.messages == []
