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
from saywhy.values import FrozenDict, freeze, raw

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
    "system": ("base", "a system message of the history"),
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

    def to_value(self) -> FrozenDict:
        """The record as a value of the state."""
        return FrozenDict(msgspec.to_builtins(self))

    @classmethod
    def from_value(cls, value: Any) -> InjectionRecord:
        """The record that `to_value` gave."""
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
) -> InjectionRecord:
    """The record of a piece of the system prompt."""
    return InjectionRecord(
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


def message_record(
    message: Any, position: int, *, latest: bool, salt: Salt | None, **more: Any
) -> InjectionRecord:
    """The record of a message. Its text is not repeated: the history holds it at `position`."""
    text = text_of(message.get("content"))
    shown = text or called_in(message)
    role = str(message.get("role"))
    source, reason = _BY_ROLE.get(role, ("custom", f"a message of the role {role}"))
    mark = message.get(INJECTED)
    if isinstance(mark, str):
        source, _, more["source_id"] = mark.partition(":")
        reason = f"put in front of the conversation by {mark}"
    return InjectionRecord(
        content_summary=summary_of(shown),
        content_hash=content_hash(salt, "message", raw(freeze(message))),
        slot="messages",
        source=source,
        reason=more.pop("reason", reason),
        chars=len(text),
        as_role=role,
        as_recency="latest" if latest else "earlier",
        position=position,
        **{name: value for name, value in more.items() if value},
    )


def called_in(message: Any) -> str:
    """What stands for the text of a message that only makes calls."""
    calls = message.get("tool_calls") or ()
    return f"calls {', '.join(str(call.get('name')) for call in calls)}" if calls else ""


def tool_record(
    description: Mapping[str, Any], source: str, reason: str, position: int, salt: Salt | None
) -> InjectionRecord:
    """The record of a tool that is offered."""
    name, text = str(description["name"]), str(description["description"])
    return InjectionRecord(
        content_summary=summary_of(f"{name}: {text}" if text else name),
        content_hash=content_hash(salt, "tool", raw(freeze(description))),
        slot="tools",
        source=source,
        reason=reason,
        chars=len(name) + len(text),
        source_id=name,
        position=position,
    )
