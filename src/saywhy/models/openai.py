"""A model behind OpenAI's interface, or any server that speaks chat completions.

The extra `openai` installs what it needs. spec: flow-engine 5.4
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from saywhy.errors import OutsideError
from saywhy.host import AiModel, build_ai_request
from saywhy.models.forms import missing
from saywhy.models.provider import Ask, ModelReply

if TYPE_CHECKING:
    from openai import AsyncOpenAI


class OpenAIModel:
    """A chat-completions model by its name; `base_url` for another server than OpenAI's.

    `api_key` is read from `OPENAI_API_KEY` where it is not given. What the server takes is said as
    in `saywhy.host.AiModel`: `token_param` ("max_tokens" for most other servers),
    `supports_schema`, `fixed_sampling` (for models that refuse a temperature), `extra_params`.
    A `client` of the vendor's package may be handed in; then it is not closed here. Asking raises
    what that package raises.
    """

    def __init__(
        self,
        name: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        reserved_reply_size: int = 1024,
        token_param: str = "max_completion_tokens",
        supports_schema: bool = True,
        fixed_sampling: bool = False,
        extra_params: dict[str, Any] | None = None,
        client: AsyncOpenAI | None = None,
    ) -> None:
        """Raises `CallerError` where the vendor's package is not installed."""
        self.model: Final = AiModel(
            name=name,
            reserved_reply_size=reserved_reply_size,
            token_param=token_param,
            supports_schema=supports_schema,
            fixed_sampling=fixed_sampling,
            extra_params=extra_params or {},
        )
        self._owns: Final = client is None
        self._client: Final = client or _client(api_key, base_url)

    async def ask(self, ask: Ask) -> ModelReply:
        """The answer of the model."""
        body = build_ai_request(self.model, ask.system or "", ask.user, ask.schema)
        name, messages = body.pop("model"), body.pop("messages")
        body.pop("stream", None)
        # Keys that the package does not know are the server's: all go into the body as they are.
        made = await self._client.chat.completions.create(
            model=name, messages=messages, extra_body=body
        )
        choice = made.choices[0] if made.choices else None
        if choice is None:
            raise OutsideError(f"{name} gave no answer")
        if choice.message.refusal:
            raise OutsideError(f"{name} refused to answer: {choice.message.refusal}")
        if choice.finish_reason == "length":
            raise OutsideError(
                f"the answer of {name} was cut off at {self.model.reserved_reply_size} tokens",
                hint="a larger reserved_reply_size",
            )
        usage = made.usage
        return ModelReply(
            choice.message.content or "",
            made.model,
            usage.prompt_tokens if usage else 0,
            usage.completion_tokens if usage else 0,
        )

    async def close(self) -> None:
        """Close its connections."""
        if self._owns:
            await self._client.close()


def _client(api_key: str | None, base_url: str | None) -> AsyncOpenAI:
    try:
        from openai import AsyncOpenAI
    except ImportError:
        raise missing("openai", "openai") from None
    return AsyncOpenAI(api_key=api_key, base_url=base_url)
