"""A model behind OpenAI's interface, or any server that speaks chat completions.

The extra `openai` installs what it needs; how a request is written and an answer read stands in
`openai_wire`. spec: flow-engine 5.4
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Final

from saywhy.errors import ModelError
from saywhy.host import AiModel
from saywhy.models.failures import status_failure
from saywhy.models.forms import missing
from saywhy.models.openai_wire import PROVIDER, Chunks, body_of, pieces_of_completion
from saywhy.models.provider import Ask, Piece
from saywhy.models.wire import as_model_errors, cut_off, nonsense, pumped, timed_out, unreachable
from saywhy.quiet import keep_quiet

if TYPE_CHECKING:
    from openai import AsyncOpenAI

FLOW_REPLY_SIZE: Final = 1024
"""Tokens of an answer to a flow's question, unless the caller says otherwise."""


class OpenAIModel:
    """A chat-completions model by its name; `base_url` for another server than OpenAI's.

    `api_key` is read from `OPENAI_API_KEY` where it is not given. What the server takes is said as
    in `saywhy.host.AiModel`: `token_param` ("max_tokens" for most other servers),
    `supports_schema`, `fixed_sampling` (for models that refuse a temperature), `extra_params`.
    `reserved_reply_size` caps an answer; where it is None, only those to flows are (1,024 tokens).
    `timeout_seconds` is how long the server may be silent. A `client` of the vendor's package may
    be handed in; then it is not closed here. Nothing is tried twice: that is for
    `saywhy.models.resilience`.
    """

    def __init__(
        self,
        name: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        reserved_reply_size: int | None = None,
        token_param: str = "max_completion_tokens",
        supports_schema: bool = True,
        fixed_sampling: bool = False,
        extra_params: dict[str, Any] | None = None,
        timeout_seconds: float | None = None,
        client: AsyncOpenAI | None = None,
    ) -> None:
        """Raises `CallerError` where the vendor's package is not installed."""
        self.model: Final = AiModel(
            name=name,
            reserved_reply_size=reserved_reply_size or FLOW_REPLY_SIZE,
            token_param=token_param,
            supports_schema=supports_schema,
            fixed_sampling=fixed_sampling,
            extra_params=extra_params or {},
        )
        self._size: Final = reserved_reply_size
        self._owned: Final = None if client else _client(api_key, base_url, timeout_seconds)
        asked = self._owned or client
        assert asked is not None
        self._client: Final = asked.with_options(max_retries=0)  # whether to retry is not its say

    async def ask(self, ask: Ask) -> AsyncGenerator[Piece, None]:
        """The pieces of the answer. Raises `ModelError`."""
        body = body_of(self.model, ask, size=self._size)
        name = str(body["model"])
        with as_model_errors(name, PROVIDER, lambda error: _translated(error, name)):
            if ask.stream:
                async with aclosing(self._streamed(ask, body)) as pieces:
                    async for piece in pieces:
                        yield piece
                return
            made = await self._create(body)
            for piece in pieces_of_completion(made, ask, name, self.model.reserved_reply_size):
                yield piece

    async def _streamed(self, ask: Ask, body: dict[str, Any]) -> AsyncGenerator[Piece, None]:
        body = {**body, "stream": True}
        if "stream_options" not in self.model.extra_params:  # None there: the server knows none
            body["stream_options"] = {"include_usage": True}
        chunks = Chunks(ask, str(body["model"]), self.model.reserved_reply_size)
        async with aclosing(pumped(lambda: self._create(body))) as stream:
            async for chunk in stream:
                for piece in chunks.read(chunk):
                    yield piece
        for piece in chunks.end():
            yield piece

    async def _create(self, body: dict[str, Any]) -> Any:
        # Keys that the package does not know are the server's: all go into the body as they are.
        rest = {key: value for key, value in body.items() if key not in ("model", "messages")}
        streams: dict[str, Any] = {"stream": True} if rest.pop("stream", False) else {}
        return await self._client.chat.completions.create(
            model=body["model"], messages=body["messages"], extra_body=rest, **streams
        )

    async def close(self) -> None:
        """Close its connections."""
        if self._owned is not None:
            await self._owned.close()


def _client(api_key: str | None, base_url: str | None, seconds: float | None) -> AsyncOpenAI:
    try:
        from openai import AsyncOpenAI
    except ImportError:
        raise missing("openai", "openai") from None
    keep_quiet("openai")
    given: dict[str, Any] = {} if seconds is None else {"timeout": seconds}
    return AsyncOpenAI(api_key=api_key, base_url=base_url, **given)


def _translated(error: Exception, who: str) -> ModelError | None:
    """An error of the vendor's package in our words."""
    from openai import (
        APIConnectionError,
        APIError,
        APIResponseValidationError,
        APIStatusError,
        APITimeoutError,
    )

    match error:
        case APITimeoutError():
            return timed_out(who, PROVIDER)
        case APIConnectionError():
            is_midway = "RemoteProtocolError" in type(error.__cause__).__name__
            failed = cut_off if is_midway else unreachable
            return failed(who, PROVIDER, error.__cause__ or error)
        case APIResponseValidationError():
            return nonsense(who, PROVIDER, error.message)
        case APIStatusError():
            return status_failure(
                who,
                PROVIDER,
                error.status_code,
                _said(error),
                kind=error.code or error.type or "",
                headers=error.response.headers,
            )
        case APIError():  # in the middle of a stream
            return status_failure(
                who, PROVIDER, None, error.message, kind=error.code or error.type or ""
            )
        case _:
            return None


def _said(error: Any) -> str:
    """The server's own sentence; where there is none the package's, which quotes the body."""
    body = error.body
    inner = body.get("message") if isinstance(body, dict) else None
    return inner if isinstance(inner, str) and inner else str(error.message)
