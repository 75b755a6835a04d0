"""What was said in a flow so far, as a model is told of it: without what is sensitive.

A question that needs it says since which message; the words themselves are put in when it leaves,
so that they stand neither in the question on record nor in the session once more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from saywhy.chart.outcome import Need
from saywhy.messages import Message
from saywhy.trace.masking.redact import MARK
from saywhy.values import FrozenDict, freeze

MOST_MESSAGES: Final = 20
MOST_CHARACTERS: Final = 1_000
"""Of one message; what a model finds in more is no argument."""


def with_conversation(
    need: Need, messages: Sequence[Message], masked: Callable[[str], str]
) -> Need:
    """The question with what was said, where it asks for that; else as it is."""
    facts = need.args
    if not isinstance(facts, FrozenDict) or "since" not in facts:
        return need
    since = facts["since"]
    told = [one for one in messages if one.seq >= since][-MOST_MESSAGES:]
    more: dict[str, Any] = {**facts, "conversation": [_said(one, masked) for one in told]}
    return msgspec.structs.replace(need, args=freeze(more))


def _said(message: Message, masked: Callable[[str], str]) -> dict[str, str]:
    text = MARK if message.pii else masked(message.text)[:MOST_CHARACTERS]
    return {"role": message.role, "content": text}
