"""The messages of a conversation with a model, as plain JSON: how they are made and what they obey.

A message is a mapping with a `role` (system, user, assistant, tool) and a `content`: text, or a
list of blocks. An assistant's message may have `tool_calls`, `{id, name, arguments}` each, and a
tool's has the `tool_call_id` it answers. How a vendor wants them is for the leaves to know.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

Content: TypeAlias = str | Sequence[Mapping[str, Any]]
"""Text, or blocks: `{"type": "text", "text"}`, `{"type": "image", "source": {"type": "base64",
"media_type", "data"} or {"type": "url", "url"}}`, `{"type": "tool_use", "id", "name", "input"}`,
`{"type": "tool_result", "tool_use_id", "content", "is_error"?}`."""

ROLES: Final = ("system", "user", "assistant", "tool")


def system_message(content: str) -> dict[str, Any]:
    """What the model is told about itself."""
    return {"role": "system", "content": content}


def user_message(content: Content) -> dict[str, Any]:
    """What the user said."""
    return {"role": "user", "content": content}


def assistant_message(
    content: Content = "", tool_calls: Iterable[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """What the model said. The key `tool_calls` is there only where it wants any made."""
    calls = list(tool_calls)
    message: dict[str, Any] = {"role": "assistant", "content": content}
    return {**message, "tool_calls": calls} if calls else message


def tool_message(content: Content, tool_call_id: str) -> dict[str, Any]:
    """What came of a call."""
    return {"role": "tool", "content": content, "tool_call_id": tool_call_id}


def text_of(content: Any) -> str:
    """A text as it is; of blocks, those that are text, joined without a separator."""
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        return ""
    return "".join(
        str(block.get("text", ""))
        for block in content
        if isinstance(block, Mapping) and block.get("type") == "text"
    )


def last_user_text(messages: Sequence[Mapping[str, Any]]) -> str:
    """The text of the user's last message; empty where there is none."""
    for message in reversed(messages):
        if message.get("role") == "user":
            return text_of(message.get("content"))
    return ""


def problems_of(history: Sequence[Mapping[str, Any]]) -> list[str]:
    """What no vendor would accept in a conversation, each with its place.

    The law: every call of an assistant's message is answered once, in the order of the calls and
    before anybody else speaks; nothing is answered that was not called.
    """
    return list(_problems(history))


def _problems(history: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    open_calls: list[str] = []
    for at, message in enumerate(history):
        role, place = message.get("role"), f"messages[{at}]"
        if role not in ROLES:
            yield f"{place}: {role!r} is no role; known: {', '.join(ROLES)}"
            continue
        if role == "tool":
            yield from _answered(message, place, open_calls)
            continue
        if open_calls:
            yield f"{place}: {role} speaks before {_named(open_calls)} answered"
        open_calls = []
        if role == "assistant":
            calls = message.get("tool_calls") or ()
            yield from _doubled(calls, place)
            open_calls = [str(call.get("id", "")) for call in calls]
    if open_calls:
        yield f"the conversation ends before {_named(open_calls)} answered"


def _answered(message: Mapping[str, Any], place: str, open_calls: list[str]) -> Iterator[str]:
    """Take the call that a tool's message answers off the open ones."""
    answers = str(message.get("tool_call_id", ""))
    if answers not in open_calls:
        yield f"{place}: answers the call {answers!r}, which is not open"
        return
    if open_calls[0] != answers:
        yield f"{place}: answers the call {answers!r} before {open_calls[0]!r}"
    open_calls.remove(answers)


def _doubled(calls: Iterable[Mapping[str, Any]], place: str) -> Iterator[str]:
    seen: set[str] = set()
    for number, call in enumerate(calls):
        spot, name = f"{place}.tool_calls[{number}]", str(call.get("id", ""))
        if not name or name in seen:
            yield f"{spot}: has the id {name!r} of another" if name else f"{spot}: has no id"
        if not call.get("name"):
            yield f"{spot}: names no tool"
        seen.add(name)


def _named(calls: Sequence[str]) -> str:
    first = f"the call {calls[0]!r} is"
    return first if len(calls) == 1 else f"{len(calls)} calls ({', '.join(map(repr, calls))}) are"
