"""A request in Anthropic's form out of a question, and pieces out of what the server answers.

There only two speak, in turns: results of calls are said by the user, all of one round in one
message, and system texts stand apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from saywhy.models.chat import text_of
from saywhy.models.provider import (
    CHAT,
    Ask,
    Piece,
    StopPiece,
    StopReason,
    TextPiece,
    ThinkingPiece,
    ToolCallPiece,
    UsagePiece,
)
from saywhy.models.sent_ids import SentIds
from saywhy.models.wire import (
    ANY_INPUT,
    EARLIER,
    CallIds,
    ToolNames,
    call_from_text,
    cut_off,
    no_answer,
    nonsense,
    refused,
    text_in,
    too_short,
)
from saywhy.values import thaw

PROVIDER: Final = "anthropic"

_STOPS: Final[dict[str, StopReason]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
}


# ------------------------------------------------------------------ the request


def tools_of(tools: Iterable[Mapping[str, Any]], names: ToolNames) -> list[dict[str, Any]]:
    """The tools that the model may call."""
    return [
        {
            "name": names.out(tool["name"]),
            "description": tool.get("description") or "",
            "input_schema": {"type": "object", **(thaw(tool.get("input_schema")) or ANY_INPUT)},
        }
        for tool in tools
    ]


def messages_of(messages: Sequence[Mapping[str, Any]], names: ToolNames) -> list[dict[str, Any]]:
    """The conversation as turns of the user and the assistant, the user's first."""
    turns: list[dict[str, Any]] = []
    for message in messages:
        role = message["role"]
        if role == "system":
            continue
        speaker = "assistant" if role == "assistant" else "user"
        blocks = list(_blocks(message, role, names))
        if not blocks:
            continue  # the server refuses a message with nothing in it
        if not turns and speaker == "assistant":
            turns.append({"role": "user", "content": [_text(EARLIER)]})
        if turns and turns[-1]["role"] == speaker:
            turns[-1]["content"] += blocks
        else:
            turns.append({"role": speaker, "content": blocks})
    _name_calls(turns)
    return [_plainly(turn) for turn in turns]


def _name_calls(turns: Iterable[dict[str, Any]]) -> None:
    """Give each call an id that the server takes, and its result the same."""
    ids = SentIds()
    for turn in turns:
        for block in turn["content"]:
            if block["type"] == "tool_use":
                block["id"] = ids.call(block["id"])
            elif block["type"] == "tool_result":
                block["tool_use_id"] = ids.result(block["tool_use_id"])


def _plainly(turn: dict[str, Any]) -> dict[str, Any]:
    """Results before all else, as the server demands; a text that stands alone as a text."""
    blocks: list[dict[str, Any]] = turn["content"]
    if len(blocks) == 1 and blocks[0]["type"] == "text":
        return {**turn, "content": blocks[0]["text"]}
    results = [block for block in blocks if block["type"] == "tool_result"]
    return {**turn, "content": results + [one for one in blocks if one["type"] != "tool_result"]}


def _blocks(message: Mapping[str, Any], role: str, names: ToolNames) -> Iterator[dict[str, Any]]:
    content = message.get("content") or ""
    if role == "tool":
        yield _result(str(message["tool_call_id"]), content, is_error=bool(message.get("is_error")))
        return
    calls = list(message.get("tool_calls") or ())
    for call in calls:
        yield from thaw((call.get("vendor") or {}).get(PROVIDER, {}).get("thinking")) or ()
    if isinstance(content, str):
        if content.strip():  # of blank text the server says that there is none
            yield _text(content)
    else:
        yield from (made for block in content for made in _block(block, names))
    for call in calls:
        yield _use(call["id"], names.out(call["name"]), call.get("arguments"))


def _block(block: Mapping[str, Any], names: ToolNames) -> Iterator[dict[str, Any]]:
    match block.get("type"):
        case "image":
            yield _image(block["source"])
        case "tool_use":
            yield _use(block["id"], names.out(block["name"]), block.get("input"))
        case "tool_result":
            is_error = bool(block.get("is_error"))
            yield _result(block["tool_use_id"], block.get("content") or "", is_error=is_error)
        case _:
            text = text_of([block])
            if text.strip():
                yield _text(text)


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _image(source: Mapping[str, Any]) -> dict[str, Any]:
    if source.get("url"):
        return {"type": "image", "source": {"type": "url", "url": source["url"]}}
    data = {"type": "base64", "media_type": source["media_type"], "data": source["data"]}
    return {"type": "image", "source": data}


def _use(call_id: str, name: str, arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": thaw(arguments) or {}}


def _result(call_id: str, content: Any, *, is_error: bool) -> dict[str, Any]:
    inner: Any = content
    if not isinstance(content, str):
        inner = [made for block in content for made in _block(block, ToolNames())]
    result = {"type": "tool_result", "tool_use_id": call_id, "content": inner}
    return {**result, "is_error": True} if is_error else result


# ------------------------------------------------------------------ the answer


def pieces_of_message(made: Any, ask: Ask, who: str, size: int) -> Iterator[Piece]:
    """The pieces of a whole answer. Raises `ModelError` for one that is none."""
    content = getattr(made, "content", None)
    if not isinstance(content, list):
        raise nonsense(who, PROVIDER, "it has no content")
    blocks = Blocks(ask, who, size)
    blocks.model = text_in(made.model)
    blocks.count(made.usage)
    for block in content:
        blocks.open(block)
        yield from blocks.told()
        yield from blocks.close()
    blocks.reason = made.stop_reason or "end_turn"
    yield from blocks.end()


class Blocks:
    """Pieces out of the blocks of an answer, whole or in fragments."""

    def __init__(self, ask: Ask, who: str, size: int) -> None:
        self.model = ""
        self.reason = ""
        self._ask = ask
        self._who = who
        self._size = size
        self._ids, self._names = CallIds(ask), ToolNames(ask.tools)
        self._block: Any = None
        self._parts: list[str] = []
        self._thoughts: list[dict[str, Any]] = []
        """What has to come back with the calls that follow."""
        self._has_calls = False
        self._usage: dict[str, int] = {}

    def read(self, event: Any) -> Iterator[Piece]:
        """What one event of a stream adds."""
        match event.type:
            case "message_start":
                self.model = text_in(event.message.model)
                yield self.count(event.message.usage)
            case "content_block_start":
                self.open(event.content_block)
                yield from self.told()
            case "content_block_delta":
                yield from self._delta(event.delta)
            case "content_block_stop":
                yield from self.close()
            case "message_delta":
                self.reason = event.delta.stop_reason or self.reason
                yield self.count(event.usage)
            case _:
                pass

    def open(self, block: Any) -> None:
        """A block begins."""
        self._block, self._parts = block, []

    def told(self) -> Iterator[Piece]:
        """What the beginning of a block says already."""
        if self._block.type == "text" and self._block.text:
            yield TextPiece(text_in(self._block.text))
        elif self._block.type == "thinking" and self._block.thinking:
            self._parts.append(text_in(self._block.thinking))
            yield ThinkingPiece(self._block.thinking)

    def _delta(self, delta: Any) -> Iterator[Piece]:
        match delta.type:
            case "text_delta":
                yield TextPiece(text_in(delta.text))
            case "thinking_delta":
                self._parts.append(text_in(delta.thinking))
                yield ThinkingPiece(delta.thinking)
            case "signature_delta":
                self._block.signature = delta.signature
            case "input_json_delta":
                self._parts.append(text_in(delta.partial_json))
            case _:
                pass

    def close(self) -> Iterator[Piece]:
        """A block is complete."""
        block, text = self._block, "".join(self._parts)
        if block is None:
            return
        if block.type == "thinking":
            signature = getattr(block, "signature", None) or ""
            thought = {"type": "thinking", "thinking": text, "signature": signature}
            self._thoughts.append(thought)
        elif block.type == "redacted_thinking":
            self._thoughts.append({"type": "redacted_thinking", "data": block.data})
        elif block.type == "tool_use":
            yield self._call(block, text)
        self._block = None

    def _call(self, block: Any, text: str) -> ToolCallPiece:
        vendor = {PROVIDER: {"thinking": self._thoughts}} if self._thoughts else None
        self._thoughts = []
        self._has_calls = True
        given = text if text.strip() else block.input
        name = self._names.back(block.name)
        return call_from_text(self._ids.take(block.id), name, given, vendor)

    def count(self, usage: Any) -> UsagePiece:
        """The tokens so far: what a cache gave was read as well."""
        for name in (
            "input_tokens",
            "cache_creation_input_tokens",
            "cache_read_input_tokens",
            "output_tokens",
        ):
            count = getattr(usage, name, None)
            if count is not None:
                self._usage[name] = int(count)
        known = dict(self._usage)
        out = known.pop("output_tokens", 0)
        return UsagePiece(sum(known.values()), out)

    def end(self) -> Iterator[Piece]:
        """The end of the answer. Raises `ModelError` where it came too early, or is none."""
        if not self.reason:
            broken = cut_off if self.model else no_answer
            raise broken(self._who, PROVIDER)
        if self.reason == "refusal":
            raise refused(self._who, PROVIDER)
        known = _STOPS.get(self.reason, "stop")
        if known == "length" and self._ask.task != CHAT:
            raise too_short(self._who, PROVIDER, self._size)
        yield self.count(None)
        yield StopPiece("tool_calls" if self._has_calls and known == "stop" else known, self.model)
