"""Promise: two requests are the same only if a model would read the same."""

from __future__ import annotations

import pytest

from saywhy.models.provider import Ask
from saywhy.runtime.replay.request import Request
from saywhy.values import freeze

ASK = Ask("chat", "Help.", freeze([{"role": "user", "content": "hi"}]), freeze([{"name": "t"}]))


def test_the_same_question() -> None:
    """Frozen or not, and whoever made it."""
    plain = Ask("chat", "Help.", [{"role": "user", "content": "hi"}], [{"name": "t"}])
    assert Request(ASK).text == Request(plain, of_agent=True).text


@pytest.mark.parametrize(
    "fields",
    [
        {"system": None},
        {"system": "Help!"},
        {"messages": ()},
        {"tools": None},
        {"settings": {"temperature": 1}},
        {"task": "other"},
    ],
)
def test_another_question(fields: dict[str, object]) -> None:
    """Each part of it counts."""
    assert Request(ASK).on(**fields).text != Request(ASK).text


def test_whether_somebody_looks_on_is_no_part_of_it() -> None:
    """A streamed question is the same question."""
    assert Request(ASK).on(stream=True).text == Request(ASK).text
