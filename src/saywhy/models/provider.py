"""What a language model is to this library: asked something, it answers with text.

Who is asked is a `Provider`: a host's own function (`callback`), one of the leaves for vendors, or
the scripted one that tests play. What to ask, and what an answer means, is for others to say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import msgspec


class Ask(msgspec.Struct, frozen=True, omit_defaults=True):
    """One question for a model."""

    task: str
    """What it is for: detect_flow, extract_parameters, intent_analysis, language, voice, …"""
    system: str
    user: str
    schema: str | None = None
    """The form of the answer, as JSON text: `{"type": "json_schema", "json_schema": {…}}`."""
    request: Mapping[str, Any] | None = None
    """The same question for a classifier; only where a flow or its parameters are looked for."""


class ModelReply(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a model answered."""

    text: str
    model: str = ""
    """Which one it was, where that is known."""
    tokens_in: int = 0
    tokens_out: int = 0
    """What it read and wrote, as its vendor counts; 0 where that is not known."""


@runtime_checkable
class Provider(Protocol):
    """Somebody to ask. Any number of questions may be on their way at once.

    One that cannot answer raises; what it raises is told to whoever asked. It is cancelled when
    time is up or the turn is: it must then let go of what it holds.
    """

    async def ask(self, ask: Ask) -> ModelReply:
        """The answer to one question."""
        ...
