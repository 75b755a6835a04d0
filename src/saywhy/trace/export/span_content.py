"""What was said, in the form that spans hold it in: JSON texts of messages with parts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from saywhy.models.chat import text_of
from saywhy.trace.loops import LoopState
from saywhy.values import dumps, raw, thaw

NOT_GIVEN: Final = object()


def model_content(loop: LoopState) -> dict[str, Any]:
    """What the model is handed."""
    told: dict[str, Any] = {"gen_ai.input.messages": _json(map(message, raw(_messages(loop))))}
    system = loop.text("assembledSystem")
    if system:
        told["gen_ai.system_instructions"] = _json([_text(system)])
    return told


def _messages(loop: LoopState) -> Any:
    return loop.state.get("messages") or []


def called_content(answer: Any) -> dict[str, Any]:
    """What the model answered."""
    told: Any = raw(answer)
    fields: dict[str, Any] = told if isinstance(told, dict) else {"content": str(told)}
    shown = message({"role": "assistant", **fields})
    if fields.get("finish_reason"):
        shown["finish_reason"] = str(fields["finish_reason"])
    return {"gen_ai.output.messages": _json([shown])}


def tool_content(*, args: Any = NOT_GIVEN, result: Any = NOT_GIVEN) -> dict[str, Any]:
    """What a tool was called with, or what it gave."""
    told: dict[str, Any] = {}
    if args is not NOT_GIVEN:
        told["gen_ai.tool.call.arguments"] = _text_of(args)
    if result is not NOT_GIVEN:
        told["gen_ai.tool.call.result"] = _text_of(result)
    return told


def message(given: Any) -> dict[str, Any]:
    """A message of a conversation, as one with parts."""
    told: Any = raw(given)
    if not isinstance(told, dict):  # masked as a whole
        return {"role": "unknown", "parts": [_text(str(told))]}
    text = text_of(told.get("content"))
    role = str(told.get("role"))
    if role == "tool":
        answer = {"type": "tool_call_response", "id": told.get("tool_call_id"), "response": text}
        return {"role": role, "parts": [answer]}
    parts: list[dict[str, Any]] = [_text(text)] if text else []
    for call in map(raw, raw(told.get("tool_calls")) or ()):
        parts.append({"type": "tool_call", **{n: call.get(n) for n in ("id", "name", "arguments")}})
    return {"role": role, "parts": parts}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "content": text}


def _text_of(value: Any) -> str:
    plain = thaw(value)
    return plain if isinstance(plain, str) else dumps(plain).decode("utf-8", "replace")


def _json(messages: Iterable[Any]) -> str:
    return dumps([thaw(one) for one in messages]).decode("utf-8", "replace")
