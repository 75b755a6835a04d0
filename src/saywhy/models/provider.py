"""What a language model is to this library: asked something, it answers piece by piece.

Who is asked is a `Provider`: a host's own function (`callback`), one of the leaves for vendors, or
the scripted one that tests play. It streams pieces, or hands over a whole `ModelReply` where it
has nothing to stream; `pieces_of` and `reply_of` make either form of the other. What to ask, and
what an answer means, is for others to say; what a message looks like stands in `chat`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from types import CoroutineType
from typing import Any, Final, Literal, Protocol, TypeAlias, cast, runtime_checkable

import msgspec

from saywhy.errors import CallerError, ModelError
from saywhy.models.chat import last_user_text, user_message
from saywhy.values import FrozenDict

CHAT: Final = "chat"
"""The task of a call in a conversation. All other tasks are questions with one right answer."""

_NO_SETTINGS: Final = FrozenDict({})


class Ask(msgspec.Struct, frozen=True, omit_defaults=True):
    """One question for a model. Its parts are shared with whoever made it, and never changed."""

    task: str
    """What it is for: `chat` for a call of an agent, else detect_flow, language, voice, …"""
    system: str | None = None
    """None: no system field is sent at all, which is not the same as an empty one."""
    messages: Sequence[Mapping[str, Any]] = ()
    """The conversation, see `saywhy.models.chat`."""
    tools: Sequence[Mapping[str, Any]] | None = None
    """What may be called: `{name, description, input_schema}` each. None: none are passed."""
    settings: Mapping[str, Any] = _NO_SETTINGS
    """Any of `model`, `temperature`, `max_tokens`, `stop` and `response_format`:
    `{"type": "json_schema", "schema": …, "name"?, "injection"?: "system" | "user"}`."""
    schema: str | None = None
    """The form of the answer, as JSON text: `{"type": "json_schema", "json_schema": {…}}`."""
    request: Mapping[str, Any] | None = None
    """The same question for a classifier; only where a flow or its parameters are looked for."""
    stream: bool = False
    """Whether somebody wants the pieces as they come. A leaf may stream all the same."""

    @property
    def user(self) -> str:
        """The text of the user's last message."""
        return last_user_text(self.messages)


def question(
    task: str,
    system: str,
    user: str,
    schema: str | None = None,
    request: Mapping[str, Any] | None = None,
) -> Ask:
    """A question of two texts, as flows put them."""
    messages = (user_message(user),)
    return Ask(task, system, messages, schema=schema, request=request)


# ------------------------------------------------------------------ pieces

StopReason: TypeAlias = Literal["stop", "tool_calls", "length", "error"]
"""Why a model stopped: it was done, wants tools called, was cut off, or something went wrong."""


class TextPiece(msgspec.Struct, frozen=True, tag="text"):
    """Some more of the answer."""

    text: str


class ThinkingPiece(msgspec.Struct, frozen=True, tag="thinking"):
    """Some more of what the model thought before it answered, where its vendor tells."""

    text: str


class ToolCallPiece(msgspec.Struct, frozen=True, tag="tool_call", omit_defaults=True):
    """One whole call that the model wants made."""

    id: str
    name: str
    arguments: Mapping[str, Any]
    raw: str = ""
    """What stood in place of the arguments where that was no JSON object; they are empty then."""
    vendor: Mapping[str, Any] | None = None
    """What the model's vendor wants back with this call, unchanged: signatures of thoughts."""

    def as_call(self) -> dict[str, Any]:
        """The call as it stands in the `tool_calls` of a message."""
        call: dict[str, Any] = {"id": self.id, "name": self.name, "arguments": self.arguments}
        if self.raw:
            call["raw"] = self.raw
        if self.vendor:
            call["vendor"] = self.vendor
        return call


class UsagePiece(msgspec.Struct, frozen=True, tag="usage"):
    """The tokens of the call so far, as the vendor counts; a later one replaces it."""

    tokens_in: int
    tokens_out: int


class StopPiece(msgspec.Struct, frozen=True, tag="stop", omit_defaults=True):
    """The end of an answer. A stream that ends without one was cut off."""

    reason: StopReason = "stop"
    model: str = ""
    """Which model it was, where that is known."""


Piece: TypeAlias = TextPiece | ThinkingPiece | ToolCallPiece | UsagePiece | StopPiece
"""One of the things that an answer is made of."""

_PIECES: Final = (TextPiece, ThinkingPiece, ToolCallPiece, UsagePiece, StopPiece)


class ModelReply(msgspec.Struct, frozen=True, omit_defaults=True):
    """A whole answer."""

    text: str
    model: str = ""
    """Which one it was, where that is known."""
    tokens_in: int = 0
    tokens_out: int = 0
    """What it read and wrote, as its vendor counts; 0 where that is not known."""
    tool_calls: tuple[ToolCallPiece, ...] = ()
    stop: StopReason | Literal[""] = ""
    """Why it stopped, where that is known."""
    thinking: str = ""

    def pieces(self) -> list[Piece]:
        """The same answer as a stream would give it."""
        found: list[Piece] = []
        if self.thinking:
            found.append(ThinkingPiece(self.thinking))
        if self.text:
            found.append(TextPiece(self.text))
        found.extend(self.tool_calls)
        if self.tokens_in or self.tokens_out:
            found.append(UsagePiece(self.tokens_in, self.tokens_out))
        found.append(
            StopPiece(self.stop or ("tool_calls" if self.tool_calls else "stop"), self.model)
        )
        return found


@runtime_checkable
class Provider(Protocol):
    """Somebody to ask. Any number of questions may be on their way at once.

    `ask` is an async generator of pieces, the last of them a `StopPiece`; or a simple `async def`
    that gives a `ModelReply`. One that cannot answer raises, best of all `ModelError`; what it
    raises is told to whoever asked. It is cancelled, or its generator closed, when time is up or
    the run is: it must then let go of what it holds.
    """

    def ask(self, ask: Ask) -> AsyncIterator[Piece] | Awaitable[ModelReply]:
        """The answer to one question."""
        ...


async def pieces_of(provider: Provider, ask: Ask) -> AsyncGenerator[Piece, None]:
    """The pieces of an answer, whichever form the provider has. Close it: `aclosing(…)`."""
    answer: Any = provider.ask(ask)
    if not isinstance(answer, AsyncIterator):
        answer = await answer
    async with aclosing(_pieces_in(provider, answer)) as pieces:
        async for piece in pieces:
            yield piece


async def _pieces_in(provider: Provider, answer: Any) -> AsyncGenerator[Piece, None]:
    if isinstance(answer, ModelReply):
        for piece in answer.pieces():
            yield piece
        return
    if not isinstance(answer, AsyncIterator):
        raise _no_reply(provider, answer)
    stream = cast("AsyncIterator[Any]", answer)
    try:
        async for piece in stream:
            if not isinstance(piece, _PIECES):
                raise _no_reply(provider, piece)
            yield piece
    finally:
        # At once, and not when the garbage is collected: a connection hangs on it.
        close = getattr(stream, "aclose", None)
        if close is not None:
            await close()


async def reply_of(
    provider: Provider, ask: Ask, on_piece: Callable[[Piece], object] | None = None
) -> ModelReply:
    """The whole answer; `on_piece` hears of each piece as it comes.

    Raises what the provider raises, and `ModelError` (network) for a stream that ends without a
    `StopPiece`: half an answer is none.
    """
    answer: Any = provider.ask(ask)
    if type(answer) is CoroutineType or not isinstance(answer, AsyncIterator):
        answer = await answer
    if isinstance(answer, ModelReply):  # the usual way of those that do not stream, made short
        if on_piece is not None:
            for piece in answer.pieces():
                on_piece(piece)
        return _settled(answer)
    gathered = Gathered()
    async with aclosing(_pieces_in(provider, answer)) as pieces:
        async for piece in pieces:
            gathered.add(piece)
            if on_piece is not None:
                on_piece(piece)
    return gathered.reply()


def _settled(reply: ModelReply) -> ModelReply:
    """The reply as its pieces would make it: it says why it stopped."""
    if reply.stop and reply.text:
        return reply
    stop: StopReason = reply.stop or ("tool_calls" if reply.tool_calls else "stop")
    return ModelReply(
        reply.text or "",
        reply.model,
        reply.tokens_in,
        reply.tokens_out,
        reply.tool_calls,
        stop,
        reply.thinking,
    )


class Gathered:
    """Pieces on their way to be a reply."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self._calls: list[ToolCallPiece] = []
        self._usage = UsagePiece(0, 0)
        self._stop: StopPiece | None = None

    def add(self, piece: Piece) -> None:
        """Take one in."""
        match piece:
            case TextPiece():
                self._texts.append(piece.text)
            case ThinkingPiece():
                self._thoughts.append(piece.text)
            case ToolCallPiece():
                self._calls.append(piece)
            case UsagePiece():
                self._usage = piece
            case StopPiece():
                self._stop = piece

    def reply(self) -> ModelReply:
        """The answer. Raises `ModelError` where the pieces do not make a whole one."""
        if self._stop is None:
            raise ModelError(
                "the answer of the model broke off before it was complete",
                code="network",
                hint="a provider's stream ends with a StopPiece",
            )
        return ModelReply(
            "".join(self._texts),
            self._stop.model,
            self._usage.tokens_in,
            self._usage.tokens_out,
            tuple(self._calls),
            self._stop.reason,
            "".join(self._thoughts),
        )


def _no_reply(provider: Provider, answer: Any) -> CallerError:
    return CallerError(
        f"{type(provider).__name__}.ask gave {type(answer).__name__}, which is no answer",
        hint="pieces (TextPiece, …, StopPiece) from an async generator, or one ModelReply",
    )
