"""Promise: what an ask may cost is guessed from all that is sent and all that may come back."""

from __future__ import annotations

from saywhy.models.chat import user_message
from saywhy.models.provider import Ask
from saywhy.models.resilience.size import tokens_asked
from saywhy.values import freeze

SHORT = Ask("chat", messages=[{"role": "user", "content": "x" * 392}])


def test_every_part_counts() -> None:
    """Texts and keys, a quarter of their characters, rounded up."""
    assert tokens_asked(Ask("chat")) == 0
    assert tokens_asked(Ask("chat", "x" * 401)) == 101
    assert tokens_asked(SHORT) == (392 + len("rolecontentuser") + 3) // 4
    tools = [{"name": "look", "description": "d" * 85, "input_schema": {"a": [1, None]}}]
    assert tokens_asked(Ask("chat", tools=tools)) == (4 + 4 + 11 + 85 + 12 + 1 + 4 + 3) // 4


def test_frozen_messages_count_like_plain_ones() -> None:
    """The state of a conversation is frozen."""
    assert tokens_asked(Ask("chat", messages=freeze(list(SHORT.messages)))) == tokens_asked(SHORT)


def test_the_answer_counts_where_it_is_bounded() -> None:
    """And only where that is a number."""
    assert tokens_asked(Ask("chat", settings={"max_tokens": 500})) == 500
    assert tokens_asked(Ask("chat", settings={"max_tokens": "many"})) == 0


def test_an_image_is_not_its_data() -> None:
    """A picture of a megabyte is no quarter of a million tokens."""
    source = {"type": "base64", "media_type": "image/png", "data": "A" * 1_000_000}
    asked = Ask("chat", messages=[user_message([{"type": "image", "source": source}])])
    assert 1000 <= tokens_asked(asked) < 1100
