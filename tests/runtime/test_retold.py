"""What a model is told of the conversation: as much as it needs, and nothing sensitive."""

from __future__ import annotations

from typing import Any

from saywhy.chart.outcome import Need
from saywhy.flows.modelled import ask_model
from saywhy.messages import Message
from saywhy.runtime.retold import MOST_CHARACTERS, MOST_MESSAGES, with_conversation


def said(seq: int, text: str, role: Any = "user", *, pii: bool = False) -> Message:
    return Message(seq, role, text, 1, 0.0, pii=pii)


def masked(text: str) -> str:
    return text.replace("4111", "[X]")


def told(need: Need, *messages: Message) -> list[tuple[str, str]]:
    facts = with_conversation(need, messages, masked).args
    return [(one["role"], one["content"]) for one in facts["conversation"]]


def test_a_question_that_asks_for_it_gets_what_was_said_since() -> None:
    """Other questions stay as they are."""
    talk = (said(1, "a"), said(2, "b", "assistant"), said(3, "c"))
    assert told(ask_model("x", since=2), *talk) == [("assistant", "b"), ("user", "c")]
    plain = ask_model("x", input="a")
    assert with_conversation(plain, talk, masked) is plain
    assert with_conversation(Need("model", "x"), talk, masked) == Need("model", "x")


def test_what_is_sensitive_is_masked() -> None:
    """A marked message whole, known secrets wherever they stand."""
    talk = (said(1, "my card is 4111"), said(2, "hush", pii=True))
    assert told(ask_model("x", since=0), *talk) == [
        ("user", "my card is [X]"),
        ("user", "[REDACTED]"),
    ]


def test_it_is_bounded() -> None:
    """The newest messages, and the beginning of long ones."""
    talk = [said(seq, f"{seq} " + "x" * 5_000) for seq in range(1, MOST_MESSAGES + 5)]
    found = told(ask_model("x", since=0), *talk)
    assert len(found) == MOST_MESSAGES
    assert found[0][1].startswith("5 ")
    assert {len(text) for _, text in found} == {MOST_CHARACTERS}
