"""A model behind Google's Gemini interface. The extra `google` installs what it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from saywhy.errors import OutsideError
from saywhy.models.forms import enforced_schema, missing, wants_json
from saywhy.models.provider import Ask, ModelReply

if TYPE_CHECKING:
    from google.genai import Client

_DONE: Final = frozenset({"STOP", "FINISH_REASON_UNSPECIFIED"})


class GoogleModel:
    """A model by its name. `api_key` is read from `GEMINI_API_KEY` where it is not given.

    `extra_params` are further fields of the request's configuration, in snake_case. A `client` of
    the vendor's package may be handed in; then it is not closed here. Asking raises what that
    package raises.
    """

    def __init__(
        self,
        name: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        reserved_reply_size: int = 1024,
        extra_params: dict[str, Any] | None = None,
        client: Client | None = None,
    ) -> None:
        """Raises `CallerError` where the vendor's package is not installed."""
        self.name: Final = name
        self._size: Final = reserved_reply_size
        self._extra: Final = dict(extra_params or {})
        self._owns: Final = client is None
        self._client: Final = client or _client(api_key, base_url)

    async def ask(self, ask: Ask) -> ModelReply:
        """The answer of the model."""
        config: dict[str, Any] = {
            "system_instruction": ask.system,
            "temperature": 0,
            "max_output_tokens": self._size,
        }
        if wants_json(ask.schema):
            config["response_mime_type"] = "application/json"
        schema = enforced_schema(ask.schema)
        if schema is not None:
            config["response_json_schema"] = schema
        made = await self._client.aio.models.generate_content(
            model=self.name,
            contents=ask.user,
            config={**config, **self._extra},  # pyright: ignore[reportArgumentType]
        )
        self._check(made)
        usage = made.usage_metadata
        return ModelReply(
            made.text or "",
            made.model_version or self.name,
            (usage.prompt_token_count or 0) if usage else 0,
            (usage.candidates_token_count or 0) if usage else 0,
        )

    def _check(self, made: Any) -> None:
        """Raise `OutsideError` for an answer that is none, or not whole."""
        candidates = made.candidates or []
        if not candidates:
            blocked = made.prompt_feedback and made.prompt_feedback.block_reason
            why = f": {blocked.name}" if blocked else ""
            raise OutsideError(f"{self.name} gave no answer{why}")
        reason = candidates[0].finish_reason
        if reason is None or reason.name in _DONE:
            return
        if reason.name == "MAX_TOKENS":
            raise OutsideError(
                f"the answer of {self.name} was cut off at {self._size} tokens",
                hint="a larger reserved_reply_size",
            )
        raise OutsideError(f"{self.name} did not answer to the end: {reason.name}")

    async def close(self) -> None:
        """Close its connections."""
        if self._owns:
            await self._client.aio.aclose()


def _client(api_key: str | None, base_url: str | None) -> Client:
    try:
        from google.genai import Client
        from google.genai.types import HttpOptions
    except ImportError:
        raise missing("google-genai", "google") from None
    options = HttpOptions(base_url=base_url) if base_url else None
    return Client(api_key=api_key, http_options=options)
