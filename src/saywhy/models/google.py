"""A model behind Google's Gemini interface. The extra `google` installs what it needs.

How a request is written and an answer read stands in `google_wire`.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Final

from saywhy.errors import ModelError
from saywhy.models.failures import status_failure
from saywhy.models.forms import described, enforced_schema, form_of, missing, wants_json
from saywhy.models.google_wire import PROVIDER, Parts, contents_of, tools_of
from saywhy.models.provider import CHAT, Ask, Piece
from saywhy.models.wire import ToolNames, as_model_errors, pumped, system_of
from saywhy.quiet import keep_quiet
from saywhy.values import thaw

if TYPE_CHECKING:
    from google.genai import Client

FLOW_REPLY_SIZE: Final = 1024
"""Tokens of an answer to a flow's question, unless the caller says otherwise."""


class GoogleModel:
    """A model by its name. `api_key` is read from `GEMINI_API_KEY` where it is not given.

    `extra_params` are further fields of the request's configuration, in snake_case.
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
        extra_params: dict[str, Any] | None = None,
        timeout_seconds: float | None = None,
        client: Client | None = None,
    ) -> None:
        """Raises `CallerError` where the vendor's package is not installed."""
        self.name: Final = name
        self._size: Final = reserved_reply_size
        self._extra: Final = dict(extra_params or {})
        self._owns: Final = client is None
        self._client: Final = client or _client(api_key, base_url, timeout_seconds)

    async def ask(self, ask: Ask) -> AsyncGenerator[Piece, None]:
        """The pieces of the answer. Raises `ModelError`."""
        name = str(ask.settings.get("model") or self.name)
        config, ask = self._config(ask)
        parts = Parts(ask, name, config.get("max_output_tokens"))
        given: dict[str, Any] = {
            "model": name,
            "contents": contents_of(ask.messages, ToolNames(ask.tools)),
            "config": config,
        }
        models = self._client.aio.models
        with as_model_errors(name, PROVIDER, lambda error: _translated(error, name)):
            if ask.stream:
                stream = pumped(lambda: models.generate_content_stream(**given))
                async with aclosing(stream) as chunks:
                    async for chunk in chunks:
                        for piece in parts.read(chunk):
                            yield piece
            else:
                for piece in parts.read(await models.generate_content(**given)):
                    yield piece
            for piece in parts.end():
                yield piece

    def _config(self, ask: Ask) -> tuple[dict[str, Any], Ask]:
        """How the answer is to be made, and the question, perhaps with its form in words."""
        form, config = form_of(ask), self._base(ask)
        schema: Any = enforced_schema(ask.schema)
        is_json = wants_json(ask.schema)
        if form is not None and ask.tools:  # the server takes either tools or a form
            ask = described(ask, form)
        elif form is not None:
            schema, is_json = form.schema, True
        config["system_instruction"] = system_of(ask)
        if is_json:
            config["response_mime_type"] = "application/json"
        if schema is not None:
            config["response_json_schema"] = thaw(schema)
        config |= self._extra
        return {key: one for key, one in config.items() if one is not None}, ask

    def _base(self, ask: Ask) -> dict[str, Any]:
        settings, is_chat = ask.settings, ask.task == CHAT
        stop = settings.get("stop")
        usual = self._size if is_chat else self._size or FLOW_REPLY_SIZE
        return {
            "temperature": settings.get("temperature", None if is_chat else 0),
            "max_output_tokens": settings.get("max_tokens") or usual,
            "stop_sequences": [stop] if isinstance(stop, str) else thaw(stop) or None,
            "tools": tools_of(ask.tools, ToolNames(ask.tools)) if ask.tools else None,
            # Calls are ours to make: the package would look for Python functions among the tools.
            "automatic_function_calling": {"disable": True} if ask.tools else None,
            # Nor is it the package's say whether to retry; a client of our own is made that way.
            "http_options": None if self._owns else {"retry_options": {"attempts": 1}},
        }

    async def close(self) -> None:
        """Close its connections."""
        if self._owns:
            await self._client.aio.aclose()


def _client(api_key: str | None, base_url: str | None, seconds: float | None) -> Client:
    try:
        from google.genai import Client
        from google.genai.types import HttpOptions, HttpRetryOptions
    except ImportError:
        raise missing("google-genai", "google") from None
    keep_quiet("google_genai")
    options = HttpOptions(
        base_url=base_url,
        timeout=None if seconds is None else round(seconds * 1000),
        retry_options=HttpRetryOptions(attempts=1),
    )
    return Client(api_key=api_key, http_options=options)


def _translated(error: Exception, who: str) -> ModelError | None:
    """An error of the vendor's package in our words."""
    from google.genai.errors import APIError

    if not isinstance(error, APIError):
        return None
    failed = status_failure(
        who,
        PROVIDER,
        error.code,
        error.message or "",
        kind=error.status or "",
        headers=getattr(error.response, "headers", None),
    )
    if failed.retry_after is None:
        failed.retry_after = _delay(error.details)
    return failed


def _delay(details: Any) -> float | None:
    """How many seconds the body of an error asks us to wait: `"retryDelay": "17s"`."""
    inner = details.get("error", details) if isinstance(details, Mapping) else None
    infos = inner.get("details") if isinstance(inner, Mapping) else None
    for info in infos if isinstance(infos, list) else ():
        delay = info.get("retryDelay") if isinstance(info, Mapping) else None
        if isinstance(delay, str) and re.fullmatch(r"\d+(\.\d+)?s", delay):
            return float(delay[:-1])
    return None
