"""A request in Gemini's form out of a question, and pieces out of what the server answers.

There the user and the model speak in turns of parts. Results of calls are found again by their
order and the name of the function; an id goes back only where the server gave one.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from saywhy.errors import ModelError
from saywhy.models.chat import text_of
from saywhy.models.failures import cut_off
from saywhy.models.provider import (
    CHAT,
    Ask,
    Piece,
    StopPiece,
    TextPiece,
    ThinkingPiece,
    ToolCallPiece,
    UsagePiece,
)
from saywhy.models.wire import (
    ANY_INPUT,
    EARLIER,
    CallIds,
    ToolNames,
    call_from_text,
    no_answer,
    result_text,
    too_short,
)
from saywhy.values import thaw

PROVIDER: Final = "google"

_DONE: Final = frozenset({"STOP", "FINISH_REASON_UNSPECIFIED"})
_GARBLED: Final = frozenset(
    {
        "MALFORMED_FUNCTION_CALL",
        "MALFORMED_RESPONSE",
        "MISSING_THOUGHT_SIGNATURE",
        "OTHER",
        "TOO_MANY_TOOL_CALLS",
        "UNEXPECTED_TOOL_CALL",
    }
)
"""The model lost its thread; another try may go well."""


# ------------------------------------------------------------------ the request


def tools_of(tools: Iterable[Mapping[str, Any]], names: ToolNames) -> list[dict[str, Any]]:
    """The tools that the model may call, as the one tool that holds functions."""
    functions = [
        {
            "name": names.out(tool["name"]),
            "description": tool.get("description") or "",
            "parameters_json_schema": thaw(tool.get("input_schema")) or ANY_INPUT,
        }
        for tool in tools
    ]
    return [{"function_declarations": functions}]


def contents_of(messages: Sequence[Mapping[str, Any]], names: ToolNames) -> list[dict[str, Any]]:
    """The conversation as turns of the user and the model, the user's first."""
    turns: list[dict[str, Any]] = []
    calls = _Calls(names)
    for message in messages:
        if message["role"] == "system":
            continue
        role = "model" if message["role"] == "assistant" else "user"
        parts = list(_parts(message, calls))
        if not parts:
            continue  # the server refuses a turn with nothing in it
        if not turns and role == "model":
            turns.append({"role": "user", "parts": [{"text": EARLIER}]})
        if turns and turns[-1]["role"] == role:
            turns[-1]["parts"] += parts
        else:
            turns.append({"role": role, "parts": parts})
    return turns


class _Calls(dict[str, Mapping[str, Any]]):
    """The calls so far by their ids, and how their names are sent."""

    def __init__(self, names: ToolNames) -> None:
        self.names = names


def _parts(message: Mapping[str, Any], calls: _Calls) -> Iterator[dict[str, Any]]:
    """The parts of a message; `calls` knows those that were made before, and learns new ones."""
    content = message.get("content") or ""
    if message["role"] == "tool":
        yield _result(str(message["tool_call_id"]), content, calls)
        return
    if isinstance(content, str):
        if content:
            yield {"text": content}
    else:
        for block in content:
            yield from _block(block, calls)
    for call in message.get("tool_calls") or ():
        yield _call(call, calls)


def _block(block: Mapping[str, Any], calls: _Calls) -> Iterator[dict[str, Any]]:
    match block.get("type"):
        case "image":
            yield _image(block["source"])
        case "tool_use":
            use = {"id": block["id"], "name": block["name"], "arguments": block.get("input")}
            yield _call(use, calls)
        case "tool_result":
            yield _result(block["tool_use_id"], block.get("content") or "", calls)
        case _:
            text = text_of([block])
            if text:
                yield {"text": text}


def _image(source: Mapping[str, Any]) -> dict[str, Any]:
    if source.get("url"):
        return {"file_data": {"file_uri": source["url"], "mime_type": source.get("media_type")}}
    try:
        data = base64.b64decode(source["data"])
    except binascii.Error as error:
        raise ModelError(
            f"an image of the conversation is no base64: {error}",
            code="invalid_request",
            provider=PROVIDER,
        ) from error
    return {"inline_data": {"mime_type": source["media_type"], "data": data}}


def _vendor(call: Mapping[str, Any]) -> Mapping[str, Any]:
    return (call.get("vendor") or {}).get(PROVIDER) or {}


def _call(call: Mapping[str, Any], calls: _Calls) -> dict[str, Any]:
    calls[str(call["id"])] = call
    known = _vendor(call)
    made = {"name": calls.names.out(call["name"]), "args": thaw(call.get("arguments")) or {}}
    if known.get("id"):
        made["id"] = known["id"]
    part: dict[str, Any] = {"function_call": made}
    if known.get("signature"):
        part["thought_signature"] = base64.b64decode(known["signature"])
    return part


def _result(call_id: str, content: Any, calls: _Calls) -> dict[str, Any]:
    call = calls.get(call_id, {})
    answer: dict[str, Any] = {
        "name": calls.names.out(call.get("name") or call_id),
        "response": {"output": result_text(content)},
    }
    known = _vendor(call)
    if known.get("id"):
        answer["id"] = known["id"]
    return {"function_response": answer}


# ------------------------------------------------------------------ the answer


class Parts:
    """Pieces out of an answer, whole or in chunks: both have the same shape."""

    def __init__(self, ask: Ask, who: str, size: int | None) -> None:
        self._ask = ask
        self._who = who
        self._size = size
        self._ids, self._names = CallIds(ask), ToolNames(ask.tools)
        self._reason = ""
        self._model = ""
        self._blocked = ""
        self._is_empty = True
        self._has_calls = False

    def read(self, made: Any) -> Iterator[Piece]:
        """What one chunk, or the whole answer, adds."""
        self._model = made.model_version or self._model
        feedback = made.prompt_feedback
        if feedback is not None and feedback.block_reason is not None:
            self._blocked = _name(feedback.block_reason)
        for candidate in (made.candidates or ())[:1]:
            self._is_empty = False
            if candidate.finish_reason is not None:
                self._reason = _name(candidate.finish_reason)
            parts = candidate.content.parts if candidate.content is not None else None
            for part in parts or ():
                yield from self._part(part)
        usage = made.usage_metadata
        if usage is not None:
            out = (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0)
            yield UsagePiece(usage.prompt_token_count or 0, out)

    def _part(self, part: Any) -> Iterator[Piece]:
        if part.function_call is not None:
            yield self._call(part)
        elif part.text:
            yield ThinkingPiece(part.text) if part.thought else TextPiece(part.text)

    def _call(self, part: Any) -> ToolCallPiece:
        self._has_calls = True
        call, known = part.function_call, dict[str, Any]()
        if call.id:
            known["id"] = call.id
        if part.thought_signature:
            known["signature"] = base64.b64encode(part.thought_signature).decode()
        vendor = {PROVIDER: known} if known else None
        name = self._names.back(call.name)
        return call_from_text(self._ids.take(call.id), name, call.args, vendor)

    def end(self) -> Iterator[Piece]:
        """The end of the answer. Raises `ModelError` where it came too early, or is none."""
        if self._blocked or self._is_empty:
            raise no_answer(self._who, PROVIDER, self._blocked)
        if not self._reason:
            raise cut_off(self._who, PROVIDER)
        if self._reason == "MAX_TOKENS":
            if self._ask.task != CHAT:
                raise too_short(self._who, PROVIDER, self._size)
            yield StopPiece("length", self._model)
            return
        if self._reason not in _DONE:
            raise ModelError(
                f"{self._who} did not answer to the end: {self._reason}",
                code="server" if self._reason in _GARBLED else "unknown",
                provider=PROVIDER,
            )
        yield StopPiece("tool_calls" if self._has_calls else "stop", self._model)


def _name(member: Any) -> str:
    return str(getattr(member, "name", member))
