"""A model behind Anthropic's interface. The extra `anthropic` installs what it needs.

How a request is written and an answer read stands in `anthropic_wire`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Final

from saywhy.errors import ModelError
from saywhy.models.anthropic_wire import (
    PROVIDER,
    Blocks,
    messages_of,
    pieces_of_message,
    tools_of,
)
from saywhy.models.failures import status_failure
from saywhy.models.forms import described, enforced_schema, form_of, is_closed, missing
from saywhy.models.provider import CHAT, Ask, Piece
from saywhy.models.wire import (
    ToolNames,
    as_model_errors,
    nonsense,
    pumped,
    system_of,
    timed_out,
    unreachable,
)
from saywhy.quiet import keep_quiet
from saywhy.values import thaw

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

FLOW_REPLY_SIZE: Final = 1024
CHAT_REPLY_SIZE: Final = 4096
"""Tokens of an answer, unless the caller says otherwise: the server wants to be told."""


class AnthropicModel:
    """A model by its name. `api_key` is read from `ANTHROPIC_API_KEY` where it is not given.

    `extra_params` are further keys of the request, such as `{"temperature": 0}` for models that
    take one; None takes a key away. With `supports_schema=False` the form of an answer is only
    described in words. `reserved_reply_size` caps an answer: 1,024 tokens for flows and 4,096 in a
    conversation where it is None. `timeout_seconds` is how long the server may be silent. A
    `client` of the vendor's package may be handed in; then it is not closed here. Nothing is tried
    twice: that is for `saywhy.models.resilience`.
    """

    def __init__(
        self,
        name: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        reserved_reply_size: int | None = None,
        supports_schema: bool = True,
        extra_params: dict[str, Any] | None = None,
        timeout_seconds: float | None = None,
        client: AsyncAnthropic | None = None,
    ) -> None:
        """Raises `CallerError` where the vendor's package is not installed."""
        self.name: Final = name
        self._size: Final = reserved_reply_size
        self._supports_schema: Final = supports_schema
        self._extra: Final = dict(extra_params or {})
        self._owned: Final = None if client else _client(api_key, base_url, timeout_seconds)
        asked = self._owned or client
        assert asked is not None
        self._client: Final = asked.with_options(max_retries=0)  # whether to retry is not its say

    async def ask(self, ask: Ask) -> AsyncGenerator[Piece, None]:
        """The pieces of the answer. Raises `ModelError`."""
        body = self._body(ask)
        name, size = str(body["model"]), int(body["max_tokens"])
        with as_model_errors(name, PROVIDER, lambda error: _translated(error, name)):
            if not ask.stream:
                for piece in pieces_of_message(await self._create(body), ask, name, size):
                    yield piece
                return
            blocks = Blocks(ask, name, size)
            opening = {**body, "stream": True}
            async with aclosing(pumped(lambda: self._create(opening))) as stream:
                async for event in stream:
                    for piece in blocks.read(event):
                        yield piece
            for piece in blocks.end():
                yield piece

    def _body(self, ask: Ask) -> dict[str, Any]:
        form = form_of(ask)
        schema: Any = enforced_schema(ask.schema)
        if form is not None and not (self._supports_schema and is_closed(form.schema)):
            ask = described(ask, form)
        elif form is not None:
            schema = form.schema
        settings, names = ask.settings, ToolNames(ask.tools)
        usual = CHAT_REPLY_SIZE if ask.task == CHAT else FLOW_REPLY_SIZE
        body: dict[str, Any] = {
            "model": settings.get("model") or self.name,
            "max_tokens": settings.get("max_tokens") or self._size or usual,
            "system": system_of(ask),
            "messages": messages_of(ask.messages, names),
            "tools": tools_of(ask.tools, names) if ask.tools else None,
            "temperature": settings.get("temperature"),
            "stop_sequences": _stops(settings.get("stop")),
        }
        if schema is not None and self._supports_schema:
            body["output_config"] = {"format": {"type": "json_schema", "schema": thaw(schema)}}
        return {key: one for key, one in {**body, **self._extra}.items() if one is not None}

    async def _create(self, body: dict[str, Any]) -> Any:
        # The package insists on these by name; what it may not know goes into the body as it is.
        named = ("model", "max_tokens", "messages", "stream")
        given: dict[str, Any] = {key: body[key] for key in named if key in body}
        rest = {key: value for key, value in body.items() if key not in named}
        return await self._client.messages.create(**given, extra_body=rest)

    async def close(self) -> None:
        """Close its connections."""
        if self._owned is not None:
            await self._owned.close()


def _stops(given: Any) -> list[str] | None:
    if not given:
        return None
    return [given] if isinstance(given, str) else list(given)


def _client(api_key: str | None, base_url: str | None, seconds: float | None) -> AsyncAnthropic:
    try:
        from anthropic import AsyncAnthropic
    except ImportError:
        raise missing("anthropic", "anthropic") from None
    keep_quiet("anthropic")
    given: dict[str, Any] = {} if seconds is None else {"timeout": seconds}
    return AsyncAnthropic(api_key=api_key, base_url=base_url, **given)


def _translated(error: Exception, who: str) -> ModelError | None:
    """An error of the vendor's package in our words."""
    from anthropic import (
        APIConnectionError,
        APIResponseValidationError,
        APIStatusError,
        APITimeoutError,
    )

    match error:
        case APITimeoutError():
            return timed_out(who, PROVIDER)
        case APIConnectionError():
            return unreachable(who, PROVIDER, error)
        case APIResponseValidationError():
            return nonsense(who, PROVIDER, error.message)
        case APIStatusError():  # also in the middle of a stream, with the status 200
            return status_failure(
                who,
                PROVIDER,
                error.status_code,
                error.api_message or error.message,
                kind=error.type or "",
                headers=error.response.headers,
            )
        case _:
            return None
