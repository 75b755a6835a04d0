"""A chat-completions request out of a question, and pieces out of what such a server answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from saywhy.errors import ModelError
from saywhy.host import AiModel, build_ai_request
from saywhy.models.chat import text_of
from saywhy.models.forms import described, form_of, is_closed
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
    CallIds,
    ToolNames,
    call_from_text,
    cut_off,
    no_answer,
    refused,
    result_text,
    text_in,
    too_short,
)
from saywhy.values import dumps, thaw

PROVIDER: Final = "openai"

_STOPS: Final[dict[str, StopReason]] = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
}
_KEPT: Final = ("extra_content",)
"""Keys beside a call that some servers want back: signatures of thoughts."""


# ------------------------------------------------------------------ the request


def body_of(model: AiModel, ask: Ask, *, size: int | None) -> dict[str, Any]:
    """The body of a request. `size` caps an answer in a conversation; None: the server's own."""
    form = form_of(ask)
    if form is not None and not model.supports_schema:
        ask, form = described(ask, form), None
    settings = ask.settings
    body = _base(model, ask, size)
    names = ToolNames(ask.tools)
    body["messages"] = messages_of(ask, names)
    if settings.get("max_tokens") is not None:
        body[model.token_param] = settings["max_tokens"]
    if settings.get("temperature") is not None and not model.fixed_sampling:
        body["temperature"] = settings["temperature"]
    if settings.get("model"):
        body["model"] = settings["model"]
    if settings.get("stop"):
        body["stop"] = thaw(settings["stop"])
    if form is not None:
        strict = is_closed(form.schema, complete=True)
        inner = {"name": form.name, "schema": form.schema, "strict": strict}
        body["response_format"] = {"type": "json_schema", "json_schema": inner}
    if ask.tools:
        body["tools"] = tools_of(ask.tools, names)
    return _with_extra(body, model.extra_params)


def _base(model: AiModel, ask: Ask, size: int | None) -> dict[str, Any]:
    """A flow's question is as repeatable as a server can be; a conversation is as it is set."""
    if ask.task == CHAT:
        body: dict[str, Any] = {"model": model.name}
        return body if size is None else {**body, model.token_param: size}
    body = build_ai_request(model, ask.system or "", ask.user, ask.schema)
    body.pop("stream", None)
    return body


def _with_extra(body: dict[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**body, **extra}
    return {key: value for key, value in merged.items() if value is not None}


def tools_of(tools: Iterable[Mapping[str, Any]], names: ToolNames) -> list[dict[str, Any]]:
    """The tools that the model may call."""
    return [
        {
            "type": "function",
            "function": {
                "name": names.out(tool["name"]),
                "description": tool.get("description") or "",
                "parameters": thaw(tool.get("input_schema")) or ANY_INPUT,
            },
        }
        for tool in tools
    ]


def messages_of(ask: Ask, names: ToolNames) -> list[dict[str, Any]]:
    """The conversation, the system text first."""
    found = [] if ask.system is None else [{"role": "system", "content": ask.system}]
    for message in ask.messages:
        found.extend(_messages(message, names))
    _name_calls(found)
    return found


def _name_calls(messages: Iterable[dict[str, Any]]) -> None:
    """Give each call an id that the server takes, and its result the same."""
    ids = SentIds()
    for message in messages:
        for call in message.get("tool_calls", ()):
            call["id"] = ids.call(call["id"])
        if "tool_call_id" in message:
            message["tool_call_id"] = ids.result(message["tool_call_id"])


def _messages(message: Mapping[str, Any], names: ToolNames) -> Iterator[dict[str, Any]]:
    """One message of ours, which is several of theirs where it has the results of calls in it."""
    role, content = message["role"], message.get("content") or ""
    if role == "tool":
        yield _result(str(message["tool_call_id"]), content)
    elif role == "assistant":
        yield _assistant(message, content, names)
    elif role == "system" or isinstance(content, str):
        yield {"role": role, "content": text_of(content)}
    else:
        others = [block for block in content if block.get("type") != "tool_result"]
        for block in content:
            if block.get("type") == "tool_result":
                yield _result(str(block["tool_use_id"]), block.get("content") or "")
        if others:
            yield {"role": role, "content": [_part(block) for block in others]}


def _result(call_id: str, content: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": result_text(content)}


def _assistant(message: Mapping[str, Any], content: Any, names: ToolNames) -> dict[str, Any]:
    calls = [_call(call, names) for call in message.get("tool_calls") or ()]
    if not isinstance(content, str):
        calls += [
            _call(use_of(block), names) for block in content if block.get("type") == "tool_use"
        ]
    text = text_of(content)
    if not calls:
        return {"role": "assistant", "content": text}
    return {"role": "assistant", "content": text or None, "tool_calls": calls}


def use_of(block: Mapping[str, Any]) -> dict[str, Any]:
    """A `tool_use` block as a call."""
    return {"id": block["id"], "name": block["name"], "arguments": block.get("input") or {}}


def _call(call: Mapping[str, Any], names: ToolNames) -> dict[str, Any]:
    arguments = dumps(call.get("arguments") or {}).decode()
    kept = thaw((call.get("vendor") or {}).get(PROVIDER)) or {}
    function = {"name": names.out(call["name"]), "arguments": arguments}
    return {"id": call["id"], "type": "function", "function": function, **kept}


def _part(block: Mapping[str, Any]) -> dict[str, Any]:
    if block.get("type") != "image":
        return {"type": "text", "text": text_of([block])}
    source = block["source"]
    url = source.get("url")
    if not url:
        url = f"data:{source['media_type']};base64,{source['data']}"
    return {"type": "image_url", "image_url": {"url": url}}


# ------------------------------------------------------------------ the answer


def pieces_of_completion(made: Any, ask: Ask, who: str, size: int | None = None) -> Iterator[Piece]:
    """The pieces of a whole answer. Raises `ModelError` for one that is none."""
    choices = getattr(made, "choices", None)
    if not choices:
        raise no_answer(who, PROVIDER)
    choice, message = choices[0], choices[0].message
    if getattr(message, "refusal", None):
        raise refused(who, PROVIDER, message.refusal)
    thought = _thought(message)
    if thought:
        yield ThinkingPiece(thought)
    if text := text_in(message.content):
        yield TextPiece(text)
    ids, names = CallIds(ask), ToolNames(ask.tools)
    listed = _functions(message.tool_calls)
    calls = [_piece(ids, names, call.id, call.function, call) for call in listed]
    yield from calls
    if made.usage is not None:
        yield _usage(made.usage)
    yield _stop(choice.finish_reason or "stop", bool(calls), text_in(made.model), ask, who, size)


def _functions(calls: Sequence[Any] | None) -> list[Any]:
    return [call for call in calls or () if getattr(call, "function", None) is not None]


def _piece(
    ids: CallIds, names: ToolNames, call_id: Any, function: Any, holder: Any
) -> ToolCallPiece:
    kept = _kept(holder)
    vendor = {PROVIDER: kept} if kept else None
    name = names.back(function.name)
    return call_from_text(ids.take(call_id), name, function.arguments, vendor)


def _kept(holder: Any) -> dict[str, Any]:
    extra: Mapping[str, Any] = getattr(holder, "model_extra", None) or {}
    return {key: extra[key] for key in _KEPT if extra.get(key)}


def _thought(holder: Any) -> str:
    """What other servers than OpenAI's tell of the thoughts of a model."""
    extra: Mapping[str, Any] = getattr(holder, "model_extra", None) or {}
    found = extra.get("reasoning_content") or extra.get("reasoning")
    return found if isinstance(found, str) else ""


def _usage(usage: Any) -> UsagePiece:
    return UsagePiece(int(usage.prompt_tokens or 0), int(usage.completion_tokens or 0))


def _stop(
    reason: str, has_calls: bool, model: str, ask: Ask, who: str, size: int | None
) -> StopPiece:
    if reason == "content_filter":
        raise refused(who, PROVIDER, "its content filter stopped it")
    known = _STOPS.get(reason, "stop")
    if known == "length" and ask.task != CHAT:
        raise too_short(who, PROVIDER, size)
    return StopPiece("tool_calls" if has_calls and known == "stop" else known, model)


class Chunks:
    """Pieces out of the chunks of a stream, in which calls come in fragments."""

    def __init__(self, ask: Ask, who: str, size: int | None = None) -> None:
        self._ask = ask
        self._who = who
        self._size = size
        self._calls: list[_Fragments] = []
        self._refusal: list[str] = []
        self._reason = ""
        self._model = ""
        self._is_empty = True

    def read(self, chunk: Any) -> Iterator[Piece]:
        """What one chunk adds."""
        self._model = text_in(getattr(chunk, "model", None)) or self._model
        for choice in (getattr(chunk, "choices", None) or ())[:1]:
            self._is_empty = False
            self._reason = getattr(choice, "finish_reason", None) or self._reason
            delta = getattr(choice, "delta", None)
            if delta is None:
                continue
            thought = _thought(delta)
            if thought:
                yield ThinkingPiece(thought)
            if text := text_in(delta.content):
                yield TextPiece(text)
            if delta.refusal:
                self._refusal.append(text_in(delta.refusal))
            for part in delta.tool_calls or ():
                self._fragment(part)
        usage = getattr(chunk, "usage", None)
        if usage is not None:
            yield _usage(usage)

    def _fragment(self, part: Any) -> None:
        """Some servers give every call the index 0: another id begins another call."""
        at = [one for one in self._calls if one.index == part.index]
        found = at[-1] if at else None
        if found is None or (part.id and found.id and part.id != found.id):
            found = _Fragments(part.index)
            self._calls.append(found)
        found.add(part)

    def end(self) -> Iterator[Piece]:
        """What is left when the stream is over. Raises `ModelError` where it came too early."""
        if self._refusal:
            raise refused(self._who, PROVIDER, "".join(self._refusal))
        if not self._reason:
            raise self._broken()
        ids, names = CallIds(self._ask), ToolNames(self._ask.tools)
        for call in self._calls:
            yield _piece(ids, names, call.id, call, call)
        yield _stop(self._reason, bool(self._calls), self._model, self._ask, self._who, self._size)

    def _broken(self) -> ModelError:
        return no_answer(self._who, PROVIDER) if self._is_empty else cut_off(self._who, PROVIDER)


class _Fragments:
    """One call as it comes in."""

    def __init__(self, index: Any) -> None:
        self.index = index
        self.id = ""
        self.name = ""
        self.model_extra: dict[str, Any] = {}
        self._arguments: list[str] = []

    @property
    def arguments(self) -> str:
        return "".join(self._arguments)

    def add(self, part: Any) -> None:
        """Take in one more."""
        self.id = self.id or part.id or ""
        self.model_extra |= getattr(part, "model_extra", None) or {}
        if part.function is not None:
            self.name = self.name or part.function.name or ""
            self._arguments.append(part.function.arguments or "")
