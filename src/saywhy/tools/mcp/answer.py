"""What an MCP server answered to a call, as a value for the flow.

Structured content is the value. Without it a text that is a JSON object or list is read as such,
and other text stays text: `007` is no number. Images, sounds and resources are data that says of
which type it is. Nothing in an answer is trusted: it has the size that the connection allows, and
becomes a plain value. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

LONGEST_FAULT: Final = 2000
"""Characters that are told of an error."""

KEPT: Final[Mapping[str, tuple[str, ...]]] = {
    "text": ("text",),
    "image": ("mimeType", "data"),
    "audio": ("mimeType", "data"),
    "resource_link": ("uri", "name", "title", "description", "mimeType", "size"),
    "resource": (),
}
RESOURCE_KEYS: Final = ("uri", "mimeType", "text", "blob")


class Answered(msgspec.Struct, frozen=True):
    """A value, and whether it is data that a response mapping applies to; or what went wrong."""

    value: Any = None
    is_data: bool = False
    fault: str | None = None


def read_answer(result: Mapping[str, Any]) -> Answered:
    """The answer behind a `CallToolResult` as JSON."""
    content = [block for block in result.get("content") or () if isinstance(block, Mapping)]
    if result.get("isError"):
        return Answered(fault=_fault(content, result.get("structuredContent")))
    if "structuredContent" in result:
        return Answered(result["structuredContent"], is_data=True)
    return _of_content(content)


def _fault(content: Sequence[Mapping[str, Any]], structured: Any) -> str:
    text = _joined(content) or ("" if structured is None else str(structured))
    return text.strip()[:LONGEST_FAULT] or "the tool failed and did not say why"


def _joined(content: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(str(block.get("text") or "") for block in content if _is_text(block))


def _of_content(content: Sequence[Mapping[str, Any]]) -> Answered:
    if not content:
        return Answered()
    if not all(_is_text(block) for block in content):
        return Answered({"content": [_block(one) for one in content]}, is_data=True)
    texts = [str(block.get("text") or "") for block in content]
    read = [_as_json(text) for text in texts]
    if any(one is None for one in read):
        return Answered("\n".join(texts))
    return Answered(read[0] if len(read) == 1 else read, is_data=True)


def _is_text(block: Mapping[str, Any]) -> bool:
    return block.get("type") == "text"


def _as_json(text: str) -> Any:
    """The object or list that a text is; None where it is neither."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return msgspec.json.decode(text.encode("utf-8", "surrogatepass"))
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def _block(block: Mapping[str, Any]) -> dict[str, Any]:
    kind = str(block.get("type") or "")
    keys = KEPT.get(kind, ())
    inner = block.get("resource") if kind == "resource" else None
    if isinstance(inner, Mapping):
        keys, block = RESOURCE_KEYS, inner
    return {"type": kind} | {key: block[key] for key in keys if block.get(key) is not None}
