"""A model behind Anthropic's interface. The extra `anthropic` installs what it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from saywhy.errors import OutsideError
from saywhy.models.forms import enforced_schema, missing
from saywhy.models.provider import Ask, ModelReply

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic


class AnthropicModel:
    """A model by its name. `api_key` is read from `ANTHROPIC_API_KEY` where it is not given.

    `extra_params` are further keys of the request, such as `{"temperature": 0}` for models that
    take one. With `supports_schema=False` the form of an answer is only described in words. A
    `client` of the vendor's package may be handed in; then it is not closed here. Asking raises
    what that package raises.
    """

    def __init__(
        self,
        name: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        reserved_reply_size: int = 1024,
        supports_schema: bool = True,
        extra_params: dict[str, Any] | None = None,
        client: AsyncAnthropic | None = None,
    ) -> None:
        """Raises `CallerError` where the vendor's package is not installed."""
        self.name: Final = name
        self._size: Final = reserved_reply_size
        self._supports_schema: Final = supports_schema
        self._extra: Final = dict(extra_params or {})
        self._owns: Final = client is None
        self._client: Final = client or _client(api_key, base_url)

    async def ask(self, ask: Ask) -> ModelReply:
        """The answer of the model."""
        extra = dict(self._extra)
        schema = enforced_schema(ask.schema) if self._supports_schema else None
        if schema is not None:
            extra["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
        made = await self._client.messages.create(
            model=self.name,
            max_tokens=self._size,
            system=ask.system or "",
            messages=[{"role": "user", "content": ask.user}],
            extra_body=extra,
        )
        if made.stop_reason == "refusal":
            raise OutsideError(f"{self.name} refused to answer")
        if made.stop_reason == "max_tokens":
            raise OutsideError(
                f"the answer of {self.name} was cut off at {self._size} tokens",
                hint="a larger reserved_reply_size",
            )
        text = "".join(block.text for block in made.content if block.type == "text")
        return ModelReply(text, made.model, made.usage.input_tokens, made.usage.output_tokens)

    async def close(self) -> None:
        """Close its connections."""
        if self._owns:
            await self._client.close()


def _client(api_key: str | None, base_url: str | None) -> AsyncAnthropic:
    try:
        from anthropic import AsyncAnthropic
    except ImportError:
        raise missing("anthropic", "anthropic") from None
    return AsyncAnthropic(api_key=api_key, base_url=base_url)
