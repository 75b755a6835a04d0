"""The three leaves side by side: how each is made, streamed to, and checked by its own package."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anthropic.types import Message, RawMessageStreamEvent
from anthropic.types.message_create_params import MessageCreateParams
from google.genai import types as google
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.chat.completion_create_params import CompletionCreateParams
from pydantic import TypeAdapter

from saywhy.models.anthropic import AnthropicModel
from saywhy.models.google import GoogleModel
from saywhy.models.openai import OpenAIModel
from saywhy.models.provider import Ask, ToolCallPiece
from tests.models.line import anthropic_sse, google_sse, openai_sse

CASES = Path(__file__).parent.parent / "cases" / "models"


@dataclass(frozen=True)
class Vendor:
    """One of them."""

    name: str
    model: Callable[..., Any]
    sse: Callable[[Sequence[Any]], list[bytes]]
    whole: Any
    """What the package takes a whole answer for."""
    event: Any
    """What it takes one event of a stream for."""
    accepts: Callable[[Any], object]
    """Raises for a request that the package's own types refuse."""

    def cases(self) -> list[dict[str, Any]]:
        """What stands in its file."""
        found: list[dict[str, Any]] = json.loads((CASES / f"{self.name}.json").read_text("utf-8"))
        return found


def _typed(shape: Any) -> Callable[[Any], object]:
    # Iterables are checked only when they are read, and a type of its own may hide behind one.
    adapter: TypeAdapter[Any] = TypeAdapter(shape)

    def accepts(body: Any) -> object:
        return _read(adapter.validate_python(body))

    return accepts


def _read(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _read(one) for key, one in value.items()}
    if isinstance(value, str | bytes | int | float | None):
        return value
    return [_read(one) for one in value]


def _google_accepts(body: Any) -> object:
    for content in body["contents"]:
        google.Content.model_validate(content)
    for tool in body.get("tools", ()):
        google.Tool.model_validate(tool)
    return google.GenerationConfig.model_validate(body.get("generationConfig", {}))


OPENAI = Vendor(
    "openai",
    lambda base, **more: OpenAIModel("small", api_key="key", base_url=base, **more),
    openai_sse,
    TypeAdapter(ChatCompletion),
    TypeAdapter(ChatCompletionChunk),
    _typed(CompletionCreateParams),
)
ANTHROPIC = Vendor(
    "anthropic",
    lambda base, **more: AnthropicModel("small", api_key="key", base_url=base, **more),
    anthropic_sse,
    TypeAdapter(Message),
    TypeAdapter(RawMessageStreamEvent),
    _typed(MessageCreateParams),
)
GOOGLE = Vendor(
    "google",
    lambda base, **more: GoogleModel("small", api_key="key", base_url=base, **more),
    google_sse,
    TypeAdapter(google.GenerateContentResponse),
    TypeAdapter(google.GenerateContentResponse),
    _google_accepts,
)
VENDORS = (OPENAI, ANTHROPIC, GOOGLE)


def ask_of(written: Mapping[str, Any], *, stream: bool = False) -> Ask:
    """A question as a case writes it."""
    return Ask(**written, stream=stream)


def call_of(written: Mapping[str, Any]) -> ToolCallPiece:
    """A call as a case writes it."""
    return ToolCallPiece(**written)
