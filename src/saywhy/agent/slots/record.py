"""Why a piece stands in a slot: one record for each, with its source, its reason and its size.

Records are plain values of the state, so they are part of every recording. The hash in them is
salted like a receipt's where the run has a salt, and for a message or a tool it is the very hash
that the receipt has for that part.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

import msgspec

from saywhy.agent.receipts.canon import Domain, Salt, canon
from saywhy.models.chat import text_of
from saywhy.values import raw

SlotName: TypeAlias = Literal["system-prompt", "messages", "tools"]

Source: TypeAlias = Literal[
    "base",
    "user",
    "assistant",
    "tool-result",
    "registry",
    "rag",
    "skill",
    "memory",
    "instructions",
    "steering",
    "fact",
    "custom",
]
"""Where a piece comes from. The first five are what is there anyway, the others were put there."""

SHOWN: Final = 80
"""Characters of a piece in its summary."""

INJECTED: Final = "injected"
"""Key of a message that was put into the history, with what put it there."""

_BY_ROLE: Final[Mapping[str, tuple[Source, str]]] = {
    "user": ("user", "what the user said"),
    "assistant": ("assistant", "what the model answered"),
    "tool": ("tool-result", "what a tool gave"),
    "system": ("base", "a system message of the history; a system prompt takes its place"),
}


class InjectionRecord(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True
):
    """One piece of a slot. Fields that say nothing are left out of its JSON."""

    content_summary: str
    """Its first 80 characters, with `…` where it goes on."""
    content_hash: str
    slot: SlotName
    source: str
    reason: str
    chars: int = 0
    raw_content: str | None = None
    """The whole text, where the state does not hold it elsewhere as one piece."""
    source_id: str | None = None
    upstream_ref: str | None = None
    """Where the source has it from: a conversation, a document."""
    as_role: str | None = None
    as_recency: Literal["latest", "earlier"] | None = None
    position: int | None = None
    section_tag: str | None = None
    retrieval_score: float | None = None
    rank_position: int | None = None
    threshold: float | None = None
    budget_spent: int | None = None
    expires_after: Literal["iteration", "turn", "run", "persistent"] | None = None

    @classmethod
    def from_value(cls, value: Any) -> InjectionRecord:
        """The record that the state holds."""
        return msgspec.convert(raw(value), cls)


def summary_of(text: str) -> str:
    """The beginning of a text."""
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def content_hash(salt: Salt | None, domain: Domain, value: Any) -> str:
    """The hash of a piece. Without a salt it is short and only tells pieces of one run apart."""
    if salt is not None:
        return salt.of(domain, value)
    return hashlib.sha256(domain.encode() + b"\0" + canon(value)).hexdigest()[:16]


def text_record(
    text: str,
    source: str,
    reason: str,
    *,
    salt: Salt | None,
    position: int,
    **more: Any,
) -> dict[str, Any]:
    """The record of a piece of the system prompt, as the state holds it."""
    record = InjectionRecord(
        content_summary=summary_of(text),
        content_hash=content_hash(salt, "system", text),
        slot="system-prompt",
        source=source,
        reason=reason,
        chars=len(text),
        raw_content=text,
        position=position,
        **more,
    )
    fields: dict[str, Any] = msgspec.to_builtins(record)
    return fields


def source_of(message: Any) -> tuple[str, str, str | None]:
    """Where a message comes from, why it is there, and which piece of that source it is."""
    mark = message.get(INJECTED)
    if isinstance(mark, str):
        source, _, piece = mark.partition(":")
        return source, f"put in by {mark}", piece
    role = message.get("role")
    known = _BY_ROLE.get(role)
    if known is None:
        return "custom", f"a message of the role {role}", None
    return known[0], known[1], None


def message_record(
    message: Any, position: int, *, latest: bool, salt: Salt | None, **more: Any
) -> dict[str, Any]:
    """The record of a message, as the state holds it.

    Its text is not repeated: the history holds it at `position`. Written without the Struct, which
    would be half of what a round of this slot costs.
    """
    content = message.get("content")
    text = content if type(content) is str else text_of(content)
    role = message.get("role")
    if INJECTED in message or role not in _BY_ROLE:
        source, reason, piece = source_of(message)
    else:
        (source, reason), piece = _BY_ROLE[role], None
    shown = text or called_in(message)
    fields: dict[str, Any] = {
        "contentSummary": shown if len(shown) <= SHOWN else summary_of(shown),
        "contentHash": content_hash(salt, "message", message),
        "slot": "messages",
        "source": source,
        "reason": (more.pop("reason", "") or reason) if more else reason,
        "chars": len(text),
        "asRole": role,
        "asRecency": "latest" if latest else "earlier",
        "position": position,
    }
    if piece is not None:
        fields["sourceId"] = piece
    for name, value in more.items():
        if value is not None:
            fields[_CAMEL[name]] = value
    return fields


_CAMEL: Final = {one.name: one.encode_name for one in msgspec.structs.fields(InjectionRecord)}


def called_in(message: Any) -> str:
    """What stands for the text of a message that only makes calls."""
    calls = message.get("tool_calls") or ()
    return f"calls {', '.join(str(call.get('name')) for call in calls)}" if calls else ""


def tool_record(
    description: Mapping[str, Any], source: str, reason: str, position: int, salt: Salt | None
) -> dict[str, Any]:
    """The record of a tool that is offered, as the state holds it."""
    name, text = str(description["name"]), str(description["description"])
    return {
        "contentSummary": summary_of(f"{name}: {text}" if text else name),
        "contentHash": content_hash(salt, "tool", description),
        "slot": "tools",
        "source": source,
        "reason": reason,
        "chars": len(name) + len(text),
        "sourceId": name,
        "position": position,
    }
