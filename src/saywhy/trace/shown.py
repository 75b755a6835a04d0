"""A message as it may be shown: masked where the steps that took it in or said it were masked.

A session keeps its messages as they were, for it has to go on with them. Whoever shows one, in an
explanation, a story or a file, shows it as the record has it.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from saywhy.chart.commit import Commit
from saywhy.messages import Message, Span
from saywhy.trace.causes.origin import own_texts
from saywhy.trace.masking.redact import MARK, REDACTED_TAG


def shown(
    message: Message, received: Commit | None, commit_of: Callable[[int], Commit | None]
) -> Message:
    """The message, masked where needed.

    `received` is the commit that took a user's message in, `commit_of` finds those that said parts
    of a reply.
    """
    if message.pii:
        return msgspec.structs.replace(message, text=MARK, content=None, spans=())
    if received is not None and REDACTED_TAG in received.tags:
        return _as_received(message, received)
    if message.spans:
        return _as_said(message, commit_of)
    return message


def _as_received(message: Message, received: Commit) -> Message:
    key = ("input", str(message.seq))
    texts = [op.value for op in received.ops if op.key == key and MARK in str(op.value)]
    if not texts:
        return message
    return msgspec.structs.replace(message, text=str(texts[-1]), content=None)


def _as_said(message: Message, commit_of: Callable[[int], Commit | None]) -> Message:
    text = ""
    end = 0
    spans: list[Span] = []
    for span in message.spans:
        text += message.text[end : span.start]
        kept = _stretch(message.text[span.start : span.end], commit_of(span.commit))
        spans.append(Span(len(text), len(text) + len(kept), span.commit))
        text += kept
        end = span.end
    text += message.text[end:]
    if text == message.text:
        return message
    return msgspec.structs.replace(message, text=text, spans=tuple(spans))


def _stretch(text: str, commit: Commit | None) -> str:
    if commit is None or REDACTED_TAG not in commit.tags:
        return text
    own = [said for op in commit.ops for said in own_texts(op.value, commit.seq)]
    masked = [said for said in own if MARK in said]
    if not masked or text in own:
        return text
    fitting = [said for said in masked if _fits(said, text)]
    return max(fitting, key=_told, default=MARK)


def _fits(masked: str, text: str) -> bool:
    """Whether a text may be what was said before it was masked: a step may have said several."""
    first, *others = masked.split(MARK)
    if not others:
        return text == masked
    *middle, last = others
    if not text.startswith(first):
        return False
    at = len(first)
    for part in middle:
        found = text.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return len(text) - at >= len(last) and text.endswith(last)


def _told(masked: str) -> int:
    return len(masked.replace(MARK, ""))
